"""The cases of a run that have an answer: read from the ledger once, as the blocks of the target end."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from areopage.bench.conversations.turns import replies
from areopage.bench.execution.blocks import blocks_of
from areopage.bench.keys import AnswerCall, answer_ids, judged_cases
from areopage.bench.spec import RunCase, RunSpec
from areopage.jury.plan import JudgedCase
from areopage.ledger.answers import Answers
from areopage.ledger.records import SETTLED


class AnsweredCases:
    """The cases to judge, by their position in the run.

    Identical cases share one call to the target: they are answered with the block that makes it.
    """

    def __init__(
        self,
        spec: RunSpec,
        run_id: str,
        stored: Answers,
        cases: Sequence[RunCase],
        calls: Sequence[AnswerCall],
        positions: Mapping[str, int],
        block_calls: int,
    ) -> None:
        """Prepare; nothing is read.

        Args:
            cases: those whose answers are not erased, in order.
            calls: to the target, for the cases without a response.
            positions: of all cases in the run, by their ids.
        """
        self._spec, self._run_id, self._stored, self.positions = spec, run_id, stored, positions
        self._cases = {positions[item.case.id]: item for item in cases}
        self._calls = {positions[call.case.id]: call for call in calls}
        self.firsts: dict[int, int] = {}
        """The position of the first case with the same call to the target, by position."""
        by_key: dict[str, int] = {}
        for place, call in self._calls.items():
            self.firsts[place] = by_key.setdefault(call.key, place)
        self._blocks = blocks_of(len(positions), block_calls)
        self._unread = set(self._cases)
        self._in_block: dict[int | None, list[int]] = {}
        for place in self._cases:
            self._in_block.setdefault(self.needs(place), []).append(place)
        self.closed = False
        """Whether no answer comes any more: what is not read has none."""
        self.judged: dict[int, JudgedCase] = {}
        self.numbers: dict[str, int] = {}
        """The numbers of the cases' answers, by the case's id."""
        self.unanswered = 0
        """How many cases have no answer, so that another try could bring one."""
        self._reading = asyncio.Lock()

    def needs(self, position: int) -> int | None:
        """The block of the target that answers a case; None where the answer came with the dataset, or is erased."""
        first = self.firsts.get(position)
        return None if first is None else first * self._blocks // len(self.positions)

    def case_at(self, position: int) -> RunCase | None:
        """The case at a position; None if its answer is erased."""
        return self._cases.get(position)

    def is_known(self, position: int) -> bool:
        """Whether it is known if the case at a position has an answer."""
        return self.closed or position not in self._unread

    async def read_given(self) -> None:
        """Read the cases whose answers came with the dataset."""
        await self._read(self._in_block.get(None, ()))

    async def read_blocks(self, numbers: Iterable[int]) -> None:
        """Read the cases that are answered in blocks of the target."""
        await self._read([place for number in numbers for place in self._in_block.get(number, ())])

    async def read_all(self) -> None:
        """Read all cases: no answer comes any more."""
        await self._read(list(self._cases))
        self.closed = True

    async def _read(self, wanted: Iterable[int]) -> None:
        async with self._reading:
            places = sorted(self._unread.intersection(wanted))
            if places:
                await asyncio.to_thread(self._take, places)

    def _take(self, places: Sequence[int]) -> None:
        cases = [self._cases[place] for place in places]
        calls = [self._calls[place] for place in places if place in self._calls]
        answers = replies(self._stored, self._run_id, calls, self.positions)
        ids = answer_ids(cases, calls, answers)
        by_id = self._stored.numbers(list(ids.values()))
        self.numbers |= {case: by_id[id] for case, id in ids.items()}
        for one in judged_cases(self._spec, cases, calls, answers):
            self.judged[self.positions[one.case.id]] = one
        self.unanswered += sum(call.key not in answers or answers[call.key].state not in SETTLED for call in calls)
        self._unread.difference_update(places)
