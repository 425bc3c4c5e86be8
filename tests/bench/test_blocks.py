"""Blocks of a run's calls: where one of them cannot be done, the process's others have stopped before anybody is told."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import pytest

from areopage.bench.execution.blocks import RunBlocks
from areopage.bench.execution.phases import Place
from areopage.bench.execution.run import DEAD_AFTER, PACE
from areopage.errors import ServerDown
from areopage.work.worker import working
from servers.new_ledger import ledger_at


class TwoBlocks:
    """A phase of two blocks; the first may fail once the second asks, and the second never gets an answer."""

    def __init__(self, fails: bool) -> None:
        self.fails = fails
        self.complete = False
        self.asking_when_closed: set[int] | None = None
        self.both_ask = asyncio.Event()
        self.asking = set[int]()

    async def prepare(self) -> None:
        pass

    async def begin(self) -> None:
        pass

    async def more(self) -> Sequence[int]:
        found = () if self.complete else (0, 1)
        self.complete = True
        return found

    async def ended(self, numbers: Collection[int]) -> None:
        raise AssertionError(numbers)

    async def close(self) -> None:
        assert self.asking_when_closed is None
        self.asking_when_closed = set(self.asking)

    def has_left(self, number: int) -> bool:
        return True

    async def ask(self, number: int, all_begun: Callable[[], None]) -> None:
        all_begun()
        self.asking.add(number)
        try:
            if number == 1:
                self.both_ask.set()
            await self.both_ask.wait()
            if number == 0 and self.fails:
                raise ServerDown("the server is gone")
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)  # what was paid for is stored
            self.asking.discard(number)

    def give_up(self, number: int, reason: str) -> None:
        raise AssertionError(reason)


@pytest.mark.parametrize("fails", [True, False], ids=["fault", "cancelled"])
def test_no_block_asks_any_more_when_a_phase_ends_early(tmp_path: Path, fails: bool) -> None:
    """The models are closed next: a call that went on would open them again, and nothing would close them."""
    ledger = ledger_at(tmp_path / "ledger.db")

    async def asking_at_the_end() -> set[int] | None:
        run, phase = RunBlocks("run", ["server"]), TwoBlocks(fails)
        async with working(ledger, run, pool="bench:run", folder=tmp_path, dead_after=DEAD_AFTER, pace=PACE) as worker:
            carried = asyncio.create_task(run.carry_out([(Place(name="phase", server="server"), phase)], worker))
            await phase.both_ask.wait()
            if not fails:
                carried.cancel()
            with pytest.raises(ServerDown if fails else asyncio.CancelledError):
                await carried
            return phase.asking_when_closed

    try:
        assert asyncio.run(asking_at_the_end()) == set()
    finally:
        ledger.close()
