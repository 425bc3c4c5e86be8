"""Pairs of answers that a model compared in both orders: the published statistics again, and how much the first place counts.

Data: LLMBar (Z. Zeng et al., "Evaluating Large Language Models at Evaluating Instruction Following", 2024): 419 pairs, texts of
ChatGPT and GPT-4, two prompts, both orders. A text is read by the answer that it calls better, and not at all if that is both;
shares, exact bounds and κ are the product's. Run it with the folder of the data:

    python benchmarks/pairwise.py /path/to/llmbar_raw
"""

import argparse
import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from areopage.scoring.agreement_with_people import kappa_estimate
from areopage.scoring.shares import Share, at_least

ORDERS = ("swap = False", "swap = True")
BETTER = re.compile(r"Output \(([ab])\) is better")
ALONE = re.compile(r"\s*Output \(([ab])\)\.?\s*")
Winners = tuple[int, int]
"""The better answer, 1 or 2 as stored, in the given order and in the other one; 0 where the text names none."""


def first_shown(text: str) -> int:
    """1 if a text's verdict is the answer that was shown first, 2 if it is the second, 0 if it names none or both."""
    found = set(BETTER.findall(text) or ALONE.findall(text))
    return 0 if len(found) != 1 else 1 if found == {"a"} else 2


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a compressed file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def bounded(hits: int, of: int) -> list[float | int | None]:
    """A count, its share and the exact 95 % bounds of the share."""
    found = Share.exact(hits, of)
    return [hits, of, *(None if one is None else round(one, 4) for one in (found.share, found.low, found.high))]


def statistics(winners: list[Winners], labels: list[int]) -> dict[str, Any]:
    """The published figures: correct in each order, in both, the same verdict in both, κ of the two orders."""
    pairs = list(zip(winners, labels, strict=True))
    same = [one for one, _ in pairs if one[0] == one[1]]
    readable = np.array([one for one, _ in pairs if 0 not in one], dtype=float)
    kappa = kappa_estimate(readable[:, 0], readable[:, 1], (1.0, 2.0)).value
    return {
        "correct_False": sum(one[0] == label for one, label in pairs),
        "correct_True": sum(one[1] == label for one, label in pairs),
        "correct_both": sum(one == (label, label) for one, label in pairs),
        "equal": len(same),
        "kappa": None if kappa is None else round(kappa, 4),
    }


def position_bias(winners: list[Winners], seed: int = 3, resamples: int = 2000) -> dict[str, Any]:
    """How often the answer shown first wins, and which way the pairs fall whose verdict changes with the order."""
    shown = np.array([(first == 1, second == 2) for first, second in winners if first and second])
    random = np.random.default_rng(seed)
    means = shown.mean(axis=1)
    draws = means[random.integers(0, len(means), (resamples, len(means)))].mean(axis=1)
    to_first, to_second = int(shown.all(axis=1).sum()), int((~shown).all(axis=1).sum())
    flips, most = to_first + to_second, max(to_first, to_second)
    return {
        "pairs": len(means),
        "first_wins": round(float(means.mean()), 4),
        "interval": [round(float(end), 4) for end in np.quantile(draws, [0.025, 0.975])],
        "flips": bounded(flips, len(means)),
        "flips_to_first": bounded(to_first, flips),
        "p_sign_test": round(min(1.0, 2 * at_least(most, flips, 0.5)), 6) if flips else None,
    }


def main() -> None:
    """Print one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    labels = {row["item_id"]: (row["subset"], int(row["label"])) for row in rows_of(folder / "items.jsonl.gz")}
    judged: dict[tuple[str, str], dict[str, Winners]] = {}
    unlike = 0
    for row in rows_of(folder / "judgments.jsonl.gz"):
        shown = [first_shown(row["result"][order]["completion"][0]) for order in ORDERS]
        winner = (shown[0], shown[1] and 3 - shown[1])
        unlike += sum(str(one or None) != str(row["result"][order]["winner"]) for one, order in zip(winner, ORDERS, strict=True))
        judged.setdefault((row["evaluator"], row["strategy"]), {})[row["item_id"]] = winner
    published = {
        (row["subset"].rpartition("/")[2], row["evaluator"], row["strategy"]): row
        for row in rows_of(folder / "published_statistics.jsonl.gz")
    }
    apart: dict[str, Any] = {}
    bias: dict[str, Any] = {}
    for (evaluator, strategy), winners in judged.items():
        bias[f"{evaluator}/{strategy}"] = position_bias(list(winners.values()))
        for subset in dict.fromkeys(name for name, _ in labels.values()):
            ids = [id for id in winners if labels[id][0] == subset]
            own = statistics([winners[id] for id in ids], [labels[id][1] for id in ids])
            there = published[subset.rpartition("/")[2], evaluator, strategy]
            differs = {
                name: [own[name], int(there[name].split()[0])]
                for name in ("correct_False", "correct_True", "correct_both", "equal")
                if own[name] != int(there[name].split()[0])
            }
            if own["kappa"] is not None and abs(own["kappa"] - there["kappa_agreement"]) > 0.001:
                differs["kappa"] = [own["kappa"], round(there["kappa_agreement"], 4)]
            apart[f"{subset}/{evaluator}/{strategy}"] = differs
    print(json.dumps({"verdicts_read_otherwise": unlike, "not_as_published": apart, "position_bias": bias}))


if __name__ == "__main__":
    main()
