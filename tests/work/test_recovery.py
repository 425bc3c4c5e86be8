"""What the leader does: the queue is filled from the ledger, and runs of dead workers are recovered and counted."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.work.handlers import Backoff, ItemRun, JobRun, ScheduledJob

if TYPE_CHECKING:
    from areopage.work.engine import Engine
    from areopage.work.recovery import Recovery
    from servers.work_items import Items

    Opener = Callable[..., Engine]

DEAD: set[str] = set()
"""The executors that are alive where the engine's own counts as dead."""


def wait_until(condition: Callable[[], bool]) -> None:
    from servers.monitored import wait_until

    wait_until(condition)


def recovery_of(engine: "Engine", items: "Items", **fields: Any) -> "Recovery":
    from areopage.work.recovery import Recovery

    return Recovery(engine, [items.handler(**fields)])


@given(st.integers(1, 200), st.floats(0, 1, exclude_max=True))
def test_pauses_double_up_to_the_longest_give_or_take_a_quarter(failures: int, drawn: float) -> None:
    pause = Backoff(first=30.0, longest=7200.0, draw=lambda: drawn).pause(failures)
    middle = min(7200.0, 30.0 * 2.0 ** min(failures - 1, 60))
    assert 0.75 * middle <= pause <= 1.25 * middle


@given(st.text(min_size=1), st.integers(0), st.integers(0), st.integers(0))
def test_the_id_of_a_run_says_all_of_it(item: str, attempt: int, deaths: int, postponed: int) -> None:
    run = ItemRun("item", item, attempt, deaths, postponed)
    assert ItemRun.parse(run.key) == run
    assert ItemRun.parse(item) is None or ":" in item


# --- fill


def test_the_queue_is_filled_in_order_and_no_deeper_than_all_workers_need(items: "Items", open_engine: "Opener") -> None:
    items.todo = [f"i{number}" for number in range(300)]
    items.hold()
    engine = open_engine(items.handler(ahead=0, polling=60.0))
    recovery = recovery_of(engine, items)
    assert recovery.dispatch(1) == 0  # only once it was compared with what the queue holds
    assert recovery.scan(1) == 256
    assert set(engine.open_items("item")) == set(items.todo[:256])
    assert recovery.dispatch(1) == 0 and recovery.dispatch(100) == 44  # more workers, a deeper queue
    assert recovery.dispatch(100) == 0


def test_what_another_leader_enqueued_is_not_enqueued_again(items: "Items", open_engine: "Opener") -> None:
    items.todo = ["a", "b", "c"]
    engine = open_engine(items.handler(polling=60.0))
    engine.enqueue_runs([ItemRun("item", "b", attempt=3)], pause=60.0)
    recovery = recovery_of(engine, items)
    assert recovery.scan(1) == 2
    assert engine.open_items("item") == {"a": "ENQUEUED", "b": "DELAYED", "c": "ENQUEUED"}


def test_what_is_pending_only_later_is_compared_with_the_queue_as_well(items: "Items", open_engine: "Opener") -> None:
    engine = open_engine(items.handler(polling=60.0))
    engine.enqueue_runs([ItemRun("item", "b", attempt=3)], pause=60.0)
    recovery = recovery_of(engine, items)
    assert recovery.scan(1) == 0
    items.todo = ["a", "b"]
    assert recovery.dispatch(1) == 1
    assert engine.open_items("item") == {"a": "ENQUEUED", "b": "DELAYED"}


def test_what_the_queue_has_lost_is_enqueued_again(items: "Items", open_engine: "Opener") -> None:
    from areopage.work.recovery import Recovery

    items.todo = ["a", "b", "c"]
    engine = open_engine(items.handler(polling=60.0))
    recovery = Recovery(engine, [items.handler()], lambda: 0.0)
    recovery.scan(1)
    engine.forget([ItemRun("item", "b").key])
    assert recovery.dispatch(1) == 0
    assert recovery.scan(1) == 1
    assert set(engine.open_items("item")) == {"a", "b", "c"}


def test_scans_take_a_small_part_of_the_time(items: "Items", open_engine: "Opener") -> None:
    from areopage.work.recovery import Recovery

    seconds = iter([100.0, 101.0, 119.0, 121.0, 121.0])
    recovery = Recovery(open_engine(items.handler(polling=60.0)), [items.handler()], lambda: next(seconds))
    items.todo = ["a"]
    assert recovery.scan(1) == 1
    items.todo.append("b")
    assert recovery.scan(1) == 0  # at 119 seconds, after one that took a second
    recovery.scan(1)
    assert next(seconds, None) is None


def test_others_than_the_leader_help_only_where_the_queue_is_empty(items: "Items", open_engine: "Opener") -> None:
    items.todo = ["a"]
    engine = open_engine(items.handler(polling=60.0))
    recovery = recovery_of(engine, items)
    assert recovery.help(2) == 1
    items.todo.append("b")
    assert recovery.help(2) == 0


