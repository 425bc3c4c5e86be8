"""Export of a ledger as JSON Lines or CSV, one file per kind of record.

Nothing is added and nothing is taken away: of texts there is what the storage policy and erasure left.
"""

import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import structs

from areopage.errors import StorageError, UserError
from areopage.ledger.queries import TraceFilter
from areopage.ledger.records import Answer, Evaluation, Judgment, Label, Trace
from areopage.ledger.store import Ledger
from areopage.ledger.streams import each_answer, each_judgment, each_label, evaluation_portions
from areopage.ledger.traces import Traces
from areopage.report.replacing import replacing
from areopage.report.run_files import write_table

LedgerForm = Literal["jsonl", "csv"]
LEDGER_FORMS: tuple[LedgerForm, ...] = ("jsonl", "csv")
Row = dict[str, Any]

_OF_CASE = (
    "prompt",
    "response",
    "documents",
    "reference",
    "category",
    "subcategory",
    "maturity",
    "criteria_selection",
    "metadata",
)
_OF_ANSWER = tuple(name for name in Answer.__struct_fields__ if name not in ("number", "case"))
_OF_EVALUATION = tuple(name for name in Evaluation.__struct_fields__ if name not in ("number", "prompt", "response"))
_OF_TRACE = tuple(name for name in Trace.__struct_fields__ if name not in ("answer", "panel", "judgments"))
COLUMNS: dict[str, tuple[str, ...]] = {
    "answers": (*_OF_ANSWER, "case_id", *_OF_CASE),
    "evaluations": _OF_EVALUATION,
    "judgments": (*Judgment.__struct_fields__, "answers"),
    "labels": Label.__struct_fields__,
    "decisions": ("id", "at", *_OF_TRACE),
}
"""The files, with the fields of each row."""


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
        temporary.mkdir(parents=True)
        for name, rows in _tables(ledger).items():
            counted = _Counted(rows)
            _WRITERS[form](temporary / f"{name}.{form}", COLUMNS[name], counted)
            counts[name] = counted.rows
        temporary.rename(whole)
    except OSError as fault:
        raise StorageError(f"{folder} cannot be written: {fault.strerror or fault}") from fault
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return counts


class _Counted:
    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows, self.rows = rows, 0

    def __iter__(self) -> Iterator[Row]:
        for row in self._rows:
            self.rows += 1
            yield row


def _tables(ledger: Ledger) -> dict[str, Iterable[Row]]:
    return {
        "answers": map(_answer, each_answer(ledger)),
        "evaluations": (_fields(one, _OF_EVALUATION) for part in evaluation_portions(ledger) for _, one in part),
        "judgments": (_judgment(one, about) for one, about in each_judgment(ledger)),
        "labels": (_fields(one, Label.__struct_fields__) for one in each_label(ledger)),
        "decisions": (_fields(one, COLUMNS["decisions"]) for one in Traces(ledger).each(TraceFilter())),
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


def _write_jsonl(path: Path, columns: tuple[str, ...], rows: Iterable[Row]) -> None:
    with replacing(path) as place, place.open("wb") as file:
        for row in rows:
            file.write(msgspec.json.encode(row) + b"\n")


def _write_csv(path: Path, columns: tuple[str, ...], rows: Iterable[Row]) -> None:
    write_table(path, columns, ([_cell(row[name]) for name in columns] for row in rows))


_WRITERS: dict[LedgerForm, Callable[[Path, tuple[str, ...], Iterable[Row]], None]] = {"jsonl": _write_jsonl, "csv": _write_csv}


def _cell(value: Any) -> Any:
    """A value as one cell: what is nested is JSON."""
    if isinstance(value, datetime):
        return value.isoformat()
    return value if value is None or isinstance(value, str | int | float) else msgspec.json.encode(value).decode()
