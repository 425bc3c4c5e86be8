"""Answers that the judges have failed on and that are not evaluated yet: their failures are in no score's row."""

from datetime import datetime, timedelta

from sqlalchemy import func, select

from areopage.ledger.connection import storage_errors
from areopage.ledger.monitor_tables import evaluation_judgments, submissions
from areopage.ledger.rows import naive
from areopage.ledger.scoping import not_golden
from areopage.ledger.store import Ledger
from areopage.ledger.tables import judgments, verdicts

UNFINISHED = ("waiting", "queued", "failed")
UNANSWERED = ("timed_out", "unreachable")
LATE = timedelta(days=1)
"""How long after it was due an attempt may have been made; what was due before is not looked at."""


def failing_since(ledger: Ledger, since: datetime, limit: int) -> int:
    """How many answers (at most `limit`) have no score yet and got no verdict from a judge at or after a moment.

    They wait for another attempt, are in one, or were given up. Golden questions are left out.

    Raises:
        StorageError: the ledger cannot be read.
    """
    columns, linked = submissions.c, evaluation_judgments.c
    failure = (
        select(linked.key)
        .join(judgments, judgments.c.key == linked.key)
        .join(verdicts, verdicts.c.judgment_id == judgments.c.id)
        .where(linked.submission_id == columns.id, judgments.c.created_at >= naive(since), verdicts.c.outcome.in_(UNANSWERED))
    )
    found = (
        select(columns.number)
        .where(
            columns.state.in_(UNFINISHED),
            columns.next_attempt_at >= naive(since - LATE),
            columns.attempts > 0,
            not_golden(columns.source),
            failure.exists(),
        )
        .limit(limit)
    )
    with storage_errors(ledger.place), ledger.engine.connect() as connection:
        return int(connection.execute(select(func.count()).select_from(found.subquery())).scalar_one())
