"""What real juries are worth, on recorded judges and people, and how well outlying raters are found. Prints one JSON line.

    python jury_worth.py sets              six sets of `jury_and_people`: independent judges, the best judge, who may replace
    python jury_worth.py people            Krippendorff's α of `dices_350_crowd` and `newsroom`
    python jury_worth.py outliers          planted outlying raters: power and false alarms over 1,000 juries of real labels
    python jury_worth.py simulate          coverage of the interval of independent judges; needs no data

Scores of `summeval` and `10k_prompts` are numbers from 1 to 5. The labels of the other sets are categories: an error is a label
other than that of most people, items without such a label are left out, and the jury's label is that of most judges (the first
in order where several are as many). `summeval` is taken by summary, its four dimensions as criteria, except in the alternative
annotator test, which as in its paper takes each dimension of a summary for an item (`--by-summary`: not).
"""

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs

from areopage.scoring.arrays import Column, Matrix
from areopage.scoring.chance_agreement import krippendorff_alpha
from areopage.scoring.correlation import Estimate
from areopage.scoring.shares import Share
from areopage.scoring.worth.alternative import Replacement, alternative_test
from areopage.scoring.worth.contributions import best_judge, judge_errors
from areopage.scoring.worth.effective import effective_judges, kish, most_judges
from areopage.scoring.worth.standing_apart import standing_apart
from areopage.scoring.worth.tables import JuryTable

DATA = Path(__file__).parents[2] / "shared" / "data"
SCORED = {"10k_prompts": "skilled", "summeval": "expert"}
SETS = SCORED | {"lgbteen": "expert", "mtbench": "skilled", "framing": "crowd", "cebab_aspects": "crowd"}
"""The people of each set, by the paper's table."""

SAFETY = {"No": 1.0, "Unsure": 2.0, "Yes": 3.0}
"""`dices_350_crowd`: Yes means unsafe."""


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a JSON Lines file, gzipped or not."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


def table_of(name: str) -> JuryTable:
    """A set as a table; categories are numbered."""
    rows = list(rows_of(DATA / "jury_and_people" / f"{name}.jsonl"))
    judges = sorted(rows[0]["judges"])
    raters = sorted({rater for row in rows for rater in row["people"]})
    given = {value for row in rows for part in ("people", "judges") for value in row[part].values()}
    number = {value: float(value) if name in SCORED else float(at) for at, value in enumerate(sorted(given, key=str))}
    parts = [row["item"].rsplit("__", 1) if name == "summeval" else (row["item"], "") for row in rows]
    names, criteria = sorted({item for item, _ in parts}), sorted({criterion for _, criterion in parts})
    return JuryTable(
        judges=tuple(judges),
        raters=tuple(raters),
        names=tuple(names),
        items=np.array([names.index(item) for item, _ in parts]),
        criteria=np.array([criteria.index(criterion) for _, criterion in parts]),
        scores=np.array([[number[row["judges"][judge]] for judge in judges] for row in rows]),
        labels=np.array([[number[row["people"][one]] if one in row["people"] else np.nan for one in raters] for row in rows]),
    )


def wrong_of(table: JuryTable) -> tuple[JuryTable, Matrix]:
    """Whether each judge's category is another one than that of most people (0 or 1), and whether that of most judges is."""
    kept, wrong, jury = [], [], []
    for scores, labels in zip(table.scores, table.labels, strict=True):
        most = Counter(labels[~np.isnan(labels)].tolist()).most_common(2)
        kept.append(len(most) == 1 or most[0][1] > most[1][1])
        wrong.append((scores != most[0][0]).astype(float))
        jury.append(float(Counter(scores.tolist()).most_common(1)[0][0] != most[0][0]))
    found = structs.replace(table, scores=np.array(wrong), labels=np.zeros((len(kept), 1)), raters=("most",))
    return found.only(np.array(kept)), np.array(jury)[np.array(kept)]


def shown(found: Estimate | None, digits: int = 3) -> list[float | None] | None:
    """A figure with its interval."""
    if found is None or found.value is None:
        return None
    return [None if value is None else round(value, digits) for value in (found.value, found.low, found.high)]


