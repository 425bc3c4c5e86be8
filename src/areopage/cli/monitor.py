"""`areopage monitor alerts` and `areopage monitor golden`."""

import asyncio
import os
import time
from datetime import UTC, datetime
from typing import Annotated

import typer

from areopage.app.config import find_config
from areopage.app.ledger import open_ledger
from areopage.cli.options import ConfigOption
from areopage.ledger.alerts import Alerts
from areopage.ledger.operations import GoldenRun, GoldenRuns
from areopage.monitor.alerts.deliver import send
from areopage.monitor.alerts.texts import monitor_locale
from areopage.monitor.golden import Golden, carry_on, golden_section, open_golden, run_round

FAILED = 1


def list_alerts(
    config: ConfigOption = None,
    all_of_them: Annotated[bool, typer.Option("--all", help="The closed ones as well.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="How many alerts.")] = 50,
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
    """Send a test message to every address in `alerts.urls`. Exit code 1: one of them did not take it."""
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
        float, typer.Option("--wait", min=0.0, metavar="SECONDS", help="Wait so long for the verdict (a worker must be running).")
    ] = 0.0,
) -> None:
    """Send every golden question to the bot now; the running worker judges the answers.

    A round that was begun is not begun again. Exit code 1: a drop, or questions without a score.
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
        show(round_)
    if round_.verdict in ("drop", "incomplete"):
        raise typer.Exit(FAILED)


def list_rounds(
    config: ConfigOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="How many rounds.")] = 20,
) -> None:
    """List the newest rounds with their verdicts."""
    with open_ledger(find_config(config)) as ledger:
        rounds = GoldenRuns(ledger).list(limit=limit)
    for one in rounds:
        show(one)
    if not rounds:
        typer.echo("no round yet: areopage monitor golden run begins one")


def _wait_for(golden: Golden, round_: GoldenRun, seconds: float) -> GoldenRun:
    """The round once it is finished, or as it stands after so many seconds."""
    end = time.monotonic() + seconds
    while round_.verdict == "running" and time.monotonic() < end:
        time.sleep(min(POLL_SECONDS, max(0.0, end - time.monotonic())))
        if round_.asked_at is not None:  # else a worker asks its questions
            asyncio.run(carry_on(golden, round_.id, datetime.now(UTC)))
        round_ = next((one for one in GoldenRuns(golden.ledger).list(golden.suite) if one.id == round_.id), round_)
    return round_


def show(round_: GoldenRun) -> None:
    """One round, and why it has its verdict."""
    mean = "–" if round_.mean is None else f"{round_.mean:.2f}"
    change = "" if round_.change is None else f"  {round_.change:+.2f}"
    counts = f"{round_.scored}/{round_.answered}/{round_.asked} scored/answered/asked"
    typer.echo(f"{round_.started_at:%Y-%m-%d %H:%M}  {round_.verdict:10}  mean {mean}{change}  {counts}  {round_.id}")
    if round_.verdict not in ("running", "good"):
        for line in round_.reason.splitlines():
            typer.echo(f"    {line}")