def test_workers_look_often_at_a_queue_that_holds_more_than_they_run_and_seldom_at_an_empty_one(
    items: "Items", open_engine: "Opener"
) -> None:
    handler = items.handler(concurrency=2, polling=50.0, idle_polling=60.0)
    engine = open_engine(handler)

    def polling_after_scan() -> float:
        recovery_of(engine, items, polling=50.0, idle_polling=60.0).scan(1)
        return polling_of("item")

    assert polling_of("item") == 60.0
    items.todo = ["a", "b"]
    assert polling_after_scan() == 60.0  # the next look begins both
    items.todo.append("c")
    assert polling_after_scan() == 50.0
    items.todo = []
    engine.forget([ItemRun("item", "a").key, ItemRun("item", "b").key])
    assert polling_after_scan() == 50.0
    engine.forget([ItemRun("item", "c").key])
    assert polling_after_scan() == 60.0


def test_items_that_come_faster_than_they_are_begun_are_looked_for_often_at_once(items: "Items", open_engine: "Opener") -> None:
    engine = open_engine(items.handler(concurrency=2, polling=50.0, idle_polling=60.0))
    recovery = recovery_of(engine, items, polling=50.0, idle_polling=60.0)
    recovery.scan(1)
    items.todo = ["a", "b", "c"]
    assert recovery.dispatch(1) == 3
    assert polling_of("item") == 50.0


def polling_of(queue: str) -> float:
    """How often all processes look at a queue."""
    from dbos import DBOS

    found = DBOS.retrieve_queue(queue)
    assert found is not None
    return found.polling_interval_sec


# --- recover


def test_a_run_whose_worker_died_is_begun_again_at_once(items: "Items", open_engine: "Opener") -> None:
    engine = open_engine(items.handler(concurrency=4))
    recovery = recovery_of(engine, items)
    items.hold()
    engine.enqueue("item", ["a", "b"])
    wait_until(items.ran(2))
    assert recovery.take_over({"me@1"}) == 0
    assert recovery.take_over({"other"}) == 2
    wait_until(items.ran(4))
    assert {one.run for one in engine.begun()} == {ItemRun("item", "a", deaths=1), ItemRun("item", "b", deaths=1)}


def test_items_at_which_workers_died_twice_run_one_at_a_time_and_five_deaths_are_the_last(
    items: "Items", open_engine: "Opener"
) -> None:
    engine = open_engine(items.handler(concurrency=64))
    recovery = recovery_of(engine, items, concurrency=64)
    items.hold()
    engine.enqueue_runs([ItemRun("item", name, deaths=1) for name in ("a", "b", "c")])
    wait_until(items.ran(3))
    recovery.take_over(DEAD)
    for deaths in (3, 4, 5):
        for alone in range(3):
            wait_until(items.ran(3 + 3 * (deaths - 3) + alone + 1))
            (begun,) = engine.begun()
            assert isinstance(begun.run, ItemRun) and begun.run.deaths == deaths - 1
            if alone < 2 or deaths < 5:
                recovery.take_over(DEAD)
    recovery.take_over(DEAD)
    assert set(items.given_up) == {"a", "b", "c"}
    assert {reason.partition(":")[0] for reason in items.given_up.values()} == {"its worker died 5 times in a row"}
    assert engine.open_items("item") == {}


def test_a_failed_attempt_ends_the_row_of_deaths() -> None:
    run = ItemRun("item", "a", attempt=2, deaths=3, postponed=1)
    assert run.retried() == ItemRun("item", "a", attempt=3)
    assert run.again() == ItemRun("item", "a", attempt=2, deaths=3, postponed=2)
    assert run.after_death() == ItemRun("item", "a", attempt=2, deaths=4, postponed=1)


def test_a_job_whose_worker_died_is_begun_again(items: "Items", open_engine: "Opener") -> None:
    import asyncio

    due: list[datetime] = []

    async def hang(due_at: datetime) -> None:
        due.append(due_at)
        if len(due) < 3:
            await asyncio.sleep(600)

    engine = open_engine(jobs=[ScheduledJob(name="job", schedule="0 0 1 1 *", run=hang)])
    recovery = recovery_of(engine, items)
    engine.enqueue_job(JobRun("job", datetime(2026, 1, 1, tzinfo=UTC)))
    wait_until(lambda: len(due) == 1)
    assert recovery.take_over(DEAD) == 1
    wait_until(lambda: len(due) == 2)
    assert recovery.take_over(DEAD) == 1  # it was the last time
    assert engine.begun() == []


def test_a_run_that_is_begun_here_and_does_not_run_is_enqueued_again(
    items: "Items", open_engine: "Opener", monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = open_engine()
    recovery = recovery_of(engine, items)
    items.hold()
    engine.enqueue("item", ["a"])
    wait_until(items.ran(1))
    monkeypatch.setattr(engine, "is_running", lambda key: False)
    assert recovery.take_over({"me@1"}) == 0  # it may have been claimed just now
    assert recovery.take_over({"me@1"}) == 1
    wait_until(items.ran(2))
    assert {one.run for one in engine.begun()} == {ItemRun("item", "a", postponed=1)}
