"""The calls to one judge that have no final judgment in the ledger."""

import asyncio
from array import array
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, pairwise

import msgspec
from msgspec import Struct

from areopage.bench.execution.answered import AnsweredCases
from areopage.bench.execution.blocks import blocks_of
from areopage.bench.execution.context import RunContext
from areopage.bench.execution.phases import ROUND
from areopage.bench.keys import given_in
from areopage.bench.passes import RunPasses
from areopage.bench.spec import RunCase, RunSpec
from areopage.criteria import SINGLE, Criterion, concerns, turns_to_judge
from areopage.jury import CallPlan, CallResult, Judge, PlannedCall, Session, SharedCall, by_scope, final_of, no_passes
from areopage.ledger import WITHHELD, Judgment, Ledger, Link, RunWriter
from areopage.scoring import NotApplicable, Outcome, Scored, Unreachable
from areopage.text import FAILED, marked_as

_LOOKED_UP_AT_ONCE = 4
"""Blocks with open calls that are looked up before they are given out: the first call does not wait for the last look-up."""


class PhasePasses(Struct, frozen=True, kw_only=True):
    """The passes that a phase makes: those planned so far, but for those of `after`, which earlier phases have made."""

    passes: RunPasses
    after: RunPasses | None = None

    @property
    def round(self) -> int:
        """The number of the round, from 1."""
        return self.passes.plan.rounds if self.passes.plan is not None else 1

    def phase_of(self, judge: Judge) -> str:
        """The name of a judge's phase, unique in the run."""
        return judge.name if self.round == 1 else f"{judge.name}{ROUND}{self.round})"


class _Portion(Struct, frozen=True):
    """Cases that were answered at the same time, by their positions in the run, and the calls about them."""

    positions: "array[int]"
    plan: CallPlan


