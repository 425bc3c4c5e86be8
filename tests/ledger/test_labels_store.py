"""The review queue and people's labels, on both databases."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from areopage.ledger.people.labels import Labels, ReviewQueue
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import GROUNDING, Judgment, Label, ReviewItem, Run, Verdict
from areopage.ledger.tables.trace_records import Release
from areopage.ledger.write.answers import Answers, Link
from areopage.ledger.write.traces import Traces
from areopage.scoring.outcome import Outcome, Scored, TimedOut
from server.samples import SAMPLES
from servers.evaluated import submitted
from servers.judged_answers import judged, run_of
from servers.made_traces import held_trace, trace_id

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
EXACT = "quality.answer.exactitude"


def item(id: str, *, wanted: int = 1, why: str = "sample") -> ReviewItem:
    return ReviewItem(answer_id=id, why=why, created_at=NOW, wanted=wanted)


def label(id: str, rater: str, score: float, criterion: str = EXACT, *, note: str = "", at: datetime = NOW) -> Label:
    return Label(answer_id=id, rater=rater, criterion=criterion, score=score, note=note, origin="cli", created_at=at)


def test_an_answer_is_queued_once_whatever_becomes_of_it(ledger: Ledger) -> None:
    queue = ReviewQueue(ledger)
    assert queue.add([item("a"), item("b"), item("a")]) == 2
    Labels(ledger).add([label("a", "Anne", 7)])
    assert queue.add([item("a", why="alert"), item("c")]) == 1
    found = queue.item("a")
    assert found is not None
    assert (found.why, found.state, found.created_at) == ("sample", "done", NOW)
    assert [one.answer_id for one in queue.open_items()] == ["b", "c"]
    assert queue.count_open() == 2
    assert queue.item("nobody") is None


def test_many_items_are_queued_in_their_order(ledger: Ledger) -> None:
    assert ReviewQueue(ledger).add([item(f"n{number:04d}") for number in range(450)]) == 450
    first = ReviewQueue(ledger).open_items(limit=3)
    assert [one.answer_id for one in first] == ["n0000", "n0001", "n0002"]
    assert [one.answer_id for one in ReviewQueue(ledger).open_items(limit=1, after=first[-1].number)] == ["n0003"]


def test_an_item_is_done_when_as_many_raters_as_wanted_have_labelled_it(ledger: Ledger) -> None:
    queue, labels = ReviewQueue(ledger), Labels(ledger)
    queue.add([item("a", wanted=2), item("b")])
    labels.add([label("a", "Anne", 7), label("a", "Anne", 6, "")])
    assert [one.answer_id for one in queue.open_items("Anne")] == ["b"]
    assert [one.answer_id for one in queue.open_items("Bruno")] == ["a", "b"]
    labels.add([label("a", "Bruno", 5)])
    assert [one.answer_id for one in queue.open_items()] == ["b"]


def test_two_raters_at_once_finish_an_item(ledger: Ledger) -> None:
    for number in range(8):
        ReviewQueue(ledger).add([item(f"x{number}", wanted=2)])
        start = threading.Barrier(2)

        def give(rater: str, id: str = f"x{number}", start: threading.Barrier = start) -> None:
            start.wait()
            Labels(ledger).add([label(id, rater, 5)])

        threads = [threading.Thread(target=give, args=(rater,)) for rater in ("Anne", "Bruno")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert ReviewQueue(ledger).count_open() == 0


def test_the_latest_label_counts_and_none_is_lost(ledger: Ledger) -> None:
    labels = Labels(ledger)
    labels.add([label("a", "Anne", 7, note="first"), label("a", "Bruno", 4)])
    labels.add([label("a", "Anne", 5, note="second", at=NOW + timedelta(days=1))])
    assert [(one.rater, one.score, one.note) for one in labels.of("a")] == [
        ("Anne", 7, "first"),
        ("Bruno", 4, ""),
        ("Anne", 5, "second"),
    ]
    assert {(one.rater, one.score) for one in labels.current()} == {("Anne", 5), ("Bruno", 4)}
    assert [(one.rater, one.score) for one in labels.current(since=NOW + timedelta(hours=1))] == [("Anne", 5)]
    assert labels.current_of(["a"])["a", "Anne", EXACT].score == 5


def test_labels_and_items_are_found_among_many_answers(ledger: Ledger) -> None:
    labels, queue = Labels(ledger), ReviewQueue(ledger)
    ids = [f"answer-{n:04}" for n in range(1_200)]
    assert (labels.current(ids, blind=True), labels.current_of(ids), queue.items(ids)) == ([], {}, {})
    labels.add([label(ids[1_100], "Anne", 7), label(ids[3], "Anne", 4), label("elsewhere", "Anne", 1)])
    queue.add([item(ids[1_100]), item("elsewhere")])
    assert [one.answer_id for one in labels.current(ids, blind=True)] == [ids[3], ids[1_100]]
    assert [place[0] for place in labels.current_of(ids)] == [ids[3], ids[1_100]]
    assert list(queue.items(ids)) == [ids[1_100]]


def test_texts_that_no_database_takes_are_mended(ledger: Ledger) -> None:
    Labels(ledger).add([label("a\x00", "An\ud800ne", 7, note="n\x00")])
    assert [(one.rater, one.note) for one in Labels(ledger).of("a\x00")] == [("An\ufffdne", "n\ufffd")]


def test_what_the_jury_and_each_judge_gave_is_found(ledger: Ledger) -> None:
    ledger.create_run(run_of(NOW), [])
    judged(ledger, "a", NOW, SAMPLES[0])
    judged(ledger, "b", NOW, SAMPLES[2])
    labels = Labels(ledger)
    jury = labels.panel_scores(["a", "b", "nobody"])
    assert jury["a"]["answer_quality"][EXACT] == 9.5
    assert jury["a"]["answer_quality"][""] == pytest.approx(0.4 * 9.5 + 0.3 * 9.0 + 0.15 * 9.5 + 0.15 * 9.0, abs=0.01)
    assert set(jury) == {"a", "b"}
    assert labels.judges_of(["a", "b"]) == ["controle", "mistral"]
    # mistral's first attempt could not be read: the second one counts
    said = {one.criterion: one.outcome for one in labels.judge_passes(["a", "b"], "mistral") if one.case_id == "a"}
    assert isinstance(outcome := said[f"{EXACT}__v1_0"], Scored)
    assert outcome.score == 9.5
    assert labels.judge_passes(["a"], "nobody") == []


def test_of_several_panels_that_asked_a_judge_the_passes_of_the_newest_count(
    ledger: Ledger, judgment: Callable[..., Judgment]
) -> None:
    panel = Run(id="n", kind="monitor", suite="s", fingerprint="n", folder="", created_at=NOW, finished_at=None, spec="{}")
    ledger.put_panel(panel)
    Answers(ledger).append([submitted("a")])
    number = Answers(ledger).numbers(["a"])["a"]
    made = [("k1", "r", 1, 1.0), ("k2", "r", 2, 2.0), ("k3", "n", 1, 5.0)]
    for key, run_id, index, score in made:
        said = (Verdict(criterion="q", outcome=Scored(score=score)),)
        ledger.append([judgment(key, run_id=run_id, pass_index=index, verdicts=said)])
        Answers(ledger).append_judged([Link(number, run_id, key)])
    [found] = Labels(ledger).judge_passes(["a"], "one")
    assert (found.case_id, found.pass_index, found.outcome) == ("a", 1, Scored(score=5.0))


def test_of_several_judgments_under_a_key_a_judge_s_passes_are_those_of_the_valid_one(
    ledger: Ledger, judgment: Callable[..., Judgment]
) -> None:
    panel = Run(id="n", kind="monitor", suite="s", fingerprint="n", folder="", created_at=NOW, finished_at=None, spec="{}")
    ledger.put_panel(panel)
    Answers(ledger).append([submitted("a")])
    Answers(ledger).append_judged([Link(Answers(ledger).numbers(["a"])["a"], "n", "k")])
    late = TimedOut(reason="late")
    for first, second in ((Scored(score=1.0), late), (late, Scored(score=2.0))):
        said = (Verdict(criterion="p", outcome=first), Verdict(criterion="q", outcome=second))
        ledger.append([judgment("k", run_id="n", verdicts=said)])
        assert passes_under(ledger, "k") == {"p": first, "q": second}
    whole = (Verdict(criterion="p", outcome=Scored(score=3.0)), Verdict(criterion="q", outcome=Scored(score=4.0)))
    ledger.append([judgment("k", run_id="n", verdicts=whole), judgment("k", run_id="n", verdicts=said)])
    assert passes_under(ledger, "k") == {"p": Scored(score=3.0), "q": Scored(score=4.0)}


def passes_under(ledger: Ledger, key: str) -> dict[str, Outcome | None]:
    """The outcomes of a judge's passes by criterion, which are those of the key's valid judgment."""
    outcomes = {found.criterion: found.outcome for found in Labels(ledger).judge_passes(["a"], "one")}
    assert outcomes == {verdict.criterion: verdict.outcome for verdict in ledger.judgments([key])[key].verdicts}
    return outcomes


def test_a_label_of_one_of_equal_held_answers_is_a_label_of_all(ledger: Ledger) -> None:
    store, queue = Traces(ledger), ReviewQueue(ledger)
    store.append([held_trace(number) for number in (1, 2, 3)])
    Labels(ledger).add([label(trace_id(3), "Anne", 0.0, GROUNDING)])
    assert [one.answer_id for one in queue.open_items("Anne")] == [trace_id(1)]  # it still waits
    assert store.settle(Release(answer_id=trace_id(2), state="refused", rater="Anne", at=NOW)) == 3
    assert queue.count_open() == 0


def test_a_held_item_wants_a_label_once_its_answer_is_settled(ledger: Ledger) -> None:
    store, queue = Traces(ledger), ReviewQueue(ledger)
    store.append([held_trace(1)])
    store.settle(Release(answer_id=trace_id(1), state="refused", rater="Anne", at=NOW))
    assert queue.count_open() == 1
    Labels(ledger).add([label(trace_id(1), "Anne", 7.0)])
    assert queue.count_open() == 0
