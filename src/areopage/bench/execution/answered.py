"""The cases of a run that have an answer: read from the ledger once, as the blocks of the target end."""

import asyncio
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence

from areopage.bench.execution.blocks import blocks_of
from areopage.bench.execution.context import RunContext
from areopage.bench.keys import AnswerCall, answered_cases
from areopage.bench.spec import RunCase
from areopage.jury import JudgedCase, ShownCases
from areopage.ledger import SETTLED

_READ_AT_ONCE = 1_000


class AnsweredCases:
    """The cases to judge, by their position in the run.

    Identical cases share one call to the target: they are answered with the block that makes it. What is held of each case beside
    its texts are places in lists: a run may have a hundred thousand.
    """

    def __init__(
        self,
        context: RunContext,
        cases: Sequence[RunCase],
        calls: Sequence[AnswerCall],
        *,
        erased: Collection[int],
        noted: Mapping[int, int],
    ) -> None:
        """Args:
        cases: all of the run, in order.
        calls: to the target, for the cases without a response.
        erased: the positions of those whose answers are erased.
        noted: the numbers of the answers that came with the dataset or are judged again, by position.
        """
        self._context, self.cases, self.erased = context, cases, erased
        self.positions = {item.case.id: position for position, item in enumerate(cases)}
        first_of: dict[str, int] = {}
        places = ((call.key, self.positions[call.case.id]) for call in calls)
        self.firsts = {place: first_of.setdefault(key, place) for key, place in places}
        """The position of the first case with the same call to the target, by position."""
        self._unread = bytearray(place not in erased for place in range(len(cases)))
        self._in_block: dict[int | None, array[int]] = {}
        """By the block of the target that answers them; None: the answer came with the dataset."""
        blocks = blocks_of(len(cases), context.block_calls)
        for place, unread in enumerate(self._unread):
            if unread:
                block = self.firsts[place] * blocks // len(cases) if place in self.firsts else None
                self._in_block.setdefault(block, array("I")).append(place)
        self.closed = False
        """Whether no answer comes any more: what is not read has none."""
        self.by_position: list[JudgedCase | None] = [None] * len(cases)
        """The cases with their answers; None where a case has none, or none is known yet."""
        self._numbers = array("q", [0]) * len(cases)
        for place, number in noted.items():
            self._numbers[place] = number
        self._shown: tuple[array[int], ShownCases] | None = None
        self.unanswered = 0
        """How many cases have no answer, so that another try could bring one."""
        self._reading = asyncio.Lock()

    def is_known(self, position: int) -> bool:
        """Whether it is known if the case at a position has an answer."""
        return self.closed or not self._unread[position]

    @property
    def judged(self) -> list[JudgedCase]:
        """The cases that have an answer, in order."""
        return [case for case in self.by_position if case is not None]

    def number_of(self, case_id: str) -> int:
        """The number of a judged case's answer."""
        return self._numbers[self.positions[case_id]]

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers of the judged cases' answers, by the case's id."""
        return {judged.case.id: self._numbers[place] for place, judged in enumerate(self.by_position) if judged is not None}

    def shown(self, positions: "array[int]") -> ShownCases:
        """What judges are shown of judged cases; phases that plan the same cases share it."""
        if self._shown is None or self._shown[0] != positions:
            cases = [case for place in positions if (case := self.by_position[place]) is not None]
            self._shown = (positions, ShownCases(cases, self._context.spec.personas))
        return self._shown[1]

    async def read_given(self) -> None:
        """Read the cases whose answers came with the dataset."""
        await self._read(self._in_block.get(None, ()))

    async def read_blocks(self, numbers: Iterable[int]) -> None:
        """Read the cases that are answered in blocks of the target."""
        await self._read([place for number in numbers for place in self._in_block.get(number, ())])

    async def read_all(self) -> None:
        """Read all cases: no answer comes any more."""
        await self._read(range(len(self.cases)))
        self.closed = True

    async def _read(self, wanted: Iterable[int]) -> None:
        async with self._reading:
            places = sorted({place for place in wanted if self._unread[place]})
            for start in range(0, len(places), _READ_AT_ONCE):
                await asyncio.to_thread(self._take, places[start : start + _READ_AT_ONCE])

    def _take(self, places: Sequence[int]) -> None:
        asked = [place for place in places if place in self.firsts]
        answers = self._context.ledger.answers.given_in(self._context.run_id, asked)
        for place, answer in answers.items():
            self._numbers[place] = answer.number
        by_case = {self.cases[place].case.id: answer for place, answer in answers.items()}
        for judged in answered_cases(self._context.spec, [self.cases[place] for place in places], by_case):
            self.by_position[self.positions[judged.case.id]] = judged
        self.unanswered += sum(place not in answers or answers[place].state not in SETTLED for place in asked)
        for place in places:
            self._unread[place] = False
