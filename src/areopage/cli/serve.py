"""`areopage serve`: API, pages and worker in one process."""

from functools import partial
from importlib.util import find_spec
from typing import Annotated

import typer

from areopage.cli.monitor_options import ConfigOption, monitor_config
from areopage.cli.rag_options import RagOption, named_rag_config, on_one_ledger

PARTS = ("fastapi", "uvicorn", "prometheus_client", "python_multipart", "dbos")


def serve(
    config: ConfigOption = None,
    rag: RagOption = None,
    host: Annotated[str | None, typer.Option("--host", metavar="HOST", help="Where to listen; default: server.host.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="PORT", min=0, max=65535, help="Default: server.port; 0 takes a free one.")
    ] = None,
    no_worker: Annotated[
        bool, typer.Option("--no-worker", help="API and pages only; `areopage monitor worker` judges elsewhere.")
    ] = False,
) -> None:
    """Serve the API and the pages, and judge what is handed over, until it is told to stop; with a rag.yml answer questions."""
    from areopage.errors import MissingExtra

    answering = named_rag_config(rag)
    chosen = monitor_config(config)
    if answering is not None:
        chosen = on_one_ledger(chosen, answering)
    if not all(find_spec(part) for part in PARTS):
        raise MissingExtra("areopage serve", "server")
    from areopage.cli.monitor_crew import open_worker
    from areopage.server.serve import Listening, run_server

    server = chosen.section.server
    listening = Listening(host=host or server.host, port=server.port if port is None else port)
    hire = None if no_worker else partial(open_worker, rag=answering)
    run_server(chosen, listening, hire, lambda line: typer.echo(line, err=True), answering)
