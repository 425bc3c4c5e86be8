"""Calls at once to a server that says how much it takes; a simulated clock, so no test here takes time."""

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.errors import CallUnreachable
from areopage.models.limits import CUT, CallWindow, KeptPlaces, Limiter
from areopage.models.retry import Calls
from servers import PATIENCE
from servers.simulated_loop import SimulatedLoop


def test_without_complaints_nothing_is_limited() -> None:
    window = CallWindow()
    for _ in range(100):
        window.answered(500, 0.1)
    assert window.allowed == math.inf


def test_a_complaint_cuts_the_calls_that_were_open_and_answers_let_them_grow_by_one_a_round() -> None:
    window = CallWindow()
    window.answered(40, 0.1)
    window.asked_too_much(40, now=1.0)
    assert window.allowed == 28 == CUT * 40
    for _ in range(29):  # a round: each of the calls is answered once
        window.answered(28, 0.1)
    assert window.allowed == 29


def test_complaints_about_calls_of_one_round_cut_once() -> None:
    window = CallWindow()
    window.answered(40, 0.1)
    for late in range(10):
        window.asked_too_much(40, now=1.0 + late / 100)
    assert window.allowed == 28
    window.asked_too_much(28, now=1.2)
    assert window.allowed == 19


def test_a_window_that_is_not_full_does_not_grow() -> None:
    window = CallWindow()
    window.asked_too_much(40, now=1.0)
    for _ in range(1000):
        window.answered(3, 0.1)
    assert window.allowed == 28


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 200)), max_size=300))
def test_a_call_may_always_be_made(events: list[tuple[bool, int]]) -> None:
    window = CallWindow()
    for moment, (complaint, open_calls) in enumerate(events):
        if complaint:
            window.asked_too_much(open_calls, now=float(moment))
        else:
            window.answered(open_calls, 0.5)
        assert window.allowed >= 1


def test_calls_made_again_go_before_those_that_wait() -> None:
    async def order() -> list[str]:
        limiter, seen = Limiter(), list[str]()
        limiter.window.asked_too_much(1, now=0.0)

        async def call(name: str, *, again: bool) -> None:
            await limiter.enter(first=again)
            seen.append(name)
            limiter.leave()

        await limiter.enter()
        waiting = [asyncio.create_task(call(name, again=name == "again")) for name in ("one", "two", "again")]
        await asyncio.sleep(0)
        limiter.leave()
        await asyncio.gather(*waiting)
        assert limiter.open_calls == 0
        return seen

    assert asyncio.run(order()) == ["again", "one", "two"]


def test_a_call_that_is_cancelled_in_its_turn_passes_the_turn_on() -> None:
    async def go() -> int:
        limiter = Limiter()
        limiter.window.asked_too_much(1, now=0.0)
        await limiter.enter()
        first, second = asyncio.create_task(limiter.enter()), asyncio.create_task(limiter.enter())
        await asyncio.sleep(0)
        limiter.leave()  # the first one has the turn now
        first.cancel()
        with suppress(asyncio.CancelledError):
            await first
        await asyncio.wait_for(second, 5)
        return limiter.open_calls

    assert asyncio.run(go()) == 1


def test_calls_of_a_loop_that_has_ended_block_nothing() -> None:
    limiter = Limiter()
    limiter.window.asked_too_much(1, now=0.0)
    asyncio.run(limiter.enter())
    asyncio.run(asyncio.wait_for(limiter.enter(), 5))
    assert limiter.open_calls == 1


class LimitedServer:
    """Lets `rate` calls a second through, at most a second's worth saved up; of those `failing` answer 500."""

    def __init__(self, loop: SimulatedLoop, rate: float, *, failing: float = 0.0, says_when: bool = True) -> None:
        self._loop, self._rate, self._failing, self._says_when = loop, rate, failing, says_when
        self._random = random.Random(5)
        self._tokens, self._since = rate, 0.0
        self.let_through = self.turned_away = 0
        self.last = 0.0

    async def answer(self) -> str:
        now = self._loop.time()
        self._tokens = min(self._rate, self._tokens + (now - self._since) * self._rate)
        self._since = now
        if self._tokens < 1:
            self.turned_away += 1
            raise CallUnreachable("429", retry_after=(1 - self._tokens) / self._rate if self._says_when else 0.0)
        self._tokens -= 1
        self.let_through += 1
        self.last = now
        await asyncio.sleep(0.1)
        if self._random.random() < self._failing:
            raise CallUnreachable("500")
        return "well"


