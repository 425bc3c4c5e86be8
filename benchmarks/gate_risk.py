"""Whether the tuner's certificates are kept: simulated, and on labelled answers by repeated splits. One JSON line.

    python benchmarks/gate_risk.py                # 2,000 draws of each kind; about two minutes
    python benchmarks/gate_risk.py --draws 300 --splits 20

Simulated (`simulated`): labelled answers are drawn anew each time, a threshold is certified, and its true risk is looked up in a
million answers of the same kind. `missed` is the share of draws in which the true risk is over the one asked for (the promise is
5 % at most), `delivered` the mean share of answers delivered, `best` what the loosest threshold that truly keeps the risk would.

- calibrated: an answer is ungrounded as often as its score says, 17 % on average; sharp: the same with scores further apart.
- useless: scores say nothing, and 1.05 times the risk of the answers is ungrounded: any certificate of `delivered` is wrong.
- upside down: the surest 15 % of the answers are ungrounded three times as often as allowed, the next half hardly ever. Such a
  score is not what the guarantee of `delivered` is exact for; this shows what becomes of it.

Recorded (`ragtruth`): ../shared/data/ragtruth_qa_half beside the repository; without it the reason is printed instead. The
sources are split at random. `shipped`: half of them certify, half check; the shipped weights were fitted on all of these answers,
so that this is better than what strangers get. `refitted`: a third fits a model, a third certifies, a third checks. `over` is the
share of certified splits in which the checking answers show more than the risk asked for, which chance does to some where the
risk is just kept; `surely_over` counts those where that is beyond chance (95 %, one answer of each source).
"""

import argparse
import gzip
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from areopage.app.gate_rules import load_rules
from areopage.cases.records import Document
from areopage.gate.config import GateConfig
from areopage.gate.grounding.fitting import fit
from areopage.gate.tuning.labelled import Labelled
from areopage.gate.tuning.risk import Control, certify, steps_of
from areopage.gate.tuning.thresholds import Ask, ScoredAnswer, open_gate, scored, tune
from areopage.gate.tuning.tuned import row_of
from areopage.scoring.shares import lower_bound

RAGTRUTH = Path(__file__).parents[2] / "shared" / "data" / "ragtruth_qa_half" / "rows.jsonl.gz"
CONFIDENCE = 0.95
LARGE = 1_000_000
SIZES, RISKS = (150, 500, 2000), (0.02, 0.05, 0.1)
CONTROLS: tuple[Control, ...] = ("delivered", "all", "average")

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, float], tuple[Floats, NDArray[np.bool_]]]


