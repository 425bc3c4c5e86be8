"""What dbos logs: one line each, and not ten times a second."""

import logging
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from areopage.work.database import AGAIN_AFTER, ShortLog


def record(message: str, fault: BaseException | None = None) -> logging.LogRecord:
    exc_info = (type(fault), fault, None) if fault else None
    return logging.LogRecord("dbos", logging.WARNING, "", 0, message, (), exc_info)


def full_disk(folder: Path) -> OperationalError:
    """What SQLAlchemy raises when SQLite finds no room."""
    engine = create_engine(f"sqlite:///{folder / 'full.db'}")
    try:
        with engine.connect() as connection, pytest.raises(OperationalError) as caught:
            connection.exec_driver_sql("PRAGMA max_page_count = 2")
            connection.execute(text("CREATE TABLE one (a)"))
            connection.execute(text("INSERT INTO one VALUES (:a)"), {"a": "x" * 100_000})
        return caught.value
    finally:
        engine.dispose()


def test_a_statement_that_fails_is_one_line_without_the_statement(tmp_path: Path) -> None:
    fault = full_disk(tmp_path)
    log = ShortLog("/place/queue.db")
    quoted = record(f"Exception encountered in queue thread for evaluations: {fault}")
    raised = record("Exception encountered in background workflow:", fault)
    assert log.filter(quoted) and not log.filter(raised)  # the same was just said
    assert quoted.getMessage() == "/place/queue.db: the queue cannot be used, which is tried again: database or disk is full"
    assert raised.exc_info is None and "INSERT" not in logging.Formatter().format(raised)


def test_the_same_line_comes_again_after_a_minute() -> None:
    now = [0.0]
    log = ShortLog("q", lambda: now[0])
    assert [log.filter(record("one")), log.filter(record("one")), log.filter(record("two"))] == [True, False, True]
    now[0] = AGAIN_AFTER
    assert log.filter(record("one")) and not log.filter(record("one"))


def test_a_traceback_becomes_its_first_and_its_last_line() -> None:
    said = record("Exception in schedule 'x': Traceback (most recent call last):\n  File 'a'\nKeyError: 'b'\n")
    ShortLog("q").filter(said)
    assert said.getMessage() == "q: Exception in schedule 'x': Traceback (most recent call last): KeyError: 'b'"
