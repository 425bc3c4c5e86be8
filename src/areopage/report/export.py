"""Export of answers with their scores, and of a whole ledger, with bounded memory.

Texts of answers are what the given policy leaves of them. A whole ledger is exported as it is: of texts there is what the storage
policy and erasure left.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import structs

from areopage.cases import Case
from areopage.errors import UserError
from areopage.ledger import (
    Answer,
    Evaluation,
    Judgment,
    Label,
    Ledger,
    SignOff,
    StoredCalibration,
    Trace,
    TraceFilter,
    stored_answer,
)
from areopage.report.monitor.figures import outward
from areopage.report.tables import CellKind, TableColumn, TableForm, Written, print_rows, replacing, write_rows
from areopage.suites import new_folder
from areopage.text import Policy

TEXTS = (
    *("id", "timestamp", "evaluated_at", "suite", "suite_version", "run_id", "language", "source", "variant", "prompt"),
    "response",
)
AFTER_SCORES = ("grade", "feedback", "strengths", "weaknesses", "suggestions", "reason", "qualification")
NUMBERS = ("scored", "not_applicable", "planned", "spread", "prompt_tokens", "completion_tokens", "seconds", "cost")
OF_CASES = ("documents", "metadata")

LedgerForm = Literal["jsonl", "csv", "parquet", "xlsx"]
LEDGER_FORMS: tuple[LedgerForm, ...] = get_args(LedgerForm)

ExportedRow = dict[str, Any]
AnswersById = Callable[[Sequence[str]], Mapping[str, Answer]]
AT_ONCE = 500
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


def export_answers(
    scores: Iterable[Evaluation],
    form: TableForm,
    place: Path | IO[str],
    criteria: Sequence[str],
    policy: Policy,
    max_chars: int,
    answers: AnswersById,
) -> Written:
    """Write answers to a file, atomically, or to one that is open, as CSV or JSON Lines.

    Args:
        answers: finds the stored answers of some ids.
        criteria: the paths that get a column each in a table; JSON lines hold every criterion that an answer has.

    Raises:
        StorageError: the file cannot be written, or the ledger not read.
        MissingExtra: Parquet without pyarrow, XLSX without XlsxWriter.
    """
    if form != "jsonl":
        columns, rows = _table(scores, criteria, policy, max_chars, answers)
        return write_rows(place, form, columns, rows) if isinstance(place, Path) else print_rows(place, form, columns, rows)
    if not isinstance(place, Path):
        return Written(_write_jsonl(scores, place, answers, policy, max_chars))
    with replacing(place) as temporary, temporary.open("w", encoding="utf-8", errors="replace", newline="") as file:
        return Written(_write_jsonl(scores, file, answers, policy, max_chars))


def _table(
    scores: Iterable[Evaluation], criteria: Sequence[str], policy: Policy, max_chars: int, answers: AnswersById
) -> tuple[list[TableColumn], Iterator[list[Any]]]:
    bare = [path.rpartition(".")[2] for path in criteria]
    taken = {*TEXTS, *AFTER_SCORES, *NUMBERS, "score_global", "currency", *OF_CASES}
    by_path = {  # the bare name, such as exactitude, or the whole path where that would be ambiguous
        path: name if bare.count(name) == 1 and name not in taken else path for path, name in zip(criteria, bare, strict=True)
    }
    names = [*TEXTS, "score_global", *by_path.values(), *AFTER_SCORES, *NUMBERS, "currency", *OF_CASES]
    rows = (_row(score, case, by_path) for score, case in _with_cases(scores, answers, policy, max_chars))
    hints = get_type_hints(Evaluation)
    kinds: dict[str, CellKind] = {
        name: "texts" if hints[name] == tuple[str, ...] else _kind_of(hints[name]) for name in taken & hints.keys()
    }
    kinds |= dict.fromkeys(OF_CASES, "json")
    return [TableColumn(name, kinds.get(name, "number")) for name in names], rows


def _with_cases(
    scores: Iterable[Evaluation], answers: AnswersById, policy: Policy, max_chars: int
) -> Iterator[tuple[Evaluation, Case]]:
    """Scores with their exportable texts, and the cases of their answers, so that these can be judged again."""
    shown = (outward(score, policy, max_chars) for score in scores)
    while some := list(islice(shown, AT_ONCE)):
        stored = answers([score.id for score in some])
        for score in some:
            answer = stored.get(score.id)
            yield score, Case(id="", prompt="") if answer is None else stored_answer(answer, policy, max_chars).case


def _write_jsonl(scores: Iterable[Evaluation], file: IO[str], answers: AnswersById, policy: Policy, max_chars: int) -> int:
    names = (*TEXTS, "score_global", *AFTER_SCORES, *NUMBERS, "currency")
    count = 0
    for count, (score, case) in enumerate(_with_cases(scores, answers, policy, max_chars), 1):  # noqa: B007
        record = {name: getattr(score, name) for name in names} | {
            "documents": case.documents,
            "metadata": case.metadata,
            "criteria": {
                result.criterion: {"score": result.score, "grade": result.grade, "agreement": result.agreement}
                for result in score.criteria
            },
        }
        if case.prompt and not isinstance(case.prompt, str):
            record["prompt"] = case.prompt
        file.write(msgspec.json.encode(record).decode() + "\n")
    return count


def _row(score: Evaluation, case: Case, columns: Mapping[str, str]) -> list[Any]:
    scores = {result.criterion: result.score for result in score.criteria}
    texts = [getattr(score, name) for name in TEXTS]
    after = [getattr(score, name) for name in (*AFTER_SCORES, *NUMBERS, "currency")]
    of_case = [getattr(case, name) or None for name in OF_CASES]
    return [*texts, score.score_global, *(scores.get(path) for path in columns), *after, *of_case]


def export_ledger(ledger: Ledger, folder: Path, form: LedgerForm) -> dict[str, Written]:
    """Write the files of `COLUMNS` to a new folder, atomically.

    Returns:
        How many rows each file has.

    Raises:
        UserError: the folder exists already.
        StorageError: a file cannot be written, or the ledger not read.
        MissingExtra: Parquet without pyarrow, XLSX without XlsxWriter.
    """
    if folder.exists():
        raise UserError(f"{folder} is there already: name a new folder")
    counts: dict[str, Written] = {}
    with new_folder(folder) as made:
        made.mkdir(mode=0o700)
        for name, rows in {
            "answers": map(_answer, ledger.streams.answers()),
            "evaluations": (_fields(record, _OF_EVALUATION) for part in ledger.streams.evaluations() for _, record in part),
            "judgments": (_judgment(record, about) for record, about in ledger.streams.judgments()),
            "labels": map(structs.asdict, ledger.streams.labels()),
            "decisions": (_fields(record, COLUMNS["decisions"]) for record in ledger.traces.each(TraceFilter())),
            "signoffs": map(structs.asdict, ledger.signoffs.of()),
            "calibrations": map(structs.asdict, ledger.calibrations.all()),
        }.items():
            hints = zip(COLUMNS[name], column_types(name), strict=True)
            columns = [TableColumn(column, _kind_of(hint)) for column, hint in hints]
            cells = ([row[column.name] for column in columns] for row in rows)
            counts[name] = write_rows(made / f"{name}.{form}", form, columns, cells)
    return counts


def _fields(record: msgspec.Struct, names: Iterable[str]) -> ExportedRow:
    return {name: getattr(record, name) for name in names}


def _answer(answer: Answer) -> ExportedRow:
    return _fields(answer, _OF_ANSWER) | {"case_id": answer.case.id} | _fields(answer.case, _OF_CASE)


def _judgment(judgment: Judgment, about: Iterable[tuple[str, str]]) -> ExportedRow:
    verdicts = [
        {"criterion": verdict.criterion, "outcome": verdict.outcome.__struct_config__.tag} | structs.asdict(verdict.outcome)
        for verdict in judgment.verdicts
    ]
    answers = [{"answer_id": id, "run_id": run_id} for id, run_id in about]
    return structs.asdict(judgment) | {"verdicts": verdicts, "answers": answers}


_RECORDS: Mapping[str, tuple[type, ...]] = {
    "answers": (Answer, Case),
    "evaluations": (Evaluation,),
    "judgments": (Judgment,),
    "labels": (Label,),
    "decisions": (Trace,),
    "signoffs": (SignOff,),
    "calibrations": (StoredCalibration,),
}
_OWN_TYPES: Mapping[str, Mapping[str, Any]] = {
    "answers": {"case_id": str},
    "judgments": {"verdicts": list[dict[str, Any]], "answers": list[dict[str, str]]},
}
"""Columns that hold something else than the field of that name."""

_PLAIN: Mapping[Any, CellKind] = {str: "text", int: "whole", float: "number", bool: "flag", datetime: "moment"}


def column_types(file: str) -> list[Any]:
    """The type of each column of a file, by the types of the records' fields."""
    hints: dict[str, Any] = {}
    for record in reversed(_RECORDS[file]):
        hints |= get_type_hints(record, include_extras=True)
    hints |= _OWN_TYPES.get(file, {})
    return [hints.get(name, str) for name in COLUMNS[file]]


def _kind_of(hint: Any) -> CellKind:
    options = [option for option in get_args(hint) if option is not type(None)] if type(None) in get_args(hint) else [hint]
    if len(options) > 1:
        return "json"
    return "text" if get_origin(options[0]) is Literal else _PLAIN.get(options[0], "json")
