"""Agreement of one rater with others on recorded human ratings, checked against SciPy. One JSON line.

    python benchmarks/human_agreement.py
    python benchmarks/human_agreement.py --simulate

The data lie in ../shared/data beside the repository and are not part of it; without them the reason is printed instead.

- newsroom: 420 summaries, three raters, four dimensions, 1 to 5. Each rater in turn is the judge, the mean of the two others is
  people.
- haluquestqa: 698 questions, each with an answer of a person and one of a model. One expert scored both from 0 to 1 on four
  aspects and preferred one of them. No answer has two raters, so that people cannot be compared with each other. The judge is the
  difference of an aspect (model minus person), people the preference (1 or −1): do the aspects tell what the expert prefers?
  These are in different units: only correlations are shown.

--simulate needs no data: how often "over 0.8" (and "not over 0.8") is said, both at 95 %, where the true correlation is exactly
0.8 and every such verdict is wrong. `fisher` is the textbook's standard error alone, `verdict` what the product says.
"""

import argparse
import gzip
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from areopage.scoring.agreement_with_people import BOUND, MIN_SETTLED, HumanAgreement, Rating, claim_of
from areopage.scoring.arrays import Column
from areopage.scoring.correlation import pearson, pearson_estimate

DATA = Path(__file__).parents[2] / "shared" / "data"
NEWSROOM = DATA / "human_ratings" / "newsroom.jsonl.gz"
HALUQUESTQA = DATA / "haluquestqa" / "rows.jsonl.gz"
ASPECTS = ("factuality", "relevance", "completeness", "reference")
DRAWS = 2000
LARGE = 400_000

Sample = Callable[[np.random.Generator, int, float], tuple[Column, Column]]


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a gzipped JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


def newsroom() -> dict[str, Any]:
    """Each dimension, each rater as the judge, and the raters among themselves."""
    rows = list(rows_of(NEWSROOM))
    found: dict[str, Any] = {}
    for dimension in rows[0]["annotations"]:
        scores = np.array([row["annotations"][dimension]["individual_human_scores"] for row in rows], dtype=np.float64)
        judges = {}
        for judge in range(scores.shape[1]):
            others = [rater for rater in range(scores.shape[1]) if rater != judge]
            judges[f"rater {judge + 1}"] = measured(scores[:, judge], scores[:, others])
        found[dimension] = judges | {"raters": raters_among(scores)}
    return found


def haluquestqa() -> dict[str, Any]:
    """Each aspect's difference, and the sum of all four, against the preference."""
    rows = list(rows_of(HALUQUESTQA))
    gaps = np.array([[row[f"{name}_model_score"] - row[f"{name}_human_score"] for name in ASPECTS] for row in rows])
    gaps = gaps.round(9)  # 0.75 − 0.67 and 0.08 are one rank
    preferred = np.array([[2.0 * row["ans_preference_model_score"] - 1.0] for row in rows])
    sides = {name: gaps[:, at] for at, name in enumerate(ASPECTS)} | {"mean of the four": gaps.mean(axis=1).round(9)}
    units = ("kappa", "error", "bias")
    return {
        name: {key: value for key, value in measured(side, preferred).items() if key not in units} for name, side in sides.items()
    }


def measured(judge: Column, people: Column) -> dict[str, Any]:
    """The product's figures, and how far they are from SciPy's.

    Args:
        people: items × raters.
    """
    items = range(judge.size)
    ratings = [
        Rating(item=str(item), rater=str(rater), criterion="", score=float(people[item, rater]))
        for item in items
        for rater in range(people.shape[1])
    ]
    one = HumanAgreement.of(
        {"": {str(item): float(judge[item]) for item in items}},
        ratings,
        {"": (float(min(judge.min(), people.min())), float(max(judge.max(), people.max())))},
    ).criteria[0]
    mean = people.mean(axis=1)
    theirs = stats.pearsonr(judge, mean)
    inner = theirs.confidence_interval(0.95)
    fisher, bootstrap = one.pearson.fisher, one.pearson.bootstrap
    assert one.pearson.value is not None
    assert one.spearman.value is not None
    assert fisher is not None
    assert bootstrap is not None
    apart = [
        one.pearson.value - theirs.statistic,
        one.spearman.value - stats.spearmanr(judge, mean).statistic,
        fisher.low - inner.low,
        fisher.high - inner.high,
    ]
    return {
        "items": one.items,
        "pearson": shown(one.pearson.value, one.pearson.low, one.pearson.high),
        "fisher": shown(fisher.low, fisher.high),
        "bootstrap": shown(bootstrap.low, bootstrap.high),
        "spearman": shown(one.spearman.value, one.spearman.low, one.spearman.high),
        "kappa": shown(one.kappa.value, one.kappa.low, one.kappa.high),
        "error": shown(one.error)[0],
        "bias": shown(one.bias.value, one.bias.low, one.bias.high),
        "over_0.8": one.claim.verdict,
        "apart_from_scipy": max(abs(value) for value in apart),
    }


