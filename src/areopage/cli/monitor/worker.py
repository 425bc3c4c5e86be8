"""`areopage monitor worker`."""

import logging
import sys
from typing import Annotated

import typer

from areopage.app.config import find_config
from areopage.app.ledger import open_ledger
from areopage.app.monitor import open_worker
from areopage.cli.options import ConfigOption, answers_text, duration
from areopage.ledger.evaluations import Evaluations
from areopage.monitor.evaluate import Progress

TERMINAL_EVERY = 1.0
LOG_EVERY = 10.0
LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def worker(
    config: ConfigOption = None,
    grace: Annotated[
        float, typer.Option("--grace", metavar="SECONDS", min=0, help="Time to finish running evaluations after a stop.")
    ] = 30.0,
) -> None:
    """Evaluate submitted answers until stopped; several workers can run in parallel on one ledger."""
    chosen = find_config(config)
    logging.basicConfig(level=logging.WARNING, format=LOG_FORMAT)
    with open_ledger(chosen, create=True) as ledger:
        typer.echo(f"judging the answers of {ledger.place} and {chosen.monitor.spool} (Ctrl-C stops)", err=True)
        terminal = sys.stderr.isatty()
        try:
            running, line = open_worker(ledger, chosen), ProgressLine(terminal)
            for call in running.calls:
                typer.echo(call, err=True)
            running.run(lambda: line(running.progress()), TERMINAL_EVERY if terminal else LOG_EVERY, grace)
        finally:
            if terminal:
                typer.echo("", err=True)
        backlog = Evaluations(ledger).backlog()
    left = backlog.waiting
    typer.echo(f"stopped: {answers_text(left)} left" + ("; the next start goes on with them" if left else ""), err=True)


class ProgressLine:
    """Shows how far a worker is: in place on a terminal, else a line where something has changed."""

    def __init__(self, terminal: bool) -> None:
        self._terminal = terminal
        self._last = ""

    def __call__(self, progress: Progress) -> None:
        """Show it."""
        line = progress_line(progress)
        if self._terminal:
            print(f"\r{line:<{len(self._last)}}", end="", file=sys.stderr, flush=True)
        elif line != self._last:
            print(line, file=sys.stderr, flush=True)
        self._last = line


def progress_line(progress: Progress) -> str:
    """How far a worker is, in one line."""
    parts = [f"{progress.evaluated:,} evaluated, {progress.rate:.1f}/s", f"{progress.left:,} left"]
    if progress.left and progress.seconds_left is not None:
        parts[-1] += f", about {duration(progress.seconds_left)}"
    failures = ((progress.unscored, "without a score"), (progress.again, "to be tried again"), (progress.given_up, "given up"))
    parts += [", ".join(f"{count:,} {what}" for count, what in failures if count)]
    parts += [f"{cost:.4f} {currency}" for currency, cost in sorted(progress.cost.items())]
    return " | ".join(part for part in parts if part)
