"""Where the queue of a ledger lies."""

from typing import Any

from sqlalchemy import URL, Engine, create_engine, event

from areopage.ledger.connection import set_sqlite_pragmas


def queue_url(ledger: URL) -> URL:
    """Where the queue of a ledger lies."""
    if ledger.get_backend_name() == "sqlite":
        return ledger.set(database=f"{ledger.database}.queue.db")
    return ledger


def sqlite_engine(url: URL) -> Engine:
    """SQLite as the ledger uses it (WAL: no wait for the disk at each step), with the locking that dbos wants."""
    engine = create_engine(url)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        connection.isolation_level = "IMMEDIATE"
        set_sqlite_pragmas(connection, record)

    return engine
