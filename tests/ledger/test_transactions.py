"""Handing answers over to a SQLite file that others write to."""

import threading
import time
from pathlib import Path

import pytest

from areopage.errors import StorageError
from areopage.ledger.store import Ledger
from areopage.ledger.tables import database
from areopage.ledger.tables.records import Answer
from areopage.ledger.write.evaluations import Evaluations
from servers import PATIENCE
from servers.evaluated import submitted


def one(id: str) -> Answer:
    return submitted(id)


def test_it_waits_for_whoever_writes_and_then_writes(tmp_path: Path) -> None:
    ledger, other = Ledger.open(tmp_path / "l.db"), Ledger.open(tmp_path / "l.db")
    stored: list[bool] = []
    with other.engine.connect() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        waiting = threading.Thread(target=lambda: stored.extend(Evaluations(ledger).submit([one("a")])))
        waiting.start()
        time.sleep(0.05)
        assert stored == []
        connection.rollback()
    waiting.join(PATIENCE)
    assert stored == [True]
    with ledger.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 30_000
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 1
    ledger.close()
    other.close()


def test_it_gives_up_with_one_line_when_nobody_lets_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    ledger, other = Ledger.open(tmp_path / "l.db"), Ledger.open(tmp_path / "l.db")
    with other.engine.connect() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="locked"):
            Evaluations(ledger).submit([one("a")])
        connection.rollback()
    assert Evaluations(ledger).submit([one("a")]) == [True]
    ledger.close()
    other.close()
