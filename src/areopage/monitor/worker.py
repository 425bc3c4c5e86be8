"""The monitor's worker: stores spooled answers, evaluates answers, asks golden questions, runs scheduled jobs."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import msgspec

from areopage.errors import ServerDown, StorageError
from areopage.ledger import Answer, HookCount, Ledger
from areopage.monitor.changes import Changes
from areopage.monitor.config import MonitorConfig
from areopage.monitor.evaluate import NAME, Evaluator, Outages, ProgressCounter, WorkerProgress
from areopage.monitor.golden import golden_handler
from areopage.monitor.hook.counts import FOLDER, read_tally, tallies
from areopage.monitor.hook.spool_files import REJECTED, drain, rejected_files
from areopage.monitor.intake import Intake
from areopage.monitor.quality_judge import QualityJudge
from areopage.work import Handler, ItemQueue, ScheduledJob, SharedLimits, Worker, WorkerPace, WorkerPool, queue_url

LOG = logging.getLogger(__name__)
POOL = "monitor"
RETENTION, RETENTION_SCHEDULE = "retention", "30 3 * * *"
CHECK_PAUSE = 15.0
FILE_PACE = WorkerPace(dispatch=0.15, closed=0.25)
"""Of a SQLite ledger: how often the worker asks whether something was written."""
SERVER_PACE = WorkerPace(dispatch=0.4, closed=0.25)
LIMITS_PAUSE = 1.0
LEDGER_THREADS = 4
REASONS_NOTED = 100
"""The number of waiting answers of which the page says that the judge's server is down."""
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
        pace: WorkerPace | None = None,
        check_pause: float = CHECK_PAUSE,
    ) -> None:
        """Create a worker; `start` begins its work. `pace` is by default that of the ledger's database."""
        self.calls = judge.calls
        self._evaluations, self._counter = ledger.evaluations, ProgressCounter()
        work = MonitorWork(ledger, config, judge, jobs, self._counter, check_pause)
        folder, dead_after = config.spool / "workers", config.section.worker.dead_after
        pace = pace or (FILE_PACE if ledger.is_sqlite else SERVER_PACE)
        super().__init__(ledger, work, WorkerPool(name=POOL, folder=folder, dead_after=dead_after, pace=pace))

    def progress(self) -> WorkerProgress:
        """The current progress."""
        return self._counter.now(self._evaluations.backlog())


def retry_answers(ledger: Ledger, ids: Sequence[str] | None = None, *, given_up: bool = True) -> int:
    """Let given-up answers wait again, and end the pause of those that wait for another attempt; returns how many.

    Args:
        ids: only these; None: all.
        given_up: also those that were given up; the storage policy must have left their texts whole.

    Raises:
        StorageError: the ledger or the queue cannot be used.
    """
    from areopage.work import Queue  # dbos takes a second to import

    url, woken = queue_url(ledger.engine.url), 0
    if ledger.evaluations.waiting(1, tried=True) and (url.drivername != "sqlite" or Path(url.database or "").exists()):
        queue = Queue(ledger.engine.url, [ItemQueue(name=NAME)], None, POOL)
        queue.attach()
        try:
            woken = queue.wake(NAME, ids)
        finally:
            queue.detach()
    return woken + (ledger.evaluations.reopen(ids) if given_up else 0)


