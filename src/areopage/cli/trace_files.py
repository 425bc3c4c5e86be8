"""The files beside the ledger, for whoever erases answers: what goes from them, and what may still lie elsewhere."""

from collections.abc import Collection
from datetime import datetime

import typer

ELSEWHERE = "trace files of other folders and computers, logs that were imported, exports, data sets and backups"


def erase_files(ids: Collection[str] | None, moment: datetime | None) -> str:
    """Erase answers from the trace files, by their ids or before a moment, and say what was done there.

    Returns:
        Why a file may still hold them; "" where none does.

    Raises:
        ConfigError: see `rag_config`.
    """
    from areopage.cli.rag_options import rag_config
    from areopage.errors import StorageError
    from areopage.rag.logs.erase_traces import ErasedTraces, erase_traces, erase_traces_before

    config, erased = rag_config(None), ErasedTraces()
    folder = config.path(config.section.traces.folder)
    try:
        if ids:
            erased = erase_traces(folder, set(ids))
        elif moment is not None:
            erased = erase_traces_before(folder, moment)
    except StorageError as fault:
        return str(fault)
    done = f"{erased.lines:,} lines emptied, {erased.snapshots:,} snapshots removed"
    typer.echo(f"trace files in {folder}: {done}; not looked into: {ELSEWHERE}", err=True)
    return ""
