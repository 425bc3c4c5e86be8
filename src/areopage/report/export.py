"""Export of answers and scores as CSV, JSON Lines or Parquet, with bounded memory.

Texts are what the given policy leaves of them.
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

import msgspec

from areopage.cases.text_files import inert_cell
from areopage.errors import MissingExtra
from areopage.ledger.records import Evaluation
from areopage.ledger.storage import Policy
from areopage.report.monitor_figures import outward
from areopage.report.replacing import replacing

ExportForm = Literal["csv", "jsonl", "parquet"]

TEXTS = (
    "id",
    "timestamp",
    "evaluated_at",
    "suite",
    "suite_version",
    "run_id",
    "language",
    "source",
    "variant",
    "prompt",
    "response",
)
AFTER_SCORES = ("grade", "feedback", "strengths", "weaknesses", "suggestions", "reason", "qualification")
NUMBERS = ("scored", "planned", "spread", "prompt_tokens", "completion_tokens", "seconds", "cost")
_LISTS = frozenset(["strengths", "weaknesses", "suggestions"])
_MOMENTS = frozenset(["timestamp", "evaluated_at"])
_WHOLE = frozenset(["scored", "planned", "prompt_tokens", "completion_tokens"])
PORTION = 1000  # rows that Parquet keeps in memory


def _column_names(criteria: Sequence[str]) -> dict[str, str]:
    """The column of each criterion, by its path: its bare name (exactitude), or the whole path where that would be ambiguous."""
    bare = [path.rpartition(".")[2] for path in criteria]
    taken = {*TEXTS, *AFTER_SCORES, *NUMBERS, "score_global", "currency"}
    return {
        path: name if bare.count(name) == 1 and name not in taken else path for path, name in zip(criteria, bare, strict=True)
    }


def export_answers(
    scores: Iterable[Evaluation], form: ExportForm, place: Path, criteria: Sequence[str], policy: Policy, max_chars: int
) -> int:
    """Write answers to a file, atomically.

    Args:
        criteria: the paths that get a column each in a table; JSON lines hold every criterion that an answer has.

    Returns:
        How many answers.

    Raises:
        StorageError: the file cannot be written, or the ledger not read.
        MissingExtra: Parquet without pyarrow.
    """
    if form == "parquet":
        _parquet_library()  # before the first row is read
    counted = Counted(outward(score, policy, max_chars) for score in scores)
    with replacing(place) as temporary:
        if form == "parquet":
            _write_parquet(counted, temporary, _column_names(criteria))
        else:
            with temporary.open("w", encoding="utf-8", errors="replace", newline="") as file:
                WRITERS[form](counted, file, _column_names(criteria))
    return counted.rows


def print_answers(
    scores: Iterable[Evaluation], form: ExportForm, file: IO[str], criteria: Sequence[str], policy: Policy, max_chars: int
) -> None:
    """Write answers to an open file as CSV or JSON Lines."""
    WRITERS[form]((outward(score, policy, max_chars) for score in scores), file, _column_names(criteria))


class Counted:
    """Counts iterated items in `rows`."""

    def __init__(self, scores: Iterable[Evaluation]) -> None:
        self._scores = scores
        self.rows = 0

    def __iter__(self) -> Iterator[Evaluation]:
        for score in self._scores:
            self.rows += 1
            yield score


def _write_csv(scores: Iterable[Evaluation], file: IO[str], columns: Mapping[str, str]) -> None:
    """A row per answer; lists are lines of one cell, and a cell that would run as a formula does not."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_table_columns(columns))
    for score in scores:
        row = flat(score, columns)
        writer.writerow([inert_cell("\n".join(cell) if isinstance(cell, list) else cell) for cell in row.values()])


def _write_jsonl(scores: Iterable[Evaluation], file: IO[str], columns: Mapping[str, str]) -> None:
    """An object per line: the fields of an evaluation, its criteria by path."""
    for score in scores:
        names = (*TEXTS, "score_global", *AFTER_SCORES, *NUMBERS, "currency")
        record = {name: getattr(score, name) for name in names} | {
            "criteria": {
                one.criterion: {"score": one.score, "grade": one.grade, "agreement": one.agreement} for one in score.criteria
            }
        }
        file.write(msgspec.json.encode(record).decode() + "\n")


WRITERS: Mapping[str, Callable[[Iterable[Evaluation], IO[str], Mapping[str, str]], None]] = {
    "csv": _write_csv,
    "jsonl": _write_jsonl,
}


def _write_parquet(scores: Iterable[Evaluation], path: Path, columns: Mapping[str, str]) -> None:
    """A row per answer, in groups of rows."""
    pyarrow, parquet = _parquet_library()
    schema = pyarrow.schema([(name, _arrow_type(pyarrow, name)) for name in _table_columns(columns)])
    rows = (flat(score, columns, moments=True) for score in scores)
    with parquet.ParquetWriter(path, schema) as writer:
        while portion := list(islice(rows, PORTION)):
            writer.write_table(pyarrow.Table.from_pylist(portion, schema=schema))


def _table_columns(columns: Mapping[str, str]) -> list[str]:
    """The columns of a table, in order."""
    return [*TEXTS, "score_global", *columns.values(), *AFTER_SCORES, *NUMBERS, "currency"]


def _arrow_type(pyarrow: Any, name: str) -> Any:
    """The type of a column."""
    if name in _MOMENTS:
        return pyarrow.timestamp("us", tz="UTC")
    if name in _LISTS:
        return pyarrow.list_(pyarrow.string())
    if name in _WHOLE:
        return pyarrow.int64()
    texts = {*TEXTS, *AFTER_SCORES, "currency"}
    return pyarrow.string() if name in texts else pyarrow.float64()


def _parquet_library() -> tuple[Any, Any]:
    """pyarrow and its Parquet part.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as fault:
        raise MissingExtra("writing Parquet files", "parquet") from fault
    return pyarrow, pyarrow.parquet


def flat(score: Evaluation, columns: Mapping[str, str], *, moments: bool = False) -> dict[str, Any]:
    """Convert an answer to a row; without `moments`, times are ISO texts."""
    found = {one.criterion: one.score for one in score.criteria}

    def cell(name: str) -> Any:
        value = getattr(score, name)
        if name in _MOMENTS and not moments:
            return value.isoformat() if value else None
        return list(value) if name in _LISTS else value

    row = {name: cell(name) for name in TEXTS} | {"score_global": score.score_global}
    row |= {column: found.get(path) for path, column in columns.items()}
    return row | {name: cell(name) for name in (*AFTER_SCORES, *NUMBERS, "currency")}
