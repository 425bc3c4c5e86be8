"""Runs that workers carry out: submit them, follow them, stop them."""

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from areopage.bench import RunCase, RunSpec, spec_of
from areopage.cli.asking import ended_like_ctrl_c
from areopage.cli.options import tell
from areopage.errors import BudgetSpent, StorageError, UserError
from areopage.ledger import CallCounts, Ledger, LedgerOutage, Run

if TYPE_CHECKING:
    from areopage.bench import RunView

LOOK_EVERY = 1.0
LOOK_SHARE = 10
"""Of the follower's time at most one part in this number goes into reading the ledger."""


def ask_workers(run: Run, spec: RunSpec, cases: tuple[RunCase, ...], ledger: Ledger, budget: float | None) -> None:
    """Let workers carry out a run, within a budget if there is one."""
    from areopage.bench import planned_phases, run_size

    ledger.fleet.ask(run.id, planned_phases(spec, run_size(spec, cases)), datetime.now(UTC), budget)


def refuse_if_open(run: Run, ledger: Ledger, follow: str, stop: str) -> None:
    """Check that workers do not carry out a run, before this process does.

    Args:
        follow, stop: the commands that do so.
    """
    submitted = ledger.fleet.run(run.id)
    if submitted is not None and submitted.state == "open":
        raise UserError(f"workers carry out {run.id}: follow it with `{follow}`, or stop it first with `{stop}`")


def await_end(run: Run, ledger: Ledger) -> "RunView | None":
    """Show the progress until workers have ended the run; None where it was stopped."""
    from areopage.bench import progress_of, view_run, with_history
    from areopage.cli.progress.live_display import FleetDisplay

    spec = spec_of(run)
    counts: CallCounts | None = None
    outage = LedgerOutage(tell, patience=spec.outage_seconds)
    with ended_like_ctrl_c(), FleetDisplay() as display:
        while True:
            began = time.monotonic()
            try:
                progress = progress_of(ledger, run.id, spec, datetime.now(UTC), counts)
            except StorageError as fault:
                time.sleep(outage.met(fault))
                continue
            outage.over()
            if progress is None or progress.state == "stopped":
                return None
            counts = progress.counts
            display.show(progress)
            if progress.state == "spent":
                raise BudgetSpent("the budget of the run is spent")
            if progress.state == "ended":
                break
            time.sleep(max(LOOK_EVERY, LOOK_SHARE * (time.monotonic() - began)))
    return with_history(view_run(ledger.run(run.id), ledger), ledger)