def measured_set(name: str, *, by_summary: bool) -> dict[str, Any]:
    """All figures of one set."""
    table = table_of(name)
    errors, jury_wrong = (table, None) if name in SCORED else wrong_of(table)
    effective, best = effective_judges(errors), best_judge(errors, 4.0 if name in SCORED else 1.0)
    assert effective is not None
    assert best is not None
    figures: dict[str, Any] = {
        "items": effective.items,
        "units": effective.units,
        "effective": shown(effective.value),
        "error_correlation": shown(effective.correlation),
        "without_peoples_noise": shown(effective.without_noise),
        "people_noise": effective.people_noise,
        "best": best.judge,
        "best_error_cross_validated": round(best.error, 4),
        "best_chosen_in": best.chosen,
    }
    if jury_wrong is None:
        figures |= {
            "mean_error": round(best.jury_error, 4),
            "best_minus_mean": shown(best.difference, 4),
            "at_most_without_labels": shown(most_judges(table)),
            "judges": {
                one.judge: {
                    "leniency": shown(one.leniency),
                    "noise": shown(one.noise),
                    "error": round(one.error or 0.0, 3),
                    "without": shown(one.without, 4),
                    "contribution": one.contribution,
                }
                for one in judge_errors(table, 4.0)
            },
        }
    else:
        figures |= {"majority_error": round(float(jury_wrong.mean()), 4)}
        figures |= {"errors": dict(zip(errors.judges, errors.scores.mean(axis=0).round(4).tolist(), strict=True))}
    return figures | {"replace": replaced(name, table, by_summary=by_summary)}


def replaced(name: str, table: JuryTable, *, by_summary: bool) -> dict[str, Any] | None:
    """The alternative annotator test of each judge, at the ε of the set's people and at the others."""
    if not by_summary:
        units = len(table.items)
        table = structs.replace(table, items=np.arange(units), names=tuple(map(str, range(units))))
    found = alternative_test(table, categories=name not in SCORED)
    if found is None:
        return None
    kind = SETS[name]
    return {
        "people": kind,
        "epsilon": Replacement.EPSILON[kind],  # type: ignore[index]
        "items": found.items,
        "raters": found.raters,
        "judges": {
            one.judge or "jury": {
                "omega": {key: round(rate, 3) for key, rate in one.winning_rate.items()},
                "passes": one.may_replace[kind],  # type: ignore[index]
                "rho": round(one.advantage, 3),
            }
            for one in found.judges
        },
    }


def people_among() -> dict[str, Any]:
    """α of people with its interval over items."""
    found: dict[str, Any] = {}
    for name, table in human_tables().items():
        alpha = krippendorff_alpha([[None if np.isnan(value) else float(value) for value in row] for row in table])
        found[name] = {
            "items": len(table),
            "raters": table.shape[1],
            "labels": int((~np.isnan(table)).sum()),
            "alpha": [round(value, 3) for value in (alpha.alpha, alpha.low, alpha.high) if value is not None],
        }
    return found


def human_tables() -> dict[str, Matrix]:
    """Items × raters of `dices_350_crowd` (1 safe to 3 unsafe) and of each dimension of `newsroom` (1 to 5)."""
    dices = [
        row["annotations"]["safety"]["individual_human_scores"]
        for row in rows_of(DATA / "human_ratings" / "dices_350_crowd.jsonl.gz")
    ]
    tables = {"dices_350_crowd": np.array([[SAFETY.get(value, np.nan) for value in row] for row in dices])}
    rows = list(rows_of(DATA / "human_ratings" / "newsroom.jsonl.gz"))
    for dimension in rows[0]["annotations"]:
        given = [row["annotations"][dimension]["individual_human_scores"] for row in rows]
        tables[f"newsroom {dimension}"] = np.array(given, dtype=np.float64)
    return tables


def outliers(juries: int, permutations: int, seed: int) -> dict[str, Any]:
    """How often a planted outlying rater is named, and how often another one is.

    Each jury is drawn from the people of an item: each label of a jury is that of any rater of the item, so that no rater differs
    from another, and naming one that was not planted is always wrong. `real` juries are those of real raters, who do differ.
    """
    tables = human_tables()
    sets = [("dices_350_crowd", 5, 100, 1.0, 3.0), ("newsroom Informativeness", 3, 100, 1.0, 5.0)]
    found: dict[str, Any] = {}
    for name, size, items, low, high in sets:
        figures: dict[str, Any] = {}
        for kind in ("none", "real", *PLANTS):
            random, hits, alarms = np.random.default_rng(seed), 0, 0
            for number in range(juries):
                table = tables[name]
                scores = table[random.permutation(len(table))[:items]]
                raters = random.permutation(table.shape[1])[:size]
                scores = scores[:, raters] if kind == "real" else random.permuted(scores, axis=1)[:, :size]
                if kind in PLANTS:
                    scores[:, 0] = PLANTS[kind](scores[:, 0], low, high, random)
                named = set(standing_apart(scores, high - low, permutations=permutations, seed=number))
                hits += 0 in named
                alarms += bool(named - {0}) if kind in PLANTS else bool(named)
            shares = {"false_alarms": shown_share(alarms, juries)}
            figures[kind] = shares if kind not in PLANTS else {"power": shown_share(hits, juries)} | shares
            print(name, kind, figures[kind], file=sys.stderr, flush=True)
        found[f"{name}, {size} raters, {items} items"] = figures
    return found


