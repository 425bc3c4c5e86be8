"""Group commits: records that come together are written together, those who wait hear how it went, and nothing is lost unseen."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest

from areopage.errors import StorageError
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Judgment
from areopage.ledger.write.batch import Batch
from servers import PATIENCE

Make = Callable[..., Judgment]


class Store:
    """Keeps what it is given; fails as often as it is told to, and blocks while it is held."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.faults = 0
        self.fault: Exception = StorageError("the disk is full")
        self.inside, self.free = threading.Event(), threading.Event()
        self.free.set()

    def __call__(self, given: Sequence[int]) -> list[str]:
        self.inside.set()
        assert self.free.wait(PATIENCE)
        if self.faults:
            self.faults -= 1
            raise self.fault
        self.groups.append(list(given))
        return [str(one) for one in given]

    @property
    def kept(self) -> list[int]:
        return [one for group in self.groups for one in group]


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.001)


def in_threads(call: Callable[[int], object], numbers: range) -> list[threading.Thread]:
    threads = [threading.Thread(target=call, args=(number,)) for number in numbers]
    for thread in threads:
        thread.start()
    return threads


def test_a_written_record_is_stored_on_return_and_its_result_is_returned() -> None:
    store = Store()
    batch: Batch[int, str] = Batch(store)
    assert list(batch.write([7, 8])) == ["7", "8"]
    assert (store.kept, batch.waiting) == ([7, 8], 0)
    assert (list(batch.write([])), store.groups) == ([], [[7, 8]])


def test_callers_share_commits_and_each_gets_its_own_results() -> None:
    store, told = Store(), dict[int, Sequence[str]]()
    batch: Batch[int, str] = Batch(store)
    store.free.clear()

    def call(number: int) -> None:
        told[number] = batch.write([number, 100 + number])

    threads = in_threads(call, range(1))
    assert store.inside.wait(PATIENCE)
    threads += in_threads(call, range(1, 20))
    until(lambda: batch.waiting == 40)
    store.free.set()
    for thread in threads:
        thread.join()
    assert [len(group) for group in store.groups] == [2, 38]
    assert told == {number: [str(number), str(100 + number)] for number in range(20)}


def test_an_error_reaches_every_caller_of_the_commit() -> None:
    store, faults = Store(), list[str]()
    store.faults = 5
    store.free.clear()
    batch: Batch[int, str] = Batch(store)

    def call(number: int) -> None:
        try:
            batch.write([number])
        except StorageError as fault:
            faults.append(str(fault))

    threads = in_threads(call, range(5))
    until(lambda: batch.waiting == 5)
    store.free.set()
    for thread in threads:
        thread.join()
    assert (faults, store.kept) == (["the disk is full"] * 5, [])


def test_callers_of_an_event_loop_share_commits() -> None:
    store = Store()
    store.free.clear()
    batch: Batch[int, str] = Batch(store)

    async def run() -> list[Sequence[str]]:
        waiting = asyncio.gather(*[batch.write_async([number]) for number in range(50)])
        await asyncio.to_thread(until, lambda: batch.waiting == 50)
        store.free.set()
        return await waiting

    assert asyncio.run(run()) == [[str(number)] for number in range(50)]
    assert len(store.groups) <= 2  # the first one, where the thread was quick, and the rest


def test_a_cancelled_caller_does_not_stop_the_commit() -> None:
    store = Store()
    store.free.clear()
    batch: Batch[int, str] = Batch(store)

    async def run() -> None:
        waiting = asyncio.create_task(batch.write_async([1]))
        await asyncio.to_thread(store.inside.wait, 10)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        store.free.set()

    asyncio.run(run())
    batch.close()
    assert store.kept == [1]


def test_what_nobody_waits_for_is_written_together_within_the_delay() -> None:
    store = Store()
    batch: Batch[int, str] = Batch(store, delay=0.05)
    assert all(batch.write_soon([number]) for number in range(40))
    until(lambda: batch.waiting == 0)
    assert store.groups == [list(range(40))]


def test_what_nobody_waits_for_keeps_nobody_waiting() -> None:
    store = Store()
    batch: Batch[int, str] = Batch(store, delay=60)
    batch.write_soon([1])
    batch.write([2])
    assert store.kept == [2]
    batch.close()
    assert store.kept == [2, 1]


def test_what_nobody_waits_for_is_written_in_its_time_whatever_comes_besides() -> None:
    store = Store()
    batch: Batch[int, str] = Batch(store, delay=0.02)
    batch.write_soon([0])
    number = 0
    while 0 not in store.kept:
        number += 1
        assert number < 100_000
        batch.write([number])
    batch.close()
    assert len(store.kept) == number + 1