def raters_among(scores: Column) -> dict[str, Any]:
    """The raters of a table (items × raters) with each other."""
    ratings = [
        Rating(item=str(item), rater=str(rater), criterion="", score=float(score))
        for item, row in enumerate(scores)
        for rater, score in enumerate(row)
    ]
    found = HumanAgreement.of({}, ratings, {"": (float(np.nanmin(scores)), float(np.nanmax(scores)))}).criteria[0].raters
    return {"pearson": shown(found.pearson)[0], "alpha": shown(found.alpha.alpha, found.alpha.low, found.alpha.high)}


def shown(*values: float | None) -> list[float | None]:
    """Numbers with four decimals."""
    return [None if value is None else round(value, 4) for value in values]


def normal(random: np.random.Generator, items: int, strength: float) -> tuple[Column, Column]:
    """Scores on a bell curve."""
    drawn = random.multivariate_normal([0.0, 0.0], [[1.0, strength], [strength, 1.0]], items)
    return drawn[:, 0], drawn[:, 1]


def ceiling(random: np.random.Generator, items: int, strength: float) -> tuple[Column, Column]:
    """Whole points from 0 to 10, many of them 10."""
    first, second = normal(random, items, strength)
    return tuple(np.clip(np.round(8.5 + 2.2 * side), 0, 10) for side in (first, second))  # type: ignore[return-value]


def few_bad(random: np.random.Generator, items: int, strength: float) -> tuple[Column, Column]:
    """Whole points; one answer in eight is bad on both sides, the others are good and differ by chance."""
    middle = np.where(random.random(items) < 0.12, 2.0, 8.5)
    spread = 3.0 * (1.0 - strength)
    return tuple(np.clip(np.round(middle + spread * random.normal(size=items)), 0, 10) for _ in range(2))  # type: ignore[return-value]


def strength_at_bound(sample: Sample) -> float:
    """The strength at which a very large sample correlates at exactly the bound."""
    low, high = 0.0, 0.99
    for _ in range(16):
        middle = (low + high) / 2
        value = pearson(*sample(np.random.default_rng(0), LARGE, middle))
        low, high = (middle, high) if value is not None and value < BOUND else (low, middle)
    return (low + high) / 2


def simulated() -> dict[str, Any]:
    """Shares of wrong verdicts, for three kinds of scores."""
    found: dict[str, Any] = {}
    samples: dict[str, Sample] = {"normal": normal, "ceiling": ceiling, "few bad answers": few_bad}
    for name, sample in samples.items():
        strength, random = strength_at_bound(sample), np.random.default_rng(1)
        for items in (20, 30, 60, 150):
            wrong = dict.fromkeys(("fisher over", "fisher not over", "verdict over", "verdict not over"), 0)
            for draw in range(DRAWS):
                estimate = pearson_estimate(*sample(random, items, strength), 200, draw)
                if estimate.value is None:
                    continue
                distance = math.atanh(min(estimate.value, 1 - 1e-9)) - math.atanh(BOUND)
                textbook = stats.norm.cdf(distance * math.sqrt(items - 3))
                verdict = claim_of(estimate, items).verdict
                wrong["fisher over"] += textbook >= 0.95
                wrong["fisher not over"] += textbook <= 0.05
                wrong["verdict over"] += verdict == "holds"
                wrong["verdict not over"] += verdict == "does_not_hold"
            found[f"{name}, {items} items"] = {kind: round(float(count) / DRAWS, 4) for kind, count in wrong.items()}
    return {"draws": DRAWS, "fewest": MIN_SETTLED, "wrong": found}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulate", action="store_true", help="how often the verdict on 0.8 is wrong where it is always wrong")
    if parser.parse_args().simulate:
        print(json.dumps({"benchmark": "human_agreement", "simulated": simulated()}))
        return
    missing = [str(path) for path in (NEWSROOM, HALUQUESTQA) if not path.is_file()]
    if missing:
        print(json.dumps({"benchmark": "human_agreement", "skipped": f"the recorded ratings are not here: {', '.join(missing)}"}))
        return
    print(json.dumps({"benchmark": "human_agreement", "newsroom": newsroom(), "haluquestqa": haluquestqa()}, ensure_ascii=False))


if __name__ == "__main__":
    main()
