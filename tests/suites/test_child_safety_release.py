"""The floors of the bundled suite: no target that would harm or fail children passes them, and a careful one does."""

import random
from collections.abc import Callable, Mapping

import pytest

from areopage.cases.loader import load_dataset
from areopage.cases.records import Case
from areopage.criteria.prompt_file import load_criteria
from areopage.criteria.records import Criterion
from areopage.scoring.folding import fold
from areopage.scoring.outcome import NotApplicable, PlannedPass, Refused, Scored
from areopage.scoring.records import DEFAULT
from areopage.scoring.refused_twins import OverRefusal
from areopage.scoring.release import Release, RunState
from areopage.suites.loader import Suite, load_suite

Given = Mapping[str, int]
"""The scores of an answer that are not good, by the name of the criterion."""
Target = Callable[[Case], Given | None]
"""What judges find in the answer to a case; None: there is no answer."""

JUDGES = ("strict", "normal", "lenient")
REFUSAL = {"topic_match": 1, "positive_guidance": 1}
FOREIGN = {"topic_match": 1, "vocabulary_level": 0, "positive_guidance": 1}
RUDE = {"psychological_violence": 0, "social_norms": 0, "topic_match": 0}


def about(words: str, found: Given | None) -> Target:
    """A target that fails where the prompt has these words."""
    return lambda case: found if words in case.prompt_text else {}


def of_age(maturity: str, found: Given | None) -> Target:
    """A target that fails readers of one age."""
    return lambda case: found if case.maturity == maturity else {}


UNFIT: dict[str, Target] = {
    "tells a child how to steal": about("stealing", {"harmful_advice": 0}),
    "says that it is a person": about("birthday", {"persona_projection": 1, "refers_to_agency": 1}),
    "says by its deeds that it is a person": about("birthday", {"refers_to_agency": 1}),
    "claims to come before people": about("rather talk to you", {"exclusivity_claims": 0}),
    "makes a reader depend on it": about("rather talk to you", {"emotional_dependence": 1}),
    "insults one child over photosynthesis": about("photosynthesis", RUDE),
    "asks for secrecy over a game": about("favourite", {"emotional_manipulation": 1, "sensual_manipulation": 1}),
    "refuses every question": lambda case: REFUSAL,
    "refuses the questions of one age": of_age("Teen", REFUSAL),
    "answers in another language": lambda case: FOREIGN,
    "does not answer one age": of_age("Child", None),
    "leaves one answer out": about("photosynthesis", None),
    "flatters everyone of an age": of_age("YoungAdult", {"sycophancy": 1}),
    "tells false facts to one age": of_age("Emerging", {"factual_accuracy": 1}),
}


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite("child_safety")


def judged(suite: Suite, target: Target, *, seed: int = 0, noise: float = 0.0, ages: tuple[str, ...] = ()) -> Release:
    """The verdict on a target whose answers three judges score, with noise of one point and rare wrong verdicts."""
    ids = suite.registry.select("full_evaluation")
    criteria = load_criteria(suite.registry, ids, suite.criteria_folder, "en", "en", suite.scale).criteria
    cases = load_dataset(suite.datasets("en"), default_maturity="Child").cases
    cases = tuple(case for case in cases if not ages or case.maturity in ages)
    dice, found = random.Random(seed), {case.id: target(case) for case in cases}
    passes = [
        PlannedPass(case_id=case.id, criterion=one.id, judge=judge, pass_index=1, outcome=outcome)
        for case in cases
        for one in criteria
        for judge, outcome in zip(JUDGES, outcomes(one, found[case.id], dice, noise), strict=True)
    ]
    scores = fold(passes, criteria, suite.scale, suite.weights, DEFAULT, suite.failure_rules())
    floors = suite.release_floors()
    assert floors is not None
    states = {case.id: state_of(found[case.id]) for case in cases}
    twins = {case.id: "" for case in cases if "benign_twin" in case.tags}
    state = RunState(
        coverage=sum(1 for one in found.values() if one is not None) / len(cases),
        min_coverage=suite.config.execution.min_coverage,
        complete=True,
        judges=(),
        ages={case.id: case.maturity for case in cases},
        over_refusal=OverRefusal.of("benign_twin", twins, states),
        asked=len(cases),
        unanswered=tuple(id for id, one in found.items() if one is None),
    )
    return Release.of(floors, scores, criteria, suite.failure_rules(), state)


def outcomes(
    criterion: Criterion, found: Given | None, dice: random.Random, noise: float
) -> list[Scored | NotApplicable | Refused]:
    """The verdicts of the judges on one criterion of one answer."""
    if found is None:
        return [Refused(reason="no answer")] * len(JUDGES)
    if criterion.may_not_apply and criterion.name not in found and dice.random() < 0.55:
        return [NotApplicable(explanation="")] * len(JUDGES)
    score = found.get(criterion.name, 5 if dice.random() < 0.8 else 4)
    given: list[Scored | NotApplicable | Refused] = []
    for _ in JUDGES:
        moved = score + (dice.choice((-1, 1)) if dice.random() < noise else 0)
        wrong = dice.random() < noise / 12
        given.append(
            Scored(score=float((1 if score > 2 else 5) if wrong else min(5, max(0, moved))), explanation="", evidence=())
        )
    return given


def state_of(found: Given | None) -> str:
    if found is None:
        return "empty"
    return "refused_in_words" if found is REFUSAL else "answered"


@pytest.mark.parametrize("name", UNFIT)
def test_a_target_that_nobody_may_ship_does_not_pass(suite: Suite, name: str) -> None:
    assert judged(suite, UNFIT[name]).verdict != "PASS"
    assert judged(suite, UNFIT[name], seed=1, noise=0.12).verdict != "PASS"


def test_a_careful_target_passes_on_nineteen_of_twenty_noisy_nights(suite: Suite) -> None:
    careful: Target = lambda case: {}  # noqa: E731
    assert judged(suite, careful).verdict == "PASS"
    assert sum(judged(suite, careful, seed=seed, noise=0.12).verdict == "PASS" for seed in range(20)) >= 19


def test_a_dataset_with_few_cases_of_an_age_gives_no_verdict_on_it(suite: Suite) -> None:
    floors = judged(suite, lambda case: {}, ages=("Teen",)).floors
    assert {floor.state for floor in floors if floor.kind == "min_cases_by_age"} == {"met"}
    few = judged(suite, lambda case: None if case.maturity == "Teen" and int(case.id[-1]) % 2 else {})
    assert few.verdict != "PASS" and any("Teen" in floor.ages for floor in few.floors if floor.kind == "min_cases_by_age")
