"""Take labels from a table: one row per answer and rater, one column per criterion."""

from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from areopage.cases import BadRow, RejectedRow, Row, clip, has_header, read_rows
from areopage.errors import CriteriaError, DatasetError, UserError, name_list
from areopage.ledger import Label, Ledger
from areopage.review.label import MAX_NOTE, rater_name
from areopage.review.ratings_table import ANSWER, NOTE, RATER, cell_text, column_of, shown
from areopage.review.rubric import Rubric

MAX_ROWS = 100_000


class ImportedRatings(Struct, frozen=True, kw_only=True):
    """What became of a file: labels that are new, those that the ledger had already, and rows that were not taken."""

    labels: int
    known: int
    answers: int
    rejected: tuple[RejectedRow, ...]
    unread_columns: tuple[str, ...]


class Plan(Struct, frozen=True):
    """The positions of the columns; `criteria` have the criterion's path."""

    answer: int
    rater: int | None
    note: int | None
    criteria: tuple[tuple[int, str], ...]
    unread: tuple[str, ...]


class RatedRow(Struct, frozen=True, kw_only=True):
    """A valid row."""

    number: int
    answer: str
    rater: str
    note: str
    scores: tuple[tuple[str, float], ...]
    content: str


def import_ratings(ledger: Ledger, rubric: Rubric, path: Path, rater: str | None, now: datetime) -> ImportedRatings:
    """Take the labels of a CSV, XLSX, JSON Lines or Parquet file.

    All rows that can be used are written in one transaction; a row with anything wrong in it is not taken at all. A label that
    the ledger holds already (answer, rater, criterion, score and note) is not written again, so that a file may be imported
    again after it was mended.

    Args:
        rater: the rater of rows that name none.

    Raises:
        DatasetError: the file cannot be read, or its columns name no answer, no criterion or no rater.
    """
    taken: list[RatedRow] = []
    rejected: list[RejectedRow] = []
    plans: dict[tuple[str, ...], Plan] = {}
    with closing(read_rows(path)) as rows:
        for row in rows:
            if len(taken) + len(rejected) >= MAX_ROWS:
                raise DatasetError(f"{path}: more than {MAX_ROWS:,} rows: split the file")
            if isinstance(row, BadRow):
                rejected.append(RejectedRow(file=str(path), row=row.number, reason=row.reason, content=row.content))
                continue
            try:
                plan = plans.get(row.names) or _plan_of(row.names, rubric, path, rater)
                plans[row.names] = plan
                taken.append(_read_row(row, plan, rubric, rater))
            except (DatasetError, UserError) as fault:
                if isinstance(fault, DatasetError) and has_header(path):
                    raise
                rejected.append(RejectedRow(file=str(path), row=row.number, reason=str(fault), content=_content_of(row)))
    answers = set(ledger.answers.numbers([row.answer for row in taken]))
    kept: list[RatedRow] = []
    first: dict[tuple[str, str, str], int] = {}
    for rated in taken:
        keys = [(rated.answer, rated.rater, criterion) for criterion, _ in rated.scores]
        reason = ""
        if rated.answer not in answers:
            reason = f"no answer {rated.answer[:80]!r} in {ledger.place}"
        elif twice := [first[key] for key in keys if key in first]:
            reason = f"row {twice[0]} has a score of this answer by {rated.rater}"
        if reason:
            rejected.append(RejectedRow(file=str(path), row=rated.number, reason=reason, content=rated.content))
        else:
            first.update(dict.fromkeys(keys, rated.number))
            kept.append(rated)
    new, same = _fresh(ledger, kept, now)
    if new:
        ledger.labels.add(new)
        for name in dict.fromkeys(label.rater for label in new):
            labelled = [label.answer_id for label in new if label.rater == name]
            ledger.audit.note(name, "label", path.name, f"import: {len(labelled)} labels of {len(set(labelled))} answers")
    return ImportedRatings(
        labels=len(new),
        known=same,
        answers=len({row.answer for row in kept}),
        rejected=tuple(sorted(rejected, key=lambda row: row.row)),
        unread_columns=tuple(dict.fromkeys(name for plan in plans.values() for name in plan.unread)),
    )


def _plan_of(names: Sequence[str], rubric: Rubric, path: Path, rater: str | None) -> Plan:
    answer, who, note = column_of(names, ANSWER), column_of(names, RATER), column_of(names, NOTE)
    if answer is None:
        raise DatasetError(
            f"{path}: no column for the answer id: name it {name_list(ANSWER[:3])}; found {name_list(shown(names))}"
        )
    if who is None and rater is None:
        raise DatasetError(f"{path}: no column for the rater: name it {name_list(RATER[:3])}, or give --rater NAME")
    criteria: dict[str, int] = {}
    unread: list[str] = []
    for position, name in enumerate(names):
        if position in (answer, who, note):
            continue
        try:
            criterion = rubric.find(name)
        except CriteriaError:
            unread.append(name)
            continue
        if criterion in criteria:
            first = names[criteria[criterion]]
            raise DatasetError(f"{path}: columns {first!r} and {name!r} are the same criterion: remove one of them")
        criteria[criterion] = position
    if not criteria:
        allowed = name_list([*(entry.name for entry in rubric.entries), "global"])
        raise DatasetError(f"{path}: no column is a criterion: name the columns {allowed}; found {name_list(shown(names))}")
    places = tuple((position, criterion) for criterion, position in criteria.items())
    return Plan(answer, who, note, places, tuple(name for name in unread if name))


def _read_row(row: Row, plan: Plan, rubric: Rubric, rater: str | None) -> RatedRow:
    answer = cell_text(row.cells[plan.answer])
    if not answer:
        raise UserError("the row has no answer id")
    cell = cell_text(row.cells[plan.rater]) if plan.rater is not None else ""
    note = cell_text(row.cells[plan.note]) if plan.note is not None else ""
    if note.replace(",", "", 1).replace(".", "", 1).isdecimal():
        raise UserError(f"the column {row.names[plan.note or 0]!r} contains a number: name the column global if it is a score")
    scores: list[tuple[str, float]] = []
    for position, criterion in plan.criteria:
        text = cell_text(row.cells[position])
        if text:
            try:
                scores.append((criterion, rubric.score(text)))
            except UserError as fault:
                raise UserError(f"{row.names[position]}: {fault}") from None
    if not scores:
        raise UserError("the row has no score")
    return RatedRow(
        number=row.number,
        answer=answer,
        rater=rater_name(cell or rater or ""),
        note=note[:MAX_NOTE],
        scores=tuple(scores),
        content=_content_of(row),
    )


def _fresh(ledger: Ledger, rows: Sequence[RatedRow], now: datetime) -> tuple[list[Label], int]:
    current = ledger.labels.current_of([row.answer for row in rows])
    seen = ledger.audit.scores_seen([row.answer for row in rows])
    new: list[Label] = []
    same = 0
    for row in rows:
        for criterion, score in row.scores:
            label = current.get((row.answer, row.rater, criterion))
            if label is not None and label.score == score and label.note == row.note:
                same += 1
            else:
                blind = (row.answer, row.rater) not in seen
                place: dict[str, Any] = {"answer_id": row.answer, "rater": row.rater, "criterion": criterion}
                new.append(Label(**place, score=score, note=row.note, blind=blind, origin="import", created_at=now))
    return new, same


def _content_of(row: Row) -> str:
    pairs = dict(zip(row.names, row.cells, strict=True)).items()
    return clip("; ".join(f"{name}: {cell}" for name, cell in pairs if cell not in (None, "")))
