"""Many tests at once: the levels that single tests of a family have, and p-values corrected for false discoveries.

Benjamini's and Hochberg's method keeps the expected share of wrong finds among the finds under the level, where tests are
independent or depend on each other positively (Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of the
Royal Statistical Society B 57, 1995). For Holm's, see `scoring.families`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate


def holm_levels(p_values: Sequence[float], weights: Sequence[float], level: float) -> tuple[float, ...]:
    """The level of its own that each test of a family has by Holm's method: it finds something exactly where p is under it.

    P-values are in [0, 1], and the family's level in (0, 1] is divided by positive weights.
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place] / weights[place])
    left = list(accumulate((weights[place] for place in reversed(order)), initial=0.0))[:0:-1]
    levels: dict[int, float] = {}
    rest, goes_on = 1.0, True
    for place, weight_left in zip(order, left, strict=True):
        rest = weight_left if goes_on else rest
        levels[place] = level * weights[place] / rest
        goes_on = goes_on and p_values[place] < levels[place]
    return tuple(levels[place] for place in range(len(p_values)))


def discovery_levels(p_values: Sequence[float], level: float) -> tuple[float, ...]:
    """The level of each test by Benjamini's and Hochberg's method: it finds something exactly where p is under it.

    For what is found these are the levels of the intervals by Y. Benjamini, D. Yekutieli, "False discovery rate-adjusted multiple
    confidence intervals for selected parameters" (Journal of the American Statistical Association 100, 2005).

    Args:
        p_values: each in [0, 1].
        level: of the family, in (0, 1].
    """
    total, finds = len(p_values), sum(value < level for value in benjamini_hochberg(p_values))
    cut = sorted(p_values)[finds - 1] if finds else -1.0
    return tuple(level * (finds if value <= cut else min(finds + 1, total)) / total for value in p_values)


def benjamini_hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p-values corrected by Benjamini's and Hochberg's method, in [0, 1] and in the order given: see the module."""
    total = len(p_values)
    order = sorted(range(total), key=lambda place: p_values[place])
    steps = (p_values[order[rank - 1]] * total / rank for rank in range(total, 0, -1))
    corrected = dict(zip(reversed(order), accumulate(steps, min), strict=True))
    return tuple(min(1.0, corrected[place]) for place in range(total))


def group_weights(groups: Sequence[str], shares: Mapping[str, float]) -> tuple[float, ...]:
    """Divide a family's level among groups of tests, and that of each group equally among its tests: weights that sum to 1.

    Each group has a positive share; shares of groups without a test go to the others in proportion.
    """
    sizes = Counter(groups)
    whole = sum(shares[group] for group in sizes)
    return tuple(shares[group] / sizes[group] / whole for group in groups)
