"""Open judges, and make the calls that have no final judgment.

Judges open once per event loop.

Every application asks its judges here. What the ledger holds and no other attempt can improve is not asked again.
"""

import asyncio
import secrets
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from areopage.errors import CallError, ModelError
from areopage.jury.judges import CallContext, Judge, JudgeBackend, JudgeStatus, PlannedCall
from areopage.jury.opening import open_judge
from areopage.jury.panel import Panel
from areopage.jury.schedule import FailureStreak, run_concurrently
from areopage.ledger import Batch, Judgment, Ledger, Run, RunKind
from areopage.models import KeptPlaces, ModelReference, ModelSettings, OwnLoop, Traffic
from areopage.scoring import TimedOut, Unreachable

Made = TypeVar("Made")


class CallsInFlight(Generic[Made]):
    """The calls of one event loop, by key: of several that ask for the same at once, one makes the call, and all get its result.

    Nothing of them is stored: what a crash interrupts is asked again.
    """

    def __init__(self, stored: Callable[[Made], "asyncio.Future[Any] | None"]) -> None:
        """Begin without calls.

        Args:
            stored: what is done once a result is stored; until then it serves those who ask. None: at once.
        """
        self._stored = stored
        self._calls: dict[Hashable, asyncio.Future[Made | None]] = {}

    async def share(self, key: Hashable, make: Callable[[], Awaitable[Made]]) -> tuple[Made, bool]:
        """Make a call, or wait for the same one.

        Where the caller that made it was cancelled or failed, one of those who wait makes it.

        Returns:
            What came of it, and whether this caller made it.
        """
        while (call := self._calls.get(key)) is not None:
            made = await asyncio.shield(call)
            if made is not None:
                return made, False
        loop = asyncio.get_running_loop()
        call = self._calls[key] = loop.create_future()
        made = None
        try:
            made = await make()
        finally:
            call.set_result(made)
            stored = None if made is None else self._stored(made)
            if stored is None:
                del self._calls[key]
            else:
                stored.add_done_callback(lambda _: self._calls.pop(key, None))
        return made, True


SECRET_BYTES = 32
CHECK_PAUSE = 5.0
"""Seconds for which a failed check is not repeated: many answers may come in while a server is down."""


class JudgmentStore(Protocol):
    """Look-up and storage of judgments."""

    @property
    def secret(self) -> bytes:
        """The secret of prompt nonces, shared by all users of the store."""
        ...

    async def known(self, keys: Sequence[str]) -> Mapping[str, Judgment]:
        """Return the valid judgment of each key: the latest scored, else the latest attempt."""
        ...

    def append(self, judgment: Judgment, settled: Callable[[], None]) -> "Future[Any] | None":
        """Queue a judgment for storage without waiting.

        Args:
            settled: called, in any thread, once it is committed. A store may also call it where it cannot be.

        Returns:
            What is done once it is committed; None where the store's owner sees to that.

        Raises:
            StorageError: an earlier one could not be committed.
        """
        ...


class NoJudgments:
    """A store without judgments, for evaluations without a ledger."""

    def __init__(self) -> None:
        self.secret = secrets.token_bytes(SECRET_BYTES)

    async def known(self, keys: Sequence[str]) -> Mapping[str, Judgment]:
        """Return nothing."""
        return {}

    def append(self, judgment: Judgment, settled: Callable[[], None]) -> None:
        """Discard a judgment."""
        settled()


class LedgerJudgments:
    """The judgments of a ledger."""

    def __init__(self, ledger: Ledger, reduce: Callable[[Judgment], Judgment] | None = None) -> None:
        """Look up and append judgments."""
        self._ledger, self._reduce = ledger, reduce
        self.secret = ledger.secret()
        self._writer = Batch[Judgment, None](ledger.append, what="judgments")

    async def known(self, keys: Sequence[str]) -> Mapping[str, Judgment]:
        """Return the judgments that the ledger has."""
        return await asyncio.to_thread(self._ledger.judgments, keys)

    def append(self, judgment: Judgment, settled: Callable[[], None]) -> "Future[Any]":
        """Commit a judgment together with concurrent ones."""
        commit = self._writer.begin([self._reduce(judgment) if self._reduce else judgment])
        commit.add_done_callback(lambda _: settled())
        return commit


def final_of(calls: Iterable[PlannedCall], judgments: Mapping[str, Judgment]) -> dict[str, Judgment]:
    """The final judgments of calls, by key."""
    return {call.key: judgments[call.key] for call in calls if call.key in judgments and call.judge.is_final(judgments[call.key])}