def test_a_group_holds_no_more_than_it_may_and_keeps_the_order() -> None:
    store = Store()
    batch: Batch[int, str] = Batch(store, at_once=10, delay=60)
    for number in range(25):
        batch.write_soon([number])
    batch.close()
    assert store.kept == list(range(25))
    assert max(len(group) for group in store.groups) == 10


def test_a_caller_that_waits_behind_a_full_group_hears_that_the_ledger_cannot_be_written() -> None:
    store = Store()
    store.faults = 1_000_000
    batch: Batch[int, str] = Batch(store, at_once=2, delay=60, retry=0.01)
    for number in range(3):
        batch.write_soon([number])
    with pytest.raises(StorageError):
        batch.write([9])
    assert batch.waiting == 3
    store.faults = 0
    batch.close()
    assert (store.kept, batch.lost) == ([0, 1, 2], 0)


def test_what_nobody_waits_for_is_tried_again() -> None:
    store = Store()
    store.faults = 3
    batch: Batch[int, str] = Batch(store, delay=0.01, retry=0.01)
    batch.write_soon([1, 2])
    until(lambda: batch.waiting == 0)
    assert (store.kept, batch.lost) == ([1, 2], 0)


@pytest.mark.parametrize(("most", "most_bytes"), [(3, 1000), (1000, 30)])
def test_what_does_not_fit_is_refused_counted_and_logged(most: int, most_bytes: int, caplog: pytest.LogCaptureFixture) -> None:
    store = Store()
    store.free.clear()
    batch: Batch[int, str] = Batch(store, what="decisions", most=most, most_bytes=most_bytes, retry=1.0)
    with caplog.at_level(logging.ERROR):
        assert [batch.write_soon([number], 10) for number in range(5)] == [True, True, True, False, False]
    with pytest.raises(StorageError, match="too many decisions wait"):
        batch.write([9], 10)
    assert batch.lost == 2
    store.free.set()
    batch.close()
    assert len(store.kept) == 3
    assert "decisions that are not in the ledger: 1" in caplog.text


def test_what_cannot_be_written_before_the_end_is_counted_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    store = Store()
    store.faults = 1_000_000
    batch: Batch[int, str] = Batch(store, what="decisions", delay=0.01, retry=0.01)
    for number in range(4):
        batch.write_soon([number])
    with caplog.at_level(logging.ERROR):
        batch.close(0.1)
    assert batch.lost == 4
    assert "decisions that are not in the ledger: 4" in caplog.text


def test_a_commit_that_ends_after_the_batch_is_closed_counts_nothing_twice() -> None:
    store = Store()
    store.free.clear()
    batch: Batch[int, str] = Batch(store, delay=0, retry=1.0)
    for number in range(4):
        batch.write_soon([number])
    assert store.inside.wait(PATIENCE)
    batch.close(0.01)
    assert (batch.waiting, batch.lost) == (0, 4)
    store.free.set()
    until(lambda: bool(store.groups))
    time.sleep(0.01)
    assert (batch.waiting, batch.lost) == (0, 4)


@pytest.mark.parametrize("fault", [StorageError("disk full"), ZeroDivisionError("a bug")])
def test_without_another_try_an_error_is_raised_at_the_next_record_and_at_the_end(fault: Exception) -> None:
    store = Store()
    store.faults, store.fault = 1_000_000, fault
    batch: Batch[int, str] = Batch(store, delay=0.001)

    def goes_on() -> None:
        for _ in range(10_000):
            batch.write_soon([1])
            time.sleep(0.001)
        raise AssertionError

    with pytest.raises(type(fault)):
        goes_on()
    other: Batch[int, str] = Batch(store)
    other.write_soon([1])
    with pytest.raises(type(fault)):
        other.close(None)


def test_records_that_arrive_during_a_commit_are_not_forgotten(ledger: Ledger, judgment: Make) -> None:
    sizes: list[int] = []

    def store(records: Sequence[Judgment]) -> None:
        sizes.append(len(records))
        ledger.append(records)

    batch: Batch[Judgment, None] = Batch(store, delay=0.02)
    for number in range(300):
        batch.write_soon([judgment(f"k{number}")])
        time.sleep(0.0003)
    batch.close(None)
    assert sum(sizes) == len(ledger.judgments([f"k{number}" for number in range(300)])) == 300
    assert len(sizes) < 150


def test_a_batch_of_nothing_ends_at_once() -> None:
    Batch(Store()).close(None)


def test_records_of_one_caller_are_written_in_the_order_they_came() -> None:
    store = Store()
    batch: Batch[int, str] = Batch(store, delay=0.001)
    for number in range(500):
        batch.write_soon([number])
        if number % 50 == 0:
            time.sleep(0.002)
    batch.close()
    assert all(first < second for first, second in pairwise(store.kept))
