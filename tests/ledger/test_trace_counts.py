"""Counts of traces by day: they say what counting the rows says, on both databases, and they can be formed anew."""

import random
from datetime import timedelta
from typing import Any

import pytest
from msgspec import structs
from sqlalchemy import select, text

from areopage.ledger.read.queries import TraceFilter
from areopage.ledger.read.trace_counts import is_of_days
from areopage.ledger.store import Ledger
from areopage.ledger.tables.schema import days
from areopage.ledger.tables.trace_records import Trace
from areopage.ledger.write.traces import Traces

from .test_traces_store import EVERY, METRICS, NOW, decided, trace

MIDNIGHT = NOW.replace(hour=0, minute=0, second=0, microsecond=0)
A_MOMENT = timedelta(microseconds=1)
FILTERS = (
    EVERY,
    TraceFilter(since=MIDNIGHT),
    TraceFilter(until=MIDNIGHT),
    TraceFilter(since=MIDNIGHT, until=MIDNIGHT + timedelta(days=1)),
    TraceFilter(since=MIDNIGHT - timedelta(days=1), channels=("chat",)),
    TraceFilter(since=MIDNIGHT, collection="actes", verdict="human_review"),
    TraceFilter(since=MIDNIGHT + timedelta(days=1), until=MIDNIGHT),
)


def some() -> list[Trace]:
    """Traces of four days, at their edges too, of every kind."""
    draw = random.Random(7)
    made = []
    for number in range(1, 81):
        verdict = draw.choice(("deliver", "fallback", "human_review"))
        edge = draw.choice((timedelta(), -2 * A_MOMENT, timedelta(hours=draw.randrange(24))))
        codes = () if verdict == "deliver" else ("unsupported_figure", "unknown_citation", "unsupported_figure")
        made.append(
            trace(
                number,
                at=MIDNIGHT + timedelta(days=draw.randrange(-1, 3)) + edge,
                channel=draw.choice(("chat", "check", "import")),
                collection=draw.choice(("faq", "actes")),
                verdict=verdict,
                decision=None if draw.random() < 0.1 else decided(verdict, *codes[: draw.randrange(4)]),
                metrics=METRICS | {"confidence": draw.choice((None, 0.0, 0.61, 1.0))},
                p_unsupported=draw.choice((None, 0.0, 0.5, 1.0)),
                language=draw.choice(("fr", "en", "")),
            )
        )
    return made


def same_of_rows(filter: TraceFilter) -> TraceFilter:
    """A filter that lets the same rows through, and that only the rows themselves can answer."""
    since = filter.since or MIDNIGHT - timedelta(days=30)
    found = structs.replace(filter, since=since - A_MOMENT)
    assert not is_of_days(found)
    return found


def test_days_say_what_rows_say(ledger: Ledger) -> None:
    store = Traces(ledger)
    given = some()
    for at in range(0, len(given), 7):
        store.append(given[at : at + 9])  # some of them come twice
    for filter in FILTERS:
        assert is_of_days(filter)
        assert store.summary(filter) == store.summary(same_of_rows(filter)), filter
    assert store.summary(EVERY).traces == len(given)


def test_days_are_formed_anew_from_the_decisions(ledger: Ledger) -> None:
    store = Traces(ledger)
    store.append(some())
    ledger.erasure.erase([one.id for one in some()[:20]], and_wipe=False)
    before = rows_of(ledger)
    assert before
    with ledger.engine.begin() as connection:
        connection.execute(text("DELETE FROM days WHERE kind = 'mode' OR count > 1"))
    ledger.caches.rebuild_days()
    assert rows_of(ledger) == before
    assert store.append([trace(1000)]) == 1
    assert store.summary(EVERY).traces == len(some()) + 1


def rows_of(ledger: Ledger) -> list[tuple[Any, ...]]:
    with ledger.engine.connect() as connection:
        return sorted(tuple(row) for row in connection.execute(select(days)))


@pytest.mark.parametrize(
    "filter",
    [TraceFilter(since=NOW), TraceFilter(until=NOW), TraceFilter(prompt="?"), TraceFilter(unlabelled=True)],
)
def test_parts_of_days_and_questions_are_counted_in_the_rows(filter: TraceFilter) -> None:
    assert not is_of_days(filter)
