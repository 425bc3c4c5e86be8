"""Removing the texts of exchanges; what is counted of them stays."""

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, delete, exists, select, update

from areopage.ledger.exchange_rows import HELD, held_back
from areopage.ledger.gate_tables import exchange_texts, exchanges, grounding_labels, releases
from areopage.ledger.inserts import insert_missing
from areopage.ledger.people_tables import review_items
from areopage.ledger.rows import chunks, naive


def erase_exchanges(engine: Engine, ids: Sequence[str]) -> int:
    """Remove the texts of exchanges in one transaction; returns how many had any."""
    with engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        erased = sum(erase_portion(connection, part) for part in chunks(ids))
        connection.commit()
    return erased


def erase_portion(connection: Connection, ids: Sequence[str]) -> int:
    """Remove the texts of a portion. An answer that waited for people is refused: nothing is left that could be released."""
    there = exists().where(exchange_texts.c.exchange == exchanges.c.number)
    query = select(exchanges.c.number, exchanges.c.id, held_back().label("held")).where(exchanges.c.id.in_(ids), there)
    rows = connection.execute(query.order_by(exchanges.c.number).with_for_update(of=exchanges)).all()
    numbers, known = [row.number for row in rows], [row.id for row in rows]
    connection.execute(delete(exchange_texts).where(exchange_texts.c.exchange.in_(numbers)))
    connection.execute(update(exchanges).where(exchanges.c.number.in_(numbers)).values(question_key=""))
    connection.execute(update(grounding_labels).where(grounding_labels.c.exchange_id.in_(known)).values(note=""))
    connection.execute(delete(review_items).where(review_items.c.submission_id.in_(known), review_items.c.why == HELD))
    now = naive(datetime.now(UTC))
    refused = [{"exchange_id": row.id, "state": "refused", "text": "", "rater": "", "at": now} for row in rows if row.held]
    insert_missing(connection, releases, refused)
    connection.execute(update(releases).where(releases.c.exchange_id.in_(known)).values(text=""))
    return len(numbers)


def older_exchanges(connection: Connection, moment: datetime, limit: int) -> list[str]:
    """Ids of exchanges before a moment that still have texts, oldest first."""
    query = select(exchanges.c.id).join(exchange_texts, exchange_texts.c.exchange == exchanges.c.number)
    found = query.where(exchanges.c.at < naive(moment)).order_by(exchanges.c.at, exchanges.c.number).limit(limit)
    return list(connection.execute(found).scalars())
