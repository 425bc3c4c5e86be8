"""What can be told of a sentence of an answer by looking at the documents' words."""

import re
from collections.abc import Mapping, Sequence, Set
from math import log1p

from msgspec import Struct

from areopage.gate.source import BEGINNING, Source
from areopage.gate.tokens import WORD, is_light, stem

NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
MARKER = re.compile(r"\s*(?:\d{1,3}[.)]|[-*•])\s")
# "(passage 2)", "according to document 3", "[doc1]": words about the documents, no words of theirs.
CITATION = re.compile(r"\[[^\[\]\n]{1,40}\]|\b(?:passages?|documents?|sources?|extraits?|docs?)\s?#?((?:\d{1,3}\s?(?:,\s?)?(?:(?:and|et|&|or|ou|-|to|à)\s)?){1,6})", re.IGNORECASE)
NEGATION = re.compile(r"\b(?:not|no|never|none|without|cannot|unable|neither|nor|ne|pas|aucune?|jamais|sans|ni)\b|n['’]t\b|\bn['’]", re.IGNORECASE)
ABSENCE = re.compile(
    r"\b(?:not|no|n['’]t|cannot|unable|pas|aucune?|ne|impossible)\b[^.!?\n]{0,60}\b(?:mention|provid|specif|explicit|state[ds]?|includ|contain|information|address|discuss"
    r"|indicat|clear|answer|determin|précis|mentionn|indiqu|contien|fourni|répon|trouv|inform|spécifi)",
    re.IGNORECASE,
)
ADVICE = re.compile(
    r"\b(?:important to (?:note|remember)|worth noting|keep in mind|recommend\w*|make sure|be sure|ensure|may vary|depending on|consult\w*|if you (?:have|need|are)|can help|should be"
    r"|il est important|il convient|n['’]hésitez pas|veillez|assurez-vous|il est conseillé|recommandé)\b",
    re.IGNORECASE,
)
CLOSING = re.compile(
    r"\b(?:let me know|feel free|i hope|happy to help|further (?:clarification|assistance|questions)|n['’]hésitez pas|j['’]espère|bien à vous)\b", re.IGNORECASE
)
SUMMARY = re.compile(
    r"^\W*(?:overall|in (?:summary|conclusion|general)|based on|according to|here (?:are|is)|the (?:following|passages)|sure|en résumé|en conclusion|globalement|d['’]après|selon|voici)\b"
    r"|:\W*$",
    re.IGNORECASE,
)


class Word(Struct, frozen=True):
    """A word of the answer that means something: its stem, where it stands, and whether the documents or the question know it."""

    stem: str
    start: int
    end: int
    held: bool
    asked: bool
    near: bool
    light: bool


class SentenceFacts(Struct, frozen=True):
    """A sentence's words and features."""

    words: Sequence[Word]
    features: Mapping[str, float]
    stretch: int


def citations_blanked(text: str) -> str:
    """The text with its citations replaced by as many spaces."""
    return CITATION.sub(lambda match: " " * len(match.group()), text)


def read_words(sentence: str, offset: int, source: Source, question: Set[str]) -> list[Word]:
    """The words of a sentence that mean something."""
    found = []
    for match in WORD.finditer(citations_blanked(sentence)):
        root = stem(match.group())
        if root:
            held, asked = root in source.stems, root in question
            near = not held and len(root) >= BEGINNING and root[:BEGINNING] in source.beginnings
            light = not held and is_light(match.group())
            found.append(Word(root, offset + match.start(), offset + match.end(), held, asked, near, light))
    return found


def sentence_facts(sentence: str, offset: int, source: Source, question: Set[str], place: tuple[int, int], said: set[str]) -> SentenceFacts:
    """Look at one sentence. `place` is its index and how many there are. `said` are the stems of the sentences before: it grows."""
    words = read_words(sentence, offset, source, question)
    total = len(words)
    if not total:
        return SentenceFacts(words, {}, -1)
    known = [word.held or word.asked for word in words]
    unknown = [word for word, is_known in zip(words, known, strict=True) if not is_known]
    roots = [word.stem for word in words]
    distinct = set(roots)
    stretch, votes = source.best_stretch(distinct)
    pairs = list(zip(roots, roots[1:], strict=False))
    held_pairs = sum(pair in source.pairs for pair in pairs)
    run = longest = 0
    for is_known in known:
        run = 0 if is_known else run + 1
        longest = max(longest, run)
    names = [word for word in unknown if sentence[word.start - offset].isupper() and word.start > words[0].start]
    numbers = [word for word in unknown if sentence[word.start - offset].isdigit()]
    index, count = place
    cited = _cited(sentence, source, distinct)
    negative = bool(NEGATION.search(sentence))
    there = bool(stretch >= 0 and NEGATION.search(source.place(stretch).text))
    absence = bool(ABSENCE.search(sentence))
    coverage = sum(word.held for word in words) / total
    new = {word.stem: word for word in unknown if word.stem not in said}.values()
    new_light = sum(word.light for word in new)
    new_near = sum(word.near for word in new)
    said |= distinct
    features = {
        "new": log1p(len(new)),
        "new_n": float(len(new)),
        "new_over": max(0.0, len(new) - 3.0),
        "new_over5": max(0.0, len(new) - 5.0),
        "new_light": log1p(new_light),
        "new_near": log1p(new_near),
        "new_rate": len(new) / total,
        "novel": log1p(len(unknown)),
        "novel_n": float(len(unknown)),
        "novel_rate": len(unknown) / total,
        "near": log1p(sum(word.near for word in unknown)),
        "novel_light": log1p(sum(word.light for word in unknown)),
        "novel_heavy": log1p(sum(not word.light for word in unknown)),
        "novel_strange": log1p(sum(not (word.light or word.near) for word in unknown)),
        "strange_rate": sum(not (word.light or word.near) for word in unknown)/total,
        "novel_long": log1p(sum(len(word.stem) >= 5 for word in unknown)),
        "coverage": coverage,
        "run": float(longest),
        "names": log1p(len(names)),
        "numbers": log1p(len(numbers)),
        "pairs": held_pairs / len(pairs) if pairs else coverage,
        "pairs_missing": log1p(len(pairs) - held_pairs),
        "stretch": votes / len(distinct),
        "scattered": max(0.0, coverage - votes / len(distinct)),
        "cited": float(cited is not None),
        "misattributed": cited or 0.0,
        "negation": float(negative),
        "negation_alone": float(negative and not there),
        "negation_lost": float(there and not negative),
        "absence": float(absence),
        "absence_held": coverage * absence,
        "advice": float(bool(ADVICE.search(sentence))),
        "summary": float(bool(SUMMARY.search(sentence))),
        "closing": float(bool(CLOSING.search(sentence))),
        "question": float("?" in sentence),
        "length": log1p(total),
        "asked": sum(word.asked for word in words) / total,
        "position": index / max(1, count - 1),
        "last": float(index == count - 1),
        "first": float(index == 0),
    }
    return SentenceFacts(words, features, stretch)


def _cited(sentence: str, source: Source, distinct: Set[str]) -> float | None:
    """How much better another document holds the words than the cited ones; None where none is cited by its number."""
    numbers = {int(digits) for match in CITATION.finditer(sentence) for digits in re.findall(r"\d{1,3}", match[1] or match[0])}
    named = [number - 1 for number in numbers if 1 <= number <= len(source.held)]
    if not named:
        return None
    size = len(distinct)
    best = max(len(distinct & source.held[index]) / size for index in named)
    others = [len(distinct & held) / size for index, held in enumerate(source.held) if index not in named]
    return max(0.0, max(others, default=0.0) - best)
