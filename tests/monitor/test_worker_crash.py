"""Workers that are killed: every answer is evaluated once all the same, and hardly a call is paid twice."""

import resource
import signal
from typing import TYPE_CHECKING

import pytest

from areopage.ledger.store import Ledger
from areopage.ledger.write.evaluations import Evaluations
from areopage.ledger.write.operations import Workers
from areopage.monitor.hook.spool import Spool
from servers import PATIENCE

if TYPE_CHECKING:
    from servers.monitored import Monitored

CONCURRENCY = 8


def check_once(monitored: "Monitored", ledger: Ledger, count: int, kills: int) -> None:
    """Every answer has its row once, is counted once, and calls were repeated for what was in flight at most."""
    from servers.monitored import counted

    assert counted(ledger, "SELECT count(*) FROM quality_scores") == count
    assert counted(ledger, "SELECT count(DISTINCT id) FROM quality_scores") == count
    assert counted(ledger, "SELECT count(*) FROM evaluations WHERE state = 'evaluated'") == count
    assert counted(ledger, "SELECT sum(count) FROM days WHERE kind = 'evaluation'") == count
    assert len(monitored.server.verdict_calls) <= count + kills * CONCURRENCY


@pytest.mark.parametrize("latency", [0.0, 0.05])
def test_a_worker_that_is_killed_again_and_again_evaluates_each_answer_once(
    monitored: "Monitored", kept: Ledger, latency: float
) -> None:
    from servers.monitored import evaluated, numbered, wait_until

    count, kills = 60, 2
    monitored.configure(worker={"concurrency": CONCURRENCY})
    monitored.server.latency = latency
    monitored.submit(kept, count - 20)
    spool = Spool(monitored.config.spool)
    for number in range(count - 20, count):
        spool.append(numbered(number))
    for kill in range(1, kills + 1):
        process = monitored.work()
        goal = kill * count // (kills + 2)
        wait_until(lambda: evaluated(kept) >= goal, f"{goal} scores")  # noqa: B023 - called at once
        monitored.kill(process)
    monitored.work()
    wait_until(lambda: evaluated(kept) >= count, "the rest")
    check_once(monitored, kept, count, kills)


