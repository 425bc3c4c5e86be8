"""What the jury costs beside the judges: 200 cases × 3 criteria × 3 judges × 3 passes = 5,400 calls, 64 in flight.

Against the mock server of ../shared/bench (OpenAI's protocol), latency 0 and 100 ms; every judgment is committed to a ledger.
CPU is user + system of this process, start-up and report left out; Python looks for reference cycles as seldom as in the command.
With `--openai` the bare client (`floor_openai` of ../shared/bench/peers) makes the same calls at 100 ms in each of `--rounds`
rounds, and the ratios are printed. One JSON line per latency; skipped where the mock server is not there.
"""

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from mock_server import MOCK, mock_server

from areopage.bench.execution.context import Observers
from areopage.bench.execution.run import carry_out
from areopage.bench.execution.start import begin_run, context_of_run, prepare_benchmark, run_folder
from areopage.bench.options import RunOptions
from areopage.bench.results.run_view import view_run
from areopage.ledger.store import Ledger
from areopage.suites.config import EndpointSection
from areopage.suites.loader import load_suite

CASES, CONCURRENCY, LATENCIES = 200, 64, (0, 100)
# criteria that always apply: the mock server says of others by chance that they do not, and gives a score
CRITERIA = "relevance.topic,safety.manipulation,anthropomorphism.anthropomorphic_language.refers_to_agency"
ANSWER = "Rain starts when water that the sun has warmed rises as vapour, cools high up and gathers into drops. " * 4


def cpu() -> float:
    use = resource.getrusage(resource.RUSAGE_SELF)
    return use.ru_utime + use.ru_stime


def measure(latency: int, folder: Path) -> dict[str, object]:
    with mock_server(latency) as url:
        return run(url, latency, folder)


def run(url: str, latency: int, folder: Path) -> dict[str, object]:
    table = folder / "cases.csv"
    table.write_text("prompt,response\n" + "".join(f'"Why does it rain at town {i}?","{ANSWER}"\n' for i in range(CASES)))
    judges = tuple(f"{name}=openai@mock:{name}" for name in ("judge-a", "judge-b", "judge-c"))
    wishes = RunOptions(datasets=(table,), judges=judges, criteria=CRITERIA, passes=3, concurrency=CONCURRENCY)
    suite = load_suite("child_safety")
    endpoints = {"mock": EndpointSection(provider="openai", base_url=f"{url}/v1")}
    suite = msgspec.structs.replace(suite, config=suite.config.model_copy(update={"endpoints": endpoints}))
    prepared = prepare_benchmark(suite, wishes)
    ledger = Ledger.open(folder / "ledger.db")
    created, _ = begin_run(prepared, ledger, folder)
    context = context_of_run(created, prepared.spec, ledger, Observers())
    began, spent = time.perf_counter(), cpu()
    asyncio.run(carry_out(context, run_folder(created, folder)))
    wall, used = time.perf_counter() - began, cpu() - spent
    view = view_run(ledger.run(created.id), ledger)
    scored = view.scores.tree.scored
    return {
        "benchmark": "jury_calls",
        "latency_ms": latency,
        "calls": scored,
        "coverage": view.scores.tree.coverage,
        "wall_s": round(wall, 2),
        "calls_per_s": round(scored / wall),
        "cpu_ms_per_call": round(used / scored * 1e3, 3),
        "wall_over_ideal": round(wall / (scored * latency / 1e3 / CONCURRENCY), 2) if latency else None,
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def beside_openai(rounds: int, peers: str) -> dict[str, object]:
    """CPU of a call beside the bare client's, which makes the same calls in the same round, both at 100 ms."""
    program, found = MOCK.parent / "peers" / "floor_openai.py", list[tuple[float, float, float]]()
    with tempfile.TemporaryDirectory() as scratch:
        measure(0, Path(scratch))  # the first run imports what others have
    for _ in range(rounds):
        with mock_server(100) as url, tempfile.TemporaryDirectory() as scratch:
            environment = {**os.environ, "MOCK": url, "CONC": str(CONCURRENCY), "CASES": str(CASES)}
            said = subprocess.run([peers, str(program)], env=environment, capture_output=True, text=True, check=True).stdout
            bare = float(json.loads(said.splitlines()[-1])["cpu_ms_per_call"])
            own = run(url, 100, Path(scratch))
            found.append((float(str(own["cpu_ms_per_call"])), bare, float(str(own["wall_s"]))))
    ratios = [one / bare for one, bare, _ in found]
    return {
        "benchmark": "jury_calls beside openai",
        "rounds": rounds,
        "cpu_over_openai": round(statistics.median(ratios), 3),
        "cpu_over_openai_rounds": [round(one, 2) for one in ratios],
        "cpu_ms_per_call": round(statistics.median(one for one, _, _ in found), 3),
        "openai_cpu_ms_per_call": round(statistics.median(bare for _, bare, _ in found), 3),
        "wall_s": round(statistics.median(wall for _, _, wall in found), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--openai", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON", help="an interpreter with openai")
    given = parser.parse_args()
    if not MOCK.is_file():
        print(json.dumps({"benchmark": "jury_calls", "skipped": f"the mock server {MOCK.name} is not there"}))
        return
    if given.openai:
        print(json.dumps(beside_openai(given.rounds, given.peers)))
        return
    for latency in LATENCIES:
        with tempfile.TemporaryDirectory() as scratch:
            print(json.dumps(measure(latency, Path(scratch))), flush=True)


if __name__ == "__main__":
    main()
