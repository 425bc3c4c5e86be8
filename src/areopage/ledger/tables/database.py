"""A ledger's database: its transactions, and the base of the objects that read and write its tables.

SQLite's own waiting looks again after ever longer pauses, up to 100 ms: beside a busy worker, a request to submit an answer would
be passed by again and again. A caller that waits in `_begin_soon` looks every millisecond.
"""

import os
import secrets
import socket
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import ColumnElement, Connection, Engine, Select, UpdateBase, func, select
from sqlalchemy.exc import DatabaseError, OperationalError

from areopage.ledger.tables.chain import seal_commits
from areopage.ledger.tables.connection import PATIENCE, engine_to_read, open_engine, revision_of, shown, storage_errors, url_of
from areopage.ledger.tables.rows import Record, record_of, rows_in
from areopage.ledger.tables.schema import REVISION

PAUSE = 0.001
MOST_DAMAGES = 20
"""How many damaged places of a file are named."""
_LOCKS = 0x0A5E0C << 32
"""The first of PostgreSQL's advisory locks that processes take in turn."""


class Database:
    """The open database of a ledger."""

    def __init__(self, engine: Engine, place: str = "") -> None:
        self.engine = engine
        seal_commits(engine)
        self.place = place or shown(engine.url)

    @classmethod
    def open(cls, location: str | Path) -> Self:
        """Open a SQLite file or a database URL and migrate it; see `open_engine`."""
        return cls(open_engine(location))

    @classmethod
    @contextmanager
    def open_to_read(cls, location: str | Path) -> Iterator[Self]:
        """Open a ledger to read only: see `engine_to_read`."""
        with engine_to_read(location) as engine:
            yield cls(engine, shown(url_of(location)))

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a SQLite file, which has one writer at a time."""
        return self.engine.dialect.name == "sqlite"

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that reads, or commits by itself; faults of the database are `StorageError`."""
        with storage_errors(self.place), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is committed at its end, or rolled back where an exception leaves it."""
        with storage_errors(self.place), self.engine.begin() as connection:
            yield connection

    def rows(self, query: Select[Any], values: Mapping[str, Any] | None = None) -> Sequence[Any]:
        """The rows of a query."""
        with self.reading() as connection:
            return connection.execute(query, values).all()

    def rows_in(self, query: Select[Any], column: ColumnElement[Any], keys: Iterable[Any]) -> list[Any]:
        """The rows of a query in which a column has one of some keys, read in portions."""
        with self.reading() as connection:
            return rows_in(connection, query, column, keys)

    def portions(self, query: Select[Any], key: ColumnElement[int], size: int, *, after: int = 0) -> Iterator[Sequence[Any]]:
        """The rows of a query in the order of a key among its columns, in portions, from a number on."""
        query = query.order_by(key).limit(size)
        while rows := self.rows(query.where(key > after)):
            yield rows
            if len(rows) < size:
                return
            after = rows[-1]._mapping[key]

    def row(self, query: Select[Any], values: Mapping[str, Any] | None = None) -> Any:
        """The first row of a query."""
        with self.reading() as connection:
            return connection.execute(query, values).first()

    def values(self, query: Select[Any]) -> list[Any]:
        """The first column of a query."""
        return [row[0] for row in self.rows(query)]

    def value(self, query: Select[Any]) -> Any:
        """The first column of the first row of a query; None without a row."""
        row = self.row(query)
        return None if row is None else row[0]

    def records(self, kind: type[Record], query: Select[Any]) -> list[Record]:
        """The rows of a query as records; see `record_of`."""
        return [record_of(kind, row) for row in self.rows(query)]

    def change(self, statement: UpdateBase) -> int:
        """Change rows in one transaction; returns how many."""
        with self.writing() as connection:
            return connection.execute(statement).rowcount

    @contextmanager
    def exclusive(self) -> Iterator[Connection]:
        """A writing transaction that reads before it writes.

        SQLite excludes other writers from its beginning; in PostgreSQL the caller locks rows.
        """
        with self.writing() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection

    @contextmanager
    def durable(self) -> Iterator[Connection]:
        """A transaction that is on disk once committed; other SQLite transactions reach the disk a moment later."""
        if not self.is_sqlite:
            with self.writing() as connection:
                yield connection
            return
        with self.reading() as connection:
            connection.exec_driver_sql("PRAGMA synchronous=FULL")
            try:
                _begin_soon(connection)
                yield connection
                connection.commit()
            finally:
                connection.rollback()  # SQLite takes no such setting inside of a transaction
                connection.exec_driver_sql("PRAGMA synchronous=NORMAL")

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A read-only transaction with a consistent view from its first read."""
        with self.reading() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN")
            else:
                connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection
            connection.rollback()

    def is_current(self) -> bool:
        """Whether the database has the revision of this program."""
        with storage_errors(self.place):
            return revision_of(self.engine) == REVISION

    def damages(self) -> list[str]:
        """The damaged places of a SQLite file: pages and indexes that are not what the others say; nothing of PostgreSQL."""
        if not self.is_sqlite:
            return []
        with self.reading() as connection:
            try:
                lines = [str(row[0]) for row in connection.exec_driver_sql(f"PRAGMA integrity_check({MOST_DAMAGES})")]
            except DatabaseError as fault:  # so damaged that not even this can be read
                lines = [str(fault.orig)]
        return [" ".join(line.split()) for line in lines if line != "ok"]

    def unpooled(self) -> Connection:
        """A connection to a SQLite file that waits for no other, and that ends when it is closed."""
        connection = self.engine.connect()
        connection.detach()
        connection.exec_driver_sql("PRAGMA busy_timeout=0")
        connection.rollback()
        return connection


SILENCE = 15.0
"""Seconds without a renewal after which a process's part of what several share returns."""


class Store:
    """What reads and writes some tables of a ledger.

    Each method is one transaction, unless it says otherwise, and may be called from any thread.
    """

    def __init__(self, ledger: Database) -> None:
        self._ledger = ledger


def holder_name() -> str:
    """A name for this process among those that share something."""
    return f"{socket.gethostname()[:60]}-{os.getpid()}-{secrets.token_hex(4)}"


def in_turn(connection: Connection, key: str) -> float:
    """Take the turn of processes that share what a key names until the transaction's end; the time by the clock of all."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        return time.time()
    connection.execute(select(func.pg_advisory_xact_lock(_LOCKS + zlib.crc32(key.encode()))))
    return float(connection.execute(select(func.extract("epoch", func.clock_timestamp()))).scalar_one())


def _begin_soon(connection: Connection) -> None:
    """Begin a transaction that writes in SQLite, as soon as the one under way has ended, within `PATIENCE` seconds."""
    connection.exec_driver_sql("PRAGMA busy_timeout=0")
    end = time.monotonic() + PATIENCE
    try:
        while not begins_at_once(connection, last=time.monotonic() > end):
            time.sleep(PAUSE)
    finally:
        connection.exec_driver_sql(f"PRAGMA busy_timeout={PATIENCE * 1000:.0f}")


def begins_at_once(connection: Connection, *, last: bool = False) -> bool:
    """Begin a transaction that writes in SQLite, by a connection that does not wait; False where another one writes.

    That is an error at the `last` attempt.
    """
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    except OperationalError as fault:
        if last or "locked" not in str(fault.orig):
            raise
        return False
    return True
