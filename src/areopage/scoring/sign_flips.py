"""Whether a change has any effect: the randomisation test of paired differences.

If the change has no effect, changed and unchanged scores of a case could as well be exchanged: each difference is as likely with
the other sign. The p-value is the share of all choices of signs whose sum is as far from 0 as the observed one. Nothing is
assumed of the shape of the scores. Source: R. A. Fisher, "The Design of Experiments" (1935), section 21.
"""

from collections.abc import Sequence

import numpy as np

EXACT_UP_TO = 14
"""Up to this number of differences all signs are tried; of more, signs are drawn."""
DRAWS = 20_000
_ROUNDING = 1e-9


def sign_flip_p_value(differences: Sequence[float], seed: int = 0) -> float | None:
    """The two-sided p-value of no effect, in (0, 1]; None without a difference.

    Args:
        differences: one for each case, changed minus unchanged; cases must be independent.
        seed: of the drawn signs. Drawn p-values count the observed signs as one draw, so that they are never too small.
    """
    values = np.array([difference for difference in differences if difference], dtype=np.float64)
    if not len(differences):
        return None
    if not len(values):
        return 1.0
    observed = abs(values.sum()) - _ROUNDING
    if len(values) <= EXACT_UP_TO:
        bits = (np.arange(2 ** len(values))[:, None] >> np.arange(len(values))) & 1
        return float((np.abs((1 - 2 * bits) @ values) >= observed).mean())
    signs = np.random.default_rng(seed).integers(0, 2, (DRAWS, len(values))) * 2 - 1
    return (1.0 + float((np.abs(signs @ values) >= observed).sum())) / (DRAWS + 1.0)
