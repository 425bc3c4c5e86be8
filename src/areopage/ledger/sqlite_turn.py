"""Whose turn it is to write to a SQLite file.

SQLite's own waiting looks again after ever longer pauses, up to 100 ms: beside a busy worker, a request to hand an answer over
would be passed by again and again. Who waits here looks every millisecond.
"""

import time

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

PATIENCE = 30.0
PAUSE = 0.001


def begin_soon(connection: Connection) -> None:
    """Begin a transaction that writes, as soon as whoever writes now has ended.

    Raises:
        OperationalError: somebody else has written for `PATIENCE` seconds, or the file cannot be written.
    """
    connection.exec_driver_sql("PRAGMA busy_timeout=0")
    end = time.monotonic() + PATIENCE
    try:
        while not begun(connection, time.monotonic() > end):
            time.sleep(PAUSE)
    finally:
        connection.exec_driver_sql(f"PRAGMA busy_timeout={PATIENCE * 1000:.0f}")


def begun(connection: Connection, last: bool) -> bool:
    """Try once; False where another one writes, which is an error at the last time."""
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    except OperationalError as fault:
        if last or "locked" not in str(fault.orig):
            raise
        return False
    return True
