"""Open a ledger's database and migrate it to the newest revision, or open it to read only."""

import os
import re
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

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
from areopage.errors import EmptyLedger, MissingExtra, StorageError, name_list
from areopage.file_lock import locked
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
_THRESHOLD = "prepare_threshold"
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
    engine = _engine(url)
    with storage_errors(shown(url)):
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", set_sqlite_pragmas)
            file = Path(url.database or "").resolve()  # of a link: the file that it leads to
            make_folder(file.parent)
            make_private_file(file)
        try:
            _upgrade(engine)
        except BaseException:
            engine.dispose()
            raise
    return engine


def _engine(url: URL, **options: Any) -> Engine:
    if url.get_backend_name() == "postgresql":
        # without it a database in SQL_ASCII sends bytes for texts
        arguments: dict[str, Any] = {} if "client_encoding" in url.query else {"client_encoding": "utf8"}
        if isinstance(threshold := url.query.get(_THRESHOLD), str):
            if not re.fullmatch(r"none|\d{1,9}", threshold, re.ASCII):
                raise StorageError(f"{shown(url)}: {_THRESHOLD} must be a whole number, or none for no prepared statements")
            arguments[_THRESHOLD] = None if threshold == "none" else int(threshold)
            url = url.difference_update_query([_THRESHOLD])
        # the server, or a proxy before it, may have ended a connection that was not in use
        options |= {"connect_args": arguments, "pool_pre_ping": True}
    try:
        return create_engine(url, **options)
    except ModuleNotFoundError:
        raise MissingExtra("a PostgreSQL ledger", "postgres") from None
    except NoSuchModuleError:
        raise not_a_ledger_url(shown(url)) from None


@contextmanager
def engine_to_read(location: str | Path) -> Iterator[Engine]:
    """Open a SQLite file or a database URL to read only: nothing is created, migrated or written.

    Of a SQLite file that a process has open, this is another reader. Any other file is read as it lies there, without locks, and
    its medium may be read-only; where a log (`-wal`) lies beside it that no process has open, copies of both are read.

    Raises:
        EmptyLedger: there is no table.
        StorageError: it cannot be read, is not a ledger, was made by another version, or was changed while it was read.
        MissingExtra: PostgreSQL's driver is not installed.
    """
    url = url_of(location)
    place = shown(url)
    if url.drivername != "sqlite":
        with storage_errors(place), _checked(_engine(url, execution_options={"postgresql_readonly": True}), place) as engine:
            yield engine
        return
    path = Path(url.database or "").resolve()  # the log lies beside the file, not beside a link to it
    with storage_errors(place):
        log, shared = (path.with_name(path.name + end) for end in ("-wal", "-shm"))
        is_shared = log.exists() and shared.exists() and os.access(shared, os.W_OK) and os.access(path.parent, os.W_OK)
        if is_shared:
            with _sqlite_to_read(path, place, {"mode": "ro"}) as engine:
                yield engine
        elif log.exists() and log.stat().st_size:
            with TemporaryDirectory(prefix="areopage-") as folder:
                for file in (path, log):
                    shutil.copyfile(file, Path(folder) / file.name)
                with _sqlite_to_read(Path(folder) / path.name, place, {"mode": "ro"}) as engine:
                    yield engine
        else:
            before = _state(path)
            with _sqlite_to_read(path, place, {"mode": "ro", "immutable": "1"}) as engine:
                yield engine
            if _state(path) != before:
                raise StorageError(f"{place} was changed while it was read: run the command again")


def _state(path: Path) -> tuple[int, int, bool]:
    file, log = path.stat(), path.with_name(f"{path.name}-wal")
    return file.st_size, file.st_mtime_ns, log.exists() and log.stat().st_size > 0


@contextmanager
def _sqlite_to_read(path: Path, place: str, options: dict[str, str]) -> Iterator[Engine]:
    def only_read(connection: Any, _record: Any) -> None:
        connection.execute(f"PRAGMA busy_timeout={PATIENCE * 1000:.0f}").fetchall()
        connection.execute("PRAGMA query_only=ON").fetchall()

    name = f"file:{quote(str(path.absolute()))}"  # SQLite decodes it; as a part of a URL it would be decoded twice
    engine = create_engine(URL.create("sqlite", database=name, query=options | {"uri": "true"}))
    event.listen(engine, "connect", only_read)
    with _checked(engine, place):
        yield engine


@contextmanager
def _checked(engine: Engine, place: str) -> Iterator[Engine]:
    """An engine whose tables are those of this version; its connections end with it."""
    try:
        revision = revision_of(engine)
        if revision is None:
            if strangers(engine):
                raise StorageError(f"{place}: this file belongs to another program: name another one")
            if not inspect(engine).get_table_names():
                raise EmptyLedger(f"{place} is empty: it holds no table of a ledger")
        refuse_newer(place, revision)
        if revision != REVISION:
            raise StorageError(
                f"{place} was created by another version of areopage (unknown revision {revision!r}): use that version"
            )
        check_tables(engine, place)
        yield engine
    finally:
        engine.dispose()


def url_of(location: str | Path) -> URL:
    """The URL of a ledger; a path with any characters is a SQLite file. Other URLs are errors."""
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
    """Create a folder, and what is missing above it, for its owner alone."""
    try:
        for part in (*reversed(folder.parents), folder):
            if not part.is_dir():
                part.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError:
        raise StorageError(f"{folder} cannot be created: {part} is not a folder") from None
    except OSError as error:
        raise StorageError(f"{folder} cannot be created: {error.strerror}") from None


