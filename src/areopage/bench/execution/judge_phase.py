"""The calls to one judge that have no final judgment in the ledger."""

import asyncio
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property

import msgspec
from msgspec import Struct

from areopage.bench.execution.blocks import blocks_of
from areopage.bench.execution.context import RunContext
from areopage.bench.passes import RunPasses
from areopage.bench.spec import RunSpec
from areopage.jury.judges import Judge, Judged, PlannedCall, judgment_of, without_answer
from areopage.jury.panel import call_plan
from areopage.jury.plan import JudgedCase, Shared, no_passes
from areopage.jury.session import Session, final_of, is_open
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


class JudgePhase:
    """The calls to one judge, in blocks. Each block plans its calls when they are made: no phase holds all of them.

    Identical cases share their calls: the block of the first such case makes them.
    """

    def __init__(
        self,
        context: RunContext,
        judge: Judge,
        session: Session,
        store: "RunJudgments",
        cases: Sequence[JudgedCase],
        positions: Mapping[str, int],
        numbers: Mapping[str, int],
        planned: "PhasePasses",
    ) -> None:
        """Cut the calls into blocks, criterion by criterion, so that a server keeps the constant part of the prompt.

        Args:
            store: where the session keeps its judgments.
            cases: those that have an answer, in the order of their positions.
            positions: of all cases in the run, by their ids: a call is in the same block in every process.
            numbers: of the cases' answers, by the case's id.
            planned: which passes the phase makes.
        """
        self.name = judge.name if planned.round == 1 else f"{judge.name} (round {planned.round})"
        self._context, self._session, self._store, self._cases, self._numbers = context, session, store, cases, numbers
        before = planned.after.of if planned.after is not None else no_passes
        self._plan = call_plan(context.spec, cases, judge, planned.passes.of, before)
        self._of_criterion = max(1, blocks_of(len(positions) * len(judge.passes), context.block_calls))
        self._starts = _first_places([positions[one.case.id] for one in cases], len(positions), self._of_criterion)
        self._before = context.ledger.last_judgment()
        self._kept: dict[int, int] = {}
        self._open: dict[int, int] = {}
        self.blocks: list[int] = []
        self.total = 0

    async def look_up(self) -> int:
        """Look up the calls in the ledger, block by block; return the number of final judgments.

        Afterwards `total` is the number of calls. Judgments of replies that are withheld are made here; no judge is asked.
        """
        criteria = {criterion.id: place for place, criterion in enumerate(self._context.spec.criteria)}
        places = sorted({criteria[group[0].id] for group in self._plan.groups})
        self.blocks, self._kept, self.total = [], {}, 0
        for number in [place * self._of_criterion + block for place in places for block in range(self._of_criterion)]:
            calls = await asyncio.to_thread(self._calls, number)
            if not calls:
                continue
            held = set(await self._session.known(one.call for one in calls.values()))
            held |= await asyncio.to_thread(self._withhold, [one for key, one in calls.items() if key not in held])
            self.total += len(calls)
            self._kept[number] = len(held)
            if len(held) < len(calls):
                self.blocks.append(number)
        return sum(self._kept.values())

    def _calls(self, number: int) -> dict[str, Shared]:
        """The calls of a block, by their keys."""
        place, block = divmod(number, self._of_criterion)
        first, start, stop = self._context.spec.criteria[place].id, self._starts[block], self._starts[block + 1]
        groups = [group for group in self._plan.groups if group[0].id == first]
        return {one.call.key: one for group in groups for one in self._plan.shared(group, start, stop)}

    def _withhold(self, calls: Sequence[Shared]) -> set[str]:
        """Judge those calls whose reply is withheld; return their keys."""
        withheld = [one for one in calls if marked_as(one.call.case.response)]
        run_id, spec = self._context.run_id, self._context.spec
        if withheld:
            with self._store.linked(self._links(withheld)):
                for one in withheld:
                    self._store.append(judgment_of_withheld(one.call, run_id, spec, self._fails_first[one.call.case.id]))
                self._store.flush()
        return {one.call.key for one in withheld}

    @cached_property
    def _fails_first(self) -> dict[str, bool]:
        """Whether a case has a criterion whose failures count first, by its id."""
        first = self._context.spec.failures.categories(self._context.spec.criteria)
        return {one.case.id: any(own.category in first for own in one.criteria) for one in self._cases}

    async def open_calls(self) -> int:
        """The number of calls that timed out, were unreachable or were not made."""
        for number in [number for number in self.blocks if number not in self._open]:
            calls = await asyncio.to_thread(self._calls, number)
            self._open[number] = len(calls) - len(await self._session.known(one.call for one in calls.values()))
        return sum(self._open.values())

    def has_left(self, number: int) -> bool:
        """Whether calls of a block have no final judgment and were not tried since the phase began."""
        return bool(self._untried(number)[0])

    async def ask(self, number: int, all_begun: Callable[[], None]) -> None:
        """Make the calls of a block that are left; on return the judgments are in the ledger."""
        left, tried = await asyncio.to_thread(self._untried, number)
        held = await self._session.known(one.call for one in tried) if tried else {}
        shared = {one.call.key: one for one in left}

        def report(judgment: Judgment) -> None:
            self._context.observer.judged(judgment, shared[judgment.key].cases)

        with self._store.linked(self._links(left)):
            await self._session.ask([one.call for one in left], held, report, all_begun=all_begun)
            await asyncio.to_thread(self._store.flush)
        self._open[number] = len(left) + len(tried) - sum(not is_open(judgment) for judgment in held.values())

    def give_up(self, number: int, reason: str) -> None:
        """Record a block's open calls as failed."""
        run_id, outcome = self._context.run_id, Unreachable(reason=reason)
        left = self._untried(number)[0]
        with self._store.linked(self._links(left)):
            for one in left:
                self._store.append(judgment_of(one.call, run_id, without_answer(one.call, outcome)))
            self._store.flush()

    def _links(self, calls: Sequence[Shared]) -> dict[str, list[Link]]:
        """The links of judgments to the answers that they are about, by the judgments' keys."""
        run_id, numbers = self._context.run_id, self._numbers
        return {
            one.call.key: [Link(answer, run_id, one.call.key) for answer in dict.fromkeys(numbers[case] for case in one.cases)]
            for one in calls
        }

    def _untried(self, number: int) -> tuple[list[Shared], list[Shared]]:
        """The calls of a block that are not known to be final: not tried since the phase began, and tried by other processes."""
        calls = self._calls(number)
        if self._kept.get(number, 1):
            known = final_of([one.call for one in calls.values()], self._context.ledger.judgments(list(calls)))
            calls = {key: one for key, one in calls.items() if key not in known}
        tried = self._context.ledger.judged_after(list(calls), self._before)
        return [one for key, one in calls.items() if key not in tried], [calls[key] for key in tried]


def _first_places(positions: Sequence[int], cases: int, blocks: int) -> list[int]:
    """Where each block begins in a sequence of cases, and where the last one ends.

    Args:
        positions: of the cases in the run, ascending.
        cases: the number of all cases of the run.
    """
    return [bisect_left(positions, -(-block * cases // blocks)) for block in range(blocks + 1)]


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
        self._links: dict[str, list[Link]] = {}

    @contextmanager
    def linked(self, links: Mapping[str, list[Link]]) -> Iterator[None]:
        """Write judgments with these links, by their keys, while the block runs."""
        self._links.update(links)
        try:
            yield
        finally:
            for key in links:
                self._links.pop(key, None)

    async def known(self, keys: Sequence[str]) -> Mapping[str, Judgment]:
        """Return the judgments that the ledger has."""
        return await asyncio.to_thread(self._ledger.judgments, keys)

    def append(self, judgment: Judgment) -> None:
        """Queue a judgment and its links to be written soon."""
        self._writer.write_soon([judgment, *self._links[judgment.key]])

    def flush(self) -> None:
        """Wait until all judgments so far are on disk."""
        self._writer.flush()
