"""What files say to a worker about its ledger and its spool, without a look at them."""

import os
import time
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url

from areopage.ledger.store import Ledger
from areopage.monitor.changes import SETTLED, Changes


def settle(*paths: Path) -> None:
    """Let files be as old as they are after a while."""
    moment = time.time() - 60
    for path in paths:
        os.utime(path, (moment, moment))


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    folder = tmp_path / "spool"
    folder.mkdir()
    return folder


def quiet(ledger: Ledger, spool: Path) -> Changes:
    """Changes that has seen everything."""
    file = Path(str(ledger.engine.url.database))
    settle(file, file.with_name(f"{file.name}-wal"), spool, *spool.iterdir())
    changes = Changes(ledger, (spool,))
    assert changes.noticed()  # at first, nothing is known
    assert not changes.noticed()
    return changes


def test_a_write_of_any_process_is_noticed_and_quiet_files_are_left_alone(tmp_path: Path, spool: Path) -> None:
    with Ledger.open(tmp_path / "ledger.db") as ledger, Ledger.open(tmp_path / "ledger.db") as other:
        ledger.secret()
        changes = quiet(ledger, spool)
        other.audit.note("test", "test", "subject")
        assert changes.noticed()
        assert not quiet(ledger, spool).noticed()


def test_a_second_write_in_the_same_moment_is_noticed(tmp_path: Path, spool: Path) -> None:
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        changes = quiet(ledger, spool)
        ledger.secret()
        assert changes.noticed()
        assert changes.noticed()  # the state is so young that another write could have left the same
        time.sleep(2 * SETTLED)
        assert changes.noticed()
        assert not changes.noticed()


@pytest.mark.parametrize("begin", [b"", b"a line\n"])
def test_a_line_of_a_spool_is_noticed(tmp_path: Path, spool: Path, begin: bytes) -> None:
    file = spool / "writer.jsonl"
    if begin:
        file.write_bytes(begin)
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        changes = quiet(ledger, spool)
        with file.open("ab") as stream:
            stream.write(b"another\n")
        assert changes.noticed()


def test_a_link_to_a_ledger_is_watched_where_it_leads_and_a_folder_may_come_later(tmp_path: Path) -> None:
    link, spool = tmp_path / "link.db", tmp_path / "later"
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        link.symlink_to(tmp_path / "ledger.db")
        with Ledger.open(link) as linked:
            settle(tmp_path / "ledger.db", tmp_path / "ledger.db-wal")
            changes = Changes(linked, (spool,))
            assert (changes.noticed(), changes.noticed()) == (True, False)
            ledger.secret()
            assert changes.noticed()
            settle(tmp_path / "ledger.db", tmp_path / "ledger.db-wal")
            assert (changes.noticed(), changes.noticed()) == (True, False)
            spool.mkdir()
            (spool / "writer.jsonl").write_text("a line\n")
            assert changes.noticed()


def test_of_a_ledger_on_a_server_files_say_nothing() -> None:
    engine = create_engine(make_url("postgresql+psycopg://nobody@127.0.0.1:1/none"))
    changes = Changes(Ledger(engine), ())
    assert changes.noticed()
    assert changes.noticed()
