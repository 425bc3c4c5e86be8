"""Equal answers that are held back: one item for the reviewer, one settlement for all who asked, on both databases."""

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from sqlalchemy import text

from areopage.cases.records import Document
from areopage.ledger.people.labels import Labels, ReviewQueue
from areopage.ledger.store import Ledger
from areopage.ledger.tables.trace_records import Release, Trace
from areopage.ledger.write.traces import Traces
from servers.forked import Forked
from servers.made_traces import NOW, grounding_label, held_trace, trace_id

LEFT_ALONE = """
WITH held AS (SELECT held_key, id FROM decisions JOIN answers ON answers.number = decisions.answer WHERE held_key != '')
SELECT count(*) FROM held WHERE id NOT IN (SELECT answer_id FROM releases) AND held_key NOT IN (
SELECT held_key FROM held JOIN review_items ON answer_id = id
WHERE id NOT IN (SELECT answer_id FROM releases) AND review_items.state = 'open')
"""
"""How many wait of which nobody will ever hear: no open item stands for them."""

SETTLE_FOREVER = """
import sys
from areopage.ledger.write.traces import Traces
from areopage.ledger.tables.trace_records import Release
from areopage.ledger.store import Ledger
store = Traces(Ledger.open(sys.argv[1]))
for group in range(40):
    store.settle(Release(answer_id=f"{group * 100 + 7:032x}", state="released", text="x", rater="Anne"))
    print(group, flush=True)
"""


def release(number: int, state: Any = "released", text: str = "Dix jours.") -> Release:
    return Release(answer_id=trace_id(number), state=state, text=text, rater="Anne", at=NOW)


def queued(ledger: Ledger) -> list[str]:
    return [one.answer_id for one in ReviewQueue(ledger).open_items(limit=1000)]


def left_alone(ledger: Ledger) -> int:
    with ledger.engine.connect() as connection:
        return int(connection.execute(text(LEFT_ALONE)).scalar_one())


def test_a_hundred_who_ask_the_same_wait_as_one_item_and_one_settlement_is_for_all(ledger: Ledger) -> None:
    store = Traces(ledger)
    store.append([held_trace(number) for number in range(1, 51)])
    for number in range(51, 101):
        store.append([held_trace(number, prompt="  quel DÉLAI ?\n", session=f"s{number}", api_key="other")])
    assert queued(ledger) == [trace_id(1)]
    assert ReviewQueue(ledger).count_open() == 1
    assert store.waiting([trace_id(1), trace_id(60), "nobody"]) == {trace_id(1): 100, trace_id(60): 100}
    Labels(ledger).add([grounding_label(1)])
    assert queued(ledger) == [trace_id(1)]
    assert store.settle(release(1)) == 100
    for number in range(1, 101):
        assert store.release(trace_id(number)) == release(number)
    assert store.settle(release(60, "refused")) == 0
    assert store.waiting([trace_id(1), trace_id(60)]) == {}
    assert queued(ledger) == []


DIFFERENT: list[dict[str, Any]] = [
    {"prompt": "Quel délai de paiement ?"},
    {"response": "Dix jours."},
    {"collection": "contracts"},
    {"version": "w"},
    {"documents": (Document(id="d1", text="Un délai de 11 jours."),)},
    {"mode": "shadow"},
]


def test_what_a_reviewer_could_tell_apart_is_an_item_of_its_own(ledger: Ledger) -> None:
    store = Traces(ledger)
    given = [held_trace(2 + number, **fields) for number, fields in enumerate(DIFFERENT)]
    store.append([held_trace(1), *given, held_trace(20)])
    assert queued(ledger) == [one.id for one in (held_trace(1), *given)]
    assert store.settle(release(1)) == 2
    assert [store.waiting([one.id]).get(one.id) for one in given] == [1, 1, 1, 1, 1, None]


def test_whoever_labels_one_of_them_has_labelled_all(ledger: Ledger) -> None:
    store = Traces(ledger)
    store.append([held_trace(1), held_trace(2), held_trace(3)])
    Labels(ledger).add([grounding_label(3)])
    assert store.settle(release(2)) == 3
    assert queued(ledger) == []


