"""Take labels from a table: one row per answer and rater, one column per criterion."""

from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from functools import partial
from pathlib import Path

from msgspec import Struct, structs

from areopage.cases import BadRow, RejectedRow, Row, clip, has_header, read_rows
from areopage.errors import CriteriaError, DatasetError, UserError, name_list
from areopage.ledger import Label, Ledger
from areopage.review.label import MAX_CORRECTION, MAX_NOTE, rater_name
from areopage.review.ratings_table import ANSWER, CORRECTION, NOTE, RATER, cell_text, column_of, shown
from areopage.review.rubric import Rubric

MAX_ROWS = 100_000
FOR_THE_READER = ("audience", "prompt", "response")  # columns of an export of answers to label


class ImportedRatings(Struct, frozen=True, kw_only=True):
    """What became of a file: labels that are new, those that the ledger had already, and rows that were not taken."""

    labels: int
    unchanged: int
    answers: int
    rejected: tuple[RejectedRow, ...]
    unread_columns: tuple[str, ...]


class RatingColumns(Struct, frozen=True):
    """The positions of the columns; `criteria` have the criterion's path."""

    answer: int
    rater: int | None
    note: int | None
    correction: int | None
    criteria: tuple[tuple[int, str], ...]
    unread: tuple[str, ...]


def import_ratings(ledger: Ledger, rubric: Rubric, path: Path, rater: str | None, now: datetime) -> ImportedRatings:
    """Take the labels of a CSV, XLSX, JSON Lines or Parquet file.

    All rows that can be used are written in one transaction; a row with anything wrong in it is not taken at all. A label that
    the ledger holds already (answer, rater, criterion, score, note, and correction if the row has one) is not written again, so
    that a file may be imported again after it was mended.

    Args:
        rater: the rater of rows that name none.

    Raises:
        DatasetError: the file cannot be read, or its columns name no answer, no criterion or no rater.
    """
    taken: list[tuple[Row, list[Label]]] = []
    rejected: list[RejectedRow] = []
    plans: dict[tuple[str, ...], RatingColumns] = {}
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
                taken.append((row, _labels_in(row, plan, rubric, rater, now)))
            except (DatasetError, UserError) as fault:
                if isinstance(fault, DatasetError) and has_header(path):
                    raise
                rejected.append(RejectedRow(file=str(path), row=row.number, reason=str(fault), content=_content_of(row)))
    answers = set(ledger.answers.numbers([labels[0].answer_id for _, labels in taken]))
    kept: dict[tuple[str, str, str], tuple[int, Label]] = {}
    for row, labels in taken:
        answer, name, reason = labels[0].answer_id, labels[0].rater, ""
        by_key = {(answer, name, label.criterion): (row.number, label) for label in labels}
        if answer not in answers:
            reason = f"no answer {answer[:80]!r} in {ledger.place}"
        elif twice := [kept[key][0] for key in by_key if key in kept]:
            reason = f"row {twice[0]} has a score of this answer by {name}"
        if reason:
            rejected.append(RejectedRow(file=str(path), row=row.number, reason=reason, content=_content_of(row)))
        else:
            kept |= by_key
    current = ledger.labels.current_of([answer for answer, _, _ in kept])
    seen = ledger.audit.opinions_seen([answer for answer, _, _ in kept])
    new = [
        structs.replace(label, blind=(answer, name) not in seen)
        for (answer, name, criterion), (_, label) in kept.items()
        if (old := current.get((answer, name, criterion))) is None or _differs(old, label)
    ]
    if new:
        ledger.labels.add(new)
        for name in dict.fromkeys(label.rater for label in new):
            labelled = [label.answer_id for label in new if label.rater == name]
            ledger.audit.note(name, "label", path.name, f"import: {len(labelled)} labels of {len(set(labelled))} answers")
    return ImportedRatings(
        labels=len(new),
        unchanged=len(kept) - len(new),
        answers=len({answer for answer, _, _ in kept}),
        rejected=tuple(sorted(rejected, key=lambda row: row.row)),
        unread_columns=tuple(dict.fromkeys(name for plan in plans.values() for name in plan.unread)),
    )


def _differs(old: Label, new: Label) -> bool:
    return (old.score, old.note) != (new.score, new.note) or new.correction not in ("", old.correction)


def _plan_of(names: Sequence[str], rubric: Rubric, path: Path, rater: str | None) -> RatingColumns:
    answer, who, note = column_of(names, ANSWER), column_of(names, RATER), column_of(names, NOTE)
    correction = column_of(names, CORRECTION)
    if answer is None:
        raise DatasetError(
            f"{path}: no column for the answer id: name it {name_list(ANSWER[:3])}; found {name_list(shown(names))}"
        )
    if who is None and rater is None:
        raise DatasetError(f"{path}: no column for the rater: name it {name_list(RATER[:3])}, or give --rater NAME")
    criteria: dict[str, int] = {}
    unread: list[str] = []
    for position, name in enumerate(names):
        if position in (answer, who, note, correction):
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
    return RatingColumns(
        answer, who, note, correction, places, tuple(name for name in unread if name and name not in FOR_THE_READER)
    )


def _labels_in(row: Row, plan: RatingColumns, rubric: Rubric, rater: str | None, now: datetime) -> list[Label]:
    answer = cell_text(row.cells[plan.answer])
    if not answer:
        raise UserError("the row has no answer id")
    cell = cell_text(row.cells[plan.rater]) if plan.rater is not None else ""
    note = cell_text(row.cells[plan.note]) if plan.note is not None else ""
    if note.replace(",", "", 1).replace(".", "", 1).isdecimal():
        raise UserError(f"the column {row.names[plan.note or 0]!r} contains a number: name the column global if it is a score")
    correction = cell_text(row.cells[plan.correction]) if plan.correction is not None else ""
    if len(correction) > MAX_CORRECTION:
        raise UserError(f"correction: give at most {MAX_CORRECTION:,} characters")
    scores: dict[str, float] = {}
    for position, criterion in plan.criteria:
        text = cell_text(row.cells[position])
        if text:
            try:
                scores[criterion] = rubric.score(text)
            except UserError as fault:
                raise UserError(f"{row.names[position]}: {fault}") from None
    if not scores:
        raise UserError("the row has no score")
    said = partial(Label, answer_id=answer, rater=rater_name(cell or rater or ""), note=note[:MAX_NOTE], correction=correction)
    return [said(criterion=path, score=score, origin="import", created_at=now) for path, score in scores.items()]


def _content_of(row: Row) -> str:
    pairs = dict(zip(row.names, row.cells, strict=True)).items()
    return clip("; ".join(f"{name}: {cell}" for name, cell in pairs if cell not in (None, "")))
