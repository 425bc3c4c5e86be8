"""Worker ids, who is alive and who leads."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from areopage.errors import StorageError
from areopage.ledger.store import Ledger
from areopage.ledger.write.operations import Heartbeat, Workers
from areopage.work.workers import Presence, WorkerId, executor_of, leader_of, live_executors

NOW = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)


def worker(name: str, seconds_ago: float = 0.0, state: str = "alive") -> Heartbeat:
    return Heartbeat(id=name, host="h", process=1, started_at=NOW, seen_at=NOW - timedelta(seconds=seconds_ago), state=state)


def test_only_workers_with_a_heartbeat_that_did_not_stop_are_alive() -> None:
    known = [worker("a"), worker("b", 31), worker("c", 29), worker("d", 0, "stopped"), worker("e", 0, "taken_over")]
    assert live_executors(known, NOW, 30) == {executor_of(known[0]), executor_of(known[2])}


def test_a_worker_that_starts_again_under_its_id_is_another_executor() -> None:
    again = msgspec.structs.replace(worker("a"), started_at=NOW + timedelta(milliseconds=1))
    assert executor_of(worker("a")) != executor_of(again)


def test_the_first_by_id_leads_while_it_sends_heartbeats() -> None:
    assert leader_of([worker("b"), worker("a"), worker("0", 0, "stopped")], NOW, 12) == "a"
    assert leader_of([worker("b"), worker("a", 13)], NOW, 12) == "b"
    assert leader_of([], NOW, 12) == ""


def test_the_death_of_a_worker_on_this_computer_is_known_before_its_heartbeat_is_missed(ledger: Ledger, tmp_path: Path) -> None:
    one, other = WorkerId(tmp_path, "test"), WorkerId(tmp_path, "test")
    mine, its = (Presence(ledger, id, "test", dead_after=60, every=5) for id in (one, other))
    now = datetime.now(UTC)
    its.beat(now)
    mine.beat(now)
    assert mine.live == {mine.executor, its.executor}
    other.release()
    mine.beat(now)
    assert mine.live == {mine.executor}


def test_ids_are_taken_in_order_and_freed_by_death(tmp_path: Path) -> None:
    folder = tmp_path / "workers"
    first = WorkerId(folder, "test")
    code = (
        "import sys, pathlib; from areopage.work.workers import WorkerId; "
        "id = WorkerId(pathlib.Path(sys.argv[1]), 'test'); print(id.name, flush=True); input()"
    )
    other = subprocess.Popen([sys.executable, "-c", code, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    named = other.stdout.readline().strip()
    assert first.name.endswith("-1") and named == first.name[:-1] + "2"
    third = WorkerId(folder, "test")
    assert third.name.endswith("-3")
    other.kill()
    other.communicate()
    assert WorkerId(folder, "test").name == named
    first.release()
    first.release()
    assert WorkerId(folder, "test").name == first.name
    assert WorkerId(tmp_path / "others", "other").name != first.name


def test_no_file_stays_and_no_id_is_held_twice_while_ids_are_taken_and_released(tmp_path: Path) -> None:
    held: set[str] = set()

    def rounds(_: int) -> None:
        for _ in range(60):
            id = WorkerId(tmp_path, "test")
            assert id.name not in held
            held.add(id.name)
            held.remove(id.name)
            id.release()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(rounds, range(8)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="must be able to write there"):
        WorkerId(tmp_path / "file" / "workers", "test")


def test_a_worker_knows_the_others_of_its_pool(ledger: Ledger, tmp_path: Path) -> None:
    def present(pool: str, host: str) -> Presence:
        return Presence(ledger, WorkerId(tmp_path / host, pool, host), pool, dead_after=30, every=5)

    first, second, other = present("a", "h1"), present("a", "h2"), present("b", "h0")
    now = datetime.now(UTC)
    for one in (second, other, first):
        one.beat(now)
    assert first.leads and other.leads and first.live == {first.executor, second.executor} and other.live == {other.executor}
    second.beat(now)
    assert [second.leads] == [False]
    second.beat(now + timedelta(seconds=13))
    assert [second.leads] == [True] and second.live == first.live  # silent, and not yet dead
    second.beat(now + timedelta(seconds=31))
    assert second.live == {second.executor}
    (dead,) = second.mark_dead(now + timedelta(seconds=31))
    assert dead.startswith("h1-") and second.mark_dead(now + timedelta(seconds=31)) == []
    second.leave()
    assert {one.state for one in Workers(ledger).list("a")} == {"taken_over", "stopped"}
    assert [one.state for one in Workers(ledger).list("b")] == ["alive"]
