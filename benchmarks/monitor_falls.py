"""How falls of quality are found, how often one is reported without a fall, and whether an incident closes too early.

    python benchmarks/monitor_falls.py [--seeds 200] [--years 200]

Three sources answer 300 or 2,000 questions a day; four criteria, the global score and the share of weak answers are tested for
each source and for all. On day 20 the quality falls and stays fallen. "Daily sd" is a shift of all scores of a day that is the
same for all answers. Prints a line of JSON for each row.
"""

import argparse
import json
from collections.abc import Iterable
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from areopage.monitor.alerts.day_levels import (
    LEAST_RETURN,
    MOST_AFTER,
    MOST_REFERENCE,
    DayLevels,
    Falls,
    days_back,
    find_falls,
    limit_of,
    shortfall,
    with_all,
)

Column = NDArray[np.float64]

WEIGHTS = np.array([0.4, 0.3, 0.15, 0.15], np.float32)
SOURCES, CHANGE, LEAST = 3, 20, 0.2
FOUND, WATCHED, RETURNED = 30, 40, 60
"""Days in which a fall may be found, and over which its incident is watched while the fall lasts and after it has ended."""
NEVER = 9999
ROWS: dict[str, dict[str, Any]] = {
    "all criteria -1.0": {"shift": 1.0},
    "accuracy -2": {"inexact": 2.0},
    "all criteria -0.5": {"shift": 0.5},
    "accuracy -1": {"inexact": 1.0},
    "accuracy -3 in a quarter of the answers": {"inexact": 3.0, "share": 0.25},
    "very weak answers 4 % -> 12 %": {"weak": 0.12},
}


def _table(mean: float, sd: float) -> NDArray[np.uint8]:
    """A score for each of 65,536 equally likely numbers: a rounded and clipped normal."""
    places = (np.arange(65536) + 0.5) / 65536
    limits = [NormalDist(mean, sd).cdf(score + 0.5) for score in range(10)]
    return np.searchsorted(limits, places).astype(np.uint8)


GOOD = _table(8.6, 1.1)


def answers_of(
    random: np.random.Generator,
    late: NDArray[np.bool_],
    shift: float = 0.0,
    inexact: float = 0.0,
    share: float = 1.0,
    weak: float = 0.04,
) -> NDArray[np.float32]:
    """Four criteria of some answers, of which the late ones have the fall."""
    scores = GOOD[random.integers(0, 65536, (len(late), 4), dtype=np.uint16)].astype(np.float32)
    bad = np.flatnonzero(random.random(len(late), dtype=np.float32) < np.where(late, weak, 0.04))
    drawn = [
        random.integers(0, 6, bad.size),
        random.integers(3, 8, bad.size),
        np.full(bad.size, 8),
        random.integers(0, 7, bad.size),
    ]
    scores[bad] = np.column_stack(drawn)
    if inexact or shift:
        hit = late if share == 1.0 else late & (random.random(len(late), dtype=np.float32) < share)
        scores[:, 0] -= np.float32(inexact) * hit
        scores -= (np.float32(shift) * hit)[:, None]
        np.maximum(scores, 0, out=scores)
    return scores


def history(seed: int, per_day: int, days: int, daily_sd: float, back: int | None = None, **fall: float) -> Column:
    """The days of an installation: answers, means and variances of the measures of its sources.

    Args:
        back: the day on which the fall ends.
    """
    random = np.random.default_rng(seed)
    offsets = random.normal(0, daily_sd, days) if daily_sd else np.zeros(days)
    counts = np.maximum(random.poisson(per_day / SOURCES, (days, SOURCES)), 10)
    whose = np.repeat(np.repeat(np.arange(days), SOURCES), counts.ravel())
    late = (whose >= CHANGE) & (whose < (days if back is None else back)) & bool(fall)
    scores = answers_of(random, late, **fall)
    scores += offsets.astype(np.float32)[whose][:, None]
    np.clip(scores, 0, 10, out=scores)
    overall = scores @ WEIGHTS
    columns = [overall, np.float32(-10.0) * (overall < 6), *scores.T]
    begins = np.r_[0, counts.ravel().cumsum()[:-1]]
    sums = np.array([[np.add.reduceat(power, begins, dtype=np.float64) for power in (one, one * one)] for one in columns])
    means, squares = (sums / counts.ravel()).transpose(1, 0, 2).reshape(2, 6, days, SOURCES).transpose(0, 3, 1, 2)
    number = np.broadcast_to(counts.T[:, None, :].astype(float), means.shape)
    return np.stack([number, means, np.maximum(squares - means**2, 0.0)])


