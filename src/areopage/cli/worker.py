"""`areopage worker`: benchmark runs, monitored answers and scheduled jobs, on any number of machines with one ledger."""

import logging
import os
import sys
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from areopage.app import AppConfig, find_config, open_ledger
from areopage.cli.options import OUTPUTS, ConfigOption, LedgerOption, OutOption, duration, listed, one_of, tell
from areopage.errors import StorageError, UserError, counted
from areopage.ledger import Ledger
from areopage.monitor import WorkerProgress
from areopage.work import stop_signals

if TYPE_CHECKING:
    from areopage.app import RunWorker
    from areopage.monitor import MonitorWorker

TERMINAL_EVERY = 1.0
LOG_EVERY = 10.0
LOOK_EVERY = 0.5
LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
MONITOR, BENCH = "monitor", "bench"

GraceOption = Annotated[
    float, typer.Option("--grace", metavar="SECONDS", min=0, help="Time to finish calls in flight after a stop.")
]


def worker(
    only: Annotated[
        str | None,
        typer.Option(
            "--only", metavar="bench|monitor", help="Only benchmark runs, or only monitored answers and scheduled jobs."
        ),
    ] = None,
    endpoints: Annotated[
        str | None,
        typer.Option(
            "--endpoints", metavar="NAME,...", help="Call only these endpoints (or providers) for benchmark runs, e.g. gpu-1."
        ),
    ] = None,
    run: Annotated[str, typer.Option("--run", metavar="RUN", help="Work on this run only, and end when it has ended.")] = "",
    out: OutOption = OUTPUTS,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
    grace: GraceOption = 30.0,
    share: Annotated[str | None, typer.Option("--share", hidden=True)] = None,
    named: Annotated[str, typer.Option("--as", hidden=True)] = "",
) -> None:
    """Carry out benchmark runs, evaluate submitted answers and run scheduled jobs until stopped.

    Any number of workers on any number of machines share the work of one ledger. Of benchmark runs a worker does the calls to
    the servers that it can reach and that its own configuration names; API keys come from its own environment.
    """
    kind = one_of("--only", only, (BENCH, MONITOR))
    chosen = find_config(config, ledger)
    if kind != MONITOR and not chosen.shared.ledger:
        chosen = chosen.on_ledger(str(out / "ledger.db"))  # where `bench run` has it
    logging.basicConfig(level=logging.WARNING, format=LOG_FORMAT)
    if share is not None:
        raise typer.Exit(_do_share(chosen, run, share, out, named, grace))
    if run and kind == MONITOR:
        raise UserError("--run is a benchmark run: leave out --only monitor")
    servers = listed(endpoints) if endpoints is not None else [name for name in chosen.section.fleet.endpoints if name]
    has_section = chosen.document is not None and "monitor" in chosen.document.data
    monitors = kind == MONITOR or (kind is None and not run and has_section)
    with open_ledger(chosen, create=not run) as opened:
        if run:
            run = opened.run(run).id
        benches = None
        if kind != MONITOR:
            from areopage.app import RunWorker

            benches = RunWorker(opened, chosen, out, endpoints=servers, run_id=run, grace=grace)
        _work(opened, chosen, benches, run, grace, monitors=monitors)


def monitor_worker(config: ConfigOption = None, grace: GraceOption = 30.0) -> None:
    """Evaluate submitted answers until stopped; several workers can run in parallel on one ledger."""
    worker(only=MONITOR, endpoints=None, run="", out=OUTPUTS, config=config, ledger=None, grace=grace, share=None, named="")


def _work(ledger: Ledger, config: AppConfig, benches: "RunWorker | None", run: str, grace: float, *, monitors: bool) -> None:
    from areopage.app import open_worker

    if benches is not None:
        what = f"run {run}" if run else "benchmark runs"
        tell(f"carrying out {what} of {ledger.place} as {benches.name} (Ctrl-C stops)")
    monitor, terminal = None, sys.stderr.isatty()
    try:
        if monitors:
            tell(f"judging the answers of {ledger.place} and {config.monitor.spool} (Ctrl-C stops)")
            monitor = open_worker(ledger, config)
            for call in monitor.calls:
                tell(call)
        _work_until_stopped(benches, monitor, run, grace, ProgressLine(terminal))
    finally:
        if terminal:
            tell("")
    if monitor is not None:
        try:
            left = ledger.evaluations.backlog().waiting
        except StorageError as fault:
            tell(f"stopped: {fault}")
            return
        tell(f"stopped: {counted(left, 'answer')} left" + ("; the next start goes on with them" if left else ""))
    elif run and benches is not None and benches.is_over:
        tell(f"run {run} has ended")
    else:
        tell("stopped; what has arrived is kept, and other workers go on")


