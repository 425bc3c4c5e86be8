"""Removing the texts of exchanges; what is counted of them stays."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, delete, exists, select, update

from areopage.ledger.erasure import erase_unshared, remove_judgments
from areopage.ledger.exchange_queue import keys_of, lock_keys, queue_equals
from areopage.ledger.exchange_rows import HELD, held_back
from areopage.ledger.gate_records import GATE_RUN
from areopage.ledger.gate_tables import exchange_judgments, exchange_texts, exchanges, grounding_labels, releases
from areopage.ledger.inserts import insert_missing
from areopage.ledger.people_tables import review_items
from areopage.ledger.rows import chunks, naive
from areopage.ledger.tables import judgments, runs

READ = 500
"""Rows that are read at a time."""


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
    keys = keys_of(connection, ids)
    lock_keys(connection, keys)  # before the rows, as whoever settles does
    rows = connection.execute(query.order_by(exchanges.c.number).with_for_update(of=exchanges)).all()
    numbers, known = [row.number for row in rows], [row.id for row in rows]
    connection.execute(delete(exchange_texts).where(exchange_texts.c.exchange.in_(numbers)))
    connection.execute(update(exchanges).where(exchanges.c.number.in_(numbers)).values(question_key="", held_key=""))
    erase_their_judgments(connection, numbers)
    connection.execute(update(grounding_labels).where(grounding_labels.c.exchange_id.in_(known)).values(note=""))
    connection.execute(delete(review_items).where(review_items.c.submission_id.in_(known), review_items.c.why == HELD))
    now = naive(datetime.now(UTC))
    refused = [{"exchange_id": row.id, "state": "refused", "text": "", "rater": "", "at": now} for row in rows if row.held]
    insert_missing(connection, releases, refused)
    connection.execute(update(releases).where(releases.c.exchange_id.in_(known)).values(text=""))
    queue_equals(connection, keys)  # the item that is gone may have stood for others that wait
    return len(numbers)


def erase_their_judgments(connection: Connection, numbers: Sequence[int]) -> None:
    """Remove the judgments on the sentences of exchanges, but for those that serve others, too."""
    linked = exchange_judgments.c
    keys = list(connection.execute(select(linked.key).where(linked.exchange.in_(numbers)).distinct()).scalars())
    connection.execute(delete(exchange_judgments).where(linked.exchange.in_(numbers)))
    erase_unshared(connection, keys)


def erase_unlinked(engine: Engine, moment: datetime) -> int:
    """Remove judgments of the grey band's judges before a moment that belong to no exchange; returns how many.

    A process that died between a judgment and its exchange left them.
    """
    with engine.connect() as connection:
        gates = list(connection.execute(select(runs.c.id).where(runs.c.id.startswith(GATE_RUN, autoescape=True))).scalars())
        ids = [id for run in gates for id in unlinked(connection, run, moment)]
    for part in chunks(ids):
        with engine.begin() as connection:
            remove_judgments(connection, part)
    return len(ids)


def unlinked(connection: Connection, run: str, moment: datetime) -> Iterator[int]:
    """The judgments of a run before a moment that belong to no exchange. They are read in the order they came, up to there."""
    owned = exists().where(exchange_judgments.c.key == judgments.c.key)
    query = select(judgments.c.id, judgments.c.created_at, owned.label("owned")).where(judgments.c.run_id == run)
    with connection.execute(query.order_by(judgments.c.id).execution_options(yield_per=READ)) as rows:
        for row in rows:
            if row.created_at >= naive(moment):
                return
            if not row.owned:
                yield row.id


def older_exchanges(connection: Connection, moment: datetime, limit: int) -> list[str]:
    """Ids of exchanges before a moment that still have texts, oldest first."""
    query = select(exchanges.c.id).join(exchange_texts, exchange_texts.c.exchange == exchanges.c.number)
    found = query.where(exchanges.c.at < naive(moment)).order_by(exchanges.c.at, exchanges.c.number).limit(limit)
    return list(connection.execute(found).scalars())
