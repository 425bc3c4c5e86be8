"""Scores of answers as rows and back."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, select

from areopage.ledger.monitor_tables import quality_criteria, quality_scores
from areopage.ledger.quality_records import CriterionResult, QualityScore
from areopage.ledger.rows import aware, chunks, json_text, naive, storable, storable_value

OWN_COLUMNS = ("exactitude", "completude", "format", "sources")
LISTS = ("strengths", "weaknesses", "suggestions")
TIMES = ("timestamp", "evaluated_at")


def score_row(score: QualityScore) -> dict[str, Any]:
    """A score as a row, without its number and its criteria but for the four that have columns."""
    row = {name: storable_value(value) for name, value in msgspec.structs.asdict(score).items()}
    del row["number"], row["criteria"]
    by_name = {one.criterion.rpartition(".")[2]: one.score for one in score.criteria}
    row |= {name: by_name.get(name) for name in OWN_COLUMNS}
    row |= {name: json_text(row[name]) for name in LISTS}
    return row | {name: naive(row[name]) for name in TIMES}


def criterion_rows(number: int, score: QualityScore) -> list[dict[str, Any]]:
    """The criteria of a score as rows, in their order."""
    return [
        {
            "quality_number": number,
            "criterion": storable(one.criterion),
            "position": position,
            "score": one.score,
            "band": one.band,
            "agreement": one.agreement,
        }
        for position, one in enumerate(score.criteria)
    ]


def score_of(row: Row[Any], criteria: Sequence[CriterionResult]) -> QualityScore:
    """A row of `quality_scores` and its criteria as a score."""
    fields = {name: value for name, value in row._mapping.items() if name not in OWN_COLUMNS}
    fields |= {name: msgspec.json.decode(fields[name], type=tuple[str, ...]) for name in LISTS}
    fields |= {name: aware(fields[name]) for name in TIMES}
    return QualityScore(**fields, criteria=tuple(criteria))


def scores_of(connection: Connection, rows: Sequence[Row[Any]]) -> list[QualityScore]:
    """Rows of `quality_scores` as scores with their criteria, in the same order."""
    criteria = criteria_of(connection, (row.number for row in rows))
    return [score_of(row, criteria.get(row.number, ())) for row in rows]


def scores_by_number(connection: Connection, numbers: Sequence[int]) -> list[QualityScore]:
    """The scores of these numbers, in their order; those that are not there are left out."""
    found: dict[int, Row[Any]] = {}
    for part in chunks(numbers):
        rows = connection.execute(select(quality_scores).where(quality_scores.c.number.in_(part)))
        found |= {row.number: row for row in rows}
    return scores_of(connection, [found[number] for number in numbers if number in found])


def criteria_of(connection: Connection, numbers: Iterable[int]) -> dict[int, list[CriterionResult]]:
    """The criteria of the scores with these numbers, in their order."""
    criteria: dict[int, list[CriterionResult]] = {}
    for part in chunks(list(numbers)):
        query = select(quality_criteria).where(quality_criteria.c.quality_number.in_(part))
        for row in sorted(connection.execute(query), key=lambda row: (row.quality_number, row.position)):
            result = CriterionResult(criterion=row.criterion, score=row.score, band=row.band, agreement=row.agreement)
            criteria.setdefault(row.quality_number, []).append(result)
    return criteria
