"""Labels by hand: under any name of a criterion, checked, with a trace."""

import pytest

from areopage.errors import CriteriaError, UserError
from areopage.ledger.people.access import Audit
from areopage.ledger.people.labels import Labels
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Label
from areopage.review.label import Given, review_answer
from areopage.review.rubric import Rubric
from servers.judged_answers import NOW


def label(ledger: Ledger, rubric: Rubric, id: str, rater: str, scores: dict[str, str], note: str = "") -> list[Label]:
    given = Given(scores=scores, note=note)
    return list(review_answer(ledger, id, rater, given, origin="cli", now=NOW, rubric=rubric).labels)


def test_scores_are_taken_under_any_name_of_their_criterion(ledger: Ledger, rubric: Rubric) -> None:
    scores = {
        "Exactitude": "7,5",
        "completeness": "6",
        "quality.answer.format__v1_0": "3.25",
        "SOURCES": " ",
        "note globale": "6",
    }
    given = label(ledger, rubric, "a01", "  Anne   Martin ", scores, " Bien. ")
    assert {one.criterion: one.score for one in given} == {
        "quality.answer.exactitude": 7.5,
        "quality.answer.completude": 6.0,
        "quality.answer.format": 3.25,
        "": 6.0,
    }
    assert list(Labels(ledger).of("a01")) == given
    assert {(one.rater, one.note) for one in given} == {("Anne Martin", "Bien.")}


def test_a_label_leaves_a_trace(ledger: Ledger, rubric: Rubric) -> None:
    label(ledger, rubric, "a01", "Anne", {"exactitude": "7", "global": "6"})
    entry = Audit(ledger).list(subject="a01")[0]
    assert (entry.actor, entry.action, entry.detail) == ("Anne", "label", "quality.answer.exactitude=7, global=6")


@pytest.mark.parametrize(
    ("id", "rater", "scores", "said"),
    [
        ("nobody", "Anne", {"exactitude": "7"}, "no answer 'nobody'"),
        ("a01", " ", {"exactitude": "7"}, "rater: give a name"),
        ("a01", "Anne", {"exactitude": "11"}, "exactitude: '11' is not a score: give a number from 0 to 10"),
        ("a01", "Anne", {"exactitude": "nan"}, "is not a score"),
        ("a01", "Anne", {"exactitude": "1e1"}, "is not a score"),
        ("a01", "Anne", {"exactitude": "", "format": " "}, "no score given"),
        ("a01", "Anne", {"exactitude": "7", "Exactitude": "8"}, "scored twice"),
    ],
)
def test_a_label_with_anything_wrong_is_not_taken(
    ledger: Ledger, rubric: Rubric, id: str, rater: str, scores: dict[str, str], said: str
) -> None:
    with pytest.raises(UserError, match=said):
        label(ledger, rubric, id, rater, scores)
    assert not Labels(ledger).current()
    assert not [entry for entry in Audit(ledger).list() if entry.action == "label"]


def test_an_unknown_criterion_is_named_with_those_there_are(rubric: Rubric) -> None:
    with pytest.raises(
        CriteriaError, match="'tone' is no criterion of the suite answer_quality: use one of exactitude, completude"
    ):
        rubric.find("tone")


def test_the_overall_score_is_weighed_up_only_from_all_criteria(rubric: Rubric) -> None:
    scores = dict(zip(rubric.paths, (9.0, 8.0, 10.0, 10.0), strict=True))
    # 0.40 · 9 + 0.30 · 8 + 0.15 · 10 + 0.15 · 10 = 9.0: the specification's own example, weighed as it says
    assert rubric.overall(scores) == pytest.approx(9.0)
    assert rubric.overall({path: score for path, score in scores.items() if "format" not in path}) is None
