"""How much of a run is spent waiting for another phase: a target and two judges, each on a server of its own.

600 answers, then 600 cases × 2 criteria × 1 pass for each judge; 8 calls in flight to a server, 100 ms an answer; the mock
server of ../shared/bench. `ideal_s` is the time of the busiest server alone, `in_turn_s` that of all servers one after the other.
`wall_over_ideal` is near 1 where phases overlap, and 2.5 where each waits for the one before. The whole command is measured: the
run's begin, its calls, its results. One JSON line; skipped where the mock server is not there.
"""

import json
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import msgspec
from jury_calls import CRITERIA, cpu
from mock_server import MOCK, mock_server
from storms import stats_of

from areopage.bench.execution.start import run_benchmark
from areopage.bench.options import RunOptions
from areopage.ledger.store import Ledger
from areopage.suites.config import EndpointSection
from areopage.suites.loader import load_suite

CASES, CONCURRENCY, LATENCY = 600, 8, 0.1
NAMES = ("answers", "first", "second")


def main() -> None:
    if not MOCK.is_file():
        print(json.dumps({"benchmark": "phases", "skipped": f"the mock server {MOCK.name} is not there"}))
        return
    criteria = CRITERIA.split(",")[:2]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        urls = {name: stack.enter_context(mock_server(round(1000 * LATENCY))) for name in NAMES}
        table = folder / "cases.csv"
        table.write_text("prompt\n" + "".join(f"Why does it rain at town {i}?\n" for i in range(CASES)))
        suite = load_suite("child_safety")
        endpoints = {name: EndpointSection(provider="openai", base_url=f"{url}/v1") for name, url in urls.items()}
        suite = msgspec.structs.replace(suite, config=suite.config.model_copy(update={"endpoints": endpoints}))
        wishes = RunOptions(
            datasets=(table,),
            target="openai@answers:bot",
            judges=tuple(f"{name}=openai@{name}:judge-{name}" for name in NAMES[1:]),
            criteria=",".join(criteria),
            passes=1,
            concurrency=CONCURRENCY,
        )
        ledger = stack.enter_context(Ledger.open(folder / "ledger.db"))
        began, spent = time.perf_counter(), cpu()
        view = run_benchmark(suite, wishes, ledger=ledger, out=folder)
        wall, used = time.perf_counter() - began, cpu() - spent
        spans = {name: stats_of(url)["span_s"] for name, url in urls.items()}
    seconds = [calls * LATENCY / CONCURRENCY for calls in (CASES, CASES * len(criteria), CASES * len(criteria))]
    print(
        json.dumps(
            {
                "benchmark": "phases",
                "calls": round(sum(seconds) * CONCURRENCY / LATENCY),
                "coverage": view.coverage.share,
                "ideal_s": max(seconds),
                "in_turn_s": sum(seconds),
                "wall_s": round(wall, 2),
                "wall_over_ideal": round(wall / max(seconds), 2),
                "cpu_s": round(used, 2),
                "busy_s": {name: round(span, 2) for name, span in spans.items()},
            }
        )
    )


if __name__ == "__main__":
    main()
