"""Decisions on their way to the disk: together, in a bounded queue, and never lost without a word."""

import asyncio
import logging
import threading
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from areopage.errors import StorageError
from areopage.ledger.gate_records import Exchange
from areopage.server import decision_writer
from areopage.server.decision_writer import DecisionWriter
from servers import PATIENCE


def exchange(number: int) -> Exchange:
    return Exchange(
        id=f"{number:032x}",
        at=datetime(2026, 11, 20, tzinfo=UTC),
        origin="check",
        question="?",
        generation="!",
        answer="",
        documents=(),
        verdict="deliver",
        mode="generated",
        decision=None,
        metrics={},
    )


class Shelf:
    """Keeps what it is given; fails as long as it is told to, and waits while it is held."""

    def __init__(self) -> None:
        self.portions: list[list[str]] = []
        self.faults = 0
        self.free = threading.Event()
        self.free.set()

    def __call__(self, given: Sequence[Exchange]) -> None:
        assert self.free.wait(10)
        if self.faults:
            self.faults -= 1
            raise StorageError("the disk is full")
        self.portions.append([one.id for one in given])

    @property
    def kept(self) -> list[str]:
        return [id for portion in self.portions for id in portion]


def test_what_comes_together_is_written_together() -> None:
    async def run() -> None:
        shelf = Shelf()
        writer = DecisionWriter(shelf)
        assert {await writer.note(exchange(number), 10, durable=False) for number in range(40)} == {"soon"}
        await writer.close()
        assert len(shelf.kept) == 40
        assert len(shelf.portions) == 1

    asyncio.run(run())


def test_a_held_back_answer_is_on_the_disk_when_its_request_is_answered() -> None:
    async def run() -> None:
        shelf = Shelf()
        writer = DecisionWriter(shelf)
        await writer.note(exchange(1), 10, durable=False)
        assert await writer.note(exchange(2), 10, durable=True) == "yes"
        assert shelf.kept == [exchange(2).id], "what nobody waits for keeps nobody waiting"
        await writer.close()
        assert shelf.kept == [exchange(2).id, exchange(1).id]

    asyncio.run(run())


def test_what_nobody_waits_for_is_written_in_its_time_whatever_comes_besides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decision_writer, "GROUP_SECONDS", 0.02)

    async def run() -> None:
        shelf = Shelf()
        writer = DecisionWriter(shelf)
        await writer.note(exchange(0), 10, durable=False)
        number = 0
        while exchange(0).id not in shelf.kept:
            number += 1
            assert number < 10_000
            await writer.note(exchange(number), 10, durable=True)
            await asyncio.sleep(0.001)
        await writer.close()
        assert len(shelf.kept) == number + 1

    asyncio.run(run())


def test_a_held_back_answer_that_cannot_be_written_is_not_acknowledged() -> None:
    async def run() -> None:
        shelf = Shelf()
        shelf.faults = 1
        writer = DecisionWriter(shelf)
        with pytest.raises(StorageError):
            await writer.note(exchange(1), 10, durable=True)
        await writer.close()
        assert (shelf.kept, writer.lost) == ([], 0)

    asyncio.run(run())


def test_whoever_waits_behind_a_full_portion_hears_that_the_ledger_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decision_writer, "MOST_AT_ONCE", 2)

    async def run() -> None:
        shelf = Shelf()
        shelf.faults = 1_000_000
        writer = DecisionWriter(shelf)
        for number in range(3):
            await writer.note(exchange(number), 10, durable=False)
        with pytest.raises(StorageError):
            await asyncio.wait_for(writer.note(exchange(9), 10, durable=True), PATIENCE)
        assert writer.waiting == 3
        shelf.faults = 0
        await writer.close()
        assert (shelf.kept, writer.lost) == ([exchange(number).id for number in range(3)], 0)

    asyncio.run(run())


def test_what_nobody_waits_for_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decision_writer, "RETRY_SECONDS", 0.01)

    async def run() -> None:
        shelf = Shelf()
        shelf.faults = 3
        writer = DecisionWriter(shelf)
        for number in range(3):
            await writer.note(exchange(number), 10, durable=False)
        while writer.waiting:  # noqa: ASYNC110 - it says nothing when it is done
            await asyncio.sleep(0.005)
        assert shelf.kept == [exchange(number).id for number in range(3)]
        assert writer.lost == 0

    asyncio.run(run())


def test_what_comes_back_after_the_end_harms_nobody() -> None:
    async def run() -> None:
        shelf = Shelf()
        shelf.free.clear()
        writer = DecisionWriter(shelf)
        for number in range(decision_writer.MOST_AT_ONCE):
            await writer.note(exchange(number), 10, durable=False)
        await writer.close(0.01)
        assert (writer.waiting, writer.lost) == (0, decision_writer.MOST_AT_ONCE)
        shelf.free.set()
        while not shelf.portions:  # noqa: ASYNC110 - it says nothing when it is done
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.01)
        assert (writer.waiting, writer.lost) == (0, decision_writer.MOST_AT_ONCE)

    asyncio.run(run())


@pytest.mark.parametrize(("most", "most_bytes", "size"), [(3, 1000, 10), (1000, 30, 10)])
def test_what_does_not_fit_is_counted_logged_and_said(
    most: int, most_bytes: int, size: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        shelf = Shelf()
        shelf.free.clear()
        writer = DecisionWriter(shelf, most=most, most_bytes=most_bytes)
        noted = [await writer.note(exchange(number), size, durable=False) for number in range(5)]
        assert noted == ["soon", "soon", "soon", "no", "no"]
        with pytest.raises(StorageError):
            await writer.note(exchange(9), size, durable=True)
        assert writer.lost == 2
        shelf.free.set()
        await writer.close()
        assert len(shelf.kept) == 3

    with caplog.at_level(logging.ERROR):
        asyncio.run(run())
    assert "decisions that are not in the ledger: 1" in caplog.text


def test_what_cannot_be_written_before_the_end_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        shelf = Shelf()
        shelf.faults = 1_000_000
        writer = DecisionWriter(shelf)
        for number in range(4):
            await writer.note(exchange(number), 10, durable=False)
        await writer.close(0.1)
        assert writer.lost == 4

    with caplog.at_level(logging.ERROR):
        asyncio.run(run())
    assert "decisions that are not in the ledger: 4" in caplog.text
