"""Where runs and their ledger lie."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from areopage.ledger.store import Ledger

OUTPUTS = Path("outputs")
LEDGER_VARIABLE = "AREOPAGE_LEDGER"

OutOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the runs and of their ledger.")]
LedgerOption = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="FILE|URL",
        help=f"Ledger: a SQLite file or postgresql://...; default DIR/ledger.db, or ${LEDGER_VARIABLE}.",
    ),
]


def ledger_location(out: Path, ledger: str | None) -> str:
    """The ledger that is named, else the environment's, else the one in the folder of the runs."""
    return ledger or os.environ.get(LEDGER_VARIABLE) or str(out / "ledger.db")


@contextmanager
def open_ledger(out: Path, ledger: str | None, *, create: bool = False) -> Iterator["Ledger"]:
    """An open ledger.

    Args:
        create: make it where it is missing; else a missing one is an error, so that a wrong folder is noticed.

    Raises:
        UnknownRun: there is no ledger.
        StorageError, MissingExtra: it cannot be opened.
    """
    from areopage.errors import UnknownRun
    from areopage.ledger.store import Ledger

    location = ledger_location(out, ledger)
    if not create and "://" not in location and not Path(location).is_file():
        raise UnknownRun(f"there is no ledger {location}: give --out DIR or --ledger of the runs")
    opened = Ledger.open(location)
    try:
        yield opened
    finally:
        opened.close()
