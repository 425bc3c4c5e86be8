"""Options that every command about a monitor shares."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Literal

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
def monitor_ledger(
    config: "MonitorConfig", *, create: bool = False, missing: Literal["error", "empty"] = "error"
) -> Iterator["Ledger"]:
    """The monitor's ledger, open.

    Args:
        create: make it where it is missing.
        missing: what else becomes of a missing file: an error, or, for those who only read and have a configuration, a ledger
            without answers that is gone afterwards. Without a configuration it is an error: the folder may be the wrong one.

    Raises:
        UnknownRun: there is no ledger.
        StorageError, MissingExtra: it cannot be opened.
    """
    from areopage.errors import UnknownRun
    from areopage.ledger.store import Ledger

    if create or "://" in config.ledger or Path(config.ledger).is_file():
        opened = Ledger.open(config.ledger)
        try:
            yield opened
        finally:
            opened.close()
        return
    if missing == "error" or config.document is None:
        raise UnknownRun(f"there is no ledger {config.ledger}: submit an answer first, or name another one in monitor.yml")
    typer.echo(f"no answers yet: the first one that is handed over makes {config.ledger}", err=True)
    with TemporaryDirectory(prefix="areopage-") as folder:
        opened = Ledger.open(Path(folder) / "ledger.db")
        try:
            yield opened
        finally:
            opened.close()
