"""A worker with nothing to do: how often it looks at its databases, and how soon it sees that there is something to do."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import event, text

from areopage.ledger.store import Ledger
from areopage.monitor.evaluate import NAME, ProgressCounter
from areopage.monitor.worker import CHECK_PAUSE, MonitorWork, MonitorWorker
from areopage.work.worker import USUAL_PACE, WorkerPace

if TYPE_CHECKING:
    from servers.monitored import Monitored

CLAIMED_WITHIN = 1.0
LOOKS_A_SECOND = 6.0
"""A look takes up to 1 ms of processor time on SQLite, and up to 2.5 ms on PostgreSQL."""


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
    assert sum(1 / seconds for seconds in [*queues.values(), USUAL_PACE.dispatch]) <= LOOKS_A_SECOND
    assert queues[NAME] + USUAL_PACE.dispatch <= CLAIMED_WITHIN


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
