"""The cases of an audit: graded responses of a suite's gold set, and the pairs that say the same in English and in French."""

from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from areopage.cases.records import Case, Document
from areopage.criteria.records import Scale
from areopage.errors import ConfigError, DatasetError
from areopage.suites.loader import Suite

GOLD_FILE = "gold.jsonl"
PAIRS_FILE = "pairs.jsonl"
LOW = 0.4
"""A share of the scale: a response whose band of scores ends under it is a bad one."""
_MAX_BYTES = 50_000_000

_Line = TypeVar("_Line")


class Graded(Struct, frozen=True, kw_only=True):
    """A line of a gold set: a response and the band of scores, by criterion, that is beyond dispute."""

    id: str
    language: str
    prompt: str
    response: str
    bands: dict[str, tuple[float, float]]
    maturity: str = ""
    documents: tuple[Document, ...] = ()

    @property
    def case(self) -> Case:
        """The case that a judge is asked about."""
        return Case(id=self.id, prompt=self.prompt, response=self.response, documents=self.documents, maturity=self.maturity)

    def is_bad(self, criterion: str, scale: Scale) -> bool:
        """Whether the whole band of a criterion lies at the worse end of the scale."""
        low, high = (scale.map_to(end, Scale(0.0, 1.0)) for end in self.bands[criterion])
        return max(low, high) <= LOW


class Side(Struct, frozen=True, kw_only=True):
    """One language of a pair."""

    prompt: str
    response: str
    documents: tuple[Document, ...] = ()


class Pair(Struct, frozen=True, kw_only=True):
    """The same question, answer and documents in both languages."""

    id: str
    criteria: tuple[str, ...]
    en: Side
    fr: Side
    maturity: str = ""

    def case(self, language: str) -> Case:
        """The case in a language."""
        side = self.en if language == "en" else self.fr
        return Case(id=self.id, prompt=side.prompt, response=side.response, documents=side.documents, maturity=self.maturity)


def graded_responses(suite: Suite, language: str, limit: int | None) -> tuple[Graded, ...]:
    """The graded responses of a suite in a language, evenly spaced if there are more than the limit.

    Raises:
        ConfigError: the suite has no gold set.
        DatasetError: a line of it cannot be read, or none is in this language.
    """
    path = suite.folder / GOLD_FILE
    if not path.is_file():
        raise ConfigError(f"the suite has no {GOLD_FILE}: an audit needs graded responses", path=suite.folder)
    found = [one for one in _lines(path, Graded) if one.language == language and one.bands]
    if not found:
        raise DatasetError(f"{path}: no graded response is in {language!r}")
    if limit is None or limit >= len(found):
        return tuple(found)
    return tuple(found[place * len(found) // limit] for place in range(limit))


def pairs_of(suite: Suite, limit: int | None) -> tuple[Pair, ...]:
    """The pairs of a suite; none where it has no file of them.

    Raises:
        DatasetError: a line cannot be read.
    """
    path = suite.folder / PAIRS_FILE
    return tuple(_lines(path, Pair)[:limit]) if path.is_file() else ()


def _lines(path: Path, kind: type[_Line]) -> list[_Line]:
    if path.stat().st_size > _MAX_BYTES:
        raise DatasetError(f"{path}: larger than {_MAX_BYTES:,} bytes")
    found: list[_Line] = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise DatasetError(f"{path}: not UTF-8 text") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(msgspec.json.decode(line, type=kind))
            except (msgspec.DecodeError, RecursionError) as fault:
                raise DatasetError(f"{path}:{number}: {fault}") from None
    return found
