"""Counts of exchanges by day: they say what counting the rows says, on both databases, also for what came before them."""

import random
from datetime import timedelta

import pytest
from msgspec import structs

from areopage.ledger.exchange_days import is_of_days
from areopage.ledger.exchanges import Exchanges
from areopage.ledger.gate_records import Exchange, ExchangeFilter
from areopage.ledger.store import Ledger

from .test_exchanges_store import EVERY, METRICS, NOW, decided, exchange

MIDNIGHT = NOW.replace(hour=0, minute=0, second=0, microsecond=0)
A_MOMENT = timedelta(microseconds=1)
FILTERS = (
    EVERY,
    ExchangeFilter(since=MIDNIGHT),
    ExchangeFilter(until=MIDNIGHT),
    ExchangeFilter(since=MIDNIGHT, until=MIDNIGHT + timedelta(days=1)),
    ExchangeFilter(since=MIDNIGHT - timedelta(days=1), origins=("chat",)),
    ExchangeFilter(since=MIDNIGHT, collection="actes", verdict="human_review"),
    ExchangeFilter(since=MIDNIGHT + timedelta(days=1), until=MIDNIGHT),
)


def some() -> list[Exchange]:
    """Exchanges of four days, at their edges too, of every kind."""
    draw = random.Random(7)
    made = []
    for number in range(1, 81):
        verdict = draw.choice(("deliver", "fallback", "human_review"))
        edge = draw.choice((timedelta(), -2 * A_MOMENT, timedelta(hours=draw.randrange(24))))
        codes = () if verdict == "deliver" else ("unsupported_figure", "unknown_citation", "unsupported_figure")
        made.append(
            exchange(
                number,
                at=MIDNIGHT + timedelta(days=draw.randrange(-1, 3)) + edge,
                origin=draw.choice(("chat", "check", "import")),
                collection=draw.choice(("faq", "actes")),
                verdict=verdict,
                decision=None if draw.random() < 0.1 else decided(verdict, *codes[: draw.randrange(4)]),
                metrics=METRICS | {"confidence": draw.choice((None, 0.0, 0.61, 1.0))},
                p_unsupported=draw.choice((None, 0.0, 0.5, 1.0)),
                response_lang=draw.choice(("fr", "en", "")),
            )
        )
    return made


def same_of_rows(filter: ExchangeFilter) -> ExchangeFilter:
    """A filter that lets the same rows through, and that only the rows themselves can answer."""
    since = filter.since or MIDNIGHT - timedelta(days=30)
    found = structs.replace(filter, since=since - A_MOMENT)
    assert not is_of_days(found)
    return found


def test_days_say_what_rows_say(ledger: Ledger) -> None:
    store = Exchanges(ledger)
    given = some()
    for at in range(0, len(given), 7):
        store.add(given[at : at + 9])  # some of them come twice
    for filter in FILTERS:
        assert is_of_days(filter)
        assert store.summary(filter) == store.summary(same_of_rows(filter)), filter
    assert store.summary(EVERY).exchanges == len(given)


@pytest.mark.parametrize(
    "filter",
    [ExchangeFilter(since=NOW), ExchangeFilter(until=NOW), ExchangeFilter(question="?"), ExchangeFilter(unlabelled=True)],
)
def test_parts_of_days_and_questions_are_counted_in_the_rows(filter: ExchangeFilter) -> None:
    assert not is_of_days(filter)
