"""Open a ledger's database and migrate it to the newest revision."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Column,
    Connection,
    Engine,
    MetaData,
    String,
    Table,
    create_engine,
    event,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as NoConnectionFree

from areopage.digest import digest_of
from areopage.errors import MissingExtra, StorageError, name_list
from areopage.file_lock import held
from areopage.ledger.read.search import SEARCH_TABLE, create_search_table
from areopage.ledger.tables.answer_tables import QUALITY_VIEW, name_conditions
from areopage.ledger.tables.schema import REVISION, ledger_meta, metadata

MIGRATIONS = Path(__file__).parent / "migrations"
VERSION_TABLE = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))
TABLES = "tables"
"""The name of the tables' digest in `ledger_meta`."""
WAL_PAGES = 4000
"""Pages of 4 kB in the write-ahead log after which SQLite copies them into the file. Rows under hashed keys change the same pages
again and again: a page is copied once for many commits."""
_PRAGMAS = ("synchronous=NORMAL", "foreign_keys=ON", "secure_delete=ON", f"wal_autocheckpoint={WAL_PAGES}")
PATIENCE = 30.0
"""Seconds that a connection to a SQLite ledger waits for others."""
_PAUSE = 0.01  # seconds between two looks
MIGRATION_LOCK = 0x41524541  # any fixed number: PostgreSQL's advisory lock of migrations


def open_engine(location: str | Path) -> Engine:
    """Open a SQLite file (created if missing, for its owner alone) or a database URL.

    SQLite runs in WAL mode with synchronous=NORMAL: a commit survives the death of the process, and the last few may be lost
    to a power cut, never the file.

    Raises:
        StorageError: the place cannot be written, is not a ledger, or was made by a newer version.
        MissingExtra: PostgreSQL's driver is not installed.
    """
    url = url_of(location)
    try:
        engine = create_engine(url)
    except ModuleNotFoundError:
        raise MissingExtra("a PostgreSQL ledger", "postgres") from None
    except NoSuchModuleError:
        raise not_a_ledger_url(shown(url)) from None
    with storage_errors(shown(url)):
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", set_sqlite_pragmas)
            make_folder(Path(url.database or "").parent)
            make_private_file(Path(url.database or ""))
        try:
            _upgrade(engine)
        except BaseException:
            engine.dispose()
            raise
    return engine


def url_of(location: str | Path) -> URL:
    """The URL of a ledger; a path with any characters is a SQLite file.

    Raises:
        StorageError: the text looks like a URL and is none of SQLite's with a file or PostgreSQL's.
    """
    if not isinstance(location, str) or "://" not in location:
        return URL.create("sqlite", database=str(location))
    try:
        url = make_url(location)
    except (ArgumentError, ValueError):
        raise not_a_ledger_url(location.partition("://")[0] + "://...") from None
    if url.drivername == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if url.drivername not in ("sqlite", "postgresql+psycopg") or (url.drivername == "sqlite" and not url.database):
        raise not_a_ledger_url(shown(url))
    return url


def not_a_ledger_url(place: str) -> StorageError:
    """The error for a URL that is not a valid ledger location."""
    return StorageError(f"{place} is not a valid ledger location: use a SQLite file or a postgresql:// URL")


def make_folder(folder: Path) -> None:
    """Create a folder, and what is missing above it, for its owner alone.

    Raises:
        StorageError: it cannot be created.
    """
    try:
        for one in (*reversed(folder.parents), folder):
            if not one.is_dir():
                one.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError:
        raise StorageError(f"{folder} cannot be created: {one} is not a folder") from None
    except OSError as error:
        raise StorageError(f"{folder} cannot be created: {error.strerror}") from None


