"""`areopage monitor alerts`: what was alerted on, and whether alerts arrive."""

from typing import Annotated

import typer

from areopage.cli.monitor_options import ConfigOption, monitor_config, monitor_ledger

FAILED = 1

app = typer.Typer(help="Alerts: what is open, and whether they arrive.", no_args_is_help=True)


@app.command("list")
def list_alerts(
    config: ConfigOption = None,
    all_of_them: Annotated[bool, typer.Option("--all", help="The closed ones as well.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="How many alerts.")] = 50,
) -> None:
    """List the newest alerts, and what became of their delivery."""
    from areopage.ledger.alerts import Alerts

    with monitor_ledger(monitor_config(config)) as ledger:
        alerts = Alerts(ledger).list(state=None if all_of_them else "open", limit=limit)
    for alert in alerts:
        times = f" ×{alert.times}" if alert.times > 1 else ""
        typer.echo(
            f"{alert.opened_at:%Y-%m-%d %H:%M}  {alert.state:6}  {alert.rule:10}  {alert.delivery:8}  {alert.title}{times}"
            + (f"  {alert.submission_id}" if alert.submission_id else "")
        )
        if alert.delivery_error:
            typer.echo(f"    {alert.delivery_error}")
    if not alerts:
        typer.echo("no alert" if all_of_them else "no open alert (--all shows the closed ones)")


@app.command()
def test(config: ConfigOption = None) -> None:
    """Send a message to every address of `alerts.urls`. Exit code 1: one of them did not take it."""
    import os

    from areopage.errors import ConfigError
    from areopage.monitor.alerts.deliver import send
    from areopage.monitor.alerts.texts import monitor_locale
    from areopage.monitor.config import CONFIG_FILE
    from areopage.suites.loader import load_suite

    found = monitor_config(config)
    urls = found.section.alerts.urls
    if not urls:
        raise ConfigError("no address to send to: name one", path=found.folder / CONFIG_FILE, key="alerts.urls")
    locale = monitor_locale(found, load_suite(found.suite))
    results = send(urls, locale.messages["test_title"], locale.messages["test_text"], os.environ)
    for result in results:
        typer.echo(f"{result.place}: {result.error or 'sent'}")
    if any(result.error for result in results):
        raise typer.Exit(FAILED)
