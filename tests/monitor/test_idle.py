"""A worker with nothing to do: how often it looks at its databases, and how soon it sees that there is something to do."""

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import event, text

from areopage.ledger.store import Ledger
from areopage.monitor.evaluate import NAME, ProgressCounter
from areopage.monitor.worker import CHECK_PAUSE, FILE_PACE, SERVER_PACE, MonitorWork, MonitorWorker
from areopage.work.worker import WorkerPace

if TYPE_CHECKING:
    from servers.monitored import Monitored

CLAIMED_WITHIN = 1.0
LOOKS_A_SECOND, LOOKS_AT_A_FILE_A_SECOND = 6.0, 1.7
"""A look takes up to 3 ms of processor time, and a question whether a file has changed a tenth of one."""


def test_an_idle_worker_looks_seldom_enough_to_cost_little_and_often_enough_to_claim_within_a_second(
    monitored: "Monitored", kept: Ledger
) -> None:
    from servers.monitored import judge_of

    async def register() -> None:
        config = monitored.configure()
        work = MonitorWork(kept, config, judge_of(config), [], ProgressCounter(), CHECK_PAUSE)
        await work.open()
        try:
            await asyncio.to_thread(register_queues, kept, work)
        finally:
            await work.close()

    asyncio.run(register())
    queues = seconds_between_looks(kept)
    pace, own_look = (FILE_PACE, FILE_PACE.heartbeat) if kept.is_sqlite else (SERVER_PACE, SERVER_PACE.dispatch)
    looks = sum(1 / seconds for seconds in [*queues.values(), own_look])
    assert looks <= (LOOKS_AT_A_FILE_A_SECOND if kept.is_sqlite else LOOKS_A_SECOND)
    assert queues[NAME] + pace.dispatch <= CLAIMED_WITHIN


def register_queues(ledger: Ledger, work: MonitorWork) -> None:
    from areopage.work.queue import Queue

    queue = Queue(ledger.engine.url, work.handlers, [], "test")
    queue.connect()
    queue.detach()


def seconds_between_looks(ledger: Ledger) -> dict[str, float]:
    """How often a worker looks at each of its queues, as it is registered."""
    from areopage.work.database import queue_engine

    engine = queue_engine(ledger.engine.url)
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT name, polling_interval_sec FROM queues"))
        found = {str(name): float(seconds) for name, seconds in rows}
    engine.dispose()
    return found


def test_a_regular_look_at_an_idle_ledger_is_one_statement(monitored: "Monitored", kept: Ledger) -> None:
    from servers.monitored import judge_of

    async def statements() -> list[str]:
        config = monitored.configure()
        work = MonitorWork(kept, config, judge_of(config), [], ProgressCounter(), CHECK_PAUSE)
        await work.open()
        said: list[str] = []
        event.listen(kept.engine, "before_cursor_execute", lambda *call: said.append(call[2]))
        try:
            assert not await work.step()
            assert [list(handler.pending(0, 1)) for handler in work.handlers] == [[]]
        finally:
            await work.close()
        return said

    assert len(asyncio.run(statements())) == 1


def test_a_worker_that_is_woken_does_not_wait_for_its_next_look(monitored: "Monitored", kept: Ledger) -> None:
    from servers.monitored import evaluated, judge_of, wait_until

    seldom = WorkerPace(dispatch=3600.0, heartbeat=3600.0)
    config = monitored.configure()
    worker = MonitorWorker(kept, config, judge_of(config), pace=seldom)
    worker.wake()  # before its start it has nothing to do
    worker.start()
    try:
        for number in range(3):  # the first may come before the first look
            monitored.submit(kept, 1, start=number)
            worker.wake()
            wait_until(partial(lambda count: evaluated(kept) == count, number + 1))
    finally:
        worker.stop(0)
    worker.wake()  # nor after its end


def test_a_worker_whose_files_do_not_change_leaves_the_ledger_alone_and_notices_what_another_process_submits(
    monitored: "Monitored", kept: Ledger
) -> None:
    from servers.monitored import evaluated, judge_of, wait_until

    if not kept.is_sqlite:
        pytest.skip("a file of a server says nothing")
    config = monitored.configure()
    worker = MonitorWorker(kept, config, judge_of(config), pace=WorkerPace(dispatch=0.02, heartbeat=3600.0))
    worker.start()
    statements: list[str] = []
    event.listen(kept.engine, "before_cursor_execute", lambda *call: statements.append(call[2]))

    def is_quiet() -> bool:
        statements.clear()
        time.sleep(0.5)
        return not statements

    try:
        wait_until(is_quiet)  # at first it looks at what it wrote at its start
        with Ledger.open(str(kept.engine.url.database)) as other:  # this worker is not woken
            monitored.submit(other, 1)
        wait_until(lambda: evaluated(kept) == 1)
    finally:
        worker.stop(0)
