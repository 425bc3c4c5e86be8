"""The monitor's worker: stores spooled answers, evaluates answers, asks golden questions, runs scheduled jobs."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from areopage.errors import ServerDown
from areopage.ledger.evaluations import Evaluations
from areopage.ledger.store import Ledger
from areopage.monitor.config import MonitorConfig
from areopage.monitor.evaluate import Evaluator, Progress, ProgressCounter
from areopage.monitor.golden import golden_handler
from areopage.monitor.quality_judge import QualityJudge
from areopage.monitor.spool import Spool
from areopage.monitor.submit import Intake
from areopage.work.handlers import Handler, ScheduledJob
from areopage.work.worker import USUAL_PACE, Pace, Worker

LOG = logging.getLogger(__name__)
POOL = "monitor"
CHECK_PAUSE = 15.0
LEDGER_THREADS = 4
T = TypeVar("T")


class MonitorWorker(Worker):
    """A worker of the monitor; at most one per process."""

    def __init__(
        self,
        ledger: Ledger,
        config: MonitorConfig,
        judge: QualityJudge,
        jobs: Sequence[ScheduledJob] = (),
        *,
        pace: Pace = USUAL_PACE,
        check_pause: float = CHECK_PAUSE,
    ) -> None:
        """Create a worker; `start` begins its work.

        Args:
            ledger: the ledger of the configuration, open.
            config: what is judged, and how hard.
            judge: who judges; what the worker opens of it, it closes.
            jobs: the scheduled jobs; all workers should have the same ones.
            pace: how often it looks.
            check_pause: how often it checks a judge whose server is down, in seconds.
        """
        self._evaluations, self._counter = Evaluations(ledger), ProgressCounter()
        work = MonitorWork(ledger, config, judge, jobs, self._counter, check_pause)
        folder, dead_after = config.spool / "workers", config.section.worker.dead_after
        super().__init__(ledger, work, pool=POOL, folder=folder, dead_after=dead_after, pace=pace)

    def progress(self) -> Progress:
        """The current progress.

        Raises:
            StorageError: the ledger cannot be read.
        """
        return self._counter.now(self._evaluations.backlog())


class MonitorWork:
    """The work of the monitor's worker.

    While a judge's server is unreachable, answers wait; scheduled jobs still run.
    """

    def __init__(
        self,
        ledger: Ledger,
        config: MonitorConfig,
        judge: QualityJudge,
        jobs: Sequence[ScheduledJob],
        counter: ProgressCounter,
        check_pause: float,
    ) -> None:
        self.jobs = tuple(jobs)
        self._ledger, self._config, self._judge = ledger, config, judge
        self._counter, self._check_pause = counter, check_pause
        self._spool, self._intake = Spool(config.spool), Intake(ledger, config.section.sampling)
        self._threads: ThreadPoolExecutor | None = None
        self._handlers: tuple[Handler, ...] = ()
        self._evaluator: Evaluator | None = None
        self._ready = False
        self._checked_at = 0.0

    @property
    def handlers(self) -> Sequence[Handler]:
        """The handlers of evaluations and golden rounds."""
        return self._handlers

    async def open(self) -> None:
        """Check the judges; evaluations begin once their servers respond."""
        # SQLite takes one writer at a time: they queue here rather than at its lock
        count = 1 if self._ledger.engine.dialect.name == "sqlite" else LEDGER_THREADS
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="areopage-ledger")
        self._evaluator = evaluator = Evaluator(self._ledger, self._judge, self._config, self._threads, self._counter)
        golden = golden_handler(self._ledger, self._config)
        self._handlers = (
            evaluator.handler(lambda: self._ready, self._check_pause),
            *([golden] if golden is not None else []),
        )
        fault = await self._check()
        if fault:
            LOG.warning("a judge cannot be reached; what is submitted is kept meanwhile: %s", fault)

    async def step(self) -> bool:
        """Submit spooled answers, empty the database's log of removed texts; return whether more answers may wait."""
        if not self._ready and time.monotonic() - self._checked_at >= self._check_pause:
            await self._check()
        drained = await self._in_thread(lambda: self._spool.drain(self._intake.submit))
        if drained.rejected:
            LOG.warning("%d lines of the spool cannot be read: see %s", drained.rejected, self._config.spool / "rejected")
        if self._evaluator is not None:
            await self._in_thread(self._evaluator.empty_log)
        return drained.taken > 0

    async def close(self) -> None:
        """Close the judges."""
        await self._judge.aclose()
        if self._threads is not None:
            await asyncio.to_thread(self._threads.shutdown)

    async def _check(self) -> str:
        """Check the judges; returns why one cannot be reached, which may pass."""
        self._checked_at = time.monotonic()
        try:
            await self._judge.check()
        except ServerDown as fault:
            return str(fault)
        await self._in_thread(lambda: self._ledger.put_panel(self._judge.run()))
        self._ready = True
        return ""

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)
