"""Open the ledger of a configuration."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from areopage.app.config import AppConfig
from areopage.errors import UnknownRun
from areopage.ledger import Ledger


@contextmanager
def open_ledger(
    config: AppConfig,
    *,
    create: bool = False,
    read_only: bool = False,
    or_empty: Callable[[str], None] | None = None,
    advice: str = "give --ledger PLACE, or name it in areopage.yml",
) -> Iterator[Ledger]:
    """The ledger of a configuration, open.

    Args:
        read_only: nothing is created, migrated or written; the medium may be read-only.
        create: make it where it is missing; else a missing one is an error, so that a wrong folder is noticed.
        or_empty: for commands that only read: where a configuration file names a ledger that is not there yet, call this with
            one line about it, and open an empty ledger that is gone afterwards.
        advice: what to do where there is none.

    Raises:
        UnknownRun: there is no ledger.
        StorageError, MissingExtra: it cannot be opened.
    """
    place, here = config.ledger, Path.cwd()
    if "://" not in place and Path(place).is_relative_to(here):
        place = str(Path(place).relative_to(here))
    if read_only and ledger_exists(config):
        with Ledger.open_to_read(place) as ledger:
            yield ledger
        return
    if create or ledger_exists(config):
        with Ledger.open(place) as ledger:
            yield ledger
        return
    if or_empty is None or config.document is None:
        raise UnknownRun(f"there is no ledger {place}: {advice}")
    or_empty(f"no answers yet: the first one that is submitted makes {place}")
    with TemporaryDirectory(prefix="areopage-") as folder, Ledger.open(Path(folder) / "ledger.db") as ledger:
        yield ledger


def ledger_exists(config: AppConfig) -> bool:
    """Whether a configuration's ledger is a file that is there, or a database's URL."""
    return "://" in config.ledger or Path(config.ledger).is_file()
