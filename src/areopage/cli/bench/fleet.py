"""Runs that workers carry out: hand them over, follow them, stop them."""

import sys
import time
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from areopage.bench.fleet.progress import PhaseProgress, RunProgress, progress_of
from areopage.bench.fleet.work import planned_phases
from areopage.bench.planning.estimate import estimate
from areopage.bench.results.history import with_history
from areopage.bench.results.run_view import RunView, view_run
from areopage.bench.spec import RunCase, RunSpec, spec_of
from areopage.cli.asking import ended_like_ctrl_c
from areopage.cli.options import OUTPUTS, ConfigOption, LedgerOption, OutOption, duration, tell
from areopage.cli.run_options import RunArgument
from areopage.errors import StorageError, UserError, counted
from areopage.ledger.fleet import CallCounts, Fleet, FleetNote
from areopage.ledger.outage import LedgerOutage
from areopage.ledger.records import Run
from areopage.ledger.store import Ledger
from areopage.report.elements import report_locale

LOOK_EVERY = 1.0
LOOK_SHARE = 10
"""Of the follower's time at most one part in this number goes into reading the ledger."""
PLAIN_EVERY = 10.0


def follow(
    run: RunArgument = "latest", out: OutOption = OUTPUTS, config: ConfigOption = None, ledger: LedgerOption = None
) -> None:
    """Follow a run that workers carry out, and show its results when they are done; Ctrl-C leaves the run going."""
    from areopage.cli.bench.places import Places, opened_ledger
    from areopage.cli.bench.run import follow_run

    places = Places(out=out, config=config, ledger=ledger)
    with opened_ledger(places) as opened:
        found = opened.run(run)
        if Fleet(opened).run(found.id) is None:
            raise UserError(f"no worker was asked to carry out {found.id}: areopage bench resume {found.id} --fleet asks them")
        raise typer.Exit(follow_run(found, opened, places, run))


def stop(run: RunArgument = "latest", out: OutOption = OUTPUTS, config: ConfigOption = None, ledger: LedgerOption = None) -> None:
    """Stop a run that workers carry out. They finish calls in flight, and what has arrived is kept."""
    from areopage.cli.bench.places import Places, opened_ledger

    places = Places(out=out, config=config, ledger=ledger)
    with opened_ledger(places) as opened:
        found = opened.run(run)
        if not Fleet(opened).close(found.id, "stopped", datetime.now(UTC)):
            raise UserError(f"workers do not carry out {found.id}")
        tell(f"stopped: workers finish their calls in flight. Go on with: {places.resume_command(found.id, opened)} --fleet")


def ask_workers(run: Run, spec: RunSpec, cases: tuple[RunCase, ...], ledger: Ledger) -> None:
    """Let workers carry out a run."""
    Fleet(ledger).ask(run.id, planned_phases(spec, estimate(spec, cases)), datetime.now(UTC))


def refuse_if_open(run: Run, ledger: Ledger, follow: str, stop: str) -> None:
    """Check that workers do not carry out a run, before this process does.

    Args:
        follow, stop: the commands that do so.

    Raises:
        UserError: they do.
    """
    found = Fleet(ledger).run(run.id)
    if found is not None and found.state == "open":
        raise UserError(f"workers carry out {run.id}: follow it with `{follow}`, or stop it first with `{stop}`")


def await_end(run: Run, ledger: Ledger) -> RunView | None:
    """Show the progress until workers have ended the run; None where it was stopped.

    Raises:
        StorageError: the ledger cannot be read for as long as an outage of a server may last.
    """
    spec = spec_of(run)
    counts: CallCounts | None = None
    outage = LedgerOutage(tell, patience=spec.outage_seconds)
    with ended_like_ctrl_c(), FleetDisplay() as display:
        while True:
            began = time.monotonic()
            try:
                found = progress_of(ledger, run.id, spec, datetime.now(UTC), counts)
            except StorageError as fault:
                time.sleep(outage.met(fault))
                continue
            outage.over()
            if found is None or found.state == "stopped":
                return None
            counts = found.counts
            display.show(found)
            if found.state == "ended":
                break
            time.sleep(max(LOOK_EVERY, LOOK_SHARE * (time.monotonic() - began)))
    return with_history(view_run(ledger.run(run.id), ledger), ledger)


class FleetDisplay:
    """Shows how far workers are: bars on a terminal, else a line every ten seconds; use as `with`."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._bars: Progress | None = None
        if self._console.is_terminal:
            self._bars = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("{task.fields[told]}", markup=False),
                console=self._console,
                refresh_per_second=4,
            )
        self._tasks: dict[str, TaskID] = {}
        self._noted: set[FleetNote] = set()
        self._last = 0.0
        self._line = ""

    def __enter__(self) -> Self:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Leave the bars on the screen."""
        if self._bars is not None:
            self._bars.stop()

    def show(self, progress: RunProgress) -> None:
        """Show the latest progress, and each note once."""
        for note in progress.notes:
            if note not in self._noted:
                self._noted.add(note)
                told = f"{note.worker}: {note.server}: {note.text}" if note.server else f"{note.worker}: {note.text}"
                self._console.print(told, markup=False, highlight=False, soft_wrap=True)
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
                self._tasks[phase.name] = bars.add_task(phase.name, total=phase.total, told="")
            bars.update(self._tasks[phase.name], total=phase.total, completed=phase.done, told=_phase_text(phase))
        if "" not in self._tasks:
            self._tasks[""] = bars.add_task("all", total=progress.total, told="")
        bars.update(self._tasks[""], total=progress.total, completed=progress.done, told=_run_text(progress))


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
