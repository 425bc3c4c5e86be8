"""How falls of quality are found, how often one is reported without a fall, and whether an incident closes too early.

    python benchmarks/monitor_falls.py [--seeds 200] [--years 200]

Three sources answer 300 or 2,000 questions a day; four criteria, the global score and the share of weak answers are tested for
each source and for all. On day 20 the quality falls and stays fallen. "Daily sd" is a shift of all scores of a day that is the
same for all answers. Prints one line of JSON.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from areopage.scoring.falls import RECOVERY, DayScores, Falls, find_falls, limit_of, recovery_evidence, with_all

Column = NDArray[np.float64]

WEIGHTS = np.array([0.4, 0.3, 0.15, 0.15])
SOURCES, CHANGE, LEAST = 3, 20, 0.2
LAST = 50
ROWS: dict[str, dict[str, float]] = {
    "all criteria -1.0": {"shift": 1.0},
    "accuracy -2": {"inexact": 2.0},
    "all criteria -0.5": {"shift": 0.5},
    "accuracy -1": {"inexact": 1.0},
    "accuracy -3 in a quarter of the answers": {"inexact": 3.0, "share": 0.25},
    "very weak answers 4 % -> 12 %": {"weak": 0.12},
}


def measures(
    random: np.random.Generator,
    count: int,
    offset: float,
    shift: float = 0.0,
    inexact: float = 0.0,
    share: float = 1.0,
    weak: float = 0.04,
) -> Column:
    """The global score, weak or not, and four criteria of some answers."""
    scores = np.clip(np.round(random.normal(8.6, 1.1, (count, 4))), 0, 10)
    bad = random.random(count) < weak
    number = int(bad.sum())
    scores[bad] = np.column_stack(
        [random.integers(0, 6, number), random.integers(3, 8, number), np.full(number, 8), random.integers(0, 7, number)]
    )
    hit = random.random(count) < share
    scores[hit, 0] -= inexact
    scores[hit] -= shift
    scores = np.clip(np.clip(scores, 0, 10) + offset, 0, 10)
    overall = scores @ WEIGHTS
    return np.column_stack([overall, -10.0 * (overall < 6), scores])


def history(seed: int, per_day: int, days: int, daily_sd: float, **fall: float) -> Column:
    """The days of an installation."""
    random = np.random.default_rng(seed)
    arrays = np.zeros((3, SOURCES, 6, days))
    for day in range(days):
        offset = random.normal(0, daily_sd) if daily_sd else 0.0
        for source in range(SOURCES):
            count = max(int(random.poisson(per_day / SOURCES)), 10)
            values = measures(random, count, offset, **(fall if day >= CHANGE else {}))
            arrays[:, source, :, day] = np.full(6, count), values.mean(0), values.var(0)
    return arrays


def pooled(histories: Sequence[Column]) -> DayScores:
    """The histories of several installations, with all sources together."""
    return with_all(DayScores(*np.moveaxis(np.stack(histories), 1, 0)))


def part(scores: DayScores, place: Any, days: Any) -> DayScores:
    """Some installations, parts or days."""
    return DayScores(*(array[place][..., days] for array in (scores.answers, scores.means, scores.variances)))


def found(scores: DayScores, day: int) -> tuple[Falls, NDArray[np.bool_]]:
    """Which tests report a fall on the eve of a day, and what they found."""
    falls = find_falls(part(scores, ..., slice(max(0, day - 42), day)))
    return falls, (falls.evidence >= limit_of(falls.evidence[0].size)) & (falls.points >= LEAST)


def detection(seeds: int, per_day: int, daily_sd: float, fall: Mapping[str, float]) -> tuple[NDArray[np.int64], int]:
    """Days until a fall is found, and incidents that close although it lasts."""
    scores = pooled([history(seed, per_day, LAST, daily_sd, **fall) for seed in range(seeds)])
    delays, opened = np.full(seeds, 99), dict[int, tuple[int, Falls, NDArray[np.bool_]]]()
    for day in range(8, LAST):
        falls, hit = found(scores, day)
        for seed in np.flatnonzero(hit.any((1, 2)) & (delays == 99) & (day > CHANGE)):
            delays[seed] = day - CHANGE
            opened[int(seed)] = (day, falls, hit[seed])
    closed = sum(_closes(scores, seed, *incident) for seed, incident in opened.items())
    return delays, closed


def _closes(scores: DayScores, seed: int, day: int, falls: Falls, hit: NDArray[np.bool_]) -> bool:
    """Whether all conditions of an incident are called recovered on one of the days that follow, all of which are bad."""
    for end in range(day + 2, LAST + 1):
        recovered = []
        for place in map(tuple, np.argwhere(hit)):
            at = (seed, *place)
            began = day - int(falls.after[at])
            days = np.r_[max(0, began - 28) : began, max(day, end - 28) : end]
            points, error = float(falls.points[at]), float(falls.uncertainty[at])
            margin = np.asarray(max(points - error, points / 4) / 2)
            evidence = recovery_evidence(part(scores, at, days), began - max(0, began - 28), margin)
            recovered.append(float(evidence) >= RECOVERY)
            if not recovered[-1]:
                break
        if all(recovered):
            return True
    return False


def false_incidents(years: int, per_day: int, daily_sd: float) -> float:
    """Reported falls in unchanged years; days within two weeks of each other are one incident."""
    incidents = 0
    for start in range(0, years, 50):
        seeds = range(10_000 + start, 10_000 + min(start + 50, years))
        scores = pooled([history(seed, per_day, 365, daily_sd) for seed in seeds])
        last = np.full(len(seeds), -99)
        for day in range(8, 366):
            hit = found(scores, day)[1].any((1, 2))
            incidents += int((hit & (day - last > 14)).sum())
            last = np.where(hit, day, last)
    return incidents / years


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Falls of quality: found, false, closed too early.")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--years", type=int, default=200)
    asked = parser.parse_args()
    result: dict[str, Any] = {"seeds": asked.seeds, "years": asked.years, "rows": [], "false_incidents_a_year": []}
    for daily_sd in (0.0, 0.25):
        for per_day in (300, 2000):
            for name, fall in ROWS.items():
                delays, closed = detection(asked.seeds, per_day, daily_sd, fall)
                within = {f"within_{days}": round(float((delays <= days).mean()), 3) for days in (3, 4, 12)}
                row = {"fall": name, "daily_sd": daily_sd, "answers": per_day, **within, "closed_while_bad": closed}
                result["rows"].append(row)
            rate = false_incidents(asked.years, per_day, daily_sd)
            result["false_incidents_a_year"].append({"daily_sd": daily_sd, "answers": per_day, "rate": rate})
    print(json.dumps(result))


if __name__ == "__main__":
    main()
