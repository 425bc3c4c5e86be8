"""What a worker's process does for one share of a run: check, wait for answers, make the calls, and note the end."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from areopage.bench.execution.context import Observer, Observers, RunContext
from areopage.bench.execution.phases import TARGET_PHASE
from areopage.bench.execution.run import carry_out
from areopage.bench.execution.start import context_of_run, settle
from areopage.bench.fleet.shares import ServerShare, check_share
from areopage.bench.planning.budget import budget_of
from areopage.bench.planning.run_size import RunSize
from areopage.bench.spec import RunSpec
from areopage.errors import AreopageError, BudgetSpent, ServerDown, StorageError
from areopage.ledger import Fleet, FleetNote, Ledger, Run

LOOK_EVERY = 0.5
GRACE = 30.0
"""Seconds that open calls may still take where the run is stopped."""
STORED_WITHIN = 0.2
"""Seconds in which what the last calls brought is handed to the ledger's writer."""

WorkEnd = Literal["done", "stopped", "left", "again"]
"""How the work on a share ended: it is done, the worker stops, it is left to other workers, or another try may help."""


def planned_phases(spec: RunSpec, size: RunSize) -> dict[str, int]:
    """The phases of a run with about how many calls each has, in order."""
    target = {TARGET_PHASE: size.answer_calls} if spec.target is not None else {}
    return {**target, **{judge.name: size.judge_calls[judge.name] for judge in spec.judges}}


class PhaseNotes(Observers):
    """Notes the sizes of phases in the ledger, and outages of servers, and passes everything on; see `Observer`."""

    def __init__(self, ledger: Ledger, run_id: str, worker: str, shown: Observer) -> None:
        super().__init__([shown])
        self._fleet, self._run_id, self._worker = ledger.fleet, run_id, worker

    def phase(self, name: str, total: int, kept: int) -> None:
        """Note a phase."""
        self._fleet.begin_phase(self._run_id, name, total, kept, datetime.now(UTC))
        super().phase(name, total, kept)

    def server_gone(self, address: str, seconds: float) -> None:
        """Note that a server is gone."""
        self.note(address, f"does not answer; calls wait up to {seconds:.0f} s")
        super().server_gone(address, seconds)

    def server_back(self, address: str, seconds: float) -> None:
        """Note that it answers again."""
        self.note(address, f"answers again after {seconds:.0f} s")
        super().server_back(address, seconds)

    def note(self, server: str, text: str) -> None:
        """Note something of a server, or of the run."""
        self._fleet.note(self._run_id, FleetNote(worker=self._worker, server=server, text=text, at=datetime.now(UTC)))


async def work_on(
    ledger: Ledger,
    run: Run,
    spec: RunSpec,
    share: ServerShare,
    folder: Path,
    *,
    worker: str,
    shown: Observer,
    stopping: Callable[[], float | None],
) -> WorkEnd:
    """Do a share of a run together with the other workers of its server.

    Args:
        spec: as this worker reaches the models.
        folder: where the lock files of this computer's workers lie.
        worker: this worker, as its notes name it.
        shown: is told of the progress.
        stopping: None while the worker works; else the seconds that open calls may still take. It is asked again and again.
    """
    fleet, observer = ledger.fleet, PhaseNotes(ledger, run.id, worker, shown)
    try:
        await check_share(spec, share)
        asked = fleet.run(run.id)
        limit = asked.budget if asked is not None else None
        budget = None if limit is None else budget_of(limit, [spec], ledger, [run])
        context = context_of_run(run, spec, ledger, observer, budget)
        open_calls = await _carried_out(context, folder, share, stopping, fleet)
    except StorageError:
        raise
    except BudgetSpent as fault:
        observer.note("", str(fault))
        fleet.close(run.id, "spent", datetime.now(UTC))
        return "stopped"
    except AreopageError as fault:
        observer.note(share.name, " ".join(str(fault).split()))
        return "again" if isinstance(fault, ServerDown) else "left"
    if open_calls is None:
        return "stopped"
    fleet.end_phases(run.id, share.phases, datetime.now(UTC), left_open=open_calls > 0)
    end_run(ledger, run)
    return "done"


def end_run(ledger: Ledger, run: Run) -> bool:
    """End a run where workers have done what they can of all its phases: one of them computes its results; True for that one."""
    fleet, now = ledger.fleet, datetime.now(UTC)
    phases = fleet.phases(run.id)
    if any(phase.ended_at is None for phase in phases):
        return False
    left = any(phase.left_open for phase in phases)
    if not left:
        ledger.finish_run(run.id, now)
    if not fleet.close(run.id, "ended", now):
        return False
    settle(run, int(left), ledger)
    return True


async def _carried_out(
    context: RunContext,
    folder: Path,
    share: ServerShare,
    stopping: Callable[[], float | None],
    fleet: Fleet,
) -> int | None:
    """Make the calls of a share; None where the worker, or the run, is stopped first."""
    work = asyncio.create_task(carry_out(context, folder, share.part))
    try:
        while not work.done():
            await asyncio.wait([work], timeout=LOOK_EVERY)
            if work.done():
                break
            run = await asyncio.to_thread(fleet.run, context.run_id)
            if stopping() is not None or run is None or run.state in ("stopped", "spent"):
                await _drain(context, work, stopping)
                break
        return None if work.cancelled() else work.result()
    except asyncio.CancelledError:
        return None
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def _drain(context: RunContext, work: "asyncio.Task[int]", stopping: Callable[[], float | None]) -> None:
    """Begin no call any more, wait for the open ones, then end the work; what arrived is stored."""
    context.traffic.hold()
    began = time.monotonic()

    def grace() -> float:
        seconds = stopping()
        return GRACE if seconds is None else seconds

    while not work.done() and context.traffic.open_calls() and time.monotonic() < began + grace():
        await asyncio.wait([work], timeout=LOOK_EVERY / 10)
    await asyncio.wait([work], timeout=STORED_WITHIN)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
