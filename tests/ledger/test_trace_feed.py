"""What exports of traces read: nothing is passed over, and every text that goes is noted."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from areopage.ledger.store import Ledger
from areopage.ledger.tables.trace_records import Release
from areopage.ledger.write.storage import reduced_trace
from areopage.ledger.write.traces import TraceFeed, Traces, insert_traces
from servers import PATIENCE
from servers.made_traces import NOW, delivered_trace, held_trace, trace_id


def ids_after(feed: TraceFeed, after: int) -> list[str]:
    return [one.id for part in feed.traces(after, feed.end().answer) for one in part]


def test_traces_come_in_order_and_in_portions(ledger: Ledger) -> None:
    feed = TraceFeed(ledger)
    given = [delivered_trace(number) for number in range(450)]
    Traces(ledger).append([held_trace(998, channel="check"), *given, held_trace(999, channel="import")])
    assert ids_after(feed, 0) == [one.id for one in given]
    numbers = feed.numbers([trace_id(number) for number in (440, 449, 998, 12345)])
    assert numbers.keys() == {trace_id(440), trace_id(449)}
    assert ids_after(feed, numbers[trace_id(440)]) == [trace_id(number) for number in range(441, 450)]
    assert len(list(feed.current([trace_id(number) for number in range(450)]))) == 450


def test_erased_and_reduced_texts_are_changes(ledger: Ledger) -> None:
    feed = TraceFeed(ledger)
    Traces(ledger).append([held_trace(1, prompt="a"), held_trace(2, prompt="b"), delivered_trace(3), delivered_trace(4)])
    assert feed.end().change == 0
    ledger.erasure.erase([trace_id(3)])
    assert feed.changed(0, feed.end().change) == {trace_id(3)}
    middle = feed.end().change
    Traces(ledger).settle(Release(answer_id=trace_id(1), state="refused", at=NOW), lambda one: reduced_trace(one, "none", 1))
    assert feed.changed(middle, feed.end().change) == {trace_id(1)}
    ledger.erasure.erase_before(NOW + timedelta(minutes=4))
    assert feed.changed(middle, feed.end().change) == {trace_id(1), trace_id(2)}
    assert [(one.id, one.erased) for one in feed.current([trace_id(3), trace_id(4)])] == [
        (trace_id(3), True),
        (trace_id(4), False),
    ]


def test_a_trace_whose_commit_comes_late_is_not_passed_over(location: str, open_ledger: Callable[[str | Path], Ledger]) -> None:
    """PostgreSQL gives the lower number to the transaction that began first, whichever commits first."""
    ledger, other = open_ledger(location), open_ledger(location)
    feed, seen = TraceFeed(ledger), list[str]()
    last = 0
    with other.engine.connect() as late:
        if late.dialect.name == "sqlite":
            late.exec_driver_sql("BEGIN IMMEDIATE")
        insert_traces(late, [delivered_trace(1)])
        if late.dialect.name == "postgresql":
            Traces(ledger).append([delivered_trace(2, collection="other")])
        reading = threading.Thread(target=lambda: seen.extend(ids_after(feed, last)))
        reading.start()
        time.sleep(0.2)
        late.commit()
    reading.join(PATIENCE)
    if ledger.engine.dialect.name == "sqlite":  # nobody else writes meanwhile: what is seen is complete up to there
        assert seen in ([], [trace_id(1)])
    else:
        assert seen == [trace_id(1), trace_id(2)]
