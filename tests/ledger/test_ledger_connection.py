"""Opening a ledger: the tables are those of the newest revision, and what is no ledger is refused in one line."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, event, inspect, text
from sqlalchemy.exc import OperationalError

from areopage.errors import MissingExtra, StorageError
from areopage.ledger.read.search import SEARCH_TABLE
from areopage.ledger.store import Ledger
from areopage.ledger.tables.connection import (
    MIGRATIONS,
    open_engine,
    set_sqlite_pragmas,
    shown,
    storage_errors,
    strangers,
    url_of,
)
from areopage.ledger.tables.records import Judgment, Run
from areopage.ledger.tables.schema import REVISION, metadata
from areopage.work.database import queue_engine

MOMENT = datetime(2026, 1, 2, tzinfo=UTC)
Make = Callable[..., Judgment]
Opener = Callable[[str | Path], Ledger]
NAMES = ("with space.db", "what?.db", "a#b.db", "100%25.db", "é😀.db", "a&b=c.db", "sqlite:.db", "deep/er/l.db")


def refusal(location: str | Path) -> str:
    with pytest.raises(StorageError) as caught:
        Ledger.open(location)
    message = str(caught.value)
    assert "\n" not in message
    return message


def is_no_part_of_the_index_of_words(name: str | None, kind: str, _parents: object) -> bool:
    """Each database has its own kind of index of words, which the metadata does not know."""
    return kind != "table" or not str(name).startswith(SEARCH_TABLE)


def has_the_tables_that_the_code_uses(engine: Engine) -> bool:
    with engine.connect() as connection:
        options = {"compare_type": True, "include_name": is_no_part_of_the_index_of_words}
        context = MigrationContext.configure(connection, opts=options)
        assert inspect(connection).has_table(SEARCH_TABLE)
        return compare_metadata(context, metadata) == [] and context.get_current_revision() == REVISION


def alembic_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config


def test_a_new_ledger_has_the_tables_that_the_code_uses_and_the_newest_revision(new_location: str) -> None:
    engine = open_engine(new_location)
    assert has_the_tables_that_the_code_uses(engine)
    engine.dispose()
    assert ScriptDirectory.from_config(alembic_config()).get_current_head() == REVISION


def test_the_migrations_lead_to_the_tables_of_a_new_ledger(new_location: str) -> None:
    engine = create_engine(url_of(new_location))
    config = alembic_config()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    assert has_the_tables_that_the_code_uses(engine)
    engine.dispose()


def test_a_ledger_is_made_whole_or_not_at_all(new_location: str, open_ledger: Opener) -> None:
    engine = create_engine(url_of(new_location))
    *_, last = (table.name for table in metadata.sorted_tables)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE TABLE {last} (a INTEGER)"))
    with pytest.raises(StorageError):
        open_ledger(new_location)
    assert inspect(engine).get_table_names() == [last]
    with engine.begin() as connection:
        connection.execute(text(f"DROP TABLE {last}"))
    engine.dispose()
    assert open_ledger(new_location).runs() == []


def test_tables_of_the_index_of_words_are_no_strangers_when_a_migration_comes(location: str, open_ledger: Opener) -> None:
    engine = open_ledger(location).engine
    assert any(name.startswith(SEARCH_TABLE) for name in inspect(engine).get_table_names())
    assert strangers(engine) == []
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE quality (a INTEGER)"))
    assert strangers(engine) == ["quality"]


def test_opening_again_changes_nothing(new_location: str, open_ledger: Opener) -> None:
    first = open_ledger(new_location)
    secret = first.secret()
    first.close()
    assert open_ledger(new_location).secret() == secret


def test_a_commit_survives_the_death_of_the_process_by_these_settings(tmp_path: Path, open_ledger: Opener) -> None:
    with open_ledger(tmp_path / "l.db").engine.connect() as connection:
        found = [
            connection.execute(text(f"PRAGMA {name}")).scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        ]
    assert found == ["wal", 1, 1, 30_000]


@pytest.mark.parametrize("name", NAMES)
def test_a_path_is_a_path_whatever_characters_it_holds(tmp_path: Path, open_ledger: Opener, name: str) -> None:
    path = tmp_path / name
    ledger = open_ledger(path)
    ledger.secret()
    assert path.read_bytes().startswith(b"SQLite format 3")
    assert ledger.place == str(path)
    beside = {f"{path.name}{end}" for end in ("", "-wal", "-shm", ".migrate.lock")}
    assert open_ledger(str(path)).secret() == ledger.secret()
    ledger.create_run(Run(id="r", suite="s", fingerprint="f", folder="", created_at=MOMENT, finished_at=None, spec="{}"), [])
    for _ in ("a log lies beside it", "the file lies alone"):
        with Ledger.open_to_read(path) as reader:
            assert [run.id for run in reader.runs()] == ["r"]
        ledger.close()
    assert {one.name for one in path.parent.iterdir()} <= beside


def test_a_link_to_a_ledger_is_that_ledger(tmp_path: Path, open_ledger: Opener) -> None:
    """Also while a process writes to it, whose log lies beside the file; a file that is made through a link is its owner's."""
    (tmp_path / "disk").mkdir()
    path, link = tmp_path / "disk" / "l.db", tmp_path / "link.db"
    link.symlink_to(path)
    ledger = open_ledger(link)
    assert path.stat().st_mode & 0o077 == 0
    ledger.create_run(Run(id="r", suite="s", fingerprint="f", folder="", created_at=MOMENT, finished_at=None, spec="{}"), [])
    with Ledger.open_to_read(link) as reader:
        assert [run.id for run in reader.runs()] == ["r"]