PLANTS: dict[str, Callable[[Column, float, float, np.random.Generator], Column]] = {
    "shuffled": lambda labels, low, high, random: random.permutation(labels),
    "uniform": lambda labels, low, high, random: random.integers(int(low), int(high) + 1, len(labels)).astype(float),
    "reversed": lambda labels, low, high, random: low + high - labels,
    "always lowest": lambda labels, low, high, random: np.full(len(labels), low),
    "always highest": lambda labels, low, high, random: np.full(len(labels), high),
}
"""What a planted rater gives instead of the labels."""


def shown_share(hits: int, of: int) -> list[float]:
    """A share with its exact interval."""
    found = Share.exact(hits, of)
    return [round(value, 3) for value in (found.share, found.low, found.high) if value is not None]


def simulated(draws: int, seed: int) -> dict[str, Any]:
    """How often the interval of independent judges holds the truth: normal errors, whole points, and one large error in eight."""
    random, found = np.random.default_rng(seed), {}
    for shape in ("normal", "whole points", "one in eight"):
        for items, judges in ((20, 3), (20, 6), (50, 6), (200, 6)):
            for share in (0.1, 0.4, 0.7):
                truth = kish(correlation_of(errors_of(shape, 200_000, judges, share, random)), judges)
                known = hits = 0
                for number in range(draws):
                    errors = errors_of(shape, items, judges, share, random)
                    estimate = effective_judges(table_from(errors), resamples=200, seed=number)
                    if estimate is None or estimate.value.low is None or estimate.value.high is None:
                        continue
                    known += 1
                    hits += estimate.value.low <= truth <= estimate.value.high
                found[f"{shape}, {items} items, {judges} judges, worth {truth:.2f}"] = {
                    "without_a_figure": draws - known,
                    "covered": shown_share(hits, known),
                }
    return found


def errors_of(shape: str, items: int, judges: int, share: float, random: np.random.Generator) -> Matrix:
    """Errors of which a share is in common."""
    if shape == "one in eight":
        both, own = random.random((items, 1)) < 1 / 8, random.random((items, judges)) < 1 / 8
        return np.where(random.random((items, judges)) < np.sqrt(share), both, own) * -2.0
    errors: Matrix = np.sqrt(share) * random.normal(size=(items, 1)) + np.sqrt(1 - share) * random.normal(size=(items, judges))
    return errors if shape == "normal" else np.round(0.7 * errors)


def correlation_of(errors: Matrix) -> float:
    """The mean correlation of two columns."""
    judges = errors.shape[1]
    return float((np.corrcoef(errors, rowvar=False).sum() - judges) / (judges * (judges - 1)))


def table_from(errors: Matrix) -> JuryTable:
    """Errors as scores beside labels of 0."""
    items, judges = errors.shape
    numbers = np.arange(items)
    return JuryTable(
        judges=tuple(map(str, range(judges))),
        raters=("people",),
        names=tuple(map(str, numbers)),
        items=numbers,
        criteria=np.zeros(items, dtype=np.intp),
        scores=errors,
        labels=np.zeros((items, 1)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("sets", "people", "outliers", "simulate"))
    parser.add_argument("--by-summary", action="store_true")
    parser.add_argument("--juries", type=int, default=1000)
    parser.add_argument("--permutations", type=int, default=99)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.what == "sets":
        found: dict[str, Any] = {name: measured_set(name, by_summary=given.by_summary) for name in SETS}
    elif given.what == "people":
        found = people_among()
    elif given.what == "outliers":
        found = outliers(given.juries, given.permutations, given.seed)
    else:
        found = simulated(given.draws, given.seed)
    print(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    main()
