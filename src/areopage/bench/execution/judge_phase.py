"""The calls to one judge that have no final judgment in the ledger."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import pairwise

import msgspec
from msgspec import Struct

from areopage.bench.execution.answered import AnsweredCases
from areopage.bench.execution.blocks import blocks_of
from areopage.bench.execution.context import RunContext
from areopage.bench.keys import given_in
from areopage.bench.passes import RunPasses
from areopage.bench.spec import RunCase, RunSpec
from areopage.criteria.scopes import concerns, turns_to_judge
from areopage.jury.judges import Judge, Judged, PlannedCall, judgment_of, without_answer
from areopage.jury.panel import planned_calls
from areopage.jury.plan import JudgedCase
from areopage.jury.session import Session, is_open
from areopage.ledger.answers import Link, Record
from areopage.ledger.batch import Batch
from areopage.ledger.records import WITHHELD, Judgment
from areopage.ledger.store import Ledger
from areopage.scoring.outcome import NotApplicable, Outcome, Scored, Unreachable
from areopage.text.withholding import marked_as


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
        return judge.name if self.round == 1 else f"{judge.name} (round {self.round})"


class JudgePhase:
    """The calls to one judge, in blocks: of a criterion and of cases that follow each other.

    A block can be done once all its cases are answered. Identical cases share their calls: the block of the first such case makes
    them.
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
        """Divide the cases into blocks; nothing is planned.

        Args:
            store: where the session keeps the judgments of this phase, and of no other.
            answered: the cases, as they are answered.
            planned: which passes the phase makes.
            release: closes the judge where no other phase asks it.
        """
        self.judge, self.name, self._release = judge, planned.phase_of(judge), release
        self._context, self._session, self._store = context, session, store
        self._answered, self._planned = answered, planned
        self._criteria = {criterion.id: place for place, criterion in enumerate(context.spec.criteria)}
        self._places = _case_blocks(answered, blocks_of(len(answered.positions) * len(judge.passes), context.block_calls))
        self._unplanned = dict(enumerate(_needed(self._places, answered)))
        self._calls: dict[int, dict[str, PlannedCall]] = {}
        self._cases: dict[int, list[str]] = {}  # by the number of their answer
        self._first = context.spec.failures.categories(context.spec.criteria)
        self._held: dict[str, Judgment] = {}
        self._expected: dict[int, int] = {}  # calls about cases that are not answered yet, by the block of cases
        self._told = (-1, -1)
        self._found: list[int] = []
        self._before = self._total = self._kept = 0
        self.open_calls = 0
        """Calls of the blocks that have ended that timed out, were unreachable or were not made."""

    async def prepare(self) -> None:
        """Plan the calls about the cases that are answered, and look them up in the ledger."""
        self._before = await asyncio.to_thread(self._context.ledger.last_judgment)
        self._found += await self._plan_answered()
        self._expected = await asyncio.to_thread(self._count_expected)

    async def begin(self) -> None:
        """Do nothing: the session opens the judge at its first call."""

    @property
    def complete(self) -> bool:
        """Whether all cases are planned."""
        return not self._unplanned and not self._found

    async def more(self) -> list[int]:
        """Plan the calls about the cases answered since; return the blocks with open calls."""
        found, self._found = self._found + await self._plan_answered(), []
        counts = (self._total + sum(self._expected[number] for number in self._unplanned), self._kept)
        if counts != self._told and (counts[0] or self._planned.after is None):
            self._told = counts
            self._context.observer.phase(self.name, *counts)
        return found

    async def _plan_answered(self) -> list[int]:
        """Plan the calls about the cases answered since; return the blocks with open calls.

        Calls are planned criterion by criterion, so that a server keeps the constant part of the prompt.
        """
        ready = [number for number, needed in self._unplanned.items() if all(map(self._answered.is_known, needed))]
        if not ready:
            return []
        places = [place for number in ready for place in self._places[number]]
        cases = [self._answered.judged[place] for place in places if place in self._answered.judged]
        calls = await asyncio.to_thread(self._plan, cases)
        for number in ready:
            del self._unplanned[number]
        return await self._look_up(calls)

    def _plan(self, cases: Sequence[JudgedCase]) -> dict[int, dict[str, PlannedCall]]:
        """The calls of each block that no block planned before makes."""
        spec, links, answered, after = self._context.spec, self._store.links, self._answered, self._planned.after
        found: dict[int, dict[str, PlannedCall]] = {}
        fresh: set[str] = set()
        for one in cases:
            self._cases.setdefault(answered.numbers[one.case.id], []).append(one.case.id)
        blocks = len(self._places)
        for call in planned_calls(spec, cases, [self.judge], self._planned.passes.of):
            if after is not None and call.pass_index <= after.of_call(call):
                continue
            position = answered.positions[call.case.id]
            number = self._criteria[call.criteria[0].id] * blocks + position * blocks // len(answered.positions)
            link = Link(answered.numbers[call.case.id], self._context.run_id, call.key)
            if call.key not in links:
                found.setdefault(number, {})[call.key] = call
                fresh.add(call.key)
            elif call.key not in fresh:
                self._store.link(link)  # its judgment may be stored already
            links.setdefault(call.key, []).append(link)
        return found

    async def _look_up(self, planned: dict[int, dict[str, PlannedCall]]) -> list[int]:
        """Look up calls in the ledger; return the blocks with open ones.

        Judgments of replies that are withheld are made here; no judge is asked.
        """
        calls = [call for block in planned.values() for call in block.values()]
        held = await self._session.known(calls, self._store)
        withheld = [call for call in calls if call.key not in held and marked_as(call.case.response)]
        for call in withheld:
            judgment = judgment_of_withheld(call, self._context.run_id, self._context.spec, self._fails_first(call))
            self._store.append(judgment)
            held[call.key] = judgment
        if withheld:
            await asyncio.to_thread(self._store.flush)
        self._total, self._kept = self._total + len(calls), self._kept + len(held)
        found = [number for number, block in planned.items() if any(key not in held for key in block)]
        self._calls |= {number: planned[number] for number in found}
        self._held |= {key: held[key] for number in found for key in planned[number] if key in held}
        return sorted(found)

    def _fails_first(self, call: PlannedCall) -> bool:
        """Whether a case has a criterion whose failures count first."""
        judged = self._answered.judged[self._answered.positions[call.case.id]]
        return any(own.category in self._first for own in judged.criteria)

    def _count_expected(self) -> dict[int, int]:
        cases = {number: map(self._answered.case_at, self._places[number]) for number in list(self._unplanned)}
        count = partial(_calls_about, self.judge, self._context.spec, self._planned.passes)
        return {number: sum(count(item) for item in items if item is not None) for number, items in cases.items()}

    async def ended(self, numbers: Collection[int]) -> None:
        """Count the open calls of blocks that have ended, and forget these blocks."""
        keys = [call for number in numbers for call in self._calls[number].values()]
        missing = [call for call in keys if call.key not in self._held]
        others = await self._session.known(missing, self._store) if missing else {}
        for call in keys:
            judgment = self._held.pop(call.key, None) or others.get(call.key)
            self.open_calls += judgment is None or is_open(judgment)
        for number in numbers:
            del self._calls[number]
        if self.complete:
            for call in keys:
                del self._store.links[call.key]

    async def close(self) -> None:
        """Close the judge, unless another phase asks it."""
        await self._release(self.judge)

    def has_left(self, number: int) -> bool:
        """Whether calls of a block have no final judgment and were not tried since the phase began."""
        return bool(self._untried(number)[0])

    async def ask(self, number: int, all_begun: Callable[[], None]) -> None:
        """Make the calls of a block that are left; on return the judgments are in the ledger."""
        left, tried = await asyncio.to_thread(self._untried, number)
        if tried:
            self._held |= await self._session.known(tried, self._store)
        await self._session.ask(left, self._held, self._report, self._store, all_begun)
        await asyncio.to_thread(self._store.flush)

    def _report(self, judgment: Judgment) -> None:
        answers = dict.fromkeys(link.answer for link in self._store.links[judgment.key])
        self._context.observer.judged(judgment, [case for answer in answers for case in self._cases[answer]])

    def give_up(self, number: int, reason: str) -> None:
        """Record a block's open calls as failed."""
        run_id, outcome = self._context.run_id, Unreachable(reason=reason)
        for call in self._untried(number)[0]:
            self._store.append(judgment_of(call, run_id, without_answer(call, outcome)))
        self._store.flush()

    def _untried(self, number: int) -> tuple[list[PlannedCall], list[PlannedCall]]:
        """The calls of a block that are not known to be final: not tried since the phase began, and tried by other processes."""
        missing = [call for key, call in self._calls.get(number, {}).items() if key not in self._held]
        tried = self._context.ledger.judged_after([call.key for call in missing], self._before)
        return [call for call in missing if call.key not in tried], [call for call in missing if call.key in tried]


