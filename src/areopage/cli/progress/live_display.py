"""Live progress of a run on a terminal."""

from collections.abc import Mapping
from types import MappingProxyType, TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from areopage.bench import AskedModels
from areopage.cli.progress.counts import PhaseCount
from areopage.cli.progress.run_display import Counting


class LiveProgress(Counting):
    """One bar per phase, with rate, time left, health and cost so far; use as `with`."""

    def __init__(self, spec: AskedModels, console: Console, spent: Mapping[str, float] = MappingProxyType({})) -> None:
        super().__init__(spec, lambda line: console.print(line, markup=False, highlight=False, soft_wrap=True), spent)
        self.bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}", markup=False),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[health]}", markup=False),
            console=console,
            refresh_per_second=4,
        )
        self.tasks: dict[str, TaskID] = {}

    def __enter__(self) -> "LiveProgress":
        self.bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Stop the bars and leave them on the screen."""
        self.bars.stop()

    def phase(self, name: str, total: int, kept: int) -> None:
        """Begin a bar, or correct it."""
        phase = self.phases.note(name, total, kept)
        health = f"{kept} already in the ledger" if kept else ""
        if name not in self.tasks:
            self.tasks[name] = self.bars.add_task(name, total=total, completed=kept, rate="", health=health)
        else:
            self.bars.update(self.tasks[name], total=total, completed=kept + phase.done)

    def show(self, phase: PhaseCount) -> None:
        """Advance the phase's bar."""
        health = f"{phase.health()} | {self.tally.spent()}"
        rate = f"{phase.rate:.1f}/s" if phase.rate else ""
        self.bars.update(self.tasks[phase.name], completed=phase.kept + phase.done, rate=rate, health=health)
