"""A suite's gold set, `gold.jsonl`: responses whose scores are beyond dispute within a range."""

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from areopage.cases import Case, Document, Turn
from areopage.digest import digest_of
from areopage.errors import DatasetError, name_list
from areopage.suites.loader import Suite
from areopage.text import marked_as

GOLD_FILE = "gold.jsonl"
_MAX_BYTES = 50_000_000
_Line = TypeVar("_Line")

Band = tuple[float, float]


class GoldRow(Struct, frozen=True, kw_only=True):
    """A response with the ranges that its scores must lie in.

    Args:
        bands: the range of each criterion, on the criterion's scale, by the criterion's id or path.
        not_applicable: the criteria that do not apply; one that also has a band may apply or not.
        checked_by: the names of the people who have read the row and agree with its ranges; none: no person has.
    """

    id: str
    language: str
    prompt: str | tuple[Turn, ...]
    response: str
    bands: dict[str, Band] = {}
    not_applicable: tuple[str, ...] = ()
    maturity: str = ""
    documents: tuple[Document, ...] = ()
    checked_by: tuple[str, ...] = ()

    @property
    def criteria(self) -> tuple[str, ...]:
        """All criteria that judges are asked about."""
        return tuple(dict.fromkeys((*self.bands, *self.not_applicable)))

    def case(self) -> Case:
        """The case that judges are shown."""
        prompt, documents = self.prompt, self.documents
        return Case(id=self.id, prompt=prompt, response=self.response, maturity=self.maturity, documents=documents, source="gold")


def read_gold(suite: Suite) -> tuple[GoldRow, ...]:
    """Read a suite's gold set; criteria are named by their ids."""
    path = suite.folder / GOLD_FILE
    if not path.is_file():
        raise DatasetError(f"the suite {suite.name} has no {GOLD_FILE}: add one, see docs/reference/suites.md")
    by_path = {entry.path: entry.id for entry in suite.registry.entries.values()}
    rows: dict[str, GoldRow] = {}
    for number, read in typed_lines(path, GoldRow):
        row = msgspec.structs.replace(
            read,
            bands={by_path.get(key, key): band for key, band in read.bands.items()},
            not_applicable=tuple(by_path.get(key, key) for key in read.not_applicable),
        )
        if fault := _fault(row, suite, rows):
            raise DatasetError(f"{path}:{number}: {fault}")
        rows[row.id] = row
    if not rows:
        raise DatasetError(f"{path}: it holds no gold row: add one, see docs/reference/suites.md")
    return tuple(rows.values())


def _fault(row: GoldRow, suite: Suite, others: dict[str, GoldRow]) -> str:
    unknown = [key for key in row.criteria if key not in suite.registry.entries]
    if unknown:
        return f"the suite has no criterion {name_list(unknown)}: a band holds for one version of a criterion"
    if row.id in others:
        return f"the id {row.id!r} is given twice"
    if row.language not in suite.config.languages:
        return f"language: the suite has no texts in {row.language!r}"
    if not row.criteria:
        return "it has neither bands nor not_applicable"
    if not all(name.strip() for name in row.checked_by):
        return "checked_by: give the names of the people who checked the row"
    if marked_as(row.response):
        return "its response is withheld, and judges are not shown such responses"
    return next((f"the band of {key} ends before it begins" for key, (low, high) in row.bands.items() if low > high), "")


def gold_criteria(suite: Suite) -> tuple[str, ...]:
    """The ids of the criteria that a suite's gold set can examine judges on; none where it has no gold set that can be read."""
    try:
        rows = read_gold(suite)
    except DatasetError:
        return ()
    return tuple(sorted({id for row in rows for id in row.bands}))


def gold_digest(rows: tuple[GoldRow, ...]) -> str:
    """SHA-256 of gold rows in any order."""
    return digest_of(sorted((msgspec.to_builtins(row) for row in rows), key=lambda row: str(row["id"])))


def typed_lines(path: Path, kind: type[_Line]) -> Iterator[tuple[int, _Line]]:
    """Yield each line of a file with its number; blank lines are passed over.

    A byte order mark is allowed. Only a line feed ends a line: JSON texts may hold other separators.

    Raises:
        DatasetError: the file is larger than 50 MB, or a line is not UTF-8 or not of this type.
    """
    if path.stat().st_size > _MAX_BYTES:
        raise DatasetError(f"{path}: larger than {_MAX_BYTES:,} bytes")
    for number, line in enumerate(path.read_bytes().removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            line.decode()
            yield number, msgspec.json.decode(line, type=kind)
        except UnicodeDecodeError:
            raise DatasetError(f"{path}:{number}: the text is not UTF-8: save the file as UTF-8") from None
        except (msgspec.DecodeError, RecursionError) as fault:
            raise DatasetError(f"{path}:{number}: {fault}") from None
