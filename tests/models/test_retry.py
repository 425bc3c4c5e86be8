"""Trying again, with a clock that only a fake sleep moves: no test here takes time."""

import asyncio
import heapq
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.records import Case
from areopage.errors import CallError, CallRejected, CallTimedOut, CallUnreachable, ServerDown
from areopage.models.port import Completion, Message, ModelStatus, Options, Schema
from areopage.models.reference import ModelReference
from areopage.models.retry import Calls, Retrying

ASK = (Message("user", "hello"),)


class FakeTime:
    """A clock in which sleepers wake in order, as soon as everybody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []
        self._sleepers: list[tuple[float, int, asyncio.Event]] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        woken = asyncio.Event()
        heapq.heappush(self._sleepers, (self.now + seconds, len(self.slept), woken))
        if len(self._sleepers) == 1:
            asyncio.get_running_loop().call_soon(self._settle, 8)
        await woken.wait()

    def _settle(self, turns: int) -> None:
        """Let the others run a few turns of the loop before the time goes on."""
        if turns:
            asyncio.get_running_loop().call_soon(self._settle, turns - 1)
            return
        self.now, _, woken = heapq.heappop(self._sleepers)
        woken.set()
        if self._sleepers:
            asyncio.get_running_loop().call_soon(self._settle, 8)


class Scripted:
    """A model that raises what it is told, then answers; it notes when it was asked."""

    def __init__(self, time: FakeTime, faults: Iterable[CallError | ServerDown] = (), takes: float = 0.0) -> None:
        self._faults = iter(faults)
        self._time = time
        self._takes = takes
        self.asked_at: list[float] = []
        self.closed = False

    @property
    def reference(self) -> ModelReference:
        return ModelReference("scripted", "m")

    @property
    def max_concurrency(self) -> int | None:
        return 3

    async def check(self) -> ModelStatus:
        self.asked_at.append(self._time.now)
        for fault in self._faults:
            raise fault
        return ModelStatus(digest="d")

    async def generate(
        self, messages: Sequence[Message], options: Options, schema: Schema | None = None, *, case: Case | None = None
    ) -> Completion:
        self.asked_at.append(self._time.now)
        self._time.now += self._takes
        for fault in self._faults:
            raise fault
        return Completion(text=messages[0].content)

    async def aclose(self) -> None:
        self.closed = True


def many(make: Callable[[], CallError]) -> Iterable[CallError]:
    while True:
        yield make()


def broken() -> CallError:
    return CallUnreachable("503")


def refused() -> CallError:
    return CallUnreachable("nothing listens", unconnected=True)


def paced(seconds: float) -> Callable[[], CallError]:
    return lambda: CallUnreachable("429", retry_after=seconds)


def retrying(model: Scripted, time: FakeTime, *, draw: float = 0.0, patience: float = 120.0, outage: float = 10.0) -> Retrying:
    return Retrying(model, Calls(clock=time.clock, sleep=time.sleep, draw=lambda: draw, patience=patience, outage=outage))


def ask(model: Retrying) -> Completion:
    return asyncio.run(model.generate(ASK, {}))


def test_a_call_that_succeeds_is_made_once() -> None:
    time = FakeTime()
    inner = Scripted(time)
    model = retrying(inner, time)
    assert ask(model).text == "hello"
    assert (len(inner.asked_at), time.slept) == (1, [])


def test_a_fault_that_passes_is_tried_again_after_a_back_off_that_doubles() -> None:
    time = FakeTime()
    inner = Scripted(time, [broken()] * 4)
    model = retrying(inner, time)
    assert ask(model).text == "hello"
    assert time.slept == [0.5, 1.0, 2.0, 4.0]
    assert len(inner.asked_at) == 5


def test_the_fifth_failed_call_is_the_last() -> None:
    time = FakeTime()
    inner = Scripted(time, many(broken))
    with pytest.raises(CallUnreachable, match="503"):
        ask(retrying(inner, time))
    assert len(inner.asked_at) == 5


def test_the_fault_is_raised_as_it_came() -> None:
    fault = CallUnreachable("last", retry_after=None)
    time = FakeTime()
    with pytest.raises(CallUnreachable) as caught:
        ask(retrying(Scripted(time, [broken()] * 4 + [fault]), time))
    assert caught.value is fault


def test_jitter_is_full() -> None:
    time = FakeTime()
    ask(retrying(Scripted(time, [broken()] * 3), time, draw=0.75))
    assert time.slept == [0.125, 0.25, 0.5]


def test_a_time_out_is_tried_once_more() -> None:
    time = FakeTime()
    assert ask(retrying(Scripted(time, [CallTimedOut("slow")]), time)).text == "hello"
    inner = Scripted(time, many(lambda: CallTimedOut("slow")))
    with pytest.raises(CallTimedOut):
        ask(retrying(inner, time))
    assert len(inner.asked_at) == 2


def test_a_time_out_longer_than_the_patience_is_still_tried_once_more() -> None:
    time = FakeTime()
    assert ask(retrying(Scripted(time, [CallTimedOut("slow")], takes=600.0), time)).text == "hello"


def test_a_rejected_call_is_not_tried_again() -> None:
    time = FakeTime()
    inner = Scripted(time, [CallRejected("no", status=400)])
    model = retrying(inner, time)
    with pytest.raises(CallRejected):
        ask(model)
    assert len(inner.asked_at) == 1


def test_the_servers_pause_is_waited_for() -> None:
    time = FakeTime()
    inner = Scripted(time, [paced(7.0)()])
    ask(retrying(inner, time, draw=0.5))
    assert inner.asked_at == [100.0, 107.25]


def test_a_429_does_not_use_up_the_attempts_but_the_patience() -> None:
    time = FakeTime()
    inner = Scripted(time, [paced(2.0)()] * 8)
    assert ask(retrying(inner, time, draw=0.99)).text == "hello"
    assert len(inner.asked_at) == 9

    inner = Scripted(time, many(paced(2.0)))
    began = time.now
    with pytest.raises(CallUnreachable):
        ask(retrying(inner, time))
    assert time.now - began <= 120.0
    assert len(inner.asked_at) > 5


def test_a_429_without_a_pause_backs_off_up_to_half_a_minute() -> None:
    time = FakeTime()
    with pytest.raises(CallUnreachable):
        ask(retrying(Scripted(time, many(paced(0.0))), time))
    assert time.slept[:7] == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0]
    assert sum(time.slept) == pytest.approx(120.0)


def test_a_pause_beyond_the_patience_is_not_waited_for() -> None:
    time = FakeTime()
    inner = Scripted(time, [paced(3600.0)()])
    model = retrying(inner, time)
    with pytest.raises(CallUnreachable, match="429: the server asks for a pause of 3,600 s, and a call waits 120 s at most"):
        ask(model)
    assert time.slept == []
    assert ask(model).text == "hello"
    assert time.slept == []


def test_after_a_429_the_other_calls_of_the_instance_wait_as_well() -> None:
    time = FakeTime()
    inner = Scripted(time, [paced(5.0)()])
    model = retrying(inner, time)

    async def run() -> None:
        first = asyncio.create_task(model.generate(ASK, {}))
        await asyncio.sleep(0)
        await asyncio.gather(first, *(model.generate(ASK, {}) for _ in range(10)))

    asyncio.run(run())
    assert inner.asked_at[0] == 100.0
    assert len(inner.asked_at) == 12
    assert min(inner.asked_at[1:]) >= 105.0


def test_a_storm_of_429_calms_down() -> None:
    time = FakeTime()
    draws = iter(range(1_000_000))

    class Limited(Scripted):
        """Serves one call in a tenth of a second."""

        free_at = 100.0

        async def generate(
            self, messages: Sequence[Message], options: Options, schema: Schema | None = None, *, case: Case | None = None
        ) -> Completion:
            self.asked_at.append(self._time.now)
            if self._time.now < self.free_at:
                raise CallUnreachable("429", retry_after=1.0)
            self.free_at = self._time.now + 0.1
            return Completion(text="served")

    inner = Limited(time)
    model = Retrying(inner, Calls(clock=time.clock, sleep=time.sleep, draw=lambda: (next(draws) * 0.618034) % 1.0))

    async def run() -> list[Completion]:
        return await asyncio.gather(*(model.generate(ASK, {}) for _ in range(64)))

    answers = asyncio.run(run())
    assert [answer.text for answer in answers] == ["served"] * 64
    assert len(inner.asked_at) < 64 * 8


def test_a_refused_connection_is_tried_for_as_long_as_the_outage_and_then_raised() -> None:
    time = FakeTime()
    inner = Scripted(time, many(refused))
    with pytest.raises(CallUnreachable) as caught:
        ask(retrying(inner, time))
    assert caught.value.unconnected
    assert inner.asked_at[-1] == 110.0
    assert ask(retrying(Scripted(time, [refused()] * 3), time)).text == "hello"


def test_refused_connections_do_not_use_up_the_attempts() -> None:
    time = FakeTime()
    inner = Scripted(time, [refused()] * 20)
    assert ask(retrying(inner, time, outage=1000.0)).text == "hello"


def test_each_outage_has_its_own_budget() -> None:
    time = FakeTime()
    script = [refused()] * 4 + [broken()] + [refused()] * 4
    assert ask(retrying(Scripted(time, script), time)).text == "hello"


def overloaded(seconds: float) -> ServerDown:
    down = ServerDown("no more calls")
    down.__cause__ = CallUnreachable("429", retry_after=seconds)
    return down


def test_the_check_of_a_model_waits_where_the_server_asks_for_a_pause() -> None:
    time = FakeTime()
    inner = Scripted(time, [overloaded(7.0), overloaded(0.0)])
    assert asyncio.run(retrying(inner, time).check()).digest == "d"
    assert inner.asked_at == [100.0, 107.5, 108.5]
    with pytest.raises(ServerDown, match=r"takes no more calls: try again later .*the server asks for a pause of 3,600 s"):
        asyncio.run(retrying(Scripted(time, [overloaded(3600.0)]), time).check())


def test_the_check_of_a_model_whose_server_is_down_is_not_made_again() -> None:
    time = FakeTime()
    down = ServerDown("down")
    down.__cause__ = broken()
    inner = Scripted(time, [down])
    with pytest.raises(ServerDown, match=r"^down$"):
        asyncio.run(retrying(inner, time).check())
    assert len(inner.asked_at) == 1


def test_the_rest_of_the_port_is_the_wrapped_models() -> None:
    time = FakeTime()
    inner = Scripted(time, [ServerDown("down")])
    model = retrying(inner, time)
    assert (model.reference, model.max_concurrency) == (inner.reference, 3)
    with pytest.raises(ServerDown):
        asyncio.run(model.check())
    assert asyncio.run(model.check()).digest == "d"
    asyncio.run(model.aclose())
    assert inner.closed


FAULTS = st.sampled_from([broken, refused, paced(0.0), paced(3.0), paced(500.0), lambda: CallTimedOut("slow")])


@given(st.lists(FAULTS, max_size=60), st.floats(0, 1, exclude_max=True))
def test_a_call_ends_within_its_budgets_whatever_happens(faults: list[Callable[[], CallError]], draw: float) -> None:
    time = FakeTime()
    inner = Scripted(time, [fault() for fault in faults])
    model = retrying(inner, time, draw=draw)
    with suppress(CallTimedOut, CallUnreachable):
        assert ask(model).text == "hello"
    assert sum(time.slept) <= 120.0 + 10.0 + 1e-6
    assert all(pause > 0 for pause in time.slept)
