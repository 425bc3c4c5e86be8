"""What people's labels do for a jury's scores, on recorded juries and people. One JSON line.

    python benchmarks/correction.py
    python benchmarks/correction.py --splits 2000 --learned 300 --parts means --labels 50

The data lie in ../shared/data beside the repository and are not part of it; without them the reason is printed instead. Each set
has labels of several people and of six judges on the same items; an item's label is the mean, or the most frequent category, of
its people. In each split, labels are drawn at random without replacement, the rest of the set stays unlabelled, and only sets of
at least four times the labels are used. Accuracy and errors are over the items without a label.

- means (summeval, 10k_prompts): how often 95 % intervals cover the mean of all labels of the set; predictions are the jury's
  mean, the judges weighed by their agreement (`agreement`), single judges, and weights learned from the labels; the share of
  the labels that the correction saves, by the variance of its estimates over the splits (`saved`) and by the squares of the
  intervals' widths (`saved_by_width`), against the labels' mean.
- shares (framing, lgbteen, cebab_aspects): the same for the share of each category; the jury's verdict is its majority's.
- scales (summeval, 10k_prompts): mean absolute error per item of the best judge on the labels, of the jury's mean, of a map of
  the jury's mean, of jury weights, and of weights with the dimension; ranks are compared by Pearson's r.
- teaching (summeval, 10k_prompts): the error per item after as many labels again of the items that teach most, and after as many
  random ones, over the items without any of these labels; and the figures of means by weights that only they taught.
- monitored (summeval, 10k_prompts): ten days whose traffic grows while people's scores fall, with the same number of labels each:
  the same figures as for means, with labels weighed by their day's traffic, and days as strata too, and without weights.
- categories (lgbteen, framing, cebab_aspects; ties among people dropped): accuracy of the best judge on the labels, of the
  majority, and of confusion matrices anchored to the labels, without and with each item's criterion.

`--learned` sets how many of the splits weights, maps and confusion matrices are fitted in, which takes nearly all of the time.
Each part goes to standard error as soon as it is measured.

The difference to the better of best judge and mean has an interval over items: the standard deviation over items of the mean
difference (over the splits in which the item had no label), by 1.96 / √items.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from areopage.scoring.arrays import Column, Matrix
from areopage.scoring.correlation import pearson
from areopage.trust.correction.confusion import UNKNOWN, Codes, anchored_confusion
from areopage.trust.correction.maps import choose_map, fold_numbers
from areopage.trust.correction.means import corrected_mean, stratified_mean, weighted_mean
from areopage.trust.correction.planning import teaching_items
from areopage.trust.correction.shares import corrected_share
from areopage.trust.correction.weights import agreement_weights, fit_weights

DATA = Path(__file__).parents[2] / "shared" / "data" / "jury_and_people"
SCALES = ("summeval", "10k_prompts")
CATEGORIES = ("lgbteen", "framing", "cebab_aspects", "mtbench")
LABELS = (50, 100, 200)
PARTS = ("means", "shares", "scales", "categories", "teaching", "monitored")
DAYS = 10
LEAST = 4
SEED = 0


Scored = tuple[Column, Matrix, Codes]
"""People's mean score of each item, the judges' scores, and the number of its dimension."""

Marked = tuple[list[str], Codes, Codes, Codes]
"""Categories, people's most frequent one of each item, the judges' votes, and the number of its question."""


def rows_of(file: Path) -> list[dict[str, Any]]:
    with file.open(encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def codes_of(values: list[str]) -> Codes:
    """A number for each different value, in order."""
    found: Codes = np.unique(values, return_inverse=True)[1]
    return found


def criterion_of(row: dict[str, Any], name: str) -> str:
    """The dimension or question of an item; 10k_prompts and mtbench have none."""
    return str(row["item"]).rsplit("__", 1)[-1] if name not in {"10k_prompts", "mtbench"} else ""


def scores_of(file: Path) -> Scored:
    rows = rows_of(file)
    judges = sorted(rows[0]["judges"])
    people = np.array([np.mean([float(value) for value in row["people"].values()]) for row in rows])
    scores = np.array([[float(row["judges"][judge]) for judge in judges] for row in rows])
    return people, scores, codes_of([criterion_of(row, file.stem) for row in rows])


def categories_of(file: Path) -> Marked:
    """Read a set of categories; items whose people are tied are dropped."""
    kept: list[tuple[str, list[str], str]] = []
    for row in rows_of(file):
        most = Counter(row["people"].values()).most_common()
        if len(most) == 1 or most[0][1] > most[1][1]:
            votes = [row["judges"][judge] for judge in sorted(row["judges"])]
            kept.append((most[0][0], votes, criterion_of(row, file.stem)))
    names = sorted({label for label, _, _ in kept} | {vote for _, votes, _ in kept for vote in votes})
    number = {value: at for at, value in enumerate(names)}
    labels = np.array([number[label] for label, _, _ in kept])
    table = np.array([[number[vote] for vote in own] for _, own, _ in kept])
    return names, labels, table, codes_of([group for _, _, group in kept])


class Tally:
    """Sums over the splits: per item the mean of a figure where the item had no label."""

    def __init__(self, items: int) -> None:
        self.seen = np.zeros(items)
        self.sums: dict[str, Column] = {}

    def add(self, unlabelled: NDArray[np.bool_], **figures: Column) -> None:
        self.seen += unlabelled
        for name, values in figures.items():
            self.sums.setdefault(name, np.zeros(self.seen.size))[unlabelled] += values[unlabelled]

    def mean(self, name: str) -> float:
        return float(self.sums[name].sum() / self.seen.sum())

    def against(self, name: str, other: str) -> list[float]:
        """The difference of two figures' means, with its interval over items."""
        apart = (self.sums[name] - self.sums[other]) / np.maximum(self.seen, 1)
        middle, reach = float(apart.mean()), 1.96 * float(apart.std(ddof=1)) / apart.size**0.5
        return shown(middle, middle - reach, middle + reach)


