"""The calls to one judge that batches may make, and the judgments that they bring."""

import asyncio
from collections.abc import Mapping, Sequence

from areopage.bench.execution.context import RunContext
from areopage.bench.passes import Round
from areopage.jury import Judge, JudgedCase, PlannedCall
from areopage.ledger import Judgment, Link, RunWriter
from areopage.text import marked_as


class BatchCalls:
    """The calls to a judge about all cases that have an answer; identical cases share a call.

    The calls that batches leave are made by the judge's phase.
    """

    def __init__(
        self,
        context: RunContext,
        judge: Judge,
        writer: RunWriter,
        cases: Sequence[JudgedCase],
        numbers: Mapping[str, int],
        round: Round,
    ) -> None:
        """Prepare; nothing is planned."""
        self._context, self._judge, self._writer = context, judge, writer
        self._judged, self._numbers, self._round = cases, numbers, round
        self._missing: dict[str, PlannedCall] = {}
        self._links: dict[str, list[Link]] = {}
        self._cases: dict[int, list[str]] = {}  # by the number of their answer
        self.total = 0

    async def look_up(self) -> int:
        """Plan the calls and look them up in the ledger; return the number of final judgments."""
        return await asyncio.to_thread(self._look_up)

    def _look_up(self) -> int:
        calls, links = dict[str, PlannedCall](), dict[str, list[Link]]()
        for judged in self._judged:
            self._cases.setdefault(self._numbers[judged.case.id], []).append(judged.case.id)
        for call in self._context.spec.call_plan(self._judged, self._judge, self._round.passes.of, self._round.before):
            calls.setdefault(call.key, call)
            links.setdefault(call.key, []).append(Link(self._numbers[call.case.id], self._context.run_id, call.key))
        judgments = self._context.ledger.judgments(list(calls))
        final = {key for key, judgment in judgments.items() if self._judge.is_final(judgment)}
        # a reply that is withheld is shown to no judge: the phase says what becomes of it
        self._missing = {key: call for key, call in calls.items() if key not in final and not marked_as(call.case.response)}
        self._links = {key: links[key] for key in self._missing}
        self.total = len(calls)
        return len(final)

    def missing(self) -> list[PlannedCall]:
        """The calls without a judgment."""
        return list(self._missing.values())

    def receive(self, judgment: Judgment) -> None:
        """Store the judgment of a call that was missing."""
        del self._missing[judgment.key]
        links = self._links.pop(judgment.key)
        self._writer.write_soon([judgment, *links])
        answers = dict.fromkeys(link.answer for link in links)
        self._context.observer.judged(judgment, [case for answer in answers for case in self._cases[answer]])

    async def flush(self) -> None:
        """Wait until all judgments so far are on the disk."""
        await self._writer.flush()
