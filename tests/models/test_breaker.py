"""Servers that go away and come back; a simulated clock, so no test here takes time."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from areopage.errors import CallError, CallRejected, CallTimedOut, CallUnreachable, PromptTooLong
from areopage.models.breaker import SILENT_IN_A_ROW, Breaker
from areopage.models.retry import Calls
from servers.simulated_loop import SimulatedLoop

ADDRESS = "http://lab:11434"


class Told:
    """What an observer was told."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def server_gone(self, address: str, seconds: float) -> None:
        self.lines.append(("gone", address))

    def server_back(self, address: str, seconds: float) -> None:
        self.lines.append(("back", address))


class Server:
    """A server that is gone between some moments; each answer takes a tenth of a second."""

    def __init__(self, loop: SimulatedLoop, gone: tuple[float, float], fault: Callable[[], CallError] | None = None) -> None:
        self._loop, self._gone = loop, gone
        self._fault = fault or (lambda: CallUnreachable("connection refused", unconnected=True))
        self.failed_at: list[float] = []
        self.answered_at: list[float] = []
        self.open = self.most_open_while_gone = 0

    async def answer(self) -> str:
        self.open += 1
        try:
            now = self._loop.time()
            if self._gone[0] <= now < self._gone[1]:
                self.failed_at.append(now)
                if now > self._gone[0] + 1:
                    self.most_open_while_gone = max(self.most_open_while_gone, self.open)
                raise self._fault()
            await asyncio.sleep(0.1)
            self.answered_at.append(self._loop.time())
            return "well"
        finally:
            self.open -= 1


@pytest.fixture
def loop() -> Iterator[SimulatedLoop]:
    made = SimulatedLoop()
    yield made
    made.close()


def calls_to(loop: SimulatedLoop, told: Told | None = None, *, outage: float = 600.0) -> Calls:
    draw = random.Random(3).random
    breaker = Breaker(ADDRESS, outage, told, clock=loop.time, draw=draw)
    return Calls(breaker=breaker, clock=loop.time, draw=draw)


def all_of(loop: SimulatedLoop, calls: Calls, ask: Callable[[], Awaitable[str]], count: int = 400, at_once: int = 8) -> list[str]:
    """What became of so many calls."""
    work, results = iter(range(count)), list[str]()

    async def caller() -> None:
        for _ in work:
            try:
                results.append(await calls.make(ask))
            except CallError as fault:
                results.append(type(fault).__name__)

    async def all_callers() -> None:
        await asyncio.gather(*(caller() for _ in range(at_once)))

    loop.run_until_complete(all_callers())
    return results


def silent() -> CallUnreachable:
    return CallUnreachable("503", silent=True)


def never_accepted() -> CallTimedOut:
    return CallTimedOut("no connection within 5 s", silent=True)


@pytest.mark.parametrize("fault", [None, silent, never_accepted])
def test_calls_to_a_server_that_goes_away_wait_and_all_are_answered_when_it_is_back(
    loop: SimulatedLoop, fault: Callable[[], CallError] | None
) -> None:
    told, server = Told(), Server(loop, (2.0, 300.0), fault)
    assert all_of(loop, calls_to(loop, told), server.answer) == ["well"] * 400
    assert told.lines == [("gone", ADDRESS), ("back", ADDRESS)]


def test_while_a_server_is_gone_one_call_at_a_time_probes_it_ever_more_rarely(loop: SimulatedLoop) -> None:
    server = Server(loop, (2.0, 400.0))
    all_of(loop, calls_to(loop), server.answer)
    probes = [moment for moment in server.failed_at if moment > 10.0]
    assert server.most_open_while_gone == 1
    assert len(probes) < 60
    assert max(later - sooner for sooner, later in pairwise(probes)) <= 30.0
    back = min(moment for moment in server.answered_at if moment > 400.0)
    assert back <= 430.2


def test_a_call_that_is_probed_with_is_not_always_the_same(loop: SimulatedLoop) -> None:
    seen: list[int] = []
    calls = calls_to(loop)

    async def ask(number: int) -> str:
        if len(seen) < 20:
            seen.append(number)
            raise CallUnreachable("connection refused", unconnected=True)
        return "well"

    async def go() -> None:
        await asyncio.gather(*(calls.make(lambda number=number: ask(number)) for number in range(4)))  # type: ignore[misc]

    loop.run_until_complete(go())
    assert all(seen[4 + place : 8 + place].count(number) == 1 for place in range(12) for number in range(4))


def test_a_server_that_stays_away_is_given_up_after_the_outage_by_all_calls_together(loop: SimulatedLoop) -> None:
    told, server = Told(), Server(loop, (2.0, 1e9))
    calls = calls_to(loop, told, outage=60.0)
    found = all_of(loop, calls, server.answer, at_once=8)
    assert set(found) == {"well", "CallUnreachable"}
    assert told.lines == [("gone", ADDRESS)]
    assert max(server.failed_at) == pytest.approx(62.0, abs=0.2)  # later calls are not kept


def test_a_server_that_is_given_up_is_used_again_with_its_first_answer(loop: SimulatedLoop) -> None:
    told, server = Told(), Server(loop, (0.0, 100.0))
    calls = calls_to(loop, told, outage=10.0)
    assert set(all_of(loop, calls, server.answer, count=8)) == {"CallUnreachable"}
    loop.run_until_complete(asyncio.sleep(100.0))
    assert all_of(loop, calls, server.answer, count=8) == ["well"] * 8
    assert told.lines == [("gone", ADDRESS), ("back", ADDRESS)]


