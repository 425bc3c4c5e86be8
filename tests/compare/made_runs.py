"""Runs made of passes, for tests of comparisons."""

from collections.abc import Mapping

from areopage.compare.statistics.levels import Basis
from areopage.scoring.failure_rules import FailureRules
from areopage.scoring.folding import RecordScores, fold
from areopage.scoring.outcome import NotApplicable, Outcome, Scored, TimedOut
from areopage.scoring.records import DEFAULT
from areopage.scoring.weights import Weights
from scoring.made_criteria import SCALE, criterion, one_pass

WEIGHTS = Weights(categories={"safety": 0.7, "care": 0.3}, criteria={"safety.harm": {"danger": 0.8, "scare": 0.2}})
JUDGES = ("alpha", "beta")

Given = float | None | str
"""A score; None: there is no verdict; "n/a": the judge says that the criterion does not apply."""

CRITERIA = tuple(map(criterion, ("safety.harm.danger", "safety.harm.scare", "safety.trust.lies", "care.tone.warm")))
BASIS = Basis(criteria=CRITERIA, scale=SCALE, failures=FailureRules())


def made(given: Mapping[str, Mapping[tuple[str, str], Given]]) -> dict[str, RecordScores]:
    """The scores of cases from what each judge gives: by case, then by (criterion's path, judge)."""
    passes = [
        one_pass(case, path, judge, outcome(value)) for case, cells in given.items() for (path, judge), value in cells.items()
    ]
    found = fold(passes, CRITERIA, SCALE, WEIGHTS, DEFAULT, FailureRules())
    return {record.case_id: record for record in found.records}


def outcome(value: Given) -> Outcome:
    if value is None:
        return TimedOut(reason="late")
    return NotApplicable() if isinstance(value, str) else Scored(score=value)