def shown(*values: float) -> list[float]:
    return [round(float(value), 4) for value in values]


def interval_of_share(hits: int, of: int) -> list[float]:
    """A share of the splits with the normal interval of its simulation error."""
    share = hits / of
    reach = 1.96 * (share * (1 - share) / of) ** 0.5
    return shown(share, share - reach, share + reach)


def covered(
    found: list[tuple[float, float, float, float, float, float]], truth: float, plain: float, width: float
) -> dict[str, Any]:
    """Coverage and savings of one kind of estimate.

    Args:
        found: of each split: value, low, high, and the same of the labels alone.
        plain: the uncorrected figure.
        width: half of its naive interval.
    """
    table = np.array(found)
    inside = (table[:, 1] <= truth) & (truth <= table[:, 2])
    alone = (table[:, 4] <= truth) & (truth <= table[:, 5])
    spread, spread_alone = ((table[:, at] - truth).var() + (table[:, at].mean() - truth) ** 2 for at in (0, 3))
    widths, widths_alone = ((table[:, at + 2] - table[:, at + 1]).mean() for at in (0, 3))
    return {
        "splits": len(found),
        "covered": interval_of_share(int(inside.sum()), len(found)),
        "labels_alone_covered": interval_of_share(int(alone.sum()), len(found)),
        "uncorrected_covers": abs(plain - truth) <= width,
        "bias_of_estimate": shown(table[:, 0].mean() - truth)[0],
        "uncorrected_off_by": shown(plain - truth)[0],
        "half_width": shown(widths / 2)[0],
        "saved": shown(1 - spread / spread_alone)[0],
        "saved_by_width": shown(1 - (widths / widths_alone) ** 2)[0],
    }


