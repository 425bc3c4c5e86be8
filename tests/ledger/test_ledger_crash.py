"""Fault injection: processes that write at once, processes that are killed, a new ledger that is made half-way."""

import os
import signal
from collections.abc import Callable

import pytest

from areopage.ledger.store import Ledger
from servers import PATIENCE
from servers.forked import Forked

PRELUDE = """
import sys
from datetime import UTC, datetime
from areopage.ledger.tables.records import Judgment, Run, Verdict
from areopage.ledger.store import Ledger
from areopage.scoring.outcome import Scored

def judgment(key):
    return Judgment(key=key, run_id="r", judge="j", model="m", pass_index=1, raw_text="x" * 3000, repair_text="",
        finish_reason="stop", prompt_tokens=1, completion_tokens=1, seconds=0.1, repair="none", steps=("strict",),
        created_at=datetime.now(UTC), verdicts=(Verdict(criterion="a.b.c__v1_0", outcome=Scored(score=4.0)),))

location, name = sys.argv[1:]
"""
APPEND_FOREVER = (
    PRELUDE
    + """
ledger = Ledger.open(location)
for number in range(1_000_000):
    keys = [f"{name}-{number}-{part}" for part in range(3)]
    ledger.append([judgment(key) for key in keys])
    print(*keys, sep="\\n", flush=True)
"""
)
APPEND_SOME = (
    PRELUDE
    + """
ledger = Ledger.open(location)
print(ledger.secret().hex(), flush=True)
for number in range(60):
    ledger.append([judgment(f"{name}-{number}")])
"""
)
DIE_HALF_WAY = """
import os, sys
from sqlalchemy import Engine, event
from areopage.ledger.store import Ledger

@event.listens_for(Engine, "after_cursor_execute")
def die(connection, cursor, statement, *more):
    if "CREATE TABLE verdicts" in statement:
        os._exit(9)

Ledger.open(sys.argv[1])
"""
WRITER_FOREVER = (
    PRELUDE
    + """
import asyncio
from areopage.ledger.write.batch import Batch

async def main():
    number = 0
    writer = Batch(Ledger.open(location).append)
    while True:
        writer.write_soon([judgment(f"{name}-{number}")])
        number += 1
        await asyncio.sleep(0.001)

asyncio.run(main())
"""
)


@pytest.mark.parametrize("lines", [1, 30, 200])
def test_what_was_committed_survives_kill_9(ledger: Ledger, location: str, lines: int) -> None:
    process = Forked(APPEND_FOREVER, location, "a")
    printed = [process.stdout.readline().strip() for _ in range(lines)]
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate()
    # the last line may be cut by the kill
    printed += [line for line in rest.splitlines() if line.count("-") == 2 and line[-1].isdigit()]
    assert len(printed) >= lines and all(printed)
    found = ledger.judgments(printed)
    assert set(found) == set(printed)
    assert all(one.verdicts for one in found.values())
    # and whoever comes next can write at once
    follower = Forked(APPEND_SOME, location, "b")
    _, complaints = follower.communicate(timeout=PATIENCE)
    assert follower.returncode == 0, complaints
    assert len(ledger.judgments([f"b-{number}" for number in range(60)])) == 60


def test_two_processes_that_write_at_once_lose_nothing_and_share_the_secret(ledger: Ledger, location: str) -> None:
    processes = [Forked(APPEND_SOME, location, name) for name in "abc"]
    ended = [process.communicate(timeout=PATIENCE) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], ended
    keys = [f"{name}-{number}" for name in "abc" for number in range(60)]
    assert set(ledger.judgments(keys)) == set(keys)
    assert {said.strip() for said, _ in ended} == {ledger.secret().hex()}


def test_processes_that_open_a_new_ledger_at_once_make_it_once(new_location: str) -> None:
    code = "import sys; from areopage.ledger.store import Ledger; print(Ledger.open(sys.argv[1]).secret().hex())"
    processes = [Forked(code, new_location) for _ in range(4)]
    ended = [process.communicate(timeout=PATIENCE) for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, ended
    assert len({said for said, _ in ended}) == 1


def test_a_ledger_whose_making_died_half_way_is_made_by_the_next_opening(
    new_location: str, open_ledger: Callable[[str], Ledger]
) -> None:
    process = Forked(DIE_HALF_WAY, new_location)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 9
    ledger = open_ledger(new_location)
    assert (ledger.runs(), len(ledger.secret())) == ([], 32)


def test_a_killed_writer_has_committed_what_arrived_a_moment_before(ledger: Ledger, location: str) -> None:
    process = Forked(WRITER_FOREVER, location, "w")
    while not ledger.judgments(["w-50"]):
        assert process.poll() is None
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    count = ledger.judgment_counts()["r"]
    # no hole: a prefix of all that arrived
    assert set(ledger.judgments([f"w-{number}" for number in range(count)])) == {f"w-{number}" for number in range(count)}
