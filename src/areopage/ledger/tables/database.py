"""Write transactions: durability and ordering in a SQLite file.

SQLite's own waiting looks again after ever longer pauses, up to 100 ms: beside a busy worker, a request to submit an answer would
be passed by again and again. A caller that waits in `_begin_soon` looks every millisecond.
"""

import os
import secrets
import socket
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.exc import OperationalError

from areopage.ledger.store import Ledger
from areopage.ledger.tables.connection import PATIENCE

PAUSE = 0.001
_LOCKS = 0x0A5E0C << 32
"""The first of PostgreSQL's advisory locks that processes take in turn."""


@contextmanager
def durable(ledger: Ledger) -> Iterator[Connection]:
    """A transaction that is on disk once committed.

    Other SQLite transactions reach the disk a moment later.
    """
    with ledger.reading() as connection:
        if connection.dialect.name != "sqlite":
            with connection.begin():
                yield connection
            return
        connection.exec_driver_sql("PRAGMA synchronous=FULL")
        try:
            _begin_soon(connection)
            yield connection
            connection.commit()
        finally:
            connection.rollback()  # SQLite takes no such setting inside of a transaction
            connection.exec_driver_sql("PRAGMA synchronous=NORMAL")


@contextmanager
def exclusive(ledger: Ledger) -> Iterator[Connection]:
    """A transaction that reads before it writes. SQLite excludes other writers; in PostgreSQL the caller locks rows."""
    with ledger.reading() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        yield connection
        connection.commit()


def holder_name() -> str:
    """A name for this process among those that share something."""
    return f"{socket.gethostname()[:60]}-{os.getpid()}-{secrets.token_hex(4)}"


def in_turn(connection: Connection, key: str) -> float:
    """Take the turn of processes that share something until the transaction's end; the time by the clock that all of them read.

    Args:
        key: of what they share.
    """
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        return time.time()
    connection.execute(select(func.pg_advisory_xact_lock(_LOCKS + zlib.crc32(key.encode()))))
    return float(connection.execute(select(func.extract("epoch", func.clock_timestamp()))).scalar_one())


@contextmanager
def snapshot(ledger: Ledger) -> Iterator[Connection]:
    """A read-only transaction with a consistent view from its first read."""
    with ledger.reading() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN")
        else:
            connection.execution_options(isolation_level="REPEATABLE READ")
        yield connection
        connection.rollback()


def _begin_soon(connection: Connection) -> None:
    """Begin a transaction that writes in SQLite, as soon as the one under way has ended.

    Raises:
        OperationalError: another connection has written for `PATIENCE` seconds, or the file cannot be written.
    """
    connection.exec_driver_sql("PRAGMA busy_timeout=0")
    end = time.monotonic() + PATIENCE
    try:
        while not _begun(connection, time.monotonic() > end):
            time.sleep(PAUSE)
    finally:
        connection.exec_driver_sql(f"PRAGMA busy_timeout={PATIENCE * 1000:.0f}")


def unpooled(engine: Engine, wait: float) -> Connection:
    """A connection to a SQLite file of its own settings, which ends when it is closed.

    Args:
        wait: seconds that it waits for others.
    """
    connection = engine.connect()
    connection.detach()
    connection.exec_driver_sql(f"PRAGMA busy_timeout={wait * 1000:.0f}")
    connection.rollback()
    return connection


def begins_at_once(connection: Connection) -> bool:
    """Begin a transaction that writes in SQLite, by a connection that does not wait; False where another one writes."""
    return _begun(connection, last=False)


def _begun(connection: Connection, last: bool) -> bool:
    """Try once; False where another connection writes, which is an error at the last time."""
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    except OperationalError as fault:
        if last or "locked" not in str(fault.orig):
            raise
        return False
    return True
