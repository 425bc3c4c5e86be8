"""Whether an answer that is kept elsewhere, in a cache, may still be given: people may have doubted it, or erased it."""

from sqlalchemy import Connection, exists, func, select

from areopage.ledger.gate_tables import exchange_texts, exchanges, grounding_labels

DOUBTED = ("partly", "no")


def latest_label(connection: Connection) -> int:
    """The number of the latest label; 0 where there is none. Whoever labels from now on gets a higher one."""
    return int(connection.execute(select(func.max(grounding_labels.c.number))).scalar() or 0)


def stands(connection: Connection, id: str, label: int) -> bool:
    """Whether the answer of an exchange may be given again.

    Args:
        label: the latest label when the answer was made. Of those that came later, none may doubt an answer to its question, be
            it this one or a repetition with an id of its own: only these few are looked at, however often the question came.
    """
    one, given = exchanges.c, grounding_labels.c
    there = exists().where(exchange_texts.c.exchange == one.number)
    own = connection.execute(select(one.question_key, one.collection).where(one.id == id, there)).one_or_none()
    if own is None:
        return False
    doubts = (
        select(one.question_key, one.collection)
        .join(grounding_labels, given.exchange_id == one.id)
        .where(given.number > label, given.grounded.in_(DOUBTED))
    )
    return tuple(own) not in [tuple(row) for row in connection.execute(doubts)]
