"""Raters who disagree, adjudications and labels that are taken back, on both databases."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from areopage.errors import ReviewConflict, UserError
from areopage.ledger.people.labels import counted_labels
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import GROUNDING, Label, ReviewItem
from servers.evaluated import submitted

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
POINTS = {"": 3.0}
EXACT, FORM = "quality.answer.exactitude", "quality.answer.format"


def label(id: str, rater: str, score: float, criterion: str = EXACT, *, minute: int = 0, **fields: object) -> Label:
    at = NOW + timedelta(minutes=minute)
    return Label(answer_id=id, rater=rater, criterion=criterion, score=score, origin="cli", created_at=at, **fields)  # type: ignore[arg-type]


def disagree(ledger: Ledger, id: str = "a", *, wanted: int = 2) -> None:
    """Two raters label an answer, five points apart on one criterion and alike on the other."""
    ledger.evaluations.submit([submitted(id)])
    ledger.review_queue.add([ReviewItem(answer_id=id, why="sample", created_at=NOW, wanted=wanted)])
    for minute, (rater, score) in enumerate({"Anne": 3.0, "Bruno": 8.0}.items()):
        ledger.labels.add([label(id, rater, score, minute=minute), label(id, rater, 7.0, FORM, minute=minute)])


def scores(ledger: Ledger) -> set[tuple[str, float]]:
    """The scores of raters that count on the answer `a`."""
    return {(label.criterion, label.score) for label in ledger.disagreements.counted_of(["a"])}


def altered(ledger: Ledger) -> list[str]:
    """What a verification of the chains finds."""
    faults: list[str] = []
    ledger.chains.check([], lambda fault: faults.append(str(fault)))
    return faults


def at_once(*works: Callable[[], object]) -> list[Exception | None]:
    """Do things at the same time; what each raised."""
    start, raised = threading.Barrier(len(works)), dict[int, Exception | None]()

    def act(at: int) -> None:
        start.wait()
        try:
            works[at]()
            raised[at] = None
        except UserError as fault:
            raised[at] = fault

    threads = [threading.Thread(target=act, args=(at,)) for at in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [raised[at] for at in range(len(works))]


def test_a_decision_counts_in_place_of_the_labels_which_stay(ledger: Ledger) -> None:
    disagree(ledger)
    assert ledger.disagreements.open(POINTS) == {("a", ""): [EXACT]} and ledger.disagreements.counts(POINTS) == (0, 0, 1)
    assert scores(ledger) == {(EXACT, 3), (EXACT, 8), (FORM, 7)}
    ledger.disagreements.adjudicate([label("a", "Chloé", 6.0, minute=5, decides=True)])
    assert ledger.disagreements.open(POINTS) == {} and ledger.disagreements.counts(POINTS) == (0, 1, 0)
    counted = counted_labels(ledger.labels.current(blind=True))
    assert {(one.rater, one.criterion, one.score) for one in counted} == {
        ("Chloé", EXACT, 6.0),
        ("Anne", FORM, 7.0),
        ("Bruno", FORM, 7.0),
    }
    assert {one.rater for one in ledger.labels.current_of(["a"]).values()} == {"Anne", "Bruno"}
    assert len(ledger.labels.of("a")) == 5
    assert {one.score for one in ledger.labels.current(["a"], blind=True) if one.decides} == {6.0}


def test_a_rater_may_decide_after_talking_and_the_own_label_stays(ledger: Ledger) -> None:
    disagree(ledger)
    ledger.disagreements.adjudicate([label("a", "Anne", 8.0, minute=5, decides=True)])
    assert ledger.labels.current_of(["a"])["a", "Anne", EXACT].score == 3.0
    assert [one.score for one in counted_labels(ledger.labels.current()) if one.criterion == EXACT] == [8.0]
    ledger.disagreements.adjudicate([label("a", "Anne", 7.0, minute=6, decides=True)])  # whoever decided may decide again
    assert [one.score for one in counted_labels(ledger.labels.current()) if one.criterion == EXACT] == [7.0]


def test_a_decision_given_with_the_scores_in_view_replaces_no_blind_labels(ledger: Ledger) -> None:
    disagree(ledger)
    ledger.disagreements.adjudicate([label("a", "Chloé", 6.0, minute=5, decides=True, blind=False)])
    assert {one.score for one in counted_labels(ledger.labels.current(blind=True)) if one.criterion == EXACT} == {3.0, 8.0}
    assert {one.score for one in counted_labels(ledger.labels.current()) if one.criterion == EXACT} == {6.0}


def test_the_blind_label_of_a_rater_is_the_one_that_is_apart(ledger: Ledger) -> None:
    disagree(ledger)
    ledger.labels.add([label("a", "Bruno", 3.0, minute=9, blind=False)])  # after having seen the judges' scores
    assert ledger.disagreements.open(POINTS) == {("a", ""): [EXACT]}
    assert scores(ledger) == {(EXACT, 3), (EXACT, 8), (FORM, 7)}


def test_points_from_which_raters_disagree_are_those_of_the_run(ledger: Ledger) -> None:
    disagree(ledger)
    ledger.review_queue.add([ReviewItem(answer_id="a", why="sample", created_at=NOW, wanted=2, run_id="r")])
    assert ledger.disagreements.runs() == ledger.disagreements.runs("a") == ["r"] and ledger.disagreements.runs("b") == []
    assert ledger.disagreements.open({"": 9.0, "r": 5.0}) == {("a", "r"): [EXACT]}
    assert ledger.disagreements.counts({"": 1.0, "r": 5.1}) == (1, 0, 0)


def test_only_a_disagreement_is_decided_and_once(ledger: Ledger) -> None:
    disagree(ledger)
    for wrong in (label("a", "Chloé", 6.0, FORM, decides=True), label("b", "Chloé", 6.0, decides=True)):
        with pytest.raises(UserError, match="no two raters of the answer"):
            ledger.disagreements.adjudicate([wrong])
    both = [label("a", "Chloé", 6.0, decides=True), label("a", "Chloé", 6.0, FORM, decides=True)]
    with pytest.raises(UserError, match="no two raters"):
        ledger.disagreements.adjudicate(both)
    assert len(ledger.labels.of("a")) == 4, "all or none"
    raised = at_once(
        *(lambda name=name: ledger.disagreements.adjudicate([label("a", name, 6.0, decides=True)]) for name in ("Chloé", "David"))
    )
    (refused,) = [fault for fault in raised if fault is not None]
    assert isinstance(refused, ReviewConflict) and "has decided on quality.answer.exactitude" in str(refused)
    assert len(ledger.labels.of("a")) == 5


def test_two_raters_who_label_the_same_answer_at_once_disagree_and_finish_it(ledger: Ledger) -> None:
    for number in range(6):
        id = f"x{number}"
        ledger.evaluations.submit([submitted(id)])
        ledger.review_queue.add([ReviewItem(answer_id=id, why="sample", created_at=NOW, wanted=2)])
        raised = at_once(
            lambda id=id: ledger.labels.add([label(id, "Anne", 2)]),  # type: ignore[misc]
            lambda id=id: ledger.labels.add([label(id, "Bruno", 9)]),  # type: ignore[misc]
        )
        assert raised == [None, None]
    assert ledger.review_queue.count_open() == 0
    assert list(ledger.disagreements.open(POINTS)) == [(f"x{number}", "") for number in range(6)]


def test_an_answer_that_waits_for_a_label_is_not_complete(ledger: Ledger) -> None:
    disagree(ledger, wanted=3)
    assert ledger.disagreements.is_waiting("a") and not ledger.disagreements.is_waiting("b")
    assert ledger.disagreements.open(POINTS) == {} and ledger.disagreements.counts(POINTS) == (0, 0, 0)


def test_the_last_label_is_undone_one_step_and_the_trail_keeps_it(ledger: Ledger) -> None:
    disagree(ledger)
    undone = ledger.disagreements.undo_last("Bruno")
    assert {(one.criterion, one.score, one.state) for one in undone} == {(EXACT, 8.0, "undone"), (FORM, 7.0, "undone")}
    assert {rater for _, rater, _ in ledger.labels.current_of(["a"])} == {"Anne"}
    assert ledger.disagreements.counts(POINTS) == (0, 0, 0) and ledger.disagreements.answers_by_rater() == {"Anne": 1}
    assert [one.answer_id for one in ledger.review_queue.open_items("Bruno")] == ["a"]
    assert [one.answer_id for one in ledger.review_queue.open_items("Anne")] == []
    assert len(ledger.labels.of("a")) == 4
    with pytest.raises(UserError, match="undone already"):
        ledger.disagreements.undo_last("Bruno")
    ledger.labels.add([label("a", "Bruno", 9.0, minute=9)])
    assert ledger.review_queue.count_open() == 0 and len(ledger.disagreements.open(POINTS)) == 1
    with pytest.raises(UserError, match="no label by 'Chloé'"):
        ledger.disagreements.undo_last("Chloé")
    assert altered(ledger) == []
    ledger.erasure.erase(["a"])
    assert altered(ledger) == [], "an undone label whose texts are erased"


def test_a_changed_label_that_is_undone_gives_the_one_before_back(ledger: Ledger) -> None:
    disagree(ledger)
    ledger.labels.add([label("a", "Bruno", 3.0, minute=9)])
    ledger.disagreements.undo_last("Bruno")
    assert ledger.labels.current_of(["a"])["a", "Bruno", EXACT].score == 8.0
    assert ledger.review_queue.count_open() == 0


def test_a_label_is_not_undone_once_another_person_has_decided(ledger: Ledger) -> None:
    disagree(ledger)
    ledger.disagreements.adjudicate([label("a", "Chloé", 6.0, minute=5, decides=True)])
    with pytest.raises(ReviewConflict, match="Chloé has decided"):
        ledger.disagreements.undo_last("Bruno")
    assert {rater for _, rater, _ in ledger.labels.current_of(["a"])} == {"Anne", "Bruno"}
    (undone,) = ledger.disagreements.undo_last("Chloé")
    assert undone.decides and ledger.disagreements.counts(POINTS) == (0, 0, 1)
    ledger.disagreements.undo_last("Bruno")
    assert ledger.disagreements.counts(POINTS) == (0, 0, 0)


def test_an_undo_and_a_decision_at_once_come_one_after_the_other(ledger: Ledger) -> None:
    for number in range(6):
        id = f"y{number}"
        disagree(ledger, id)
        undo, decide = at_once(
            lambda: ledger.disagreements.undo_last("Bruno"),
            lambda id=id: ledger.disagreements.adjudicate([label(id, "Chloé", 6.0, minute=5, decides=True)]),  # type: ignore[misc]
        )
        assert (undo is None) != (decide is None), (undo, decide)
        decided, raters = ledger.labels.deciding([id]), {rater for _, rater, _ in ledger.labels.current_of([id])}
        assert (bool(decided), raters) in ((True, {"Anne", "Bruno"}), (False, {"Anne"}))


def test_imported_labels_are_not_undone(ledger: Ledger) -> None:
    ledger.labels.add([Label(answer_id="a", rater="Anne", criterion=EXACT, score=3, origin="import", created_at=NOW)])
    with pytest.raises(UserError, match="was imported"):
        ledger.disagreements.undo_last("Anne")


def test_words_of_grounding_are_decided_and_corrections_kept_until_an_erasure(ledger: Ledger) -> None:
    disagree(ledger)
    for rater, score in (("Anne", 0), ("Bruno", 2)):
        ledger.labels.add([label("a", rater, score, GROUNDING, minute=7, correction="Two months, not three.")])
    ledger.disagreements.adjudicate([label("a", "Chloé", 2, GROUNDING, minute=9, decides=True)])
    assert {one.rater for one in ledger.labels.grounding(["a"])["a"]} == {"Anne", "Bruno", "Chloé"}
    assert [one.grounded for one in counted_labels(ledger.labels.grounding(["a"])["a"])] == ["yes"]
    assert {one.correction for one in ledger.labels.of("a")} == {"", "Two months, not three."}
    ledger.erasure.erase(["a"])
    assert {one.correction for one in ledger.labels.of("a")} == {""}
    assert altered(ledger) == []