@pytest.mark.parametrize(("text", "threshold"), [("none", None), ("0", 0), ("7", 7)])
def test_prepared_statements_can_be_switched_off_for_poolers(postgres_ledger: str, text: str, threshold: int | None) -> None:
    sign = "&" if "?" in postgres_ledger else "?"
    ledger = Ledger.open(f"{postgres_ledger}{sign}prepare_threshold={text}")
    with ledger.reading() as connection:
        driver: Any = connection.connection.driver_connection
        assert driver.prepare_threshold == threshold
    ledger.close()


def test_a_threshold_that_is_no_number_is_one_line() -> None:
    assert "prepare_threshold must be a whole number, or none" in refusal("postgresql://h/d?prepare_threshold=off")


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        ("database or disk is full", "free some space"),
        ("disk I/O error", "keep the ledger on a local disk"),
        ("locking protocol", "keep the ledger on a local disk"),
        ("database is locked", "wait for that process or end it"),
        ("database disk image is malformed", "put a copy of it back"),
        ("cannot execute INSERT in a read-only transaction", "name the primary server"),
    ],
)
def test_a_fault_of_a_database_says_what_to_do(reason: str, advice: str) -> None:
    with pytest.raises(StorageError, match=advice) as caught, storage_errors("l.db"):
        raise OperationalError("x", {}, sqlite3.OperationalError(reason))
    assert reason in str(caught.value)


def test_a_sqlite_url_is_the_file_it_names(tmp_path: Path, open_ledger: Opener) -> None:
    path = tmp_path / "l.db"
    assert open_ledger(f"sqlite:///{path}").secret() == open_ledger(path).secret()


def test_what_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    for number, content in enumerate((b"hello", b"hello world\n" * 1000, b"SQLite format 3\x00" + b"\xff" * 5000)):
        path = tmp_path / f"{number}.txt"
        path.write_bytes(content)
        assert refusal(path).startswith(f"{path}: ")
        assert path.read_bytes() == content


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    assert "use a file in a writable folder" in refusal(tmp_path)


def test_a_place_below_a_file_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert f"cannot be created: {tmp_path / 'file'} is not a folder" in refusal(tmp_path / "file" / "l.db")


def test_the_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "browser.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    assert "belongs to another program (bookmarks)" in refusal(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmarks",)]


@pytest.mark.parametrize(
    ("revision", "message"), [("9999", "created by a newer version of areopage"), ("0000abc", "unknown revision")]
)
def test_another_revision_is_refused(location: str, revision: str, message: str) -> None:
    engine = open_engine(location)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
    engine.dispose()
    assert message in refusal(location)


@pytest.mark.parametrize("change", ["DELETE FROM ledger_meta", "UPDATE ledger_meta SET value = 'other'"])
def test_a_ledger_of_this_revision_with_other_tables_is_refused(location: str, change: str) -> None:
    engine = open_engine(location)
    with engine.begin() as connection:
        connection.execute(text(change))
    engine.dispose()
    assert "created by another version of areopage" in refusal(location)