def make_private_file(path: Path) -> None:
    """Create an empty file for its owner alone, unless it exists or cannot be created.

    SQLite gives the files beside a database (`-wal`, `-shm`) the permissions of the database.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def set_sqlite_pragmas(connection: Any, _record: Any) -> None:
    """Configure a new SQLite connection; secure_delete overwrites erased or replaced data with zeros."""
    connection.execute(f"PRAGMA busy_timeout={PATIENCE * 1000:.0f}").fetchall()
    # the file keeps its write-ahead log; of two connections that give one to a new file at once SQLite refuses one, at once
    until = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").fetchall()
            break
        except sqlite3.OperationalError as fault:
            if "locked" not in str(fault) or time.monotonic() > until:
                raise
        time.sleep(_PAUSE)
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}").fetchall()  # a fault may come with the second step only


def _upgrade(engine: Engine) -> None:
    """Create the tables, or run missing migrations, all or none; concurrent processes take turns."""
    place = shown(engine.url)
    revision = revision_of(engine)
    if revision == REVISION:
        check_tables(engine, place)
        return
    refuse_newer(place, revision)  # before its tables are taken for another program's
    if engine.dialect.name == "sqlite" and strangers(engine):
        raise StorageError(f"{place}: this file belongs to another program ({name_list(strangers(engine))}): use another file")
    with _migration_turn(engine) as connection:
        revision = revision_of(engine)
        refuse_newer(place, revision)
        if revision is None:
            _check_encoding(connection, place)
            create_tables(connection)
            VERSION_TABLE.create(connection)
            connection.execute(insert(VERSION_TABLE).values(version_num=REVISION))
            connection.execute(insert(ledger_meta).values(name=TABLES, value=tables_digest()))
        elif revision != REVISION:
            from alembic import command
            from alembic.config import Config
            from alembic.util import CommandError

            config = Config()
            config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
            config.attributes["connection"] = connection
            try:
                command.upgrade(config, "head")
            except CommandError:
                raise StorageError(f"{place} is not a ledger: unknown revision {revision!r}") from None
            connection.execute(update(ledger_meta).where(ledger_meta.c.name == TABLES).values(value=tables_digest()))


def _check_encoding(connection: Connection, place: str) -> None:
    """Reject a database that cannot hold every character."""
    if connection.dialect.name != "postgresql":
        return
    encoding = connection.execute(text("SHOW server_encoding")).scalar()
    if encoding != "UTF8":
        advice = "create one by: CREATE DATABASE name TEMPLATE template0 ENCODING 'UTF8'"
        raise StorageError(f"{place}: the database has the encoding {encoding}, and a ledger needs UTF8: {advice}")


def create_tables(connection: Connection) -> None:
    """Create every table of the newest revision in an empty database."""
    name_conditions(connection.dialect.name)
    metadata.create_all(connection, checkfirst=False)
    create_search_table(connection)
    connection.execute(text(QUALITY_VIEW))


def refuse_newer(place: str, revision: str | None) -> None:
    """Reject a ledger of a later program version."""
    if revision is not None and revision > REVISION:
        raise StorageError(f"{place} was created by a newer version of areopage (revision {revision}): update areopage")


@cache
def tables_digest() -> str:
    """Digest of the tables and their columns, by which a ledger of another state of the program is told."""
    tables = sorted(metadata.tables.items())
    return digest_of(
        [
            [str(name), [[str(column.name), str(column.type), column.nullable] for column in table.columns]]
            for name, table in tables
        ]
    )


def check_tables(engine: Engine, place: str) -> None:
    """Reject a ledger of this revision that has other tables."""
    with engine.connect() as connection:
        stored = connection.execute(select(ledger_meta.c.value).where(ledger_meta.c.name == TABLES)).scalar()
    if stored != tables_digest():
        message = "was created by another version of areopage: use that version, or name another ledger"
        raise StorageError(f"{place} {message}")


def strangers(engine: Engine) -> list[str]:
    """The tables of a database that do not belong to a ledger."""
    ours = {*metadata.tables, VERSION_TABLE.name, SEARCH_TABLE}
    names = inspect(engine).get_table_names()
    return [name for name in names if name not in ours and not name.startswith(f"{SEARCH_TABLE}_")]


@contextmanager
def _migration_turn(engine: Engine) -> Iterator[Connection]:
    """A connection with an exclusive lock for migration, in one transaction."""
    if engine.dialect.name == "sqlite":
        with locked(Path(f"{engine.url.database}.migrate.lock")), engine.connect() as connection:
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
        if "disk is full" in reason or "No space left" in reason:
            reason = f"no space left to write ({reason}): free some space"
        elif "disk I/O error" in reason or "locking protocol" in reason:
            advice = "see whether there is space left, and keep the ledger on a local disk, or in PostgreSQL: SQLite needs locks"
            reason = f"the disk failed ({reason}): {advice} that network folders often lack"
        elif "database is locked" in reason:
            reason = f"another process keeps it locked ({reason}): wait for that process or end it, then retry"
        elif "malformed" in reason:
            reason = f"the file is damaged ({reason}): put a copy of it back"
        elif "read-only transaction" in reason:
            reason = f"the database is read-only ({reason}): name the primary server, or a user who may write"
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
