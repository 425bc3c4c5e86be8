"""Where a command finds runs, their configuration and their ledger."""

from collections.abc import Iterator
from contextlib import contextmanager

from areopage.app import AppConfig, find_config, open_ledger
from areopage.cli.options import Places
from areopage.ledger import Ledger


@contextmanager
def opened_ledger(places: Places, *, create: bool = False, read_only: bool = False) -> Iterator[Ledger]:
    """The ledger that is named (by an option, the environment or the configuration), else the one in the folder of the runs.

    Args:
        create: make it where it is missing; else a missing one is an error, so that a wrong folder is noticed.
        read_only: nothing is created, migrated or written; the medium may be read-only.

    Raises:
        UnknownRun: there is no ledger.
        StorageError, MissingExtra: it cannot be opened.
    """
    advice = "give --out DIR or --ledger of the runs"
    with open_ledger(configured(places), create=create, read_only=read_only, advice=advice) as ledger:
        yield ledger


def configured(places: Places) -> AppConfig:
    """The user's configuration, with the ledger in the folder of the runs where it names none."""
    config = find_config(places.config, places.ledger)
    return config if config.shared.ledger else config.on_ledger(str(places.out / "ledger.db"))
