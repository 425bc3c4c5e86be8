"""The answers of a monitored period that people review, and the panels that judged the period."""

from datetime import date

from msgspec import Struct
from sqlalchemy import exists, or_, select

from areopage.ledger.people.labels import SAMPLE
from areopage.ledger.read.queries import Conditions, Period, Scope, in_period, in_scope
from areopage.ledger.tables.answer_tables import answers, evaluations
from areopage.ledger.tables.database import Database
from areopage.ledger.tables.rows import aware
from areopage.ledger.tables.schema import labels, review_items


class ReviewedAnswer(Struct, frozen=True, kw_only=True):
    """An answer that was drawn at random for review, or is labelled: its id, its day in UTC, and whether it was drawn."""

    id: str
    day: date
    drawn: bool


def reviewed_answers(ledger: Database, period: Period, scope: Scope) -> list[ReviewedAnswer]:
    """Return the evaluated answers of a period that were drawn at random for review, or are labelled."""
    drawn = exists().where(review_items.c.answer_id == answers.c.id, review_items.c.run_id == "", review_items.c.why == SAMPLE)
    labelled = exists().where(labels.c.answer_id == answers.c.id)
    query = select(answers.c.id, evaluations.c.timestamp, drawn.label("drawn")).join(answers)
    query = query.where(*_evaluated(period, scope), or_(drawn, labelled)).order_by(evaluations.c.number)
    with ledger.reading() as connection:
        rows = connection.execute(query).all()
    return [ReviewedAnswer(id=row.id, day=aware(row.timestamp).date(), drawn=bool(row.drawn)) for row in rows]


def period_panels(ledger: Database, period: Period, scope: Scope) -> list[str]:
    """Return the ids of the panels that evaluated answers of a period, in order."""
    query = select(evaluations.c.run_id).distinct().where(*_evaluated(period, scope)).order_by(evaluations.c.run_id)
    with ledger.reading() as connection:
        return [id for id in connection.execute(query).scalars() if id]


def newest_panel(ledger: Database, period: Period, scope: Scope) -> str:
    """Return the id of the panel that evaluated an answer of a period last; "" where none is evaluated."""
    columns = evaluations.c
    query = select(columns.run_id).where(*_evaluated(period, scope))
    with ledger.reading() as connection:
        found = connection.execute(query.order_by(columns.evaluated_at.desc(), columns.number.desc()).limit(1)).scalar()
    return found or ""


def _evaluated(period: Period, scope: Scope) -> Conditions:
    return [evaluations.c.state == "evaluated", *in_period(period), *in_scope(scope)]
