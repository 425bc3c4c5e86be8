"""`areopage monitor`: quality of answers in production."""

import typer

from areopage.cli import monitor_alerts, monitor_golden, monitor_report, monitor_store, monitor_worker

app = typer.Typer(
    help="Quality of answers in production: judge, store, alert, report.", no_args_is_help=True, rich_markup_mode=None
)
app.command("worker")(monitor_worker.worker)
app.command("submit")(monitor_worker.submit)
app.command("status")(monitor_worker.status)
app.command("retry")(monitor_worker.retry)
app.add_typer(monitor_alerts.app, name="alerts")
app.add_typer(monitor_golden.app, name="golden")
app.command("report")(monitor_report.report)
app.command("export")(monitor_store.export)
app.command("erase")(monitor_store.erase)
app.command("init")(monitor_store.init)
