"""Adaptive passes against uniform ones on 14 cells of recorded judge texts, and the published table that the parser reproduces.

Data: 360 dialogue responses with people's ratings; 20 texts of gpt-3.5 for each of 7 prompt styles and 2 dimensions
(C.-H. Chiang, H.-y. Lee, "A Closer Look into Using Large Language Models for Automatic Evaluation", 2023). A text is read by the
product's `verdict_of`, after its label ("Rating:", "Coherence:") is cut off. Run it with the folder of the data:

    python benchmarks/adaptive_passes.py /path/to/topicalchat_raw_judgments [--orders 30] [--resamples 200]
"""

import argparse
import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from areopage.bench.pass_allocation import PassItems, PassPlan
from areopage.bench.pass_settings import PassSettings
from areopage.criteria.records import Scale
from areopage.jury.parsing import verdict_of
from areopage.scoring.outcome import Scored

Table = NDArray[np.float64]
Codes = NDArray[np.intp]
Cell = tuple[str, str]
PUBLISHED = {
    ("geval", "nat"): 0.393,
    ("geval", "coh"): 0.468,
    ("geval_no_auto_cot", "nat"): 0.408,
    ("geval_no_auto_cot", "coh"): 0.443,
    ("llm_eval_no_cot", "nat"): 0.464,
    ("llm_eval_no_cot", "coh"): 0.524,
}
HUMAN = {"coh": "coherence", "nat": "naturalness"}
SCALE = Scale(min=1.0, max=3.0)
LABEL = re.compile(r"(?:rating|score|response|answer|coherence|naturalness)\s*[:=]\s*", re.IGNORECASE)
NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?(?:\s*/\s*\d+)?")
PASSES, SHARE = 20, 0.975
PRECISIONS = (1.2, 1.0, 0.85, 0.75, 0.65, 0.58, 0.52, 0.46, 0.41, 0.37, 0.33, 0.29, 0.25, 0.21)
RELIABILITIES = (0.8, 0.85, 0.88, 0.9, 0.92, 0.935, SHARE**2, 0.96, 0.97, 0.98, 0.99)


def score_of(text: str) -> float:
    """The score of a judge's text; NaN where the product's parser finds none on the scale."""
    label = LABEL.search(text)
    rest = text[label.end() :] if label else text
    found = NUMBER.match(rest.strip())
    outcome = verdict_of({"score": found[0] if found else rest}, SCALE)
    return outcome.score if isinstance(outcome, Scored) else float("nan")


def read_cells(folder: Path) -> dict[Cell, tuple[Table, Table]]:
    """The scores (items × passes) and people's ratings of each cell; items without any score are left out."""
    with gzip.open(folder / "items.jsonl.gz", "rt", encoding="utf-8") as stream:
        people = {row["item_id"]: row["human"] for row in map(json.loads, stream)}
    rows: dict[Cell, list[tuple[int, list[float]]]] = {}
    with gzip.open(folder / "raw_judgments.jsonl.gz", "rt", encoding="utf-8") as stream:
        for row in map(json.loads, stream):
            scores = [score_of(text) for text in row["responses"]]
            if not np.isnan(scores).all():
                rows.setdefault((row["prompt_style"], row["dimension"]), []).append((row["item_id"], scores))
    return {
        cell: (np.array([scores for _, scores in found]), np.array([people[item][HUMAN[cell[1]]] for item, _ in found]))
        for cell, found in sorted(rows.items())
    }


def correlations(means: Table, people: Table) -> Table:
    """Pearson's r of each row of means with the people's ratings."""
    left, right = means - means.mean(axis=-1, keepdims=True), people - people.mean(axis=-1, keepdims=True)
    found: Table = (left * right).sum(axis=-1) / np.sqrt((left**2).sum(axis=-1) * (right**2).sum(axis=-1))
    return found


def means_of(scores: Table, passes: Codes | int) -> Table:
    """The mean of each item's first passes; that of all items where none of them gave a score."""
    made = (np.arange(PASSES) < np.reshape(passes, (-1, 1))) & ~np.isnan(scores)
    counts = made.sum(axis=1)
    means = np.where(made, scores, 0.0).sum(axis=1) / np.maximum(counts, 1)
    filled: Table = np.where(counts > 0, means, means[counts > 0].mean())
    return filled


def planned(scores: Table, settings: PassSettings) -> Codes:
    """The passes that the product's rule makes: one judge, one criterion, no limit nearby."""
    count = len(scores)
    zeros = np.zeros(count, dtype=np.intp)
    items = PassItems(
        scores=scores,
        closed=np.ones(scores.shape, dtype=bool),
        unread=np.isnan(scores),
        costs=np.zeros(scores.shape),
        most=zeros + PASSES,
        pair=np.arange(count),
        group=zeros,
        judge=zeros,
        order=np.random.default_rng(0).random(count),
        limits=np.full(count, -1e9),
        case=np.arange(count),
        criterion=zeros,
        span=SCALE.max - SCALE.min,
    )
    return PassPlan.of(items, settings).passes


