"""The calls to one judge that have no final judgment in the ledger."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec import Struct

from areopage.bench.execution.blocks import blocks_of
from areopage.bench.execution.context import RunContext
from areopage.bench.passes import RunPasses
from areopage.bench.spec import RunSpec
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


class JudgePhase:
    """The calls to one judge, in blocks.

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
        """Plan the calls, criterion by criterion, so that a server keeps the constant part of the prompt.

        Args:
            store: where the session keeps its judgments.
            cases: those that have an answer.
            positions: of all cases in the run, by their ids: a call is in the same block in every process.
            numbers: of the cases' answers, by the case's id.
            planned: which passes the phase makes.
        """
        self.name = judge.name if planned.round == 1 else f"{judge.name} (round {planned.round})"
        self._context, self._session, self._store = context, session, store
        self._calls: dict[int, dict[str, PlannedCall]] = {}
        store.links = {}
        criteria = {criterion.id: place for place, criterion in enumerate(context.spec.criteria)}
        blocks = blocks_of(len(positions) * len(judge.passes), context.block_calls)  # of a criterion
        for call in planned_calls(context.spec, cases, [judge], planned.passes.of):
            if planned.after is not None and call.pass_index <= planned.after.of_call(call):
                continue
            number = criteria[call.criteria[0].id] * blocks + positions[call.case.id] * blocks // len(positions)
            if call.key not in store.links:
                self._calls.setdefault(number, {})[call.key] = call
            store.links.setdefault(call.key, []).append(Link(numbers[call.case.id], context.run_id, call.key))
        self._cases: dict[int, list[str]] = {}  # by the number of their answer
        for one in cases:
            self._cases.setdefault(numbers[one.case.id], []).append(one.case.id)
        first = context.spec.failures.categories(context.spec.criteria)
        self._fails_first = {one.case.id: any(own.category in first for own in one.criteria) for one in cases}
        self._held: dict[str, Judgment] = {}
        self._before = context.ledger.last_judgment()
        self.blocks: list[int] = []

    @property
    def total(self) -> int:
        """The number of calls."""
        return len(self._store.links)

    async def look_up(self) -> int:
        """Look up open calls in the ledger; return the number of final judgments.

        Judgments of replies that are withheld are made here; no judge is asked.
        """
        calls = [call for block in self._calls.values() for call in block.values()]
        self._held = await self._session.known(calls)
        withheld = [call for call in calls if call.key not in self._held and marked_as(call.case.response)]
        for call in withheld:
            judgment = judgment_of_withheld(call, self._context.run_id, self._context.spec, self._fails_first[call.case.id])
            self._store.append(judgment)
            self._held[call.key] = judgment
        if withheld:
            await asyncio.to_thread(self._store.flush)
        self.blocks = [number for number, block in self._calls.items() if any(key not in self._held for key in block)]
        return len(self._held)

    async def open_calls(self) -> int:
        """The number of calls that timed out, were unreachable or were not made."""
        missing = [call for block in self._calls.values() for call in block.values() if call.key not in self._held]
        self._held |= await self._session.known(missing)
        return sum(key not in self._held or is_open(self._held[key]) for key in self._store.links)

    def has_left(self, number: int) -> bool:
        """Whether calls of a block have no final judgment and were not tried since the phase began."""
        return bool(self._untried(number)[0])

    async def ask(self, number: int, all_begun: Callable[[], None]) -> None:
        """Make the calls of a block that are left; on return the judgments are in the ledger."""
        left, tried = await asyncio.to_thread(self._untried, number)
        if tried:
            self._held |= await self._session.known(tried)
        await self._session.ask(left, self._held, self._report, all_begun=all_begun)
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
        missing = [call for key, call in self._calls[number].items() if key not in self._held]
        tried = self._context.ledger.judged_after([call.key for call in missing], self._before)
        return [call for call in missing if call.key not in tried], [call for call in missing if call.key in tried]


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

    def flush(self) -> None:
        """Wait until all judgments so far are on disk."""
        self._writer.flush()
