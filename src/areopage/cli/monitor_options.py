"""Options that every command about a monitor shares."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from areopage.ledger.store import Ledger
    from areopage.monitor.config import MonitorConfig

ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="The monitor's configuration; default $AREOPAGE_MONITOR, else monitor.yml here if any."
    ),
]


def monitor_config(path: Path | None) -> "MonitorConfig":
    """The configuration that is named, else the environment's, else `monitor.yml` here, else the defaults.

    Raises:
        ConfigError: the file is missing or wrong.
    """
    from areopage.monitor.config import CONFIG_FILE, CONFIG_VARIABLE, default_config, load_monitor_config

    named = path or (Path(os.environ[CONFIG_VARIABLE]) if os.environ.get(CONFIG_VARIABLE) else None)
    if named is None and Path(CONFIG_FILE).is_file():
        named = Path(CONFIG_FILE)
    return load_monitor_config(named) if named else default_config(Path())


@contextmanager
def monitor_ledger(config: "MonitorConfig", *, create: bool = False) -> Iterator["Ledger"]:
    """The monitor's ledger, open.

    Args:
        create: make it where it is missing; else a missing one is an error, so that a wrong folder is noticed.

    Raises:
        UnknownRun: there is no ledger.
        StorageError, MissingExtra: it cannot be opened.
    """
    from areopage.errors import UnknownRun
    from areopage.ledger.store import Ledger

    if not create and "://" not in config.ledger and not Path(config.ledger).is_file():
        raise UnknownRun(f"there is no ledger {config.ledger}: submit an answer first, or name another one in monitor.yml")
    opened = Ledger.open(config.ledger)
    try:
        yield opened
    finally:
        opened.close()
