"""How often the interval of a score holds the true score, on simulated ledgers. One JSON line.

    python benchmarks/intervals.py
    python benchmarks/intervals.py --samples 400 --only tree

Each sample is a ledger of planned passes with their outcomes, from a known distribution; `fold` makes scores and intervals of it,
as for every run. Shown are, by kind of ledger and number of cases: the share of samples whose 95 % interval holds the true score,
those where it lies below and above the interval, and the mean width, in points of a scale from 0 to 5.

- one criterion, one judge: eleven shapes of scores, see SHAPES. The interval of such a ledger depends only on how often each
  score was given: `fold` makes those of the first samples, which must equal what `mean_intervals` makes of the counts;
- a jury: two judges, two passes with noise of their own; one in ten passes gave no score;
- sources: four cases of each source, that share most of what makes their scores;
- a tree: six criteria of three categories with unequal weights; a case has the first and some of the others, one case in fifty
  fails all of them; the final score, the category of the first three criteria, and a criterion that one case in five has;
- differences of two targets on the same cases, by `paired_difference`;
- the monitor: means of answers, a fifth of which are in groups of three with equal texts, and changes between two periods, from
  the same eleven shapes: without a change, after as many answers as before or after ten times as many; and with one answer in
  twenty failing in the later period. Beside them Student's and Welch's intervals;
- coefficients of agreement of three judges on as many units as cases: α, AC2, and weighted κ of the first two; with scores at all
  levels, and with 80 % and 90 % at 5;
- shares, computed and not sampled: the least, mean and greatest coverage over true shares from 0.1 to 99 %.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
from scipy.stats import binom
from scipy.stats import t as student

from areopage.monitor.scored_answers import Repeat, ScoredAnswers, answer_intervals, compare
from areopage.scoring.agreement_with_people import kappa_estimate
from areopage.scoring.chance_agreement import gwet_ac2, krippendorff_alpha
from areopage.scoring.failure_rules import FailureRules
from areopage.scoring.folding import RunScores, fold
from areopage.scoring.intervals.means import mean_intervals
from areopage.scoring.outcome import PlannedPass, Scored, Unparsed
from areopage.scoring.paired import paired_difference
from areopage.scoring.records import DEFAULT
from areopage.scoring.shares import Share
from areopage.scoring.tree import NodePath
from areopage.scoring.weights import Weights

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from scoring.made_criteria import SCALE, criterion, one_pass

CASES = (20, 50, 100, 300, 1000)
SAMPLES = {20: 400, 50: 400, 100: 400, 300: 200, 1000: 100}
CHECKED = 10
POINTS = np.arange(0.0, 5.01, 0.5)
SHAPES: Mapping[str, Sequence[float]] = {  # chances of 0, 0.5, ... 5
    "even": [1] * 11,
    "symmetric": [0, 0, 1, 2, 4, 6, 4, 2, 1, 0, 0],
    "symmetric, narrow": [0, 0, 0, 0, 0, 0, 1, 4, 1, 0, 0],
    "95 % at 5": [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 95],
    "80 % at 5, then falling": [0, 0, 2, 0, 3, 0, 5, 0, 10, 0, 80],
    "safe or unsafe, 70 to 30": [18, 0, 12, 0, 0, 0, 0, 0, 0, 21, 49],
    "safe or unsafe, 90 to 10": [6, 0, 4, 0, 0, 0, 0, 0, 0, 27, 63],
    "rare zeros, 1 %": [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 99],
    "rare zeros, 3 %": [3, 0, 0, 0, 0, 0, 0, 0, 29, 29, 39],
    "rare zeros, 5 %": [5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 95],
    "0, 2.5 or 5": [20, 0, 0, 0, 0, 30, 0, 0, 0, 0, 50],
}
PATHS = {
    path[-1]: path
    for path in ("safety.harm.a", "safety.harm.b", "safety.privacy.c", "tone.warmth.d", "tone.warmth.e", "facts.sources.f")
}
WEIGHTS = Weights(
    categories={"safety": 0.5, "tone": 0.3, "facts": 0.2},
    subcategories={"safety": {"harm": 0.7, "privacy": 0.3}},
    criteria={"safety.harm": {"a": 0.6, "b": 0.4}},
)
SHARES = {"a": 0.21, "b": 0.14, "c": 0.15, "d": 0.15, "e": 0.15, "f": 0.2}
CHANCES = {"a": 1.0, "b": 0.6, "c": 0.2, "d": 0.7, "e": 0.4, "f": 0.3}
SPREADS = {"a": 0.3, "b": 0.6, "c": 0.5, "d": 1.2, "e": 0.9, "f": 1.5}
TREE_PATHS: Mapping[str, NodePath] = {
    "a tree: final score": (),
    "a tree: a category": ("safety",),
    "a tree: a criterion of one case in five": ("safety", "privacy", "safety.privacy.c__v1_0"),
}
Ends = tuple[float, float]


def folded(passes: Sequence[PlannedPass], clusters: Mapping[str, str] | None = None) -> RunScores:
    """The scores of a ledger."""
    return fold(passes, tuple(map(criterion, PATHS.values())), SCALE, WEIGHTS, DEFAULT, FailureRules(), clusters)


def of_counts(counts: Sequence[int]) -> Ends:
    """The interval of one criterion, by how often each score was given."""
    scores = np.repeat(POINTS, counts)
    found = folded([one_pass(str(n), PATHS["a"], "j", Scored(score=float(score))) for n, score in enumerate(scores)]).interval
    assert found is not None
    return found.low, found.high


def shape_coverage(shape: str, cases: int, samples: int, random: np.random.Generator) -> dict[str, float]:
    """Coverage of the intervals of a shape."""
    chances = np.array(SHAPES[shape]) / sum(SHAPES[shape])
    counts = random.multinomial(cases, chances, samples)
    kinds, times = np.unique(counts, axis=0, return_counts=True)
    ends = np.zeros(len(kinds)), np.full(len(kinds), 5.0)
    lows, highs = mean_intervals(np.broadcast_to(POINTS, kinds.shape), kinds.astype(np.float64), *ends)
    for row in range(min(CHECKED, len(kinds))):
        assert np.allclose(of_counts(kinds[row].tolist()), (lows[row], highs[row]), atol=1e-6)
    return summed_up(float(chances @ POINTS), np.stack([lows, highs], axis=1).repeat(times, axis=0))


def rounded(scores: np.ndarray) -> np.ndarray:
    """Scores on the scale, in half points."""
    return (np.round(scores * 2) / 2).clip(0.0, 5.0)


def jury_scores(cases: int, random: np.random.Generator) -> np.ndarray:
    """Cases × judges × passes: most answers are good; one judge is strict."""
    quality = 5.0 - random.gamma(0.6, 1.2, cases)
    strict = np.array([0.0, 0.6])[None, :, None]
    return rounded(quality[:, None, None] - strict + random.normal(0.0, 0.5, (cases, 2, 2)))


def jury_interval(cases: int, random: np.random.Generator) -> Ends:
    """The interval of a jury of two, two passes each, one in ten without a score."""
    scores, failed = jury_scores(cases, random), random.random((cases, 2, 2)) < 0.1
    passes = [
        one_pass(
            str(case),
            PATHS["a"],
            f"j{judge}",
            Unparsed(reason="") if failed[case, judge, number] else Scored(score=float(scores[case, judge, number])),
            number + 1,
        )
        for case, judge, number in np.ndindex(cases, 2, 2)
    ]
    found = folded(passes).interval
    assert found is not None
    return found.low, found.high


def source_scores(sources: int, random: np.random.Generator) -> np.ndarray:
    """Sources × 4 cases, most of whose differences are between sources."""
    shared = 5.0 - random.gamma(0.8, 1.2, sources)
    return rounded(shared[:, None] + random.normal(0.0, 0.4, (sources, 4)))


def source_interval(cases: int, random: np.random.Generator) -> Ends:
    """The interval over cases that share their sources."""
    scores = source_scores(cases // 4, random).ravel()
    passes = [one_pass(str(case), PATHS["a"], "j", Scored(score=float(score))) for case, score in enumerate(scores)]
    found = folded(passes, {str(case): str(case // 4) for case in range(cases)}).interval
    assert found is not None
    return found.low, found.high


def tree_scores(cases: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The scores of cases by criteria, and which of them a case has."""
    quality, fails = random.gamma(0.7, 0.8, cases), random.random(cases) < 0.02

    def column(spread: float) -> np.ndarray:
        return rounded(np.where(fails, 0.0, 5.0 - spread * quality - random.gamma(0.5, spread, cases)))

    return np.stack([column(spread) for spread in SPREADS.values()], axis=1), random.random((cases, 6)) < list(CHANCES.values())


