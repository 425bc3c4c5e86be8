"""Load datasets: several files become one list of cases, and every row that cannot be used says why."""

import csv
from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from areopage.cases.build import BuildRules, Built, build_case
from areopage.cases.columns import ColumnPlan, plan_columns
from areopage.cases.readers import has_header, read_rows
from areopage.cases.records import MATURITIES, Case, Dataset, RejectedRow
from areopage.cases.rows import BadRow, Row, clip
from areopage.cases.spreadsheet import inert_cell
from areopage.errors import DatasetError, StorageError, name_list

MAX_CASES = 100_000
_SHOWN_REASONS = 3


class _Intake:
    """The state of one load: what was accepted, what was not, and where each id was first seen."""

    def __init__(self, rules: BuildRules, max_cases: int) -> None:
        self._rules, self._max_cases = rules, max_cases
        self._first_seen: dict[str, tuple[Path, int]] = {}
        self.cases: list[Case] = []
        self.rejected: list[RejectedRow] = []
        self.maturity_defaulted = 0
        self.unread: dict[str, None] = {}

    def take(self, row: Row | BadRow, path: Path) -> None:
        """Accept a row as a case, or reject it with its reason.

        Raises:
            DatasetError: the header is of no use, or there are more than `max_cases` cases or rejected rows.
        """
        if isinstance(row, BadRow):
            self._reject(path, row.number, row.reason, row.content)
            return
        try:
            plan = _plan(row, path, self._rules)
            built = build_case(row, plan, path, self._rules)
            case = self._with_free_id(built)
        except ValueError as fault:
            self._reject(path, row.number, str(fault), _content(row))
            return
        self._accept(case, path, row.number)
        self.maturity_defaulted += built.maturity_defaulted
        self.unread.update((name, None) for _, name in plan.unread)

    def places(self) -> dict[str, tuple[str, int]]:
        """The file and row of each case, by its id."""
        return {case_id: (str(path), row) for case_id, (path, row) in self._first_seen.items()}

    def _accept(self, case: Case, path: Path, number: int) -> None:
        if len(self.cases) >= self._max_cases:
            raise DatasetError(f"{path}: row {number}: more than {self._max_cases:,} usable cases: split the file")
        self.cases.append(case)
        self._first_seen[case.id] = (path, number)

    def _with_free_id(self, built: Built) -> Case:
        case = built.case
        if case.id in self._first_seen and built.spare_id:
            case = msgspec.structs.replace(case, id=built.spare_id)
        if first := self._first_seen.get(case.id):
            what = "the same row stands at" if built.spare_id else f"the id {clip(case.id, 80)!r} is taken by"
            raise ValueError(f"{what} {first[0]} row {first[1]}")
        return case

    def _reject(self, path: Path, number: int, reason: str, content: str) -> None:
        if len(self.rejected) >= self._max_cases:
            raise DatasetError(f"more than {self._max_cases:,} rows are unusable: {_first_reasons(self.rejected)}")
        self.rejected.append(RejectedRow(file=str(path), row=number, reason=reason, content=content))


def load_dataset(
    paths: Sequence[Path],
    *,
    default_maturity: str,
    limit: int | None = None,
    max_cases: int = MAX_CASES,
    max_prompt_length: int | None = None,
    max_response_length: int | None = None,
) -> Dataset:
    """Read several files in order into one dataset.

    Args:
        paths: files with one of the extensions of `readers.SUFFIXES`.
        default_maturity: one of `MATURITIES`, for rows that name none; "" where the suite knows no audience:
            then no maturity is read, and a column of that name goes to the metadata.
        limit: stop after so many usable cases, from 1; None reads everything.
        max_cases: more usable cases (or more rejected rows) than this are refused, since they are held in memory.
        max_prompt_length: longer prompts are rejected, in characters.
        max_response_length: longer responses are rejected, in characters.

    Raises:
        DatasetError: a file cannot be read, its header names no prompt, no row is usable, or there are too many.
        MissingExtra: a format needs a part that is not installed.
    """
    if default_maturity and default_maturity not in MATURITIES:
        raise DatasetError(f"the default maturity {default_maturity!r} is not one of {name_list(MATURITIES)}")
    if limit is not None and limit < 1:
        raise DatasetError(f"the limit is {limit}: it must be at least 1")
    if not paths:
        raise DatasetError("no dataset given: give --dataset FILE")
    rules = BuildRules(
        default_maturity=default_maturity, max_prompt_length=max_prompt_length, max_response_length=max_response_length
    )
    intake = _Intake(rules, max_cases)
    with closing(_all_rows(paths)) as rows:
        for path, row in rows:
            intake.take(row, path)
            if len(intake.cases) == limit:
                break
    if not intake.cases:
        names = name_list(str(path) for path in paths)
        raise DatasetError(f"{names}: no row is usable ({len(intake.rejected)} rejected): {_first_reasons(intake.rejected)}")
    return Dataset(
        cases=tuple(intake.cases),
        rejected=tuple(intake.rejected),
        maturity_defaulted=intake.maturity_defaulted,
        unread_columns=tuple(intake.unread),
        places=intake.places(),
    )


def write_rejected(rejected: Sequence[RejectedRow], path: Path) -> None:
    """Write the rejected rows as CSV (UTF-8 with a mark that spreadsheets look for), replacing the file.

    Raises:
        StorageError: the file cannot be written.
    """
    try:
        with path.open("w", encoding="utf-8-sig", errors="backslashreplace", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(("file", "row", "reason", "content"))
            for row in rejected:
                writer.writerow([inert_cell(cell) for cell in (row.file, row.row, row.reason, row.content)])
    except OSError as fault:
        raise StorageError(f"{path}: the rejected rows cannot be written: {fault.strerror or fault}") from fault


def _all_rows(paths: Sequence[Path]) -> Generator[tuple[Path, Row | BadRow], None, None]:
    for path in paths:
        with closing(read_rows(path)) as rows:
            for row in rows:
                yield path, row


def _plan(row: Row, path: Path, rules: BuildRules) -> ColumnPlan:
    """Map the row's columns; a header that is of no use ends the load, an object that is of no use is one bad row."""
    try:
        return plan_columns(row.names, rules.left_out)
    except DatasetError as fault:
        if has_header(path):
            raise DatasetError(f"{path}: {fault}") from fault
        raise ValueError(str(fault)) from fault


def _content(row: Row) -> str:
    pairs = zip(row.names, row.cells, strict=True)
    return clip(msgspec.json.encode(dict(pairs)).decode())


def _first_reasons(rejected: Sequence[RejectedRow]) -> str:
    """Name the first reasons that differ, each with the first row that has it."""
    first: dict[str, RejectedRow] = {}
    for row in rejected:
        first.setdefault(row.reason, row)
    return "; ".join(f"{row.file} row {row.row}: {row.reason}" for row in list(first.values())[:_SHOWN_REASONS])
