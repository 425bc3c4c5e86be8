"""The engine: each item is run once, whatever is enqueued twice, fails, or is stopped in between."""

import asyncio
import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError

from areopage.errors import ConfigError, StorageError, UserError
from areopage.ledger.store import Ledger
from areopage.work.handlers import Finished, ItemOutcome, ItemRun, JobRun, RateLimit, Retry, ScheduledJob

if TYPE_CHECKING:
    from areopage.work.engine import Engine
    from servers.work_items import Items

    Opener = Callable[..., Engine]


def wait_until(condition: Callable[[], bool]) -> None:
    from servers.monitored import wait_until

    wait_until(condition)


def test_an_item_that_is_enqueued_twice_is_run_once_and_open_items_are_known(items: "Items", open_engine: "Opener") -> None:
    engine = open_engine(items.handler(ahead=0))
    items.hold()
    engine.enqueue("item", ["é:1%_", "b", "c"])
    engine.enqueue("item", ["é:1%_", "b", "c"])
    wait_until(items.ran(2))
    assert engine.open_items("item") == {"é:1%_": "PENDING", "b": "PENDING", "c": "ENQUEUED"}
    assert {one.run for one in engine.begun() if one.executor == "me@1"} == {ItemRun("item", "é:1%_"), ItemRun("item", "b")}
    assert engine.enqueued("item", 9) == 1
    items.release()
    wait_until(lambda: engine.open_items("item") == {})
    assert sorted(items.runs) == [("b", 0), ("c", 0), ("é:1%_", 0)] and items.most_at_once == 2
    engine.enqueue("item", ["b"])  # it has ended: it is wanted again from the start
    wait_until(items.ran(4))


def test_a_failed_item_is_run_again_after_a_pause_and_given_up_after_the_last_attempt(
    items: "Items", open_engine: "Opener"
) -> None:
    engine = open_engine(items.handler(attempts=3))
    items.outcomes["a"] = Retry(reason="busy")
    engine.enqueue("item", ["a", "b"])
    wait_until(lambda: "a" in items.given_up)
    assert items.given_up == {"a": "busy"}
    assert [run for run in items.runs if run[0] == "a"] == [("a", 0), ("a", 1), ("a", 2)]
    wait_until(lambda: engine.open_items("item") == {})


def test_a_retry_that_does_not_count_keeps_the_number_of_the_attempt(items: "Items", open_engine: "Opener") -> None:
    engine = open_engine(items.handler(attempts=1))
    items.outcomes["a"] = Retry(reason="later", after=0.01, counted=False)
    engine.enqueue("item", ["a"])
    wait_until(items.ran(3))
    items.outcomes["a"] = Finished()
    wait_until(lambda: engine.open_items("item") == {})
    assert set(items.runs) == {("a", 0)} and not items.given_up