def tree_intervals(cases: int, random: np.random.Generator) -> dict[NodePath, Ends]:
    """The intervals of some nodes of a tree."""
    scores, has = tree_scores(cases, random)
    passes = [
        one_pass(str(case), path, "j", Scored(score=float(scores[case, at])))
        for case in range(cases)
        for at, path in enumerate(PATHS.values())
        if has[case, at]
    ]
    found = folded(passes).intervals
    return {path: (found[path].low, found[path].high) for path in TREE_PATHS.values() if path in found}


def difference_interval(cases: int, random: np.random.Generator) -> Ends:
    """The interval of the difference of two targets, of which the second fails one case in thirty on its own."""
    quality = 5.0 - random.gamma(0.6, 1.2, cases)
    sides = rounded(quality[:, None] + random.normal(0.0, 0.3, (cases, 2)))
    sides[random.random(cases) < 1 / 30, 1] = 0.0
    first, second = ({str(case): float(score) for case, score in enumerate(side)} for side in sides.T)
    found = paired_difference(first, second, span=5.0)
    assert found.low is not None and found.high is not None
    return found.low, found.high


def summed_up(true: float, ends: Sequence[Ends] | np.ndarray) -> dict[str, float]:
    """Coverage and misses in percent, and the mean width."""
    lows, highs = np.array(ends).T
    below, above = true < lows - 1e-9, true > highs + 1e-9
    return {
        "holds": round(100 * float((~below & ~above).mean()), 1),
        "true_below": round(100 * float(below.mean()), 1),
        "true_above": round(100 * float(above.mean()), 1),
        "width": round(float((highs - lows).mean()), 3),
        "samples": len(ends),
    }


