"""Comparisons: false alarms where nothing differs, power where something does, and whether contributions add up.

    python comparison.py [--draws N] [--streams N] [--only PART]

Simulated runs of 24 criteria in 8 sub-categories and 4 categories; scores from 0 to 5, of which most are 4 or 5 and one in
fifteen fails.
Prints one JSON line: shares with Wilson's 95 % intervals.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from datetime import date
from itertools import product
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from areopage.compare.statistics.levels import (
    CaseOutcomes,
    Difference,
    LevelDifference,
    UnpairedLevel,
    UnpairedOutcomes,
    compare_paired,
    compare_unpaired,
)
from areopage.compare.statistics.pooled import pooled_failures
from areopage.compare.statistics.sequential import best_capitals, day_blocks
from areopage.compare.statistics.tested import discoveries, family_of
from areopage.compare.statistics.unpaired import Sample, unpaired_difference
from areopage.criteria.records import Scale
from areopage.scoring import paired
from areopage.scoring.shares import wilson

SCALE = Scale(min=0.0, max=5.0)
SCORES, CHANCES = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), np.array([0.01, 0.02, 0.037, 0.133, 0.4, 0.4])
CUTS = np.array([NormalDist().inv_cdf(chance) for chance in np.cumsum(CHANCES)[:-1]])
SUBCATEGORIES, CRITERIA = 8, 24
ALPHA, PART = 0.05, 0.0125
"""PART is the level that the test of the score of the whole run has at least; that of its failures has ALPHA."""

Table = NDArray[np.float64]


def share(hits: int, of: int) -> dict[str, Any]:
    low, high = wilson(hits, of) or (0.0, 1.0)
    return {"share": round(hits / of, 4), "low": round(low, 4), "high": round(high, 4), "of": of}


def answers(random: np.random.Generator, cases: int) -> tuple[Table, Table]:
    """The scores of two runs of one system, shape (cases, criteria): hard cases are hard for both, judges and answers vary."""
    ease = random.normal(size=(cases, 1))
    made = []
    for _ in range(2):
        latent = 0.7 * ease + 0.4 * random.normal(size=(cases, 1)) + 0.6 * random.normal(size=(cases, CRITERIA))
        ranks = latent.argsort(axis=None).argsort() / latent.size
        made.append(SCORES[np.searchsorted(np.cumsum(CHANCES), ranks, side="right").clip(0, 5)].reshape(latent.shape))
    swap = random.random((cases, 1)) < 0.5
    return np.where(swap, made[1], made[0]), np.where(swap, made[0], made[1])


def outcomes(table: Table) -> CaseOutcomes:
    means, fails = table.mean(axis=1), [row.min() <= 2.0 for row in table]
    return CaseOutcomes(
        scores={str(n): float(score) for n, score in enumerate(means)},
        fails={str(n): bool(one) for n, one in enumerate(np.atleast_1d(fails))},
    )


def node(first: Table, second: Table) -> Difference:
    return compare_paired(outcomes(first), outcomes(second), SCALE)


def levels_of(first: Table, second: Table) -> tuple[LevelDifference, ...]:
    each, half = CRITERIA // SUBCATEGORIES, SUBCATEGORIES // 4
    columns: dict[tuple[str, ...], list[int]] = {(): list(range(CRITERIA))}
    for number in range(CRITERIA):
        sub = number // each
        path = (f"k{sub // half}", f"s{sub}", f"c{number}")
        for depth in (1, 2, 3):
            columns.setdefault(path[:depth], []).append(number)
    names = ("final", "category", "subcategory", "criterion")
    return tuple(
        LevelDifference(
            level=names[len(path)],  # type: ignore[arg-type]
            path=path,
            criteria=tuple(map(str, own)),
            counted=tuple(map(str, own)),
            difference=node(first[:, own], second[:, own]),
        )
        for path, own in columns.items()
    )


NODES = levels_of(*(np.zeros((1, CRITERIA)) for _ in range(2)))
"""The nodes of the tree."""


def found(differences: Sequence[Difference]) -> bool:
    return any(one.is_telling for one in differences)


def false_alarms(draws: int, cases: int) -> dict[str, Any]:
    random, holm, alone, slices, worse = np.random.default_rng(cases), 0, 0, 0, 0
    for _ in range(draws):
        first, second = answers(random, cases)
        levels = levels_of(first, second)
        (settled,) = family_of([levels], SCALE)
        holm += found([one.difference for one in settled])
        worse += any("worse" in one.difference.directions for one in settled)
        alone += any(
            test.p_value is not None and test.p_value < ALPHA
            for one in levels
            for test in (one.difference.by_failures, one.difference.by_score)
        )
        groups = [random.integers(0, values, cases) for values in (10, 10, 8, 6, 4, 2)]
        cut = [node(first[group == value], second[group == value]) for group in groups for value in np.unique(group)]
        slices += found(discoveries(cut, SCALE))
    return {
        "cases": cases,
        "regression": share(worse, draws),
        "any": share(holm, draws),
        "uncorrected": share(alone, draws),
        "slices": share(slices, draws),
    }


def stream(random: np.random.Generator, sizes: tuple[int, int], apart: float) -> tuple[Table, Table]:
    """The scores of one day, from 0 to 10, of two variants; the level of the day is the same for both."""
    level = random.uniform(0.7, 0.9)
    sides = [10 * random.beta(6 * level, 6 * (1 - level), size) for size in sizes]
    return (sides[0] - apart).clip(0, 10), sides[1]


def welch(first: Table, second: Table) -> bool:
    error = np.sqrt(first.var(ddof=1) / len(first) + second.var(ddof=1) / len(second))
    return bool(abs(first.mean() - second.mean()) > 1.96 * error)


def looked_at_daily(streams: int, sizes: tuple[int, int]) -> dict[str, Any]:
    random, wrong, fixed = np.random.default_rng(sum(sizes)), 0, 0
    for _ in range(streams):
        days = [stream(random, sizes, 0.0) for _ in range(60)]
        blocks = [day_blocks(*day, random) / 10.0 for day in days]
        wrong += bool(best_capitals(blocks)[-1] > np.log(2 / ALPHA))
        so_far = [np.concatenate(side) for side in zip(*days, strict=True)]
        ends = [np.cumsum([len(day[side]) for day in days]) for side in (0, 1)]
        fixed += any(welch(so_far[0][:one], so_far[1][:two]) for one, two in zip(*ends, strict=True))
    return {"answers_a_day": sizes, "betting": share(wrong, streams), "fixed_test_daily": share(fixed, streams)}


def days_to_find(streams: int, apart: float, size: int) -> dict[str, Any]:
    random, needed = np.random.default_rng(int(apart * 100)), []
    for _ in range(streams):
        blocks = [day_blocks(*stream(random, (size, size), apart), random) / 10.0 for _ in range(60)]
        won = np.flatnonzero(best_capitals(blocks) > np.log(2 / ALPHA))
        needed.append(int(won[0]) + 1 if won.size else 61)
    return {
        "apart": apart,
        "answers_a_day": size,
        "median_days": float(np.median(needed)),
        "within_60": share(sum(one <= 60 for one in needed), streams),
    }


def power(draws: int, cases: int) -> dict[str, Any]:
    random, made = np.random.default_rng(cases + 1), {}
    for points in (0.1, 0.2, 0.3, 0.5):
        noise = random.choice([-2.0, -1.0, 0.0, 0.0, 0.0, 1.0, 2.0], (draws, cases), p=[0.03, 0.12, 0.3, 0.2, 0.2, 0.12, 0.03])
        moved = -(random.random((draws, cases)) < points).astype(float)
        p_values = [paired.paired_difference(*sides(row), span=5.0).p_value or 0.0 for row in (noise + moved).clip(-5, 5)]
        made[f"score_{points}"] = round(float(np.mean(np.array(p_values) < PART)), 3)
    for extra in (0.02, 0.05, 0.1, 0.2):
        newly, fixed = random.binomial(cases, 0.01 + extra, draws), random.binomial(cases, 0.01, draws)
        made[f"failures_{extra}"] = round(
            float(np.mean([paired.mcnemar(one, two) < ALPHA for one, two in zip(newly, fixed, strict=True)])), 3
        )
    return {"cases": cases, **made}


def nights(draws: int, cases: int, equally_hard: bool) -> dict[str, Any]:
    """A night of which 4 % or 14 % of answers fail, against 14 nights of 4 %; and against the last of them alone (McNemar)."""
    random = np.random.default_rng(cases + equally_hard)
    pooled, single = {0.04: 0, 0.14: 0}, {0.04: 0, 0.14: 0}
    for _ in range(draws):
        rates = np.full(cases, 0.04) if equally_hard else random.beta(0.4, 9.6, cases)
        pool = [night(random, rates) for _ in range(14)]
        for mean in pooled:
            later = night(random, 1.0 - (1.0 - rates) * (1.0 - mean) / 0.96)
            pooled[mean] += pooled_failures(later, pool).direction == "worse"
            pair = paired.paired_failures(later, pool[-1])
            single[mean] += pair.is_separate and len(pair.first) > len(pair.second)
    return {
        "cases": cases,
        "equally_hard": equally_hard,
        "false": share(pooled[0.04], draws),
        "found": share(pooled[0.14], draws),
        "one_night_false": share(single[0.04], draws),
        "one_night_found": share(single[0.14], draws),
    }


def night(random: np.random.Generator, rates: Table) -> dict[str, bool]:
    return {str(number): bool(fails) for number, fails in enumerate(random.random(len(rates)) < rates)}


def sides(row: Table) -> tuple[dict[str, float | None], dict[str, float | None]]:
    return {str(n): float(one) for n, one in enumerate(row)}, {str(n): 0.0 for n in range(len(row))}


def independent(random: np.random.Generator, cases: int) -> Table:
    """The scores of cases of their own, shape (cases, criteria), spread as those of `answers`."""
    latent = 0.8 * random.normal(size=(cases, 1)) + 0.6 * random.normal(size=(cases, CRITERIA))
    return SCORES[np.searchsorted(CUTS, latent, side="right")]


def unpaired_node(first: Table, second: Table, columns: Sequence[int]) -> UnpairedOutcomes:
    sides = outcomes(first[:, columns]), outcomes(second[:, columns])
    return compare_unpaired(*sides, SCALE)


def production_alarms(draws: int, cases: int, answers_judged: int) -> dict[str, Any]:
    """A run and production from one system whose questions are alike: the family, and the slices of two columns."""
    random, family, slices = np.random.default_rng(cases + answers_judged), 0, 0
    for _ in range(draws):
        first, second = independent(random, cases), independent(random, answers_judged)
        levels = tuple(
            UnpairedLevel(
                level=one.level,
                path=one.path,
                criteria=one.criteria,
                counted=one.counted,
                difference=unpaired_node(first, second, [int(name) for name in one.criteria]),
            )
            for one in NODES
        )
        (settled,) = family_of([levels], SCALE)
        family += any(one.difference.is_telling for one in settled)
        every = range(CRITERIA)
        cut = [
            unpaired_node(first[np.arange(cases) % values == value], second[np.arange(answers_judged) % values == value], every)
            for values in (3, 2)
            for value in range(values)
        ]
        slices += any(one.is_telling for one in discoveries(cut, SCALE))
    return {"cases": cases, "answers": answers_judged, "family": share(family, draws), "slices": share(slices, draws)}


KINDS: dict[str, Sequence[float]] = {
    "one criterion": CHANCES.tolist(),
    "rare zeros": [0.02, 0.0, 0.0, 0.0, 0.03, 0.95],
    "2 % failures": [0.02, 0.0, 0.0, 0.0, 0.0, 0.98],
    "7 % failures": [0.07, 0.0, 0.0, 0.0, 0.0, 0.93],
    "30 % failures": [0.3, 0.0, 0.0, 0.0, 0.0, 0.7],
}


def single_tests(draws: int, cases: int, answers_judged: int) -> dict[str, Any]:
    """How often one interval at 95 % leaves out 0, by the kind of scores: plain, and standardised where the mixes differ."""
    random, made = np.random.default_rng(cases), {}
    for name, chances in KINDS.items():
        sides = [[random.choice(SCORES, size, p=chances) for size in (cases, answers_judged)] for _ in range(draws)]
        wrong = sum(unpaired_difference(sample(one), sample(two), ends=(0.0, 5.0)).is_separate for one, two in sides)
        made[name] = share(wrong, draws)
    wrong, blind = 0, 0
    for _ in range(draws):
        groups = [np.arange(size) < size * part for size, part in ((cases, 0.6), (answers_judged, 0.2))]
        hard, easy = ([0.1, 0.1, 0.1, 0.2, 0.3, 0.2], [0.01, 0.02, 0.02, 0.15, 0.4, 0.4])
        scores = [
            np.where(own, random.choice(SCORES, own.size, p=hard), random.choice(SCORES, own.size, p=easy)) for own in groups
        ]
        blind += unpaired_difference(*map(sample, scores), ends=(0.0, 5.0)).is_separate
        wrong += unpaired_difference(
            *(sample(one, own) for one, own in zip(scores, groups, strict=True)), ends=(0.0, 5.0)
        ).is_separate
    return {
        "cases": cases,
        "answers": answers_judged,
        **made,
        "other mix, plain": share(blind, draws),
        "other mix, standardised": share(wrong, draws),
    }


def sample(scores: Table, hard: NDArray[np.bool_] | None = None) -> Sample:
    found = {str(n): float(one) for n, one in enumerate(scores)}
    if hard is None:
        return Sample(scores=found)
    return Sample(scores=found, strata={str(n): str(one) for n, one in enumerate(hard)}, shares={"True": 0.2, "False": 0.8})


def production_power(draws: int, cases: int, answers_judged: int) -> dict[str, Any]:
    """The share of draws with p < 0.0125 for failures of 5 % in production and more of them in the run."""
    random, made = np.random.default_rng(cases + 7), {}
    for extra in (0.05, 0.1, 0.2):
        found = 0
        for _ in range(draws):
            sides = [
                (random.random(size) < chance).astype(float) for size, chance in ((cases, 0.05 + extra), (answers_judged, 0.05))
            ]
            found += (unpaired_difference(*map(sample, sides), ends=(0.0, 1.0)).p_value or 1.0) < PART
        made[f"failures_{extra}"] = round(found / draws, 3)
    return {"cases": cases, "answers": answers_judged, **made}


def production(draws: int) -> dict[str, Any]:
    sizes = ((40, 300), (126, 300), (126, 1000))
    return {
        "single_tests": [single_tests(draws * 2, *one) for one in ((40, 40), *sizes)],
        "power": [production_power(draws // 2, *one) for one in sizes],
        "false_alarms": [production_alarms(draws // 2, *one) for one in sizes[:2]],
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--only", choices=("false_alarms", "daily", "days_to_find", "power", "production", "nights"))
    given = parser.parse_args()
    parts: dict[str, Callable[[], Any]] = {
        "false_alarms": lambda: [false_alarms(given.draws, cases) for cases in (40, 126)],
        "daily": lambda: [looked_at_daily(given.streams, sizes) for sizes in ((20, 20), (8, 40))],
        "days_to_find": lambda: [days_to_find(given.streams // 5, apart, 50) for apart in (0.2, 0.5, 1.0)],
        "power": lambda: [power(given.draws // 2, cases) for cases in (40, 126, 400, 1000)],
        "production": lambda: production(given.draws),
        "nights": lambda: [nights(given.draws, *one) for one in product((76, 150), (True, False))],
    }
    chosen = parts if given.only is None else {given.only: parts[given.only]}
    print(json.dumps({"date": date.today().isoformat(), **{name: measure() for name, measure in chosen.items()}}))


if __name__ == "__main__":
    main()
