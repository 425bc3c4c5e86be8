"""Where a word stands in a ledger: its tables, and the bytes of its files."""

from pathlib import Path

from sqlalchemy import text

from areopage.ledger.read.search import SEARCH_TABLE
from areopage.ledger.store import Ledger
from areopage.ledger.tables.schema import metadata


def files_with(ledger: Ledger, word: str) -> list[str]:
    """The files of a SQLite ledger in which a word stands, in any case."""
    path = Path(ledger.place)
    wanted = word.lower().encode()
    return [one.name for one in path.parent.iterdir() if one.name.startswith(path.name) and wanted in one.read_bytes().lower()]


def tables_with(ledger: Ledger, word: str) -> list[str]:
    """The tables in which a word stands."""
    names = [*metadata.tables, SEARCH_TABLE]
    with ledger.engine.connect() as connection:
        rows = {name: connection.execute(text(f'SELECT * FROM "{name}"')).all() for name in names}
    return [name for name, found in rows.items() if word.lower() in str(found).lower()]
