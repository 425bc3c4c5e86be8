"""Conversion between evaluations and rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs
from sqlalchemy import ColumnElement, Connection, Row, select

from areopage.ledger.people.exams import panel_standings
from areopage.ledger.people.standing import standing_fields
from areopage.ledger.tables.answer_tables import answer_texts, answers, evaluation_scores, evaluations
from areopage.ledger.tables.records import CriterionResult, Evaluation
from areopage.ledger.tables.rows import insert_rows, naive, record_of, row_of, rows_in

PORTION = 500

_OF_ANSWER = ("id", "prompt", "response", "erased")
BLANK = {"feedback": "", "strengths": "[]", "weaknesses": "[]", "suggestions": "[]", "reason": ""}
"""The texts of an evaluation, once they are erased."""
WHOLE_EVALUATIONS = select(evaluations, answers.c.id, answer_texts.c.prompt, answer_texts.c.response).select_from(
    evaluations.join(answers, answers.c.number == evaluations.c.answer).outerjoin(
        answer_texts, answer_texts.c.answer == evaluations.c.answer
    )
)
"""Evaluations with their answers' id, prompt and response; texts of erased answers are NULL."""


def evaluation_row(evaluation: Evaluation) -> dict[str, Any]:
    """Build an evaluation's row, without number, answer and criteria."""
    row = row_of(evaluation, "number", "criteria", "qualification", "standings", *_OF_ANSWER)
    row["received_at"] = naive(evaluation.received_at or evaluation.timestamp)
    return row | {"run_id": evaluation.run_id or None, "grade": evaluation.grade if evaluation.state == "evaluated" else ""}


def insert_scores(connection: Connection, criteria: Mapping[int, Sequence[CriterionResult]]) -> None:
    """Insert the criteria of evaluations (by number), in order."""
    rows = [
        row_of(result) | {"evaluation": number, "position": position}
        for number, results in criteria.items()
        for position, result in enumerate(results)
    ]
    insert_rows(connection, evaluation_scores, rows)


def evaluations_of(connection: Connection, rows: Sequence[Row[Any]]) -> list[Evaluation]:
    """Read evaluations with their criteria and the standing of their judges from `WHOLE_EVALUATIONS`, in order."""
    criteria = _criteria_of(connection, (row.number for row in rows))
    stored = []
    for row in rows:
        texts = {"prompt": row.prompt or "", "response": row.response or "", "erased": row.prompt is None}
        stored.append(_evaluation_of(row, criteria.get(row.number, ()), **texts))
    judges = panel_standings(
        connection, ((evaluation.run_id, evaluation.evaluated_at) for evaluation in stored if evaluation.state == "evaluated")
    )
    return [
        structs.replace(evaluation, **standing_fields(judges.get((evaluation.run_id, evaluation.evaluated_at), ())))
        if evaluation.state == "evaluated"
        else evaluation
        for evaluation in stored
    ]


def evaluations_by_number(connection: Connection, numbers: Sequence[int]) -> list[Evaluation]:
    """Return the evaluations of these numbers, in order; missing numbers are skipped."""
    rows = {row.number: row for row in rows_in(connection, WHOLE_EVALUATIONS, evaluations.c.number, numbers)}
    return evaluations_of(connection, [rows[number] for number in numbers if number in rows])


def each_evaluation(
    connection: Connection, origin: str, *conditions: ColumnElement[bool]
) -> Iterator[list[tuple[int, Evaluation]]]:
    """Iterate over an origin's evaluations and answer numbers, without texts, in portions."""
    last = 0
    columns = [column for column in evaluations.c if column.name not in BLANK]
    query = select(*columns).where(evaluations.c.origin == origin, *conditions).order_by(evaluations.c.number).limit(PORTION)
    while rows := connection.execute(query.where(evaluations.c.number > last)).all():
        criteria = _criteria_of(connection, (row.number for row in rows))
        yield [(row.answer, _evaluation_of(row, criteria.get(row.number, ()), id="")) for row in rows]
        last = rows[-1].number


def _evaluation_of(row: Row[Any], criteria: Sequence[CriterionResult], **others: Any) -> Evaluation:
    place = {"run_id": row.run_id or "", "grade": row.grade or "unscored"}
    return record_of(Evaluation, row, criteria=tuple(criteria), **place, **others)


def _criteria_of(connection: Connection, numbers: Iterable[int]) -> dict[int, list[CriterionResult]]:
    criteria: dict[int, list[CriterionResult]] = {}
    rows = rows_in(connection, select(evaluation_scores), evaluation_scores.c.evaluation, numbers)
    for row in sorted(rows, key=lambda row: (row.evaluation, row.position)):
        criteria.setdefault(row.evaluation, []).append(record_of(CriterionResult, row))
    return criteria
