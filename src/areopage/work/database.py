"""The queue's database: where it lies, how it is opened, and how its faults read.

It is a file beside a SQLite ledger, or the schema `dbos` of the ledger's PostgreSQL. What it holds is disposable.
"""

import logging
import re
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event

from areopage.ledger import make_private_file, set_sqlite_pragmas

POOL = 10
AGAIN_AFTER = 60.0
LONGEST = 300
FAULT = re.compile(r"\((?:\w+\.)+\w+\) ([^\n]+)")
"""How SQLAlchemy begins what a database says: `(sqlite3.OperationalError) database or disk is full`; the statement follows."""


def queue_url(ledger: URL) -> URL:
    """Where the queue of a ledger lies."""
    if ledger.get_backend_name() == "sqlite":
        return ledger.set(database=f"{ledger.database}.queue.db")
    return ledger


def queue_engine(ledger: URL) -> Engine:
    """The database of a ledger's queue; SQLite as the ledger uses it (WAL), with the locking that dbos needs."""
    url = queue_url(ledger)
    if url.get_backend_name() != "sqlite":
        return create_engine(url, pool_size=POOL, pool_pre_ping=True)
    make_private_file(Path(url.database or ""))
    engine = create_engine(url)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        connection.isolation_level = "IMMEDIATE"
        set_sqlite_pragmas(connection, record)

    return engine


class ShortLog(logging.Filter):
    """Makes one line of each record of dbos, and lets the same line through once a minute."""

    def __init__(self, place: str, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._place, self._clock = place, clock
        self._logged: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten a record; False where the same line was logged less than a minute ago."""
        now = self._clock()
        logged = {line: at for line, at in self._logged.items() if now - at < AGAIN_AFTER}
        line = self._line(record)
        again = line in logged
        self._logged = logged if again else {**logged, line: now}
        record.msg, record.args, record.exc_info, record.exc_text, record.stack_info = line, (), None, None, None
        return not again

    def _line(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        fault = record.exc_info[1] if record.exc_info else None
        if fault is not None:
            message += "\n" + "".join(traceback.format_exception_only(fault))
        fault_text = FAULT.search(message)
        if fault_text:
            return f"{self._place}: the queue cannot be used, which is tried again: {fault_text[1]}"
        lines = [line.strip() for line in message.splitlines() if line.strip()]
        return f"{self._place}: {' '.join(lines[:1] + lines[1:][-1:])[:LONGEST]}"
