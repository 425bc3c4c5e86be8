"""People against the jury of a run: which labels count, what is biased and says so, and the words of the report."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from areopage.bench.figures.people import run_reviewed
from areopage.bench.report.page import bench_report
from areopage.bench.results.people import queue_answers, sign_run
from areopage.bench.results.run_view import RunView, view_run
from areopage.jury.judges import PlannedCall
from areopage.jury.rescoring import Rescoring
from areopage.ledger.people.labels import SAMPLE, Labels
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Judgment, Label
from areopage.report.rendering import render
from areopage.review.rubric import Rubric
from areopage.scoring.outcome import Scored
from areopage.scoring.weights import Weights

from .report_runs import case, judgment, view_of

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
DANGER, INSULTS = "safety.harm.danger", "safety.harm.insults"
CASES = [case(number) for number in range(1, 21)]


def say(call: PlannedCall) -> Judgment:
    """Cases 1 to 4 fail on danger; insults are fine."""
    fails = int(call.case.id.removeprefix("case-")) <= 4 and "danger" in call.criteria[0].id
    return judgment(call, Scored(score=1.0 if fails else 4.0))


def labelled(folder: Path, labels: Sequence[tuple[str, str, str, float, bool]], sample: int = 0, **changes: Any) -> RunView:
    """The run with a queue, and labels: case, rater, criterion, score, blind."""
    view = view_of(folder, cases=CASES, say=say, **changes)
    with Ledger.open(folder / "ledger.db") as ledger:
        if sample:
            queue_answers(view, ledger, ("failing",), sample, NOW)
        given = [
            Label(
                answer_id=view.answer_ids[id], rater=rater, criterion=path, score=score, blind=blind, origin="web", created_at=NOW
            )
            for id, rater, path, score, blind in labels
        ]
        Labels(ledger).add(given)
        return view_run(view.run, ledger)


def test_a_run_that_nobody_looked_at_says_nothing_of_people(tmp_path: Path) -> None:
    view = labelled(tmp_path, [])
    assert view.reviewed is None
    assert 'id="people"' not in render(bench_report(view), "html")


def test_only_the_random_sample_gives_the_figures_and_the_others_are_marked_as_biased(tmp_path: Path) -> None:
    every = [(one.id, "Anne", DANGER, 1.0 if one.id in ("case-1", "case-9") else 4.0, True) for one in CASES]
    view = labelled(tmp_path, every, sample=12)
    drawn = {id for id, item in view.people.items.items() if item.why == SAMPLE}
    people = view.reviewed
    assert people and people.sample and people.all_labelled
    assert (people.queued, people.drawn) == (12, len(drawn)) and 6 <= len(drawn) < 12
    assert (people.sample.answers, people.all_labelled.answers) == (len(drawn), 20)
    sample = people.sample.criteria["safety.harm.danger__v1_0"].failures
    names = {id: case_id for case_id, id in view.answer_ids.items()}
    assert sample and sample.items == len(drawn)
    assert sample.jury == sum(names[id] in ("case-1", "case-2", "case-3", "case-4") for id in drawn)
    found = people.all_labelled.criteria["safety.harm.danger__v1_0"].failures
    assert found and (found.people, found.jury, found.both, len(found.missed)) == (2, 4, 1, 1)
    text = render(bench_report(view), "html")
    assert "also those chosen for a reason (biased)" in text
    assert run_reviewed(view, "en", sample_only=False).report.agreement.criteria[1].claim.reason == "selected"


def test_without_a_labelled_random_answer_the_report_says_that_there_is_no_figure(tmp_path: Path) -> None:
    view = labelled(tmp_path, [("case-1", "Anne", DANGER, 1.0, True)])
    people = view.reviewed
    assert people and people.sample is None and people.all_labelled
    assert "there is no unbiased figure" in render(bench_report(view), "html")


@pytest.mark.parametrize(
    ("path", "score", "blind"), [(DANGER, 1.0, False), (DANGER, 9.0, True), ("quality.answer.exactitude", 1.0, True)]
)
def test_labels_that_are_not_blind_off_the_scale_or_of_other_criteria_do_not_count(
    tmp_path: Path, path: str, score: float, blind: bool
) -> None:
    view = labelled(tmp_path, [("case-1", "Anne", path, score, blind)], sample=20)
    people = view.reviewed
    assert people and people.all_labelled is None and people.not_counted == (not blind)


def test_an_overall_score_is_weighed_as_the_run_weighs_it(tmp_path: Path) -> None:
    view = labelled(tmp_path, [("case-1", "Anne", DANGER, 1.0, True), ("case-1", "Anne", INSULTS, 4.0, True)], sample=40)
    (record,) = [one for one in view.scores.records if one.case_id == "case-1"]
    rubric = Rubric.of_panel(view.spec)
    assert rubric.overall({DANGER: 1.0, INSULTS: 4.0}) == pytest.approx(record.tree.score) == pytest.approx(1.75)
    people = view.reviewed
    assert people and people.sample and people.sample.criteria["final"].error == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("language", "told", "earlier"),
    [
        ("en", "Approved by Anne &lt;b&gt;", "is for an earlier state: the results have changed"),
        ("fr", "Approuvé par Anne &lt;b&gt;", "porte sur un état antérieur"),
    ],
)
def test_a_sign_off_stands_above_all_scores_and_tells_when_it_is_of_an_earlier_state(
    tmp_path: Path, language: str, told: str, earlier: str
) -> None:
    view = labelled(tmp_path, [], language=language)
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        sign_run(view, ledger, "Anne <b>", "approve", NOW, note="{0} %s", actor="cli")
        signed = view_run(view.run, ledger)
        weights = Weights(criteria={"safety.harm": {"danger": 0.1, "insults": 0.9}})
        reweighed = view_run(view.run, ledger, Rescoring(weights=weights))
    text = render(bench_report(signed), "html")
    assert text.index(told) < text.index('id="failures"') and "{0} %s" in text
    assert earlier not in text and earlier in render(bench_report(reweighed), "html")
    people = [one.reviewed for one in (signed, reweighed)]
    assert [one.sign_offs[0].changed for one in people if one] == [(), ("results",)]
