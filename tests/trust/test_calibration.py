"""What a calibration uses, what it corrects, and what it refuses."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from msgspec import structs

from areopage.criteria.records import Criterion, Scale
from areopage.errors import DamagedRow, UserError
from areopage.jury.judges import Judge
from areopage.jury.panel import Panel
from areopage.models.reference import ModelReference
from areopage.scoring.agreement_with_people import Rating
from areopage.scoring.records import DEFAULT
from areopage.trust.calibration import (
    Calibration,
    altered_calibrations,
)
from areopage.trust.label_plan import plan_run, teaching_answers
from areopage.trust.run_calibration import (
    JudgedRun,
)

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
PATH = "quality.answer.exactness"
ANSWERS = tuple(f"a{number:03}" for number in range(400))


def judge(name: str, digest: str) -> Judge:
    return Judge(name=name, reference=ModelReference(provider="ollama", model=name), pass_options=({},), digest=digest)


CRITERION = Criterion(
    id=f"{PATH}__v1_0",
    version="v1_0",
    category="quality",
    subcategory="answer",
    name="exactness",
    language="en",
    role="",
    task="Score exactness.",
    scoring_guide="0 to 10.",
    output_format="JSON",
    scale=Scale(0, 10),
)
PANEL = Panel(
    suite="s",
    suite_version="1",
    language="en",
    criteria=(CRITERION,),
    judges=(judge("first", "d1"), judge("second", "d2")),
    scale=Scale(0, 10),
    profile=DEFAULT,
)


def judged(seed: int = 0, run_id: str = "run1", lenient: float = 1.5) -> tuple[JudgedRun, dict[str, float]]:
    """A jury that is too lenient, and what people would say."""
    random = np.random.default_rng(seed)
    people = random.uniform(2, 8, len(ANSWERS))
    judges = people[:, None] + lenient + random.normal(0, [0.4, 2.0], (len(ANSWERS), 2))
    scores = dict(zip(ANSWERS, judges.mean(axis=1).clip(0, 10).tolist(), strict=True))
    by_judge = {PATH: dict(zip(ANSWERS, map(tuple, judges.tolist()), strict=True))}
    jury = JudgedRun(panel=PANEL, run_id=run_id, scores={"": {}, PATH: scores}, by_judge=by_judge, limits={PATH: 4.0})
    return jury, dict(zip(ANSWERS, people.tolist(), strict=True))


def ratings(people: dict[str, float], items: Sequence[str], rater: str = "Anne") -> list[Rating]:
    return [Rating(item=item, rater=rater, criterion=PATH, score=people[item]) for item in items]


def fitted(count: int = 60, seed: int = 0) -> tuple[Calibration, JudgedRun, dict[str, float]]:
    jury, people = judged()
    drawn = [ANSWERS[at] for at in np.random.default_rng(seed).permutation(len(ANSWERS))[:count]]
    return jury.fit(ratings(people, drawn), drawn, NOW), jury, people


def test_the_mean_of_people_lies_in_the_corrected_interval_and_not_near_the_jurys() -> None:
    draws, hits, failing_hits = 60, 0, 0
    for seed in range(draws):
        calibration, jury, people = fitted(seed=seed)
        one = jury.corrected(calibration).criteria[CRITERION.id]
        truth = list(people.values())
        assert one.own
        assert one.low is not None
        assert one.high is not None
        assert one.high < one.uncorrected - 0.7
        assert one.failures is not None
        hits += bool(one.low <= np.mean(truth) <= one.high)
        failing_hits += bool(one.failures.low <= np.mean([score <= 4 for score in truth]) <= one.failures.high)
    assert hits >= 52  # of 60 at 95 %, fewer come with a probability under 1 %
    assert failing_hits >= 52
    assert calibration.criteria[0].map.kind in {"moved", "linear"}
    weights = calibration.criteria[0].weights
    assert weights is not None
    assert weights.weights[0] > weights.weights[1]


def test_labels_that_teach_train_single_scores_and_no_mean() -> None:
    jury, people = judged()
    drawn = list(ANSWERS[::10])
    strange = dict(people) | {item: 9.0 for item in ANSWERS if item not in drawn}  # in a mean they would be seen
    taught = teaching_answers(jury, ANSWERS, 40, drawn)
    without = jury.fit(ratings(people, drawn), drawn, NOW)
    found = jury.fit(ratings(strange, [*drawn, *taught]), drawn, NOW, taught=taught)
    assert found.criteria[0].mean == without.criteria[0].mean
    assert found.criteria[0].failures == without.criteria[0].failures
    assert found.criteria[0].map != without.criteria[0].map
    assert found.criteria[0].weights is not None
    assert found.criteria[0].weights.labels == 80
    assert (found.labels.answers, found.labels.taught, found.labels.selected) == (40, 40, 0)
    assert found.labels.digest != without.labels.digest
    picked = jury.fit(ratings(strange, [*drawn, *taught]), drawn, NOW)
    assert (picked.labels.taught, picked.labels.selected) == (0, 40)
    assert picked.criteria == without.criteria


def test_three_judges_are_weighed_by_their_agreement_and_means_stay_valid() -> None:
    three = structs.replace(PANEL, judges=(*PANEL.judges, judge("third", "d3")))
    random = np.random.default_rng(5)
    truth = random.uniform(2, 8, len(ANSWERS))
    noise = random.normal(0, [0.4, 0.5, 3.0], (len(ANSWERS), 3))
    judges = truth[:, None] + 1.5 + noise
    jury = JudgedRun(
        panel=three,
        run_id="run1",
        scores={"": {}, PATH: dict(zip(ANSWERS, judges.mean(axis=1).tolist(), strict=True))},
        by_judge={PATH: dict(zip(ANSWERS, map(tuple, judges.tolist()), strict=True))},
        limits={PATH: 4.0},
    )
    people, hits = dict(zip(ANSWERS, truth.tolist(), strict=True)), 0
    for seed in range(60):
        drawn = [ANSWERS[at] for at in np.random.default_rng(seed).permutation(len(ANSWERS))[:30]]
        found = jury.fit(ratings(people, drawn), drawn, NOW)
        fit = found.criteria[0]
        one = jury.corrected(found).criteria[CRITERION.id]
        assert fit.agreement[2] < 0.1
        assert fit.mean.saved is not None
        assert fit.mean.saved > 0.9  # by the jury's score alone: about three quarters
        assert one.own
        assert one.uncorrected == pytest.approx(judges.mean())
        assert one.low is not None
        assert one.high is not None
        hits += bool(one.low <= truth.mean() <= one.high)
    assert hits >= 52


def test_single_scores_are_mapped_beside_the_jurys_and_stay_on_the_scale() -> None:
    calibration, jury, people = fitted()
    found = jury.mapped(calibration)[PATH]
    assert set(found) == set(ANSWERS)
    assert {one.by for one in found.values()} == {"weights"}
    assert {one.calibration for one in found.values()} == {calibration.id}
    assert all(0 <= one.score <= 10 for one in found.values())
    raw = np.mean([abs(jury.scores[PATH][item] - people[item]) for item in ANSWERS])
    mapped = np.mean([abs(found[item].score - people[item]) for item in ANSWERS])
    assert mapped < raw / 2
    without = structs.replace(jury, by_judge={}).mapped(calibration)[PATH]
    assert {one.by for one in without.values()} == {calibration.criteria[0].map.kind}


def test_judges_errors_about_failures_are_learned_and_tell_the_chance_of_single_ones() -> None:
    calibration, jury, people = fitted(count=120)
    errors = calibration.criteria[0].errors
    assert errors is not None
    assert errors.missed[0] > 0.5  # a judge that is lenient by 1.5 points passes what people fail at 4
    assert max(errors.alarms) < 0.15
    found = jury.mapped(calibration)[PATH]
    chances = np.array([found[item].failing for item in ANSWERS], dtype=float)
    failing = np.array([people[item] <= 4 for item in ANSWERS])
    judged_failing = np.array([jury.scores[PATH][item] <= 4 for item in ANSWERS])
    assert ((chances - failing) ** 2).mean() < (judged_failing != failing).mean()
    assert abs(chances.mean() - failing.mean()) < 0.12
    few = jury.fit(ratings(dict.fromkeys(ANSWERS, 8.0), ANSWERS[:20]), ANSWERS[:20], NOW)
    assert few.criteria[0].errors is None
    assert {one.failing for one in jury.mapped(few)[PATH].values()} == {None}


def test_on_another_run_the_relation_is_assumed_and_its_uncertainty_carried_over() -> None:
    other, people = judged(seed=1, run_id="run2")
    hits, truth = 0, float(np.mean(list(people.values())))
    for seed in range(60):
        calibration, jury, _ = fitted(seed=seed)
        one, own = (run.corrected(calibration).criteria[CRITERION.id] for run in (other, jury))
        assert not one.own
        assert one.failures is None
        assert one.saved is None
        assert one.low is not None
        assert one.high is not None
        assert own.low is not None
        assert own.high is not None
        assert one.high - one.low > own.high - own.low
        hits += one.low <= truth <= one.high
    assert hits >= 50  # all draws share one other run


def test_labels_of_answers_that_were_picked_are_counted_and_not_used() -> None:
    jury, people = judged()
    weak = sorted(ANSWERS, key=lambda item: people[item])[:50]
    drawn = [item for item in ANSWERS[::10] if item not in weak]
    with_picked = jury.fit(ratings(people, [*drawn, *weak]), drawn, NOW)
    without = jury.fit(ratings(people, drawn), drawn, NOW)
    assert with_picked.criteria == without.criteria
    assert (with_picked.labels.selected, without.labels.selected) == (50, 0)
    with pytest.raises(UserError, match="50 other labelled answers cannot be used: they were not drawn at random"):
        jury.fit(ratings(people, weak), (), NOW)


def expected_judges() -> tuple[Judge, ...]:
    """The judges, with scores from log-probabilities."""
    return tuple(structs.replace(one, method="expected") for one in PANEL.judges)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"judges": (judge("first", "d1"), judge("second", "NEW"))}, "judge second .* had the model digest d2, and has NEW"),
        ({"judges": (judge("first", "d1"),)}, "it is for the judges first, second, not first"),
        ({"criteria": (structs.replace(CRITERION, task="Score otherwise."),)}, f"the text of the criterion {PATH} has changed"),
        ({"language": "fr"}, "another language"),
        ({"suite": "t"}, "it is for the suite s, not t"),
        ({"judges": expected_judges()}, r"were sampled, and are expected \(scoring_method\)"),
    ],
)
def test_a_calibration_for_other_judges_or_prompts_is_refused_by_name(change: dict[str, object], told: str) -> None:
    calibration, jury, _ = fitted()
    other = structs.replace(jury, panel=structs.replace(PANEL, **change))
    with pytest.raises(UserError, match=told):
        other.corrected(calibration)


def test_another_prompt_version_is_refused() -> None:
    calibration, jury, _ = fitted()
    with pytest.raises(UserError, match="it is for the prompt version 0"):
        jury.corrected(structs.replace(calibration, template="0"))


def test_a_stored_calibration_is_read_as_it_was_and_an_altered_one_is_refused() -> None:
    calibration, _, _ = fitted()
    row = calibration.stored()
    assert Calibration.read(row) == calibration
    assert row.id == row.digest[: len(row.id)]
    with pytest.raises(UserError, match="altered"):
        Calibration.read(structs.replace(row, body=row.body.replace("Anne", "Bert")))


def test_a_calibration_whose_json_is_damaged_is_named_and_that_of_another_version_is_not_altered() -> None:
    calibration, _, _ = fitted()
    row = calibration.stored()
    assert altered_calibrations([row]) == ()
    assert altered_calibrations([row, structs.replace(row, id="b", body=row.body.replace("Anne", "Bert"))]) == ("b",)
    assert altered_calibrations([structs.replace(row, body="{}")]) == ()
    for body in ("", "{", row.body[:-1], "not JSON"):
        damaged = structs.replace(row, body=body)
        for read in (Calibration.read, lambda stored: altered_calibrations([stored])):
            with pytest.raises(DamagedRow, match=f"^the ledger is damaged: calibration {row.id}: body cannot be read"):
                read(damaged)


def test_a_plan_uses_the_labels_that_are_there_and_teaching_answers_are_new_ones() -> None:
    _, jury, people = fitted()
    assumed = plan_run(jury, [], (), 0.3)[0]
    drawn = ANSWERS[::10]
    known = plan_run(jury, ratings(people, drawn), drawn, 0.3)[0]
    assert assumed.is_assumed
    assert not known.is_assumed
    assert known.correlation > 0.7
    assert known.plan.labels < assumed.plan.labels < len(ANSWERS)
    taught = teaching_answers(jury, ANSWERS, 10, drawn)
    assert len(set(taught)) == 10
    assert not set(taught) & set(drawn)
