"""`areopage monitor`: worker, submit, status, retry."""

import logging
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

import typer

from areopage.app.config import find_config
from areopage.app.ledger import open_ledger
from areopage.app.monitor import open_worker
from areopage.cases.loader import load_dataset
from areopage.cases.records import Case, Dataset
from areopage.cli.options import ConfigOption, tell
from areopage.errors import SubmissionError
from areopage.ledger.days import Days
from areopage.ledger.evaluations import Evaluations
from areopage.ledger.operations import Workers, state_of
from areopage.ledger.queries import Period, Scope
from areopage.ledger.records import Answer
from areopage.monitor.config import MonitorConfig
from areopage.monitor.evaluate import Progress
from areopage.monitor.spool_files import rejected_lines, waiting_bytes
from areopage.monitor.submit import Intake, submission_of

SHOWN_REASONS = 3
BATCH = 500
TERMINAL_EVERY = 1.0
LOG_EVERY = 10.0
REJECTED = 1  # the exit code where rows were left out
LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def worker(
    config: ConfigOption = None,
    grace: Annotated[
        float, typer.Option("--grace", metavar="SECONDS", min=0, help="How long what is begun may take after a stop.")
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
            running.run(lambda: line(running.progress()), TERMINAL_EVERY if terminal else LOG_EVERY, grace)
        finally:
            if terminal:
                typer.echo("", err=True)
        backlog = Evaluations(ledger).backlog()
    left = backlog.waiting
    typer.echo(f"stopped: {answers(left)} left" + ("; the next start goes on with them" if left else ""), err=True)


def submit(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Questions with answers: CSV, JSONL, XLSX, Parquet.")],
    config: ConfigOption = None,
    source: Annotated[
        str, typer.Option("--source", metavar="NAME", help="Where they come from; a row's own source counts.")
    ] = "",
    variant: Annotated[str, typer.Option("--variant", metavar="NAME", help="Their side of an A/B test.")] = "",
    language: Annotated[str, typer.Option("--language", metavar="CODE", help="The answers' language.")] = "",
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="Take the first N.")] = None,
) -> None:
    """Submit answers from files for evaluation; answers submitted before are not evaluated again.

    Exit code 1 if rows are unusable; the other rows are submitted.
    """
    chosen = find_config(config)
    dataset = load_dataset(files, default_maturity="", limit=limit)
    submissions, refused = _submissions_of(dataset, source, variant, language)
    with open_ledger(chosen, create=True) as ledger:
        intake = Intake(ledger, chosen.monitor.section.sampling)
        new = sum(sum(intake.submit(submissions[at : at + BATCH])) for at in range(0, len(submissions), BATCH))
        place = ledger.place
    known = len(submissions) - new
    typer.echo(f"{answers(new)} submitted to {place}" + (f"; {known} were there already" if known else ""))
    for reason in refused[:SHOWN_REASONS]:
        typer.echo(f"left out: {reason}", err=True)
    if len(refused) > SHOWN_REASONS:
        typer.echo(f"left out: {len(refused) - SHOWN_REASONS} more", err=True)
    if refused:
        raise typer.Exit(REJECTED)


def status(config: ConfigOption = None) -> None:
    """Show the queue and the active workers."""
    chosen = find_config(config)
    now = datetime.now(UTC)
    with open_ledger(chosen, or_empty=tell) as ledger:
        backlog, workers = Evaluations(ledger).backlog(), Workers(ledger).list()
        days = Days(ledger).totals(Period(start=date.min, end=date.max), Scope())
    oldest = f"; the oldest came {_ago(backlog.oldest_at, now)}" if backlog.oldest_at else ""
    typer.echo(f"waiting {backlog.waiting}, given up {backlog.failed}{oldest}")
    left_out = sum(day.left_out for day in days)
    if left_out:
        typer.echo(f"left out by sampling: {left_out:,} so far (sampling is {chosen.monitor.section.sampling:g} now)")
    _show_spool(chosen.monitor)
    states = [state_of(one, now, chosen.monitor.section.worker.dead_after) for one in workers]
    for one, state in zip(workers, states, strict=True):
        typer.echo(f"worker {one.id}: {state.replace('_', ' ')}, process {one.process}, seen {_ago(one.seen_at, now)}")
    if "alive" not in states:
        typer.echo("no worker: start one with `areopage monitor worker` or `areopage serve`")


def retry(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Of answers that were given up; default: all.")
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Requeue answers whose evaluation failed for good."""
    with open_ledger(find_config(config)) as ledger:
        typer.echo(f"{answers(Evaluations(ledger).reopen(ids or None))} will be tried again")


def _submissions_of(dataset: Dataset, source: str, variant: str, language: str) -> tuple[list[Answer], list[str]]:
    """The submissions of a dataset, and why rows were left out."""
    submissions, refused = [], [f"{row.file} row {row.row}: {row.reason}" for row in dataset.rejected]
    for case in dataset.cases:
        path, row = dataset.places[case.id]
        try:
            submissions.append(_submission_of_case(case, Path(path).name, source, variant, language))
        except SubmissionError as fault:
            refused.append(f"{path} row {row}: {fault}")
    return submissions, refused


def _submission_of_case(case: Case, file: str, source: str, variant: str, language: str) -> Answer:
    """The submission of a row.

    Args:
        file: the dataset's name, which a row without a source of its own has as its source.

    Raises:
        SubmissionError: the row has no answer, or something is too large.
    """
    return submission_of(
        case.prompt,
        case.response or "",
        case.documents,
        id=case.id,
        source=source if source and case.source == file else case.source,
        variant=variant,
        language=language,
        metadata=case.metadata,
    )


def _show_spool(config: MonitorConfig) -> None:
    """What waits in this computer's spool, if there is one."""
    if config.spool.is_dir():
        unread = rejected_lines(config.spool)
        typer.echo(
            f"spool {config.spool}: {waiting_bytes(config.spool):,} bytes wait"
            + (f"; {unread} lines could not be read: see {config.spool / 'rejected'}" if unread else "")
        )


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


def answers(count: int) -> str:
    """A number of answers, in words."""
    return f"{count:,} answer{'' if count == 1 else 's'}"


def _ago(moment: datetime, now: datetime) -> str:
    """How long ago something was."""
    return f"{duration(max(0.0, (now - moment).total_seconds()))} ago"


def duration(seconds: float) -> str:
    """A length of time, as exactly as people want it."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
