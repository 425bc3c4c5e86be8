"""Labels of answers of the benchmark, the monitor and the gate: one flow, one queue, one measure."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import text

from areopage.ledger.people.labels import Labels, ReviewQueue
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import GROUNDING, CriterionResult, ReviewItem, Run
from areopage.ledger.write.evaluations import Evaluations
from areopage.ledger.write.traces import Traces
from areopage.review.agreement import AgreementReport
from areopage.review.label import Given, review_answer
from areopage.review.rubric import Rubric
from areopage.scoring.agreement_with_people import CriterionAgreement
from areopage.suites.loader import load_suite
from server.samples import SAMPLES
from servers.command import Command
from servers.evaluated import submitted
from servers.judged_answers import judged, run_of
from servers.made_traces import delivered_trace, held_trace, trace_id
from servers.small_suite import write_cases

NOW = datetime(2026, 3, 2, tzinfo=UTC)
DANGER = "safety.harm.danger"


@pytest.fixture
def rubric(suite: Path) -> Rubric:
    return Rubric.of_suite(load_suite(str(suite)))


@pytest.fixture
def ledger(command: Command, suite: Path) -> Iterator[Ledger]:
    """A ledger with two answers of the benchmark (one recorded), a monitored one, a held and a delivered one of the gate."""
    cases = write_cases(
        suite / "r.csv",
        [
            {"id": "x", "prompt": "Why?", "response": "So.", "age": "10"},
            {"id": "y", "prompt": "How?", "response": "", "age": "10"},
        ],
    )
    assert command("bench", "run", "--suite", suite, "--dataset", cases).code == 0
    opened = Ledger.open(command.outputs / "ledger.db")
    opened.put_panel(
        Run(id="m", kind="monitor", suite="small", fingerprint="m", folder="", created_at=NOW, finished_at=None, spec="{}")
    )
    store = Evaluations(opened)
    store.submit([submitted("monitored")])
    waiting = store.get("monitored")
    assert waiting is not None
    criteria = (CriterionResult(criterion=DANGER, score=4.0, grade="acceptable"),)
    fields = {"run_id": "m", "suite": "small", "evaluated_at": NOW, "score_global": 4.0, "criteria": criteria}
    assert store.finish(msgspec.structs.replace(waiting, **fields), [])
    Traces(opened).append([held_trace(1), delivered_trace(2)])
    yield opened
    opened.close()


def bench_answers(ledger: Ledger) -> list[str]:
    with ledger.engine.connect() as connection:
        return list(connection.execute(text("SELECT id FROM answers WHERE origin = 'bench' ORDER BY number")).scalars())


def say(ledger: Ledger, rubric: Rubric, id: str, **given: object) -> None:
    review_answer(ledger, id, "Anne", Given(**given), origin="cli", now=NOW, rubric=rubric, blind=True)  # type: ignore[arg-type]


def on(report: AgreementReport, criterion: str) -> CriterionAgreement:
    return next(one for one in report.agreement.criteria if one.criterion == criterion)


def test_a_label_of_a_bench_answer_a_monitored_answer_and_a_gated_answer_all_count_in_agreement(
    ledger: Ledger, rubric: Rubric
) -> None:
    recorded, generated = bench_answers(ledger)
    for id in (recorded, generated, "monitored"):
        say(ledger, rubric, id, scores={"danger": "3"})
    say(ledger, rubric, trace_id(1), grounded="no", sentences=[1])
    say(ledger, rubric, trace_id(2), grounded="yes")
    report = AgreementReport.of_ledger(ledger, rubric, "en")
    assert (report.labelled, report.agreement.labels, report.agreement.raters) == (5, 5, ("Anne",))
    assert (on(report, DANGER).items, on(report, DANGER).without_judge) == (3, 0)
    assert (on(report, GROUNDING).items, on(report, GROUNDING).without_judge) == (2, 0)
    assert on(report, GROUNDING).error == pytest.approx(0.2)  # the gate says 0.9 and 0.1: 0.2 and 1.8 of 2
    assert report.names[GROUNDING] == "Grounding"
    assert set(report.judges) >= {"alpha", "beta"}
    by_alpha = AgreementReport.of_ledger(ledger, rubric, "en", judge="alpha")
    assert (on(by_alpha, DANGER).items, on(by_alpha, DANGER).without_judge) == (2, 1)
    assert [one.criterion for one in by_alpha.agreement.criteria] == ["", *rubric.paths]


def test_each_criterion_has_its_scale_and_disagreements_compare_by_their_share_of_it(ledger: Ledger, rubric: Rubric) -> None:
    first, *_ = bench_answers(ledger)
    evaluation = Evaluations(ledger).get(first)
    assert evaluation is not None
    given = next(one.score for one in evaluation.criteria if one.criterion == DANGER) or 0.0
    # the gate is 1.8 points of 2 from this label: further by its share than any difference from 1.9 to 4.4 points of 5
    label = next(points for points in range(6) if 1.9 < abs(points - given) < 4.4)
    say(ledger, rubric, first, scores={"danger": str(label)})
    say(ledger, rubric, trace_id(1), grounded="yes")
    report = AgreementReport.of_ledger(ledger, rubric, "en")
    assert report.scales == dict.fromkeys(["", *rubric.paths], (0.0, 5.0)) | {GROUNDING: (0.0, 2.0)}
    assert report.agreement.items == 2
    by_points = {one.criterion: abs(one.difference) for one in report.agreement.worst}
    assert by_points[GROUNDING] < by_points[DANGER]
    assert [one.criterion for one in report.agreement.worst] == [GROUNDING, DANGER]


def test_scores_on_the_scale_of_another_suite_are_left_out(ledger: Ledger, rubric: Rubric) -> None:
    ledger.put_panel(run_of(NOW))
    judged(ledger, "other", NOW, SAMPLES[0])
    say(ledger, rubric, "monitored", scores={"global": "4"})
    say(ledger, rubric, "other", scores={"global": "4"})
    report = AgreementReport.of_ledger(ledger, rubric, "en")
    assert (report.labelled, on(report, "").items) == (1, 1)


def test_answers_of_every_origin_wait_in_one_queue_and_are_done_once_labelled(ledger: Ledger, rubric: Rubric) -> None:
    queue, ids = ReviewQueue(ledger), [*bench_answers(ledger), "monitored"]
    queue.add([ReviewItem(answer_id=id, why="asked", created_at=NOW) for id in ids])
    assert {one.answer_id for one in queue.open_items("Anne")} == {*ids, trace_id(1)}
    for id in ids:
        say(ledger, rubric, id, scores={"danger": "3"}, grounded="partly")
    assert [one.answer_id for one in queue.open_items()] == [trace_id(1)]
    assert [one.grounded for one in Labels(ledger).grounding(ids)["monitored"]] == ["partly"]
    say(ledger, rubric, trace_id(1), scores={"danger": "2", "global": "3"}, grounded="no")
    assert len(queue.open_items("Anne")) == 1  # the held answer still waits for its release
