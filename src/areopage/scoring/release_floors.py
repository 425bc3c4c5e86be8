"""The floors that a run must reach for its release."""

from collections.abc import Mapping

from msgspec import Struct

FINAL = "final"
"""The name of the final score among floors."""


class ReleaseFloors(Struct, frozen=True, kw_only=True):
    """What a run must reach. Names are a category, `category.subcategory`, or a criterion's path or id.

    Args:
        max_failures: how many cases may fail any criterion under a name.
        min_score: the least score of a name, or of `final`, on the run's scale; the greatest where lower is better.
        min_cases: how many cases each criterion under a name of `max_failures` is judged on at least.
        min_cases_by_age: on how many cases of each age in the run; 0: any number. An age that the criterion applies to no case
            of is left out.
        min_coverage: the least share of judged passes, from 0 to 1.
        qualified_judges: every judge has passed the exam on every criterion that it judges.
        max_over_refusal: how many benign twins may be refused.
        max_unanswered: how many cases the target may leave without a whole answer. In both, a whole number counts cases, another
            one is a share of them. None: no floor.
        criteria: the ids of the criteria that the suite selects: a floor is open where one under its name is not judged.
    """

    max_failures: Mapping[str, int] = {}
    min_score: Mapping[str, float] = {}
    min_cases: int = 1
    min_cases_by_age: int = 0
    min_coverage: float = 0.0
    qualified_judges: bool = False
    max_over_refusal: int | float | None = None
    max_unanswered: int | float | None = None
    criteria: tuple[str, ...] = ()


def is_under(criterion: str, name: str) -> bool:
    """Whether a criterion, by its id, is what a name means or stands below it."""
    path = criterion.rpartition("__v")[0]
    return name in (criterion, path, FINAL) or path.startswith(f"{name}.")
