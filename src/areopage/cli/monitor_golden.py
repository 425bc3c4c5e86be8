"""`areopage monitor golden`: fixed questions put to the live bot."""

from typing import TYPE_CHECKING, Annotated

import typer

from areopage.cli.monitor_options import ConfigOption, monitor_config, monitor_ledger

if TYPE_CHECKING:
    from areopage.ledger.operations import GoldenRun
    from areopage.monitor.golden import GoldenDesk

FAILED = 1
POLL_SECONDS = 1.0

app = typer.Typer(help="Golden questions: fixed ones, put to the live bot and compared round by round.", no_args_is_help=True)


@app.command()
def run(
    config: ConfigOption = None,
    wait: Annotated[
        float, typer.Option("--wait", min=0.0, metavar="SECONDS", help="Wait so long for the verdict (a worker must be running).")
    ] = 0.0,
) -> None:
    """Ask every golden question now; the running worker judges the answers.

    A round that was begun is not begun again. Exit code 1: a drop, or questions without a score.
    """
    import asyncio
    from datetime import UTC, datetime

    from areopage.monitor.golden import begin_round, golden_section, open_golden

    found = monitor_config(config)
    golden_section(found)  # before a ledger is made for nothing
    with monitor_ledger(found, create=True) as ledger:
        desk = open_golden(ledger, found)
        round_ = asyncio.run(begin_round(desk, datetime.now(UTC)))
        typer.echo(f"round {round_.id}: {round_.answered} of {round_.asked} questions answered")
        if round_.verdict == "running" and wait:
            round_ = wait_for(desk, round_, wait)
        if round_.verdict == "running":
            typer.echo("the worker judges the answers: areopage monitor golden list shows the verdict")
            return
        show(round_)
    if round_.verdict in ("drop", "incomplete"):
        raise typer.Exit(FAILED)


@app.command("list")
def list_rounds(
    config: ConfigOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="How many rounds.")] = 20,
) -> None:
    """List the newest rounds with their verdicts."""
    from areopage.ledger.operations import GoldenRuns

    with monitor_ledger(monitor_config(config)) as ledger:
        rounds = GoldenRuns(ledger).list(limit=limit)
    for one in rounds:
        show(one)
    if not rounds:
        typer.echo("no round yet: areopage monitor golden run begins one")


def wait_for(desk: "GoldenDesk", round_: "GoldenRun", seconds: float) -> "GoldenRun":
    """The round once it is finished, or as it stands after so many seconds."""
    import asyncio
    import time
    from datetime import UTC, datetime

    from areopage.ledger.operations import GoldenRuns
    from areopage.monitor.golden import follow_rounds

    end = time.monotonic() + seconds
    while round_.verdict == "running" and time.monotonic() < end:
        time.sleep(min(POLL_SECONDS, max(0.0, end - time.monotonic())))
        asyncio.run(follow_rounds(desk, datetime.now(UTC)))
        round_ = next((one for one in GoldenRuns(desk.ledger).list(desk.suite) if one.id == round_.id), round_)
    return round_


def show(round_: "GoldenRun") -> None:
    """One round, and why it has its verdict."""
    mean = "–" if round_.mean is None else f"{round_.mean:.2f}"
    change = "" if round_.change is None else f"  {round_.change:+.2f}"
    counts = f"{round_.scored}/{round_.answered}/{round_.asked} scored/answered/asked"
    typer.echo(f"{round_.started_at:%Y-%m-%d %H:%M}  {round_.verdict:10}  mean {mean}{change}  {counts}  {round_.id}")
    if round_.verdict not in ("running", "good"):
        for line in round_.reason.splitlines():
            typer.echo(f"    {line}")
