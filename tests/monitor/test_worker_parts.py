"""The parts of a worker by themselves: attempts, who is alive, who leads, what is due, slots, and the queue."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.errors import StorageError, UserError
from areopage.ledger.evaluations import Evaluations
from areopage.ledger.operations import Worker
from areopage.ledger.store import Ledger
from areopage.monitor.attempts import Attempts
from areopage.monitor.config import WorkerSection
from areopage.monitor.due import Due
from areopage.monitor.slots import Slot
from areopage.monitor.takeover import TakeOver, executor_of, leader_of, live_executors

if TYPE_CHECKING:
    from areopage.monitor.queue import DurableQueue
    from servers.monitored import Monitored

NOW = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)


def sign(name: str, seconds_ago: float = 0.0, state: str = "alive") -> Worker:
    return Worker(id=name, host="h", process=1, started_at=NOW, seen_at=NOW - timedelta(seconds=seconds_ago), state=state)


def attempts_of(ledger: Ledger, **fields: Any) -> Attempts:
    return Attempts(Evaluations(ledger), WorkerSection(**fields), draw=lambda: 0.5)


def state_of(ledger: Ledger, id: str) -> tuple[str, int]:
    found = Evaluations(ledger).get(id)
    assert found is not None
    return found.state, found.attempts


# --- attempts


@given(st.integers(1, 200), st.floats(0, 1, exclude_max=True))
def test_pauses_double_up_to_the_longest_give_or_take_a_quarter(failures: int, drawn: float) -> None:
    section = WorkerSection(pause=30.0, longest_pause=7200.0)
    pause = Attempts.pause(Attempts(None, section, lambda: drawn), failures)  # type: ignore[arg-type]
    middle = min(7200.0, 30.0 * 2.0 ** min(failures - 1, 60))
    assert 0.75 * middle <= pause.total_seconds() <= 1.25 * middle


def test_failures_wait_longer_each_time_and_the_last_one_gives_up(monitored: "Monitored", kept: Ledger) -> None:
    monitored.submit(kept, 1)
    attempts, submissions = attempts_of(kept, attempts=3, pause=30.0), Evaluations(kept)
    for attempt, wait in ((0, 30), (1, 60)):
        assert attempts.failed("a0", attempt, "busy", NOW) == "again"
        found = submissions.get("a0")
        assert found is not None and found.next_attempt_at == NOW + timedelta(seconds=wait)
    assert attempts.failed("a0", 2, "busy", NOW) == "given_up"
    assert state_of(kept, "a0") == ("failed", 3)


def test_whoever_comes_late_changes_nothing(monitored: "Monitored", kept: Ledger) -> None:
    monitored.submit(kept, 1)
    attempts = attempts_of(kept)
    assert attempts.died("a0", 0, NOW) == "again"
    assert attempts.failed("a0", 0, "slow", NOW) == attempts.died("a0", 0, NOW) == attempts.put_back("a0", 0, "", NOW) == "passed"
    assert state_of(kept, "a0") == ("waiting", 1)


def test_deaths_are_counted_in_a_row_and_another_failure_ends_the_row(monitored: "Monitored", kept: Ledger) -> None:
    monitored.submit(kept, 2)
    attempts = attempts_of(kept)
    for attempt in range(4):
        assert attempts.suspects([("a0", attempt)]) == ([("a0", attempt)] if attempt >= 2 else [])
        assert attempts.died("a0", attempt, NOW) == "again"
    assert attempts.died("a0", 4, NOW) == "given_up"
    assert state_of(kept, "a0") == ("failed", 5)
    attempts.died("a1", 0, NOW)
    attempts.died("a1", 1, NOW)
    attempts.failed("a1", 2, "busy", NOW)
    assert attempts.suspects([("a1", 3)]) == []


# --- who is alive, and who leads


def test_only_those_who_gave_a_sign_and_did_not_stop_are_alive() -> None:
    known = [sign("a"), sign("b", 31), sign("c", 29), sign("d", 0, "stopped"), sign("e", 0, "taken_over")]
    assert live_executors(known, NOW, 30) == {executor_of(known[0]), executor_of(known[2])}


def test_who_starts_again_in_a_slot_is_another_executor() -> None:
    again = msgspec.structs.replace(sign("a"), started_at=NOW + timedelta(milliseconds=1))
    assert executor_of(sign("a")) != executor_of(again)


def test_the_first_by_name_leads_while_it_gives_signs() -> None:
    assert leader_of([sign("b"), sign("a"), sign("0", 0, "stopped")], NOW, 12) == "a"
    assert leader_of([sign("b"), sign("a", 13)], NOW, 12) == "b"
    assert leader_of([], NOW, 12) == ""


# --- what is due


def test_the_leader_keeps_the_queue_filled_and_others_help_only_where_it_is_empty(monitored: "Monitored", kept: Ledger) -> None:
    monitored.submit(kept, 300)
    due = Due(attempts_of(kept), 4)
    taken = due.take(leads=False, live=2)
    assert taken == [(f"a{number}", 0) for number in range(256)]
    Evaluations(kept).queued([id for id, _ in taken[:200]])
    assert due.take(leads=False, live=2) == []
    assert due.take(leads=True, live=2) == [(f"a{number}", 0) for number in range(200, 256)]
    Evaluations(kept).queued([id for id, _ in taken])
    assert due.take(leads=True, live=1) == []
    assert len(due.take(leads=True, live=100)) == 44  # more workers, a deeper queue


def test_suspects_come_one_at_a_time_among_the_others(monitored: "Monitored", kept: Ledger) -> None:
    monitored.submit(kept, 5)
    attempts = attempts_of(kept, pause=1e-6)
    for id in ("a1", "a2", "a3"):
        attempts.died(id, 0, NOW)
        attempts.died(id, 1, NOW)
    due = Due(attempts, 4)
    assert {id for id, _ in due.take(leads=True, live=1)} == {"a0", "a1", "a4"}
    assert {id for id, _ in due.take(leads=True, live=1)} == {"a0", "a4"}  # the first suspect has not ended
    attempts.failed("a1", 2, "busy", datetime.now(UTC) + timedelta(days=1))
    assert {id for id, _ in due.take(leads=True, live=1)} == {"a0", "a2", "a4"}


# --- slots


def test_slots_are_taken_in_order_and_freed_by_death(tmp_path: Path) -> None:
    first = Slot(tmp_path / "slots")
    code = (
        "import sys, pathlib; from areopage.monitor.slots import Slot; "
        "slot = Slot(pathlib.Path(sys.argv[1])); print(slot.name, flush=True); input()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "slots")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    named = other.stdout.readline().strip()
    assert first.name.endswith("-1") and named == first.name[:-1] + "2"
    third = Slot(tmp_path / "slots")
    assert third.name.endswith("-3")
    other.kill()
    other.communicate()
    assert Slot(tmp_path / "slots").name == named
    first.release()
    first.release()
    assert Slot(tmp_path / "slots").name == first.name


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="must be able to write there"):
        Slot(tmp_path / "file" / "slots")


# --- the queue


class Ran:
    """What the queue called; it waits until it is let go."""

    def __init__(self) -> None:
        self.items: list[tuple[str, int]] = []
        self.ticks: list[datetime] = []
        self.go = threading.Event()

    def evaluate(self, id: str, attempt: int) -> None:
        self.items.append((id, attempt))
        assert self.go.wait(20)

    def tick(self, due_at: datetime) -> None:
        self.ticks.append(due_at)


@pytest.fixture
def ran() -> Ran:
    return Ran()


@pytest.fixture
def queue(kept: Ledger, ran: Ran) -> Iterator["DurableQueue"]:
    from areopage.monitor.queue import DurableQueue

    opened = DurableQueue(kept.engine.url, "me@1", claims=2, rate_limit=None, evaluate=ran.evaluate, duties={})
    yield opened
    ran.go.set()
    opened.close(5)


def test_an_evaluation_is_queued_once_and_those_begun_are_known(queue: "DurableQueue", ran: Ran) -> None:
    from servers.monitored import wait_until

    items = [("é:1%_", 0), ("b", 0), ("c", 0)]
    queue.enqueue(items)
    queue.enqueue(items)
    wait_until(lambda: len(ran.items) == 2)  # as many as may be claimed
    begun = queue.begun()
    assert {(run.id, run.attempt, run.executor) for run in begun} == {(*item, "me@1") for item in items[:2]}
    assert queue.lacking([*items, ("nowhere", 0), ("b", 1)]) == [("nowhere", 0), ("b", 1)]
    ran.go.set()
    wait_until(lambda: len(ran.items) == 3)
    wait_until(lambda: queue.lacking(items) == items)
    queue.enqueue(items[:1])  # it has ended: somebody wants it from the start
    wait_until(lambda: len(ran.items) == 4)


def test_what_a_dead_executor_had_begun_is_put_back(
    queue: "DurableQueue", ran: Ran, monitored: "Monitored", kept: Ledger
) -> None:
    from servers.monitored import wait_until

    monitored.submit(kept, 2)
    queue.enqueue([("a0", 0), ("a1", 0)])
    wait_until(lambda: len(ran.items) == 2)
    takeover = TakeOver(queue, attempts_of(kept))
    assert takeover.orphans({"me@1"}, NOW) == 0
    assert takeover.orphans({"me@2"}, NOW) == 2
    assert takeover.orphans({"me@2"}, NOW) == 0
    assert state_of(kept, "a0") == state_of(kept, "a1") == ("waiting", 1)


def test_what_the_queue_has_lost_is_put_back_when_missed_twice(
    queue: "DurableQueue", ran: Ran, monitored: "Monitored", kept: Ledger
) -> None:
    monitored.submit(kept, 3)
    Evaluations(kept).queued(["a0", "a1"])
    queue.enqueue([("a1", 0)])
    takeover, now = TakeOver(queue, attempts_of(kept)), datetime.now(UTC)
    assert [takeover.lost(now + timedelta(seconds=seconds)) for seconds in (0, 10, 20, 40)] == [0, 0, 1, 0]
    assert (state_of(kept, "a0"), state_of(kept, "a1"), state_of(kept, "a2")) == (("waiting", 1), ("queued", 0), ("waiting", 0))
    Evaluations(kept).queued(["a2"])
    assert takeover.lost(now, alone=True) == 1


def test_a_duty_s_tick_is_begun_again_where_its_worker_died_but_not_for_ever(queue: "DurableQueue") -> None:
    from areopage.monitor.queue import Run

    run = Run(key="sched-x-1", executor="dead", duty="x", due_at=NOW)
    assert queue.begin_again(run)
    assert queue.begin_again(msgspec.structs.replace(run, key="sched-x-1~2"))
    assert not queue.begin_again(msgspec.structs.replace(run, key="sched-x-1~3"))


def test_a_queue_that_cannot_be_opened_is_one_line(kept: Ledger, ran: Ran, monitored: "Monitored") -> None:
    from areopage.monitor.queue import DurableQueue

    Path(f"{monitored.location}.queue.db").write_text("no database at all, but long enough to look like one" * 100)
    with pytest.raises(UserError, match=r"queue\.db") as refused:
        DurableQueue(kept.engine.url, "me@1", claims=2, rate_limit=None, evaluate=ran.evaluate, duties={})
    assert "\n" not in str(refused.value)
