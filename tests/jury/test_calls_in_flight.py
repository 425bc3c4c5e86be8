"""Calls that are asked for at once are made once."""

import asyncio
from functools import partial

import pytest

from areopage.jury.session import CallsInFlight


def test_equal_calls_at_once_are_one_call_and_others_are_their_own() -> None:
    made: list[str] = []

    async def make(key: str) -> str:
        made.append(key)
        await asyncio.sleep(0)
        return key.upper()

    async def ask() -> list[tuple[str, bool]]:
        calls = CallsInFlight[str](lambda _: None)
        found = await asyncio.gather(*(calls.share(key, partial(make, key)) for key in "aaab"))
        return [*found, await calls.share("a", lambda: make("a"))]

    assert asyncio.run(ask()) == [("A", True), ("A", False), ("A", False), ("B", True), ("A", True)]
    assert made == ["a", "b", "a"]


def test_a_result_serves_who_asks_until_it_is_stored() -> None:
    async def make() -> str:
        return "A"

    async def ask() -> list[bool]:
        stored = asyncio.get_running_loop().create_future()
        calls = CallsInFlight[str](lambda _: stored)
        made = [(await calls.share("a", make))[1] for _ in range(2)]
        stored.set_result(None)
        await asyncio.sleep(0)
        return [*made, (await calls.share("a", make))[1]]

    assert asyncio.run(ask()) == [True, False, True]


@pytest.mark.parametrize("way", ["fails", "is cancelled"])
def test_who_waits_makes_the_call_where_the_first_caller_does_not(way: str) -> None:
    async def ask() -> tuple[str, bool]:
        calls, begun = CallsInFlight[str](lambda _: None), asyncio.Event()

        async def make_first() -> str:
            begun.set()
            await asyncio.sleep(0 if way == "fails" else 60)
            raise ValueError("it broke")

        async def make_second() -> str:
            return "second"

        first = asyncio.create_task(calls.share("a", make_first))
        await begun.wait()
        second = asyncio.create_task(calls.share("a", make_second))
        await asyncio.sleep(0)
        if way == "is cancelled":
            first.cancel()
        with pytest.raises((ValueError, asyncio.CancelledError)):
            await first
        return await second

    assert asyncio.run(ask()) == ("second", True)


def test_a_waiter_that_is_cancelled_leaves_the_call_to_the_others() -> None:
    async def ask() -> tuple[str, bool]:
        calls, go = CallsInFlight[str](lambda _: None), asyncio.Event()

        async def make() -> str:
            await go.wait()
            return "made"

        first = asyncio.create_task(calls.share("a", make))
        await asyncio.sleep(0)
        waiter = asyncio.create_task(calls.share("a", make))
        await asyncio.sleep(0)
        waiter.cancel()
        await asyncio.gather(waiter, return_exceptions=True)
        go.set()
        return await first

    assert asyncio.run(ask()) == ("made", True)
