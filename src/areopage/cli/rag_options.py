"""Options that every command about the answering pipeline shares."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from areopage.monitor.config import MonitorConfig
    from areopage.rag.config import RagConfig

RagOption = Annotated[
    Path | None,
    typer.Option("--rag", metavar="FILE", help="The pipeline's configuration; default $AREOPAGE_RAG, else rag.yml here if any."),
]


def rag_config(path: Path | None) -> "RagConfig":
    """The configuration that is named, else the environment's, else `rag.yml` here, else the defaults.

    Raises:
        ConfigError: the file is missing or wrong.
    """
    from areopage.rag.config import default_rag_config

    return named_rag_config(path) or default_rag_config(Path())


def named_rag_config(path: Path | None) -> "RagConfig | None":
    """The same; None where nobody named one and there is none here.

    Raises:
        ConfigError: the file is missing or wrong.
    """
    from areopage.rag.config import CONFIG_FILE, CONFIG_VARIABLE, load_rag_config

    named = path or (Path(os.environ[CONFIG_VARIABLE]) if os.environ.get(CONFIG_VARIABLE) else None)
    if named is None and Path(CONFIG_FILE).is_file():
        named = Path(CONFIG_FILE)
    return load_rag_config(named) if named else None


def one_ledger_config(path: Path | None) -> "MonitorConfig":
    """The monitor's configuration (see `monitor_config`), on the ledger that `rag.yml` means where there is one.

    Raises:
        ConfigError: a file is missing or wrong, or they name different ledgers.
    """
    from areopage.cli.monitor_options import monitor_config

    monitor, rag = monitor_config(path), named_rag_config(None)
    return on_one_ledger(monitor, rag) if rag else monitor


def on_one_ledger(monitor: "MonitorConfig", rag: "RagConfig") -> "MonitorConfig":
    """The monitor's configuration on the ledger that both files mean: the one that either of them names, else the default.

    Raises:
        ConfigError: they name different ones.
    """
    from msgspec import structs

    if not rag.section.ledger:
        return monitor
    if not monitor.section.ledger:
        return structs.replace(monitor, section=monitor.section.model_copy(update={"ledger": rag.ledger}))
    if monitor.ledger != rag.ledger:
        raise rag.fault(
            f"is {rag.ledger}, and monitor.yml names {monitor.ledger}: name one ledger for both, or leave one out", "ledger"
        )
    return monitor