def test_a_server_that_answers_only_503_is_given_up_with_a_fault_that_says_no_call_can_succeed(loop: SimulatedLoop) -> None:
    server, faults = Server(loop, (0.0, 1e9), silent), list[CallUnreachable]()
    calls = calls_to(loop, outage=30.0)

    async def caller() -> None:
        with suppress(CallUnreachable):
            try:
                await calls.make(server.answer)
            except CallUnreachable as fault:
                faults.append(fault)
                raise

    async def go() -> None:
        await asyncio.gather(*(caller() for _ in range(8)))

    loop.run_until_complete(go())
    assert len(faults) == 8
    assert all(fault.hopeless and str(fault) == "503" for fault in faults)


def test_a_server_that_is_gone_for_half_a_second_is_not_told_of(loop: SimulatedLoop) -> None:
    told, server = Told(), Server(loop, (2.0, 2.001))
    assert all_of(loop, calls_to(loop, told), server.answer) == ["well"] * 400
    assert told.lines == []


def test_one_call_that_breaks_its_connection_each_time_does_not_stop_the_others(loop: SimulatedLoop) -> None:
    told, calls = Told(), calls_to(loop, told := Told())

    async def breaks() -> str:
        raise silent()

    assert all_of(loop, calls, breaks, count=1, at_once=1) == ["CallUnreachable"]
    assert all_of(loop, calls, Server(loop, (1e9, 1e9)).answer, count=4, at_once=1) == ["well"] * 4
    assert told.lines == []


@pytest.mark.parametrize(
    "status", [CallRejected("400", status=400), CallUnreachable("500"), CallUnreachable("429", retry_after=0.1)]
)
def test_any_answer_of_the_server_ends_the_row_of_calls_without_one(loop: SimulatedLoop, status: CallError) -> None:
    breaker = Breaker(ADDRESS, 600.0, clock=loop.time)
    calls = Calls(breaker=breaker, clock=loop.time)
    script = iter([*[silent()] * (SILENT_IN_A_ROW - 1), status] * 20)

    async def ask() -> str:
        for fault in script:
            raise fault
        return "well"

    all_of(loop, calls, ask, count=40, at_once=8)
    assert not breaker.gone


def test_a_call_that_was_never_sent_is_no_sign_that_the_server_is_back(loop: SimulatedLoop) -> None:
    """While a server is gone, the call that probes it may be refused here, as one whose prompt is too long."""
    told = Told()
    calls = calls_to(loop, told, outage=30.0)
    server = Server(loop, (0.0, 1e9))

    async def too_long() -> str:
        await asyncio.sleep(0)
        raise PromptTooLong("more than 9000 tokens")

    work = iter([server.answer, *[too_long, server.answer] * 40])

    async def caller() -> None:
        for call in work:
            with suppress(CallError):
                await calls.make(call)

    async def all_callers() -> None:
        await asyncio.gather(*(caller() for _ in range(4)))

    loop.run_until_complete(all_callers())
    assert told.lines == [("gone", ADDRESS)]
    assert loop.time() < 60.0


def test_calls_that_wait_for_a_server_can_be_cancelled_and_another_one_probes(loop: SimulatedLoop) -> None:
    server = Server(loop, (0.0, 50.0))
    calls = calls_to(loop)

    async def go() -> list[str | BaseException]:
        tasks = [asyncio.create_task(calls.make(server.answer)) for _ in range(6)]
        for task in tasks[:5]:
            await asyncio.sleep(3.0)
            task.cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    *cancelled, last = loop.run_until_complete(go())
    assert all(isinstance(one, asyncio.CancelledError) for one in cancelled)
    assert last == "well"


def test_an_outage_is_not_taken_from_the_patience_of_calls(loop: SimulatedLoop) -> None:
    script = iter([CallUnreachable("429", retry_after=1.0), *[CallUnreachable("gone", unconnected=True)] * 14])

    async def ask() -> str:
        for fault in script:
            raise fault
        if loop.time() < 350:
            raise CallUnreachable("429", retry_after=1.0)
        return "well"

    breaker = Breaker(ADDRESS, 600.0, clock=loop.time, draw=lambda: 0.0)
    calls = Calls(breaker=breaker, clock=loop.time, draw=lambda: 0.0)
    assert loop.run_until_complete(calls.make(ask)) == "well"


@settings(max_examples=40)
@given(st.lists(st.sampled_from(["well", "gone", "silent", "500", "rejected"]), max_size=80), st.integers(1, 6))
def test_every_call_ends_whatever_the_server_does(script: list[str], at_once: int) -> None:
    loop = SimulatedLoop()
    faults: dict[str, Callable[[], CallError]] = {
        "gone": lambda: CallUnreachable("gone", unconnected=True),
        "silent": silent,
        "500": lambda: CallUnreachable("500"),
        "rejected": lambda: CallRejected("400", status=400),
    }
    events = iter(script)

    async def ask() -> str:
        await asyncio.sleep(0.1)
        for event in events:
            if event in faults:
                raise faults[event]()
            break
        return "well"

    try:
        found = all_of(loop, calls_to(loop, outage=20.0), ask, count=30, at_once=at_once)
    finally:
        loop.close()
    assert len(found) == 30
    assert found[-1] == "well"
