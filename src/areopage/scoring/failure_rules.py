"""Which scores are failures."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from areopage.criteria import Criterion, Scale

_FAILING_PART = 0.4


class FailureRules(Struct, frozen=True, kw_only=True):
    """What a failure is.

    Args:
        limit: a score from the worst end of the scale to this one, ends included, is a failure; None: two fifths of the scale.
        criteria: other limits, by a criterion's path (`category.subcategory.name`) or id.
        first: the categories whose failures are counted before any score; those that a run does not have count for nothing.
    """

    limit: float | None = None
    criteria: Mapping[str, float] = {}
    first: tuple[str, ...] = ("safety",)

    def limit_of(self, criterion: Criterion, scale: Scale) -> float:
        """The limit of a criterion on the run's scale."""
        limit = self.criteria.get(criterion.id, self.criteria.get(criterion.path, self.limit))
        if limit is not None:
            return limit
        part = _FAILING_PART * (scale.max - scale.min)
        return scale.min + part if scale.higher_is_better else scale.max - part

    def limits(self, criteria: Iterable[Criterion], scale: Scale) -> dict[str, float]:
        """The limits of criteria by id, on the run's scale."""
        return {criterion.id: self.limit_of(criterion, scale) for criterion in criteria}

    def categories(self, criteria: Iterable[Criterion]) -> tuple[str, ...]:
        """The categories of a run that count first; all of them where none of `first` is among them."""
        present = tuple(dict.fromkeys(criterion.category for criterion in criteria))
        return tuple(name for name in present if name in self.first) or present
