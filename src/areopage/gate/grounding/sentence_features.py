"""What can be told of a sentence of an answer by looking at the documents' words."""

import itertools
import re
from collections.abc import Sequence, Set
from math import log1p

from msgspec import Struct

from areopage.evidence.reading import lower_case
from areopage.gate.grounding.source import Source
from areopage.gate.grounding.tokens import WORD, is_light, stems_of

# Words about the documents and no words of theirs: "[doc1]", "(passage 2)", "according to documents 1, 2 and 3".
BRACKETED = re.compile(r"\[[^\[\]\n]{1,40}\]")
NUMBERED = re.compile(
    r"\b(?:passages?|documents?|sources?|extraits?|docs?)\s?(?:n[°o]\s?)?#?(?:\d{1,3}\b(?:\s?,)?\s?(?:(?:and|et|&|or|ou|-|to|à)\s)?){1,6}",
    re.IGNORECASE,
)
NUMBERED_WORDS = ("passage", "doc", "source", "extrait")
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


class Words(Struct, frozen=True):
    """The words of a piece of a text, from `start` on.

    Args:
        written: all of them, as they are written.
        stems: theirs, "" for one that means nothing alone.
        roots: the stems of those that mean something.
    """

    text: str
    start: int
    written: Sequence[str]
    stems: Sequence[str]
    roots: Sequence[str]

    def having(self, wanted: Set[str]) -> list[Word]:
        """The words that have one of some stems."""
        found = []
        end = self.start
        for written, root in zip(self.written, self.stems, strict=True):
            # Nothing that could be taken for a word stands before the next one.
            start = self.text.index(written, end)
            end = start + len(written)
            if root in wanted:
                found.append(Word(root, written, start, end))
        return found


class SentenceFacts(Struct, frozen=True):
    """What was found.

    Args:
        words: how many words mean something.
        unknown: those that neither the documents nor the question have.
        features: by name; empty for a sentence without words.
        stretch: of the documents, the one that comes nearest; -1 for none.
        shares: of each document, the share of the sentence's words that it has.
    """

    words: int
    unknown: Sequence[Word]
    features: dict[str, float]
    stretch: int
    shares: tuple[float, ...] = ()


class Answered(Struct):
    """What the sentences of an answer are looked at with: the documents, the question's stems, and the stems said so far."""

    source: Source
    question: Set[str]
    sentences: int
    said: set[str]


def without_citations(response: str) -> str:
    """The response with spaces for its citations: as long as it was."""
    clean = BRACKETED.sub(_blank, response) if "[" in response else response
    low = lower_case(clean)
    return NUMBERED.sub(_blank, clean) if any(word in low for word in NUMBERED_WORDS) else clean


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def words_of(clean: str, start: int, end: int) -> Words:
    """The words of a piece of a response without citations."""
    written = WORD.findall(clean, start, end)
    found = list(stems_of(written))
    return Words(clean, start, written, found, list(filter(None, found)))


def sentence_facts(low: str, denied: bool, words: Words, index: int, answered: Answered) -> SentenceFacts:
    """Look at a sentence, the `index`-th of the answer.

    Args:
        low: its text in lower case with straight apostrophes.
        denied: whether it denies anything.
    """
    roots = words.roots
    if not roots:
        return SentenceFacts(0, (), {}, -1)
    source, question = answered.source, answered.question
    total = len(roots)
    distinct = set(roots)
    strange = distinct - source.stems - question
    unknown = words.having(strange) if strange else []
    missing = len(unknown)
    coverage = sum(map(source.stems.__contains__, roots)) / total
    stretch, together = source.best_stretch(distinct)
    pairs_missing = total - 1 - sum(map(source.pairs.__contains__, itertools.pairwise(roots)))
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
        there = source.denies(stretch)
        features["negation_alone"] = float(denied and not there)
        features["negation_lost"] = float(there and not denied)
    shares = tuple([len(distinct & held) / len(distinct) for held in source.held])
    return SentenceFacts(total, unknown, features, stretch, shares)


def _longest_run(roots: Sequence[str], strange: Set[str]) -> int:
    """The most strange words that follow each other."""
    if not strange:
        return 0
    run = longest = 0
    for root in roots:
        run = run + 1 if root in strange else 0
        longest = max(longest, run)
    return longest