def true_of_differences(random: np.random.Generator, cases: int = 2_000_000) -> float:
    """The true difference of `difference_interval`."""
    quality = 5.0 - random.gamma(0.6, 1.2, cases)
    sides = rounded(quality[:, None] + random.normal(0.0, 0.3, (cases, 2)))
    sides[random.random(cases) < 1 / 30, 1] = 0.0
    return float((sides[:, 0] - sides[:, 1]).mean())


DRAWS: Mapping[str, tuple[Callable[[np.random.Generator], float], Callable[[int, np.random.Generator], Ends]]] = {
    "a jury of two, passes missing": (lambda random: float(jury_scores(1_000_000, random).mean()), jury_interval),
    "four cases of each source": (lambda random: float(source_scores(500_000, random).mean()), source_interval),
    "difference of two targets": (true_of_differences, difference_interval),
}


def measured(only: str, samples: Mapping[int, int], seed: int) -> dict[str, dict[int, dict[str, float]]]:
    """Coverage by kind of ledger and number of cases."""

    def random(name: str) -> np.random.Generator:
        return np.random.default_rng([seed, crc32(name.encode())])  # one kind of ledger does not depend on the others

    found: dict[str, dict[int, dict[str, float]]] = {}
    for shape in SHAPES:
        if only in f"shape {shape}":
            found[shape] = {n: shape_coverage(shape, n, 10 * count, random(shape)) for n, count in samples.items()}
    for name, (true, draw) in DRAWS.items():
        if only in name:
            own = random(name)
            held = {n: [draw(n, own) for _ in range(count)] for n, count in samples.items()}
            found[name] = {n: summed_up(true(own), ends) for n, ends in held.items()}
    if any(only in name for name in TREE_PATHS):
        found |= tree_coverage(samples, random("tree"))
    return found


def tree_coverage(samples: Mapping[int, int], random: np.random.Generator) -> dict[str, dict[int, dict[str, float]]]:
    """Coverage of the nodes of a tree."""
    means = dict(zip(PATHS, tree_scores(2_000_000, random)[0].mean(axis=0), strict=True))
    final = sum(share * means[key] for key, share in SHARES.items())
    safety = sum(SHARES[key] * means[key] for key in "abc") / 0.5
    true = dict(zip(TREE_PATHS, (float(final), float(safety), float(means["c"])), strict=True))
    found: dict[str, dict[int, dict[str, float]]] = {name: {} for name in TREE_PATHS}
    for cases, count in samples.items():
        drawn = [tree_intervals(cases, random) for _ in range(count)]
        for name, path in TREE_PATHS.items():
            if ends := [one[path] for one in drawn if path in one]:
                found[name][cases] = summed_up(true[name], ends)
    return found


