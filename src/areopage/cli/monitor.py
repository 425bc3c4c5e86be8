"""`areopage monitor`: submit, status, retry, alerts, golden questions."""

import asyncio
import os
import time
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

import typer

from areopage.app.config import find_config
from areopage.app.ledger import open_ledger
from areopage.cases.loader import load_dataset
from areopage.cases.records import Case, Dataset
from areopage.cli.exit_codes import FAILED, INCONCLUSIVE
from areopage.cli.options import ConfigOption, answers_text, duration, tell
from areopage.errors import SubmissionError, UserError
from areopage.ledger.alerts import Alerts
from areopage.ledger.days import Days
from areopage.ledger.evaluations import Evaluations
from areopage.ledger.operations import GoldenRun, GoldenRuns, Workers, state_of
from areopage.ledger.queries import Period, Scope
from areopage.ledger.records import Answer
from areopage.ledger.storage import JUDGEABLE
from areopage.monitor.alerts.deliver import send
from areopage.monitor.alerts.texts import monitor_locale
from areopage.monitor.config import MonitorConfig
from areopage.monitor.golden import Golden, carry_on, golden_section, open_golden, run_round
from areopage.monitor.spool_files import rejected_lines, waiting_bytes
from areopage.monitor.submit import Intake, submission_of

SHOWN_REASONS = 3
BATCH = 500


def submit(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Questions with answers: CSV, JSONL, XLSX, Parquet.")],
    config: ConfigOption = None,
    source: Annotated[str, typer.Option("--source", metavar="NAME", help="Source of answers whose row names none.")] = "",
    variant: Annotated[str, typer.Option("--variant", metavar="NAME", help="Variant of the answers in an A/B test.")] = "",
    language: Annotated[str, typer.Option("--language", metavar="CODE", help="Language of the answers.")] = "",
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="Submit only the first N answers.")] = None,
) -> None:
    """Submit answers from files for evaluation; answers that were already submitted are skipped.

    Exit code 1: rows are unusable. The other rows are submitted.
    """
    chosen = find_config(config)
    dataset = load_dataset(files, default_maturity="", limit=limit)
    submissions, refused = _submissions_of(dataset, source, variant, language)
    with open_ledger(chosen, create=True) as ledger:
        intake = Intake(ledger, chosen.monitor.section.sampling)
        new = sum(sum(intake.submit(submissions[at : at + BATCH])) for at in range(0, len(submissions), BATCH))
        place = ledger.place
    known = len(submissions) - new
    typer.echo(f"{answers_text(new)} submitted to {place}" + (f"; {known} were there already" if known else ""))
    for reason in refused[:SHOWN_REASONS]:
        typer.echo(f"left out: {reason}", err=True)
    if len(refused) > SHOWN_REASONS:
        typer.echo(f"left out: {len(refused) - SHOWN_REASONS} more", err=True)
    if refused:
        raise typer.Exit(INCONCLUSIVE)


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
    """Requeue answers whose evaluation failed after the last attempt."""
    chosen = find_config(config)
    policy = chosen.section.storage.text
    if policy not in JUDGEABLE:
        raise UserError(f"storage.text is {policy}: given-up answers keep no whole text to judge: submit them under new ids")
    with open_ledger(chosen) as ledger:
        typer.echo(f"{answers_text(Evaluations(ledger).reopen(ids or None))} will be tried again")


def _submissions_of(dataset: Dataset, source: str, variant: str, language: str) -> tuple[list[Answer], list[str]]:
    submissions, refused = [], [f"{row.file} row {row.row}: {row.reason}" for row in dataset.rejected]
    for case in dataset.cases:
        path, row = dataset.places[case.id]
        try:
            submissions.append(_submission_of_case(case, Path(path).name, source, variant, language))
        except SubmissionError as fault:
            refused.append(f"{path} row {row}: {fault}")
    return submissions, refused


def _submission_of_case(case: Case, file: str, source: str, variant: str, language: str) -> Answer:
    """A row without a source of its own has the dataset's name, `file`, as its source."""
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
    if config.spool.is_dir():
        unread = rejected_lines(config.spool)
        typer.echo(
            f"spool {config.spool}: {waiting_bytes(config.spool):,} bytes wait"
            + (f"; {unread} lines could not be read: see {config.spool / 'rejected'}" if unread else "")
        )


def _ago(moment: datetime, now: datetime) -> str:
    return f"{duration(max(0.0, (now - moment).total_seconds()))} ago"


