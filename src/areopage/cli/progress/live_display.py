"""Live progress on a terminal: of a run of this process, and of one that workers carry out."""

import sys
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from areopage.bench import AskedModels, PhaseProgress, RunProgress
from areopage.cli.options import duration
from areopage.cli.progress.pace import PLAIN_EVERY
from areopage.cli.progress.run_display import Counting, PhaseCount
from areopage.errors import counted
from areopage.ledger import FleetNote
from areopage.report import report_locale


def _bars(console: Console, *columns: ProgressColumn) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        *columns,
        console=console,
        refresh_per_second=4,
    )


class LiveProgress(Counting):
    """One bar per phase, with rate, time left, health and cost so far; use as `with`."""

    def __init__(self, spec: AskedModels, console: Console, spent: Mapping[str, float] = MappingProxyType({})) -> None:
        super().__init__(spec, lambda line: console.print(line, markup=False, highlight=False, soft_wrap=True), spent)
        self.bars = _bars(
            console,
            TextColumn("{task.fields[rate]}", markup=False),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[health]}", markup=False),
        )
        self.tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self.bars.start()
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self.bars.stop()

    def phase(self, name: str, total: int, kept: int) -> None:
        """Begin a bar, or correct it."""
        super().phase(name, total, kept)
        health = f"{kept} already in the ledger" if kept else ""
        if name not in self.tasks:
            self.tasks[name] = self.bars.add_task(name, total=total, completed=kept, rate="", health=health)
        else:
            self.bars.update(self.tasks[name], total=total, completed=kept + self.phases[name].done)

    def show(self, phase: PhaseCount) -> None:
        """Advance the phase's bar."""
        health = f"{phase.health()} | {self.spent()}"
        rate = f"{phase.rate:.1f}/s" if phase.rate else ""
        self.bars.update(self.tasks[phase.name], completed=phase.kept + phase.done, rate=rate, health=health)


class FleetDisplay:
    """Shows how far workers are: bars on a terminal, else a line every ten seconds; use as `with`."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        text = TextColumn("{task.fields[text]}", markup=False)
        self._bars = _bars(self._console, text) if self._console.is_terminal else None
        self._tasks: dict[str, TaskID] = {}
        self._noted: set[FleetNote] = set()
        self._last = 0.0
        self._line = ""

    def __enter__(self) -> Self:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def show(self, progress: RunProgress) -> None:
        """Show the latest progress, and each note once."""
        for note in progress.notes:
            if note not in self._noted:
                self._noted.add(note)
                text = f"{note.worker}: {note.server}: {note.text}" if note.server else f"{note.worker}: {note.text}"
                self._console.print(text, markup=False, highlight=False, soft_wrap=True)
        if self._bars is not None:
            self._show_bars(self._bars, progress)
            return
        line, now = fleet_line(progress), time.monotonic()
        if line != self._line and (now - self._last >= PLAIN_EVERY or progress.state != "open" or not self._line):
            self._line, self._last = line, now
            print(line, file=sys.stderr, flush=True)

    def _show_bars(self, bars: Progress, progress: RunProgress) -> None:
        for phase in progress.phases:
            if phase.name not in self._tasks:
                self._tasks[phase.name] = bars.add_task(phase.name, total=phase.total, text="")
            bars.update(self._tasks[phase.name], total=phase.total, completed=phase.done, text=_phase_text(phase))
        if "" not in self._tasks:
            self._tasks[""] = bars.add_task("all", total=progress.total, text="")
        bars.update(self._tasks[""], total=progress.total, completed=progress.done, text=_run_text(progress))


def fleet_line(progress: RunProgress) -> str:
    """How far workers are, in one line."""
    phases = ", ".join(f"{phase.name} {phase.done:,}/{phase.total:,}" for phase in progress.phases)
    return f"{phases} | {_run_text(progress)}"


def _phase_text(phase: PhaseProgress) -> str:
    if phase.ended:
        return "done"
    if not phase.begun:
        return "waits"
    left = f", about {duration(phase.seconds_left)} left" if phase.seconds_left else ""
    return f"{phase.rate:.1f}/s{left}" if phase.rate is not None else ""


def _run_text(progress: RunProgress) -> str:
    parts = [counted(progress.workers, "worker process", "worker processes") if progress.workers else "no worker works on it"]
    if progress.state != "open":
        parts = ["done" if progress.state == "ended" else "stopped"]
    if progress.rate:
        parts.append(f"{progress.rate:.1f}/s")
    if progress.seconds_left and progress.done < progress.total:
        parts.append(f"about {duration(progress.seconds_left)} left")
    parts.append(f"{progress.tokens:,} tokens")
    parts += [cost] if (cost := report_locale("en").costs(dict(progress.costs))) else []
    return ", ".join(parts)
