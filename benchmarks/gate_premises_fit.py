"""Fit the weights of `areopage.gate.premises.evidence` on the pairs of `tests/gate/premises`. One JSON line, with a check.

    python benchmarks/gate_premises_fit.py

A logistic regression whose prior is what the rules say. Of an answer that affirms something, the piece with the most evidence
counts; of a right one, every piece. Each set is checked with weights that were fitted on the others; `[held, all]`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
from gate_premises import PREMISES, decided, pairs

from areopage.app.gate_rules import load_gate
from areopage.gate.premises.evidence import stance

PRIOR: Mapping[str, float] = {
    "denied before": -3.0,
    "denied behind": -3.0,
    "attributed": -2.5,
    "unable in the sentence": -1.5,
    "circumstance": -1.5,
    "repeated circumstance": -2.0,
    "called": -2.0,
    "from the source": -1.0,
    "from the subject": -0.5,
    "questioned": -2.0,
}
RIDGE = 10.0  # how firmly the prior holds
RIGHT = 2.0  # what a piece of a right answer counts, against one of a false answer
LENIENCE = 0.05  # taken off the constant: a higher one delivers more, right and false answers
FEWEST = 4  # pieces that have a cue, for its weight to leave the prior
SMALLEST = 0.05  # weight that is kept
ROUNDS, STEPS = 8, 30
Answer = tuple[str, bool, np.ndarray]  # its set, whether it affirms something false, the cues of its pieces


def evidence() -> Iterator[tuple[str, bool, list[dict[str, float]]]]:
    """The cues of each answer's pieces that only the question has."""
    seen: list[dict[str, float]] = []

    def noted(found: Mapping[str, float]) -> float:
        seen.append(dict(found))
        return stance(found)

    gate = load_gate()
    with patch("areopage.gate.premises.premises.stance", noted):
        for path in sorted(PREMISES.glob("*.jsonl")):
            for pair in pairs([path]):
                for answer in ("answer_false", "answer_right"):
                    seen.clear()
                    decided(gate, pair, answer)
                    yield path.stem, answer == "answer_false", list(seen)


def fitted(answers: Sequence[Answer], prior: np.ndarray) -> np.ndarray:
    """The weights, by Newton's method; the last one is the constant."""
    weights = prior.copy()
    ridge = np.full(len(prior), RIDGE)
    ridge[-1] = 0.01
    for _ in range(ROUNDS):
        rows = [(piece, true) for _, true, cues in answers for piece in ([cues[np.argmax(cues @ weights)]] if true else cues)]
        cues, true = np.array([piece for piece, _ in rows]), np.array([float(flag) for _, flag in rows])
        counts = np.where(true > 0, 1.0, RIGHT)
        for _ in range(STEPS):
            share = 1 / (1 + np.exp(-(cues @ weights)))
            slope = cues.T @ (counts * (share - true)) + ridge * (weights - prior)
            bend = (cues * (counts * share * (1 - share))[:, None]).T @ cues + np.diag(ridge)
            weights = weights - np.linalg.solve(bend, slope)
    weights[-1] -= LENIENCE
    return weights


def check(answers: Sequence[Answer], prior: np.ndarray) -> dict[str, Any]:
    held: dict[str, Any] = {}
    for name in sorted({one for one, _, _ in answers}):
        weights = fitted([answer for answer in answers if answer[0] != name], prior)
        for true in (True, False):
            flags = [bool((cues @ weights).max() > 0) for one, flag, cues in answers if one == name and flag == true]
            held[f"{name}, {'false' if true else 'right'}"] = [sum(flags), len(flags)]
    return held


def main() -> None:
    rows = list(evidence())
    every = [cues for _, _, pieces in rows for cues in pieces]
    counts = {name: sum(name in cues for cues in every) for name in sorted({name for cues in every for name in cues})}
    names = [name for name, count in counts.items() if count >= FEWEST or name in PRIOR]
    prior = np.array([*(PRIOR.get(name, 0.0) for name in names), 1.0])
    answers = [
        (name, true, np.array([[*(cues.get(one, 0.0) for one in names), 1.0] for cues in pieces]))
        for name, true, pieces in rows
        if pieces
    ]
    weights = fitted(answers, prior)
    kept = {name: round(float(value), 2) for name, value in zip(names, weights, strict=False) if abs(value) >= SMALLEST}
    found = {"bias": round(float(weights[-1]), 2), "weights": dict(sorted(kept.items(), key=lambda pair: pair[1]))}
    print(json.dumps({"benchmark": "gate_premises_fit", **found, "held by stance alone": check(answers, prior)}))


if __name__ == "__main__":
    main()