def means(table: Scored, labels: int, splits: int, learned: int) -> dict[str, Any]:
    people, scores, _ = table
    middle, random = scores.mean(axis=1), np.random.default_rng(SEED)
    best = int(np.abs(scores - people[:, None]).mean(axis=0).argmin())
    agreed = agreement_weights(scores)
    judged = {
        "jury": middle,
        "agreement": scores @ agreed,
        "best_judge": scores[:, best],
        "worst_judge": scores[:, worst_of(people, scores)],
    }
    found: dict[str, list[tuple[float, float, float, float, float, float]]] = {}
    for split in range(splits):
        own = random.permutation(people.size)[:labels]
        estimates = {kind: corrected_mean(people[own], one[own], one) for kind, one in judged.items()}
        if split < learned:
            estimates["weights"] = corrected_mean(people[own], *cross_fitted(people[own], scores[own], scores, agreed))
        for kind, one in estimates.items():
            ends = (one.low, one.high, one.labels_alone.value, one.labels_alone.low, one.labels_alone.high)
            found.setdefault(kind, []).append((one.value, *(np.nan if end is None else end for end in ends)))  # type: ignore[arg-type]
    naive = 1.96 * float(middle.std(ddof=1)) / people.size**0.5
    return {kind: covered(one, float(people.mean()), float(middle.mean()), naive) for kind, one in found.items()}


def cross_fitted(people: Column, scores: Matrix, judged: Matrix, base: Column) -> tuple[Column, Column]:
    """Predictions of each labelled item by weights that have not seen its label, and of all judged items by their mean.

    T. Zrnic, E. J. Candès, "Cross-prediction-powered inference" (PNAS 121, 2024): the interval of the corrected mean stays valid.
    """
    numbers = fold_numbers(people.size)
    own, everything = np.zeros(people.size), np.zeros(len(judged))
    parts = np.unique(numbers)
    for part in parts:
        out = numbers == part
        weights = fit_weights(people[~out], scores[~out], base=base)
        own[out] = weights.predict(scores[out])
        everything += weights.predict(judged) / parts.size
    return own, everything


def worst_of(people: Column, scores: Matrix) -> int:
    """The judge whose scores correlate least with people's."""
    return int(np.argmin([np.corrcoef(people, scores[:, judge])[0, 1] for judge in range(scores.shape[1])]))


def shares(marked: Marked, labels: int, splits: int) -> dict[str, Any]:
    names, truth, votes, _ = marked
    counts = np.stack([(votes == at).sum(axis=1) for at in range(len(names))], axis=1)
    majority = counts.argmax(axis=1)
    found: dict[str, Any] = {}
    for at, category in enumerate(names):
        people, judged = truth == at, majority == at
        if people.sum() < 5:
            continue
        random, rows = np.random.default_rng(SEED), []
        for _ in range(splits):
            own = random.permutation(truth.size)[:labels]
            one = corrected_share(people[own], judged[own], judged)
            alone = one.labels_alone
            rows.append((one.value, one.low, one.high, alone.value, alone.low, alone.high))
        plain = float(judged.mean())
        naive = 1.96 * (plain * (1 - plain) / truth.size) ** 0.5
        found[category] = {"share": shown(people.mean())[0], **covered(rows, float(people.mean()), plain, naive)}
    return found