class JudgePhase:
    """The calls to one judge, in blocks: of a criterion, and of cases that follow each other in the run.

    A block can be done once all its cases are answered. It plans its calls when they are made: no phase holds all of them.
    Identical cases share their calls: the block of the first such case makes them.
    """

    def __init__(
        self,
        context: RunContext,
        judge: Judge,
        session: Session,
        store: "RunJudgments",
        answered: AnsweredCases,
        planned: PhasePasses,
        release: Callable[[Judge], Awaitable[None]],
    ) -> None:
        """Cut the calls into blocks, criterion by criterion, so that a server keeps the constant part of the prompt.

        Args:
            store: where the session keeps the judgments of this phase, and of no other.
            answered: the cases, as they are answered.
            planned: which passes the phase makes.
            release: closes the judge where no other phase asks it.
        """
        self.judge, self.name, self._release = judge, planned.phase_of(judge), release
        self._context, self._session, self._store = context, session, store
        self._answered, self._planned = answered, planned
        self._of_criterion = blocks_of(len(answered.positions) * judge.passes, context.block_calls)
        self._places = _case_blocks(answered, self._of_criterion)
        self._unanswered = dict(enumerate(_needed(self._places, answered)))
        self._twins = _with_twins(answered)
        self._portion_of: dict[int, _Portion] = {}
        self._made_before: dict[int, set[str]] = {}  # by block of cases: keys of identical cases that earlier portions made
        self._twin_keys: set[str] = set()
        self._to_look_up: deque[int] = deque()
        self._expected: Counter[int] = Counter()
        self._kept: dict[int, int] = {}
        self._open: dict[int, int] = {}
        self._counts = (-1, -1)
        self._found: list[int] = []
        self._before = self._total = self._looked_up = self._given = 0

    @property
    def open_calls(self) -> int:
        """The number of calls that timed out, were unreachable or were not made, of the blocks that have ended."""
        return sum(self._open.values())

    # --- what is to be done

    async def prepare(self) -> None:
        """Plan the calls about the cases that are answered, and look the first ones up in the ledger."""
        self._before = await asyncio.to_thread(self._context.ledger.last_judgment)
        self._expected = await asyncio.to_thread(self._count_expected)
        self._found = await self._next_blocks()

    async def begin(self) -> None:
        """Do nothing: the session opens the judge at its first call."""

    @property
    def complete(self) -> bool:
        """Whether all blocks were given out."""
        return not (self._unanswered or self._to_look_up or self._found)

    async def more(self) -> list[int]:
        """Look up blocks whose cases are answered; return some that have open calls."""
        found, self._found = self._found or await self._next_blocks(), []
        self._given += len(found)
        counts = (self._total + sum(self._expected.values()), self._looked_up)
        if counts != self._counts and (counts[0] or self._planned.after is None):
            self._counts = counts
            self._context.observer.phase(self.name, *counts)
        return found

    async def _next_blocks(self) -> list[int]:
        if self._unanswered:
            await asyncio.to_thread(self._plan_answered)
        found: list[int] = []
        while self._to_look_up and len(found) < _LOOKED_UP_AT_ONCE:
            number = self._to_look_up.popleft()
            if await self._look_up(number):
                found.append(number)
        return found

    def _plan_answered(self) -> None:
        """Plan the calls about the blocks of cases that were answered since the last time."""
        answered, context, planned = self._answered, self._context, self._planned
        ready = [number for number, needed in self._unanswered.items() if all(map(answered.is_known, chain(*needed)))]
        if not ready:
            return
        there = [place for number in ready for place in self._places[number]]
        judged = [one for one in map(answered.judged_at, there) if one is not None]
        positions = array("I", [place for place in there if answered.judged_at(place) is not None])
        before = planned.after.of if planned.after is not None else no_passes
        plan = context.spec.call_plan(judged, self.judge, planned.passes.of, before, answered.shown(positions))
        portion = _Portion(positions, plan)
        for number in ready:
            self._portion_of[number] = portion
        if self._twins:
            self._note_twins(ready)
        criteria = {criterion.id: place for place, criterion in enumerate(context.spec.criteria)}
        places = sorted({criteria[group[0].id] for group in plan.groups})
        numbers = [place * self._of_criterion + number for place in places for number in ready]
        for number in self._expected.keys() - set(numbers):
            if number % self._of_criterion in ready:
                del self._expected[number]
        for number in ready:
            del self._unanswered[number]
        self._to_look_up.extend(numbers)

    def _note_twins(self, ready: Sequence[int]) -> None:
        """Leave out the calls about identical cases that blocks planned before make."""
        made = frozenset(self._twin_keys)
        criteria = range(len(self._context.spec.criteria))
        for number in ready:
            if not self._twins.isdisjoint(self._places[number]):
                keys = {key for place in criteria for key in self._planned_in(place * self._of_criterion + number)}
                self._made_before[number] = keys & made
                self._twin_keys |= keys

    async def _look_up(self, number: int) -> bool:
        """Look a block's calls up in the ledger; returns whether any is open.

        Judgments of replies that are withheld are made here; no judge is asked.
        """
        calls = await asyncio.to_thread(self._calls, number)
        held = await asyncio.to_thread(self._store.final, calls)
        held |= await asyncio.to_thread(self._withhold, [one for key, one in calls.items() if key not in held])
        self._expected.pop(number, None)
        self._total, self._looked_up = self._total + len(calls), self._looked_up + len(held)
        self._kept[number] = len(held)
        return len(held) < len(calls)

    def _calls(self, number: int) -> dict[str, SharedCall]:
        """The calls of a block, by their keys."""
        made = self._made_before.get(number % self._of_criterion, ())
        return {key: one for key, one in self._planned_in(number).items() if key not in made}

    def _planned_in(self, number: int) -> dict[str, SharedCall]:
        """The calls about the criterion and the cases of a block, by their keys."""
        place, block = divmod(number, self._of_criterion)
        first, cases, portion = self._context.spec.criteria[place].id, self._places[block], self._portion_of[block]
        start, stop = (bisect_left(portion.positions, one) for one in (cases.start, cases.stop))
        groups = [group for group in portion.plan.groups if group[0].id == first]
        return {one.call.key: one for group in groups for one in portion.plan.shared(group, start, stop)}

    def _withhold(self, calls: Sequence[SharedCall]) -> set[str]:
        """Judge those calls whose reply is withheld; return their keys."""
        withheld = [one for one in calls if marked_as(one.call.case.response)]
        run_id, spec = self._context.run_id, self._context.spec
        self._keep(withheld, [judgment_of_withheld(one.call, run_id, spec, self._criteria_of(one.call)) for one in withheld])
        return {one.call.key for one in withheld}

    def _criteria_of(self, call: PlannedCall) -> Sequence[Criterion]:
        """All criteria that a case is judged on."""
        judged = self._answered.judged_at(self._answered.positions[call.case.id])
        return judged.criteria if judged is not None else ()

    def _count_expected(self) -> Counter[int]:
        """About how many calls there are in each block, were all cases answered."""
        spec, count = self._context.spec, Counter[int]()
        criteria = {criterion.id: (place, criterion) for place, criterion in enumerate(spec.criteria)}
        for block, places in enumerate(self._places):
            alike: Counter[tuple[str, ...]] = Counter()
            for item in map(self._answered.case_at, places):
                if item is None:
                    continue
                if item.case.is_conversation or spec.adaptive is not None:
                    own = [criteria[id][1] for id in item.criteria]
                    for criterion, calls in _calls_about(self.judge, spec, self._planned, item, own):
                        count[criteria[criterion][0] * self._of_criterion + block] += calls
                else:
                    alike[item.criteria] += 1
            for ids, cases in alike.items():
                own = [one for one in (criteria[id][1] for id in ids) if self.judge.may_judge(one) and one.scope in SINGLE]
                for one in own[:1] if spec.joint and self.judge.is_model else own:
                    count[criteria[one.id][0] * self._of_criterion + block] += cases * self.judge.passes
        return count

    # --- a block

    def has_left(self, number: int) -> bool:
        """Whether calls of a block have no final judgment and were not tried since the phase began."""
        return bool(self._untried(number)[0])

    async def ask(self, number: int, all_begun: Callable[[], None]) -> None:
        """Make the calls of a block that are left; on return the judgments are in the ledger."""
        left, tried = await asyncio.to_thread(self._untried, number)
        held = await self._session.known((one.call for one in tried), self._store) if tried else {}
        shared = {one.call.key: one for one in left}

        def report(judgment: Judgment) -> None:
            self._context.observer.judged(judgment, shared[judgment.key].cases)

        self._store.link(self._links(left))
        await self._session.ask([one.call for one in left], held, report, self._store, all_begun)
        await self._store.flush()
        self._open[number] = len(left) + len(tried) - sum(not judgment.is_open for judgment in held.values())

    def give_up(self, number: int, reason: str) -> None:
        """Record a block's open calls as failed."""
        run_id, outcome = self._context.run_id, Unreachable(reason=reason)
        left = self._untried(number)[0]
        self._keep(left, [one.call.without_answer(outcome).judgment(one.call, run_id) for one in left])

    def _keep(self, calls: Sequence[SharedCall], judged: Sequence[Judgment]) -> None:
        """Store judgments that no judge was asked for."""
        self._context.ledger.answers.append_judged([*judged, *self._links(calls)])

    async def ended(self, numbers: Collection[int]) -> None:
        """Count the open calls of blocks that other processes have done."""
        for number in [number for number in numbers if number not in self._open]:
            calls = await asyncio.to_thread(self._calls, number)
            self._open[number] = len(calls) - len(await asyncio.to_thread(self._store.final, calls))

    async def close(self) -> None:
        """Close the judge, unless another phase asks it; plans of which no block is left are let go of."""
        if self.complete and len(self._open) == self._given:
            self._portion_of.clear()
            self._made_before.clear()
            self._twin_keys.clear()
        await self._release(self.judge)

    def _links(self, calls: Sequence[SharedCall]) -> list[Link]:
        """The links of calls to the answers that they are about."""
        run_id, number_of = self._context.run_id, self._answered.number_of
        return [Link(answer, run_id, one.call.key) for one in calls for answer in dict.fromkeys(map(number_of, one.cases))]

    def _untried(self, number: int) -> tuple[list[SharedCall], list[SharedCall]]:
        """The calls of a block that are not known to be final: not tried since the phase began, and tried by other processes."""
        calls = self._calls(number)
        if self._kept.get(number, 1):
            known = self._store.final(calls)
            calls = {key: one for key, one in calls.items() if key not in known}
        tried = self._context.ledger.judged_after(list(calls), self._before)
        return [one for key, one in calls.items() if key not in tried], [calls[key] for key in tried]


