"""The batches of a run on the console."""

import asyncio

import typer
from msgspec.structs import replace

from areopage.bench import agreed, cancel_batches, spec_of
from areopage.cli.asking import ask_to_send
from areopage.cli.bench.places import Places, configured
from areopage.cli.progress.lines import batch_text
from areopage.jury import reached_by
from areopage.ledger import Ledger, Run


def print_batches(ledger: Ledger, run_id: str) -> int:
    """A line for each batch of a run, as it was last seen; returns how many there are."""
    batches = ledger.batches.of_run(run_id)
    for batch in batches:
        seen = f", seen {batch.seen_at:%Y-%m-%d %H:%M} UTC" if batch.seen_at else ""
        stored = ", stored" if batch.ended_at else ""
        typer.echo(f"{batch_text(batch)}{seen}{stored}")
    return len(batches)


def cancel_run(run: Run, ledger: Ledger, places: Places, *, yes: bool) -> None:
    """Cancel the batches of a run that are out."""
    spec = spec_of(run)
    settings = reached_by(spec.settings, configured(places).shared, places.allowed_variables)
    spec = agreed(replace(spec, settings=settings), None if yes else ask_to_send)
    asyncio.run(cancel_batches(ledger, run.id, spec.settings.with_environment()))