def scales(table: Scored, labels: int, splits: int) -> dict[str, Any]:
    people, scores, _ = table
    middle, random = scores.mean(axis=1), np.random.default_rng(SEED)
    tally, kinds, agreed = Tally(people.size), Counter[str](), agreement_weights(scores)
    ranks: dict[str, list[float]] = {}
    for _ in range(splits):
        own = random.permutation(people.size)[:labels]
        unlabelled = np.ones(people.size, dtype=bool)
        unlabelled[own] = False
        best = int(np.abs(scores[own] - people[own, None]).mean(axis=0).argmin())
        mapped = choose_map(people[own], middle[own])
        kinds[mapped.kind] += 1
        predicted = {
            "best_judge": scores[:, best],
            "mean": middle,
            "map_of_mean": mapped.apply(middle),
            "agreement": scores @ agreed,
            "weights": fit_weights(people[own], scores[own], base=agreed).predict(scores),
        }
        tally.add(unlabelled, **{kind: np.abs(one.clip(1, 5) - people) for kind, one in predicted.items()})
        for kind, one in predicted.items():
            ranks.setdefault(kind, []).append(pearson(one[unlabelled], people[unlabelled]) or 0.0)  # a constant orders nothing
    better = min(("best_judge", "mean"), key=tally.mean)
    corrected = [kind for kind in ranks if kind not in {"best_judge", "mean", "agreement"}]
    return {
        "error": {kind: shown(tally.mean(kind))[0] for kind in ranks},
        "r": {kind: shown(float(np.mean(values)))[0] for kind, values in ranks.items()},
        "better": better,
        "error_minus_better": {kind: tally.against(kind, better) for kind in corrected},
        "maps": dict(kinds),
    }


def teaching(table: Scored, labels: int, splits: int) -> dict[str, Any]:
    people, scores, _ = table
    middle, agreed = scores.mean(axis=1), agreement_weights(scores)
    random, tally = np.random.default_rng(SEED), Tally(people.size)
    means_of: dict[str, list[tuple[float, float, float, float, float, float]]] = {}
    for _ in range(splits):
        order = random.permutation(people.size)
        own, more = order[:labels], order[labels : 2 * labels]
        taught = np.array(teaching_items(scores, labels, tuple(own.tolist())))
        unlabelled = np.ones(people.size, dtype=bool)
        unlabelled[np.concatenate([own, more, taught])] = False
        learned = fit_weights(people[taught], scores[taught], base=agreed).predict(scores)
        for kind, one in (("agreement", scores @ agreed), ("taught", learned)):
            mean = corrected_mean(people[own], one[own], one)
            limits = (mean.low, mean.high, mean.labels_alone.value, mean.labels_alone.low, mean.labels_alone.high)
            means_of.setdefault(kind, []).append((mean.value, *(np.nan if end is None else end for end in limits)))  # type: ignore[arg-type]
        found = {}
        for kind, given in (("random", own), ("taught_too", np.r_[own, taught]), ("more_random", np.r_[own, more])):
            by_weights = fit_weights(people[given], scores[given], base=agreed).predict(scores)
            by_map = choose_map(people[given], middle[given]).apply(middle)
            found[f"weights_{kind}"] = np.abs(by_weights.clip(1, 5) - people)
            found[f"map_{kind}"] = np.abs(by_map.clip(1, 5) - people)
        tally.add(unlabelled, **found)
    kinds = ("weights", "map")
    return {
        "error": {kind: shown(tally.mean(kind))[0] for kind in tally.sums},
        "means": {kind: covered(one, float(people.mean()), float(middle.mean()), 0.0) for kind, one in means_of.items()},
        "taught_minus_random": {kind: tally.against(f"{kind}_taught_too", f"{kind}_random") for kind in kinds},
    }


