"""What can be told of a sentence of an answer by looking at the documents' words."""

import itertools
import re
from collections.abc import Sequence, Set
from math import log1p

from msgspec import Struct

from areopage.gate.grounding.source import Source
from areopage.gate.grounding.tokens import WORD, denies, is_light, stem

# Words about the documents and no words of theirs: "[doc1]", "(passage 2)", "according to documents 1, 2 and 3".
CITATION = re.compile(
    r"\[[^\[\]\n]{1,40}\]"
    r"|\b(?:passages?|documents?|sources?|extraits?|docs?)\s?(?:n[°o]\s?)?#?(?:\d{1,3}\b(?:\s?,)?\s?(?:(?:and|et|&|or|ou|-|to|à)\s)?){1,6}",
    re.IGNORECASE,
)
DIGIT = re.compile(r"[0-9]")
CLOSINGS = (
    "let me know", "feel free", "i hope", "happy to help", "further clarification", "further assistance", "further questions",
    "n'hésitez pas", "j'espère", "bien à vous", "cordialement",
)  # fmt: skip


class Word(Struct, frozen=True):
    """A word that means something: what it is compared by, how it is written, and where it stands in the response."""

    stem: str
    written: str
    start: int
    end: int


class SentenceFacts(Struct, frozen=True):
    """What was found.

    Args:
        words: how many words mean something.
        unknown: those that neither the documents nor the question have.
        features: by name; empty for a sentence without words.
        stretch: of the documents, the one that comes nearest; -1 for none.
    """

    words: int
    unknown: Sequence[Word]
    features: dict[str, float]
    stretch: int


class Answered(Struct):
    """What the sentences of an answer are looked at with: the documents, the question's stems, and the stems said so far."""

    source: Source
    question: Set[str]
    sentences: int
    said: set[str]


def without_citations(response: str) -> str:
    """The response with spaces for its citations: as long as it was."""
    if "[" not in response and not DIGIT.search(response):
        return response
    return CITATION.sub(lambda match: " " * len(match.group()), response)


def words_of(clean: str, start: int, end: int) -> list[Word]:
    """The words that mean something in a piece of a response without citations."""
    found = []
    for match in WORD.finditer(clean, start, end):
        written = match.group()
        root = stem(written)
        if root:
            found.append(Word(root, written, match.start(), match.end()))
    return found


def sentence_facts(low: str, words: Sequence[Word], index: int, answered: Answered) -> SentenceFacts:
    """Look at a sentence, the `index`-th of the answer; `low` is its text in lower case with straight apostrophes."""
    if not words:
        return SentenceFacts(0, (), {}, -1)
    source, question = answered.source, answered.question
    held_stems = source.stems
    total = len(words)
    roots = [word.stem for word in words]
    distinct = set(roots)
    strange = distinct - held_stems - question
    unknown = [word for word in words if word.stem in strange]
    missing = len(unknown)
    coverage = len([root for root in roots if root in held_stems]) / total
    stretch, together = source.best_stretch(distinct)
    pairs_missing = len([pair for pair in itertools.pairwise(roots) if pair not in source.pairs])
    several = answered.sentences > 1
    features = {
        "unknown": log1p(missing),
        "unknown_count": float(missing),
        "unknown_share": missing / total,
        "unknown_light": log1p(len([word for word in unknown if is_light(word.written)])),
        "unknown_run": float(_longest_run(roots, strange)),
        "foreign": max(0.0, missing / total - 0.5),
        "new": float(len(strange - answered.said)),
        "pairs_missing": log1p(pairs_missing),
        "scattered": max(0.0, coverage - together / len(distinct)),
        "length": log1p(total),
        "coverage": coverage,
        "opens": float(index == 0 and several),
        "closes": float(index == answered.sentences - 1 and several),
        "position": index / max(1, answered.sentences - 1),
        "courtesy": float(low.endswith("?") or any(closing in low for closing in CLOSINGS)),
    }
    answered.said |= distinct
    if stretch >= 0:
        denied, there = denies(low), source.denies(stretch)
        features["negation_alone"] = float(denied and not there)
        features["negation_lost"] = float(there and not denied)
    return SentenceFacts(total, unknown, features, stretch)


def _longest_run(roots: Sequence[str], strange: Set[str]) -> int:
    """The most strange words that follow each other."""
    if not strange:
        return 0
    run = longest = 0
    for root in roots:
        run = run + 1 if root in strange else 0
        longest = max(longest, run)
    return longest
