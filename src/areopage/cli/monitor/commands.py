"""`areopage monitor`: submit, status, retry, alerts, golden questions."""

import asyncio
import os
import shlex
import time
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

import typer

from areopage.app import find_config, open_ledger
from areopage.cases import load_dataset
from areopage.cli.exit_codes import FAILED, INCONCLUSIVE
from areopage.cli.options import ConfigOption, duration, named_place, one_of, tell
from areopage.errors import UserError, counted, name_list
from areopage.ledger import JUDGEABLE, GoldenRun, Period, Scope
from areopage.locales import one_line
from areopage.monitor import (
    RULES,
    AlertMessage,
    Golden,
    Intake,
    Losses,
    accept_level,
    golden_section,
    monitor_locale,
    question_line,
    rejected_lines,
    retry_answers,
    send,
    submissions_of,
    waiting_bytes,
)
from areopage.text import visible

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

    The columns are those of POST /v1/evaluations; a row's own source, variant and language count before the options.
    Exit code 3: rows are unusable. The other rows are submitted.
    """
    chosen = find_config(config)
    dataset = load_dataset(files, default_maturity="", limit=limit)
    read = submissions_of(dataset, source=source, variant=variant, language=language)
    submissions, refused = read.submissions, read.refused
    with open_ledger(chosen, create=True) as ledger:
        intake = Intake(ledger, chosen.monitor.section.sampling)
        new = 0
        for at in range(0, len(submissions), BATCH):
            batch = submissions[at : at + BATCH]
            fresh = intake.submit(batch)
            new += sum(fresh)
            refused += [f"id {submission.id}: is taken by another answer" for submission in Intake.clashing(ledger, batch, fresh)]
        place = ledger.place
    present = len(submissions) - new
    if read.metadata_columns:
        tell(f"kept as metadata: columns {name_list(read.metadata_columns)}")
    typer.echo(f"{counted(new, 'answer')} submitted to {place}" + (f"; {present} were there already" if present else ""))
    for reason in refused[:SHOWN_REASONS]:
        tell(f"left out: {reason}")
    if len(refused) > SHOWN_REASONS:
        tell(f"left out: {len(refused) - SHOWN_REASONS} more")
    if refused:
        raise typer.Exit(INCONCLUSIVE)


def status(config: ConfigOption = None) -> None:
    """Show the queue and the active workers."""
    chosen = find_config(config)
    now = datetime.now(UTC)
    with open_ledger(chosen, or_empty=tell) as ledger:
        backlog, workers = ledger.evaluations.backlog(), ledger.workers.list()
        days = ledger.days.totals(Period(start=date.min, end=date.max), Scope())
    waited = backlog.waited(now)
    oldest = "" if waited is None else f"; the oldest came {duration(waited)} ago"
    typer.echo(f"waiting {backlog.waiting}, given up {backlog.failed}{oldest}")
    scored, unscored = sum(day.scored for day in days), sum(day.unscored for day in days)
    typer.echo(f"evaluated {scored + unscored:,}" + (f" ({unscored:,} without a score)" if unscored else ""))
    left_out = sum(day.left_out for day in days)
    if left_out:
        typer.echo(f"left out by sampling: {left_out:,} so far (sampling is {chosen.monitor.section.sampling:g} now)")
    spool = chosen.monitor.spool
    if spool.is_dir():
        unread = rejected_lines(spool)
        typer.echo(
            f"spool {spool}: {waiting_bytes(spool):,} bytes wait"
            + (f"; {unread} lines could not be submitted: see {spool / 'rejected'}" if unread else "")
        )
        losses = Losses.of(spool)
        if losses.counts:
            typer.echo(
                f"not submitted by hooks: {counted(losses.total, 'answer')} ({_kinds(losses.counts)}); last: {losses.reason}"
            )
        if losses.doubts:
            typer.echo(f"recorded with a doubt: {_kinds(losses.doubts)}; last: {losses.doubtful} by {losses.doubt}")
    states = [worker.state_at(now, chosen.monitor.section.worker.dead_after) for worker in workers]
    for worker, state in zip(workers, states, strict=True):
        seen = f"seen {duration(max(0.0, (now - worker.seen_at).total_seconds()))} ago"
        typer.echo(f"worker {worker.id}: {state.replace('_', ' ')}, process {worker.process}, {seen}")
    if "alive" not in states:
        named = named_place(config)
        worker_command, serve = (shlex.join(["areopage", *words, *named]) for words in (("monitor", "worker"), ("serve",)))
        typer.echo(f"no worker: start one with `{worker_command}` or `{serve}`")


def retry(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Of answers that were given up or wait for a retry; default: all."),
    ] = None,
    config: ConfigOption = None,
    unscored: Annotated[
        bool, typer.Option("--unscored", help="Judge again the answers that were evaluated without a score.")
    ] = False,
) -> None:
    """Retry answers whose evaluation failed: after the last attempt, or between two attempts."""
    settings = find_config(config)
    policy = settings.shared.storage.text
    whole = policy in JUDGEABLE
    if unscored and not whole:
        raise UserError(f"--unscored: storage.text is {policy}: evaluated answers keep no whole text to judge again")
    with open_ledger(settings) as ledger:
        if unscored:
            typer.echo(f"{counted(ledger.evaluations.reopen_unscored(ids or None), 'answer')} will be judged again")
            return
        again = retry_answers(ledger, ids or None, given_up=whole)
    if not again and not whole:
        raise UserError(f"storage.text is {policy}: given-up answers keep no whole text to judge: submit them under new ids")
    typer.echo(f"{counted(again, 'answer')} will be tried again")


def _kinds(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {count:,}" for kind, count in sorted(counts.items()))


def list_alerts(
    config: ConfigOption = None,
    all_of_them: Annotated[bool, typer.Option("--all", help="List closed alerts, too.")] = False,
    rule: Annotated[str | None, typer.Option("--rule", metavar="NAME", help="List only the alerts of this rule.")] = None,
    incident: Annotated[
        int | None,
        typer.Option("--incident", min=1, metavar="N", help="List the alerts of the incident of alert N, closed ones too."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="Maximum number of alerts.")] = 50,
) -> None:
    """List alerts and their delivery, newest first, those of single answers last."""
    chosen = one_of("--rule", rule, RULES) or ""
    state, folded = None if all_of_them or incident else "open", not chosen and not incident
    with open_ledger(find_config(config)) as ledger:
        stored = ledger.alerts
        alerts = stored.list(state=state, rule=chosen, incident=incident, folded=folded, first=RULES, limit=limit)
        counts = stored.counts(folded=folded)
        members = stored.members([alert.number for alert in alerts]) if folded else {}
    for alert in alerts:
        times = f" ×{alert.times}" if alert.times > 1 else ""
        typer.echo(
            f"{alert.number:>5}  {alert.opened_at:%Y-%m-%d %H:%M}  {alert.state:6}  {alert.rule:10}  "
            f"{alert.delivery:8}  {alert.title}{times}" + (f"  {alert.answer_id}" if alert.answer_id else "")
        )
        if further := members.get(alert.number):
            by_rule = ", ".join(f"{name} {n:,}" for name, n in further.items())
            typer.echo(f"    {sum(further.values()):,} further alerts of this incident: {by_rule} (--incident {alert.number})")
        if question_line(alert):
            typer.echo(f"    {visible(one_line(question_line(alert), 160))}")
        if alert.situation and alert.state == "open":
            typer.echo(f"    {alert.situation}")
        if alert.accepted_by:
            typer.echo(f"    accepted by {visible(one_line(f'{alert.accepted_by}: {alert.accepted_note}', 160))}")
        if alert.delivery_error:
            typer.echo(f"    {alert.delivery_error}")
    total = counts.get(chosen, 0) if chosen else sum(counts.values())
    if state == "open" and total > len(alerts):
        typer.echo(
            f"{counted(total - len(alerts), 'more open alert')}: {', '.join(f'{name} {n:,}' for name, n in counts.items())}"
        )
    if not alerts:
        typer.echo("no alert" if all_of_them else "no open alert (--all shows the closed ones)")


def accept_alert(
    number: Annotated[int, typer.Argument(metavar="ID", help="Number of the incident.")],
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who accepts it.")],
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Why the new level is accepted.")],
    config: ConfigOption = None,
) -> None:
    """Accept the level since a fall of quality: close its incident. Later falls are measured against this level."""
    with open_ledger(find_config(config)) as ledger:
        alert = accept_level(ledger, number, by, note, datetime.now(UTC))
    typer.echo(f"accepted: {alert.title}")


def test_alerts(config: ConfigOption = None) -> None:
    """Send a test message to every address in `alerts.urls`. Exit code 1: a delivery failed."""
    monitor = find_config(config).monitor
    urls = monitor.section.alerts.urls
    if not urls:
        raise monitor.fault("no address to send to: name one", "alerts", "urls")
    locale = monitor_locale(monitor, monitor.load_suite())
    results = send(urls, AlertMessage(title=locale.messages["test_title"], body=locale.messages["test_text"]), os.environ)
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
    settings = find_config(config)
    golden_section(settings.monitor)  # before a ledger is made for nothing
    with open_ledger(settings, create=True) as ledger:
        golden = Golden.open(ledger, settings.monitor)
        round_ = asyncio.run(golden.run_round(datetime.now(UTC)))
        typer.echo(f"round {round_.id}: {round_.answered} of {counted(round_.asked, 'question')} answered")
        if round_.verdict == "running" and wait:
            round_ = _wait_for(golden, round_, wait)
        if round_.verdict == "running":
            listed = shlex.join(["areopage", "monitor", "golden", "list", *named_place(config)])
            typer.echo(f"the worker judges the answers: {listed} shows the verdict")
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
        rounds = ledger.golden_runs.list(limit=limit)
    for round_ in rounds:
        _print_round(round_)
    if not rounds:
        begin = shlex.join(["areopage", "monitor", "golden", "run", *named_place(config)])
        typer.echo(f"no round yet: {begin} begins one")


def _wait_for(golden: Golden, round_: GoldenRun, seconds: float) -> GoldenRun:
    end = time.monotonic() + seconds
    while round_.verdict == "running" and time.monotonic() < end:
        time.sleep(min(POLL_SECONDS, max(0.0, end - time.monotonic())))
        if round_.asked_at is not None:  # else a worker asks its questions
            asyncio.run(golden.carry_on(round_.id, datetime.now(UTC)))
        round_ = next((listed for listed in golden.ledger.golden_runs.list(golden.suite) if listed.id == round_.id), round_)
    return round_


def _print_round(round_: GoldenRun) -> None:
    mean = "–" if round_.mean is None else f"{round_.mean:.2f}"
    change = "" if round_.change is None else f"  {round_.change:+.2f}"
    counts = f"{round_.scored}/{round_.answered}/{round_.asked} scored/answered/asked"
    typer.echo(f"{round_.started_at:%Y-%m-%d %H:%M}  {round_.verdict:10}  mean {mean}{change}  {counts}  {round_.id}")
    if round_.verdict not in ("running", "good"):
        for line in round_.reason.splitlines():
            typer.echo(f"    {line}")