def _work_until_stopped(
    benches: "RunWorker | None", monitor: "MonitorWorker | None", run: str, grace: float, line: "ProgressLine"
) -> None:
    workers = [worker for worker in (benches, monitor) if worker is not None]

    def hurry() -> None:
        for worker in workers:
            worker.hurry()

    every, shown_at = TERMINAL_EVERY if line.terminal else LOG_EVERY, time.monotonic()
    with stop_signals(hurry) as stop, ExitStack() as ends:
        if benches is not None:
            ends.callback(benches.close)
        if monitor is not None:
            ends.callback(monitor.stop, grace)
        if benches is not None:
            ends.callback(benches.stop)  # the first to be called
        if monitor is not None:
            monitor.start()
        while monitor is None or monitor.alive:
            if benches is not None:
                benches.step()
                if run and benches.is_over:
                    return
            if stop.wait(LOOK_EVERY):
                return
            if monitor is not None and time.monotonic() - shown_at >= every:
                shown_at = time.monotonic()
                show_progress(monitor, line)


def show_progress(monitor: "MonitorWorker", line: "ProgressLine") -> None:
    """Show how far a worker is; nothing while the ledger cannot be used: the worker says so, and goes on by itself."""
    with suppress(StorageError):
        line(monitor.progress())


def _do_share(config: AppConfig, run_id: str, key: str, out: Path, named: str, grace: float) -> int:
    import asyncio

    from areopage.app import END_CODES
    from areopage.bench import RunSpec, at_worker, run_folder, shares_of, work_on
    from areopage.cli.progress.run_display import PlainProgress

    hurried = threading.Event()
    with open_ledger(config) as ledger, stop_signals(hurried.set) as stopping:

        def watch_parent() -> None:
            """The worker that started this process holds the other end of the standard input."""
            while os.read(0, 1):  # not by sys.stdin: a thread that holds its lock aborts the end of the process
                pass
            stopping.set()

        threading.Thread(target=watch_parent, name="parent", daemon=True).start()
        run = ledger.run(run_id)
        stored = RunSpec.of(run)
        spec = at_worker(stored, config.shared)
        share = next((share for share in shares_of(stored) if share.key == key), None)
        if share is None:
            raise UserError(f"run {run.id} has no share {key}")
        tell(f"run {run.id}: working on {share.name or 'all of it'}")

        def seconds_left() -> float | None:
            return None if not stopping.is_set() else 0.0 if hurried.is_set() else grace

        folder = run_folder(run, out)
        work = work_on(ledger, run, spec, share, folder, worker=named, shown=PlainProgress(spec), stopping=seconds_left)
        return END_CODES[asyncio.run(work)]


class ProgressLine:
    """Shows how far a worker is: in place on a terminal, else a line where something has changed."""

    def __init__(self, terminal: bool) -> None:
        self.terminal = terminal
        self._last = ""

    def __call__(self, progress: WorkerProgress) -> None:
        """Show it."""
        line = progress_line(progress)
        if self.terminal:
            print(f"\r{line:<{len(self._last)}}", end="", file=sys.stderr, flush=True)
        elif line != self._last:
            print(line, file=sys.stderr, flush=True)
        self._last = line


def progress_line(progress: WorkerProgress) -> str:
    """How far a worker is, in one line."""
    parts = [f"{progress.evaluated:,} evaluated, {progress.rate:.1f}/s", f"{progress.left:,} left"]
    if progress.left and progress.seconds_left is not None:
        parts[-1] += f", about {duration(progress.seconds_left)}"
    failures = ((progress.unscored, "without a score"), (progress.again, "to be tried again"), (progress.given_up, "given up"))
    parts += [", ".join(f"{count:,} {what}" for count, what in failures if count)]
    parts += [f"{cost:.4f} {currency}" for currency, cost in sorted(progress.cost.items())]
    return " | ".join(part for part in parts if part)
