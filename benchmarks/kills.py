"""A run that is killed (-9) at random moments: how many calls are lost, and how many are paid for twice.

    python benchmarks/kills.py [--kills 20] [--cases 800]

`areopage bench run` with 27 calls a case, 64 in flight, answers after 100 ms, against the mock server of ../shared/bench. It is
begun again after each kill, which comes at a random moment of the first seconds after a start, and ends by itself at last. The
same run is done once more without kills, on a ledger with the same secret, so that prompts and answers are the same.
`repeated` counts calls whose body the server had seen before; `in_flight` is the bound: 64 for each kill that met open calls.
One JSON line; skipped where the mock server is not there.
"""

import argparse
import json
import os
import random
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from jury_calls import CONCURRENCY
from mock_server import MOCK, mock_server
from sqlalchemy import insert
from whole_command import CALLS_A_CASE, DONE, command

from areopage.bench.results.run_view import view_run
from areopage.ledger.store import SECRET, Ledger
from areopage.ledger.tables.schema import ledger_meta

LATENCY, LONGEST = 100, 4.0


def stats_of(url: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{url}/stats") as reply:
        found: dict[str, int] = json.load(reply)
    return found


def prepared(url: str, folder: Path, cases: int) -> list[str]:
    """The command, and a ledger whose secret is known."""
    (folder / "runs").mkdir(parents=True)
    arguments = command(url, folder, cases)
    with Ledger.open(str(folder / "runs" / "ledger.db")) as ledger, ledger.engine.begin() as connection:
        connection.execute(insert(ledger_meta).values(name=SECRET, value="00" * 32))
    return arguments


def carried_out(arguments: list[str], kill_after: float | None) -> bool:
    """Run the command; whether it was killed."""
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(kill_after)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return True
    if process.returncode not in DONE:
        raise SystemExit(f"exit code {process.returncode}")
    return False


def outcome(folder: Path) -> tuple[int, float | None]:
    """Judgments of the one run, and its final score."""
    with Ledger.open(str(folder / "runs" / "ledger.db")) as ledger:
        (run,) = ledger.runs()
        return ledger.judgment_counts()[run.id], view_run(run, ledger).scores.tree.score


def measure(kills: int, cases: int, seed: int) -> dict[str, object]:
    moments = random.Random(seed)
    with mock_server(LATENCY) as url, tempfile.TemporaryDirectory() as scratch:
        whole, killed = Path(scratch) / "whole", Path(scratch) / "killed"
        carried_out(prepared(url, whole, cases), None)
        urllib.request.urlopen(urllib.request.Request(f"{url}/reset", data=b"{}")).close()
        arguments, begun, met = prepared(url, killed, cases), time.monotonic(), 0
        done = 0
        for _ in range(kills):
            before = stats_of(url)["calls"]
            if not carried_out(arguments, moments.uniform(0, LONGEST)):
                break
            done += 1
            met += stats_of(url)["calls"] > before
        carried_out(arguments, None)
        wall, stats = time.monotonic() - begun, stats_of(url)
        planned, score = outcome(whole)
        kept, score_after_kills = outcome(killed)
    return {
        "benchmark": "kills",
        "judgments": planned,
        "kills": done,
        "kills_with_open_calls": met,
        "lost": planned - kept,
        "repeated": stats["duplicates"],
        "in_flight": met * CONCURRENCY,
        "score": score,
        "score_after_kills": score_after_kills,
        "wall_s": round(wall, 1),
        "seed": seed,
        "load": [round(one, 2) for one in os.getloadavg()],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--cases", type=int, default=800, help=f"with {CALLS_A_CASE} calls each")
    parser.add_argument("--seed", type=int, default=20)
    options = parser.parse_args()
    if not MOCK.is_file():
        print(json.dumps({"benchmark": "kills", "skipped": f"the mock server {MOCK.name} is not there"}))
        return
    print(json.dumps(measure(options.kills, options.cases, options.seed)))


if __name__ == "__main__":
    main()
