"""Export of answers with their scores, and of a whole ledger, with bounded memory.

Texts of answers are what the given policy leaves of them. A whole ledger is exported as it is: of texts there is what the storage
policy and erasure left.
"""

import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, Generic, Literal, TypeVar

import msgspec
from msgspec import structs

from areopage.cases.text_files import CSV_ENCODING, table_writer
from areopage.errors import MissingExtra, StorageError, UserError
from areopage.ledger.calibrations import Calibrations, StoredCalibration
from areopage.ledger.queries import TraceFilter
from areopage.ledger.records import Answer, Evaluation, Judgment, Label, SignOff
from areopage.ledger.run_people import SignOffs
from areopage.ledger.storage import Policy
from areopage.ledger.store import Ledger
from areopage.ledger.streams import each_answer, each_judgment, each_label, evaluation_portions
from areopage.ledger.trace_records import Trace
from areopage.ledger.traces import Traces
from areopage.report.bench.files import write_table
from areopage.report.monitor.figures import outward
from areopage.report.replacing import replacing

Item = TypeVar("Item")
ExportForm = Literal["csv", "csv;", "jsonl", "parquet"]
"""`csv;` has semicolons between its cells."""

TEXTS = (
    *("id", "timestamp", "evaluated_at", "suite", "suite_version", "run_id", "language", "source", "variant", "prompt"),
    "response",
)
AFTER_SCORES = ("grade", "feedback", "strengths", "weaknesses", "suggestions", "reason", "qualification")
NUMBERS = ("scored", "not_applicable", "planned", "spread", "prompt_tokens", "completion_tokens", "seconds", "cost")
_LISTS = frozenset(["strengths", "weaknesses", "suggestions"])
_MOMENTS = frozenset(["timestamp", "evaluated_at"])
_WHOLE = frozenset(["scored", "not_applicable", "planned", "prompt_tokens", "completion_tokens"])
PORTION = 1000  # rows that Parquet keeps in memory

LedgerForm = Literal["jsonl", "csv"]
LEDGER_FORMS: tuple[LedgerForm, ...] = ("jsonl", "csv")

Row = dict[str, Any]
_OF_CASE = (
    *("prompt", "response", "documents", "reference", "category", "subcategory", "maturity", "criteria_selection"),
    *("tags", "system", "child", "metadata"),
)
_OF_ANSWER = tuple(name for name in Answer.__struct_fields__ if name not in ("number", "case"))
_NOT_KEPT = ("number", "prompt", "response", "qualification", "standings")
"""What is of the answer, or of exams at the time of reading."""
_OF_EVALUATION = tuple(name for name in Evaluation.__struct_fields__ if name not in _NOT_KEPT)
_OF_TRACE = tuple(name for name in Trace.__struct_fields__ if name not in ("answer", "panel", "judgments"))
COLUMNS: dict[str, tuple[str, ...]] = {
    "answers": (*_OF_ANSWER, "case_id", *_OF_CASE),
    "evaluations": _OF_EVALUATION,
    "judgments": (*Judgment.__struct_fields__, "answers"),
    "labels": Label.__struct_fields__,
    "decisions": ("id", "at", *_OF_TRACE),
    "signoffs": SignOff.__struct_fields__,
    "calibrations": StoredCalibration.__struct_fields__,
}
"""The files, with the fields of each row."""


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
            encoding = "utf-8" if form == "jsonl" else CSV_ENCODING
            with temporary.open("w", encoding=encoding, errors="replace", newline="") as file:
                WRITERS[form](counted, file, _column_names(criteria))
    return counted.rows


def print_answers(
    scores: Iterable[Evaluation], form: ExportForm, file: IO[str], criteria: Sequence[str], policy: Policy, max_chars: int
) -> None:
    """Write answers to an open file as CSV or JSON Lines."""
    WRITERS[form]((outward(score, policy, max_chars) for score in scores), file, _column_names(criteria))


