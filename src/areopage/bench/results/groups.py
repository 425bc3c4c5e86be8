"""The groups of cases that failures are counted by."""

from typing import Literal

from areopage.bench.spec import RunSpec
from areopage.cases import Case

Dimension = Literal["maturity", "category", "language", "mode"]
DIMENSIONS: tuple[Dimension, ...] = ("maturity", "category", "language", "mode")


def case_group(case: Case, spec: RunSpec, dimension: Dimension) -> str:
    """The group of a case: a dataset's columns `language` and `mode` replace those of the run."""
    if dimension == "maturity":
        return case.maturity
    if dimension == "category":
        return case.category
    own = case.metadata.get(dimension)
    return own if isinstance(own, str) and own else str(getattr(spec, dimension))
