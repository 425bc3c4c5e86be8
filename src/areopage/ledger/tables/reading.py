"""Open a ledger to read only: nothing is created, migrated or written, and the medium may be read-only."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from sqlalchemy import Engine, create_engine, event, inspect
from sqlalchemy.exc import NoSuchModuleError

from areopage.errors import EmptyLedger, MissingExtra, StorageError
from areopage.ledger.tables.connection import (
    PATIENCE,
    check_tables,
    not_a_ledger_url,
    refuse_newer,
    revision_of,
    shown,
    storage_errors,
    strangers,
    url_of,
)
from areopage.ledger.tables.schema import REVISION


@contextmanager
def engine_to_read(location: str | Path) -> Iterator[Engine]:
    """Open a SQLite file or a database URL to read only.

    Of a SQLite file that a process has open, this is another reader. Any other file is read as it lies there, without locks;
    where a log (`-wal`) lies beside it that no process has open, copies of both are read.

    Raises:
        EmptyLedger: there is no table.
        StorageError: it cannot be read, is not a ledger, was made by another version, or was changed while it was read.
        MissingExtra: PostgreSQL's driver is not installed.
    """
    url = url_of(location)
    place = shown(url)
    if url.drivername != "sqlite":
        with _postgres(url, place) as engine:
            yield engine
        return
    path = Path(url.database or "")
    with storage_errors(place):
        log, shared = (path.with_name(path.name + end) for end in ("-wal", "-shm"))
        is_shared = log.exists() and shared.exists() and os.access(shared, os.W_OK) and os.access(path.parent, os.W_OK)
        if is_shared:
            with _sqlite(path, place, "mode=ro") as engine:
                yield engine
        elif log.exists() and log.stat().st_size:
            with TemporaryDirectory(prefix="areopage-") as folder:
                for one in (path, log):
                    shutil.copyfile(one, Path(folder) / one.name)
                with _sqlite(Path(folder) / path.name, place, "mode=ro") as engine:
                    yield engine
        else:
            before = _state(path)
            with _sqlite(path, place, "mode=ro&immutable=1") as engine:
                yield engine
            if _state(path) != before:
                raise StorageError(f"{place} was changed while it was read: run the command again")


def _state(path: Path) -> tuple[int, int, bool]:
    found, log = path.stat(), path.with_name(f"{path.name}-wal")
    return found.st_size, found.st_mtime_ns, log.exists() and log.stat().st_size > 0


@contextmanager
def _sqlite(path: Path, place: str, options: str) -> Iterator[Engine]:
    engine = create_engine(f"sqlite:///file:{quote(str(path.absolute()))}?{options}&uri=true")
    event.listen(engine, "connect", _only_read)
    with _checked(engine, place):
        yield engine


@contextmanager
def _postgres(url: Any, place: str) -> Iterator[Engine]:
    try:
        engine = create_engine(url, execution_options={"postgresql_readonly": True})
    except ModuleNotFoundError:
        raise MissingExtra("a PostgreSQL ledger", "postgres") from None
    except NoSuchModuleError:
        raise not_a_ledger_url(place) from None
    with storage_errors(place), _checked(engine, place):
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


def _only_read(connection: Any, _record: Any) -> None:
    connection.execute(f"PRAGMA busy_timeout={PATIENCE * 1000:.0f}").fetchall()
    connection.execute("PRAGMA query_only=ON").fetchall()
