"""Sets of evaluated answers with equal texts: one panel judged them by the same judgments, so they are one observation.

A frequent question, or a cache in front of the model, gives the same answer many times. Means count each of them; intervals and
tests count the set once.
"""

import zlib
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, func, select

from areopage.ledger.tables.answer_tables import answer_judgments, equal_answers, evaluations
from areopage.ledger.tables.rows import insert_missing

COLUMNS = evaluations.c
_EQUALS_LOCK = 0x0A5E0E
"""PostgreSQL's advisory locks of sets of equal answers, by a hash of their key."""


def note_equals(connection: Connection, number: int, run_id: str, keys: Sequence[str]) -> None:
    """Put an evaluation into the set of those that rest on the same judgments; nothing where it is the only one."""
    if not keys:
        return
    if connection.dialect.name == "postgresql":  # two of them that end at once would not see each other
        connection.execute(select(func.pg_advisory_xact_lock(_EQUALS_LOCK, zlib.crc32(min(keys).encode()) - (1 << 31))))
    links = answer_judgments.c
    other = (
        select(COLUMNS.number, COLUMNS.timestamp, equal_answers.c.first)
        .join(answer_judgments, (links.answer == COLUMNS.answer) & (links.run_id == COLUMNS.run_id))
        .outerjoin(equal_answers, equal_answers.c.evaluation == COLUMNS.number)
        .where(links.key == min(keys), COLUMNS.run_id == run_id, COLUMNS.number != number, COLUMNS.state == "evaluated")
        .order_by(links.answer)
        .limit(1)
    )
    equal = connection.execute(other).one_or_none()
    if equal is None:
        return
    first = equal.number if equal.first is None else equal.first
    moment = connection.execute(select(COLUMNS.timestamp).where(COLUMNS.number == number)).scalar_one()
    members = {equal.number: equal.timestamp, number: moment}
    rows = [{"evaluation": member, "first": first, "timestamp": at} for member, at in members.items()]
    insert_missing(connection, equal_answers, rows)


def forget_equals(connection: Connection, numbers: Sequence[int]) -> None:
    """Take evaluations that wait again out of their sets; a set of one is none."""
    connection.execute(delete(equal_answers).where(equal_answers.c.evaluation.in_(numbers)))
    alone = select(equal_answers.c.first).group_by(equal_answers.c.first).having(func.count() == 1)
    connection.execute(delete(equal_answers).where(equal_answers.c.first.in_(alone)))


def computed_equals(connection: Connection) -> dict[int, tuple[int, datetime]]:
    """Compute the sets again: the first member's number and the timestamp by the number of each evaluation with an equal one."""
    links = answer_judgments.c
    judged = evaluations.join(answer_judgments, (links.answer == COLUMNS.answer) & (links.run_id == COLUMNS.run_id))
    query = select(COLUMNS.number, COLUMNS.timestamp, COLUMNS.run_id, func.min(links.key)).select_from(judged)
    query = query.where(COLUMNS.origin == "monitor", COLUMNS.state == "evaluated").group_by(COLUMNS.number)
    sets: dict[tuple[str, str], list[tuple[int, datetime]]] = {}
    for number, timestamp, run_id, key in connection.execute(query.order_by(COLUMNS.number)):
        sets.setdefault((run_id, key), []).append((number, timestamp))
    return {number: (members[0][0], at) for members in sets.values() if len(members) > 1 for number, at in members}


def stored_equals(connection: Connection) -> dict[int, int]:
    """The lowest number of each stored set by the number of each of its members."""
    columns = equal_answers.c
    rows = connection.execute(select(columns.evaluation, columns.first).order_by(columns.evaluation)).all()
    lowest: dict[int, int] = {}
    for number, first in rows:
        lowest.setdefault(first, number)
    return {number: lowest[first] for number, first in rows}
