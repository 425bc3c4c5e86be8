"""Giving answers up and letting them wait again, in the caller's transaction: portions of rows, locked in their order."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Update, and_, delete, exists, select, update

from areopage.ledger.read.days import DayCounts, judge_uses
from areopage.ledger.read.queries import not_by_index
from areopage.ledger.read.search import remove_words
from areopage.ledger.tables.answer_tables import answer_texts, answers, evaluation_scores, evaluations
from areopage.ledger.tables.records import Evaluation
from areopage.ledger.tables.rows import KEYS_PER_QUERY, aware, storable
from areopage.ledger.write.answers import forget_judgments
from areopage.ledger.write.equal_answers import forget_equals
from areopage.ledger.write.evaluation_rows import evaluations_by_number

MONITOR = evaluations.c.origin == "monitor"
PLACE = tuple(evaluations.c[name] for name in ("number", "timestamp", "origin", "suite", "source", "variant"))
"""The columns that say where an evaluation is counted that has no score."""
HAS_TEXTS = exists().where(answer_texts.c.answer == evaluations.c.answer)
GIVEN_UP = and_(evaluations.c.state == "failed", HAS_TEXTS)
_JUDGEABLE = exists().where(answer_texts.c.answer == evaluations.c.answer, answer_texts.c.response != "")
"""The response is not empty: the storage policy left something to judge."""


def _of_ids(ids: Sequence[str]) -> ColumnElement[bool]:
    return evaluations.c.answer.in_(select(answers.c.number).where(answers.c.id.in_(ids)))


def still_waiting(id: str) -> Update:
    """A change of an answer's evaluation that has no effect unless it waits."""
    return update(evaluations).where(_of_ids([storable(id)]), *not_by_index([evaluations.c.state == "waiting"]))


def _change_locked(
    connection: Connection, conditions: tuple[ColumnElement[bool], ...], values: dict[str, Any]
) -> Sequence[Row[Any]]:
    """Change a portion of the rows that meet conditions, locked in their order first: no two workers wait in a circle.

    Returns:
        What is counted of each: `PLACE`.
    """
    numbers = select(evaluations.c.number).where(*conditions).order_by(evaluations.c.number).limit(KEYS_PER_QUERY)
    found = list(connection.execute(numbers.with_for_update()).scalars())
    if not found:
        return []
    # the conditions once more: SQLite has no locks on rows, and another process may have come in between
    change = update(evaluations).where(evaluations.c.number.in_(found), *conditions).values(**values)
    return connection.execute(change.returning(*PLACE)).all()


def reopen_given_up(connection: Connection, ids: Sequence[str] | None = None) -> int:
    """Let a portion of the given-up answers (of some ids, or any) wait again; returns how many."""
    failed: ColumnElement[bool] = evaluations.c.state == "failed"
    chosen = (failed,) if ids is None else (_of_ids(ids), *not_by_index([failed]))
    values = {"state": "waiting", "attempts": 0}
    places = _change_locked(connection, (*chosen, _JUDGEABLE), values)
    count_failed(connection, places, taken_back=True)
    return len(places)


def reopen_unscored(connection: Connection, ids: Sequence[str] | None) -> int:
    """Let a portion of the answers without a global score (of some ids, or any) wait again, uncounted; returns how many."""
    unscored = (MONITOR, evaluations.c.state == "evaluated", evaluations.c.score_global.is_(None), _JUDGEABLE)
    query = select(evaluations.c.number, evaluations.c.answer).where(*unscored, *([] if ids is None else [_of_ids(ids)]))
    rows = connection.execute(query.order_by(evaluations.c.number).limit(KEYS_PER_QUERY).with_for_update(of=evaluations)).all()
    numbers = [row.number for row in rows]
    found = evaluations_by_number(connection, numbers)
    places = [(row.answer, one.run_id) for row, one in zip(rows, found, strict=True)]
    uses, counts = judge_uses(connection, places), DayCounts()
    for place, one in zip(places, found, strict=True):
        counts.remove(one, uses.get(place, ()))
    counts.write(connection)
    forget_judgments(connection, places)
    forget_equals(connection, numbers)
    remove_words(connection, numbers)
    connection.execute(delete(evaluation_scores).where(evaluation_scores.c.evaluation.in_(numbers)))
    waiting = {"state": "waiting", "attempts": 0, "grade": "", "evaluated_at": None}
    connection.execute(update(evaluations).where(evaluations.c.number.in_(numbers)).values(**waiting))
    return len(numbers)


def count_failed(connection: Connection, places: Sequence[Row[Any]], *, taken_back: bool) -> None:
    """Count given-up evaluations (rows of `PLACE`) by day, or take them out of the counts."""
    counts = DayCounts()
    for place in places:
        if taken_back:
            counts.take_back(counted_place(place))
        else:
            counts.add(counted_place(place))
    counts.write(connection)


def counted_place(row: Row[Any]) -> Evaluation:
    """A given-up evaluation as far as it is counted."""
    place = {"origin": row.origin, "suite": row.suite, "source": row.source, "variant": row.variant}
    return Evaluation(id="", state="failed", timestamp=aware(row.timestamp), **place)
