"""Where a command finds runs, their configuration and their ledger."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from areopage.app import AppConfig, find_config, open_ledger
from areopage.ledger import Ledger


class Places(Struct, frozen=True, kw_only=True):
    """Where the user wants runs and their ledger; `config` and `ledger` are None unless they were named."""

    out: Path
    config: Path | None
    ledger: str | None
    allowed_variables: tuple[str, ...] = ()

    def command(self, ledger: Ledger, name: str, *runs: str) -> str:
        """A command of `areopage bench` on runs, without a database's password."""
        allowed = self.allowed_variables if name == "resume" else ()
        variables = [part for variable in allowed for part in ("--allow-variable", variable)]
        return shlex.join(["areopage", "bench", name, *runs, *self.options(ledger), *variables])

    def options(self, ledger: Ledger) -> tuple[str, ...]:
        """The options that name these places, without a database's password."""
        named = ["--config", str(self.config)] if self.config else []
        named += ["--ledger", ledger.place if "://" in self.ledger else self.ledger] if self.ledger else []
        return ("--out", str(self.out), *named)


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