class Counted(Generic[Item]):
    """Counts iterated items in `rows`."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = items
        self.rows = 0

    def __iter__(self) -> Iterator[Item]:
        for item in self._items:
            self.rows += 1
            yield item


def _write_csv(scores: Iterable[Evaluation], file: IO[str], columns: Mapping[str, str], *, semicolons: bool = False) -> None:
    write = table_writer(file, semicolons=semicolons)
    write(_table_columns(columns))
    for score in scores:
        write("\n".join(cell) if isinstance(cell, list) else cell for cell in _flat(score, columns).values())


def _write_jsonl(scores: Iterable[Evaluation], file: IO[str], columns: Mapping[str, str]) -> None:
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
    "csv;": partial(_write_csv, semicolons=True),
    "jsonl": _write_jsonl,
}


def _write_parquet(scores: Iterable[Evaluation], path: Path, columns: Mapping[str, str]) -> None:
    pyarrow, parquet = _parquet_library()
    schema = pyarrow.schema([(name, _arrow_type(pyarrow, name)) for name in _table_columns(columns)])
    rows = (_flat(score, columns, moments=True) for score in scores)
    with parquet.ParquetWriter(path, schema) as writer:
        while portion := list(islice(rows, PORTION)):
            writer.write_table(pyarrow.Table.from_pylist(portion, schema=schema))


def _table_columns(columns: Mapping[str, str]) -> list[str]:
    return [*TEXTS, "score_global", *columns.values(), *AFTER_SCORES, *NUMBERS, "currency"]


def _arrow_type(pyarrow: Any, name: str) -> Any:
    if name in _MOMENTS:
        return pyarrow.timestamp("us", tz="UTC")
    if name in _LISTS:
        return pyarrow.list_(pyarrow.string())
    if name in _WHOLE:
        return pyarrow.int64()
    texts = {*TEXTS, *AFTER_SCORES, "currency"}
    return pyarrow.string() if name in texts else pyarrow.float64()


def _parquet_library() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as fault:
        raise MissingExtra("writing Parquet files", "parquet") from fault
    return pyarrow, pyarrow.parquet


def _flat(score: Evaluation, columns: Mapping[str, str], *, moments: bool = False) -> dict[str, Any]:
    found = {one.criterion: one.score for one in score.criteria}

    def cell(name: str) -> Any:
        value = getattr(score, name)
        if name in _MOMENTS and not moments:
            return value.isoformat() if value else None
        return list(value) if name in _LISTS else value

    row = {name: cell(name) for name in TEXTS} | {"score_global": score.score_global}
    row |= {column: found.get(path) for path, column in columns.items()}
    return row | {name: cell(name) for name in (*AFTER_SCORES, *NUMBERS, "currency")}


def export_ledger(ledger: Ledger, folder: Path, form: LedgerForm) -> dict[str, int]:
    """Write the files of `COLUMNS` to a new folder, atomically.

    Returns:
        How many rows each file has.

    Raises:
        UserError: the folder exists already.
        StorageError: a file cannot be written, or the ledger not read.
    """
    if folder.exists():
        raise UserError(f"{folder} is there already: name a new folder")
    whole = folder.resolve()
    temporary = whole.with_name(f".{whole.name}.{secrets.token_hex(6)}.tmp")
    counts: dict[str, int] = {}
    try:
        temporary.mkdir(mode=0o700, parents=True)
        for name, rows in _tables(ledger).items():
            counted = Counted(rows)
            _LEDGER_WRITERS[form](temporary / f"{name}.{form}", COLUMNS[name], counted)
            counts[name] = counted.rows
        temporary.rename(whole)
    except OSError as fault:
        raise StorageError(f"{folder} cannot be written: {fault.strerror or fault}") from fault
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return counts


def _tables(ledger: Ledger) -> dict[str, Iterable[Row]]:
    return {
        "answers": map(_answer, each_answer(ledger)),
        "evaluations": (_fields(one, _OF_EVALUATION) for part in evaluation_portions(ledger) for _, one in part),
        "judgments": (_judgment(one, about) for one, about in each_judgment(ledger)),
        "labels": (_fields(one, Label.__struct_fields__) for one in each_label(ledger)),
        "decisions": (_fields(one, COLUMNS["decisions"]) for one in Traces(ledger).each(TraceFilter())),
        "signoffs": (_fields(one, SignOff.__struct_fields__) for one in SignOffs(ledger).of()),
        "calibrations": (_fields(one, StoredCalibration.__struct_fields__) for one in Calibrations(ledger).all()),
    }


def _fields(record: msgspec.Struct, names: Iterable[str]) -> Row:
    return {name: getattr(record, name) for name in names}


def _answer(answer: Answer) -> Row:
    return _fields(answer, _OF_ANSWER) | {"case_id": answer.case.id} | _fields(answer.case, _OF_CASE)


def _judgment(judgment: Judgment, about: Iterable[tuple[str, str]]) -> Row:
    verdicts = [
        {"criterion": one.criterion, "outcome": one.outcome.__struct_config__.tag} | structs.asdict(one.outcome)
        for one in judgment.verdicts
    ]
    answers = [{"answer_id": id, "run_id": run_id} for id, run_id in about]
    return structs.asdict(judgment) | {"verdicts": verdicts, "answers": answers}


def _write_rows(path: Path, columns: tuple[str, ...], rows: Iterable[Row]) -> None:
    with replacing(path) as place, place.open("wb") as file:
        for row in rows:
            file.write(msgspec.json.encode(row) + b"\n")


def _write_row_table(path: Path, columns: tuple[str, ...], rows: Iterable[Row]) -> None:
    write_table(path, columns, ([_cell(row[name]) for name in columns] for row in rows))


_LEDGER_WRITERS: dict[LedgerForm, Callable[[Path, tuple[str, ...], Iterable[Row]], None]] = {
    "jsonl": _write_rows,
    "csv": _write_row_table,
}


def _cell(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return value if value is None or isinstance(value, str | int | float) else msgspec.json.encode(value).decode()