class Curve:
    """What passes cost and bring in one cell, over random orders of the recorded passes: orders × settings (× items)."""

    def __init__(self, means: Table, calls: Table, people: Table) -> None:
        self.means, self.calls, self.people = means, calls, people

    def needed(self, share: float, full: Table, orders: Codes, items: Codes) -> float:
        """The calls per item at which the mean r over orders reaches a share of that of all passes; NaN where it never does.

        Args:
            full: the means by all passes.
            orders, items: resampled numbers.
        """
        people = self.people[items]
        aim = share * float(correlations(full[items], people))
        reached = np.array([correlations(part[orders][:, items], people).mean() for part in self.means.swapaxes(0, 1)])
        calls = self.calls[orders][:, :, items].mean(axis=(0, 2))
        for place, value in enumerate(reached):
            if value >= aim:
                if place == 0:
                    return float(calls[0])
                part = (aim - reached[place - 1]) / (value - reached[place - 1])
                return float(calls[place - 1] + part * (calls[place] - calls[place - 1]))
        return float("nan")


def curve(scores: Table, people: Table, settings: list[PassSettings] | None, orders: int) -> Curve:
    """The curve of uniform passes, 1 to all, or of adaptive ones over settings."""
    random = np.random.default_rng(7)
    means, calls = [], []
    for _ in range(orders):
        drawn = np.take_along_axis(scores, random.random(scores.shape).argsort(axis=1), axis=1)
        uniform = [np.full(len(scores), number) for number in range(1, PASSES + 1)]
        counts = uniform if settings is None else [planned(drawn, one) for one in settings]
        means.append([means_of(drawn, one) for one in counts])
        calls.append(counts)
    return Curve(np.array(means), np.array(calls, dtype=float), people)


def ratios(uniform: dict[Cell, Curve], adaptive: dict[Cell, Curve], full: dict[Cell, Table], resamples: int) -> dict[str, Any]:
    """Calls of adaptive passes over those of uniform ones, each as many as its cell needs, known by hindsight."""
    random = np.random.default_rng(11)
    draws: dict[Cell, list[float]] = {cell: [] for cell in uniform}
    point: dict[Cell, tuple[float, float]] = {}
    for number in range(resamples + 1):
        for cell, one in uniform.items():
            orders, items = np.arange(one.means.shape[0]), np.arange(one.people.size)
            if number:
                orders, items = random.choice(orders, orders.size), random.choice(items, items.size)
            needs = one.needed(SHARE, full[cell], orders, items), adaptive[cell].needed(SHARE, full[cell], orders, items)
            if number:
                draws[cell].append(needs[1] / needs[0])
            else:
                point[cell] = needs
    medians = [float(np.nanmedian([found[number] for found in draws.values()])) for number in range(resamples)]
    told = {
        "/".join(cell): {
            "uniform": round(needs[0], 2),
            "adaptive": round(needs[1], 2),
            "ratio": round(needs[1] / needs[0], 3),
            "interval": [round(float(np.nanquantile(draws[cell], end)), 3) for end in (0.025, 0.975)],
        }
        for cell, needs in point.items()
    }
    return {
        "median": round(float(np.nanmedian([needs[1] / needs[0] for needs in point.values()])), 3),
        "interval": [round(float(np.quantile(medians, end)), 3) for end in (0.025, 0.975)],
        "cells": told,
    }


Shares = dict[Cell, tuple[Table, Table]]
"""Of each cell and setting the share of the r of all passes that is reached, and the calls per item."""


def shares(curves: dict[Cell, Curve], full: dict[Cell, Table], draws: dict[Cell, tuple[Codes, Codes]] | None = None) -> Shares:
    """What settings reach and cost; over resampled orders and items where they are given."""
    found: Shares = {}
    for cell, one in curves.items():
        orders, items = draws[cell] if draws else (np.arange(one.means.shape[0]), np.arange(one.people.size))
        means, people = one.means[orders][:, :, items], one.people[items]
        reached = correlations(means, people).mean(axis=0) / float(correlations(full[cell][items], people))
        found[cell] = reached, one.calls[orders][:, :, items].mean(axis=(0, 2))
    return found


def chosen(table: Shares, style: str) -> int:
    """The cheapest setting that reaches the share in every cell of the other styles; the dearest where none does."""
    others = np.array([reached for cell, (reached, _) in table.items() if cell[0] != style])
    fits = np.flatnonzero((others >= SHARE).all(axis=0))
    return int(fits[0]) if fits.size else others.shape[1] - 1


