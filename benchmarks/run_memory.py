"""Peak memory of a whole run: `areopage bench run` with 100,000 judge calls (`--judgments` names another number).

Three judges, three criteria and three passes over as many cases as it takes, 64 calls in flight, against the mock server of
../shared/bench, which answers at once. `asking_mb` is the peak of the process up to the last call's answer, `peak_mb` the peak of
all of it, results and report included. One JSON line; skipped where the mock server is not there.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from mock_server import MOCK, mock_server
from whole_command import CALLS_A_CASE, DONE, command

LOOK_EVERY = 0.5


def peak_of(process: int) -> int:
    """The most memory in MB that a process has had so far; 0 where it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except FileNotFoundError:
        return 0
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")), 0)


def answered(url: str) -> int:
    with urllib.request.urlopen(f"{url}/stats") as reply:
        return int(json.load(reply)["answered"])


def measure(judgments: int, python: str) -> dict[str, object]:
    cases = -(-judgments // CALLS_A_CASE)
    with mock_server(0, python=python) as url, tempfile.TemporaryDirectory() as scratch:
        began, asking, asked = time.perf_counter(), 0, 0.0
        process = subprocess.Popen(
            command(url, Path(scratch), cases), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        while not asked and process.poll() is None:
            time.sleep(LOOK_EVERY)
            asking = peak_of(process.pid) or asking
            if answered(url) >= cases * CALLS_A_CASE:
                asked = time.perf_counter() - began
        _, status, used = os.wait4(process.pid, 0)
        elapsed = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in DONE:
        raise SystemExit(f"exit code {process.returncode}")
    return {
        "benchmark": "run_memory",
        "judgments": cases * CALLS_A_CASE,
        "cases": cases,
        "asking_mb": asking,
        "peak_mb": round(used.ru_maxrss / 1024),
        "asking_s": round(asked, 1),
        "wall_s": round(elapsed, 1),
        "cpu_ms_per_judgment": round((used.ru_utime + used.ru_stime) / (cases * CALLS_A_CASE) * 1e3, 3),
        "load": [round(one, 2) for one in os.getloadavg()],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgments", type=int, default=100_000)
    parser.add_argument("--server", default=sys.executable, metavar="PYTHON", help="runs the mock server")
    options = parser.parse_args()
    if not MOCK.is_file():
        print(json.dumps({"benchmark": "run_memory", "skipped": f"the mock server {MOCK.name} is not there"}))
        return
    print(json.dumps(measure(options.judgments, options.server)))


if __name__ == "__main__":
    main()
