"""Ledgers whose tables are copied from one that is made once in each process."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from areopage.ledger.store import Ledger


def ledger_at(path: Path) -> Ledger:
    """An open ledger in a file; where the file is not there, it is a new one."""
    return Ledger.open(path if path.exists() else new_ledger_file(path))


def new_ledger_file(path: Path) -> Path:
    """A new file with an empty ledger."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(_empty_ledger())
    return path


@cache
def _empty_ledger() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        Ledger.open(path).close()
        return path.read_bytes()