def monitored(table: Scored, labels: int, splits: int) -> dict[str, Any]:
    people, scores, _ = table
    middle, random = scores.mean(axis=1), np.random.default_rng(SEED)
    worse = np.argsort(-people + random.normal(0, people.std(), people.size))  # later days are worse, and have more traffic
    ends = np.cumsum(np.arange(1, DAYS + 1) / (DAYS * (DAYS + 1) / 2) * people.size).round().astype(int)
    days = np.split(worse, ends[:-1])
    sizes, each = np.array([float(one.size) for one in days]), [min(one.size, labels // DAYS) for one in days]
    day, mean = np.repeat(np.arange(DAYS), each), float(middle.mean())
    weights = (sizes / each)[day]
    found: dict[str, list[tuple[float, float, float, float, float, float]]] = {}
    for _ in range(splits):
        own = np.concatenate([random.permutation(one)[:some] for one, some in zip(days, each, strict=True)])
        estimates = {
            "by_days": stratified_mean(people[own], middle[own], day, sizes, mean),
            "weighted": weighted_mean(people[own], middle[own], weights, mean),
            "unweighted": corrected_mean(people[own], middle[own], middle),
        }
        for kind, one in estimates.items():
            limits = (one.low, one.high, one.labels_alone.value, one.labels_alone.low, one.labels_alone.high)
            found.setdefault(kind, []).append((one.value, *(np.nan if end is None else end for end in limits)))  # type: ignore[arg-type]
    return {kind: covered(one, float(people.mean()), mean, 0.0) for kind, one in found.items()}


def categories(marked: Marked, labels: int, splits: int) -> dict[str, Any]:
    names, truth, votes, _ = marked
    random, tally, effective = np.random.default_rng(SEED), Tally(truth.size), []
    counts = np.stack([(votes == at).sum(axis=1) for at in range(len(names))], axis=1).astype(np.float64)
    for _ in range(splits):
        own = random.permutation(truth.size)[:labels]
        given = np.full(truth.size, UNKNOWN)
        given[own] = truth[own]
        right = (votes[own] == truth[own, None]).mean(axis=0)
        best = int(right.argmax())
        tied = counts + 0.5 * (votes[:, best : best + 1] == np.arange(len(names)))  # the best judge decides among equal ones
        found = anchored_confusion(given, votes, len(names))
        effective.append(found.effective)
        figures = {
            "best_judge": votes[:, best] == truth,
            "majority": tied.argmax(axis=1) == truth,
            "confusion": found.categories == truth,
        }
        tally.add(given == UNKNOWN, **{kind: one.astype(np.float64) for kind, one in figures.items()})
    better = max(("best_judge", "majority"), key=tally.mean)
    corrected = [kind for kind in tally.sums if kind.startswith("confusion")]
    return {
        "items": truth.size,
        "accuracy": {kind: shown(tally.mean(kind))[0] for kind in tally.sums},
        "better": better,
        "accuracy_minus_better": {kind: tally.against(kind, better) for kind in corrected},
        "effective_judges": shown(float(np.mean(effective)))[0],
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=2000)
    parser.add_argument("--learned", type=int, default=0, help="default: as many as --splits")
    parser.add_argument("--labels", type=int, nargs="+", default=LABELS)
    parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the recorded juries")
    options = parser.parse_args()
    splits, learned = options.splits, min(options.learned or options.splits, options.splits)
    if not options.data.is_dir():
        print(json.dumps({"benchmark": "correction", "skipped": f"the recorded juries are not here: {options.data}"}))
        return
    found: dict[str, dict[str, Any]] = {part: {} for part in options.parts}

    def measured(part: str, place: str, figures: dict[str, Any]) -> None:
        found[part][place] = figures
        print(json.dumps({part: {place: figures}}, ensure_ascii=False), file=sys.stderr, flush=True)

    for labels in options.labels:
        for name in SCALES:
            table = scores_of(options.data / f"{name}.jsonl")
            if table[0].size >= LEAST * labels:
                if "means" in found:
                    measured("means", f"{name}, {labels} labels", means(table, labels, splits, learned))
                if "teaching" in found:
                    measured("teaching", f"{name}, {labels} labels", teaching(table, labels, learned))
                if "monitored" in found:
                    measured("monitored", f"{name}, {labels} labels", monitored(table, labels, splits))
                if "scales" in found:
                    measured("scales", f"{name}, {labels} labels", scales(table, labels, learned))
        for name in CATEGORIES:
            marked = categories_of(options.data / f"{name}.jsonl")
            if marked[1].size >= LEAST * labels:
                if "shares" in found:
                    measured("shares", f"{name}, {labels} labels", shares(marked, labels, splits))
                if "categories" in found:
                    measured("categories", f"{name}, {labels} labels", categories(marked, labels, learned))
    print(json.dumps({"benchmark": "correction", "splits": splits, "learned": learned, **found}, ensure_ascii=False))


if __name__ == "__main__":
    main()
