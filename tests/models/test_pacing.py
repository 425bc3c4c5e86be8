"""Calls spaced to limits a minute; moments are given, so no test here takes time."""

import asyncio
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.errors import CallUnreachable
from areopage.models.limits import LONGEST_HOLD, Limiter, Pacer
from areopage.models.rate_headers import Allowance, allowances, seconds_of
from areopage.models.retry import Calls
from servers.simulated_loop import SimulatedLoop

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


def begun_in_a_minute(moments: Sequence[float]) -> int:
    """The most calls that begin in any minute."""
    return max(sum(start <= moment < start + 60 for moment in moments) for start in moments)


def test_without_limits_calls_begin_at_once() -> None:
    pacer = Pacer()
    assert [pacer.reserve(1e6, 5.0) for _ in range(100)] == [5.0] * 100


@given(st.floats(1, 10_000), st.lists(st.floats(0, 20), min_size=1, max_size=200))
def test_no_minute_has_more_requests_than_the_limit(limit: float, gaps: list[float]) -> None:
    pacer, now, moments = Pacer(requests_per_minute=limit), 100.0, list[float]()
    for gap in gaps:
        now += gap
        moments.append(pacer.reserve(0.0, now))
        assert moments[-1] >= now
    assert begun_in_a_minute(moments) <= limit + 1 + 1e-6


@given(st.floats(100, 1e6), st.lists(st.floats(1, 5000), min_size=1, max_size=150))
def test_no_minute_has_more_tokens_than_the_limit_and_one_call(limit: float, sizes: list[float]) -> None:
    pacer = Pacer(tokens_per_minute=limit)
    taken = [(pacer.reserve(size, 0.0), size) for size in sizes]
    for start, _ in taken:
        assert sum(size for moment, size in taken if start <= moment < start + 60) <= limit + max(sizes) + 1e-3


def test_tokens_that_a_call_used_beyond_its_estimate_delay_the_next_ones() -> None:
    pacer = Pacer(tokens_per_minute=600)
    assert pacer.reserve(100, 0.0) == 0.0
    pacer.correct(50)
    assert pacer.reserve(100, 0.0) == pytest.approx(15.0)
    pacer.correct(-100)
    assert pacer.reserve(100, 0.0) == pytest.approx(15.0)


def test_what_is_left_is_spread_over_the_time_until_the_reset() -> None:
    pacer = Pacer()
    pacer.note(Allowance(kind="requests", left=5, limit=100, seconds=10.0), now=0.0)
    assert [pacer.reserve(0, 0.0) for _ in range(4)] == [0.0, 2.0, 4.0, 6.0]
    pacer.note(Allowance(kind="requests", left=90, limit=100, seconds=1.0), now=6.0)
    assert pacer.reserve(0, 6.0) == 6.0


def test_where_nothing_is_left_calls_begin_at_the_reset_and_a_far_one_is_not_waited_for() -> None:
    pacer = Pacer()
    pacer.note(Allowance(kind="tokens", left=0, limit=1000, seconds=7.0), now=0.0)
    assert pacer.reserve(10, 0.0) == 7.0
    pacer.note(Allowance(kind="tokens", left=0, limit=1000, seconds=86_400.0), now=20.0)
    assert pacer.reserve(10, 20.0) == 20.0 + LONGEST_HOLD


def test_after_the_reset_nothing_is_spaced() -> None:
    pacer = Pacer()
    pacer.note(Allowance(kind="requests", left=1, seconds=10.0), now=0.0)
    assert [pacer.reserve(0, 11.0) for _ in range(3)] == [11.0] * 3


