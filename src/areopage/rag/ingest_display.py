"""Progress of an ingestion."""

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from areopage.cli import PLAIN_EVERY

if TYPE_CHECKING:
    from areopage.rag.ingestion.ingest import IngestProgress


class IngestDisplay:
    """Shows the progress of an ingestion; use as `with`."""

    def __init__(self, console: Console) -> None:
        self._bar = (
            Progress(
                TextColumn("ingesting"),
                BarColumn(bar_width=24),
                TaskProgressColumn(),
                TextColumn("{task.fields[rate]}", markup=False),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                console=console,
                refresh_per_second=4,
                transient=True,
            )
            if console.is_terminal
            else None
        )
        self._task = self._bar.add_task("", rate="") if self._bar else None
        self._open: AbstractContextManager[object] = self._bar or nullcontext()
        self._began = self._last = time.monotonic()

    def __enter__(self) -> "IngestDisplay":
        self._open.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Remove the bar."""
        self._open.__exit__(None, None, None)

    def show(self, progress: "IngestProgress") -> None:
        """Show the latest progress."""
        now = time.monotonic()
        elapsed = max(1e-6, now - self._began)
        rate = f"{progress.embedded} chunks, {progress.embedded / elapsed:.1f}/s"
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, total=progress.total, completed=progress.done, rate=rate)
        elif now - self._last >= PLAIN_EVERY and progress.done:
            self._last = now
            left = elapsed * (progress.total - progress.done) / progress.done
            share = progress.done / progress.total
            print(f"ingesting: {share:.0%} of the files, {rate}, {left:.0f} s left", file=sys.stderr, flush=True)
