"""Fit the grounding model that the gate ships with, and write its weights file. One JSON line.

    python benchmarks/gate_fit.py --date 2025-11-22
    python benchmarks/gate_fit.py --date 2025-11-22 --out grounding.json

The sets lie in ../shared/data beside the repository and are not part of it; of them only the coefficients are kept.
"""

import argparse
import json
import sys
from pathlib import Path

import msgspec
import numpy as np
from gate_labels import DATA, MADE_QUESTIONS, RAGTRUTH, made_rows, ragtruth_rows, read
from gate_measures import Flags, Floats, Whole, auroc, balanced_accuracy, choose, f1, unseen

from areopage.gate.grounding.fitting import fit_table, folds, tabulate
from areopage.gate.tuning.labelled import response_digest

SEEDS = 5
FOLDS = 10
SHIPPED = Path(__file__).parents[1] / "src" / "areopage" / "suites" / "bundled" / "rag_grounding" / "grounding.json"
RESPONSES = "fitted_responses.txt"  # beside the weights: `gate tune` certifies nothing with these answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--date", required=True)
    parser.add_argument("--out", type=Path, default=SHIPPED)
    args = parser.parse_args()
    if not (DATA / RAGTRUTH).exists():
        sys.exit(f"{DATA} is not there: the labelled sets lie beside the repository")
    labelled, made = ragtruth_rows(read(RAGTRUTH)), made_rows()
    table = tabulate([*labelled, *made])
    real = np.flatnonzero(~table.made)
    wrong = table.answers[real] > 0
    scores = [unseen(table, np.arange(len(table.answers)), seed, FOLDS)[real] for seed in range(SEEDS)]
    thresholds = [choose(wrong, found, balanced_accuracy) for found in scores]
    caught = [held_by_others(wrong, found, table.groups[real], seed) for seed, found in enumerate(scores)]
    figures = {
        "auroc": round(float(np.mean([auroc(wrong, found) for found in scores])), 3),
        "threshold for balanced accuracy": round(float(np.mean(thresholds)), 2),
        "balanced accuracy, threshold of the other folds": round(
            float(np.mean([balanced_accuracy(wrong, flags) for flags in caught])), 3
        ),
        "f1 there": round(float(np.mean([f1(wrong, flags) for flags in caught])), 3),
        "right answers held there": round(float(np.mean([flags[~wrong].mean() for flags in caught])), 3),
    }
    provenance = {
        "fitted on": [
            {"set": "RAGTruth, answers to questions, one half", "answers": len(labelled), "ungrounded": int(wrong.sum()),
             "sentences": int(np.isin(table.rows, real).sum()), "for": "all weights"},
            {"set": "PIAF, answers made of its questions by benchmarks/gate_french.py", "questions": MADE_QUESTIONS,
             "answers": len(made), "ungrounded": sum(row.ungrounded for row in made),
             "for": "the weight of foreign, each row counting as 1/20"},
        ],
        "date": args.date,
        "command": f"python benchmarks/gate_fit.py --date {args.date}",
        f"cross-validated by source, {FOLDS} folds, {SEEDS} seeds": figures,
    }  # fmt: skip
    model = fit_table(table, np.arange(len(table.answers)), name="areopage grounding 2", provenance=provenance)
    args.out.write_text(json.dumps(msgspec.to_builtins(model), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    digests = sorted({response_digest(row.response) for row in labelled})
    (args.out.parent / RESPONSES).write_text("\n".join(digests) + "\n", encoding="ascii")
    print(json.dumps({"written": str(args.out.name), **figures, "thresholds": [round(one, 2) for one in thresholds]}))


def held_by_others(wrong: Flags, scores: Floats, groups: Whole, seed: int) -> Flags:
    """Whether each answer is held by the threshold that the other folds choose."""
    fold = folds(groups, FOLDS, seed)
    caught = np.zeros_like(wrong)
    for one in range(FOLDS):
        rest = fold != one
        caught[~rest] = scores[~rest] >= choose(wrong[rest], scores[rest], balanced_accuracy)
    return caught


if __name__ == "__main__":
    main()