@pytest.mark.parametrize(("failing", "says_when"), [(0.0, True), (0.2, True), (0.0, False)])
def test_a_server_that_allows_half_of_the_offered_rate_is_used_to_nine_tenths(failing: float, says_when: bool) -> None:
    loop, rate = SimulatedLoop(), 320.0  # 64 callers at 0.1 s offer 640
    server = LimitedServer(loop, rate, failing=failing, says_when=says_when)
    calls = Calls(clock=loop.time, draw=random.Random(3).random)

    work = iter(range(10_000))

    async def caller() -> None:
        for _ in work:
            with suppress(CallUnreachable):  # the fifth failure of one call is raised
                await calls.make(server.answer)

    async def all_callers() -> None:
        await asyncio.gather(*(caller() for _ in range(64)))

    try:
        loop.run_until_complete(all_callers())
    finally:
        loop.close()
    assert server.let_through / server.last >= 0.9 * rate
    assert server.turned_away < 0.1 * server.let_through


def test_a_call_that_waits_for_another_try_takes_no_place_among_the_open_ones() -> None:
    made: list[str] = []

    async def run() -> None:
        calls = Calls(limiter=Limiter(at_once=1), draw=lambda: 0.0)
        failed = False

        async def fails_once() -> None:
            nonlocal failed
            made.append("first")
            if not failed:
                failed = True
                raise CallUnreachable("500")

        async def works() -> None:
            made.append("second")

        await asyncio.gather(calls.make(fails_once), calls.make(works))

    loop = SimulatedLoop()
    try:
        loop.run_until_complete(run())
    finally:
        loop.close()
    assert made == ["first", "second", "first"]


def test_a_kept_place_is_taken_until_it_is_freed_and_no_other_call_is_sent_meanwhile() -> None:
    made: list[str] = []

    async def run() -> None:
        limiter = Limiter(at_once=2)
        calls, kept, third = Calls(limiter=limiter), list[KeptPlaces](), asyncio.Event()

        async def make(name: str) -> None:
            async def answer() -> None:
                made.append(name)
                if len(made) == 3:
                    third.set()

            with KeptPlaces() as places:
                await calls.make(answer)
            kept.append(places)

        tasks = [asyncio.create_task(make(name)) for name in "abcd"]
        await asyncio.sleep(0.01)
        assert (made, limiter.open_calls) == (["a", "b"], 0)
        await asyncio.to_thread(kept[0].free)  # from any thread
        await asyncio.wait_for(third.wait(), PATIENCE)
        assert made == ["a", "b", "c"]
        for places in kept[1:]:
            places.free()
        await asyncio.gather(*tasks)

    asyncio.run(run())
    assert made == ["a", "b", "c", "d"]


def test_a_server_that_takes_fewer_calls_is_asked_again_while_answers_are_stored() -> None:
    """Its own limit counts open calls alone."""

    async def run() -> None:
        calls = Calls(limiter=Limiter(most=1, at_once=2))
        with KeptPlaces():
            await calls.make(partial(asyncio.sleep, 0))
        with KeptPlaces():
            await asyncio.wait_for(calls.make(partial(asyncio.sleep, 0)), PATIENCE)

    asyncio.run(run())


def test_a_call_that_completes_an_answer_takes_the_place_of_the_call_before() -> None:
    async def run() -> None:
        calls = Calls(limiter=Limiter(at_once=1))
        with KeptPlaces():
            await calls.make(partial(asyncio.sleep, 0))
            await asyncio.wait_for(calls.make(partial(asyncio.sleep, 0)), PATIENCE)

    asyncio.run(run())


def test_a_call_that_fails_or_is_cancelled_keeps_no_place() -> None:
    async def run() -> None:
        calls = Calls(limiter=Limiter(at_once=1), attempts=1)

        async def fails() -> None:
            raise CallUnreachable("500")

        async def kept(call: Callable[[], Awaitable[object]]) -> None:
            with KeptPlaces():
                await calls.make(call)

        with suppress(CallUnreachable):
            await kept(fails)
        hanging = asyncio.create_task(kept(partial(asyncio.sleep, 3600)))
        await asyncio.sleep(0)
        hanging.cancel()
        await asyncio.gather(hanging, return_exceptions=True)
        await asyncio.wait_for(kept(partial(asyncio.sleep, 0)), PATIENCE)

    asyncio.run(run())
