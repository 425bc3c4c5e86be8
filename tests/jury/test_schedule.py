"""Concurrent calls: never more at once than allowed, in order, and the first fault stops them."""

import asyncio
from collections.abc import Iterator

import pytest

from areopage.errors import CallRejected, CallUnreachable, ModelError, ServerDown, StorageError, UserError
from areopage.jury.schedule import FailureStreak, run_concurrently


@pytest.mark.parametrize("concurrency", [1, 3, 50])
def test_never_more_than_so_many_are_in_flight_and_all_is_done_in_order(concurrency: int) -> None:
    flying, most = 0, 0
    begun: list[int] = []

    async def do(piece: int) -> None:
        nonlocal flying, most
        begun.append(piece)
        flying += 1
        most = max(most, flying)
        await asyncio.sleep(0.001 * (piece % 3))
        flying -= 1

    asyncio.run(run_concurrently("x", range(40), do, concurrency))
    assert begun == list(range(40))
    assert most == min(concurrency, 40)


def test_work_is_taken_as_it_is_done_and_no_earlier() -> None:
    taken = 0

    def work() -> Iterator[int]:
        nonlocal taken
        for piece in range(1000):
            taken += 1
            yield piece

    async def do(piece: int) -> None:
        await asyncio.sleep(0)
        assert taken <= piece + 4
        if piece == 20:
            raise ServerDown("gone")

    with pytest.raises(ServerDown, match="gone"):
        asyncio.run(run_concurrently("x", work(), do, 4))
    assert taken < 40


def test_no_work_is_done_at_once() -> None:
    async def do(piece: int) -> None:
        raise AssertionError(piece)

    asyncio.run(run_concurrently("x", [], do, 4))


@pytest.mark.parametrize(
    ("fault", "kind", "message"),
    [
        (CallUnreachable("refused", unconnected=True), ServerDown, "judge: refused"),
        (CallRejected("no key", status=401), ModelError, "judge: no key"),
        (ServerDown("20 calls in a row"), ServerDown, "20 calls in a row"),
        (StorageError("disk full"), StorageError, "disk full"),
        (ZeroDivisionError("a bug"), ZeroDivisionError, "a bug"),
    ],
)
def test_the_first_fault_stops_the_work_and_says_what_to_do(fault: Exception, kind: type[Exception], message: str) -> None:
    done: list[int] = []

    async def do(piece: int) -> None:
        if piece == 2:
            raise fault
        await asyncio.sleep(30 if piece > 2 else 0)
        done.append(piece)

    with pytest.raises(kind) as caught:
        asyncio.run(run_concurrently("judge", range(100), do, 2))
    assert (str(caught.value), type(caught.value)) == (message, kind)
    assert done == [0, 1]


def test_what_the_user_can_mend_goes_before_what_followed_from_it() -> None:
    async def do(piece: int) -> None:
        try:
            await asyncio.sleep(0 if piece == 0 else 10)
        except asyncio.CancelledError:
            raise (StorageError("disk full") if piece == 2 else CallRejected("cut off")) from None
        raise CallUnreachable("reset")

    with pytest.raises(UserError, match="disk full"):
        asyncio.run(run_concurrently("x", range(4), do, 4))


def test_an_interrupt_is_not_swallowed() -> None:
    async def do(piece: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(run_concurrently("x", range(4), do, 2))


def test_a_cancellation_is_not_lost_where_calls_fail_at_the_same_moment() -> None:
    async def do(piece: int) -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            raise CallUnreachable("reset") from None

    async def cancelled() -> bool:
        work = asyncio.create_task(run_concurrently("x", range(4), do, 2))
        await asyncio.sleep(0.01)
        work.cancel()
        await asyncio.wait([work], timeout=5)
        return work.cancelled()

    assert asyncio.run(cancelled())


def test_cancelling_the_work_cancels_its_calls() -> None:
    ended: list[int] = []

    async def do(piece: int) -> None:
        try:
            await asyncio.sleep(30)
        finally:
            ended.append(piece)

    async def scenario() -> None:
        work = asyncio.create_task(run_concurrently("x", range(9), do, 3))
        await asyncio.sleep(0.01)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(scenario())
    assert sorted(ended) == [0, 1, 2]


def test_so_many_failures_in_a_row_stop_the_run_and_one_success_begins_anew() -> None:
    watch = FailureStreak(limit=3)
    for reached in (False, False, True, False, False):
        watch.note("judge", "502", reached=reached, turned_away=False)
    with pytest.raises(ServerDown, match=r"judge: 3 calls in a row failed \(502\)"):
        watch.note("judge", "502", reached=False, turned_away=False)


def test_a_server_that_answers_no_call_in_time_is_given_up_after_a_few() -> None:
    watch = FailureStreak(concurrency=8, limit=20)
    for _ in range(7):
        watch.note("judge", "no answer within 300 s", reached=True, turned_away=False, timed_out=True)
    with pytest.raises(ServerDown, match=r"judge: 8 calls in a row timed out: .* \(no answer within 300 s\)"):
        watch.note("judge", "no answer within 300 s", reached=True, turned_away=False, timed_out=True)


def test_a_server_that_has_answered_may_be_slow_for_longer() -> None:
    watch = FailureStreak(concurrency=8, limit=20)
    watch.note("judge", "", reached=True, turned_away=False)
    for _ in range(19):
        watch.note("judge", "late", reached=True, turned_away=False, timed_out=True)
    with pytest.raises(ServerDown, match="20 calls in a row timed out"):
        watch.note("judge", "late", reached=True, turned_away=False, timed_out=True)


def test_calls_that_are_turned_away_stop_a_run_only_while_none_has_succeeded() -> None:
    watch = FailureStreak(limit=2)
    watch.note("judge", "", reached=True, turned_away=False)
    for _ in range(5):
        watch.note("judge", "filtered", reached=True, turned_away=True)
    from_the_start = FailureStreak(limit=2)
    from_the_start.note("judge", "bad option", reached=True, turned_away=True)
    with pytest.raises(ServerDown, match="2 calls in a row failed"):
        from_the_start.note("judge", "bad option", reached=True, turned_away=True)
