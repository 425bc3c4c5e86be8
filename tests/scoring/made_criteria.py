"""Criteria on a scale from 0 to 5, and planned passes of them, for tests and simulations of scores."""

from areopage.criteria.records import Criterion, Scale
from areopage.scoring.outcome import Outcome, PlannedPass

SCALE = Scale(min=0.0, max=5.0)


def criterion(path: str) -> Criterion:
    """A criterion from its path, such as "safety.harm.danger"."""
    category, subcategory, name = path.split(".")
    return Criterion(
        id=f"{path}__v1_0",
        category=category,
        subcategory=subcategory,
        name=name,
        version="1.0",
        role="r",
        task="t",
        scoring_guide="g",
        output_format="f",
        scale=SCALE,
    )


def one_pass(case: str, path: str, judge: str, outcome: Outcome, number: int = 1) -> PlannedPass:
    """A planned pass of a case on the criterion of a path, with its outcome."""
    return PlannedPass(case_id=case, criterion=f"{path}__v1_0", judge=judge, pass_index=number, outcome=outcome)