def calibrated(random: np.random.Generator, rows: int, _: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Scores of a middling detector."""
    scores = 1.0 / (1.0 + np.exp(-random.normal(-2.2, 1.6, rows)))
    return scores, random.random(rows) < scores


def sharp(random: np.random.Generator, rows: int, _: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Scores of a good one."""
    scores = 1.0 / (1.0 + np.exp(-random.normal(-4.0, 2.6, rows)))
    return scores, random.random(rows) < scores


def useless(random: np.random.Generator, rows: int, risk: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Scores that say nothing."""
    return random.random(rows), random.random(rows) < risk * 1.05


def upside_down(random: np.random.Generator, rows: int, risk: float) -> tuple[Floats, NDArray[np.bool_]]:
    """The lowest scores are the worst."""
    scores = random.random(rows)
    share = np.where(scores < 0.15, 3 * risk, np.where(scores < 0.65, risk / 10, 0.5))
    return scores, random.random(rows) < share


KINDS: dict[str, Draw] = {"calibrated": calibrated, "sharp": sharp, "useless": useless, "upside down": upside_down}


def simulated(draws: int) -> dict[str, Any]:
    """Every kind, control, risk and size."""
    found: dict[str, Any] = {}
    for kind, draw in KINDS.items():
        for risk in RISKS:
            scores, wrong = draw(np.random.default_rng(99), LARGE, risk)
            truth = steps_of(scores.tolist(), wrong.tolist())
            for control in CONTROLS:
                true = {step.threshold: step.wrong / (max(1, step.taken) if control == "delivered" else LARGE) for step in truth}
                taken = {step.threshold: step.taken / LARGE for step in truth}
                best = max((taken[threshold] for threshold, share in true.items() if share <= risk), default=0.0)
                for rows in SIZES:
                    name = f"{kind}, {control}, risk {risk:g}, {rows} labels"
                    found[name] = measured(draw, draws, risk, control, rows, true, taken) | {"best": round(best, 3)}
    return found


def measured(
    draw: Draw, draws: int, risk: float, control: Control, rows: int, true: dict[float, float], taken: dict[float, float]
) -> dict[str, float]:
    """How often the promise is missed, and how much is delivered."""
    random = np.random.default_rng(7)
    missed, delivered, risks = 0, 0.0, 0.0
    for _ in range(draws):
        scores, wrong = draw(random, rows, risk)
        step = certify(steps_of(scores.tolist(), wrong.tolist()), rows, risk, CONFIDENCE, control)
        if step is not None:
            missed += true[step.threshold] > risk
            delivered += taken[step.threshold]
            risks += true[step.threshold]
    figures = {"missed": round(missed / draws, 4), "delivered": round(delivered / draws, 3)}
    return figures if control != "average" else figures | {"mean_risk": round(risks / draws, 4)}


def worst_of(found: dict[str, Any]) -> dict[str, Any]:
    """The largest share missed by kind, for the two controls with a confidence, and what chance allows for that many draws."""
    return {
        f"{kind}, {control}": max(figures["missed"] for name, figures in found.items() if name.startswith(f"{kind}, {control}, "))
        for kind in KINDS
        for control in ("delivered", "all")
    }


def ragtruth(splits: int) -> dict[str, Any]:
    """Repeated splits of the recorded answers."""
    if not RAGTRUTH.exists():
        return {"skipped": f"{RAGTRUTH.name} is not there"}
    rows = []
    with gzip.open(RAGTRUTH, "rt", encoding="utf-8") as stream:
        for line in stream:
            row = json.loads(line)
            rows.append(
                Labelled(
                    id=row["id"],
                    prompt=row["query"],
                    response=row["response"],
                    documents=(Document(id="passages", text=row["context"]),),
                    grounded="no" if row["hallucinated"] else "yes",
                    unsupported=tuple((span["start"], span["end"]) for span in row["spans"]),
                    group=row["source_id"],
                )
            )
    config = load_rules()
    shipped = judged(rows, config)
    return {
        "answers": len(rows),
        "sources": len({row.group for row in rows}),
        **{f"shipped, risk {risk:g}": shipped_splits(shipped, config, risk, splits) for risk in (0.05, 0.1, 0.15, 0.2)},
        **{
            f"refitted, risk {risk:g}": figures
            for risk, figures in refitted_splits(rows, config, (0.15, 0.2, 0.3), splits).items()
        },
    }


def judged(rows: Sequence[Labelled], config: GateConfig) -> list[ScoredAnswer]:
    """The rows as the gate sees them."""
    gate = open_gate(config)
    return [scored(row, gate.decide(row.prompt, row.response, row.documents)) for row in rows]


def parts_of(units: Sequence[str], parts: int, seed: int) -> list[set[str]]:
    """Units dealt into parts."""
    order = np.random.default_rng(seed).permutation(len(units)).tolist()
    return [{units[place] for place in order[part::parts]} for part in range(parts)]


class Checked:
    """What becomes of certified thresholds on other answers."""

    def __init__(self, risk: float) -> None:
        self.risk, self.splits, self.risks, self.delivered = risk, 0, list[float](), list[float]()
        self.over = self.surely_over = 0

    def take(self, certifying: Sequence[ScoredAnswer], checking: Sequence[ScoredAnswer], config: GateConfig, seed: int) -> None:
        """One split."""
        self.splits += 1
        tuning = tune(certifying, Ask(risk=self.risk, confidence=CONFIDENCE, seed=seed), config)
        threshold = tuning.chosen.threshold
        if threshold is None:
            return
        out = [row for row in checking if row.score <= threshold]
        share = sum(row.ungrounded for row in out) / max(1, len(out))
        self.risks.append(share)
        self.delivered.append(len(out) / len(checking))
        self.over += share > self.risk
        alone = [row for row in {row.unit: row for row in checking}.values() if row.score <= threshold]
        self.surely_over += lower_bound(sum(row.ungrounded for row in alone), max(1, len(alone)), 0.95) > self.risk

    def figures(self) -> dict[str, float | int | None]:
        """The sums."""
        certified = len(self.risks)
        return {
            "splits": self.splits,
            "certified": certified,
            "mean_risk": round(float(np.mean(self.risks)), 4) if certified else None,
            "delivered": round(float(np.mean(self.delivered)), 3) if certified else None,
            "over": round(self.over / certified, 3) if certified else None,
            "surely_over": round(self.surely_over / certified, 3) if certified else None,
        }


def shipped_splits(rows: Sequence[ScoredAnswer], config: GateConfig, risk: float, splits: int) -> dict[str, Any]:
    """Half certifies, half checks."""
    units, checked = sorted({row.unit for row in rows}), Checked(risk)
    for seed in range(splits):
        first, second = parts_of(units, 2, seed)
        checked.take([row for row in rows if row.unit in first], [row for row in rows if row.unit in second], config, seed)
    return checked.figures()


def refitted_splits(
    rows: Sequence[Labelled], config: GateConfig, risks: Sequence[float], splits: int
) -> dict[float, dict[str, Any]]:
    """A third fits, a third certifies, a third checks."""
    units, found = sorted({row.unit for row in rows}), {risk: Checked(risk) for risk in risks}
    for seed in range(splits):
        parts = parts_of(units, 3, seed)
        model = fit([row_of(row, config.top) for row in rows if row.unit in parts[0]], seed=seed)
        scores = judged([row for row in rows if row.unit not in parts[0]], replace(config, grounding=model))
        certifying = [row for row in scores if row.unit in parts[1]]
        checking = [row for row in scores if row.unit in parts[2]]
        for checked in found.values():
            checked.take(certifying, checking, config, seed)
    return {risk: checked.figures() for risk, checked in found.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000, help="simulated sets of labels, of each kind")
    parser.add_argument("--splits", type=int, default=100, help="splits of the recorded answers")
    given = parser.parse_args()
    found = simulated(given.draws)
    noise = 3 * math.sqrt(0.05 * 0.95 / given.draws)
    print(
        json.dumps(
            {
                "benchmark": "gate_risk",
                "confidence": CONFIDENCE,
                "draws": given.draws,
                "most_missed": worst_of(found),
                "allowed": round(0.05 + noise, 4),
                "simulated": found,
                "ragtruth": ragtruth(given.splits),
            }
        )
    )


if __name__ == "__main__":
    main()
