"""How often a judge's score lies in the band that a suite's gold set says is beyond dispute. One JSON line.

    python benchmarks/gold_exam.py rules:readability
    python benchmarks/gold_exam.py ollama:qwen3:8b --lang fr --limit 20
    python benchmarks/gold_exam.py rules:answer_quality --suite answer_quality --lang fr

`separation` is the chance that the judge puts a response with a high band above one with a low band of the same criterion
(ties count half): 1 is perfect, 0.5 a coin flip. Where a criterion does not apply to a response, the gold set says so; a judge
that finds the same is inside the band.
"""

import argparse
import json
import tempfile
from itertools import product
from pathlib import Path

import msgspec

from areopage.bench.prepare import RunWishes
from areopage.bench.results import RunView
from areopage.bench.start import run_benchmark
from areopage.ledger.store import Ledger
from areopage.suites.loader import Suite, load_suite

LOW, HIGH = 0.4, 0.7  # shares of the scale: a band that ends below, or begins above


class Graded(msgspec.Struct, frozen=True):
    """A line of the gold set."""

    id: str
    language: str
    prompt: str
    response: str
    bands: dict[str, tuple[float, float]]
    maturity: str = ""
    documents: tuple[dict[str, str], ...] = ()
    not_applicable: tuple[str, ...] = ()

    @property
    def criteria(self) -> tuple[str, ...]:
        """All that the judge is asked about."""
        return tuple(dict.fromkeys((*self.bands, *self.not_applicable)))


def judged(suite: Suite, items: list[Graded], reference: str, language: str, wanted: str, folder: Path) -> RunView:
    """A run over the gold set, each response judged on the criteria of its bands."""
    path = folder / "gold.jsonl"
    lines = [
        {name: getattr(item, name) for name in ("id", "prompt", "response", "maturity", "documents")}
        | {"criteria_selection": ",".join(kept)}
        for item in items
        if (kept := [key for key in item.criteria if key.startswith(wanted)])
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    wishes = RunWishes(datasets=(path,), judges=(reference,), passes=1, language=language, limit=-1)
    return run_benchmark(suite, wishes, ledger=Ledger.open(folder / "ledger.db"), out=folder)


def separation(low: list[float], high: list[float]) -> tuple[float, int]:
    """Wins of high over low, and how many pairs there are."""
    wins = sum(1.0 if one > other else 0.5 if one == other else 0.0 for one, other in product(high, low))
    return wins, len(low) * len(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("judge")
    parser.add_argument("--suite", default="child_safety")
    parser.add_argument("--lang", default="en")
    parser.add_argument("--limit", type=int, default=0, help="how many responses, evenly spaced; 0 for all")
    parser.add_argument("--criteria", default="", help="only criteria whose id begins so")
    options = parser.parse_args()
    suite = load_suite(options.suite)
    gold = suite.folder / "gold.jsonl"
    lines = gold.read_text(encoding="utf-8").splitlines()
    items = [item for line in lines if (item := msgspec.json.decode(line, type=Graded)).language == options.lang]
    if options.limit:
        items = [items[position * len(items) // options.limit] for position in range(options.limit)]
    with tempfile.TemporaryDirectory() as scratch:
        view = judged(suite, items, options.judge, options.lang, options.criteria, Path(scratch))
    graded = {item.id: item for item in items}
    sides: dict[str, tuple[list[float], list[float]]] = {}
    asked = inside = scored = 0
    for record in view.scores.records:
        for one in record.criteria:
            if not one.planned:
                continue
            asked += 1
            if one.is_missing:
                continue
            scored += 1
            item = graded[record.case_id]
            if one.score is None:
                inside += one.criterion in item.not_applicable
                continue
            if one.criterion not in item.bands:
                continue
            least, most = item.bands[one.criterion]
            inside += least <= one.score <= most
            low, high = sides.setdefault(one.criterion, ([], []))
            (low if most <= LOW * suite.scale.max else high if least >= HIGH * suite.scale.max else []).append(one.score)
    pairs = [separation(low, high) for low, high in sides.values()]
    wins, count = sum(won for won, _ in pairs), sum(number for _, number in pairs)
    print(
        json.dumps(
            {
                "benchmark": "gold_exam",
                "suite": suite.name,
                "judge": options.judge,
                "language": options.lang,
                "asked": asked,
                "scored": scored,
                "inside_band": round(inside / scored, 3) if scored else None,
                "separation": round(wins / count, 3) if count else None,
                "pairs": count,
            }
        )
    )


if __name__ == "__main__":
    main()
