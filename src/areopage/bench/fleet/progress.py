"""How far workers are with a run, read from the ledger: calls done of those planned, workers alive, rate, time left, cost."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct

from areopage.bench.conversations.children import CHILD_SOURCE
from areopage.bench.execution.phases import CHILD_PHASE, ROUND, TARGET_PHASE
from areopage.bench.execution.run import DEAD_AFTER
from areopage.bench.fleet.shares import shares_of
from areopage.bench.spec import RunSpec
from areopage.ledger import CallCounts, CallSum, FleetNote, FleetPhase, FleetState, Ledger


class PhaseProgress(Struct, frozen=True, kw_only=True):
    """The calls to the target or to one judge; `total` is an estimate until a worker has begun.

    `rate` is in calls a second since the phase began, `seconds_left` the time that the rest takes at this rate.
    """

    name: str
    done: int
    total: int
    begun: bool
    ended: bool
    rate: float | None = None
    seconds_left: float | None = None


class RunProgress(Struct, frozen=True, kw_only=True):
    """How far workers are with a run.

    `rate` is that of all phases in progress. `costs` are those of models with a configured price, by currency.
    """

    run_id: str
    state: FleetState
    asked_at: datetime
    phases: tuple[PhaseProgress, ...]
    workers: int
    rate: float | None
    seconds_left: float | None
    tokens: int
    costs: Mapping[str, float]
    notes: tuple[FleetNote, ...]
    counts: CallCounts

    @property
    def done(self) -> int:
        """How many calls are stored."""
        return sum(phase.done for phase in self.phases)

    @property
    def total(self) -> int:
        """How many calls there are."""
        return sum(phase.total for phase in self.phases)


def progress_of(
    ledger: Ledger, run_id: str, spec: RunSpec, now: datetime, before: CallCounts | None = None
) -> RunProgress | None:
    """Read how far workers are with a run; None where they were never asked to carry it out.

    Args:
        before: the counts of an earlier call, so that only newer calls are counted.
    """
    fleet = ledger.fleet
    run = fleet.run(run_id)
    if run is None:
        return None
    counts = fleet.counts(run_id, before)
    made = dict(counts.judged)
    for source, calls in counts.answered.items():
        name = CHILD_PHASE if source.startswith(CHILD_SOURCE) else TARGET_PHASE
        made[name] = made.get(name, CallSum()) + calls
    phases: list[PhaseProgress] = []
    counted = Counter[str]()  # the calls of a judge's earlier rounds
    for phase in fleet.phases(run_id):
        judge = phase.name.partition(ROUND)[0]
        phases.append(_phase_progress(phase, made.get(judge, CallSum()).calls - counted[judge], now))
        counted[judge] += max(0, phases[-1].done - phase.kept)
    rates = [phase.rate for phase in phases if phase.rate is not None and phase.done < phase.total]
    left = sum(phase.total - phase.done for phase in phases)
    rate = sum(rates) if rates else None
    pools = dict.fromkeys(share.part.pool(run_id) for share in shares_of(spec))
    workers = [worker for pool in pools for worker in ledger.workers.list(pool)]
    return RunProgress(
        run_id=run_id,
        state=run.state,
        asked_at=run.asked_at,
        phases=tuple(phases),
        workers=sum(worker.state_at(now, DEAD_AFTER) == "alive" for worker in workers),
        rate=rate,
        seconds_left=left / rate if rate else None,
        tokens=sum(calls.prompt_tokens + calls.completion_tokens for calls in made.values()),
        costs=_costs(spec, made),
        notes=tuple(fleet.notes(run_id)),
        counts=counts,
    )


def _phase_progress(phase: FleetPhase, stored: int, now: datetime) -> PhaseProgress:
    """The progress of a phase of which so many calls are stored since it began."""
    done = 0
    if phase.ended_at is not None and not phase.left_open:
        done = phase.total
    elif phase.began_at is not None:
        done = min(phase.total, phase.kept + max(0, stored))
    rate = None
    if phase.began_at is not None and phase.ended_at is None and done > phase.kept:
        rate = (done - phase.kept) / max(0.5, (now - phase.began_at).total_seconds())
    return PhaseProgress(
        name=phase.name,
        done=done,
        total=phase.total,
        begun=phase.began_at is not None,
        ended=phase.ended_at is not None,
        rate=rate,
        seconds_left=(phase.total - done) / rate if rate is not None else None,
    )


def _costs(spec: RunSpec, made: Mapping[str, CallSum]) -> dict[str, float]:
    costs = defaultdict[str, float](float)
    for judge in spec.judges:
        if judge.price is not None:
            costs[judge.price.currency] += made.get(judge.name, CallSum()).cost
    for name, asked in ((TARGET_PHASE, spec.target), (CHILD_PHASE, spec.child)):
        if asked is not None and asked.price is not None:
            calls = made.get(name, CallSum())
            costs[asked.price.currency] += asked.price.of(calls.prompt_tokens, calls.completion_tokens)
    return dict(costs)