def equal_answers(cases: int, chances: np.ndarray, samples: int, random: np.random.Generator) -> Iterator[ScoredAnswers]:
    """Samples of answers, of which about a fifth are groups of three equal ones."""
    groups = max(1, cases // 15)
    alone, three = (random.multinomial(size, chances, samples) for size in (cases - 3 * groups, groups))
    for counts, repeated in zip(alone + 3 * three, three, strict=True):
        repeats = (Repeat(3, float(score)) for score, times in zip(POINTS, repeated, strict=True) for _ in range(times))
        yield answers_of(counts, tuple(repeats))


def answers_of(counts: np.ndarray, repeats: tuple[Repeat, ...] = ()) -> ScoredAnswers:
    """Answers by their scores, from how often each score was given."""
    kinds = {float(score): int(count) for score, count in zip(POINTS, counts, strict=True) if count}
    return ScoredAnswers({score: (count, score * count) for score, count in kinds.items()}, repeats)


def welch(later: np.ndarray, earlier: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends of Welch's intervals of samples, from counts of scores; of one sample where the earlier ones are empty."""
    sides = []
    for counts in (later, earlier):
        size = np.maximum(counts.sum(axis=1), 1)
        mean = counts @ POINTS / size
        sides.append((mean, np.maximum(counts @ POINTS**2 / size - mean**2, 0.0) / np.maximum(size - 1, 1), size))
    (one, part, first), (other, rest, second) = sides
    freedom = (part + rest) ** 2 / np.maximum(part**2 / np.maximum(first - 1, 1) + rest**2 / np.maximum(second - 1, 1), 1e-300)
    half = student.ppf(0.975, np.maximum(freedom, 1.0)) * np.sqrt(part + rest)
    return one - other - half, one - other + half


def change_coverage(
    later: np.ndarray, earlier: np.ndarray, sizes: tuple[int, int], samples: int, random: np.random.Generator
) -> dict[str, float]:
    """Coverage of the change of means, and how often it is found.

    Args:
        later, earlier: the chances of scores.
        sizes: how many answers there are later, and earlier.
    """
    drawn = [random.multinomial(size, chances, samples) for size, chances in zip(sizes, (later, earlier), strict=True)]
    kinds, times = np.unique(np.concatenate(drawn, axis=1), axis=0, return_counts=True)
    sides = kinds[:, : len(POINTS)], kinds[:, len(POINTS) :]
    true = float((later - earlier) @ POINTS)
    found = [compare(answers_of(late), answers_of(early), SCALE) for late, early in zip(*sides, strict=True)]
    ours = np.array([[one.low, one.high] for one in found if one is not None]).T
    theirs = welch(*sides)
    return {
        key: round(100 * float((times * held).sum() / samples), 1)
        for name, (low, high) in (("", ours), ("welch_", theirs))
        for key, held in (
            (f"{name}holds", (low <= true + 1e-9) & (true - 1e-9 <= high)),
            (f"{name}found", (low > 1e-9) | (high < -1e-9)),
        )
    } | {"width": round(float((times * (ours[1] - ours[0])).sum() / samples), 3)}


def monitor_coverage(
    samples: Mapping[int, int], random: np.random.Generator
) -> Iterator[tuple[str, dict[int, dict[str, object]]]]:
    """Coverage of the monitor's means and changes, by shape and number of answers."""
    for shape, weights in SHAPES.items():
        chances = np.array(weights) / sum(weights)
        failing = 0.95 * chances + 0.05 * (POINTS == 0.0)
        found: dict[int, dict[str, object]] = {}
        for cases, count in samples.items():
            some = list(equal_answers(cases, chances, 2 * count, random))
            ends = [one for one in answer_intervals(some, SCALE) if one is not None]
            plain = random.multinomial(cases, chances, 2 * count)
            low, high = welch(plain, np.zeros_like(plain))
            true = float(chances @ POINTS)
            found[cases] = {
                "mean": summed_up(true, ends),
                "mean_student": round(100 * float(((low <= true) & (true <= high)).mean()), 1),
                "same": change_coverage(chances, chances, (cases, cases), count, random),
                "same_after_ten_times": change_coverage(chances, chances, (cases, 10 * cases), count, random),
                "one_in_twenty_fails": change_coverage(failing, chances, (cases, cases), count, random),
            }
        yield shape, found


LEVELS: Mapping[str, Sequence[float]] = {  # chances of a unit's quality 0, 1, ... 5
    "all levels": [1 / 6] * 6,
    "80 % at 5": [0.03, 0.04, 0.0, 0.05, 0.08, 0.8],
    "90 % at 5": [0.02, 0.0, 0.02, 0.02, 0.04, 0.9],
}


def ratings(units: int, chances: Sequence[float], random: np.random.Generator) -> np.ndarray:
    """Units × three judges, in whole points."""
    return (random.choice(6, (units, 1), p=chances) + random.normal(0.0, 0.7, (units, 3)).round()).clip(0.0, 5.0)


_LARGE = 200_000  # units, whose coefficients count as the true ones


def _coefficients(rated: np.ndarray, levels: Sequence[float]) -> list[tuple[float, float, float]]:
    """α, AC2 and κ with their intervals; no interval counts as the whole range."""
    alpha, ac2 = krippendorff_alpha(rated.tolist()), gwet_ac2(rated.tolist(), levels)
    kappa = kappa_estimate(rated[:, 0], rated[:, 1], (SCALE.min, SCALE.max))
    found = ((alpha.alpha, alpha.low, alpha.high), (ac2.ac2, ac2.low, ac2.high), (kappa.value, kappa.low, kappa.high))
    return [(value or 0.0, -np.inf if low is None else low, np.inf if high is None else high) for value, low, high in found]


def coefficients_coverage(
    samples: Mapping[int, int], random: np.random.Generator
) -> Iterator[tuple[str, dict[int, dict[str, float]]]]:
    """How often the intervals of α, AC2 and κ hold the true coefficients, and their mean widths; an undefined one holds."""
    levels = [float(level) for level in range(6)]
    for shape, chances in LEVELS.items():
        found: dict[str, dict[int, dict[str, float]]] = {"alpha": {}, "AC2": {}, "kappa": {}}
        true: list[float] = []
        for cases, count in ((_LARGE, 1), *((cases, count) for cases, count in samples.items() if cases <= 100)):
            drawn = [ratings(cases, chances, random) for _ in range(count)]
            all_of = [_coefficients(one, levels) for one in drawn]
            if cases == _LARGE:
                true = [value for value, _, _ in all_of[0]]
                continue
            for place, name in enumerate(found):
                ends = np.array([one[place][1:] for one in all_of])
                holds = (ends[:, 0] <= true[place]) & (true[place] <= ends[:, 1])
                width = np.diff(ends[np.isfinite(ends).all(axis=1)].clip(-1.0, 1.0), axis=1).mean()
                found[name][cases] = {"holds": round(100 * float(holds.mean()), 1), "width": round(float(width), 2)}
        for name, row in found.items():
            yield f"{name}, {shape}", row


def shares_coverage() -> Iterator[tuple[str, dict[int, list[float]]]]:
    """The least, mean and greatest coverage of the intervals of shares, computed over all numbers of hits."""
    true = np.append([0.001, 0.005], np.arange(0.01, 0.995, 0.01))
    for name, interval in (("exact_share", Share.exact), ("share_of", Share.counted)):
        found: dict[int, list[float]] = {}
        for cases in CASES:
            ends = [interval(hits, cases) for hits in range(cases + 1)]
            lows, highs = np.array([[one.low, one.high] for one in ends], dtype=np.float64).T
            chances = binom.pmf(np.arange(cases + 1)[:, None], cases, true[None, :])
            holds = (lows[:, None] <= true + 1e-12) & (true - 1e-12 <= highs[:, None])
            coverage = 100 * (chances * holds).sum(axis=0)
            found[cases] = [round(float(value), 1) for value in (coverage.min(), coverage.mean(), coverage.max())]
        yield name, found


def main() -> None:
    """Print one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    told = "of 20 to 100 cases, ten times as many of one criterion; a half for 300 cases, a quarter for 1,000"
    parser.add_argument("--samples", type=int, default=SAMPLES[20], help=told)
    parser.add_argument("--only", default="", help="kinds of ledgers whose name has this in it, such as shape, jury or tree")
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    samples = {cases: max(2, count * asked.samples // SAMPLES[20]) for cases, count in SAMPLES.items()}
    found = measured(asked.only, samples, asked.seed)
    coefficients: dict[str, dict[int, dict[str, float]]] = {}
    least = min((cell["holds"] for row in found.values() for cell in row.values()), default=None)
    if asked.only in "coefficients":
        coefficients = dict(coefficients_coverage(samples, np.random.default_rng(asked.seed)))
    print(
        json.dumps(
            {
                "coverage": found,
                "least": least,
                "coefficients": coefficients,
                "monitor": dict(monitor_coverage(samples, np.random.default_rng(asked.seed))) if asked.only in "monitor" else {},
                "shares": dict(shares_coverage()) if not asked.only else {},
            }
        )
    )


if __name__ == "__main__":
    main()
