"""What SQLite and folders say to a worker about its ledger and its spool, without a look at them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url

from areopage.ledger.store import Ledger
from areopage.monitor.changes import Changes


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    folder = tmp_path / "spool"
    folder.mkdir()
    return folder


@contextmanager
def quiet(ledger: Ledger, spool: Path) -> Iterator[Changes]:
    """Changes that has seen everything."""
    changes = Changes(ledger, (spool,))
    assert changes.noticed()  # at first, nothing is known
    while changes.noticed():
        pass
    yield changes
    changes.close()


def test_a_write_of_any_connection_is_noticed_and_a_quiet_ledger_is_left_alone(tmp_path: Path, spool: Path) -> None:
    with (
        Ledger.open(tmp_path / "ledger.db") as ledger,
        Ledger.open(tmp_path / "ledger.db") as other,
        quiet(ledger, spool) as changes,
    ):
        for writer in (ledger, other, other):
            writer.audit.note("test", "test", "subject")
            assert (changes.noticed(), changes.noticed()) == (True, False)
        other.erasure.empty_log()
        with other.writing() as connection:
            connection.exec_driver_sql("PRAGMA user_version = 7")
        assert changes.noticed(), "a write to an emptied log"


def test_writes_in_one_tick_of_the_clock_of_files_are_noticed(tmp_path: Path, spool: Path) -> None:
    file = spool / "writer.jsonl"
    with Ledger.open(tmp_path / "ledger.db") as ledger, quiet(ledger, spool) as changes:
        for line in ("first", "again"):
            file.write_text(line)
            os.utime(file, ns=(0, 10**18))
            assert changes.noticed()
        assert not changes.noticed()


def test_a_ledger_that_does_not_say_may_have_changed(tmp_path: Path, spool: Path) -> None:
    with Ledger.open(tmp_path / "ledger.db") as ledger, quiet(ledger, spool) as changes:
        changes.close()
        (tmp_path / "ledger.db").rename(tmp_path / "moved")
        (tmp_path / "ledger.db").mkdir()
        assert changes.noticed() and changes.noticed() and changes.noticed()


@pytest.mark.parametrize("begin", [b"", b"a line\n"])
def test_a_line_of_a_spool_is_noticed(tmp_path: Path, spool: Path, begin: bytes) -> None:
    file = spool / "writer.jsonl"
    if begin:
        file.write_bytes(begin)
    with Ledger.open(tmp_path / "ledger.db") as ledger, quiet(ledger, spool) as changes:
        with file.open("ab") as stream:
            stream.write(b"another\n")
        assert changes.noticed()


def test_a_link_to_a_ledger_is_watched_where_it_leads_and_a_folder_may_come_later(tmp_path: Path) -> None:
    link, spool = tmp_path / "link.db", tmp_path / "later"
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        link.symlink_to(tmp_path / "ledger.db")
        with Ledger.open(link) as linked, quiet(linked, spool) as changes:
            ledger.secret()
            assert (changes.noticed(), changes.noticed()) == (True, False)
            spool.mkdir()
            (spool / "writer.jsonl").write_text("a line\n")
            assert changes.noticed()


def test_of_a_ledger_on_a_server_nothing_is_known() -> None:
    engine = create_engine(make_url("postgresql+psycopg://nobody@127.0.0.1:1/none"))
    changes = Changes(Ledger(engine), ())
    assert changes.noticed()
    assert changes.noticed()
