"""Blocks of a run's calls: one that cannot be done stops the others first; the first ones do not wait for the queue."""

import asyncio
import threading
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from areopage.bench.execution.blocks import RunBlocks
from areopage.bench.execution.courses import AT_ONCE
from areopage.bench.execution.phases import Place
from areopage.bench.execution.run import DEAD_AFTER, PACE
from areopage.errors import ServerDown, UserError
from areopage.ledger.write.operations import Worker, Workers
from areopage.work import worker as worker_module
from areopage.work.turn import Turn
from areopage.work.worker import WorkerPool, opening
from servers import PATIENCE
from servers.new_ledger import ledger_at


def pool_in(folder: Path) -> WorkerPool:
    """The workers of a run."""
    return WorkerPool(name="bench:run", folder=folder, dead_after=DEAD_AFTER, pace=PACE)


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
        async with opening(ledger, run, pool_in(tmp_path)) as worker:
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


class Counted:
    """A phase of six blocks; each is asked when it may end."""

    def __init__(self) -> None:
        self.complete = False
        self.asked: list[int] = []
        self.at_once = asyncio.Event()
        self.may_end = asyncio.Event()

    async def prepare(self) -> None:
        pass

    async def begin(self) -> None:
        pass

    async def more(self) -> Sequence[int]:
        found = () if self.complete else range(6)
        self.complete = True
        return found

    async def ended(self, numbers: Collection[int]) -> None:
        assert set(numbers) <= set(self.asked)

    async def close(self) -> None:
        pass

    def has_left(self, number: int) -> bool:
        return number not in self.asked

    async def ask(self, number: int, all_begun: Callable[[], None]) -> None:
        self.asked.append(number)
        all_begun()
        if len(self.asked) == AT_ONCE:
            self.at_once.set()
        await self.may_end.wait()

    def give_up(self, number: int, reason: str) -> None:
        raise AssertionError(reason)


def test_the_process_that_begins_a_run_asks_before_its_queue_is_open_and_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening the queue takes longer than a call: calls need not wait for it, and no call is made twice."""
    ledger, may_open, open_ = ledger_at(tmp_path / "ledger.db"), threading.Event(), worker_module._open
    other = Turn(ledger.engine.url, "bench:run")

    def late(*given: Any) -> Any:
        assert may_open.wait(PATIENCE)
        return open_(*given)

    monkeypatch.setattr(worker_module, "_open", late)

    async def asked() -> list[int]:
        run, phase = RunBlocks("run", ["server"]), Counted()
        async with opening(ledger, run, pool_in(tmp_path)) as worker:
            carried = asyncio.create_task(run.carry_out([(Place(name="phase", server="server"), phase)], worker))
            async with asyncio.timeout(PATIENCE):
                await phase.at_once.wait()
            assert (worker.is_needed, worker.is_open, other.take()) == (False, False, False)
            may_open.set()
            await asyncio.to_thread(other.wait)  # until the queue has given these blocks, which do not end, to this process
            assert (worker.is_open, other.take(), phase.asked) == (True, True, [0, 1, 2, 3])
            phase.may_end.set()
            async with asyncio.timeout(PATIENCE):
                await carried
                await run.finish(worker)
        return phase.asked

    try:
        assert asyncio.run(asked()) == [0, 1, 2, 3, 4, 5]
    finally:
        other.pass_on()
        ledger.close()
    assert not list(tmp_path.glob("*.queue.db.*.lock"))


def _refused(*_: Any) -> Any:
    raise AssertionError("the queue is opened")


def test_a_process_that_stays_alone_opens_no_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening and closing the queue takes longer than a short run; the worker's heartbeat shows others that it was there."""
    monkeypatch.setattr(worker_module, "_open", _refused)
    ledger = ledger_at(tmp_path / "ledger.db")

    async def asked() -> list[int]:
        run, phase = RunBlocks("run", ["server"]), Counted()
        async with opening(ledger, run, pool_in(tmp_path)) as worker:
            carried = asyncio.create_task(run.carry_out([(Place(name="phase", server="server"), phase)], worker))
            async with asyncio.timeout(PATIENCE):
                await phase.at_once.wait()
                while [one.state for one in Workers(ledger).list("bench:run")] != ["alive"]:  # noqa: ASYNC110 - a row, no event
                    await asyncio.sleep(0.01)
                phase.may_end.set()
                await carried
                await run.finish(worker)
        return phase.asked

    try:
        assert asyncio.run(asked()) == [0, 1, 2, 3, 4, 5]
        assert [one.state for one in Workers(ledger).list("bench:run")] == ["stopped"]
    finally:
        ledger.close()
    assert not list(tmp_path.glob("*.queue.db*"))