def pooled(histories: Iterable[Column]) -> DayLevels:
    """The histories of several installations, with all sources together."""
    return with_all(DayLevels(*np.moveaxis(np.stack(list(histories)), 1, 0)))


def arrays_of(scores: DayLevels) -> tuple[Column, Column, Column]:
    """The arrays of some days."""
    return scores.answers, scores.means, scores.variances


def part(scores: DayLevels, seeds: Any, days: Any) -> DayLevels:
    """Some installations and days."""
    return DayLevels(*(array[seeds][..., days] for array in arrays_of(scores)))


def reported(scores: DayLevels, seeds: Any, day: int) -> tuple[Falls, NDArray[np.bool_]]:
    """Which tests report a fall on the eve of a day, and what they found."""
    falls = find_falls(part(scores, seeds, slice(max(0, day - MOST_REFERENCE - MOST_AFTER), day)))
    return falls, (falls.evidence >= limit_of(falls.evidence[0].size)) & (falls.points >= LEAST)


class Incidents(NamedTuple):
    """The first incident of each installation: its day, where it began, and which tests are part of it."""

    day: NDArray[np.int64]
    began: NDArray[np.int64]
    tests: NDArray[np.bool_]


def detect(scores: DayLevels, until: int) -> Incidents:
    """The incidents that are opened after the change."""
    seeds = len(scores.answers)
    incidents = Incidents(np.full(seeds, NEVER), np.full(seeds, NEVER), np.zeros(scores.answers.shape[:3], bool))
    for day in range(CHANGE + 1, until + 1):
        waiting = np.flatnonzero(incidents.day == NEVER)
        if not waiting.size:
            break
        falls, hit = reported(scores, waiting, day)
        for place in np.flatnonzero(hit.any((1, 2))):
            first = np.unravel_index(np.where(hit[place], falls.evidence[place], -1.0).argmax(), hit[place].shape)
            incidents.day[waiting[place]] = day
            incidents.began[waiting[place]] = day - falls.after[place][first]
            incidents.tests[waiting[place]] = hit[place]
    return incidents


def aligned(scores: DayLevels, incidents: Incidents, last: int) -> DayLevels:
    """The days of each installation with an incident: its reference, then those up to the report, then those since."""
    opened = np.flatnonzero(incidents.day != NEVER)
    width = last - int(incidents.day[opened].min())
    shape = (opened.size, *scores.answers.shape[1:3], MOST_REFERENCE + MOST_AFTER + width)
    arrays = [np.zeros(shape) for _ in range(3)]
    for row, seed in enumerate(opened):
        day, began = int(incidents.day[seed]), int(incidents.began[seed])
        start, reported_at = max(0, began - MOST_REFERENCE), MOST_REFERENCE + MOST_AFTER
        for target, array in zip(arrays, arrays_of(scores), strict=True):
            target[row, ..., MOST_REFERENCE - (began - start) : MOST_REFERENCE] = array[seed][..., start:began]
            target[row, ..., reported_at - (day - began) : reported_at + last - day] = array[seed][..., began:last]
    return DayLevels(*arrays)


def closings(scores: DayLevels, incidents: Incidents, last: int) -> NDArray[np.int64]:
    """The day on which each incident is called over: on all its tests, of which one is looked at first."""
    closed = np.full(len(incidents.day), NEVER)
    opened = np.flatnonzero(incidents.day != NEVER)
    if not opened.size:
        return closed
    days, tests = aligned(scores, incidents, last), incidents.tests[opened]
    first = tests.reshape(len(opened), -1).argmax(1)
    for age in range(LEAST_RETURN, last):
        rows = np.flatnonzero((closed[opened] == NEVER) & (incidents.day[opened] + age <= last))
        if not rows.size:
            break
        seen = slice(0, MOST_REFERENCE + MOST_AFTER + age)
        one = [array.reshape(len(opened), -1, array.shape[-1])[rows, first[rows]] for array in arrays_of(days)]
        back = days_back(part(DayLevels(*one), slice(None), seen), MOST_REFERENCE, age, LEAST)
        for row in rows[back > 0]:
            if is_over(part(days, row, seen), tests[row], age):
                closed[opened[row]] = incidents.day[opened[row]] + age
    return closed


