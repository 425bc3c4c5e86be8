"""Open a ledger's database and bring it to the newest revision."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock
from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from areopage.errors import MissingExtra, StorageError
from areopage.ledger.tables import REVISION

MIGRATIONS = Path(__file__).parent / "migrations"
MIGRATION_LOCK = 0x41524541  # any fixed number: PostgreSQL's advisory lock of migrations


def open_engine(location: str | Path) -> Engine:
    """Open a SQLite file (created where it is missing) or a database URL.

    SQLite runs in WAL mode with synchronous=NORMAL: a commit survives the death of the process, and the last few may be lost
    to a power cut, never the file.

    Raises:
        StorageError: the place cannot be written, is not a ledger, or was made by a newer version.
        MissingExtra: PostgreSQL's driver is not installed.
    """
    url = location if isinstance(location, str) and "://" in location else f"sqlite:///{location}"
    if url.startswith("postgresql://"):
        url = url.replace("postgresql://", "postgresql+psycopg://", 1)
    if url.startswith("sqlite:///"):
        make_folder(Path(url.removeprefix("sqlite:///")).parent)
    try:
        engine = create_engine(url)
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", set_sqlite_pragmas)
    except (ArgumentError, NoSuchModuleError):
        raise StorageError(f"{shown(url)} is not a database URL: give a SQLite file or postgresql://...") from None
    except ModuleNotFoundError:
        raise MissingExtra("a PostgreSQL ledger", "postgres") from None
    with storage_errors(shown(url)):
        upgrade(engine, url)
    return engine


def make_folder(folder: Path) -> None:
    """Create a folder.

    Raises:
        StorageError: it cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{folder} cannot be created: {error.strerror}") from None


def set_sqlite_pragmas(connection: Any, _record: Any) -> None:
    """What each new SQLite connection is told."""
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=30000", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def upgrade(engine: Engine, url: str) -> None:
    """Run the migrations that are missing; two processes at once take turns."""
    if revision_of(engine) == REVISION:
        return
    from alembic import command
    from alembic.config import Config

    with migration_turn(engine, url) as connection:
        found = revision_of(engine)
        if found is not None and found > REVISION:
            raise StorageError(f"{shown(url)} was made by a newer areopage (revision {found}): update areopage")
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


@contextmanager
def migration_turn(engine: Engine, url: str) -> Iterator[Connection]:
    """A connection that no other process migrates with at the same time."""
    if engine.dialect.name == "sqlite":
        with FileLock(url.removeprefix("sqlite:///") + ".migrate.lock"), engine.connect() as connection:
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
    """The revision of a database; None where it has none yet."""
    with engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


@contextmanager
def storage_errors(place: str) -> Iterator[None]:
    """Turn the database's and the system's errors into one line for the user."""
    try:
        yield
    except DBAPIError as error:
        reason = str(error.orig).splitlines()[0] if str(error.orig) else type(error.orig).__name__
        if "disk is full" in reason or "disk I/O error" in reason or "No space left" in reason:
            reason = f"no space left to write ({reason}): free some space"
        elif "readonly database" in reason or "unable to open database file" in reason:
            reason = f"no permission to write there ({reason})"
        elif "file is not a database" in reason:
            reason = "this file is not a ledger: name another one"
        raise StorageError(f"{place}: {reason}") from error
    except OSError as error:
        raise StorageError(f"{place}: {error.strerror or error}") from error


def shown(url: str) -> str:
    """A database URL as it may be shown: without its password."""
    try:
        return url.removeprefix("sqlite:///") if url.startswith("sqlite") else make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return "this"
