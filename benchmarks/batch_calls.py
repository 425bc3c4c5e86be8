"""10,000 judge calls through a batch service, with kill -9 between all steps and at random moments: every call is paid once.

The server is that of the tests (`tests/servers/batch_server.py`); `areopage bench run` is a process that is killed. One JSON line
for each part:

- `whole`: one run without faults; time and CPU of the command.
- `steps`: a kill at each named step, one after the other; five batches.
- `moments`: kills at random moments; five batches.
- `faults`: the same, with creations that are cut, 500, 429, 5 % failed calls, an expired batch, and a late list.

`paid_twice` counts calls that the server answered and had answered before, `lost` those that have no judgment in the end.
"""

import argparse
import csv
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(Path(__file__).parents[1] / "src")]

from areopage.ledger.store import Ledger  # noqa: E402
from servers.batch_kills import KILLED_AT, KILLS  # noqa: E402
from servers.batch_server import BatchFaults, BatchServer  # noqa: E402
from servers.small_suite import CRITERIA, write_suite  # noqa: E402

PASSES = 2
COMMAND = """
from areopage.bench.execution import batch_creation
batch_creation.PACE = batch_creation.BatchPace(first=0.1, longest=0.5, settles=2.0, calls=CALLS)
from areopage.cli.main import main
"""


def make_suite(folder: Path, calls: int) -> Path:
    cases = calls // (len(CRITERIA) * PASSES)
    judges = {"alpha": {"model": "openai:fake-a"}}
    evaluation = {"n_passes": PASSES, "hyperparameters": {"pass_1": {"temperature": 0.1}, "pass_2": {"temperature": 0.2}}}
    suite = write_suite(folder, judge_system={"judges": judges, "evaluation": evaluation}, models=[])
    with (suite / "data" / "cases.csv").open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["prompt", "response"])
        rows.writerows([f"Why is number {number} odd?", f"Since {number} is not even. " * 20] for number in range(cases))
    return suite


class Runs:
    """Processes of one run."""

    def __init__(self, server: BatchServer, suite: Path, folder: Path, calls: int) -> None:
        self.folder = folder
        self.text = COMMAND.replace("CALLS", str(calls))
        self.arguments = ["bench", "run", "--suite", str(suite), "--out", str(folder / "outputs"), "--batch", "--yes"]
        self.environment = {**os.environ, "OPENAI_BASE_URL": server.openai_url, "PYTHONPATH": str(TESTS.parent / "src")}

    def begin(self, kill: str = "") -> subprocess.Popen[bytes]:
        text = self.text + (KILLED_AT if kill else "") + "main()"
        environment = {**self.environment, "KILL": kill}
        command = [sys.executable, "-c", text, *self.arguments]
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def end(self, process: subprocess.Popen[bytes]) -> int:
        _, err = process.communicate()
        if process.returncode not in (0, -9):
            raise SystemExit(err.decode()[-2000:])
        return process.returncode

    def kill_at_random(self, times: int, longest: float) -> int:
        """Kill a run at random moments, until it ends; returns how often."""
        killed = 0
        for _ in range(times):
            process = self.begin()
            try:
                process.wait(random.uniform(0.5, longest))
            except subprocess.TimeoutExpired:
                process.kill()
                killed += 1
            if self.end(process) == 0:
                break
        return killed

    def judged(self) -> int:
        with Ledger.open(self.folder / "outputs" / "ledger.db") as ledger, ledger.engine.connect() as connection:
            return int(connection.exec_driver_sql("SELECT count(DISTINCT key) FROM judgments").scalar() or 0)


def figures(part: str, server: BatchServer, runs: Runs, calls: int, began: float, **more: object) -> None:
    found = {
        "benchmark": f"batch_calls {part}",
        "calls": calls,
        "paid": sum(server.paid.values()),
        "paid_twice": server.paid_twice,
        "direct": len(server.calls),
        "lost": calls - runs.judged(),
        "batches": len(server.batches),
        "wall_s": round(time.monotonic() - began, 1),
    }
    print(json.dumps(found | more), flush=True)


def whole(calls: int, scratch: Path) -> float:
    server = BatchServer()
    with server:
        runs = Runs(server, make_suite(scratch / "suite", calls), scratch, calls)
        began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        runs.end(runs.begin())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        took = time.monotonic() - began
        figures("whole", server, runs, calls, began, cpu_ms_a_call=round(1000 * cpu / calls, 3), peak_mb=after.ru_maxrss >> 10)
    return took


def steps(calls: int, scratch: Path) -> None:
    server = BatchServer()
    with server:
        runs, began = Runs(server, make_suite(scratch / "suite", calls), scratch, max(1, calls // 5)), time.monotonic()
        killed = sum(runs.end(runs.begin(kill)) == -9 for kill in KILLS)
        runs.end(runs.begin())
        figures("steps", server, runs, calls, began, killed=killed)


def moments(part: str, faults: BatchFaults, calls: int, times: int, longest: float, scratch: Path) -> None:
    server = BatchServer(batch_faults=faults)
    with server:
        runs, began = Runs(server, make_suite(scratch / "suite", calls), scratch, max(1, calls // 5)), time.monotonic()
        killed = runs.kill_at_random(times, longest)
        runs.end(runs.begin())
        figures(part, server, runs, calls, began, killed=killed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=20)
    given = parser.parse_args()
    wrong = BatchFaults(creations=["cut", "500", "429", "lost", "500 made", "ok"] * 20, lines=0.05, ends=["expired"], lag=1)
    wrong.requests = [200, 500, 200, 429] * 50
    with tempfile.TemporaryDirectory() as scratch:
        took = whole(given.calls, Path(scratch))
    with tempfile.TemporaryDirectory() as scratch:
        steps(given.calls, Path(scratch))
    for part, faults in (("moments", BatchFaults()), ("faults", wrong)):
        with tempfile.TemporaryDirectory() as scratch:
            moments(part, faults, given.calls, given.kills, took, Path(scratch))


if __name__ == "__main__":
    main()
