"""Trying again: calls that outlive transient faults, and a language model made of such calls."""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from areopage.cases import Case
from areopage.errors import CallRejected, CallTimedOut, CallUnreachable, PromptTooLong, ServerDown
from areopage.models.breaker import FIRST_PAUSE, Breaker, backed_off
from areopage.models.limits import KEPT, Limiter, Pacer
from areopage.models.port import CHARACTERS_PER_TOKEN, Completion, LanguageModel, Message, ModelStatus, Options, Schema
from areopage.models.rate_headers import Allowance
from areopage.models.reference import ModelReference
from areopage.models.window import Gauge
from areopage.text import byte_length

TIMEOUTS_BORNE = 1
ATTEMPTS = 5
"""How often a call is made that fails, unless a caller says otherwise."""

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Faults:
    """What one call has met so far; moments are of the instance's clock."""

    seen: int = 0
    failed: int = 0
    timed_out: int = 0
    first_at: float = math.inf

    def waited(self, seconds: float) -> None:
        """Leave out a wait for a free place or for a server that is gone: the first fault comes later by it."""
        self.first_at += seconds


class Calls:
    """Calls to one server, each made again where that may help.

    - A fault that passes (5xx, a broken connection, one time-out) is tried again, `attempts` calls in all, after an
      exponential back-off with full jitter.
    - Where the server asks for a pause (429, maybe 503), no call of this instance begins before its end, and fewer are open at
      once from then on (`areopage.models.limits`). Such calls do not use up the attempts, only `patience`.
    - Where no server is, all calls wait for it together, for as long as `outage` (`areopage.models.breaker`).

    The last error is then raised unchanged, but for one that asks for a longer pause than calls are kept: it says so.
    """

    def __init__(
        self,
        *,
        attempts: int = ATTEMPTS,
        patience: float = 120.0,
        outage: float = 10.0,
        breaker: Breaker | None = None,
        limiter: Limiter | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        """Set the limits.

        Args:
            attempts: how many calls may fail before the fault is raised, those told to pause and those without a server apart.
            patience: seconds from a call's first fault within which another try may begin; waits for a server are left out.
            outage: seconds that calls wait for a server that is gone.
            breaker: says whether the server is there, in place of one for these calls alone; `outage` is then its own.
            limiter: bounds and spaces the calls, in place of one for these calls alone.
            clock: seconds that only grow.
            sleep: waits for so many seconds.
            draw: a random number in [0, 1).
        """
        self._attempts, self._patience = attempts, patience
        self.clock, self._sleep, self._draw = clock, sleep, draw
        self._limiter = limiter or Limiter()
        self._breaker = breaker or Breaker("", outage, clock=clock, sleep=sleep, draw=draw)

    @property
    def pacer(self) -> Pacer:
        """What spaces the calls."""
        return self._limiter.pacer

    async def make(self, call: Callable[[], Awaitable[T]], tokens: float = 0.0) -> T:
        """Make a call, again where that may help."""
        faults = _Faults()
        pause = 0.0
        places = KEPT.get()
        if places is not None:
            places.free()  # of a call whose answer this one completes
        while True:
            await self._turn(pause, faults, tokens)
            began, answered = self.clock(), False
            try:
                result = await call()
            except (CallTimedOut, CallUnreachable) as fault:
                pause = self._pause_before_another(fault, faults)
            except CallRejected as fault:
                if fault.status is not None:  # a call without a status was refused before it was sent
                    self._breaker.answered()
                raise
            else:
                self._breaker.answered()
                self._limiter.window.answered(self._limiter.open_calls, self.clock() - began)
                answered = True
                return result
            finally:
                self._breaker.done(faults)
                if answered and places is not None:
                    places.keep(self._limiter)
                else:
                    self._limiter.leave()

    async def _turn(self, pause: float, faults: _Faults, tokens: float) -> None:
        """Wait for this call's own pause, a free place, the server, the pause that it asked of all calls, and its limits.

        All but the own pause is not taken from the call's patience.
        """
        if pause > 0:
            await self._sleep(pause)
        waits_since = self.clock()
        await self._limiter.enter(first=faults.seen > 0)
        try:
            if self._breaker.gone:
                await self._breaker.wait(faults)
            while (shut := self._limiter.shut_until - self.clock()) > 0:
                await self._sleep(shut + min(shut, FIRST_PAUSE) * (1.0 - self._draw()))  # not all at the same moment
            begins = self._limiter.pacer.reserve(tokens, now := self.clock())
            while (early := begins - now) > 0:
                await self._sleep(early)
                now = self.clock()
        except (asyncio.CancelledError, CallUnreachable):
            self._breaker.done(faults)
            self._limiter.leave()
            raise
        faults.waited(now - waits_since)

    def _pause_before_another(self, fault: CallTimedOut | CallUnreachable, faults: _Faults) -> float:
        """Seconds until another try; raises the fault where there should be none."""
        asked = fault.retry_after if isinstance(fault, CallUnreachable) else None
        if isinstance(fault, CallTimedOut) or asked is not None:
            self._limiter.window.asked_too_much(self._limiter.open_calls, self.clock())
        if self._breaker.failed(fault, faults):
            faults.seen += 1
            return 0.0  # the breaker says when
        if self._breaker.given_up:
            raise fault if fault.hopeless else self._breaker.last_fault()
        if not fault.hopeless:
            now = self.clock()
            faults.seen += 1
            faults.first_at = min(faults.first_at, now)
            faults.timed_out += isinstance(fault, CallTimedOut)
            faults.failed += asked is None
            end = faults.first_at + self._patience
            left = end - now - (asked or 0.0)
            if faults.timed_out <= TIMEOUTS_BORNE and faults.failed < self._attempts and end > now and left >= 0:
                if not asked:
                    return min(backed_off(faults.failed or faults.seen, self._draw), left)
                # A pause longer than this call may wait is not shared, so that it does not delay other calls.
                self._limiter.shut_until = max(self._limiter.shut_until, now + asked)
                return asked + min(asked, FIRST_PAUSE, left) * (1.0 - self._draw())
        if asked is not None and asked > self._patience:
            why = f"the server asks for a pause of {asked:,.0f} s, and a call waits {self._patience:g} s at most"
            raise CallUnreachable(f"{fault}: {why}", retry_after=asked) from fault
        raise fault


class CallBudget(Protocol):
    """What says whether a call may begin."""

    def is_paid(self, reference: ModelReference) -> bool:
        """Whether calls to a model cost money."""

    async def begin(self, reference: ModelReference, messages: Sequence[Message], options: Options) -> float:
        """Wait until a call may begin; return what is set aside for it.

        Raises:
            BudgetSpent: it would not be paid for, even when all open calls are done.
        """

    def end(self, reference: ModelReference, set_aside: float, completion: Completion | None) -> None:
        """Count what an ended call cost: all that was set aside where `completion` is None."""

    def cancel(self, set_aside: float) -> None:
        """Set nothing aside any more for a call that costs nothing."""


class Retrying:
    """A `LanguageModel` that asks another one by `Calls`, again where that may help. That one is closed with it."""

    def __init__(
        self, model: LanguageModel, calls: Calls | None = None, *, gauge: Gauge | None = None, budget: CallBudget | None = None
    ) -> None:
        """Wrap a model.

        Args:
            calls: make the calls; None: with the usual patience.
            gauge: tells what fits into the model's window; a prompt that does not fit is not sent.
            budget: says when a call may begin; None: at once.
        """
        self._model, self._gauge, self._budget = model, gauge, budget
        # what the server says is left of its limits, where the model tells it
        self._allowances: Callable[[], tuple[Allowance, ...]] = getattr(model, "allowances", tuple)
        self._calls = calls or Calls()

    @property
    def reference(self) -> ModelReference:
        """What the user called the model."""
        return self._model.reference

    @property
    def max_concurrency(self) -> int | None:
        """How many calls the model can take at once."""
        return self._model.max_concurrency

    @property
    def pacer(self) -> Pacer:
        """What spaces the calls."""
        return self._calls.pacer

    async def check(self) -> ModelStatus:
        """Check the model, again only where the server asks for a pause: a user wants to know of any other fault at once."""

        async def check() -> ModelStatus:
            try:
                return await self._model.check()
            except ServerDown as down:
                fault = down.__cause__
                if isinstance(fault, CallUnreachable) and fault.retry_after is not None:
                    raise fault from None
                raise

        try:
            return await self._calls.make(check)
        except CallUnreachable as fault:
            raise ServerDown(f"{self.reference}: the server takes no more calls: try again later [{fault}]") from fault

    async def generate(
        self, messages: Sequence[Message], options: Options, schema: Schema | None = None, *, case: Case | None = None
    ) -> Completion:
        """Ask, again where that may help; see `LanguageModel.generate` for what is raised in the end.

        Raises:
            PromptTooLong: the prompt does not fit, and is not sent.
            BudgetSpent: the call is not made.
        """
        if self._gauge is not None:
            size = sum(byte_length(message.content) for message in messages)
            if refusal := self._gauge.refusal(size, options):
                raise PromptTooLong(f"{self.reference}: {refusal}")
        pacer, expected = self._calls.pacer, sum(len(message.content) for message in messages) / CHARACTERS_PER_TOKEN

        async def ask() -> Completion:
            try:
                if self._budget is None:
                    return await self._model.generate(messages, options, schema, case=case)
                return await self._paid(self._budget, messages, options, schema, case)
            finally:
                for allowance in self._allowances():
                    pacer.note(allowance, self._calls.clock())

        completion = await self._calls.make(ask, expected)
        if completion.prompt_tokens is not None:
            pacer.correct(completion.prompt_tokens + (completion.completion_tokens or 0) - expected)
        return completion

    async def _paid(
        self, budget: CallBudget, messages: Sequence[Message], options: Options, schema: Schema | None, case: Case | None
    ) -> Completion:
        """Ask once the budget allows it.

        A call that was sent and timed out counts with all that was set aside for it: the provider may charge it.
        """
        set_aside = await budget.begin(self.reference, messages, options)
        try:
            completion = await self._model.generate(messages, options, schema, case=case)
        except CallTimedOut as fault:
            if fault.silent:
                budget.cancel(set_aside)
            else:
                budget.end(self.reference, set_aside, None)
            raise
        except BaseException:
            budget.cancel(set_aside)
            raise
        budget.end(self.reference, set_aside, completion)
        return completion

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()