def list_alerts(
    config: ConfigOption = None,
    all_of_them: Annotated[bool, typer.Option("--all", help="List closed alerts, too.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="Maximum number of alerts.")] = 50,
) -> None:
    """List the newest alerts and their delivery."""
    with open_ledger(find_config(config)) as ledger:
        alerts = Alerts(ledger).list(state=None if all_of_them else "open", limit=limit)
    for alert in alerts:
        times = f" ×{alert.times}" if alert.times > 1 else ""
        typer.echo(
            f"{alert.opened_at:%Y-%m-%d %H:%M}  {alert.state:6}  {alert.rule:10}  {alert.delivery:8}  {alert.title}{times}"
            + (f"  {alert.answer_id}" if alert.answer_id else "")
        )
        if alert.delivery_error:
            typer.echo(f"    {alert.delivery_error}")
    if not alerts:
        typer.echo("no alert" if all_of_them else "no open alert (--all shows the closed ones)")


def test_alerts(config: ConfigOption = None) -> None:
    """Send a test message to every address in `alerts.urls`. Exit code 1: a delivery failed."""
    found = find_config(config).monitor
    urls = found.section.alerts.urls
    if not urls:
        raise found.fault("no address to send to: name one", "alerts", "urls")
    locale = monitor_locale(found, found.load_suite())
    results = send(urls, locale.messages["test_title"], locale.messages["test_text"], os.environ)
    for result in results:
        typer.echo(f"{result.place}: {result.error or 'sent'}")
    if any(result.error for result in results):
        raise typer.Exit(FAILED)


POLL_SECONDS = 1.0


def run_golden(
    config: ConfigOption = None,
    wait: Annotated[
        float,
        typer.Option("--wait", min=0.0, metavar="SECONDS", help="How long to wait for the verdict; a worker must be running."),
    ] = 0.0,
) -> None:
    """Send every golden question to the bot now; the running worker judges the answers.

    If a round is running, no new round starts. Exit code 1: the score dropped; 3: questions have no score.
    """
    found = find_config(config)
    golden_section(found.monitor)  # before a ledger is made for nothing
    with open_ledger(found, create=True) as ledger:
        golden = open_golden(ledger, found.monitor)
        round_ = asyncio.run(run_round(golden, datetime.now(UTC)))
        typer.echo(f"round {round_.id}: {round_.answered} of {round_.asked} questions answered")
        if round_.verdict == "running" and wait:
            round_ = _wait_for(golden, round_, wait)
        if round_.verdict == "running":
            typer.echo("the worker judges the answers: areopage monitor golden list shows the verdict")
            return
        _print_round(round_)
    if round_.verdict in ("drop", "incomplete"):
        raise typer.Exit(FAILED if round_.verdict == "drop" else INCONCLUSIVE)


def list_rounds(
    config: ConfigOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="Maximum number of rounds.")] = 20,
) -> None:
    """List the newest rounds with their verdicts."""
    with open_ledger(find_config(config)) as ledger:
        rounds = GoldenRuns(ledger).list(limit=limit)
    for one in rounds:
        _print_round(one)
    if not rounds:
        typer.echo("no round yet: areopage monitor golden run begins one")


def _wait_for(golden: Golden, round_: GoldenRun, seconds: float) -> GoldenRun:
    end = time.monotonic() + seconds
    while round_.verdict == "running" and time.monotonic() < end:
        time.sleep(min(POLL_SECONDS, max(0.0, end - time.monotonic())))
        if round_.asked_at is not None:  # else a worker asks its questions
            asyncio.run(carry_on(golden, round_.id, datetime.now(UTC)))
        round_ = next((one for one in GoldenRuns(golden.ledger).list(golden.suite) if one.id == round_.id), round_)
    return round_


def _print_round(round_: GoldenRun) -> None:
    mean = "–" if round_.mean is None else f"{round_.mean:.2f}"
    change = "" if round_.change is None else f"  {round_.change:+.2f}"
    counts = f"{round_.scored}/{round_.answered}/{round_.asked} scored/answered/asked"
    typer.echo(f"{round_.started_at:%Y-%m-%d %H:%M}  {round_.verdict:10}  mean {mean}{change}  {counts}  {round_.id}")
    if round_.verdict not in ("running", "good"):
        for line in round_.reason.splitlines():
            typer.echo(f"    {line}")
