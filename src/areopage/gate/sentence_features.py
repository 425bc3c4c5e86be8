"""What can be told of a sentence of an answer by looking at the documents' words."""

import re
from collections.abc import Mapping, Sequence, Set
from math import log1p

from msgspec import Struct

from areopage.gate.source import Source
from areopage.gate.tokens import WORD, is_light, stem

# Words about the documents and no words of theirs: "[doc1]", "(passage 2)", "according to documents 1, 2 and 3".
CITATION = re.compile(
    r"\[[^\[\]\n]{1,40}\]"
    r"|\b(?:passages?|documents?|sources?|extraits?|docs?)\s?(?:n[°o]\s?)?#?(?:\d{1,3}\b(?:\s?,)?\s?(?:(?:and|et|&|or|ou|-|to|à)\s)?){1,6}",
    re.IGNORECASE,
)
DIGIT = re.compile(r"[0-9]")
NEGATIONS = frozenset(
    "not no never none without cannot can't don't doesn't isn't aren't won't didn't unable neither nor pas aucun aucune jamais sans ni".split()
)
CLOSINGS = (
    "let me know", "feel free", "i hope", "happy to help", "further clarification", "further assistance", "further questions",
    "n'hésitez pas", "j'espère", "bien à vous", "cordialement",
)  # fmt: skip


class Word(Struct, frozen=True):
    """A word of the answer that means something.

    Args:
        stem: what it is compared by.
        start, end: its place in the response.
        held, asked: whether the documents, or the question, have it.
        light: a word unknown to the documents that states little by itself.
    """

    stem: str
    start: int
    end: int
    held: bool
    asked: bool
    light: bool


class SentenceFacts(Struct, frozen=True):
    """A sentence's words, its features by name, and the stretch of the documents that comes nearest (-1 for none)."""

    words: Sequence[Word]
    unknown: Sequence[Word]
    features: Mapping[str, float]
    stretch: int


class Answered(Struct):
    """What the sentences of an answer are looked at with: the documents, the question's stems, and the stems said so far."""

    source: Source
    question: Set[str]
    sentences: int
    said: set[str]


def sentence_facts(sentence: str, offset: int, index: int, answered: Answered) -> SentenceFacts:
    """Look at a sentence, the `index`-th of the answer, that stands at `offset`."""
    source = answered.source
    words = _words(sentence, offset, answered)
    if not words:
        return SentenceFacts(words, (), {}, -1)
    total = len(words)
    roots = [word.stem for word in words]
    distinct = set(roots)
    unknown = [word for word in words if not (word.held or word.asked)]
    strange = {word.stem for word in unknown}
    new = len(strange - answered.said)
    answered.said |= distinct
    stretch, together = source.best_stretch(distinct)
    pairs = list(zip(roots, roots[1:], strict=False))
    held_pairs = len([pair for pair in pairs if pair in source.pairs])
    coverage = sum([word.held for word in words]) / total
    low = sentence.lower().replace("’", "'")
    negated = denies(low)
    features = {
        "unknown": log1p(len(unknown)),
        "unknown_count": float(len(unknown)),
        "unknown_share": len(unknown) / total,
        "unknown_light": log1p(sum([word.light for word in unknown])),
        "unknown_run": float(_longest_run(words)),
        "new": float(new),
        "pairs_share": held_pairs / len(pairs) if pairs else coverage,
        "pairs_missing": log1p(len(pairs) - held_pairs),
        "scattered": max(0.0, coverage - together / len(distinct)),
        "length": log1p(total),
        "coverage": coverage,
        "opens": float(index == 0 and answered.sentences > 1),
        "closes": float(index == answered.sentences - 1 and answered.sentences > 1),
        "position": index / max(1, answered.sentences - 1),
        "courtesy": float(sentence.endswith("?") or any([closing in low for closing in CLOSINGS])),
    }
    if stretch >= 0:
        denied = denies(source.place(stretch).text.lower().replace("’", "'"))
        features["negation_alone"] = float(negated and not denied)
        features["negation_lost"] = float(denied and not negated)
    return SentenceFacts(words, unknown, features, stretch)


def denies(low: str) -> bool:
    """Whether a text, in lower case and with straight apostrophes, denies anything."""
    return not NEGATIONS.isdisjoint(low.split())


def _words(sentence: str, offset: int, answered: Answered) -> list[Word]:
    """The words of a sentence that mean something, without its citations."""
    stems, question = answered.source.stems, answered.question
    if "[" in sentence or DIGIT.search(sentence):
        sentence = CITATION.sub(lambda match: " " * len(match.group()), sentence)
    found = []
    for match in WORD.finditer(sentence):
        written = match.group()
        root = stem(written)
        if root:
            held = root in stems
            found.append(Word(root, offset + match.start(), offset + match.end(), held, root in question, not held and is_light(written)))
    return found


def _longest_run(words: Sequence[Word]) -> int:
    """The most unknown words that follow each other."""
    run = longest = 0
    for word in words:
        run = 0 if word.held or word.asked else run + 1
        longest = max(longest, run)
    return longest