def test_one_that_comes_after_the_settlement_waits_anew(ledger: Ledger) -> None:
    store = Traces(ledger)
    store.append([held_trace(1)])
    store.settle(release(1, "refused", ""))
    store.append([held_trace(2), held_trace(3)])
    assert store.waiting([trace_id(2)]) == {trace_id(2): 2}
    assert queued(ledger) == [trace_id(1), trace_id(2)]  # the first one is still to be labelled
    assert store.settle(release(1)) == 0
    assert store.settle(release(3)) == 2


def test_the_item_goes_on_to_the_next_one_when_its_answer_is_erased(ledger: Ledger) -> None:
    store = Traces(ledger)
    store.append([held_trace(number) for number in range(1, 5)])
    ledger.erasure.erase([trace_id(1)], and_wipe=False)
    assert queued(ledger) == [trace_id(2)]
    ledger.erasure.erase([trace_id(3)], and_wipe=False)
    assert (queued(ledger), store.waiting([trace_id(2)])) == ([trace_id(2)], {trace_id(2): 2})
    assert store.settle(release(4)) == 2
    assert [one.state for number in (1, 3) if (one := store.release(trace_id(number)))] == ["refused", "refused"]


def test_what_stays_of_the_texts_holds_for_each_of_them(ledger: Ledger) -> None:
    store = Traces(ledger)
    store.append([held_trace(number, session=f"s{number}") for number in (1, 2)])

    def reduce(one: Trace) -> Trace:
        case = structs.replace(one.answer.case, prompt="", documents=())
        return structs.replace(one, answer=structs.replace(one.answer, case=case))

    assert store.settle(release(1), reduce) == 2
    for number in (1, 2):
        found = store.get(trace_id(number))
        assert found is not None
        assert (found.prompt, found.documents, found.answer.session) == ("", (), f"s{number}")


def test_those_who_ask_settle_and_erase_at_once_leave_nobody_waiting_alone(ledger: Ledger) -> None:
    store, start, count = Traces(ledger), threading.Barrier(4), 12
    failed: list[BaseException] = []

    def together(act: Callable[[int], object]) -> threading.Thread:
        def run() -> None:
            start.wait()
            try:
                for number in range(count):
                    act(number)
            except BaseException as fault:
                failed.append(fault)
                raise

        return threading.Thread(target=run)

    def add(first: int) -> Callable[[int], object]:
        return lambda number: store.append([held_trace(first + 2 * number), held_trace(first + 2 * number + 1)])

    threads = [
        together(add(1000)),
        together(add(2000)),
        together(lambda number: store.settle(release(1000 + 2 * number))),
        together(lambda number: ledger.erasure.erase([trace_id(2000 + 2 * number)], and_wipe=False)),
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert failed == []
    assert left_alone(ledger) == 0
    waiting = store.waiting([trace_id(first + number) for first in (1000, 2000) for number in range(2 * count)])
    with ledger.engine.connect() as connection:
        states = Counter(connection.execute(text("SELECT state FROM releases")).scalars())
    assert len(waiting) + states.total() == 4 * count
    assert set(waiting.values()) <= {len(waiting)}


def test_a_settlement_that_is_killed_settles_all_or_none(
    tmp_path: Path, open_ledger: Callable[[str | Path], Ledger], location: str
) -> None:
    ledger = open_ledger(location)
    store = Traces(ledger)
    store.append([held_trace(group * 100 + one, prompt=f"{group} ?") for group in range(40) for one in range(20)])
    process = Forked(SETTLE_FOREVER, location)
    for _ in range(5):
        process.stdout.readline()
    time.sleep(0.003)
    process.send_signal(signal.SIGKILL)
    acknowledged = 5 + len(process.communicate()[0].splitlines())
    left = [store.waiting([trace_id(group * 100)]).get(trace_id(group * 100), 0) for group in range(40)]
    assert set(left) <= {0, 20}
    assert left.count(0) in (acknowledged, acknowledged + 1)
    assert left_alone(ledger) == 0


@pytest.mark.parametrize("location", ["sqlite"], indirect=True)
def test_equals_are_looked_up_in_their_index(ledger: Ledger) -> None:
    """SQLite's plan says so: it does not depend on how many traces there are."""
    query = "SELECT answer FROM decisions WHERE held_key IN ('a', 'b') AND held_key != ''"
    with ledger.engine.connect() as connection:
        (plan,) = connection.execute(text(f"EXPLAIN QUERY PLAN {query}"))
    assert "ix_decisions_held" in str(plan)
