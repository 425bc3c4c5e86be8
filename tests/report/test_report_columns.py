"""What the report takes from a run's columns, as it follows from the records of single scores."""

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from areopage.bench.figures.jury_worth import judge_scores, judge_table
from areopage.bench.trust.records import FEW
from areopage.bench.trust.run import judged_run
from areopage.jury.judges import PlannedCall
from areopage.ledger.tables.records import Judgment
from areopage.scoring.outcome import NotApplicable, Outcome, Scored, Unparsed
from areopage.scoring.worth.tables import JuryTable

from .report_runs import Say, case, criterion, judge, judgment, view_of

CRITERIA = (criterion("danger"), criterion("insults"), criterion("clarity", category="style"))


def random_say(seed: int) -> Say:
    chance = random.Random(seed)

    def say(call: PlannedCall) -> Judgment | None:
        outcome: Outcome | None = chance.choice(
            (Scored(score=chance.choice((0.1, 1 / 3, 2.5, 5.0))), NotApplicable(), Unparsed(reason="?"), None)
        )
        return None if outcome is None else judgment(call, outcome)

    return say


@pytest.mark.parametrize("seed", range(5))
def test_tables_and_counts_are_those_of_the_records(tmp_path: Path, seed: int) -> None:
    judges = tuple(judge(name, passes=2) for name in ("b", "a", "c")[: 1 + seed % 3])
    cases = [case(n, maturity=("Child", "Teen")[n % 2]) for n in range(30 if seed < 4 else 5)]
    view = view_of(tmp_path, cases=cases, say=random_say(seed), criteria=CRITERIA, judges=judges)
    records = list(view.scores.criteria)

    found, expected = (
        judge_table(view.spec, view.scores, view.answer_ids),
        JuryTable.of(judge_scores(view.spec, view.scores, view.answer_ids)),
    )
    assert found is not None and len(found.items) > 5
    for name in ("judges", "raters", "names"):
        assert getattr(found, name) == getattr(expected, name)
    for name in ("items", "criteria", "scores", "labels"):
        assert np.array_equal(getattr(found, name), getattr(expected, name), equal_nan=name == "scores")

    scored = Counter(one.criterion for one in records if one.score is not None)
    waived = {one.criterion for one in records if not one.applies}
    silent = [one.id for one in CRITERIA if not scored[one.id]]
    uncovered = view.trust.uncovered
    assert uncovered.few == {one.id: scored[one.id] for one in CRITERIA if 0 < scored[one.id] < FEW}
    assert set(uncovered.never_apply) == {id for id in silent if id in waived}
    assert set(uncovered.without_score) == {id for id in silent if id not in waived}

    by_judge = judged_run(view).by_judge
    paths = {one.id: one.path for one in CRITERIA}
    for one in records:
        own = {said.judge: said.score for said in one.judges}
        assert by_judge[paths[one.criterion]][view.answer_ids[one.case_id]] == tuple(own.get(name.name) for name in judges)


def test_answers_that_cases_share_leave_the_table_to_the_records(tmp_path: Path) -> None:
    view = view_of(tmp_path, cases=[case(n) for n in range(3)], criteria=CRITERIA, judges=(judge("a"),))
    shared = dict.fromkeys(view.answer_ids, "one")
    assert judge_table(view.spec, view.scores, shared) is None