def test_a_process_that_is_alone_begins_the_next_block_as_soon_as_one_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "_open", _refused)
    ledger, ends = ledger_at(tmp_path / "ledger.db"), [asyncio.Event() for _ in range(6)]

    class OneByOne(Counted):
        async def ask(self, number: int, all_begun: Callable[[], None]) -> None:
            self.asked.append(number)
            all_begun()
            await ends[number].wait()

    async def asked() -> None:
        run, phase = RunBlocks("run", ["server"]), OneByOne()
        async with opening(ledger, run, pool_in(tmp_path)) as worker:
            carried = asyncio.create_task(run.carry_out([(Place(name="phase", server="server"), phase)], worker))
            for begun in range(AT_ONCE, 7):
                async with asyncio.timeout(PATIENCE):
                    while phase.asked != list(range(begun)):  # noqa: ASYNC110 - a list, no event
                        await asyncio.sleep(0)
                ends[begun - AT_ONCE].set()
            for end in ends:
                end.set()
            await carried

    try:
        asyncio.run(asked())
    finally:
        ledger.close()


def test_a_process_has_one_worker_also_while_that_is_alone(tmp_path: Path) -> None:
    """A second one would fail in the middle of a run, when another process wants to take part."""
    ledger, run = ledger_at(tmp_path / "ledger.db"), RunBlocks("run", ["server"])

    async def second() -> None:
        async with opening(ledger, run, pool_in(tmp_path)):
            with pytest.raises(UserError, match="has a worker already"):
                async with opening(ledger, run, structs.replace(pool_in(tmp_path), name="bench:other")):
                    pass

    try:
        asyncio.run(second())
        asyncio.run(second())
    finally:
        ledger.close()


def test_the_queue_stays_for_a_process_that_has_just_begun_to_take_part(tmp_path: Path) -> None:
    """Its blocks would never be given to it: it would wait for ever. The last heartbeat does not show it yet."""
    ledger, run, now = ledger_at(tmp_path / "ledger.db"), RunBlocks("run", ["server"]), datetime.now(UTC)
    workers, opens = Workers(ledger), Turn(ledger.engine.url, "bench:run")
    later = Worker(id="other-1", pool="bench:run", host="other", process=1, started_at=now, seen_at=now, state="alive")

    async def found() -> list[bool]:
        async with opening(ledger, run, pool_in(tmp_path)) as worker:
            await worker.opened()
            worker.share()
            assert opens.take()
            last = [await worker.is_last()]
            workers.beat(later)
            opens.pass_on()
            last.append(await worker.is_last())
            workers.mark(later.id, "stopped")
            last.append(await worker.is_last())
            assert not opens.take()  # until this process has ended, no other one opens the queue that it removes
        return last

    try:
        assert asyncio.run(found()) == [False, False, True]
    finally:
        ledger.close()


def test_a_process_that_comes_later_asks_nothing_before_its_queue_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may have begun the first blocks, or have died at them."""
    ledger, may_open, open_ = ledger_at(tmp_path / "ledger.db"), threading.Event(), worker_module._open

    def late(*given: Any) -> Any:
        assert may_open.wait(PATIENCE)
        return open_(*given)

    async def asked_before(phase: Counted) -> list[int]:
        run = RunBlocks("run", ["server"])
        async with opening(ledger, run, pool_in(tmp_path)) as worker:
            phase.may_end.set()
            carried = asyncio.create_task(run.carry_out([(Place(name="phase", server="server"), phase)], worker))
            for _ in range(100):
                await asyncio.sleep(0)
            before = list(phase.asked)
            may_open.set()
            await carried
        return before

    monkeypatch.setattr(worker_module, "_open", late)
    try:
        assert asyncio.run(asked_before(Counted())) == [0, 1, 2, 3, 4, 5]
        may_open.clear()
        assert asyncio.run(asked_before(Counted())) == []
    finally:
        ledger.close()
