"""Whether a jury sees the failures that people see.

An item's score by people is the mean of its raters' labels, and it fails at or beyond the limit that holds for the jury's score.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from msgspec import Struct

from areopage.criteria import Scale
from areopage.scoring.agreement_with_people import Rating
from areopage.scoring.shares import Share


class FailuresSeen(Struct, frozen=True, kw_only=True):
    """A jury's failures against people's, over the items that both scored; shares have exact 95 % intervals.

    Args:
        people, jury, both: how many items fail for people, for the jury, and for both.
        agreement: of all items those that fail for both, or for neither.
        sensitivity: of the items that fail for people those that fail for the jury.
        specificity: of the items that pass for people those that pass for the jury.
        missed: the items that fail for people only.
    """

    items: int
    people: int
    jury: int
    both: int
    agreement: Share
    sensitivity: Share
    specificity: Share
    missed: tuple[str, ...]


class HumanFailures(Struct, frozen=True, kw_only=True):
    """Failures by people and by the jury.

    Args:
        first: an item fails if it fails any of the criteria that count first, of those that both scored.
        by_criterion: by the criterion's path.
    """

    first: FailuresSeen
    by_criterion: dict[str, FailuresSeen]

    @classmethod
    def of(
        cls,
        jury: Mapping[str, Mapping[str, float]],
        ratings: Iterable[Rating],
        limits: Mapping[str, float],
        scale: Scale,
        first: Sequence[str],
    ) -> "HumanFailures":
        """Compare the failures of a jury with those of people, on one scale, on the criteria that have a limit.

        `jury` is criterion -> item -> score; `first` are the criteria whose failures count first.
        """
        labels_of: dict[str, dict[str, list[float]]] = {criterion: {} for criterion in limits}
        for rating in ratings:
            if rating.criterion in labels_of:
                labels_of[rating.criterion].setdefault(rating.item, []).append(rating.score)
        by_criterion: dict[str, FailuresSeen] = {}
        together: dict[str, tuple[bool, bool]] = {}
        for criterion, limit in limits.items():
            scores = jury.get(criterion, {})
            failing = {
                item: (scale.reaches(scores[item], limit), scale.reaches(fmean(labels), limit))
                for item, labels in labels_of[criterion].items()
                if item in scores
            }
            by_criterion[criterion] = _seen(failing)
            if criterion in first:
                for item, (by_jury, by_people) in failing.items():
                    before = together.get(item, (False, False))
                    together[item] = (before[0] or by_jury, before[1] or by_people)
        return cls(first=_seen(together), by_criterion=by_criterion)


def _seen(failing: Mapping[str, tuple[bool, bool]]) -> FailuresSeen:
    """Count items by whether they fail for the jury and for people."""
    cells = list(failing.values())
    both, neither = cells.count((True, True)), cells.count((False, False))
    missed = tuple(item for item, cell in failing.items() if cell == (False, True))
    people = both + len(missed)
    return FailuresSeen(
        items=len(cells),
        people=people,
        jury=both + cells.count((True, False)),
        both=both,
        agreement=Share.exact(both + neither, len(cells)),
        sensitivity=Share.exact(both, people),
        specificity=Share.exact(neither, len(cells) - people),
        missed=missed,
    )
