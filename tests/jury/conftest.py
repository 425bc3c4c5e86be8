"""A criterion, a case and a judge."""

import pytest

from areopage.cases.records import Case
from areopage.criteria.records import Criterion
from areopage.jury.judges import Judge
from areopage.models.reference import ModelReference


@pytest.fixture
def criterion() -> Criterion:
    """A criterion on 0 to 5."""
    return Criterion(
        id="a.b.c__v1_0",
        category="a",
        subcategory="b",
        name="c",
        version="1.0",
        role="You judge.",
        task="Is it good?",
        age_context="The reader is {age_group}.",
        scoring_guide="0 bad, 5 good",
        output_format='{{"explanation": "why", "score": 0-5}}',
    )


@pytest.fixture
def case() -> Case:
    """A case with a response."""
    return Case(id="1", prompt="Why?", response="Because.", maturity="Teen")


@pytest.fixture
def judge() -> Judge:
    """A judge of two passes."""
    return Judge(name="one", reference=ModelReference("fake", "m"), pass_options=({"temperature": 0.1}, {"temperature": 0.2}))