def make_private_file(path: Path) -> None:
    """Create an empty file for its owner alone, unless it exists or cannot be created.

    SQLite gives the files beside a database (`-wal`, `-shm`) the permissions of the database.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def set_sqlite_pragmas(connection: Any, _record: Any) -> None:
    """Configure a new SQLite connection.

    With secure_delete, SQLite overwrites erased or replaced data with zeros.
    """
    connection.execute(f"PRAGMA busy_timeout={PATIENCE * 1000:.0f}").fetchall()
    _write_ahead(connection)
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}").fetchall()  # a fault may come with the second step only


def _write_ahead(connection: Any) -> None:
    """Give the file a write-ahead log, which it keeps.

    SQLite does not wait where two connections do so to a new file at once: it refuses one of them.
    """
    until = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").fetchall()
            return
        except sqlite3.OperationalError as fault:
            if "locked" not in str(fault) or time.monotonic() > until:
                raise
        time.sleep(_PAUSE)


def _upgrade(engine: Engine) -> None:
    """Create the tables, or run missing migrations, all or none.

    Concurrent processes take turns.
    """
    place = shown(engine.url)
    found = revision_of(engine)
    if found == REVISION:
        check_tables(engine, shown(engine.url))
        return
    refuse_newer(place, found)  # before its tables are taken for another program's
    if engine.dialect.name == "sqlite" and strangers(engine):
        raise StorageError(f"{place}: this file belongs to another program ({name_list(strangers(engine))}): use another file")
    with _migration_turn(engine) as connection:
        found = revision_of(engine)
        refuse_newer(place, found)
        if found is None:
            create_tables(connection)
            VERSION_TABLE.create(connection)
            connection.execute(insert(VERSION_TABLE).values(version_num=REVISION))
            connection.execute(insert(ledger_meta).values(name=TABLES, value=tables_digest()))
        elif found != REVISION:
            _migrate(connection, place, found)
            connection.execute(update(ledger_meta).where(ledger_meta.c.name == TABLES).values(value=tables_digest()))


def create_tables(connection: Connection) -> None:
    """Create every table of the newest revision in an empty database."""
    name_conditions(connection.dialect.name)
    metadata.create_all(connection, checkfirst=False)
    create_search_table(connection)
    connection.execute(text(QUALITY_VIEW))


def _migrate(connection: Connection, place: str, found: str) -> None:
    """Run the migrations after a revision.

    Raises:
        StorageError: no such revision is known.
    """
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError:
        raise StorageError(f"{place} is not a ledger: unknown revision {found!r}") from None


def refuse_newer(place: str, revision: str | None) -> None:
    """Reject a ledger of a later program version.

    Raises:
        StorageError: it is one.
    """
    if revision is not None and revision > REVISION:
        raise StorageError(f"{place} was created by a newer version of areopage (revision {revision}): update areopage")


@cache
def tables_digest() -> str:
    """Digest of the tables and their columns, by which a ledger of another state of the program is told."""
    tables = sorted(metadata.tables.items())
    return digest_of(
        [[str(name), [[str(one.name), str(one.type), one.nullable] for one in table.columns]] for name, table in tables]
    )


def check_tables(engine: Engine, place: str) -> None:
    """Reject a ledger of this revision that has other tables.

    Raises:
        StorageError: it does.
    """
    with engine.connect() as connection:
        found = connection.execute(select(ledger_meta.c.value).where(ledger_meta.c.name == TABLES)).scalar()
    if found != tables_digest():
        message = "was created by another version of areopage: use that version, or name another ledger"
        raise StorageError(f"{place} {message}")


def strangers(engine: Engine) -> list[str]:
    """The tables of a database that do not belong to a ledger."""
    return [name for name in inspect(engine).get_table_names() if not _is_ledger_table(name)]


def _is_ledger_table(name: str) -> bool:
    return name in metadata.tables or name in (VERSION_TABLE.name, SEARCH_TABLE) or name.startswith(f"{SEARCH_TABLE}_")


@contextmanager
def _migration_turn(engine: Engine) -> Iterator[Connection]:
    """A connection with an exclusive lock for migration, in one transaction."""
    if engine.dialect.name == "sqlite":
        with held(Path(f"{engine.url.database}.migrate.lock")), engine.connect() as connection:
            # the driver begins no transaction before CREATE TABLE: a process killed in between would leave half a ledger
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection
            connection.commit()
        return
    with engine.connect() as guard, engine.connect() as connection:
        guard.execute(text("SELECT pg_advisory_lock(:number)"), {"number": MIGRATION_LOCK})
        try:
            yield connection
            connection.commit()
        finally:
            guard.execute(text("SELECT pg_advisory_unlock(:number)"), {"number": MIGRATION_LOCK})


def revision_of(engine: Engine) -> str | None:
    """The revision of a database; None without tables."""
    with engine.connect() as connection:
        if not inspect(connection).has_table(VERSION_TABLE.name):
            return None
        return connection.execute(select(VERSION_TABLE.c.version_num)).scalar()


@contextmanager
def storage_errors(place: str) -> Iterator[None]:
    """Convert database and system errors into one line for the user."""
    try:
        yield
    except DBAPIError as error:
        reason = str(error.orig).splitlines()[0] if str(error.orig) else type(error.orig).__name__
        if "disk is full" in reason or "disk I/O error" in reason or "No space left" in reason:
            reason = f"no space left to write ({reason}): free some space"
        elif "readonly database" in reason or "unable to open database file" in reason:
            reason = f"cannot be opened or written ({reason}): use a file in a writable folder"
        elif "no such table" in reason:
            reason = f"its tables are gone ({reason}): the file was deleted or replaced, put it back"
        elif "file is not a database" in reason:
            reason = "this file is not a ledger: name another one"
        raise StorageError(f"{place}: {reason}") from error
    except NoConnectionFree as error:
        raise StorageError(f"{place}: too many connections wait for it: retry later") from error
    except OSError as error:
        raise StorageError(f"{place}: {error.strerror or error}") from error


def shown(url: URL) -> str:
    """A database URL as users write it, without its password; a SQLite file's path."""
    if url.drivername == "sqlite" and url.database:
        return url.database
    url = url.set(drivername=url.get_backend_name())
    return url.difference_update_query(["password"]).render_as_string(hide_password=True)
