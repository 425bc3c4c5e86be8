"""Progress of long commands on stderr: a live line on a terminal, else plain lines."""

import sys
import time
from contextlib import AbstractContextManager, nullcontext

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from areopage.rag.ingestion.ingest import IngestProgress

PLAIN_EVERY, TERMINAL_EVERY = 10.0, 1.0


class Pace:
    """Prints progress with rate and time left."""

    def __init__(self, name: str, total: int) -> None:
        self._name, self._total = name, total
        self._began = self._last = time.monotonic()
        self._live = sys.stderr.isatty()
        self._every = TERMINAL_EVERY if self._live else PLAIN_EVERY
        self._shown = 0

    def moved(self, done: int) -> None:
        """Report that `done` items are complete."""
        now = time.monotonic()
        if now - self._last < self._every:
            return
        self._last = now
        rate = done / max(1e-6, now - self._began)
        left = max(0, self._total - done) / max(1e-6, rate)
        line = f"{self._name}: {done:,} of {self._total:,}, {rate:,.0f}/s, {left:,.0f} s left"
        end = "" if self._live else "\n"
        print(("\r" if self._live else "") + line.ljust(self._shown if self._live else 0), end=end, file=sys.stderr, flush=True)
        self._shown = len(line)

    def finish(self) -> None:
        """Clear the terminal's line."""
        if self._live and self._shown:
            print("\r" + " " * self._shown + "\r", end="", file=sys.stderr, flush=True)
            self._shown = 0


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

    def show(self, progress: IngestProgress) -> None:
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
