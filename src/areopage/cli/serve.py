"""`areopage serve`: API, pages and worker in one process."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from areopage.cli.monitor_options import ConfigOption, monitor_config

if TYPE_CHECKING:
    from areopage.ledger.store import Ledger
    from areopage.monitor.config import MonitorConfig
    from areopage.monitor.quality_judge import QualityJudge
    from areopage.monitor.worker import Worker

PARTS = ("fastapi", "uvicorn", "prometheus_client", "python_multipart", "dbos")


def serve(
    config: ConfigOption = None,
    host: Annotated[str | None, typer.Option("--host", metavar="HOST", help="Where to listen; default: server.host.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="PORT", min=0, max=65535, help="Default: server.port; 0 takes a free one.")
    ] = None,
    no_worker: Annotated[
        bool, typer.Option("--no-worker", help="API and pages only; `areopage monitor worker` judges elsewhere.")
    ] = False,
) -> None:
    """Serve the API and the pages, and judge what is handed over, until it is told to stop."""
    from areopage.errors import MissingExtra

    chosen = monitor_config(config)
    if not all(find_spec(part) for part in PARTS):
        raise MissingExtra("areopage serve", "server")
    from areopage.server.serve import Listening, run_server

    server = chosen.section.server
    listening = Listening(host=host or server.host, port=server.port if port is None else port)
    run_server(chosen, listening, None if no_worker else hire, lambda line: typer.echo(line, err=True))


def hire(ledger: "Ledger", config: "MonitorConfig", judge: "type[QualityJudge]") -> "Worker":
    """The worker of this process.

    Raises:
        ConfigError, CriteriaError, ModelError: the suite or a judge is wrong.
    """
    from areopage.cli.monitor_crew import duties_of, judge_of
    from areopage.monitor.worker import Worker

    return Worker(ledger, config, judge_of(config, judge), duties_of(ledger, config))
