"""Execute a run in phases: the answers of the target, and the judgments of each judge. Calls in the ledger are not repeated.

Phases on different servers are carried out at the same time, see `areopage.bench.execution.phases`. Adaptive passes are planned
in rounds: all judges end a round before the next one is planned from their judgments.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from msgspec import Struct, structs

from areopage.bench.execution.answered import AnsweredCases
from areopage.bench.execution.blocks import RunBlocks
from areopage.bench.execution.context import RunContext
from areopage.bench.execution.judge_phase import JudgePhase, RunStore
from areopage.bench.execution.phases import Phase, PhasePlace, places, server_of, servers
from areopage.bench.execution.target_phase import TargetPhase
from areopage.bench.keys import AnswerCall, answer_calls, recorded_answers, recorded_id
from areopage.bench.passes import RunPasses, passes_so_far
from areopage.bench.spec import RunCase, load_run_cases
from areopage.digest import digest_of
from areopage.jury import Judge, Session
from areopage.ledger import Answers, CaseAnswer, RunWriter
from areopage.models import ModelReference
from areopage.work import SharedLimits, WorkerPace, WorkerPool

PACE = WorkerPace(dispatch=1.0, heartbeat=2.0)
"""Blocks are enqueued as they come: the regular look is for what was lost."""
_STORED_AT_ONCE = 1_000
"""Answers that come with the cases and are stored in one transaction."""
DEAD_AFTER = 30.0
"""Seconds without a heartbeat after which other processes take over the blocks of a process."""


class RunPart(Struct, frozen=True, kw_only=True):
    """A part of a run's calls.

    Args:
        answers: whether the target is asked.
        judges: the judges that are asked, by name; None: all.
        servers: the servers that are asked, as `areopage.bench.execution.phases.servers` names them; None: all. Other processes
            ask the others meanwhile. Processes with equal parts share their work; other parts have no server in common.
    """

    answers: bool = True
    judges: tuple[str, ...] | None = None
    servers: tuple[str, ...] | None = None

    def pool(self, run_id: str) -> str:
        """The worker pool of the processes that do this part of a run."""
        return f"bench:{run_id}" if self.servers is None else f"bench:{run_id}:{digest_of(self.servers)[:8]}"


WHOLE = RunPart()


async def carry_out(context: RunContext, folder: Path, part: RunPart = WHOLE) -> int:
    """Make the calls that the ledger lacks, with the run's cases from there.

    Returns how many of them are open: another try could bring them.

    Several processes may carry out one run: each call is made by one of them. All processes of the ledger keep the servers'
    limits and the budget together. Calls that timed out or found no server are open, and resuming tries them again. A case whose
    answer is erased is neither answered nor judged again. Where the run stops, what arrived is kept.
    """
    ledger, run_id, observer = context.ledger, context.run_id, context.observer
    pool = WorkerPool(name=part.pool(run_id), folder=folder, dead_after=DEAD_AFTER, pace=PACE)
    names = servers(context.spec, context.named_by)
    kept = nullcontext() if context.budget is None else context.budget.kept()
    async with SharedLimits(ledger, context.traffic), kept:
        cases = await asyncio.to_thread(load_run_cases, ledger, run_id)
        async with RunBlocks(ledger, pool, run_id, names, part.servers, observer.phases_stopped) as blocks:
            return await _make_calls(context, cases, part, blocks)


async def _make_calls(context: RunContext, cases: Sequence[RunCase], part: RunPart, blocks: RunBlocks) -> int:
    noted = await asyncio.to_thread(_noted, context.run_id, cases, context.ledger.answers)
    erased = context.ledger.answers.erased_in(context.run_id).keys()
    calls = answer_calls(context.spec, [item for position, item in enumerate(cases) if position not in erased])
    answered = AnsweredCases(context, cases, calls, erased=erased, noted=noted)
    if not part.answers or context.spec.target is None:
        await answered.read_all()
    async with RunWriter(context.ledger, "records of a run") as writer:
        work = _RunWork(context, part, answered, writer, blocks)
        target = work.target(calls)
        # what is planned next, with adaptive passes or in batches, is planned from all answers
        if target and (context.spec.adaptive is not None or _batched(context)):
            await blocks.carry_out(target)
            target = []
        await work.plan_round()
        open_calls = await work.judge(target)
        open_ends = answered.unanswered if part.answers else 0
        while context.spec.adaptive is not None and not open_ends + open_calls and await work.plan_round():
            open_calls = await work.judge()
    return open_ends + open_calls


def _noted(run_id: str, cases: Sequence[RunCase], stored: Answers) -> Mapping[int, int]:
    """Store the answers that come with the cases, unless an earlier process of the run has; return their numbers by position."""
    noted = stored.noted_in(run_id)
    answered = ((position, item) for position, item in enumerate(cases) if item.answer_id or item.case.response is not None)
    missing = ((position, item) for position, item in answered if position not in noted)
    added = False
    while new := list(islice(missing, _STORED_AT_ONCE)):
        links = [CaseAnswer(run_id, position, item.answer_id or recorded_id(item.case)) for position, item in new]
        stored.append_judged([*recorded_answers([item for _, item in new], datetime.now(UTC)), *links])
        added = True
    return stored.noted_in(run_id) if added else noted


class _RunWork:
    def __init__(self, context: RunContext, part: RunPart, answered: AnsweredCases, writer: RunWriter, blocks: RunBlocks) -> None:
        self._context, self._part, self._answered = context, part, answered
        self._writer, self._blocks, self._store = writer, blocks, RunStore(context.ledger, writer)
        self._session = Session(
            context.spec,
            context.settings,
            self._store,
            kind="bench",
            run_id=context.run_id,
            traffic=context.traffic,
            stops_at_outage=True,
            concurrency=context.spec.concurrency,
        )
        self._in_use: Counter[ModelReference] = Counter()
        self._passes = RunPasses()

    def target(self, calls: Sequence[AnswerCall]) -> list[tuple[PhasePlace, Phase]]:
        context = self._context
        if context.spec.target is None or not self._part.answers:
            return []
        place = places(context.spec, context.named_by, [""] * len(context.spec.judges), answers=True)[0]
        return [(place, TargetPhase(context, context.spec.target, calls, self._answered, self._writer))]

    async def plan_round(self) -> bool:
        """Plan the passes of the next round; returns whether it has any."""
        context, answered, before = self._context, self._answered, self._passes
        planned = await asyncio.to_thread(
            passes_so_far, context.ledger, context.run_id, context.spec, answered.cases, answered.judged, answered.numbers
        )
        earlier = structs.replace(before, earlier=None) if before.plan is not None else None
        self._passes = structs.replace(planned, earlier=earlier)
        return planned.items != before.items

    async def judge(self, others: Sequence[tuple[PhasePlace, Phase]] = ()) -> int:
        """Carry out a phase of each judge, together with other phases; return the number of open calls."""
        part, names = self._part, _batched(self._context)
        asked = [judge for judge in self._context.spec.judges if part.judges is None or judge.name in part.judges]
        direct, later = ([judge for judge in asked if (judge.name in names) == batched] for batched in (False, True))
        batches = asyncio.create_task(self._batches(later))
        try:
            open_calls = await self._phases(direct, others)
            await batches
        finally:
            batches.cancel()  # without effect where it has ended; what is out stays out
            await asyncio.gather(batches, return_exceptions=True)
        return open_calls + await self._phases(later)

    async def _batches(self, judges: Sequence[Judge]) -> None:
        context, only = self._context, self._part.servers
        asked = [judge for judge in judges if only is None or server_of(judge.reference, context.named_by) in only]
        if asked:
            from areopage.bench.execution.batch_judges import carry_out_batches

            await carry_out_batches(context, asked, self._answered, self._passes, self._writer)

    async def _phases(self, judges: Sequence[Judge], others: Sequence[tuple[PhasePlace, Phase]] = ()) -> int:
        spec, part, context, passes = self._context.spec, self._part, self._context, self._passes
        if not judges and not others:
            return 0
        phases = {
            passes.phase_of(judge): JudgePhase(context, judge, self._session, self._store, self._answered, passes, self._release)
            for judge in judges
        }
        names = [passes.phase_of(judge) if judge in judges else "" for judge in spec.judges]
        mine = [
            place
            for place in places(spec, context.named_by, names, answers=bool(others))
            if place.name in phases and (part.servers is None or place.server in part.servers)
        ]
        self._in_use = Counter(phases[place.name].judge.reference for place in mine)
        await self._blocks.carry_out([*others, *((place, phases[place.name]) for place in mine)])
        return sum(phases[place.name].open_calls for place in mine)

    async def _release(self, judge: Judge) -> None:
        """Close a judge's model, unless another phase asks it."""
        self._in_use[judge.reference] -= 1
        if not self._in_use[judge.reference]:
            await self._session.release(judge)


def _batched(context: RunContext) -> set[str]:
    """The names of the judges whose calls are in batches: those that send them, and those with batches at the provider."""
    stored, run_id = context.ledger.batches, context.run_id
    return {*context.spec.batch, *(batch.phase for batch in (*stored.open_in(run_id), *stored.kept_in(run_id)))}
