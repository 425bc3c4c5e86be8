"""Many tests at once: p-values corrected so that chance finds do not add up.

Holm's method keeps the chance of even one wrong find in a family under the level for any dependence between the tests;
with weights, some tests get more of the level than others. Source: S. Holm, "A simple sequentially rejective multiple test
procedure" (Scandinavian Journal of Statistics 6, 1979; section 4 for weights).
"""

from collections.abc import Sequence
from itertools import accumulate

ALPHA = 0.05
"""The level of every family."""


def holm(p_values: Sequence[float], weights: Sequence[float] | None = None) -> tuple[float, ...]:
    """Correct the p-values of a family by Holm's method: those under the level are finds.

    Args:
        p_values: each in [0, 1].
        weights: how the level is divided among the tests, each positive; None: equally.

    Returns:
        The corrected p-values in [0, 1], in the order given.
    """
    shares = [1.0] * len(p_values) if weights is None else list(weights)
    order = sorted(range(len(p_values)), key=lambda place: p_values[place] / shares[place])
    left = list(accumulate((shares[place] for place in reversed(order)), initial=0.0))[:0:-1]
    steps = (p_values[place] * rest / shares[place] for place, rest in zip(order, left, strict=True))
    corrected = dict(zip(order, accumulate(steps, max), strict=True))
    return tuple(min(1.0, corrected[place]) for place in range(len(p_values)))