def test_a_newer_ledger_with_tables_that_we_do_not_know_is_told_from_a_stranger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    engine = open_engine(path)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        connection.execute(text("CREATE TABLE of_later_times (id INTEGER)"))
    engine.dispose()
    assert "created by a newer version of areopage" in refusal(path)


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A folder that nobody here can write to."""
    folder = tmp_path / "sealed"
    folder.mkdir()
    if os.geteuid() != 0:
        folder.chmod(0o500)
        yield folder
        folder.chmod(0o700)
        return
    mount = ["mount", "-t", "tmpfs", "-o", "ro,size=1m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("root can write everywhere, and may not mount a read-only folder here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_read_only_folder_is_refused(read_only: Path) -> None:
    assert "cannot be opened or written" in refusal(read_only / "l.db")
    assert "cannot be created: " in refusal(read_only / "new" / "l.db")


@pytest.mark.parametrize(
    "url",
    [
        "mysql://u:hidden@h/db",
        "foo://u:hidden@h/db",
        "postgresql+asyncpg://u:hidden@h/db",
        "postgresql://u:hidden@h:port/db",
        "sqlite://",
    ],
)
def test_a_url_of_something_else_is_refused_without_its_password(url: str) -> None:
    message = refusal(url)
    assert "use a SQLite file or a postgresql:// URL" in message
    assert "hidden" not in message


def test_a_server_that_is_not_there_is_one_line_without_the_password() -> None:
    message = refusal("postgresql://user:hidden@127.0.0.1:1/db?password=hidden&connect_timeout=2")
    assert "127.0.0.1" in message
    assert "hidden" not in message


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_cannot_hold_every_character_is_refused_in_one_line(postgres: Engine, encoding: str) -> None:
    name = f"test_{encoding.lower()}"
    with postgres.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'"))
    url = postgres.url.set(drivername="postgresql", database=name)
    try:
        message = refusal(url.render_as_string(hide_password=False))
        assert message == (
            f"{shown(url)}: the database has the encoding {encoding}, and a ledger needs UTF8: "
            "create one by: CREATE DATABASE name TEMPLATE template0 ENCODING 'UTF8'"
        )
    finally:
        with postgres.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))


def test_a_place_is_shown_without_passwords() -> None:
    assert shown(url_of("postgresql://u:p@h/db")) == "postgresql://u:***@h/db"
    assert shown(url_of("postgresql://h/db?password=p&sslmode=require")) == "postgresql://h/db?sslmode=require"
    assert shown(url_of("/a/b?c.db")) == "/a/b?c.db"


def test_a_missing_driver_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"areopage\[postgres\]"):
        Ledger.open("postgresql://127.0.0.1:1/db")


def test_a_full_disk_is_one_line_and_loses_nothing_that_was_committed(ledger: Ledger, judgment: Make) -> None:
    if ledger.engine.dialect.name != "sqlite":
        pytest.skip("SQLite alone can be told how many pages there are")

    @event.listens_for(ledger.engine, "connect")
    def bound(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA max_page_count = 160").fetchall()

    ledger.engine.dispose()
    committed: list[str] = []
    with pytest.raises(StorageError, match="no space left to write") as caught:
        for number in range(1000):
            ledger.append([judgment(f"k{number}", raw_text="x" * 2000)])
            committed.append(f"k{number}")
    assert "\n" not in str(caught.value)
    assert 5 < len(committed) < 1000
    assert set(ledger.judgments([f"k{number}" for number in range(1000)])) == set(committed)
    with pytest.raises(StorageError, match="no space left"):
        ledger.append([judgment("again", raw_text="x" * 20_000)])


def test_an_existing_ledger_that_may_only_be_read_is_one_line(tmp_path: Path, judgment: Make) -> None:
    path = tmp_path / "l.db"
    Ledger.open(path).close()
    ledger = Ledger(create_engine(f"sqlite:///file:{path}?mode=ro&uri=true"))
    with pytest.raises(StorageError, match="cannot be opened or written"):
        ledger.append([judgment()])
    ledger.close()


def test_too_many_at_once_is_a_storage_error_and_not_a_bug(tmp_path: Path) -> None:
    """A worker that shares its ledger with a crowd of readers tries again; an error that it does not know would end it."""
    engine = create_engine(f"sqlite:///{tmp_path / 'ledger.db'}", pool_size=1, max_overflow=0, pool_timeout=0.01)
    full = pytest.raises(StorageError, match="too many connections wait")
    with engine.connect(), full, storage_errors("here"), engine.connect():
        pass
    engine.dispose()


class RefusedTwice:
    """A connection to a new file to which another one gives a write-ahead log at the same time."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path)
        self.refusals = 2

    def execute(self, statement: str) -> sqlite3.Cursor:
        if "journal_mode" in statement and self.refusals:
            self.refusals -= 1
            raise sqlite3.OperationalError("database is locked")
        return self.connection.execute(statement)


def test_two_processes_that_make_one_ledger_at_once_wait_for_each_other(tmp_path: Path) -> None:
    """SQLite refuses the second one at once, however long it was told to wait."""
    refused = RefusedTwice(tmp_path / "ledger.db")
    with closing(refused.connection):
        set_sqlite_pragmas(refused, None)
        assert refused.refusals == 0
        assert refused.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert refused.connection.execute("PRAGMA busy_timeout").fetchone() == (30_000,)


def test_a_connection_that_the_server_has_ended_is_replaced_before_it_is_used(
    postgres_ledger: str, open_ledger: Opener, postgres: Engine
) -> None:
    ledger = open_ledger(postgres_ledger)
    secret = ledger.secret()
    queue = queue_engine(ledger.engine.url)
    with Ledger.open_to_read(postgres_ledger) as reader:
        for engine in (ledger.engine, reader.engine, queue):
            with engine.connect(), engine.connect() as connection:  # two stay in its pool
                connection.execute(text("SELECT 1"))
        end = text("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = :name")
        with postgres.connect() as connection:
            assert connection.execute(end, {"name": ledger.engine.url.database}).scalar_one() == 6
        assert reader.secret() == secret
        with queue.connect() as connection:
            assert connection.execute(text("SELECT 1")).scalar_one() == 1
        ledger.audit.note("test", "test", "subject")
        assert ledger.secret() == secret
    queue.dispose()
