"""New ledgers as copies of one whose tables are made once in each process."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from areopage.ledger.store import Ledger


def new_ledger(path: Path) -> Ledger:
    """An open, empty ledger in a new file; its folder is made where it is missing."""
    return Ledger.open(new_ledger_file(path))


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