class Session:
    """The open judges of one panel.

    One instance serves many answers at once, from any event loop.
    """

    def __init__(
        self,
        panel: Panel,
        settings: ModelSettings,
        store: JudgmentStore,
        *,
        kind: RunKind = "monitor",
        run_id: str = "",
        traffic: Traffic,
        stops_at_outage: bool = False,
        concurrency: int | None = None,
    ) -> None:
        """Prepare a session; judges open at their first use.

        Args:
            settings: how models are reached, the environment included.
            store: where judgments are looked up and kept, unless a call names another store.
            kind, run_id: what judgments are stored under: a run of the benchmark, or ("") the panel itself as a run of a kind.
            traffic: the calls to all servers; it says how long they wait for one that is gone.
            stops_at_outage: raise where a server is gone or lets no call through; else each call to it is an `Unreachable`.
            concurrency: how many calls to one model may be in flight; None: as many as the model takes. Where `traffic` bounds
                the calls that are open to a server, twice as many are begun: prompts are rendered ahead, and a call that waits
                for another try takes no place.
        """
        self._panel, self._settings, self._store = panel, settings, store
        self._kind, self._run_id = kind, run_id
        self._traffic, self._stops = traffic, stops_at_outage
        self._begun_at_once = (
            concurrency if concurrency is None or traffic.at_once is None else Traffic.BEGUN_FOR_EACH * concurrency
        )
        self._streaks = {judge.name: FailureStreak(concurrency or 1) for judge in panel.judges} if stops_at_outage else {}
        self._run: Run | None = None
        self._failed: tuple[float, ModelError] | None = None
        self._guard = threading.Lock()
        self._pools: dict[asyncio.AbstractEventLoop, _JudgePool] = {}
        self._own_loop: OwnLoop | None = None
        self._finalizer: weakref.finalize[Any, Any] | None = None

    # --- the panel

    @property
    def panel(self) -> Panel:
        """The panel, with the results of its judges' checks once checked."""
        return self._panel

    @property
    def run(self) -> Run:
        """The ledger's record of the checked panel."""
        if self._run is None:
            raise ModelError("the judges have not been checked: await check() first")
        return self._run

    @property
    def checked(self) -> Panel:
        """The checked panel."""
        if self._run is None:
            raise ModelError("the judges have not been checked: await check() first")
        return self._panel

    async def check(self) -> Panel:
        """Check once that every judge can be called.

        Raises:
            ServerDown, ModelMissing, ModelError, MissingExtra: a judge cannot be used.
            CriteriaError: no judge may judge any criterion.
        """
        if self._run is None:
            pool = self._pool()
            async with pool.checking:
                if self._run is None:
                    panel = self._panel.checked(await self._statuses(pool))
                    self._panel, self._run = panel, panel.as_run(self._kind)
        return self._panel

    async def _statuses(self, pool: "_JudgePool") -> Mapping[ModelReference, JudgeStatus]:
        if self._failed is not None and time.monotonic() - self._failed[0] < CHECK_PAUSE:
            raise type(self._failed[1])(str(self._failed[1]))
        try:
            return {reference: await pool.judge(reference).check() for reference in pool.references}
        except ModelError as fault:
            self._failed = (time.monotonic(), fault)
            raise

    # --- judgments

    async def known(self, calls: Iterable[PlannedCall], store: JudgmentStore | None = None) -> dict[str, Judgment]:
        """The final judgments that exist for these calls, by key."""
        asked = {call.key: call for call in calls}
        return final_of(asked.values(), await (store or self._store).known(list(asked)))

    async def ask(
        self,
        calls: Iterable[PlannedCall],
        judgments: dict[str, Judgment],
        on_judgment: Callable[[Judgment], None] | None = None,
        store: JudgmentStore | None = None,
        all_begun: Callable[[], None] = lambda: None,
    ) -> None:
        """Make the calls missing in `judgments`, and add each judgment as it arrives.

        A call that is in flight for another answer is not made again: both get its judgment.

        Args:
            on_judgment: called with each new judgment, for one of those who wait for it.
            all_begun: called when the last call begins; not where none is missing.

        On return what is new is committed.

        Raises:
            ServerDown, ModelError: a judge cannot be asked any more, where the session stops at an outage.
            StorageError: a judgment could not be stored.
            MissingExtra: a judge needs a package that is not installed.
        """
        missing = {call.key: call for call in calls if call.key not in judgments}
        if not missing:
            return
        pool, store = self._pool(), store or self._store
        run_id = self._run_id or self.run.id
        context = CallContext(run_id=run_id, secret=store.secret, personas=self._panel.personas, language=self._panel.language)
        limit = min(self._begun_at_once or len(missing), len(missing))
        commits: list[asyncio.Future[Any]] = []

        async def make(call: PlannedCall) -> _MadeJudgment:
            with KeptPlaces() as places:
                judgment = await pool.ask(call, context, raises=self._stops)
                commit = store.append(judgment, places.free)
            return _MadeJudgment(judgment, None if commit is None else asyncio.wrap_future(commit))

        async def ask_one(call: PlannedCall) -> None:
            made, mine = await pool.calls.share((call.key, store.secret), lambda: make(call))
            judgment = judgments[call.key] = made.judgment
            if made.commit is not None:
                commits.append(made.commit)
            if not mine:
                return
            if on_judgment is not None:
                on_judgment(judgment)
            if streak := self._streaks.get(call.judge.name):
                outcome = judgment.verdicts[0].outcome
                streak.note(
                    call.judge.name,
                    getattr(outcome, "reason", ""),
                    reached=not isinstance(outcome, Unreachable),
                    turned_away=call.judge.was_turned_away(judgment),
                    timed_out=isinstance(outcome, TimedOut),
                )

        name = ", ".join(dict.fromkeys(f"judge {call.judge.name} ({call.judge.reference})" for call in missing.values()))
        try:
            await run_concurrently(name, missing.values(), ask_one, limit, all_begun)
        finally:
            # even after an error: paid calls are in the ledger before anything asks for them again
            await asyncio.shield(asyncio.gather(*commits))

    # --- open judges

    def _pool(self) -> "_JudgePool":
        """The open judges of the running event loop, transferred from a closed loop."""
        loop = asyncio.get_running_loop()
        with self._guard:
            pool = self._pools.get(loop)
            if pool is None:
                closed = next((other for other in self._pools if other.is_closed()), None)
                if closed is not None:
                    pool = self._pools.pop(closed)
                else:  # the pools outlive the session in its finalizer, so they must not refer to it
                    open_one = partial(open_judge, settings=self._settings, traffic=self._traffic)
                    pool = _JudgePool([judge.reference for judge in self._panel.judges], open_one, self._begun_at_once)
                pool.enter_loop()
                self._pools[loop] = pool
            return pool

    def own_loop(self) -> OwnLoop:
        """An event loop in a separate thread, for synchronous callers."""
        with self._guard:
            if self._own_loop is None:
                self._own_loop = OwnLoop("jury-session")
                self._finalizer = weakref.finalize(self, _stop_loop, self._own_loop, self._pools)
            return self._own_loop

    async def release(self, judge: Judge) -> None:
        """Close one judge's model in the running event loop; its next call reopens it."""
        await self._pool().release(judge.reference)

    async def aclose(self) -> None:
        """Close the judges of the running event loop and the separate loop.

        A later call reopens them.
        """
        pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool.aclose()
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """Close the separate loop; the interpreter's exit also closes it."""
        with self._guard:
            finalizer, self._finalizer, self._own_loop = self._finalizer, None, None
        if finalizer is not None:
            finalizer()


