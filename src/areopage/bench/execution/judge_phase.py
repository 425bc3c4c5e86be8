"""The calls to one judge that have no final judgment in the ledger."""

import asyncio
from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, pairwise

import msgspec
from msgspec import Struct

from areopage.bench.execution.answered import AnsweredCases
from areopage.bench.execution.blocks import blocks_of
from areopage.bench.execution.context import RunContext
from areopage.bench.keys import given_in
from areopage.bench.passes import RunPasses
from areopage.bench.spec import RunSpec
from areopage.criteria import Criterion, turns_to_judge
from areopage.jury import CallPlan, CallResult, Judge, PlannedCall, Session, SharedCall, final_of
from areopage.ledger import WITHHELD, Judgment, Ledger, Link, RunWriter
from areopage.scoring import NotApplicable, Outcome, Scored, Unreachable
from areopage.text import FAILED, marked_as

_LOOKED_UP_AT_ONCE = 4
"""Blocks with open calls that are looked up before they are given out: the first call does not wait for the last look-up."""


class _PlannedCases(Struct, frozen=True):
    """Cases that were answered at the same time, by their positions in the run, and the calls about them."""

    positions: "array[int]"
    plan: CallPlan


@dataclass(slots=True, eq=False)
class _CallBlock:
    """The calls about some criteria and some cases that follow each other in the run.

    Args:
        criteria: their ids.
        cases: their positions in the run.
        expected: about how many calls there are, were all cases answered.
        portion: what plans the calls; None before all cases are answered, and once the block has ended.
        made_before: the keys of calls that an earlier block makes, about identical cases.
        any_final: whether any call was final when the block was looked up.
        open_calls: how many calls are open; None before the block has ended.
    """

    criteria: Set[str]
    cases: range
    expected: int = 0
    portion: _PlannedCases | None = None
    made_before: Set[str] = frozenset()
    any_final: bool = True
    open_calls: int | None = None

    def planned(self) -> dict[str, SharedCall]:
        """The calls about the criteria and the cases, by their keys."""
        if self.portion is None:
            return {}
        positions, plan = self.portion.positions, self.portion.plan
        start, stop = (bisect_left(positions, position) for position in (self.cases.start, self.cases.stop))
        groups = [group for group in plan.groups if group[0].id in self.criteria]
        return {shared.call.key: shared for group in groups for shared in plan.shared(group, start, stop)}

    def calls(self) -> dict[str, SharedCall]:
        """The calls that the block makes, by their keys."""
        return {key: shared for key, shared in self.planned().items() if key not in self.made_before}


