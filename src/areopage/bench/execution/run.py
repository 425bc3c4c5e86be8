"""Execute a run in phases: the answers of the target, and the judgments of each judge. Calls in the ledger are not repeated.

Phases on different servers are carried out at the same time, see `areopage.bench.execution.phases`. Adaptive passes are planned
in rounds: all judges end a round before the next one is planned from their judgments.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from msgspec import Struct

from areopage.bench.execution.answered import AnsweredCases
from areopage.bench.execution.blocks import RunBlocks
from areopage.bench.execution.context import RunContext
from areopage.bench.execution.judge_phase import JudgePhase, PhasePasses, RunJudgments
from areopage.bench.execution.phases import Phase, Place, places, server_of, servers
from areopage.bench.execution.target_phase import TargetPhase
from areopage.bench.keys import AnswerCall, answer_calls, answer_ids, open_cases, recorded_answers
from areopage.bench.passes import RunPasses, passes_so_far
from areopage.bench.spec import RunCase
from areopage.digest import digest_of
from areopage.jury import Judge, Session
from areopage.ledger import Answers, CaseAnswer, RunWriter
from areopage.models import ModelReference
from areopage.work import Opening, Pace, WorkerPool, opening

PACE = Pace(dispatch=1.0, heartbeat=2.0)
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


async def carry_out(context: RunContext, cases: Sequence[RunCase], folder: Path, part: RunPart = WHOLE) -> int:
    """Make the calls that the ledger lacks.

    Returns how many of them are open: another try could bring them.

    Several processes may carry out one run: each call is made by one of them. Calls that timed out or found no server are open,
    and resuming tries them again. A case whose answer is erased is neither answered nor judged again.

    Args:
        folder: the run's.
        part: what is done of it.

    Raises:
        ServerDown, ModelError, StorageError: the run stops once the phases on other servers have ended; what arrived is kept.
    """
    names = servers(context.spec, context.named_by)
    blocks = RunBlocks(context.run_id, names, part.servers, context.observer.phases_stopped)
    pool = WorkerPool(name=part.pool(context.run_id), folder=folder, dead_after=DEAD_AFTER, pace=PACE)
    async with opening(context.ledger, blocks, pool) as worker:
        return await make_calls(context, cases, part, blocks, worker)


async def make_calls(context: RunContext, cases: Sequence[RunCase], part: RunPart, blocks: RunBlocks, worker: Opening) -> int:
    """As `carry_out`, by a worker that is being opened."""
    stored, positions = context.ledger.answers, {item.case.id: position for position, item in enumerate(cases)}
    noted = await asyncio.to_thread(_noted, context.run_id, cases, positions, stored)
    erased = stored.erased_in(context.run_id).keys()
    calls = answer_calls(context.spec, open_cases(cases, erased))
    answered = AnsweredCases(
        context.spec, context.run_id, stored, cases, calls, positions, context.block_calls, erased=erased, noted=noted
    )
    if not part.answers or context.spec.target is None:
        await answered.read_all()
    async with RunWriter(context.ledger, "records of a run") as writer:
        work = _RunWork(context, cases, part, answered, writer)
        target = work.target(calls)
        # what is planned next, with adaptive passes or in batches, is planned from all answers
        if target and (context.spec.adaptive is not None or _batched(context)):
            await blocks.carry_out(target, worker)
            target = []
        planned = PhasePasses(passes=await work.passes())
        open_calls = await work.judge(planned, target, blocks, worker)
        open_ends = answered.unanswered if part.answers else 0
        while context.spec.adaptive is not None and not open_ends + open_calls:
            found = await work.passes()
            if found.items == planned.passes.items:
                break
            planned = PhasePasses(passes=found, after=planned.passes)
            open_calls = await work.judge(planned, [], blocks, worker)
    await blocks.finish(worker)
    return open_ends + open_calls


def _noted(run_id: str, cases: Sequence[RunCase], positions: Mapping[str, int], stored: Answers) -> Mapping[int, int]:
    """Store the answers that come with the cases, unless an earlier process of the run has; return their numbers by position."""
    noted = stored.noted_in(run_id)
    given = (item for item in cases if item.answer_id or item.case.response is not None)
    missing = (item for item in given if positions[item.case.id] not in noted)
    added = False
    while new := list(islice(missing, _STORED_AT_ONCE)):
        links = [CaseAnswer(run_id, positions[case], id) for case, id in answer_ids(new, [], {}).items()]
        stored.append_judged([*recorded_answers(new, datetime.now(UTC)), *links])
        added = True
    return stored.noted_in(run_id) if added else noted


class _RunWork:
    """The phases of a run."""

    def __init__(
        self, context: RunContext, cases: Sequence[RunCase], part: RunPart, answered: AnsweredCases, writer: RunWriter
    ) -> None:
        """Prepare; `writer` commits judgments."""
        self._context, self._cases, self._part, self._answered, self._writer = context, cases, part, answered, writer
        self._session = Session(
            context.spec,
            context.settings,
            RunJudgments(context.ledger, writer),
            kind="bench",
            run_id=context.run_id,
            traffic=context.traffic,
            stops_at_outage=True,
            concurrency=context.spec.concurrency,
        )
        self._in_use: Counter[ModelReference] = Counter()

    def target(self, calls: Sequence[AnswerCall]) -> list[tuple[Place, Phase]]:
        """The phase of the target, if it is asked."""
        context = self._context
        if context.spec.target is None or not self._part.answers:
            return []
        place = places(context.spec, context.named_by, [""] * len(context.spec.judges), answers=True)[0]
        return [(place, TargetPhase(context, context.spec.target, calls, self._answered, self._writer))]

    async def passes(self) -> RunPasses:
        """The passes that are planned by what the ledger holds."""
        context, answered = self._context, self._answered
        if context.spec.adaptive is None:
            return RunPasses()
        found = (context.ledger, context.run_id, context.spec, self._cases, answered.judged, answered.numbers)
        return await asyncio.to_thread(passes_so_far, *found)

    async def judge(self, planned: PhasePasses, others: Sequence[tuple[Place, Phase]], blocks: RunBlocks, worker: Opening) -> int:
        """Carry out a phase of each judge, together with other phases; return the number of open calls."""
        part, names = self._part, _batched(self._context)
        wanted = [judge for judge in self._context.spec.judges if part.judges is None or judge.name in part.judges]
        direct, later = ([judge for judge in wanted if (judge.name in names) == there] for there in (False, True))
        batches = asyncio.create_task(self._batches(later, planned))
        try:
            open_calls = await self._phases(direct, planned, others, blocks, worker)
            await batches
        finally:
            batches.cancel()  # without effect where it has ended; what is out stays out
            await asyncio.gather(batches, return_exceptions=True)
        return open_calls + await self._phases(later, planned, [], blocks, worker)

    async def _batches(self, judges: Sequence[Judge], planned: PhasePasses) -> None:
        """Send the calls of judges through batch services, and store what comes back."""
        context, only = self._context, self._part.servers
        asked = [judge for judge in judges if only is None or server_of(judge.reference, context.named_by) in only]
        if asked:
            from areopage.bench.execution.batch_judges import carry_out_batches

            await carry_out_batches(context, asked, self._answered, planned, self._writer)

    async def _phases(
        self,
        judges: Sequence[Judge],
        planned: PhasePasses,
        others: Sequence[tuple[Place, Phase]],
        blocks: RunBlocks,
        worker: Opening,
    ) -> int:
        """Carry out a phase of each of these judges, together with other phases; return the number of open calls."""
        spec, part, context = self._context.spec, self._part, self._context
        if not judges and not others:
            return 0
        phases = {planned.phase_of(judge): self._phase(judge, planned) for judge in judges}
        names = [planned.phase_of(judge) if judge in judges else "" for judge in spec.judges]
        there = places(spec, context.named_by, names, answers=bool(others))
        mine = [one for one in there if one.name in phases and (part.servers is None or one.server in part.servers)]
        self._in_use = Counter(phases[one.name].judge.reference for one in mine)
        await blocks.carry_out([*others, *((one, phases[one.name]) for one in mine)], worker)
        return sum(phases[one.name].open_calls for one in mine)

    def _phase(self, judge: Judge, planned: PhasePasses) -> JudgePhase:
        store = RunJudgments(self._context.ledger, self._writer)
        return JudgePhase(self._context, judge, self._session, store, self._answered, planned, self._release)

    async def _release(self, judge: Judge) -> None:
        """Close a judge's model, unless another phase asks it."""
        self._in_use[judge.reference] -= 1
        if not self._in_use[judge.reference]:
            await self._session.release(judge)


def _batched(context: RunContext) -> set[str]:
    """The names of the judges whose calls are in batches: those that send them, and those with batches at the provider."""
    stored, run_id = context.ledger.batches, context.run_id
    return {*context.spec.batch, *(batch.phase for batch in (*stored.open_in(run_id), *stored.kept_in(run_id)))}