class MonitorWork:
    """The work of the monitor's worker. While a judge's server is unreachable, answers wait; scheduled jobs still run."""

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
        self._intake = Intake(ledger, config.section.sampling)
        self._carrier = HookCarrier(config.spool, ledger)
        self._changes = Changes(ledger, (config.spool, config.spool / FOLDER))
        self._threads: ThreadPoolExecutor | None = None
        self._handlers: tuple[Handler, ...] = ()
        self._evaluations, self._outages = ledger.evaluations, Outages(check_pause)
        self._limits = SharedLimits(ledger, judge.traffic, without_limits=LIMITS_PAUSE)
        self._evaluator: Evaluator
        self._probe: asyncio.Task[None] | None = None
        self._ready = self._warned = False
        self._checked_at = 0.0

    @property
    def handlers(self) -> Sequence[Handler]:
        """The handlers of evaluations and golden rounds."""
        return self._handlers

    async def open(self) -> None:
        """Check the judges; evaluations begin once their servers respond."""
        self._judge.require_connections(self._config.section.worker.concurrency)
        await self._limits.__aenter__()
        # SQLite takes one writer at a time: they queue here rather than at its lock
        count = 1 if self._ledger.engine.dialect.name == "sqlite" else LEDGER_THREADS
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="areopage-ledger")
        self._evaluator = Evaluator(self._ledger, self._judge, self._config, self._threads, self._counter, self._outages)
        golden = golden_handler(self._ledger, self._config)
        self._handlers = (
            self._evaluator.handler(lambda: self._ready, self._check_pause),
            *([golden] if golden is not None else []),
        )
        if fault := await self._check():
            await self._in_thread(lambda: self._warn(fault))

    def changed(self) -> bool:
        """Whether a look may find something to do: something was written, a judge is down, or removed texts are in the log."""
        noticed = self._changes.noticed()
        return noticed or not self._ready or self._outages.any or self._evaluator.log_has_texts

    async def step(self) -> bool:
        """Submit spooled answers, empty the database's log of removed texts; return whether more answers may wait."""
        if not self._ready and time.monotonic() - self._checked_at >= self._check_pause:
            if fault := await self._check():
                await self._in_thread(lambda: self._evaluations.note_waiting(fault, REASONS_NOTED))
                await self._in_thread(lambda: self._warn(fault))
        elif (self._probe is None or self._probe.done()) and self._outages.probe_is_due():
            self._probe = asyncio.create_task(self._probed())
        return await self._in_thread(self._take_in)

    def _warn(self, fault: str) -> None:
        """Warn once that a judge cannot be reached, where the configuration has judges or an answer waits for them."""
        if not self._warned and (self._config.section.model_fields_set or self._evaluations.backlog().waiting):
            self._warned = True
            LOG.warning("a judge cannot be reached; what is submitted is kept meanwhile: %s", fault)

    def _take_in(self) -> bool:
        def take_over(answers: Sequence[Answer]) -> Sequence[Answer]:
            return Intake.clashing(self._ledger, answers, self._intake.submit(answers))

        drained = drain(self._config.spool, take_over)
        if drained.rejected:
            LOG.warning("%d lines of the spool cannot be submitted: see %s", drained.rejected, self._config.spool / "rejected")
        self._carrier.carry()
        self._evaluator.empty_log()
        return drained.taken > 0

    async def _probed(self) -> None:
        try:
            await self._evaluator.probe()
        except StorageError as fault:
            LOG.error("%s", fault)

    async def close(self) -> None:
        """Close the judges and what watches the ledger."""
        self._changes.close()
        if self._probe is not None:
            self._probe.cancel()
            await asyncio.gather(self._probe, return_exceptions=True)
        await self._judge.aclose()
        await self._limits.__aexit__(None, None, None)
        if self._threads is not None:
            await asyncio.to_thread(self._threads.shutdown)

    async def _check(self) -> str:
        """Check the judges; returns why one cannot be reached, which may pass."""
        self._checked_at = time.monotonic()
        try:
            await self._judge.check()
        except ServerDown as fault:
            return str(fault)
        panel = self._judge.panel
        if self._config.section.only_qualified:
            await self._in_thread(lambda: self._ledger.qualifications.require(panel.suite, panel.judges, panel.criteria))
        await self._in_thread(lambda: self._ledger.put_panel(self._judge.run()))
        self._ready = True
        return ""

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


class HookCarrier:
    """Carries the counts of a spool's hooks into the ledger."""

    def __init__(self, spool: Path, ledger: Ledger) -> None:
        self._spool, self._counts = spool, ledger.hook_counts
        self._stored: dict[str, tuple[int, int]] = {}

    def carry(self) -> None:
        """Store the counts of the files that have changed."""
        counted = [(file.stem, file) for file in tallies(self._spool)]
        rejected = [(f"{REJECTED}-{file.stem}", file) for file in rejected_files(self._spool)]
        for name, file in (*counted, *rejected):
            try:
                at = file.stat()
                if self._stored.get(name) == (at.st_mtime_ns, at.st_size):
                    continue
                counts = list(_rejected_rows(file)) if (name, file) in rejected else read_tally(file).rows
            except OSError:
                continue
            self._counts.put(name, counts)
            self._stored[name] = (at.st_mtime_ns, at.st_size)


def _rejected_rows(file: Path) -> Iterator[HookCount]:
    """The counts of lines that could not be submitted, by the hour of their answers or else of their file."""
    begun = datetime.fromtimestamp(int(file.stem.partition("-")[0]) / 1e9, UTC) if file.stem[:20].isdecimal() else None
    counts: Counter[HookCount] = Counter()
    for line in file.read_bytes().splitlines():
        moment, source, variant = begun or datetime.fromtimestamp(0, UTC), "", ""
        try:
            answer = msgspec.json.decode(msgspec.json.decode(line, type=dict[str, str])["line"], type=Answer)
            moment, source, variant = answer.answered_at, answer.source, answer.variant
        except (msgspec.DecodeError, KeyError, UnicodeError):
            pass
        hour = moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        counts[HookCount(hour=hour, source=source, variant=variant, why=REJECTED)] += 1
    for row, count in counts.items():
        yield msgspec.structs.replace(row, answers=count)


def retention_job(ledger: Ledger, config: MonitorConfig) -> ScheduledJob | None:
    """The job that applies `storage.retention_days`; None if everything is kept."""
    days = config.storage.retention_days
    if days is None:
        return None

    async def run(due: datetime) -> None:
        await asyncio.to_thread(erase_older, ledger, due - timedelta(days=days), "retention")

    return ScheduledJob(name=RETENTION, schedule=RETENTION_SCHEDULE, run=run)


def erase_older(ledger: Ledger, moment: datetime, actor: str) -> int:
    """Erase answers received before a moment; return how many. The audit log names the actor.

    Raises:
        StorageError: the ledger cannot be written; the portions before are gone.
    """
    erased = ledger.erasure.erase_before(moment)
    if erased:
        ledger.audit.note(actor, "erase", f"received before {moment.isoformat(timespec='seconds')}", f"{erased} answers")
    return erased