def test_a_bug_counts_as_an_attempt_and_a_fault_of_the_storage_does_not(
    items: "Items", open_engine: "Opener", monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("areopage.work.engine.STORAGE_PAUSE", 0.01)
    engine = open_engine(items.handler(attempts=2))
    items.fault = StorageError("no space left")
    engine.enqueue("item", ["a"])
    wait_until(items.ran(4))
    assert set(items.runs) == {("a", 0)}
    items.fault = KeyError("bug")
    wait_until(lambda: bool(items.given_up))
    assert items.given_up == {"a": "KeyError: 'bug'"} and "item a: KeyError: 'bug'" in caplog.text


def test_a_rate_limit_holds_at_the_end_of_a_second_of_the_clock(items: "Items", open_engine: "Opener") -> None:
    engine = open_engine(items.handler(concurrency=8, rate_limit=RateLimit(items=3, seconds=1.5)))
    time.sleep((0.9 - time.time()) % 1)
    began = time.monotonic()
    engine.enqueue("item", [f"i{number}" for number in range(7)])
    wait_until(items.ran(7))
    assert time.monotonic() - began > 3.0  # the third three begin two periods after the first


def test_a_process_has_one_engine(open_engine: "Opener") -> None:
    open_engine()
    with pytest.raises(UserError, match="has a worker already"):
        open_engine(executor="me@2")


def test_closing_lets_what_is_begun_end_and_leaves_the_rest_to_the_next_engine(items: "Items", open_engine: "Opener") -> None:
    from servers.work_items import close

    engine = open_engine()
    items.hold()
    engine.enqueue("item", [f"i{number}" for number in range(9)])
    wait_until(items.ran(2))
    threading.Timer(0.3, items.release).start()
    close(engine, grace=20)
    assert len(items.runs) == 2
    following = open_engine(executor="me@2")
    wait_until(lambda: following.open_items("item") == {})
    assert len(items.runs) == len(set(items.runs)) == 9


def test_closing_without_grace_puts_back_what_is_begun(items: "Items", open_engine: "Opener") -> None:
    from servers.work_items import close

    engine = open_engine()
    items.hold()
    engine.enqueue("item", [f"i{number}" for number in range(9)])
    wait_until(items.ran(2))
    close(engine)
    following = open_engine(executor="me@2")
    assert following.begun() == [] or {one.executor for one in following.begun()} == {"me@2"}
    items.release()
    wait_until(lambda: following.open_items("item") == {})
    assert len(items.runs) == 11 and {attempt for _, attempt in items.runs} == {0}


def test_an_engine_closes_though_a_handler_misses_its_first_cancellation(items: "Items", open_engine: "Opener") -> None:
    from servers.work_items import close

    async def deaf(item: str, attempt: int) -> ItemOutcome:
        try:
            return await items.run(item, attempt)
        except asyncio.CancelledError:
            return await items.run(item, attempt)

    engine = open_engine(structs.replace(items.handler(), run=deaf))
    items.hold()
    engine.enqueue("item", ["a", "b"])
    wait_until(items.ran(2))
    closing = threading.Thread(target=close, args=(engine,), daemon=True)
    closing.start()
    closing.join(timeout=30)
    items.release()
    assert not closing.is_alive()


def test_an_engine_runs_only_what_is_in_its_queues(items: "Items", open_engine: "Opener", ledger: Ledger) -> None:
    from servers.work_items import Items, close

    others = Items()
    first = open_engine(items.handler(queue="run-1"))
    items.hold()
    first.enqueue("item", ["a", "b", "c", "d", "e"])
    wait_until(items.ran(2))
    close(first)
    second = open_engine(others.handler(queue="run-2"), executor="me@2")
    second.enqueue("item", ["z"])
    wait_until(others.ran(1))
    assert second.open_items("item").keys() <= {"z"} and others.runs == [("z", 0)]
    wait_until(lambda: second.open_items("item") == {})
    second.remove_queue("item")
    close(second)
    items.release()
    third = open_engine(items.handler(queue="run-1"), executor="me@3")
    wait_until(lambda: third.open_items("item") == {})
    assert others.runs == [("z", 0)]


def test_jobs_run_by_the_clock_and_one_that_fails_stops_nothing(
    items: "Items", open_engine: "Opener", caplog: pytest.LogCaptureFixture
) -> None:
    due: list[datetime] = []

    async def note(due_at: datetime) -> None:
        due.append(due_at)

    async def fail(due_at: datetime) -> None:
        raise KeyError("oh")

    open_engine(
        jobs=[
            ScheduledJob(name="note", schedule="* * * * * *", run=note),
            ScheduledJob(name="the failing one", schedule="* * * * * *", run=fail),
        ]
    )
    wait_until(lambda: len(due) >= 2 and "scheduled job the failing one failed: KeyError" in caplog.text)
    assert len(set(due)) == len(due) and all(one.tzinfo and not one.microsecond for one in due)


def test_an_occurrence_of_a_job_is_begun_again_but_not_for_ever(open_engine: "Opener") -> None:
    due: list[datetime] = []

    async def note(due_at: datetime) -> None:
        due.append(due_at)

    engine = open_engine(jobs=[ScheduledJob(name="no-te", schedule="0 0 1 1 *", run=note)])
    first = JobRun("no-te", datetime(2026, 5, 6, 7, 8, tzinfo=UTC))
    assert engine.enqueue_job(first) and engine.enqueue_job(first)  # the same occurrence once more changes nothing
    wait_until(lambda: due == [first.due_at])
    assert JobRun.parse(f"{first.key}~2", ["no", "no-te"]) == first._replace(number=2)
    assert not engine.enqueue_job(first._replace(number=3))


def test_a_schedule_that_is_none_is_named(open_engine: "Opener") -> None:
    async def nothing(due_at: datetime) -> None: ...

    with pytest.raises(ConfigError, match=r"the schedule of report.*'every day' is no cron expression"):
        open_engine(jobs=[ScheduledJob(name="report", schedule="every day", run=nothing)])
    open_engine(executor="me@2")


def test_what_ended_a_while_ago_is_removed(items: "Items", open_engine: "Opener", ledger: Ledger) -> None:
    engine = open_engine()
    engine.enqueue("item", ["a", "b"])
    wait_until(lambda: len(items.runs) == 2 and engine.open_items("item") == {})
    assert engine.clean(datetime.now(UTC)) == 0
    assert engine.clean(datetime.now(UTC) + timedelta(minutes=10)) == 2


def test_a_pause_that_ends_only_by_a_clock_that_was_ahead_is_ended(items: "Items", open_engine: "Opener") -> None:
    engine = open_engine()
    engine.enqueue_runs([ItemRun("item", "tried", attempt=1), ItemRun("item", "deadly", deaths=1)], pause=86_400.0)
    engine.enqueue_runs([ItemRun("item", "paused", attempt=1)], pause=60.0)
    engine.clean(datetime.now(UTC))
    wait_until(lambda: engine.open_items("item") == {"paused": "DELAYED"})  # dbos records an end after the handler's return
    assert len(items.runs) == 2


def test_what_ran_under_a_clock_that_was_ahead_does_not_count_against_the_rate_limit(
    items: "Items", open_engine: "Opener"
) -> None:
    engine = open_engine(items.handler(rate_limit=RateLimit(items=2, seconds=60.0)))
    engine.enqueue("item", ["a", "b", "c"])
    wait_until(lambda: len(items.runs) == 2 and len(engine.open_items("item")) == 1)
    assert engine.clean(datetime.now(UTC)) == 0
    assert engine.clean(datetime.now(UTC) - timedelta(days=2)) == 2
    wait_until(lambda: len(items.runs) == 3)


def test_a_queue_that_cannot_be_opened_is_one_line(open_engine: "Opener", tmp_path: Path) -> None:
    (tmp_path / "ledger.db.queue.db").write_text("no database at all, but long enough to look like one" * 100)
    with pytest.raises(UserError, match=r"queue\.db") as refused:
        open_engine()
    assert "\n" not in str(refused.value)


# --- pickled rows


def insert_pickled(location: str, version: str, table: str, place: Path, name: str = "item", queue: str = "item") -> None:
    """What an attacker inserts who may write the queue's table."""
    import base64
    import pickle

    class Code:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.touch, (place,)

    inputs = base64.b64encode(pickle.dumps({"args": (Code(),), "kwargs": {}})).decode()
    values = {"id": "evil", "name": name, "queue": queue, "inputs": inputs, "version": version, "now": int(time.time() * 1000)}
    engine = create_engine(location)
    with engine.begin() as connection:
        connection.execute(
            text(
                f"INSERT INTO {table} (workflow_uuid, status, name, queue_name, inputs, serialization, application_version, "
                "created_at, updated_at, priority) "
                "VALUES (:id, 'ENQUEUED', :name, :queue, :inputs, 'py_pickle', :version, :now, :now, 0)"
            ),
            values,
        )
    engine.dispose()


def check_pickled(engine: "Engine", items: "Items", place: Path, caplog: pytest.LogCaptureFixture) -> None:
    wait_until(lambda: "evil" in caplog.text)
    assert "pickled, which is refused" in caplog.text
    engine.enqueue("item", ["a"])
    wait_until(items.ran(1))
    assert not place.exists()


def test_a_pickled_row_runs_no_code_is_named_and_stops_nothing(
    items: "Items", open_engine: "Opener", ledger: Ledger, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    engine, place = open_engine(), tmp_path / "owned"
    with caplog.at_level(logging.WARNING):
        insert_pickled(engine.location, engine.application, "workflow_status", place)
        check_pickled(engine, items, place, caplog)


def test_a_pickled_row_runs_no_code_on_postgresql(
    items: "Items", open_engine: "Opener", postgres_ledger: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "owned"
    engine = open_engine(location=make_url(postgres_ledger).set(drivername="postgresql+psycopg"))
    with caplog.at_level(logging.WARNING):
        insert_pickled(engine.location, engine.application, "dbos.workflow_status", place)
        check_pickled(engine, items, place, caplog)


def test_the_guard_holds_for_the_installed_dbos_and_refuses_others() -> None:
    from importlib.metadata import version

    from areopage.work.queue import is_tested

    assert is_tested(version("dbos"))
    assert not is_tested("3.40") and not is_tested("3.5.0") and not is_tested("4.0")


def test_a_queue_that_another_process_removes_while_it_is_registered_is_registered_again(
    items: "Items", open_engine: "Opener", monkeypatch: pytest.MonkeyPatch
) -> None:
    from dbos import DBOSClient

    register, removed = DBOSClient.register_queue, list[str]()

    def registered(client: DBOSClient, name: str, **options: object) -> object:
        queue = register(client, name, **options)  # type: ignore[arg-type]
        if name not in removed:
            removed.append(name)
            client.delete_queue(name)
            raise AssertionError(f"Queue {name} missing from database after upsert")
        return queue

    monkeypatch.setattr(DBOSClient, "register_queue", registered)
    engine = open_engine(items.handler())
    engine.enqueue("item", ["a"])
    wait_until(items.ran(1))
    assert removed == ["item", "item:suspects"]


def test_a_queue_whose_pauses_cannot_be_read_is_a_fault_of_the_storage(
    open_engine: "Opener", monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = open_engine()

    def fail(**conditions: object) -> list[object]:
        if conditions.get("status") == "DELAYED":
            raise OperationalError("SELECT", {}, sqlite3.OperationalError("disk I/O error"))
        return []

    with monkeypatch.context() as patched:
        patched.setattr(engine, "_list", fail)
        with pytest.raises(StorageError, match="disk I/O error"):
            engine.clean(datetime.now(UTC))