def test_a_server_with_a_limit_that_is_stated_is_never_asked_too_much() -> None:
    loop, turned_away, begun = SimulatedLoop(), list[float](), list[float]()
    calls = Calls(clock=loop.time, draw=random.Random(1).random, limiter=Limiter(pacer=Pacer(requests_per_minute=120)))

    async def ask() -> str:
        begun.append(loop.time())
        if sum(moment > loop.time() - 60 for moment in begun) > 121:
            turned_away.append(loop.time())
            raise CallUnreachable("429", retry_after=1.0)
        await asyncio.sleep(0.1)
        return "well"

    async def all_of_them() -> None:
        await asyncio.gather(*(calls.make(ask) for _ in range(600)))

    try:
        loop.run_until_complete(all_of_them())
    finally:
        loop.close()
    assert not turned_away
    assert loop.now == pytest.approx(300, abs=2)


# --- headers


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1s", 1.0), ("6m0s", 360.0), ("20ms", 0.02), ("1h2m3.5s", 3723.5), ("2d", 172_800.0), ("7.66s", 7.66)],
)
def test_durations_are_read(text: str, seconds: float) -> None:
    assert seconds_of(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "s", "5", "-1s", "1 s", "1y", "1s garbage", "٣s", "nan", "1" * 100 + "s"])
def test_what_is_no_duration_is_none(text: str) -> None:
    assert seconds_of(text) is None


def test_openai_headers_are_read() -> None:
    headers = {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "59",
        "x-ratelimit-reset-requests": "1s",
        "x-ratelimit-limit-tokens": "150000",
        "x-ratelimit-remaining-tokens": "149984",
        "x-ratelimit-reset-tokens": "6m0s",
    }
    assert allowances(headers, NOW) == (
        Allowance(kind="requests", left=59, limit=60, seconds=1.0),
        Allowance(kind="tokens", left=149_984, limit=150_000, seconds=360.0),
    )


def test_anthropic_headers_are_read_and_the_scarcest_of_each_kind_counts() -> None:
    headers = {
        "anthropic-ratelimit-tokens-remaining": "9000",
        "anthropic-ratelimit-tokens-limit": "10000",
        "anthropic-ratelimit-tokens-reset": "2026-05-04T12:00:10Z",
        "anthropic-ratelimit-output-tokens-remaining": "100",
        "anthropic-ratelimit-output-tokens-limit": "1000",
        "anthropic-ratelimit-output-tokens-reset": "2026-05-04T14:00:30+02:00",
        "anthropic-ratelimit-requests-remaining": "3",
        "anthropic-ratelimit-requests-reset": "2026-05-04T11:00:00Z",
    }
    assert allowances(headers, NOW) == (
        Allowance(kind="requests", left=3, seconds=0.0),
        Allowance(kind="tokens", left=100, limit=1000, seconds=30.0),
    )


NAMES = [f"x-ratelimit-{part}-{kind}" for part in ("remaining", "reset", "limit") for kind in ("requests", "tokens")]
VALUES = st.one_of(
    st.text(max_size=40), st.floats().map(str), st.integers().map(str), st.from_regex(r"[0-9]{1,3}(ms|s|m)", fullmatch=True)
)


@given(st.dictionaries(st.sampled_from(NAMES), VALUES), st.integers(0, 10**6))
def test_headers_that_cannot_be_read_are_ignored_and_never_hold_calls_for_long(headers: dict[str, str], ahead: int) -> None:
    pacer = Pacer()
    for allowance in allowances(headers, NOW + timedelta(seconds=ahead)):
        assert allowance.left >= 0 and allowance.seconds >= 0
        pacer.note(allowance, 0.0)
    assert pacer.reserve(1.0, 0.0) <= LONGEST_HOLD


@given(st.datetimes(timezones=st.just(UTC)))
def test_any_moment_as_in_rfc_3339_is_read(moment: datetime) -> None:
    headers = {
        "anthropic-ratelimit-requests-remaining": "1",
        "anthropic-ratelimit-requests-reset": moment.isoformat().replace("+00:00", "Z"),
    }
    (found,) = allowances(headers, NOW)
    assert found.seconds == max(0.0, (moment - NOW).total_seconds())
