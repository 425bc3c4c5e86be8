"""The cases of an audit: graded responses of a suite's gold set, and the pairs that say the same in English and in French."""

from collections.abc import Sequence
from typing import TypeVar

from msgspec import Struct

from areopage.cases import Case, Document
from areopage.criteria import Criterion, Scale
from areopage.errors import DatasetError
from areopage.suites import GoldRow, Suite, read_gold, typed_lines

PAIRS_FILE = "pairs.jsonl"
LOW = 0.4
"""A share of the scale: a response whose band of scores ends under it is a bad one."""

_Row = TypeVar("_Row")


class AuditSide(Struct, frozen=True, kw_only=True):
    """One language of a pair."""

    prompt: str
    response: str
    documents: tuple[Document, ...] = ()


class AuditPair(Struct, frozen=True, kw_only=True):
    """The same question, answer and documents in both languages."""

    id: str
    criteria: tuple[str, ...]
    en: AuditSide
    fr: AuditSide
    maturity: str = ""

    def case(self, language: str) -> Case:
        """The case in a language."""
        side = self.en if language == "en" else self.fr
        return Case(id=self.id, prompt=side.prompt, response=side.response, documents=side.documents, maturity=self.maturity)


def is_bad(row: GoldRow, criterion: Criterion) -> bool:
    """Whether the whole band of a criterion lies at the worse end of its scale."""
    if criterion.id not in row.bands:
        return False
    return max(criterion.scale.map_to(end, Scale(0.0, 1.0)) for end in row.bands[criterion.id]) <= LOW


def graded_responses(suite: Suite, language: str) -> tuple[GoldRow, ...]:
    """The responses of a suite's gold set in a language that have a band of scores; conversations are left out.

    Raises:
        DatasetError: there is no gold set, a line of it is wrong, or no response is in this language.
    """
    rows = [row for row in read_gold(suite) if row.language == language and row.bands and isinstance(row.prompt, str)]
    if not rows:
        raise DatasetError(f"the gold set of the suite {suite.name} has no response in {language!r}")
    return tuple(rows)


def evenly_spaced(rows: Sequence[_Row], limit: int | None) -> tuple[_Row, ...]:
    """A number of rows, evenly spaced; None: all."""
    if limit is None or limit >= len(rows):
        return tuple(rows)
    return tuple(rows[place * len(rows) // limit] for place in range(limit))


def pairs_of(suite: Suite, limit: int | None) -> tuple[AuditPair, ...]:
    """The pairs of a suite; none where it has no file of them.

    Raises:
        DatasetError: a line cannot be read.
    """
    path = suite.folder / PAIRS_FILE
    return tuple(pair for _, pair in typed_lines(path, AuditPair))[:limit] if path.is_file() else ()
