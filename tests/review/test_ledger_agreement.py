"""Judge against people over a ledger's labels."""

from datetime import timedelta

import pytest

from areopage.errors import UserError
from areopage.ledger.people.labels import Labels, ReviewQueue
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Label, ReviewItem
from areopage.review.agreement import AgreementReport, ledger_worth
from areopage.review.rubric import Rubric
from servers.judged_answers import NOW

EXACT = "quality.answer.exactitude"


def give(ledger: Ledger, id: str, rater: str, scores: dict[str, float], days_ago: float = 1) -> None:
    at = NOW - timedelta(days=days_ago)
    Labels(ledger).add(
        [
            Label(answer_id=id, rater=rater, criterion=criterion, score=score, origin="cli", created_at=at)
            for criterion, score in scores.items()
        ]
    )


def test_the_jury_is_measured_on_every_criterion_and_overall(ledger: Ledger, rubric: Rubric) -> None:
    jury = Labels(ledger).panel_scores([f"a{number:02d}" for number in range(30)])
    ReviewQueue(ledger).add([ReviewItem(answer_id=id, why="sample", created_at=NOW) for id in jury])
    for number, (id, by_suite) in enumerate(sorted(jury.items())):
        scores = by_suite["answer_quality"]
        give(ledger, id, "Anne", {path: min(10.0, scores[path] + (number % 2) * 0.5) for path in rubric.paths})
    found = AgreementReport.of_ledger(ledger, rubric, "fr")
    assert [one.criterion for one in found.agreement.criteria] == ["", *rubric.paths]
    assert found.names[EXACT] == "Exactitude"
    assert (found.labelled, found.weighed, found.judges) == (30, 30, ("controle", "mistral"))
    overall = found.agreement.criteria[0]
    assert overall.items == 30
    assert overall.claim.verdict == "holds"
    assert overall.bias.value is not None
    assert overall.bias.value < 0  # people were kinder
    assert found.questions[found.agreement.worst[0].item]


def test_an_overall_score_that_was_given_counts_before_the_weighed_one(ledger: Ledger, rubric: Rubric) -> None:
    give(ledger, "a01", "Anne", dict.fromkeys(rubric.paths, 5.0) | {"": 9.0})
    found = AgreementReport.of_ledger(ledger, rubric, "en")
    assert found.weighed == 0
    worst = {one.criterion: one for one in found.agreement.criteria}
    assert worst[""].labels == 1


def test_one_judge_is_measured_by_its_own_verdicts(ledger: Ledger, rubric: Rubric) -> None:
    for number in range(10):
        give(ledger, f"a{number:02d}", "Anne", {EXACT: float(number)})
    found = AgreementReport.of_ledger(ledger, rubric, "en", judge="mistral")
    assert found.judge == "mistral"
    assert next(one for one in found.agreement.criteria if one.criterion == EXACT).items == 10
    with pytest.raises(UserError, match="no judge 'gpt' judged a labelled answer: use one of controle, mistral"):
        AgreementReport.of_ledger(ledger, rubric, "en", judge="gpt")


def test_only_the_random_sample_or_the_last_days_can_be_asked_for(ledger: Ledger, rubric: Rubric) -> None:
    ReviewQueue(ledger).add([ReviewItem(answer_id="a01", why="sample", created_at=NOW)])
    ReviewQueue(ledger).add([ReviewItem(answer_id="a03", why="alert", created_at=NOW)])
    give(ledger, "a01", "Anne", {EXACT: 5.0})
    give(ledger, "a03", "Anne", {EXACT: 5.0}, days_ago=20)
    both = AgreementReport.of_ledger(ledger, rubric, "en")
    assert (both.labelled, both.at_random) == (2, 1)
    assert AgreementReport.of_ledger(ledger, rubric, "en", sample_only=True).labelled == 1
    assert AgreementReport.of_ledger(ledger, rubric, "en", since=NOW - timedelta(days=7)).labelled == 1


def test_no_label_is_no_fault(ledger: Ledger, rubric: Rubric) -> None:
    found = AgreementReport.of_ledger(ledger, rubric, "en", judge="anybody")
    assert (found.labelled, found.agreement.labels, found.agreement.worst) == (0, 0, ())


def test_an_answer_that_is_not_judged_yet_is_left_out_and_counted(ledger: Ledger, rubric: Rubric) -> None:
    give(ledger, "waits", "Anne", {"": 5.0})
    assert AgreementReport.of_ledger(ledger, rubric, "en").agreement.criteria[0].without_judge == 1


def test_the_worth_of_the_jury_is_measured_on_every_judges_own_scores(ledger: Ledger, rubric: Rubric) -> None:
    assert ledger_worth(ledger, rubric) is None
    jury = Labels(ledger).panel_scores([f"a{number:02d}" for number in range(30)])
    ReviewQueue(ledger).add([ReviewItem(answer_id=id, why="sample", created_at=NOW) for id in jury])
    for number, (id, by_suite) in enumerate(sorted(jury.items())):
        scores = by_suite["answer_quality"]
        give(ledger, id, "Anne", {path: min(10.0, scores[path] + (number % 3) * 0.5) for path in rubric.paths})
    worth = AgreementReport.of_ledger(ledger, rubric, "en").worth
    assert worth == ledger_worth(ledger, rubric)
    assert worth is not None
    assert (worth.judges, worth.at_random, worth.labelled.items, worth.labelled.raters) == (2, True, 30, 1)
    assert [one.judge for one in worth.labelled.judges] == ["controle", "mistral"]
    assert worth.labelled.units == 30 * len(rubric.paths)
    alone = AgreementReport.of_ledger(ledger, rubric, "en", judge="mistral").worth
    assert alone is not None
    assert (alone.judges, alone.labelled.judges[0].leniency) == (1, worth.labelled.judges[1].leniency)
    assert ledger_worth(ledger, rubric, ("another source",)) is None
