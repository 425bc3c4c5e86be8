"""What stores the records of a run: each is on disk in a moment, those who are told hear it then, and nothing is lost unseen."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text

from areopage.errors import StorageError
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Answer, Judgment, Run
from areopage.ledger.write.answers import Answers, Link
from areopage.ledger.write.run_writer import AT_ONCE, WITHIN, RunWriter
from servers import PATIENCE
from servers.new_ledger import new_ledger_file

Make = Callable[..., Judgment]
MOMENT = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def ledger_file(tmp_path: Path) -> Path:
    """A SQLite ledger that holds the run `r`."""
    place = new_ledger_file(tmp_path / "ledger.db")
    with Ledger.open(place) as ledger:
        ledger.create_run(
            Run(id="r", suite="s", fingerprint="f", folder="", created_at=MOMENT, finished_at=None, spec="{}"), ["{}"]
        )
    return place


def stored(ledger: Ledger, keys: Sequence[str]) -> set[str]:
    return set(ledger.judgments(keys))


def commits(ledger: Ledger) -> int:
    with ledger.engine.connect() as connection:
        return int(connection.execute(text("SELECT count(*) FROM chain")).scalar_one())


def test_records_are_on_disk_once_they_are_flushed(ledger: Ledger, judgment: Make) -> None:
    keys = [f"k{number}" for number in range(50)]

    async def run() -> None:
        async with RunWriter(ledger, "judgments") as writer:
            for key in keys:
                writer.write_soon([judgment(key)])
            await writer.flush()
            assert stored(ledger, keys) == set(keys)

    asyncio.run(run())


def test_closing_stores_what_waits(ledger: Ledger, judgment: Make) -> None:
    async def run() -> None:
        async with RunWriter(ledger, "judgments") as writer:
            writer.write_soon([judgment("k")])

    asyncio.run(run())
    assert stored(ledger, ["k"]) == {"k"}


def test_a_caller_is_told_once_its_records_are_on_disk(ledger: Ledger, judgment: Make) -> None:
    told: list[tuple[str, set[str]]] = []

    def tell(key: str) -> None:
        told.append((key, stored(ledger, [key])))

    async def run() -> None:
        async with RunWriter(ledger, "judgments") as writer:
            for key in ("a", "b", "c"):
                writer.write_soon([judgment(key)], settled=partial(tell, key))
            assert told == []

    asyncio.run(run())
    assert told == [("a", {"a"}), ("b", {"b"}), ("c", {"c"})]


def test_the_loop_commits_to_a_file_soon_and_together_what_came_meanwhile(ledger_file: Path, judgment: Make) -> None:
    with Ledger.open(ledger_file) as ledger:

        async def run() -> None:
            before, last = commits(ledger), asyncio.Event()
            async with RunWriter(ledger, "judgments") as writer:
                for number in range(AT_ONCE - 2):
                    writer.write_soon([judgment(f"k{number}")])
                writer.write_soon([judgment("last")], settled=last.set)
                await asyncio.wait_for(last.wait(), PATIENCE)
                assert commits(ledger) == before + 1

        asyncio.run(run())


def test_many_records_do_not_wait_for_others(ledger: Ledger, judgment: Make) -> None:
    told: list[int] = []

    async def run() -> None:
        async with RunWriter(ledger, "judgments") as writer:
            for number in range(AT_ONCE):
                writer.write_soon([judgment(f"k{number}")], settled=partial(told.append, number))
            if ledger.engine.dialect.name == "sqlite":
                assert len(told) == AT_ONCE

    asyncio.run(run())
    assert told == list(range(AT_ONCE))


def test_while_another_process_writes_the_loop_goes_on_and_nothing_is_lost(ledger_file: Path, judgment: Make) -> None:
    keys = [f"k{number}" for number in range(20)]
    with Ledger.open(ledger_file) as ledger, Ledger.open(ledger_file) as other:

        async def run() -> None:
            async with RunWriter(ledger, "judgments") as writer:
                with other.engine.connect() as connection:
                    connection.exec_driver_sql("BEGIN IMMEDIATE")
                    for key in keys:
                        writer.write_soon([judgment(key)])
                        await asyncio.sleep(2 * WITHIN)  # the loop turns: it waits for nobody
                    assert stored(ledger, keys) == set()
                    connection.rollback()
                await asyncio.wait_for(writer.flush(), PATIENCE)
                assert stored(ledger, keys) == set(keys)
                after = asyncio.Event()
                writer.write_soon([judgment("after")], settled=after.set)
                await asyncio.wait_for(after.wait(), PATIENCE)
                assert stored(ledger, ["after"]) == {"after"}

        asyncio.run(run())


def test_where_records_cannot_be_written_all_that_needs_them_ends_with_the_fault(ledger: Ledger, judgment: Make) -> None:
    told: list[str] = []

    async def run() -> None:
        async with RunWriter(ledger, "judgments") as writer:
            writer.write_soon([judgment("a")])
            await writer.flush()
            with ledger.engine.begin() as connection:
                connection.exec_driver_sql("DROP TABLE verdicts")
            writer.write_soon([judgment("b")], settled=partial(told.append, "b"))
            await asyncio.wait_for(asyncio.Event().wait(), PATIENCE)  # calls that wait for a place

    with pytest.raises(StorageError, match="verdicts"):
        asyncio.run(run())
    assert told == []  # no other call takes its place


def test_after_a_fault_nothing_more_is_taken(ledger_file: Path, judgment: Make) -> None:
    with Ledger.open(ledger_file) as ledger:

        async def run() -> None:
            async with RunWriter(ledger, "judgments") as writer:
                with ledger.engine.begin() as connection:
                    connection.exec_driver_sql("DROP TABLE verdicts")
                with pytest.raises(StorageError, match="verdicts"):
                    for number in range(AT_ONCE + 1):
                        writer.write_soon([judgment(f"k{number}")])
                with pytest.raises(StorageError, match="verdicts"):
                    await writer.flush()

        with pytest.raises(StorageError, match="verdicts"):
            asyncio.run(run())


def test_a_cancelled_block_stays_cancelled(ledger: Ledger, judgment: Make) -> None:
    async def block() -> None:
        async with RunWriter(ledger, "judgments") as writer:
            writer.write_soon([judgment("k")])
            await asyncio.Event().wait()

    async def run() -> None:
        task = asyncio.create_task(block())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert stored(ledger, ["k"]) == {"k"}


def test_a_file_that_is_deleted_meanwhile_is_noticed_before_more_is_written_into_nothing(
    ledger_file: Path, judgment: Make
) -> None:
    with Ledger.open(ledger_file) as ledger:

        async def run() -> None:
            async with RunWriter(ledger, "judgments") as writer:
                await asyncio.to_thread(ledger_file.unlink)
                writer.write_soon([judgment("k")])
                await asyncio.wait_for(asyncio.Event().wait(), PATIENCE)

        with pytest.raises(StorageError, match="deleted or replaced"):
            asyncio.run(run())


def test_an_answer_and_the_judgments_about_it_are_one_transaction(
    ledger: Ledger, judgment: Make, submission: Callable[..., Answer]
) -> None:
    stored_answers = Answers(ledger)
    stored_answers.append([submission("a")])
    (number,) = stored_answers.numbers(["a"]).values()
    before = commits(ledger)

    async def run() -> None:
        async with RunWriter(ledger, "judgments") as writer:
            writer.write_soon([judgment("k"), Link(number, "r", "k")])

    asyncio.run(run())
    assert commits(ledger) == before + 1
