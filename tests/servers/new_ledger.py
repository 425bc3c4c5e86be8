"""Ledgers and queues that are copied from one that is made once in each process."""

import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from sqlalchemy import make_url

from areopage.ledger.store import Ledger

QUEUE = ".queue.db"


def ledger_at(path: Path) -> Ledger:
    """An open ledger in a file; where the file is not there, it is a new one."""
    return Ledger.open(path if path.exists() else new_ledger_file(path))


def new_ledger_file(path: Path) -> Path:
    """A new file with an empty ledger."""
    return ledger_file(path, _nothing)


def ledger_file(path: Path, fill: Callable[[Ledger], object]) -> Path:
    """A new file with what a function puts into an empty ledger; the function is called once in each process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(_filled(fill))
    return path


@contextmanager
def copied_ledgers() -> Iterator[None]:
    """While it lasts, a new file of a ledger begins as a copy of an empty one that is made once in this process."""
    content = _filled(_nothing)

    def make(path: Path) -> None:
        with suppress(OSError), os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)

    with mock.patch("areopage.ledger.tables.connection.make_private_file", make):
        yield


@cache
def _filled(fill: Callable[[Ledger], object]) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        ledger = Ledger.open(path) if fill is _nothing else ledger_at(path)
        fill(ledger)
        ledger.close()
        return path.read_bytes()


def new_queue_file(ledger: Path) -> None:
    """A new file beside a ledger with an empty queue, as the first worker at a ledger makes it."""
    with Path(f"{ledger}{QUEUE}").open("xb") as file:
        file.write(_empty_queue())


@contextmanager
def copied_queues() -> Iterator[None]:
    """While it lasts, dbos makes the tables of a queue's file as a copy of those it has made once in this process."""
    if "dbos" not in sys.modules:
        yield
        return
    from dbos import DBOS

    content, migrate = _empty_queue(), DBOS.migrate

    def make(url: str) -> None:
        if not url.startswith("sqlite"):
            migrate(url)
            return
        place = Path(make_url(url).database or "")
        template = place.with_name(f"{place.name}.template")
        template.write_bytes(content)
        with closing(sqlite3.connect(template)) as source, closing(sqlite3.connect(place)) as target:
            source.backup(target)
        template.unlink()

    with mock.patch.object(DBOS, "migrate", make):
        yield


@cache
def _empty_queue() -> bytes:
    from areopage.work.queue import Queue

    with TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger.db"
        url = make_url(f"sqlite:///{ledger}")
        Queue(url, (), None, "none").connect()
        with closing(sqlite3.connect(f"{ledger}{QUEUE}")) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return Path(f"{ledger}{QUEUE}").read_bytes()


def _nothing(_: Ledger) -> None:
    pass
