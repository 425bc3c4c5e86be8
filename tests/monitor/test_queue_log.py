"""What the queue's library logs: one line each, and not ten times a second."""

import logging
import resource
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from areopage.ledger.store import Ledger
from areopage.monitor.queue_log import AGAIN_AFTER, ShortLog
from servers import PATIENCE

if TYPE_CHECKING:
    from servers.monitored import Monitored


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


def test_a_worker_on_a_full_disk_says_so_in_single_lines(monitored: "Monitored", kept: Ledger) -> None:
    monitored.server.faults.hold = True
    monitored.submit(kept, 3)
    process = monitored.work(beat=0.3)
    monitored.server.wait_for_calls(3)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))  # nothing can be written any more
    monitored.server.faults.hold = False
    assert process.stderr is not None
    said: list[str] = []
    for line in process.stderr:  # each sign of life that cannot be written is one, too
        said.append(line)
        if "the queue cannot be used, which is tried again" in line or len(said) > 100:
            break
    assert "the queue cannot be used, which is tried again" in said[-1]
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    process.send_signal(signal.SIGTERM)
    said += process.communicate(timeout=PATIENCE)[1].splitlines()
    assert not [line for line in said if "Traceback" in line or "[SQL" in line or line.startswith(" ")]
