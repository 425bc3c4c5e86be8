"""The asynchronous writer: records are committed soon, all of them, and no failure stays unseen."""

import asyncio
from collections.abc import Callable, Sequence
from threading import Event

import pytest

from areopage.errors import ServerDown, StorageError
from areopage.ledger.records import Answer, Judgment
from areopage.ledger.store import Ledger
from areopage.ledger.writer import LedgerWriter
from servers import PATIENCE

Make = Callable[..., Judgment]


class Counting(Ledger):
    """A ledger that notes its transactions, and fails when told to."""

    failure: Exception | None = None

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger.engine)
        self.batches: list[int] = []
        self.free = Event()
        self.free.set()

    def append(self, records: Sequence[Answer | Judgment]) -> None:
        if self.failure is not None:
            raise self.failure
        self.batches.append(len(records))
        self.free.wait(PATIENCE)
        super().append(records)


@pytest.fixture
def counting(ledger: Ledger) -> Counting:
    return Counting(ledger)


def test_records_are_committed_while_the_writer_is_open_many_to_a_transaction(counting: Counting, judgment: Make) -> None:
    async def scenario() -> None:
        async with LedgerWriter(counting) as writer:
            for number in range(50):
                writer.append(judgment(f"k{number}"))
            while not await asyncio.to_thread(counting.judgments, ["k49"]):
                pass

    asyncio.run(scenario())
    assert counting.batches == [50]


def test_leaving_commits_the_rest_even_when_something_failed(counting: Counting, judgment: Make) -> None:
    async def scenario() -> None:
        async with LedgerWriter(counting) as writer:
            writer.append(judgment("last"))
            raise ServerDown("gone")

    with pytest.raises(ServerDown):
        asyncio.run(scenario())
    assert "last" in counting.judgments(["last"])


def test_records_that_arrive_during_a_commit_are_not_forgotten(counting: Counting, judgment: Make) -> None:
    keys = [f"k{number}" for number in range(300)]

    async def scenario() -> None:
        async with LedgerWriter(counting) as writer:
            writer.append(judgment(keys[0]))
            counting.free.clear()
            while not counting.batches:  # noqa: ASYNC110 - the commit begins in another thread
                await asyncio.sleep(0.001)
            for key in keys[1:]:
                writer.append(judgment(key))
                await asyncio.sleep(0)
            counting.free.set()

    asyncio.run(scenario())
    assert counting.batches == [1, 299]
    assert len(counting.judgments(keys)) == 300


def test_a_failed_commit_is_raised_at_the_next_record_and_at_the_end(counting: Counting, judgment: Make) -> None:
    counting.failure = StorageError("disk full")

    async def goes_on() -> None:
        async with LedgerWriter(counting) as writer:
            for _ in range(1000):
                writer.append(judgment())
                await asyncio.sleep(0.002)
        raise AssertionError

    async def ends() -> None:
        async with LedgerWriter(counting) as writer:
            writer.append(judgment())

    for scenario in (goes_on, ends):
        with pytest.raises(StorageError, match="disk full"):
            asyncio.run(scenario())


def test_a_bug_in_the_ledger_is_seen_at_the_next_record_and_records_do_not_pile_up(counting: Counting, judgment: Make) -> None:
    counting.failure = ZeroDivisionError("a bug")

    async def scenario() -> None:
        async with LedgerWriter(counting) as writer:
            for number in range(1000):
                writer.append(judgment())
                await asyncio.sleep(0.002)
                assert number < 999

    with pytest.raises(ZeroDivisionError):
        asyncio.run(scenario())


def test_another_fault_goes_before_a_failed_commit(counting: Counting, judgment: Make) -> None:
    counting.failure = StorageError("disk full")

    async def scenario() -> None:
        async with LedgerWriter(counting) as writer:
            writer.append(judgment())
            raise ServerDown("gone")

    with pytest.raises(ServerDown):
        asyncio.run(scenario())


def test_a_writer_of_nothing_ends_at_once(counting: Counting) -> None:
    async def scenario() -> None:
        async with LedgerWriter(counting):
            pass

    asyncio.run(scenario())
    assert counting.batches == []
