"""What the embedded model saves by the beginnings that prompts share: 5 cases × 4 criteria, one pass, SmolLM2-135M.

    python benchmarks/embedded_prefix.py [--rounds 1] [--readers same|mixed] [--passes 1] [--one-order]

Each round asks three times, with a model that is loaded anew: `whole`, case by case, each prompt computed from its first token by
one thread; `kept`, in the plan's order with the usual options; and, in the first round, the plan's order turned round, to see
whether every answer is equal to the last character. `readers`: whether all cases have the same reader, or the readers of the
suite's dataset. One JSON line with medians; needs `areopage models pull embedded:smollm2`.
"""

import argparse
import asyncio
import csv
import json
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from areopage.bench.execution.start import prepare_benchmark
from areopage.bench.planning.prepare import RunWishes
from areopage.jury.judges import CallContext, PlannedCall
from areopage.jury.model_judge import ModelJudge
from areopage.jury.plan import plan
from areopage.jury.shown import JudgedCase
from areopage.models.port import Completion, LanguageModel
from areopage.models.providers import open_model
from areopage.models.settings import ModelSettings
from areopage.suites.loader import load_suite

CASES, CRITERIA, READER = 5, 4, "Teen"
ANSWER = "You can ask a grown-up whom you trust. Here is what I can say about it in short words, and why it matters. " * 3
SEED = 7


class Counted:
    """A model that counts the tokens of its calls."""

    max_concurrency = 1

    def __init__(self, model: LanguageModel) -> None:
        self._model, self.reference = model, model.reference
        self.prompt = self.evaluated = self.written = 0

    async def check(self) -> Any:
        return await self._model.check()

    async def generate(self, *given: Any, **named: Any) -> Completion:
        found = await self._model.generate(*given, **named)
        self.prompt += found.prompt_tokens or 0
        self.evaluated += found.evaluated_tokens or 0
        self.written += found.completion_tokens or 0
        return found

    async def aclose(self) -> None:
        await self._model.aclose()


def planned(folder: Path, readers: str, passes: int) -> tuple[list[PlannedCall], CallContext]:
    suite = load_suite("child_safety")
    with (suite.folder / "data" / "prompts_en.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))[:CASES]
    with (folder / "cases.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "prompt", "response", "maturity"])
        table.writerows([row["id"], row["prompt"], ANSWER, row["maturity"] if readers == "mixed" else READER] for row in rows)
    criteria = ",".join(suite.registry.presets["basic_safety"].criteria[:CRITERIA])
    wishes = RunWishes(datasets=(folder / "cases.csv",), judges=("small=embedded:smollm2",), criteria=criteria, passes=passes)
    prepared = prepare_benchmark(suite, wishes)
    spec = prepared.spec
    ids = spec.criteria_by_id()
    cases = [JudgedCase(case=one.case, criteria=tuple(ids[name] for name in one.criteria)) for one in prepared.cases]
    context = CallContext(run_id="benchmark", secret=bytes(32), personas=spec.personas, language="en")
    return list(plan(spec.judges[0], cases, spec.personas)), context


def asked(calls: Sequence[PlannedCall], context: CallContext, options: dict[str, Any]) -> dict[str, Any]:
    """Ask a model that is loaded anew."""

    async def run() -> dict[str, Any]:
        settings = ModelSettings(environment=os.environ)
        model = Counted(open_model(calls[0].judge.reference, settings))
        judge = ModelJudge(model)
        texts: dict[str, str] = {}
        began, cpu = time.perf_counter(), time.process_time()
        for call in calls:
            passes = tuple({"temperature": 0, "seed": SEED + number} | options for number in range(len(call.judge.passes)))
            judged = await judge.judge(replace(call, judge=replace(call.judge, passes=passes)), context)
            texts[call.key] = judged.raw_text + judged.repair_text
        wall, used = time.perf_counter() - began, time.process_time() - cpu
        await judge.aclose()
        return {
            "prompt_tokens": model.prompt,
            "evaluated": model.evaluated,
            "written": model.written,
            "seconds": wall,
            "cpu_seconds": used,
            "judgments_a_second": len(calls) / wall,
            "texts": texts,
        }

    return asyncio.run(run())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--readers", choices=["same", "mixed"], default="same")
    parser.add_argument("--passes", type=int, default=1)
    parser.add_argument("--one-order", action="store_true", help="do not ask in the other order")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        calls, context = planned(Path(folder), given.readers, given.passes)
    by_case = sorted(calls, key=lambda call: call.case.id)
    whole, kept = [], []
    equal = None
    for number in range(given.rounds):
        whole.append(asked(by_case, context, {"cache_prompt": False, "n_threads": 1}))
        kept.append(asked(calls, context, {}))
        if not number and not given.one_order:
            equal = asked(calls[::-1], context, {})["texts"] == kept[0]["texts"]

    def median(found: list[dict[str, Any]], name: str) -> float:
        return round(float(statistics.median([float(one[name]) for one in found])), 3)

    names = ("prompt_tokens", "evaluated", "written", "seconds", "cpu_seconds", "judgments_a_second")
    line = {
        "benchmark": "embedded_prefix",
        "calls": len(calls),
        "readers": given.readers,
        "passes": given.passes,
        "rounds": given.rounds,
        "load_before": load,
        "whole": {name: median(whole, name) for name in names},
        "kept": {name: median(kept, name) for name in names},
        "evaluated_share": round(median(kept, "evaluated") / median(whole, "evaluated"), 3),
        "speed": round(median(kept, "judgments_a_second") / median(whole, "judgments_a_second"), 2),
        "equal_in_both_orders": equal,
    }
    print(json.dumps(line))


if __name__ == "__main__":
    main()