def is_over(days: DayLevels, tests: NDArray[np.bool_], age: int) -> bool:
    """Whether the level is back on the tests of an incident, and no measure of the same parts is lower than before."""
    lengths = days_back(part(days, tests, slice(None)), MOST_REFERENCE, age, LEAST)
    if not lengths.all():
        return False
    return bool((shortfall(part(days, tests.any(1), slice(None)), MOST_REFERENCE, int(lengths.min())) < LEAST).all())


def false_incidents(years: int, per_day: int, daily_sd: float) -> float:
    """Reported falls in unchanged years; days within two weeks of each other are one incident."""
    incidents = 0
    for start in range(0, years, 50):
        seeds = range(10_000 + start, 10_000 + min(start + 50, years))
        scores = pooled(history(seed, per_day, 365, daily_sd) for seed in seeds)
        last = np.full(len(seeds), -NEVER)
        for day in range(8, 366):
            hit = reported(scores, slice(None), day)[1].any((1, 2))
            incidents += int((hit & (day - last > MOST_AFTER)).sum())
            last = np.where(hit, day, last)
    return incidents / years


def lasting(seeds: int, per_day: int, daily_sd: float, fall: dict[str, Any]) -> dict[str, Any]:
    """How soon a fall is found that lasts, and how many incidents are called over nevertheless within `WATCHED` days."""
    last = CHANGE + FOUND + WATCHED
    scores = pooled(history(seed, per_day, last, daily_sd, **fall) for seed in range(seeds))
    incidents = detect(scores, CHANGE + FOUND)
    delays = incidents.day - CHANGE
    within = {f"within_{days}": round(float((delays <= days).mean()), 3) for days in (3, 4, 12)}
    closed = closings(scores, incidents, last)
    early = (closed != NEVER) & (closed - incidents.day <= WATCHED)
    return {**within, "opened": int((incidents.day != NEVER).sum()), "closed_while_bad": int(early.sum())}


def returning(seeds: int, per_day: int, daily_sd: float, fall: dict[str, Any]) -> dict[str, Any]:
    """After how many days an incident is called over when the quality is back after `FOUND` days."""
    last = CHANGE + FOUND + RETURNED
    scores = pooled(history(seed, per_day, last, daily_sd, back=CHANGE + FOUND, **fall) for seed in range(seeds))
    incidents = detect(scores, CHANGE + FOUND)
    opened = incidents.day != NEVER
    days = closings(scores, incidents, last)[opened] - CHANGE - FOUND
    quantiles = {f"days_to_close_{share}": int(np.quantile(days, share, method="higher")) for share in (0.5, 0.9)}
    return {
        "opened": int(opened.sum()),
        **quantiles,
        "still_open": int((days > RETURNED).sum()),
        "closed_before": int((days <= 0).sum()),
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Falls of quality: found, false, closed too early.")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--years", type=int, default=200)
    asked = parser.parse_args()
    for daily_sd in (0.25, 0.0):
        for per_day in (300, 2000):
            setting = {"daily_sd": daily_sd, "answers": per_day}
            for name, fall in ROWS.items():
                row = lasting(asked.seeds, per_day, daily_sd, fall)
                print(json.dumps({"lasts": name, **setting, **row}), flush=True)
            for name in ("all criteria -1.0", "all criteria -0.5"):
                print(
                    json.dumps({"returns": name, **setting, **returning(asked.seeds, per_day, daily_sd, ROWS[name])}), flush=True
                )
            rate = false_incidents(asked.years, per_day, daily_sd)
            print(json.dumps({"false_incidents_a_year": rate, **setting, "years": asked.years}), flush=True)


if __name__ == "__main__":
    main()
