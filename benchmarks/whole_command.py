"""The whole command beside a bare client: `areopage bench run` from process start to report, 5,400 judge calls, 64 in flight.

In each round the command and the programs of the peers (`floor_openai`, `floor_aiohttp` of ../shared/bench/peers) do the same
number of calls to the mock server, one after the other. Elapsed time and CPU (user + system) are those of the whole process, as
the system counts them at its end. `call_cpu_ms` leaves out the start: a peer's until its first call, the command's as the CPU of
a run of one case. `one_case_s` is what starting and ending take, with the calls of that case. A run before the first round writes
the bytecode of the package as an installer does, also where the environment forbids it: compiling takes 0.3 s. One JSON line with
the medians and all rounds; skipped where the mock server is not there. `--peers` names an interpreter with openai and aiohttp.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from jury_calls import ANSWER, CONCURRENCY, CRITERIA
from mock_server import MOCK, mock_server
from msgspec import Struct

PEERS = ("floor_openai", "floor_aiohttp")
JUDGES = ("judge-a", "judge-b", "judge-c")
CALLS_A_CASE = 27
WRITES_BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}
DONE = (0, 1, 3)
"""Exit codes of a complete run: the scores that the mock server draws may fail the release, and one case may not decide it."""


class Spent(Struct, frozen=True):
    """What a process took: seconds, and the most memory in MB."""

    elapsed: float
    cpu: float
    peak_mb: int
    output: str


def carried_out(command: list[str], **environment: str) -> Spent:
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.DEVNULL, env={**os.environ, **environment})
        _, status, used = os.wait4(process.pid, 0)
        elapsed = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        output = said.read()
    if process.returncode not in DONE:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}")
    return Spent(elapsed, used.ru_utime + used.ru_stime, round(used.ru_maxrss / 1024), output)


def command(url: str, folder: Path, cases: int) -> list[str]:
    table, config = folder / "cases.csv", folder / "areopage.yml"
    lines = (f'"Why does it rain at town {number}?","{ANSWER}"\n' for number in range(cases))
    table.write_text("prompt,response\n" + "".join(lines))
    config.write_text(f"endpoints:\n  mock:\n    provider: openai\n    base_url: {url}/v1\n")
    judges = [part for name in JUDGES for part in ("--judge", f"{name}=openai@mock:{name}")]
    named = ["--dataset", str(table), "--criteria", CRITERIA, "--passes", "3", "--concurrency", str(CONCURRENCY), "--yes"]
    places = ["--config", str(config), "--out", str(folder / "runs")]
    return [sys.executable, "-m", "areopage", "bench", "run", *named, *judges, *places]


def one_round(options: argparse.Namespace) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    calls = options.cases * CALLS_A_CASE
    with mock_server(options.latency, python=options.server) as url:
        for peer in PEERS:
            program = MOCK.parent / "peers" / f"{peer}.py"
            if program.is_file():
                spent = carried_out([options.peers, str(program)], MOCK=url, CONC=str(CONCURRENCY), CASES=str(options.cases))
                line = json.loads(spent.output.splitlines()[-1])
                found[peer] = {
                    "wall_s": spent.elapsed,
                    "cpu_ms": spent.cpu / calls * 1e3,
                    "call_cpu_ms": line["cpu_ms_per_call"],
                    "peak_mb": spent.peak_mb,
                }
        with tempfile.TemporaryDirectory() as scratch:
            least = carried_out(command(url, Path(scratch), 1), **WRITES_BYTECODE)
        urllib.request.urlopen(urllib.request.Request(f"{url}/reset", data=b"{}")).close()
        with tempfile.TemporaryDirectory() as scratch:
            spent = carried_out(command(url, Path(scratch), options.cases), **WRITES_BYTECODE)
        with urllib.request.urlopen(f"{url}/stats") as reply:
            stats = json.load(reply)
        assert stats["calls"] == calls, stats
        found["areopage"] = {
            "wall_s": spent.elapsed,
            "cpu_ms": spent.cpu / calls * 1e3,
            "call_cpu_ms": (spent.cpu - least.cpu) / (calls - CALLS_A_CASE) * 1e3 if calls > CALLS_A_CASE else float("nan"),
            "one_case_s": least.elapsed,
            "one_case_cpu_s": least.cpu,
            "beside_calls_s": spent.elapsed - stats["span_s"],
            "peak_mb": spent.peak_mb,
        }
    return found


def ratios(found: dict[str, dict[str, float]]) -> dict[str, float]:
    mine, made = found["areopage"], {}
    if floor := found.get("floor_openai"):
        made["call_cpu_over_openai"] = mine["call_cpu_ms"] / floor["call_cpu_ms"]
        made["cpu_over_openai"] = mine["cpu_ms"] / floor["cpu_ms"]
        made["wall_over_openai"] = mine["wall_s"] / floor["wall_s"]
    if floor := found.get("floor_aiohttp"):
        made["wall_over_aiohttp"] = mine["wall_s"] / floor["wall_s"]
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--latency", type=int, default=100, help="milliseconds")
    parser.add_argument("--cases", type=int, default=200, help="with 27 calls each")
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--server", default=sys.executable, metavar="PYTHON", help="runs the mock server")
    options = parser.parse_args()
    if not MOCK.is_file():
        print(json.dumps({"benchmark": "whole_command", "skipped": f"the mock server {MOCK.name} is not there"}))
        return
    with mock_server(0, python=options.server) as url, tempfile.TemporaryDirectory() as scratch:
        carried_out(command(url, Path(scratch), 1), **WRITES_BYTECODE)
    rounds = [one_round(options) for _ in range(options.rounds)]
    figures = {
        name: {key: round(statistics.median(one[name][key] for one in rounds), 3) for key in rounds[0][name]}
        for name in rounds[0]
    }
    every = [ratios(one) for one in rounds]
    line: dict[str, object] = {
        "benchmark": "whole_command",
        "latency_ms": options.latency,
        "calls": options.cases * CALLS_A_CASE,
        "rounds": options.rounds,
        **{key: round(statistics.median(one[key] for one in every), 3) for key in every[0]},
        **{f"{key}_rounds": [round(one[key], 2) for one in every] for key in every[0]},
        "figures": figures,
        "load": [round(one, 2) for one in os.getloadavg()],
    }
    print(json.dumps(line))


if __name__ == "__main__":
    main()
