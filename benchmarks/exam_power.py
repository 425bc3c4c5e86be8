"""How likely a judge of stated faults passes an exam, computed without drawing exams.

The judge is an oracle that sees the middle of each band, with a bias, noise and lapses, and answers in whole points. What it says
of a row has then a distribution that is known exactly, and so have the mean of its passes and each distance. The sum over rows
is the convolution of these. A mark on a mean is met up to a certain mean: it is found by tilting the distribution until the
interval of an exam in which every value occurs as often as expected ends at the mark. The distribution of a separation is
counted out for few rows; for many it is normal, with the variance of U-statistics (W. Hoeffding, "A class of statistics with
asymptotically normal distribution", Annals of Mathematical Statistics 19, 1948).
"""

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import combinations, product
from statistics import NormalDist

import numpy as np
from msgspec import Struct

from areopage.scoring.arrays import Column
from areopage.scoring.exams.intervals import error_interval, separation_interval
from areopage.scoring.exams.records import HIGH, LOW, MarkName, Marks
from areopage.scoring.shares import at_least, wilson

_STEPS = 40
_STEEPEST = 60.0
_GRID = 9
_COUNTED = 256
"""Pairs of a low and a high row up to which their distribution is counted out."""
Chances = dict[float, float]
"""A distribution: value -> probability."""


class Oracle(Struct, frozen=True, kw_only=True):
    """A judge that sees the middle of every band. Distances are shares of the scale.

    Args:
        noise: standard deviation of each call.
        bias: what is added to each score.
        lapses: the chance that a call brings no verdict, in [0, 1].
        points: into how many steps the scale is cut; scores are rounded to whole ones.
    """

    noise: float = 0.0
    bias: float = 0.0
    lapses: float = 0.0
    points: int = 5

    def says(self, low: float, high: float) -> Chances:
        """The distribution of the score of one call on a row with a band, in [0, 1]."""
        middle = (low + high) / 2 + self.bias
        places = [step / self.points for step in range(self.points + 1)]
        if self.noise == 0:
            nearest = min(places, key=lambda place: (abs(place - middle), place))
            return {nearest: 1.0}
        normal = NormalDist(middle, self.noise)
        edges = [0.0, *(normal.cdf(place + 0.5 / self.points) for place in places[:-1]), 1.0]
        return {place: edges[at + 1] - edges[at] for at, place in enumerate(places) if edges[at + 1] > edges[at]}


class Predicted(Struct, frozen=True, kw_only=True):
    """The probability to meet each mark, and bounds for all together: independent at worst, nested at best."""

    marks: dict[MarkName, float]

    @property
    def least(self) -> float:
        """All marks, if each were met independently of the others."""
        return math.prod(self.marks.values())

    @property
    def most(self) -> float:
        """All marks, if the hardest one decided alone."""
        return min(self.marks.values())