class JudgePhase:
    """The calls to one judge, in blocks: of a criterion and cases that follow each other, or of several criteria and all cases.

    A block can be done once all its cases are answered. It plans its calls when they are made: no phase holds all of them.
    Identical cases share their calls: the block of the first such case makes them.
    """

    def __init__(
        self,
        context: RunContext,
        judge: Judge,
        session: Session,
        store: "RunStore",
        answered: AnsweredCases,
        passes: RunPasses,
        release: Callable[[Judge], Awaitable[None]],
    ) -> None:
        """Cut the calls into blocks, criterion by criterion, so that a server keeps the constant part of the prompt."""
        self.judge, self.name, self._release = judge, passes.phase_of(judge), release
        self._context, self._session, self._store = context, session, store
        self._answered, self._passes = answered, passes
        calls, criteria = max(1, len(answered.positions) * judge.passes), [criterion.id for criterion in context.spec.criteria]
        cases, count = len(answered.positions), blocks_of(calls, context.block_calls)
        parts = [range(first, end) for first, end in pairwise(-(-part * cases // count) for part in range(count + 1))]
        together = max(1, context.block_calls // calls)
        self._parts = len(parts)
        self._criteria = [criteria[start : start + together] for start in range(0, len(criteria), together)]
        self._blocks = [_CallBlock(frozenset(ids), cases) for ids in self._criteria for cases in parts]
        """By their numbers: the parts of the cases under each criterion, or each few criteria, in turn."""
        self._unplanned = dict(enumerate(_needed(parts, answered)))
        """By the number of a part of the cases: the positions whose answers must be known before its blocks are planned."""
        twins = ({place, first} for place, first in answered.firsts.items() if first != place)
        self._twins = frozenset(chain.from_iterable(twins))
        self._twin_keys: set[str] = set()
        """The keys of the calls about cases that have identical ones, as far as they are planned."""
        self._to_look_up: deque[int] = deque()
        self._next: list[int] = []
        self._total = self._final = self._before = 0
        self._reported = (-1, -1)

    @property
    def open_calls(self) -> int:
        """The number of calls that timed out, were unreachable or were not made, of the blocks that have ended."""
        return sum(block.open_calls or 0 for block in self._blocks)

    # --- what is to be done

    async def prepare(self) -> None:
        """Plan the calls about the cases that are answered, and look the first ones up in the ledger."""
        self._before = await asyncio.to_thread(self._context.ledger.last_judgment)
        await asyncio.to_thread(self._expect)
        self._next = await self._next_blocks()

    @property
    def complete(self) -> bool:
        """Whether all blocks were given out."""
        return not (self._unplanned or self._to_look_up or self._next)

    async def more(self) -> list[int]:
        """Look up blocks whose cases are answered; return some that have open calls."""
        numbers, self._next = self._next or await self._next_blocks(), []
        counts = (self._total, self._final)
        if counts != self._reported and (self._total or self._passes.earlier is None):
            self._reported = counts
            self._context.observer.phase(self.name, *counts)
        return numbers

    async def _next_blocks(self) -> list[int]:
        if self._unplanned:
            await asyncio.to_thread(self._plan_answered)
        numbers: list[int] = []
        while self._to_look_up and len(numbers) < _LOOKED_UP_AT_ONCE:
            number = self._to_look_up.popleft()
            if await self._look_up(self._blocks[number]):
                numbers.append(number)
        return numbers

    def _plan_answered(self) -> None:
        """Plan the blocks of the cases that were answered since the last time."""
        answered, context = self._answered, self._context
        ready = [part for part, needed in self._unplanned.items() if all(map(answered.is_known, chain(*needed)))]
        if not ready:
            return
        cases = [position for part in ready for position in self._blocks[part].cases]
        positions = array("I", [position for position in cases if answered.by_position[position] is not None])
        judged = [case for position in positions if (case := answered.by_position[position]) is not None]
        plan = context.spec.call_plan(judged, self.judge, self._passes.of, answered.shown(positions))
        portion, asked = _PlannedCases(positions, plan), {group[0].id for group in plan.groups}
        planned_before = frozenset(self._twin_keys)
        for number in sorted(number for part in ready for number in range(part, len(self._blocks), self._parts)):
            block = self._blocks[number]
            if block.criteria.isdisjoint(asked):
                self._total -= block.expected
                continue
            block.portion = portion
            if not self._twins.isdisjoint(block.cases):
                keys = block.planned().keys()
                block.made_before = keys & planned_before
                self._twin_keys |= keys
            self._to_look_up.append(number)
        for part in ready:
            del self._unplanned[part]

    async def _look_up(self, block: _CallBlock) -> bool:
        """Look a block's calls up in the ledger; returns whether any is open.

        Judgments of replies that are withheld are made here; no judge is asked.
        """
        calls = await asyncio.to_thread(block.calls)
        final = await asyncio.to_thread(self._store.final, calls)
        final |= await asyncio.to_thread(self._withhold, [shared for key, shared in calls.items() if key not in final])
        self._total, self._final = self._total + len(calls) - block.expected, self._final + len(final)
        block.any_final = bool(final)
        return len(final) < len(calls)

    def _withhold(self, calls: Sequence[SharedCall]) -> set[str]:
        """Judge those calls whose reply is withheld; return their keys."""
        withheld = [shared for shared in calls if marked_as(shared.call.case.response)]
        run_id, spec = self._context.run_id, self._context.spec
        judgments: list[Judgment] = []
        for shared in withheld:
            judged = self._answered.by_position[self._answered.positions[shared.call.case.id]]
            criteria = judged.criteria if judged is not None else ()
            judgments.append(judgment_of_withheld(shared.call, run_id, spec, criteria))
        self._keep(withheld, judgments)
        return {shared.call.key for shared in withheld}

    def _expect(self) -> None:
        """Count about how many calls there are in each block, by the first criterion that they ask about, were all answered."""
        spec, judge = self._context.spec, self.judge
        places = {id: place for place, ids in enumerate(self._criteria) for id in ids}
        groups_about = spec.call_groups(judge)
        for part in range(self._parts):
            for position in self._blocks[part].cases:
                if position in self._answered.erased:
                    continue
                item = self._answered.cases[position]
                for first, *_ in groups_about(item):
                    block = self._blocks[places[first.id] * self._parts + part]
                    for turn in turns_to_judge(first.scope, item.case, given_in(item)):
                        block.expected += len(self._passes.of(item.case.id, first.id, judge, turn))
        self._total = sum(block.expected for block in self._blocks)

    # --- a block

    def has_left(self, number: int) -> bool:
        """Whether calls of a block have no final judgment and were not tried since the phase began."""
        return bool(self._untried(self._blocks[number])[0])

    async def ask(self, number: int, all_begun: Callable[[], None]) -> None:
        """Make the calls of a block that are left; on return the judgments are in the ledger."""
        block = self._blocks[number]
        left, tried = await asyncio.to_thread(self._untried, block)
        judgments = await self._session.known((shared.call for shared in tried), self._store) if tried else {}
        by_key = {shared.call.key: shared for shared in left}

        def report(judgment: Judgment) -> None:
            self._context.observer.judged(judgment, by_key[judgment.key].cases)

        self._store.link(self._links(left))
        await self._session.ask([shared.call for shared in left], judgments, report, self._store, all_begun)
        await self._store.flush()
        block.open_calls = len(left) + len(tried) - sum(not judgment.is_open for judgment in judgments.values())

    def give_up(self, number: int, reason: str) -> None:
        """Record a block's open calls as failed."""
        run_id, outcome = self._context.run_id, Unreachable(reason=reason)
        left = self._untried(self._blocks[number])[0]
        self._keep(left, [shared.call.without_answer(outcome).judgment(shared.call, run_id) for shared in left])

    def _keep(self, calls: Sequence[SharedCall], judged: Sequence[Judgment]) -> None:
        self._context.ledger.answers.append_judged([*judged, *self._links(calls)])

    async def ended(self, numbers: Collection[int]) -> None:
        """Count the open calls of blocks that other processes have done, and let go of plans."""
        for block in [self._blocks[number] for number in numbers]:
            if block.open_calls is None:
                calls = await asyncio.to_thread(block.calls)
                block.open_calls = len(calls) - len(await asyncio.to_thread(self._store.final, calls))
            block.portion, block.made_before = None, frozenset()

    async def close(self) -> None:
        """Close the judge, unless another phase asks it."""
        await self._release(self.judge)

    def _links(self, calls: Sequence[SharedCall]) -> list[Link]:
        run_id, number_of = self._context.run_id, self._answered.number_of
        return [
            Link(answer, run_id, shared.call.key) for shared in calls for answer in dict.fromkeys(map(number_of, shared.cases))
        ]

    def _untried(self, block: _CallBlock) -> tuple[list[SharedCall], list[SharedCall]]:
        """The calls of a block that are not known to be final: not tried since the phase began, and tried by other processes."""
        calls = block.calls()
        if block.any_final:
            final = self._store.final(calls)
            calls = {key: shared for key, shared in calls.items() if key not in final}
        tried = self._context.ledger.judged_after(list(calls), self._before)
        return [shared for key, shared in calls.items() if key not in tried], [calls[key] for key in tried]


def _needed(parts: Sequence[range], answered: AnsweredCases) -> list[list[range]]:
    """The positions of the cases whose answers must be known before a part of the cases is planned.

    They are its own, and those of an earlier part that has identical cases: that part is planned first, so that the calls that
    both share belong to the same block in every process.
    """
    needed: list[list[range]] = []
    for number, cases in enumerate(parts):
        first_of = {answered.firsts.get(position, position) for position in cases} if answered.firsts else ()
        earlier = sorted({position * len(parts) // len(answered.positions) for position in first_of} - {number})
        needed.append([cases, *dict.fromkeys(positions for part in earlier for positions in needed[part])])
    return needed


def judgment_of_withheld(call: PlannedCall, run_id: str, spec: RunSpec, criteria: Sequence[Criterion]) -> Judgment:
    """The judgment of a reply that is withheld, made without the judge: the text is not shown, and it cannot pass.

    It gets the worst score on the criterion that it is withheld for; the others do not apply. Where the case has no such
    criterion, it gets the worst score on those whose failures count first, or else on all.

    Args:
        criteria: all that the case is judged on.
    """
    kind, first = marked_as(call.case.response), spec.failures.categories(spec.criteria)
    withheld_for = [criterion for criterion in criteria if kind is not None and criterion.name == FAILED[kind]]
    failed = {
        criterion.id
        for criterion in withheld_for or [criterion for criterion in criteria if criterion.category in first] or criteria
    }
    explanation = f"withheld: {kind}; the reply is not shown to judges and fails"
    outcomes: dict[str, Outcome] = {}
    for criterion in call.criteria:
        scale = criterion.scale
        worst = scale.min if scale.higher_is_better else scale.max
        fails = criterion.id in failed
        outcomes[criterion.id] = Scored(score=worst, explanation=explanation) if fails else NotApplicable(explanation=explanation)
    made = CallResult(outcomes=outcomes, steps=(WITHHELD,)).judgment(call, run_id)
    return msgspec.structs.replace(made, calls=0)


class RunStore:
    """The judgments of a run, looked up in the ledger and written by the run's own writer."""

    def __init__(self, ledger: Ledger, writer: RunWriter) -> None:
        self._ledger, self._writer, self.secret = ledger, writer, ledger.secret()

    def link(self, links: Sequence[Link]) -> None:
        """Queue the links of calls that are about to be made: each is on disk no later than the judgment of its call.

        Where an answer is erased meanwhile, its links name what is said of it.
        """
        self._writer.write_soon(links)

    async def known(self, keys: Sequence[str]) -> Mapping[str, Judgment]:
        """Return the judgments that the ledger has."""
        return await asyncio.to_thread(self._ledger.judgments, keys)

    def final(self, calls: Mapping[str, SharedCall]) -> set[str]:
        """Return the keys of the calls that have a final judgment; of most of them only that is read."""
        whole = self._ledger.judged_wholly(list(calls))
        left = [shared.call for key, shared in calls.items() if key not in whole]
        return whole | final_of(left, self._ledger.judgments([call.key for call in left])).keys()

    def append(self, judgment: Judgment, settled: Callable[[], None]) -> None:
        """Queue a judgment to be written soon."""
        self._writer.write_soon([judgment], settled=settled)

    async def flush(self) -> None:
        """Wait until all judgments so far are on disk."""
        await self._writer.flush()