def _case_blocks(answered: AnsweredCases, blocks: int) -> list[range]:
    """The positions of the cases in each block."""
    cases = len(answered.positions)
    firsts = [-(-number * cases // blocks) for number in range(blocks + 1)]
    return [range(first, end) for first, end in pairwise(firsts)]


def _needed(places: Sequence[range], answered: AnsweredCases) -> list[list[int]]:
    """The positions of the cases whose answers must be known before a block of cases is planned.

    They are its own, and those of an earlier block that has identical cases: that block is planned first, so that the calls that
    both share belong to the same block in every process.
    """
    found: list[list[int]] = []
    for number, own in enumerate(places):
        first_of = {answered.firsts.get(place, place) for place in own}
        earlier = sorted({place * len(places) // len(answered.positions) for place in first_of} - {number})
        found.append([*own, *dict.fromkeys(place for block in earlier for place in found[block])])
    return found


def _calls_about(judge: Judge, spec: RunSpec, passes: RunPasses, item: RunCase) -> int:
    """How many calls there are about a case, were it answered."""
    criteria, count = spec.criteria_by_id(), 0
    own = [criteria[id] for id in item.criteria if judge.may_judge(criteria[id]) and concerns(criteria[id].scope, item.case)]
    asked = list({one.scope: one for one in reversed(own)}.values()) if spec.joint and judge.is_model else own
    for one in asked:
        for turn in turns_to_judge(one.scope, item.case, given_in(item)):
            count += passes.of(item.case.id, one.id, judge, turn)
    return count


def judgment_of_withheld(call: PlannedCall, run_id: str, spec: RunSpec, fails_first: bool) -> Judgment:
    """The judgment of a reply that is withheld, made without the judge: the text is not shown, and it cannot pass.

    It gets the worst score on the criteria whose failures count first; the others do not apply. Where the case has none of the
    first, it gets the worst score on all.
    """
    first = spec.failures.categories(spec.criteria)
    told = f"withheld: {marked_as(call.case.response)}; the reply is not shown to judges and fails"
    outcomes: dict[str, Outcome] = {}
    for criterion in call.criteria:
        scale = criterion.scale
        worst = scale.min if scale.higher_is_better else scale.max
        fails = criterion.category in first or not fails_first
        outcomes[criterion.id] = Scored(score=worst, explanation=told) if fails else NotApplicable(explanation=told)
    made = judgment_of(call, run_id, Judged(outcomes=outcomes, steps=(WITHHELD,)))
    return msgspec.structs.replace(made, calls=0)


class RunJudgments:
    """The judgments of a run, written by the run's own writer.

    Judgments are looked up in the ledger and written with their links to answers.
    """

    def __init__(self, ledger: Ledger, writer: Batch[Record, None]) -> None:
        self._ledger, self._writer, self.secret = ledger, writer, ledger.secret()
        self.links: dict[str, list[Link]] = {}

    async def known(self, keys: Sequence[str]) -> Mapping[str, Judgment]:
        """Return the judgments that the ledger has."""
        return self._ledger.judgments(keys)

    def append(self, judgment: Judgment) -> None:
        """Queue a judgment and its links to be written soon."""
        self._writer.write_soon([judgment, *self.links[judgment.key]])

    def link(self, link: Link) -> None:
        """Queue a link to be written soon: its judgment was queued before, or is going to be."""
        self._writer.write_soon([link])

    def flush(self) -> None:
        """Wait until all judgments so far are on disk."""
        self._writer.flush()