def left_out(uniform: dict[Cell, Curve], adaptive: dict[Cell, Curve], full: dict[Cell, Table], resamples: int) -> dict[str, Any]:
    """One setting for all cells, chosen on six styles and used on the seventh; the choice is made again in each resample."""
    random = np.random.default_rng(5)
    cells: dict[str, dict[str, Any]] = {}
    drawn: dict[Cell, list[float]] = {cell: [] for cell in full}
    for number in range(resamples + 1):
        draws = {
            cell: (random.integers(0, len(one.means), len(one.means)), random.integers(0, one.people.size, one.people.size))
            for cell, one in uniform.items()
        }
        tables = [shares(curves, full, draws if number else None) for curves in (uniform, adaptive)]
        for cell in full:
            places = [chosen(table, cell[0]) for table in tables]
            calls = [float(table[cell][1][place]) for table, place in zip(tables, places, strict=True)]
            if number:
                drawn[cell].append(calls[1] / calls[0])
                continue
            reached = [float(table[cell][0][place]) for table, place in zip(tables, places, strict=True)]
            cells["/".join(cell)] = {
                "uniform": round(calls[0], 2),
                "uniform_share": round(reached[0], 4),
                "adaptive": round(calls[1], 2),
                "adaptive_share": round(reached[1], 4),
                "ratio": round(calls[1] / calls[0], 3),
            }
    for cell, values in drawn.items():
        cells["/".join(cell)]["interval"] = [round(float(end), 3) for end in np.quantile(values, [0.025, 0.975])]
    medians = np.median(list(drawn.values()), axis=0)
    return {
        "median": round(float(np.median([one["ratio"] for one in cells.values()])), 3),
        "interval": [round(float(end), 3) for end in np.quantile(medians, [0.025, 0.975])],
        "cells": cells,
    }


def fixed(adaptive: dict[Cell, Curve], full: dict[Cell, Table], place: int) -> dict[str, Any]:
    """What one setting that nothing was fitted for reaches: calls per item and the share of r, by cell."""
    found = {cell: (calls[place], reached[place]) for cell, (reached, calls) in shares(adaptive, full).items()}
    return {"/".join(cell): {"calls": round(float(one[0]), 2), "share": round(float(one[1]), 4)} for cell, one in found.items()}


def floor_of_any_rule(scores: Table, people: Table, uniform: float) -> float:
    """What a rule would need that knew each item's noise: passes in proportion to its deviation over all 20 passes.

    Returns:
        Its calls over those of uniform passes for the same variance of the means; no unbiased rule can need fewer.
    """
    deviation = np.sqrt(np.nan_to_num(np.nanvar(scores, axis=1, ddof=1)))
    aim = float((deviation**2).mean() * (1 / uniform - 1 / PASSES))
    for calls in np.linspace(1, uniform, 400):
        low, high = 0.0, 1000.0
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if np.clip(middle * deviation, 1, PASSES).mean() < calls else (low, middle)
        passes = np.clip(low * deviation, 1, PASSES)
        if float((deviation**2 * (1 / passes - 1 / PASSES)).mean()) <= aim:
            return float(calls / uniform)
    return 1.0


def main() -> None:
    """Print one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--orders", type=int, default=30)
    parser.add_argument("--resamples", type=int, default=200)
    given = parser.parse_args()
    cells = read_cells(given.folder)
    full = {cell: means_of(scores, PASSES) for cell, (scores, _) in cells.items()}
    table = {}
    for cell, (scores, people) in cells.items():
        entry: dict[str, Any] = {"r": round(float(correlations(full[cell], people)), 3), "items": len(scores)}
        entry["unread"] = int(np.isnan(scores).sum())
        table["/".join(cell)] = entry | ({"published": PUBLISHED[cell]} if cell in PUBLISHED else {})
    by_precision = [PassSettings(most=PASSES, precision=one) for one in PRECISIONS]
    by_reliability = [PassSettings(most=PASSES, precision=0.01, reliability=one) for one in RELIABILITIES]
    uniform = {cell: curve(*data, None, given.orders) for cell, data in cells.items()}
    precise = {cell: curve(*data, by_precision, given.orders) for cell, data in cells.items()}
    reliable = {cell: curve(*data, by_reliability, given.orders) for cell, data in cells.items()}
    hindsight = ratios(uniform, precise, full, given.resamples)
    needs = {cell: hindsight["cells"]["/".join(cell)]["uniform"] for cell in cells}
    floor = {"/".join(cell): round(floor_of_any_rule(*data, needs[cell]), 3) for cell, data in cells.items()}
    print(
        json.dumps(
            {
                "table": table,
                "hindsight": hindsight,
                "floor_of_any_rule": {"median": round(float(np.median(list(floor.values()))), 3), "cells": floor},
                "one_setting_precision": left_out(uniform, precise, full, given.resamples),
                "one_setting_reliability": left_out(uniform, reliable, full, given.resamples),
                "fixed_reliability": fixed(reliable, full, RELIABILITIES.index(SHARE**2)),
            }
        )
    )


if __name__ == "__main__":
    main()
