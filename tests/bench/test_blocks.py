"""Blocks of a run's calls: they are claimed from a queue, and one that cannot be done stops the others first."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from areopage.bench.execution.blocks import AT_ONCE, RunBlocks
from areopage.bench.execution.phases import PhasePlace
from areopage.bench.execution.run import DEAD_AFTER, PACE
from areopage.errors import ServerDown, UserError
from areopage.ledger.store import Ledger
from areopage.ledger.write.operations import Heartbeat, Workers
from areopage.work import worker as worker_module
from areopage.work.locks import exclusive, try_exclusive
from areopage.work.worker import WorkerPool, open_worker
from servers import PATIENCE
from servers.new_ledger import ledger_at

PLACE = PhasePlace(name="phase", server="server")


def pool_in(folder: Path) -> WorkerPool:
    """The workers of a run."""
    return WorkerPool(name="bench:run", folder=folder, dead_after=DEAD_AFTER, pace=PACE)


def blocks_in(folder: Path, ledger: Ledger) -> RunBlocks:
    """The blocks of a run on one server."""
    return RunBlocks(ledger, pool_in(folder), "run", ["server"])


def queues_in(folder: Path) -> list[str]:
    """The queues of blocks that a ledger's queue has."""
    with closing(sqlite3.connect(folder / "ledger.db.queue.db")) as queue:
        return [name for (name,) in queue.execute("SELECT name FROM queues WHERE name LIKE 'bench_block%'")]


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
        phase = TwoBlocks(fails)
        async with blocks_in(tmp_path, ledger) as run:
            carried = asyncio.create_task(run.carry_out([(PLACE, phase)]))
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


def test_blocks_are_claimed_from_the_queue_a_few_at_once_and_the_last_process_removes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, may_open, open_ = ledger_at(tmp_path / "ledger.db"), threading.Event(), worker_module._open

    def late(*arguments: Any) -> Any:
        assert may_open.wait(PATIENCE)
        return open_(*arguments)

    monkeypatch.setattr(worker_module, "_open", late)

    async def asked() -> list[int]:
        phase = Counted()
        async with blocks_in(tmp_path, ledger) as run:
            carried = asyncio.create_task(run.carry_out([(PLACE, phase)]))
            while [worker.state for worker in Workers(ledger).list("bench:run")] != ["alive"]:  # noqa: ASYNC110 - a row
                await asyncio.sleep(0.01)
            assert phase.asked == []  # another process may have begun the first blocks, or have died at them
            may_open.set()
            async with asyncio.timeout(PATIENCE):
                await phase.at_once.wait()
                assert phase.asked == [0, 1, 2, 3]
                phase.may_end.set()
                await carried
        return phase.asked

    try:
        assert asyncio.run(asked()) == [0, 1, 2, 3, 4, 5]
        assert [worker.state for worker in Workers(ledger).list("bench:run")] == ["stopped"]
    finally:
        ledger.close()
    assert queues_in(tmp_path) == []
    assert not list(tmp_path.glob("ledger.db.[0-9a-f]*.lock"))


class Done(Counted):
    """A phase without open calls."""

    async def more(self) -> Sequence[int]:
        self.complete = True
        return ()


def test_a_run_without_open_calls_opens_no_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> Any:
        raise AssertionError("the queue is opened")

    monkeypatch.setattr(worker_module, "_open", refused)
    ledger = ledger_at(tmp_path / "ledger.db")

    async def carry_out() -> None:
        async with blocks_in(tmp_path, ledger) as run:
            await run.carry_out([(PLACE, Done())])

    try:
        asyncio.run(carry_out())
    finally:
        ledger.close()
    assert not list(tmp_path.glob("*.queue.db*"))


def test_a_process_has_one_worker(tmp_path: Path) -> None:
    ledger, pool = ledger_at(tmp_path / "ledger.db"), pool_in(tmp_path)

    async def second() -> None:
        async with open_worker(ledger, blocks_in(tmp_path, ledger), pool):
            with pytest.raises(UserError, match="has a worker already"):
                async with open_worker(ledger, blocks_in(tmp_path, ledger), structs.replace(pool, name="bench:other")):
                    pass

    try:
        asyncio.run(second())
        asyncio.run(second())
    finally:
        ledger.close()


def test_the_queue_stays_for_a_process_that_has_just_begun_to_take_part(tmp_path: Path) -> None:
    """Its blocks would never be given to it: it would wait for ever. The last heartbeat does not show it yet."""
    ledger, now = ledger_at(tmp_path / "ledger.db"), datetime.now(UTC)
    workers, name = Workers(ledger), "bench:run"
    later = Heartbeat(id="other-1", pool=name, host="other", process=1, started_at=now, seen_at=now, state="alive")

    async def queues_after(state: str) -> list[str]:
        async with open_worker(ledger, blocks_in(tmp_path, ledger), pool_in(tmp_path)) as worker:
            async with exclusive(ledger, name):
                ending = asyncio.create_task(worker.remove_queues())
                await asyncio.sleep(0.05)
                workers.beat(structs.replace(later, state=state))
            await ending
            with try_exclusive(ledger, name) as mine:
                assert not mine  # until this process has ended, no other one opens the queue that it removes
            return queues_in(tmp_path)

    try:
        assert len(asyncio.run(queues_after("alive"))) == 2
        assert asyncio.run(queues_after("stopped")) == []
    finally:
        ledger.close()