def test_two_workers_on_postgresql_share_the_work_and_take_over_the_dead(monitored: "Monitored", postgres_ledger: str) -> None:
    from servers.monitored import evaluated, opened, wait_until

    monitored.location = postgres_ledger
    monitored.configure(worker={"concurrency": CONCURRENCY})
    monitored.server.latency = 0.05
    count = 60
    with opened(postgres_ledger) as ledger:
        first, second = monitored.work(), monitored.work()
        wait_until(lambda: {one.process for one in Workers(ledger).list()} == {first.pid, second.pid}, "both workers")
        monitored.submit(ledger, count)
        wait_until(lambda: evaluated(ledger) >= count // 3)
        monitored.kill(first)
        wait_until(lambda: evaluated(ledger) >= count)
        check_once(monitored, ledger, count, 1)
        states = {one.process: one.state for one in Workers(ledger).list()}
        assert states[second.pid] == "alive"


def test_a_dead_worker_is_taken_over_by_a_live_one(monitored: "Monitored", kept: Ledger) -> None:
    from servers.monitored import evaluated, wait_until

    monitored.configure(worker={"concurrency": CONCURRENCY})
    monitored.server.faults.hold = True
    monitored.submit(kept, CONCURRENCY)
    dying = monitored.work()
    monitored.server.wait_for_calls(CONCURRENCY)
    monitored.work()
    wait_until(lambda: len(Workers(kept).list()) == 2)
    monitored.kill(dying)
    monitored.server.faults.hold = False
    wait_until(lambda: evaluated(kept) >= CONCURRENCY)
    check_once(monitored, kept, CONCURRENCY, 1)
    assert sorted(one.state for one in Workers(kept).list()) == ["alive", "taken_over"]


def test_a_worker_that_was_only_slow_does_no_harm(monitored: "Monitored", kept: Ledger) -> None:
    from servers.monitored import evaluated, wait_until

    monitored.configure(worker={"concurrency": CONCURRENCY, "dead_after": 5})
    monitored.server.faults.hold = True
    monitored.submit(kept, CONCURRENCY)
    slow = monitored.work()
    monitored.server.wait_for_calls(CONCURRENCY)
    monitored.stop_between_writes(slow)
    monitored.server.faults.hold = False
    monitored.work()
    wait_until(lambda: evaluated(kept) >= CONCURRENCY)
    slow.send_signal(signal.SIGCONT)
    slow_sign = f"process = {slow.pid} AND state = 'alive'"
    from servers.monitored import counted

    wait_until(lambda: counted(kept, f"SELECT count(*) FROM workers WHERE {slow_sign}") == 1)
    check_once(monitored, kept, CONCURRENCY, 1)
    monitored.submit(kept, 10, start=100)
    wait_until(lambda: evaluated(kept) >= CONCURRENCY + 10)
    assert slow.poll() is None


def test_an_answer_that_kills_its_worker_is_given_up_and_the_others_are_judged(monitored: "Monitored", kept: Ledger) -> None:
    from servers.monitored import evaluated, wait_until

    monitored.configure(worker={"concurrency": CONCURRENCY, "pause": 0.05, "longest_pause": 0.5})
    monitored.prelude = (
        "import os\n"
        "import areopage.monitor.quality_judge as judged\n"
        "real = judged.QualityJudge.evaluate_case\n"
        "async def evaluate_case(self, case, *given, **named):\n"
        "    if case.id == 'a3':\n"
        "        os._exit(9)\n"
        "    return await real(self, case, *given, **named)\n"
        "judged.QualityJudge.evaluate_case = evaluate_case\n"
        "import areopage.monitor.evaluate as evaluate\n"
        "handler = evaluate.Handler\n"
        "evaluate.Handler = lambda **fields: handler(**fields, suspects_polling=0.1)\n"
    )
    monitored.submit(kept, 12)
    deaths = 0
    while Evaluations(kept).backlog().failed == 0:
        process = monitored.work()
        wait_until(lambda: process.poll() is not None or Evaluations(kept).backlog().failed > 0)  # noqa: B023 - called at once
        deaths += process.poll() is not None
        assert deaths <= 6
    wait_until(lambda: evaluated(kept) == 11)
    given_up = Evaluations(kept).get("a3")
    assert given_up is not None and given_up.state == "failed" and "its worker died 5 times in a row" in given_up.reason


def test_sigterm_ends_a_worker_cleanly(monitored: "Monitored", kept: Ledger) -> None:
    from servers.monitored import evaluated, wait_until

    monitored.server.latency = 0.2
    monitored.submit(kept, 30)
    process = monitored.work()
    wait_until(lambda: evaluated(kept) >= 5)
    process.terminate()
    assert process.wait(PATIENCE) == 0
    assert Evaluations(kept).backlog().waiting == 30 - evaluated(kept) > 0
    assert len(monitored.server.verdict_calls) == evaluated(kept)


def test_a_worker_on_a_full_disk_says_so_in_single_lines(monitored: "Monitored", kept: Ledger) -> None:
    monitored.server.faults.hold = True
    monitored.submit(kept, 3)
    process = monitored.work(heartbeat=0.3)
    monitored.server.wait_for_calls(3)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))  # nothing can be written any more
    monitored.server.faults.hold = False
    assert process.stderr is not None
    said: list[str] = []
    for line in process.stderr:  # each heartbeat that cannot be written is one, too
        said.append(line)
        if "queue.db: " in line or len(said) > 100:
            break
    assert "see whether there is space left" in said[-1] or "the queue cannot be used, which is tried again" in said[-1]
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    process.send_signal(signal.SIGTERM)
    said += process.communicate(timeout=PATIENCE)[1].splitlines()
    assert not [line for line in said if "Traceback" in line or "[SQL" in line or line.startswith(" ")]
