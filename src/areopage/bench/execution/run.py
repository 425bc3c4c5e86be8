"""Execute a run in phases: all answers, then judge by judge. Calls stored in the ledger are not repeated."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from areopage.bench.conversations.turns import replies
from areopage.bench.execution.blocks import RunBlocks
from areopage.bench.execution.context import RunContext
from areopage.bench.execution.judge_phase import JudgePhase, PhasePasses, RunJudgments
from areopage.bench.execution.target_phase import TARGET_PHASE, TargetPhase
from areopage.bench.keys import AnswerCall, answer_calls, answer_ids, judged_cases, open_cases, recorded_answers
from areopage.bench.passes import RunPasses, passes_so_far
from areopage.bench.spec import RunCase
from areopage.jury.judges import Judge
from areopage.jury.plan import JudgedCase
from areopage.jury.session import Session
from areopage.ledger.answers import Answers, CaseAnswer, Record
from areopage.ledger.batch import Batch
from areopage.ledger.records import SETTLED
from areopage.work.worker import OpenWorker, Pace, working

PACE = Pace(heartbeat=2.0)
DEAD_AFTER = 30.0
"""Seconds without a heartbeat after which other processes take over the blocks of a process."""


class RunPart(Struct, frozen=True, kw_only=True):
    """A part of a run's calls: the target's answers, and the judgments of some judges by name; None: of all.

    Processes share the work of parts with the same name, which must be equal; parts with different names have no call in common.
    """

    answers: bool = True
    judges: tuple[str, ...] | None = None
    name: str = ""

    def of(self, run_id: str) -> str:
        """What the processes that do this part of a run call it."""
        return f"{run_id}:{self.name}" if self.name else run_id


WHOLE = RunPart()


def run_pool(part: str) -> str:
    """The worker pool of the processes that do a part of a run; see `RunPart.of`."""
    return f"bench:{part}"


async def carry_out(context: RunContext, cases: Sequence[RunCase], folder: Path, part: RunPart = WHOLE) -> int:
    """Make the calls that the ledger lacks.

    Returns how many of them are open: another try could bring them.

    Several processes may carry out one run: each call is made by one of them. Calls that timed out or found no server are open,
    and resuming tries them again. A case whose answer is erased is neither answered nor judged again.

    Args:
        folder: the run's.
        part: what is done of it.

    Raises:
        ServerDown, ModelError, StorageError: the run stops; what arrived is kept.
    """
    stored, positions = Answers(context.ledger), {item.case.id: position for position, item in enumerate(cases)}
    recorded = [CaseAnswer(context.run_id, positions[case], id) for case, id in answer_ids(cases, [], {}).items()]
    stored.append_judged([*recorded_answers(cases, datetime.now(UTC)), *recorded])
    every, cases = cases, open_cases(cases, stored.erased_in(context.run_id))
    calls = answer_calls(context.spec, cases)
    blocks = RunBlocks(part.of(context.run_id))
    pool = run_pool(part.of(context.run_id))
    async with working(context.ledger, blocks, pool=pool, folder=folder, dead_after=DEAD_AFTER, pace=PACE) as worker:
        if part.answers:
            await _ask_target(context, calls, positions, blocks, worker)
        answers = replies(stored, context.run_id, calls, positions)
        judged = judged_cases(context.spec, cases, calls, answers)
        ids = answer_ids(cases, calls, answers)
        by_id = stored.numbers(list(ids.values()))
        numbers = {case: by_id[id] for case, id in ids.items()}
        unanswered = [call.key not in answers or answers[call.key].state not in SETTLED for call in calls]
        open_ends = sum(unanswered) if part.answers else 0
        work = _JudgeWork(
            judges=[judge for judge in context.spec.judges if part.judges is None or judge.name in part.judges],
            cases=judged,
            positions=positions,
            numbers=numbers,
        )
        planned = PhasePasses(passes=await _passes(context, every, work))
        open_calls = await _ask_judges(context, work, planned, blocks, worker)
        while context.spec.adaptive is not None and not open_ends + open_calls:
            found = await _passes(context, every, work)
            if found.items == planned.passes.items:
                break
            planned = PhasePasses(passes=found, after=planned.passes)
            open_calls = await _ask_judges(context, work, planned, blocks, worker)
        open_ends += open_calls
        await blocks.finish(worker)
    return open_ends


async def _ask_target(
    context: RunContext, calls: Sequence[AnswerCall], positions: Mapping[str, int], blocks: RunBlocks, worker: OpenWorker
) -> None:
    if context.spec.target is None:
        return
    async with TargetPhase(context, context.spec.target, calls, positions) as phase:
        context.observer.phase(TARGET_PHASE, phase.total, phase.kept)
        await blocks.carry_out(phase, worker)


class _JudgeWork(Struct, frozen=True, kw_only=True):
    """Which judges are asked about which cases; positions are those of all cases in the run, numbers those of their answers."""

    judges: Sequence[Judge]
    cases: Sequence[JudgedCase]
    positions: Mapping[str, int]
    numbers: Mapping[str, int]


async def _passes(context: RunContext, cases: Sequence[RunCase], work: _JudgeWork) -> RunPasses:
    return await asyncio.to_thread(passes_so_far, context.ledger, context.run_id, context.spec, cases, work.cases, work.numbers)


async def _ask_judges(context: RunContext, work: _JudgeWork, planned: PhasePasses, blocks: RunBlocks, worker: OpenWorker) -> int:
    """Call judge by judge, so that a server keeps one model in memory.

    Returns the number of open calls.
    """
    spec, open_calls = context.spec, 0
    async with Batch[Record, None](Answers(context.ledger).append_judged, what="judgments") as writer:
        store = RunJudgments(context.ledger, writer)
        session = Session(
            spec,
            context.settings,
            store,
            kind="bench",
            run_id=context.run_id,
            traffic=context.traffic,
            stops_at_outage=True,
            concurrency=spec.concurrency,
        )
        for judge in work.judges:
            phase = JudgePhase(context, judge, session, store, work.cases, work.positions, work.numbers, planned)
            if planned.after is not None and not phase.total:
                continue
            context.observer.phase(judge.name, phase.total, await phase.look_up())
            try:
                await blocks.carry_out(phase, worker)
            finally:
                await session.release(judge)
            open_calls += await phase.open_calls()
    return open_calls
