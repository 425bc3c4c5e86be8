"""An exam of a judge on a suite's gold set, or how often oracles with stated faults pass one. One JSON line.

    python benchmarks/gold_exam.py rules:readability
    python benchmarks/gold_exam.py ollama:qwen3:8b --lang fr --limit 20
    python benchmarks/gold_exam.py rules:answer_quality --suite answer_quality
    python benchmarks/gold_exam.py --simulate 1000

Everything is computed by `areopage.exams.exam` and `areopage.scoring.exams`; nothing is stored.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from exam_power import Oracle, predicted

from areopage.criteria.records import Scale
from areopage.exams.exam import run_exam
from areopage.exams.exam_plan import (
    ExamWishes,
    prepare_exam,
)
from areopage.ledger.store import Ledger
from areopage.scoring.exams.figures import examine
from areopage.scoring.exams.records import ExamItem, Figure, Marks, Said
from areopage.suites.loader import load_suite

SIDE, PASSES, CHANGES = 10, 3, 2
BANDS = [(0.0, 0.2)] * SIDE + [(0.8, 1.0)] * SIDE
ORACLES = (
    Oracle(noise=0.05),
    Oracle(noise=0.1),
    Oracle(noise=0.15),
    Oracle(noise=0.2),
    Oracle(noise=0.3),
    Oracle(noise=0.1, bias=-0.15),
    Oracle(noise=0.1, bias=-0.3),
    Oracle(noise=0.05, lapses=0.03),
)


def rounded(figure: Figure) -> list[float | None]:
    """Value and ends of a figure."""
    return [None if one is None else round(one, 3) for one in (figure.value, figure.low, figure.high)]


def examined(options: argparse.Namespace) -> dict[str, Any]:
    """The figures of a judge, criterion by criterion."""
    languages = (options.lang,) if options.lang else ()
    wishes = ExamWishes(judges=(options.judge,), languages=languages, limit=options.limit, passes=options.passes)
    exam = prepare_exam(load_suite(options.suite), wishes).checked()
    with tempfile.TemporaryDirectory() as scratch, Ledger.open(Path(scratch) / "ledger.db") as ledger:
        found = run_exam(exam, ledger).qualifications
    criteria = {
        one.path: {
            "state": one.state,
            "rows": one.result.rows,
            "missed": [mark.name for mark in one.result.missed],
            **{name: rounded(getattr(one.result, name)) for name in ("separation", "error", "bias", "kappa", "parsed")},
            **{name: rounded(getattr(one.result, name)) for name in ("consistency", "sensitivity")},
        }
        for one in found
    }
    return {"suite": exam.suite, "judge": options.judge, "whole": exam.whole, "criteria": criteria}


def simulated(oracle: Oracle, exams: int, seed: int) -> dict[str, Any]:
    """How often an oracle passes, beside the prediction."""
    random, counts, passed = np.random.default_rng(seed), dict.fromkeys(Marks.__struct_fields__, 0), 0
    chances = {band: oracle.says(*band) for band in set(BANDS)}

    def say(band: tuple[float, float]) -> Said:
        if random.random() < oracle.lapses:
            return None
        places, weights = zip(*chances[band].items(), strict=True)
        return float(random.choice(places, p=np.array(weights) / sum(weights))) * 5

    for _ in range(exams):
        items = [
            ExamItem(
                row=str(number),
                language="en",
                low=band[0] * 5,
                high=band[1] * 5,
                passes=tuple(say(band) for _ in range(PASSES)),
                variants={f"change {change}": say(band) for change in range(CHANGES)},
            )
            for number, band in enumerate(BANDS)
        ]
        found = examine("c", items, Scale(), Marks())
        passed += found.state == "qualified"
        for mark in found.marks:
            counts[mark.name] += mark.state == "met"
    expected = predicted(oracle, BANDS, PASSES, CHANGES, Marks())
    return {
        "noise": oracle.noise,
        "bias": oracle.bias,
        "lapses": oracle.lapses,
        "predicted": [round(expected.least, 3), round(expected.most, 3)],
        "passed": passed / exams,
        "marks": {name: [round(chance, 3), counts[name] / exams] for name, chance in expected.marks.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("judge", nargs="?", default="")
    parser.add_argument("--suite", default="child_safety")
    parser.add_argument("--lang", default="")
    parser.add_argument("--limit", type=int, default=0, help="how many rows of each language, evenly spaced; 0 for all")
    parser.add_argument("--passes", type=int, default=None)
    parser.add_argument("--simulate", type=int, default=0, metavar="EXAMS", help="simulate so many exams of each oracle instead")
    options = parser.parse_args()
    if options.simulate:
        found = {"exams": options.simulate, "oracles": [simulated(one, options.simulate, 7) for one in ORACLES]}
    else:
        found = examined(options)
    print(json.dumps({"benchmark": "gold_exam", **found}))


if __name__ == "__main__":
    main()