def _case_blocks(answered: AnsweredCases, blocks: int) -> list[range]:
    """The positions of the cases in each block."""
    cases = len(answered.positions)
    firsts = [-(-number * cases // blocks) for number in range(blocks + 1)]
    return [range(first, end) for first, end in pairwise(firsts)]


def _needed(places: Sequence[range], answered: AnsweredCases) -> list[list[range]]:
    """The positions of the cases whose answers must be known before a block of cases is planned.

    They are its own, and those of an earlier block that has identical cases: that block is planned first, so that the calls that
    both share belong to the same block in every process.
    """
    found: list[list[range]] = []
    for number, own in enumerate(places):
        first_of = {answered.firsts.get(place, place) for place in own} if answered.firsts else ()
        earlier = sorted({place * len(places) // len(answered.positions) for place in first_of} - {number})
        found.append([own, *dict.fromkeys(some for block in earlier for some in found[block])])
    return found


def _with_twins(answered: AnsweredCases) -> frozenset[int]:
    """The positions of cases that share their call to the target with others."""
    later = {place: first for place, first in answered.firsts.items() if first != place}
    return frozenset({*later, *later.values()})


def _calls_about(
    judge: Judge, spec: RunSpec, planned: PhasePasses, item: RunCase, criteria: Sequence[Criterion]
) -> Iterator[tuple[str, int]]:
    """How many calls there are about a case, were it answered, by the first criterion that they ask about."""
    own = [one for one in criteria if judge.may_judge(one) and concerns(one.scope, item.case)]
    for one, *_ in by_scope(own, item.case) if spec.joint and judge.is_model else [(one,) for one in own]:
        for turn in turns_to_judge(one.scope, item.case, given_in(item)):
            after = planned.after.of(item.case.id, one.id, judge, turn) if planned.after is not None else 0
            yield one.id, max(0, planned.passes.of(item.case.id, one.id, judge, turn) - after)


def judgment_of_withheld(call: PlannedCall, run_id: str, spec: RunSpec, criteria: Sequence[Criterion]) -> Judgment:
    """The judgment of a reply that is withheld, made without the judge: the text is not shown, and it cannot pass.

    It gets the worst score on the criterion that it is withheld for; the others do not apply. Where the case has no such
    criterion, it gets the worst score on those whose failures count first, or else on all.

    Args:
        criteria: all that the case is judged on.
    """
    kind, first = marked_as(call.case.response), spec.failures.categories(spec.criteria)
    own = [one for one in criteria if kind is not None and one.name == FAILED[kind]]
    failed = {one.id for one in own or [one for one in criteria if one.category in first] or criteria}
    told = f"withheld: {kind}; the reply is not shown to judges and fails"
    outcomes: dict[str, Outcome] = {}
    for criterion in call.criteria:
        scale = criterion.scale
        worst = scale.min if scale.higher_is_better else scale.max
        fails = criterion.id in failed
        outcomes[criterion.id] = Scored(score=worst, explanation=told) if fails else NotApplicable(explanation=told)
    made = CallResult(outcomes=outcomes, steps=(WITHHELD,)).judgment(call, run_id)
    return msgspec.structs.replace(made, calls=0)


class RunJudgments:
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
        left = [one.call for key, one in calls.items() if key not in whole]
        return whole | final_of(left, self._ledger.judgments([call.key for call in left])).keys()

    def append(self, judgment: Judgment, settled: Callable[[], None]) -> None:
        """Queue a judgment to be written soon."""
        self._writer.write_soon([judgment], settled=settled)

    async def flush(self) -> None:
        """Wait until all judgments so far are on disk."""
        await self._writer.flush()
