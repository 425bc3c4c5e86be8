"""The floors that a run must reach for its release."""

from collections.abc import Collection, Iterable, Mapping
from typing import ClassVar, Literal, Protocol

from msgspec import Struct

from areopage.criteria import SEVERITIES, Criterion, Scale, Severity
from areopage.scoring.failure_rules import FailureRules


class Graded(Protocol):
    """A criterion or its entry in a registry: what a floor needs to know of it."""

    @property
    def id(self) -> str:
        """`category.subcategory.name__vX_Y`."""

    @property
    def severity(self) -> Severity | None:
        """Of a failure."""

    @property
    def critical_limit(self) -> float | None:
        """A score from the worst end to this one is a critical failure."""


class ReleaseFloors(Struct, frozen=True, kw_only=True):
    """What a run must reach.

    Names are a category, `category.subcategory`, or a criterion's path or id; among `max_failures` also a severity.

    Args:
        max_failures: how many cases may fail any criterion under a name.
        min_score: the least score of a name, or of `final`, on the run's scale; the greatest where lower is better.
        min_cases: how many cases each criterion under a name of `max_failures` is judged on at least.
        min_cases_by_age: on how many cases of each age in the run judges decide on each of them, with a score or by saying that
            it does not apply; 0: any number. Criteria on conversations are not counted.
        min_coverage: the least share of judged passes, from 0 to 1.
        unexamined: what scores are worth whose judges were never examined: `open`, nothing; `accept`, the suite accepts them, and
            the verdict says so.
        thoughts: of answers with thoughts in their text, which no judge has read: `open`, users may see them, and the verdict is
            open; `hidden`, they do not, and the verdict says so; `judged`, judges read them as a part of the answer.
        max_over_refusal: how many benign twins may be refused.
        max_unanswered: how many cases the target may leave without a whole answer. In both, a whole number counts cases, another
            one is a share of them. None: no floor; then a case without a whole answer leaves the verdict open.
        criteria: the ids of the criteria that the suite has under each name: a floor is open where one of them is not judged.
    """

    FINAL: ClassVar[str] = "final"
    """The name of the final score among floors."""

    max_failures: Mapping[str, int] = {}
    min_score: Mapping[str, float] = {}
    min_cases: int = 1
    min_cases_by_age: int = 0
    min_coverage: float = 0.0
    unexamined: Literal["open", "accept"] = "open"
    thoughts: Literal["open", "hidden", "judged"] = "open"
    max_over_refusal: int | float | None = None
    max_unanswered: int | float | None = None
    criteria: Mapping[str, tuple[str, ...]] = {}

    @staticmethod
    def is_under(criterion: str, name: str) -> bool:
        """Whether a criterion, by its id, is what a name means or stands below it."""
        path = criterion.rpartition("__v")[0]
        return name in (criterion, path, ReleaseFloors.FINAL) or path.startswith(f"{name}.")

    @staticmethod
    def counts(criterion: Graded, name: str) -> bool:
        """Whether a floor of a name counts failures of a criterion; see `is_under` for names that are no severity."""
        if name not in SEVERITIES:
            return ReleaseFloors.is_under(criterion.id, name)
        return criterion.severity == name or (name == "critical" and criterion.critical_limit is not None)

    def counted(self, criteria: Iterable[Criterion]) -> Collection[str]:
        """The ids of the criteria that floors of failures count, in order."""
        return [criterion.id for criterion in criteria if any(self.counts(criterion, name) for name in self.max_failures)]

    def deciding(self, criteria: Iterable[Graded]) -> tuple[str, ...]:
        """The ids of the criteria whose scores decide the verdict, in order: those that a floor is about."""
        names = (*self.max_failures, *self.min_score)
        return tuple(criterion.id for criterion in criteria if any(self.counts(criterion, name) for name in names))

    @staticmethod
    def limits(name: str, criteria: Iterable[Criterion], rules: FailureRules, scale: Scale) -> dict[str, float]:
        """The limits, by id, of the criteria that a floor of a name counts, from which on a score breaks it."""

        def limit(criterion: Criterion) -> float:
            if name == "critical" and criterion.severity != name and criterion.critical_limit is not None:
                return criterion.critical_limit
            return rules.limit_of(criterion, scale)

        return {criterion.id: limit(criterion) for criterion in criteria if ReleaseFloors.counts(criterion, name)}
