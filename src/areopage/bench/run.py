"""Execute a run in phases: all answers, then judge by judge. Calls stored in the ledger are not repeated."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from areopage.bench.blocks import RunBlocks
from areopage.bench.context import RunContext
from areopage.bench.conversations import replies
from areopage.bench.judge_phase import JudgePhase, RunJudgments
from areopage.bench.keys import AnswerCall, answer_calls, answer_ids, judged_cases, open_cases, recorded_answers
from areopage.bench.spec import RunCase
from areopage.bench.target_phase import TARGET_PHASE, TargetPhase
from areopage.jury.plan import JudgedCase
from areopage.jury.session import Session
from areopage.ledger.answers import Answers, CaseAnswer, Record
from areopage.ledger.batch import Batch
from areopage.ledger.records import REPLIED
from areopage.work.worker import OpenWorker, Pace, working

# What does not keep a run open. A call that was turned away (a content filter) is asked again when a run is resumed, for the
# server may have been set up wrongly; but a run does not wait for it.
SETTLED = (*REPLIED, "refused")

PACE = Pace(heartbeat=2.0)
DEAD_AFTER = 30.0
"""Seconds without a heartbeat after which other processes take over the blocks of a process."""


async def carry_out(context: RunContext, cases: Sequence[RunCase], folder: Path) -> None:
    """Make the calls that the ledger lacks, then record whether the run is complete.

    Several processes may carry out one run: each call is made by one of them. A run is complete when nothing is left that another
    try could bring; calls that timed out or found no server are left, and resuming tries them again. A case whose answer is
    erased is neither answered nor judged again.

    Args:
        folder: the run's.

    Raises:
        ServerDown, ModelError, StorageError: the run stops; what arrived is kept.
    """
    stored, positions = Answers(context.ledger), {item.case.id: position for position, item in enumerate(cases)}
    recorded = [CaseAnswer(context.run_id, positions[case], id) for case, id in answer_ids(cases, [], {}).items()]
    stored.append_judged([*recorded_answers(cases, datetime.now(UTC)), *recorded])
    cases = open_cases(cases, stored.erased_in(context.run_id))
    calls = answer_calls(context.spec, cases)
    blocks = RunBlocks(context.run_id)
    pool = f"bench:{context.run_id}"
    async with working(context.ledger, blocks, pool=pool, folder=folder, dead_after=DEAD_AFTER, pace=PACE) as worker:
        await _ask_target(context, calls, positions, blocks, worker)
        answers = replies(stored, context.run_id, calls, positions)
        judged = judged_cases(context.spec, cases, calls, answers)
        ids = answer_ids(cases, calls, answers)
        by_id = stored.numbers(list(ids.values()))
        numbers = {case: by_id[id] for case, id in ids.items()}
        open_ends = sum(call.key not in answers or answers[call.key].state not in SETTLED for call in calls)
        open_ends += await _ask_judges(context, judged, positions, numbers, blocks, worker)
        await blocks.finish(worker)
    context.ledger.finish_run(context.run_id, datetime.now(UTC) if open_ends == 0 else None)


async def _ask_target(
    context: RunContext, calls: Sequence[AnswerCall], positions: Mapping[str, int], blocks: RunBlocks, worker: OpenWorker
) -> None:
    if context.spec.target is None:
        return
    async with TargetPhase(context, context.spec.target, calls, positions) as phase:
        context.observer.phase(TARGET_PHASE, phase.total, phase.kept)
        await blocks.carry_out(phase, worker)


async def _ask_judges(
    context: RunContext,
    cases: Sequence[JudgedCase],
    positions: Mapping[str, int],
    numbers: Mapping[str, int],
    blocks: RunBlocks,
    worker: OpenWorker,
) -> int:
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
            outage_seconds=spec.outage_seconds,
            stops_at_outage=True,
            concurrency=spec.concurrency,
        )
        for judge in spec.judges:
            phase = JudgePhase(context, judge, session, store, cases, positions, numbers)
            context.observer.phase(judge.name, phase.total, await phase.look_up())
            try:
                await blocks.carry_out(phase, worker)
            finally:
                await session.release(judge)
            open_calls += await phase.open_calls()
    return open_calls
