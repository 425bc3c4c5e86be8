"""Traces, their labels and releases, on both databases."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from areopage.cases.records import Document
from areopage.gate.records import Decision, Metrics, Place, Reason, SentenceCheck
from areopage.ledger.people.labels import Labels, ReviewQueue, agreed
from areopage.ledger.read.queries import TraceFilter
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import GROUNDED, GROUNDING, Grounded, Label, ReviewItem
from areopage.ledger.tables.trace_records import Release, Trace
from areopage.ledger.write.traces import PORTION, Traces
from servers.made_traces import made_trace

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
EVERY = TraceFilter()
METRICS: dict[str, float | bool | int | None] = {
    "avg_score": 0.75,
    "confidence": 0.6,
    "cites_ok": True,
    "overlap_ratio": 0.2,
    "hallucination": False,
    "quality_pass": True,
    "escalate": False,
    "num_sources": 1,
}


def id_of(number: int) -> str:
    return f"{number:032x}"


def decided(verdict: str = "deliver", *codes: str) -> Decision:
    words = "Le délai est de 10 jours."
    place = Place(start=0, end=len(words), text=words)
    return Decision(
        verdict=verdict,  # type: ignore[arg-type]
        needs_judge=False,
        p_unsupported=0.25,
        metrics=Metrics(**METRICS),  # type: ignore[arg-type]
        sentences=(SentenceCheck(start=0, end=len(words), text=words, claim=True, p_unsupported=0.25, document="d"),),
        signals=(),
        reasons=tuple(Reason(code=code, decisive=True, place=place) for code in codes),  # type: ignore[arg-type]
        profile="default",
        version="v",
    )


def trace(number: int = 1, **fields: Any) -> Trace:
    verdict = fields.get("verdict", "deliver")
    known: dict[str, Any] = {
        "id": id_of(number),
        "at": NOW + timedelta(minutes=number),
        "channel": "chat",
        "collection": "faq",
        "sources_filter": ("site",),
        "prompt": "Quel délai ?",
        "response": "Le délai est de 10 jours.",
        "delivered": "Le délai est de 10 jours.",
        "documents": (Document(id="d", text="Un délai de 10 jours.", score=0.75, metadata={"page": 2}),),
        "verdict": verdict,
        "mode": {"deliver": "generated"}.get(verdict, verdict),
        "decision": decided(verdict),
        "metrics": METRICS,
        "p_unsupported": 0.25,
        "language": "fr",
        "model": "fake:m",
        "profile": "default",
        "version": "v",
        "session": "s1",
        "api_key": "site",
        "seconds": 1.5,
        "gate_seconds": 0.001,
    }
    return made_trace(**known | fields)


def held(number: int = 1, **fields: Any) -> Trace:
    given: dict[str, Any] = {
        "verdict": "human_review",
        "delivered": "",
        "decision": decided("human_review", "unsupported_figure"),
    }
    return trace(number, **given | fields)


def label(number: int = 1, rater: str = "Anne", grounded: Grounded = "no", *sentences: int, note: str = "") -> Label:
    score = float(GROUNDED.index(grounded))
    shared: dict[str, Any] = {"sentences": sentences, "note": note, "origin": "cli", "created_at": NOW}
    return Label(answer_id=id_of(number), rater=rater, criterion=GROUNDING, score=score, **shared)


def test_a_trace_comes_back_as_it_was(ledger: Ledger) -> None:
    store = Traces(ledger)
    given = [trace(1), held(2), trace(3, channel="import", decision=None, p_unsupported=None, documents=())]
    assert store.append(given) == 3
    for one in given:
        found = store.get(one.id)
        assert found is not None
        assert structs.replace(found, answer=structs.replace(found.answer, number=0)) == one
    assert store.get("nobody") is None
    assert store.append([]) == 0


def test_an_id_that_is_there_stays_as_it_is(ledger: Ledger) -> None:
    store = Traces(ledger)
    assert store.append([trace(1), trace(1, prompt="Again?")]) == 1
    assert store.append([trace(1, prompt="Later?"), trace(2)]) == 1
    found = store.get(id_of(1))
    assert found is not None
    assert found.prompt == "Quel délai ?"
    assert store.summary(EVERY).traces == 2


def test_texts_that_no_database_takes_are_mended(ledger: Ledger) -> None:
    odd = "a\x00b\ud800c"
    document = Document(id="d", text=odd, title=odd, metadata={odd: odd})
    Traces(ledger).append([trace(1, prompt=odd, response=odd, documents=(document,), session=odd, collection="x" * 300)])
    found = Traces(ledger).get(id_of(1))
    assert found is not None
    assert found.prompt == "a\ufffdb\ufffdc"
    assert found.documents[0].text == "a\ufffdb\ufffdc"
    assert found.collection == "x" * 128


def test_the_newest_come_first_page_by_page(ledger: Ledger) -> None:
    store = Traces(ledger)
    # an import brings old ones later: they have their place in time
    store.append([trace(number) for number in (5, 6, 7, 1, 2)])
    first = store.list(EVERY, limit=2)
    assert [one.id for one in first] == [id_of(7), id_of(6)]
    assert [one.id for one in store.list(EVERY, limit=9, before=first[-1].answer.number)] == [id_of(5), id_of(2), id_of(1)]
    assert store.list(EVERY, before=10_000) == []


FILTERS: list[tuple[TraceFilter, list[int]]] = [
    (TraceFilter(), [1, 2, 3, 4]),
    (TraceFilter(since=NOW + timedelta(minutes=2)), [2, 3, 4]),
    (TraceFilter(until=NOW + timedelta(minutes=2)), [1]),
    (TraceFilter(channels=("check", "import")), [3, 4]),
    (TraceFilter(verdict="human_review"), [2]),
    (TraceFilter(collection="other"), [3]),
    (TraceFilter(prompt="  quel   DÉLAI ? "), [1, 2, 3]),
    (TraceFilter(unlabelled=True), [1, 3, 4]),
    (TraceFilter(unlabelled=True, channels=("chat",), collection="faq"), [1]),
]


def test_a_filter_holds_for_lists_streams_and_counts(ledger: Ledger) -> None:
    store = Traces(ledger)
    refused = trace(4, channel="import", prompt="Autre ?", verdict="fallback", decision=decided("fallback", "not_relevant"))
    store.append([trace(1), held(2), trace(3, channel="check", collection="other"), refused])
    Labels(ledger).add([label(2)])
    for asked, expected in FILTERS:
        assert sorted(one.id for one in store.list(asked)) == [id_of(number) for number in expected], asked
        assert [one.id for one in store.each(asked)] == [id_of(number) for number in expected], asked
        assert store.count(asked) == len(expected), asked
        found = store.summary(asked)
        assert found.traces == len(expected), asked
        assert sum(found.reasons.values()) == len({2, 4} & set(expected)), asked
        assert found.labelled == (1 if 2 in expected else 0), asked


def test_a_stream_is_read_in_portions(ledger: Ledger) -> None:
    store = Traces(ledger)
    store.append([trace(number) for number in range(1, 402)])
    assert [one.answer.number for one in store.each(EVERY)] == sorted(one.answer.number for one in store.list(EVERY, limit=500))


def test_a_summary_counts_what_is_there(ledger: Ledger) -> None:
    store = Traces(ledger)
    twice = decided("human_review", "unsupported_figure", "unsupported_figure", "unsupported_sentence")
    store.append(
        [
            trace(1),
            trace(2, metrics={**METRICS, "confidence": 1.0}, p_unsupported=0.0, language="en"),
            trace(3, metrics={"avg_score": None}, p_unsupported=None, mode="shadow"),
            held(4, decision=twice),
        ]
    )
    for given in (label(1, "Anne", "no"), label(1, "Anne", "yes"), label(2, "Anne", "partly"), label(4, "Anne", "no")):
        Labels(ledger).add([given])
    found = store.summary(EVERY)
    assert found.verdicts == {"deliver": 3, "human_review": 1}
    assert found.modes == {"generated": 2, "shadow": 1, "human_review": 1}
    assert found.languages == {"fr": 3, "en": 1}
    assert found.reasons == {"unsupported_figure": 1, "unsupported_sentence": 1}
    assert (len(found.confidences), found.confidences[12], found.confidences[19], sum(found.confidences)) == (20, 2, 1, 3)
    assert (len(found.p_unsupported), found.p_unsupported[0], found.p_unsupported[5], sum(found.p_unsupported)) == (20, 1, 2, 3)
    assert (found.labelled, found.ungrounded_delivered) == (3, 1)
    empty = store.summary(TraceFilter(collection="nothing"))
    assert (empty.traces, empty.verdicts, empty.reasons, sum(empty.confidences)) == (0, {}, {}, 0)


@pytest.mark.parametrize(
    ("words", "together"),
    [
        (("yes",), "yes"),
        (("yes", "no"), "no"),
        (("yes", "partly"), "partly"),
        (("yes", "yes", "no"), "yes"),
        (("no", "partly", "yes"), "no"),
    ],
)
def test_raters_agree_by_majority_and_of_two_words_the_worse_holds(words: tuple[Grounded, ...], together: str) -> None:
    assert agreed([label(1, str(at), word) for at, word in enumerate(words)])[0] == together


def test_a_sentence_counts_that_half_of_the_raters_marked() -> None:
    assert agreed([label(1, "A", "no", 0, 2), label(1, "B", "no", 2), label(1, "C", "partly", 1, 2)])[1] == (2,)
    assert agreed([label(1, "A", "no", 0), label(1, "B", "no", 2)])[1] == (0, 2)


# --- held back


def test_what_is_held_back_joins_the_queue_unless_imported(ledger: Ledger) -> None:
    Traces(ledger).append(
        [trace(1), held(2), held(3, channel="import"), held(4, channel="check", prompt="Combien ?"), held(5, mode="shadow")]
    )
    queued = ReviewQueue(ledger).open_items()
    assert [(one.answer_id, one.why, one.wanted) for one in queued] == [
        (id_of(2), "held", 1),
        (id_of(4), "held", 1),
        (id_of(5), "held", 1),
    ]
    assert queued[0].created_at == NOW + timedelta(minutes=2)


def test_a_held_back_answer_waits_until_somebody_settles_it_once(ledger: Ledger) -> None:
    store = Traces(ledger)
    store.append([trace(1), held(2), held(3, mode="shadow"), held(4, channel="import")])
    assert store.release(id_of(2)) == Release(answer_id=id_of(2), state="waiting")
    given = Release(answer_id=id_of(2), state="released", text="Dix jours.", rater="Anne", at=NOW)
    assert store.settle(given)
    assert store.release(id_of(2)) == given
    assert not store.settle(Release(answer_id=id_of(2), state="refused", rater="Bruno", at=NOW))
    assert store.release(id_of(2)) == given
    for other in (id_of(1), id_of(3), id_of(4), "nobody"):  # nothing waits: delivered, in shadow, imported, unknown
        assert store.release(other) is None
        assert not store.settle(Release(answer_id=other, state="released", text="x", rater="Anne", at=NOW))


def test_settling_puts_what_stays_of_the_texts_in_their_place(ledger: Ledger) -> None:
    store = Traces(ledger)
    store.append([held(1)])
    kept = held(1, prompt="", response="", documents=())
    assert store.settle(Release(answer_id=id_of(1), state="refused", at=NOW), lambda _: kept)
    found = store.get(id_of(1))
    assert found is not None
    assert (found.prompt, found.response, found.documents, found.erased) == ("", "", (), False)
    assert store.list(TraceFilter(prompt="Quel délai ?")) == [found]


def test_of_two_who_settle_at_once_one_does(ledger: Ledger) -> None:
    store = Traces(ledger)
    store.append([held(number, prompt=f"{number} ?") for number in range(1, 7)])
    for number in range(1, 7):
        start, won = threading.Barrier(2), list[int]()

        def decide(rater: str, number: int = number, start: threading.Barrier = start, won: list[int] = won) -> None:
            start.wait()
            won.append(store.settle(Release(answer_id=id_of(number), state="released", text=rater, rater=rater, at=NOW)))

        both = [threading.Thread(target=decide, args=(rater,)) for rater in ("Anne", "Bruno")]
        for one in both:
            one.start()
        for one in both:
            one.join()
        assert sorted(won) == [0, 1]


def test_an_item_is_done_when_it_is_labelled_and_its_answer_does_not_wait(ledger: Ledger) -> None:
    store, queue = Traces(ledger), ReviewQueue(ledger)
    store.append([held(1), held(2, prompt="Combien ?"), held(3, mode="shadow")])
    Labels(ledger).add([label(1)])
    assert [one.answer_id for one in queue.open_items("Anne")] == [id_of(1), id_of(2), id_of(3)]
    store.settle(Release(answer_id=id_of(1), state="refused", at=NOW))
    store.settle(Release(answer_id=id_of(2), state="refused", at=NOW))
    assert [one.answer_id for one in queue.open_items()] == [id_of(2), id_of(3)]  # nobody labelled them yet
    Labels(ledger).add([label(2)])
    Labels(ledger).add([label(3)])
    assert queue.count_open() == 0


def test_of_several_raters_each_sees_what_he_has_not_labelled(ledger: Ledger) -> None:
    store, queue = Traces(ledger), ReviewQueue(ledger)
    queue.add([ReviewItem(answer_id=id_of(1), why="held", created_at=NOW, wanted=2)])
    store.append([held(1)])
    store.settle(Release(answer_id=id_of(1), state="refused", at=NOW))
    Labels(ledger).add([label(1, "Anne")])
    assert queue.open_items("Anne") == []
    assert len(queue.open_items("Bruno")) == 1
    Labels(ledger).add([label(1, "Bruno")])
    assert queue.open_items() == []


def test_each_trace_is_read_with_its_labels(ledger: Ledger) -> None:
    store = Traces(ledger)
    store.append([held(number) for number in range(1, PORTION + 3)])
    given = label(PORTION + 2, "Anne")
    Labels(ledger).add([given])
    read = [(one.id, list(labels)) for one, labels in store.each_labelled(EVERY)]
    assert read == [(id_of(number), [given] if number == PORTION + 2 else []) for number in range(1, PORTION + 3)]


def test_the_latest_label_of_each_rater_counts(ledger: Ledger) -> None:
    store = Traces(ledger)
    store.append([held(1), held(2)])
    given = [label(1, "Anne", "no", 0, note="faux"), label(1, "Bruno", "partly"), label(1, "Anne", "yes")]
    for one in given:
        Labels(ledger).add([one])
    assert Labels(ledger).grounding([id_of(1), id_of(2)]) == {id_of(1): [given[2], given[1]]}


# --- erased


def test_erasing_leaves_the_counts_and_not_a_word(ledger: Ledger) -> None:
    store = Traces(ledger)
    store.append([held(1), held(2)])
    Labels(ledger).add([label(1, "Anne", "no", 0, note="secret")])
    before = store.summary(EVERY)
    assert ledger.erasure.erase([id_of(1)])
    assert not ledger.erasure.erase([id_of(1)])
    assert not ledger.erasure.erase(["nobody"])
    assert store.summary(EVERY) == before
    found = store.get(id_of(1))
    assert found is not None
    assert found.erased
    assert (found.prompt, found.response, found.answer.delivered, found.answer.session, found.documents) == ("", "", "", "", ())
    assert found.decision is None
    assert found.metrics == METRICS
    assert [one.note for one in Labels(ledger).grounding([id_of(1)])[id_of(1)]] == [""]
    assert [one.id for one in store.list(TraceFilter(prompt="Quel délai ?"))] == [id_of(2)]
    assert [one.answer_id for one in ReviewQueue(ledger).open_items()] == [id_of(2)]
    refused = store.release(id_of(1))
    assert refused is not None
    assert (refused.state, refused.text) == ("refused", "")  # whoever asks for it is told that nothing comes


def test_what_was_released_stays_so_and_its_text_goes(ledger: Ledger) -> None:
    store = Traces(ledger)
    store.append([held(1)])
    store.settle(Release(answer_id=id_of(1), state="released", text="Dix jours.", rater="Anne", at=NOW))
    assert ledger.erasure.erase([id_of(1)])
    found = store.release(id_of(1))
    assert found is not None
    assert (found.state, found.text) == ("released", "")


def test_old_traces_lose_their_texts(ledger: Ledger) -> None:
    store = Traces(ledger)
    today = datetime.now(UTC)
    store.append([trace(number, at=today - timedelta(days=31)) for number in range(1, 404)])
    store.append([trace(1000, at=today - timedelta(days=29))])
    assert ledger.erasure.erase_before(today - timedelta(days=30)) == 403
    assert ledger.erasure.erase_before(today - timedelta(days=30)) == 0
    assert [one.id for one in store.each(EVERY) if not one.erased] == [id_of(1000)]
    assert store.count(EVERY) == 404


def test_not_a_byte_of_an_erased_trace_stays_in_the_files(tmp_path: Path, open_ledger: Callable[[str | Path], Ledger]) -> None:
    ledger = open_ledger(tmp_path / "l.db")
    store = Traces(ledger)
    word = "Quintessence"
    long = f"{word} " * 2000
    document = Document(id="d", text=long, title=word)
    store.append([held(1, prompt=word, response=long, delivered=word, documents=(document,), session=word), trace(2)])
    Labels(ledger).add([label(1, note=word)])
    store.settle(Release(answer_id=id_of(1), state="released", text=long, rater="Anne", at=NOW))
    assert ledger.erasure.erase([id_of(1)])
    for path in tmp_path.iterdir():
        assert word.encode() not in path.read_bytes(), path


def test_lists_and_counts_read_indexes(tmp_path: Path, open_ledger: Callable[[str | Path], Ledger]) -> None:
    """SQLite's plan says so: no count goes through the table itself."""
    from sqlalchemy import event

    ledger = open_ledger(tmp_path / "l.db")
    said: list[tuple[str, Any]] = []
    event.listen(ledger.engine, "before_cursor_execute", lambda *call: said.append((call[2], call[3])))
    Traces(ledger).summary(TraceFilter(since=NOW, until=NOW, channels=("chat",), collection="faq"))
    Traces(ledger).summary(TraceFilter(since=NOW))
    Traces(ledger).list(TraceFilter(verdict="fallback"))
    Traces(ledger).list(EVERY)
    plans = []
    with ledger.engine.connect() as connection:
        for statement, parameters in list(said):
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
            plans.append(" / ".join(row[3] for row in rows))
    for counted in (plans[0], plans[3]):
        assert counted == "SCAN decisions USING COVERING INDEX ix_decisions_figures"
    assert not any("SCAN decisions" in plan and "INDEX" not in plan for plan in plans)
    assert not any("USE TEMP B-TREE FOR ORDER BY" in plan for plan in plans[-2:])
