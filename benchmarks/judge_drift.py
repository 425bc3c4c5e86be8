"""How often a canary names an unchanged judge, and after how many rounds it finds one that moved.

    python benchmarks/judge_drift.py [--judges 150] [--looks 365] [--moving 60] [--within 60] [--after 0]

A judge gives rows whole points from 0 to 5: the rounded sum of the row's own value (half of the rows about 1, half about 4),
normal noise drawn anew in each call, and the shift. The exam asks three times, a round once. A judge is named where the evidence
reaches 20 (its only criterion, or all criteria moved alike) or 120 (one of six criteria moved alone).
"""

import argparse
import sys
import time
from collections.abc import Iterator

import numpy as np

from areopage.scoring.exams.drift import Asked, DriftSeries
from areopage.scoring.shares import wilson

SPAN, PASSES = 5.0, 3
ALONE, ONE_OF_SIX = 20.0, 120.0
ROWS, NOISES, SHIFTS = (8, 16, 32), (0.0, 0.5, 1.0), (0.2, 0.5, 1.0)


class Simulated:
    """A judge and the rows of a canary."""

    def __init__(self, rows: int, noise: float, random: np.random.Generator) -> None:
        self._values = np.where(np.arange(rows) % 2 == 0, 1.0, 4.0) + random.uniform(-0.5, 0.5, rows)
        self._noise, self._random = noise, random

    def ask(self, shift: float, passes: int = 1) -> Asked:
        """So many passes over all rows."""
        noise = self._random.normal(0.0, self._noise, (len(self._values), passes)) if self._noise else np.zeros((1, passes))
        scores = np.clip(np.round(self._values[:, None] + shift + noise), 0.0, 5.0)
        return {str(row): tuple(map(float, said)) for row, said in enumerate(scores)}


def evidence(judge: Simulated, shift: float, looks: int, enough: float, after: int = 0) -> Iterator[float]:
    """The evidence look by look from the move on, until it is enough; `after` so many unchanged rounds."""
    series, found = DriftSeries.of(judge.ask(0.0, PASSES), [], (0,) * PASSES, SPAN), 0.0
    for _ in range(after):
        series = series.then(judge.ask(0.0))
        found = series.look(found).evidence
    for _ in range(looks):
        series = series.then(judge.ask(shift))
        found = series.look(found).evidence
        yield found
        if found >= enough:
            return


def unchanged(judges: int, looks: int) -> None:
    """How many unchanged judges are named on any look."""
    print(f"\n| rows | noise, points | named of {judges}, {looks} looks | 95 % |\n|---|---|---|---|")
    for rows in ROWS:
        for noise in NOISES:
            count = 3 if noise == 0.0 else judges
            random = np.random.default_rng([rows, int(10 * noise)])
            named = sum(list(evidence(Simulated(rows, noise, random), 0.0, looks, ALONE))[-1] >= ALONE for _ in range(count))
            low, high = wilson(named, count) or (0.0, 1.0)
            print(f"| {rows} | {noise} | {named} of {count} | {low:.1%} to {high:.1%} |", flush=True)


def moving(judges: int, looks: int, after: int) -> None:
    """How many rounds after its move a judge is named."""
    print(f"| rows | noise, points | shift, points | median rounds, alone | of six | named within {looks}, alone | of six |")
    print("|---|---|---|---|---|---|---|")
    for rows in ROWS:
        for noise in NOISES:
            for shift in SHIFTS:
                random = np.random.default_rng([rows, int(10 * noise), int(10 * shift)])
                found = [list(evidence(Simulated(rows, noise, random), shift, looks, ONE_OF_SIX, after)) for _ in range(judges)]
                cells = [first(one, limit) for limit in (ALONE, ONE_OF_SIX) for one in found]
                alone, of_six = np.array(cells[:judges]), np.array(cells[judges:])
                told = [f"{np.median(one):.0f}" if np.isfinite(np.median(one)) else f"over {looks}" for one in (alone, of_six)]
                shares = [f"{np.isfinite(one).mean():.0%}" for one in (alone, of_six)]
                print(f"| {rows} | {noise} | {shift} | {' | '.join([*told, *shares])} |", flush=True)


def first(evidence: list[float], limit: float) -> float:
    """The number of the look that reaches a limit; infinite where none does."""
    return next((number for number, value in enumerate(evidence, 1) if value >= limit), float("inf"))


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judges", type=int, default=150, help="unchanged judges of each kind")
    parser.add_argument("--looks", type=int, default=365, help="rounds of an unchanged judge")
    parser.add_argument("--moving", type=int, default=60, help="judges of each kind that moved")
    parser.add_argument("--within", type=int, default=60, help="rounds of a judge that moved, at most")
    parser.add_argument("--after", type=int, default=0, help="unchanged rounds before a judge moves")
    given, start = parser.parse_args(), time.monotonic()
    if given.moving:
        moving(given.moving, given.within, given.after)
    if given.judges:
        unchanged(given.judges, given.looks)
    print(f"\n{time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