class _MadeJudgment(NamedTuple):
    judgment: Judgment
    commit: "asyncio.Future[Any] | None"


class _JudgePool:
    """The judges open in one event loop; judges of one model share it. Each is asked no more at once than it can take."""

    def __init__(
        self, references: Sequence[ModelReference], open_one: Callable[[ModelReference], JudgeBackend], concurrency: int | None
    ) -> None:
        self.references = tuple(dict.fromkeys(references))
        self._open_one, self._concurrency = open_one, concurrency
        self._open: dict[ModelReference, JudgeBackend] = {}
        self.enter_loop()

    def enter_loop(self) -> None:
        """Create the parts that belong to an event loop. The judges detect a new loop."""
        self.checking = asyncio.Lock()
        self.calls = CallsInFlight[_MadeJudgment](lambda made: None if made.judgment.is_open else made.commit)
        self._limits: dict[ModelReference, AbstractAsyncContextManager[Any]] = {}

    def judge(self, reference: ModelReference) -> JudgeBackend:
        if reference not in self._open:
            self._open[reference] = self._open_one(reference)
        return self._open[reference]

    async def ask(self, call: PlannedCall, context: CallContext, *, raises: bool) -> Judgment:
        """Carry one call out. A fault that no call to this judge can escape is raised, or is an outcome like any other."""
        reference = call.judge.reference
        try:
            judge = self.judge(reference)
            if reference not in self._limits:
                limits = [limit for limit in (judge.max_concurrency, self._concurrency) if limit is not None]
                self._limits[reference] = asyncio.Semaphore(min(limits)) if limits else nullcontext()
            async with self._limits[reference]:
                judged = await judge.judge(call, context)
        except CallError as fault:
            if raises:
                raise
            judged = call.without_answer(Unreachable(reason=str(fault)))
        return judged.judgment(call, context.run_id)

    async def release(self, reference: ModelReference) -> None:
        judge = self._open.pop(reference, None)
        self._limits.pop(reference, None)
        if judge is not None:
            await judge.aclose()

    async def aclose(self) -> None:
        for reference in list(self._open):
            await self.release(reference)


def _stop_loop(own_loop: OwnLoop, pools: dict[asyncio.AbstractEventLoop, _JudgePool]) -> None:
    """End a loop after the judges that are open in it."""

    async def closing() -> None:
        pool = pools.pop(own_loop.loop, None)
        if pool is not None:
            await pool.aclose()

    own_loop.stop(closing)
