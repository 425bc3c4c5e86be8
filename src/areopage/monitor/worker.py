"""A worker: takes over what was handed in, has it judged, looks after what other workers left, and keeps the clock's duties.

It lives in a thread with an event loop of its own, beside a web server's or alone. What it has not done when it ends, however
it ends, goes on at the next start, here or elsewhere.
"""

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent import futures
from contextlib import suppress
from types import FrameType

from areopage.ledger.evaluations import Evaluations
from areopage.ledger.store import Ledger
from areopage.models.own_loop import OwnLoop
from areopage.monitor.config import MonitorConfig
from areopage.monitor.duties import Duty
from areopage.monitor.progress import Progress, Progressing
from areopage.monitor.quality_judge import QualityJudge
from areopage.monitor.shift import Pace, Shift

GRACE = 30.0
USUAL_PACE = Pace()


class Worker:
    """One worker; at most one per process. Its methods block, and may be called from any thread without an event loop."""

    def __init__(
        self,
        ledger: Ledger,
        config: MonitorConfig,
        judge: QualityJudge,
        duties: Sequence[Duty] = (),
        *,
        pace: Pace = USUAL_PACE,
    ) -> None:
        """Make a worker; nothing begins before `start`.

        Args:
            ledger: the ledger of the configuration, open.
            config: what is judged, and how hard.
            judge: who judges; what the worker opens of it, it closes.
            duties: what is done by the clock, once over all workers; all of them should have the same ones.
            pace: how often it looks.
        """
        self._ledger, self._config, self._judge, self._duties, self._pace = ledger, config, judge, tuple(duties), pace
        self._progress = Progressing()
        self._grace = GRACE
        self._life: _Life | None = None

    def start(self) -> None:
        """Begin to work, in a thread; on return the worker works, or waits for a judge whose server is down.

        Raises:
            MissingExtra: dbos, or a part that a judge needs, is not installed.
            ModelError, ConfigError, CriteriaError: a judge or a duty cannot be used as configured.
            StorageError: the ledger, the spool or the queue cannot be written.
            UserError: this process has a worker already.
        """
        self._grace = GRACE
        life = _Life(self._work)
        life.begin()
        self._life = life

    def stop(self, seconds: float = GRACE) -> None:
        """Take nothing more, finish what is begun within so many seconds, and end. What cannot be finished is put back.

        May be called again meanwhile, from another thread: then the shorter wait counts, and the second call returns at once.

        Raises:
            AreopageError: the worker had ended before by itself, because of that.
        """
        self._grace = min(self._grace, seconds)
        life, self._life = self._life, None  # a second call only shortens the wait of the first
        if life is not None:
            life.end()

    def run(self, tell: Callable[[Progress], None] | None = None, every: float = 2.0, grace: float = GRACE) -> None:
        """Work until SIGTERM or Ctrl-C, then stop; a second signal does not wait for what is begun. For the main thread.

        Args:
            tell: called now and then with how far it is.
            every: how often, in seconds.
            grace: for `stop`.

        Raises:
            AreopageError: see `start` and `stop`.
        """
        told = threading.Event()

        def hear(number: int, frame: FrameType | None) -> None:
            if told.is_set():
                self._grace = 0.0
            told.set()

        before = {number: signal.signal(number, hear) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            self.start()
            while not told.wait(every) and self.alive:
                if tell is not None:
                    tell(self.progress())
            self.stop(grace)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @property
    def alive(self) -> bool:
        """Whether it works."""
        return self._life is not None and not self._life.over

    def progress(self) -> Progress:
        """How far it is.

        Raises:
            StorageError: the ledger cannot be read.
        """
        return self._progress.now(Evaluations(self._ledger).backlog())

    async def _work(self, started: "futures.Future[None]", stop: asyncio.Event) -> None:
        shift = Shift(self._ledger, self._config, self._judge, self._duties, self._pace, self._progress)
        await shift.work(started, stop, lambda: self._grace)


class _Life:
    """A coroutine in a thread of its own that says when it has started, and can be told to stop."""

    def __init__(self, work: Callable[["futures.Future[None]", asyncio.Event], Awaitable[None]]) -> None:
        self._work = work
        self._own = OwnLoop("areopage-worker")
        self._stop = asyncio.Event()
        self._started: futures.Future[None] = futures.Future()
        self._ended: futures.Future[None] = asyncio.run_coroutine_threadsafe(self._live(), self._own.loop)

    @property
    def over(self) -> bool:
        return self._ended.done()

    def begin(self) -> None:
        futures.wait([self._started, self._ended], return_when=futures.FIRST_COMPLETED)
        if self._ended.done():
            self.end()

    def end(self) -> None:
        with suppress(RuntimeError):  # somebody else has ended it already
            self._own.loop.call_soon_threadsafe(self._stop.set)
        try:
            self._ended.result()
        finally:
            self._own.stop(_nothing)

    async def _live(self) -> None:
        await self._work(self._started, self._stop)


async def _nothing() -> None:
    """Nothing is left to be done last."""