def predicted(oracle: Oracle, bands: Sequence[tuple[float, float]], passes: int, changes: int, marks: Marks) -> Predicted:
    """Predict how likely an oracle meets each mark.

    Args:
        bands: of the gold rows, as shares of the scale.
        passes: how often each row is judged; `changes`: in how many harmless variants it is also judged.
    """
    kinds = {band: sum(one == band for one in bands) for band in bands}
    calls = {band: oracle.says(*band) for band in kinds}
    means = {band: _mean_of(said, passes) for band, said in calls.items()}
    reach = sum(max(low, 1 - high) for low, high in bands) / len(bands)
    errors = {band: _mapped(said, partial(_outside, *band)) for band, said in means.items()}
    found: dict[MarkName, float] = {
        "separation": _separated(means, kinds, marks.separation),
        "error": _within(errors, kinds, reach, marks.error),
        "parsed": _all_parsed(oracle.lapses, passes, len(bands), marks.parsed),
    }
    if passes > 1:
        spread = {band: _spread(said, passes) for band, said in calls.items()}
        widest = (passes // 2) * (passes - passes // 2) / (passes * (passes - 1) / 2)
        found["consistency"] = _within(spread, kinds, widest, marks.consistency)
    if changes:
        found["sensitivity"] = _within(
            {band: _changed(said, changes) for band, said in calls.items()}, kinds, 1.0, marks.sensitivity
        )
    return Predicted(marks=found)


# --- what one row gives


def _added(first: Chances, second: Chances) -> Chances:
    found: Chances = {}
    for (left, one), (right, other) in product(first.items(), second.items()):
        place = round(left + right, _GRID)
        found[place] = found.get(place, 0.0) + one * other
    return found


def _mapped(chances: Chances, change: Callable[[float], float]) -> Chances:
    found: Chances = {}
    for place, chance in chances.items():
        value = round(change(place), _GRID)
        found[value] = found.get(value, 0.0) + chance
    return found


def _outside(low: float, high: float, place: float) -> float:
    return max(0.0, low - place, place - high)


def _mean_of(said: Chances, passes: int) -> Chances:
    return _mapped(reduce(_added, [said] * passes), lambda total: total / passes)


def _spread(said: Chances, passes: int) -> Chances:
    """The mean difference of two passes."""
    pairs = passes * (passes - 1) / 2
    found: Chances = {}
    for given in product(said.items(), repeat=passes):
        value = round(sum(abs(one[0] - other[0]) for one, other in combinations(given, 2)) / pairs, _GRID)
        found[value] = found.get(value, 0.0) + math.prod(chance for _, chance in given)
    return found


def _changed(said: Chances, changes: int) -> Chances:
    """The mean change against the first pass, by `changes` variants that each differ by noise alone."""
    found: Chances = {}
    for first, chance in said.items():
        apart = _mean_of(_mapped(said, partial(_outside, first, first)), changes)
        for value, other in apart.items():
            found[value] = found.get(value, 0.0) + chance * other
    return found


# --- what all rows give


def _separated(means: dict[tuple[float, float], Chances], kinds: dict[tuple[float, float], int], limit: float) -> float:
    sides = [
        {band: count for band, count in kinds.items() if band[1] <= LOW},
        {band: count for band, count in kinds.items() if band[0] >= HIGH},
    ]
    low, high = (sum(side.values()) for side in sides)
    if not low or not high:
        return 0.0
    least = _least_separation(low, high, limit)
    if least is None:
        return 0.0
    left, right = (_mixed(means, side) for side in sides)
    if low * high <= _COUNTED:
        return _counted_out(left, right, low, high, least)
    above = np.array([[1.0 if one > other else 0.5 if one == other else 0.0 for other in left] for one in right])
    left_chance, right_chance = np.array(list(left.values())), np.array(list(right.values()))
    by_high, by_low = above @ left_chance, right_chance @ above
    value = float(right_chance @ by_high)
    of_high, of_low = float(right_chance @ by_high**2) - value**2, float(left_chance @ by_low**2) - value**2
    of_pair = float(right_chance @ above**2 @ left_chance) - value**2
    spread = math.sqrt(max(0.0, ((low - 1) * of_high + (high - 1) * of_low + of_pair) / (low * high)))
    if spread < 1e-9:
        return float(value >= least)
    return 1 - NormalDist(value, spread).cdf(least - 0.25 / (low * high))


def _counted_out(left: Chances, right: Chances, low: int, high: int, least: float) -> float:
    """The probability that a separation is at least so great, over all ways in which the rows can fall on the values.

    The values are gone through upwards; a state is how many rows of each side lie below, and how many half pairs are won.
    """
    states = np.zeros((low + 1, high + 1, 2 * low * high + 1))
    states[0, 0, 0] = 1.0
    for value in sorted({*left, *right}):
        after = np.zeros_like(states)
        for more_low, more_high in product(range(low + 1), range(high + 1)):
            chance = left.get(value, 0.0) ** more_low * right.get(value, 0.0) ** more_high
            if chance == 0.0:
                continue
            chance /= math.factorial(more_low) * math.factorial(more_high)
            for below in range(low + 1 - more_low):
                won = 2 * more_high * below + more_high * more_low
                part = states[below, : high + 1 - more_high, : states.shape[2] - won]
                after[below + more_low, more_high:, won:] += chance * part
        states = after
    whole = states[low, high] * math.factorial(low) * math.factorial(high)
    return float(whole[math.ceil(least * 2 * low * high - 1e-9) :].sum())


def _least_separation(low: int, high: int, limit: float) -> float | None:
    """The smallest separation whose interval lies over a limit; None where not even 1 does."""
    for halves in range(2 * low * high, -1, -1):
        if separation_interval(halves / (2 * low * high), low, high)[0] < limit:
            return None if halves == 2 * low * high else (halves + 1) / (2 * low * high)
    return 0.0


def _mixed(chances: dict[tuple[float, float], Chances], kinds: dict[tuple[float, float], int]) -> Chances:
    """The distribution over rows of several bands."""
    found: Chances = {}
    for band, count in kinds.items():
        for place, chance in chances[band].items():
            found[place] = found.get(place, 0.0) + chance * count / sum(kinds.values())
    return found


def _within(
    by_band: dict[tuple[float, float], Chances], kinds: dict[tuple[float, float], int], end: float, limit: float
) -> float:
    """The probability that the interval of a mean ends at or below a limit."""
    rows, mixed = sum(kinds.values()), _mixed(by_band, kinds)
    greatest = _greatest_mean(mixed, rows, end, limit)
    if greatest is None:
        return 0.0
    total = reduce(_added, (by_band[band] for band, count in kinds.items() for _ in range(count)))
    return min(1.0, sum(chance for value, chance in total.items() if value / rows <= greatest + 1e-9))


def _greatest_mean(mixed: Chances, rows: int, end: float, limit: float) -> float | None:
    """The greatest mean of exams of a kind whose interval ends at the limit; None where not even zeros do."""
    values, chances = np.array(list(mixed)), np.array(list(mixed.values()))

    def tilted(slope: float) -> Column:
        weight = chances * np.exp(slope * (values - values.max() if slope > 0 else values - values.min()))
        return np.asarray(weight / weight.sum(), dtype=np.float64)

    def ends(slope: float) -> float:
        counts = {float(value): float(share) * rows for value, share in zip(values, tilted(slope), strict=True) if share > 1e-6}
        return error_interval(counts, end)[1]

    least, most = -_STEEPEST, _STEEPEST
    if ends(least) > limit:
        return None
    for _ in range(_STEPS):
        middle = (least + most) / 2
        least, most = (middle, most) if ends(middle) <= limit else (least, middle)
    return float(values @ tilted(least))


def _all_parsed(lapses: float, passes: int, rows: int, limit: float) -> float:
    hits = next((hits for hits in range(rows + 1) if (ends := wilson(hits, rows)) and ends[0] >= limit), None)
    return 0.0 if hits is None else at_least(hits, rows, (1 - lapses) ** passes)
