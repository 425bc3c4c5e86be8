"""`POST /v1/evaluations` against `areopage serve` in a process of its own: answers a second, and how long a request takes.

    python benchmarks/monitor_api.py                            SQLite, no worker
    python benchmarks/monitor_api.py --url postgresql://...     PostgreSQL (an empty database)
    python benchmarks/monitor_api.py --worker inside            with the worker in the server's process, judging all the while
    python benchmarks/monitor_api.py --worker beside            with a worker in a process of its own
    python benchmarks/monitor_api.py --rate 300                 at a fixed rate, as in production, not as fast as it goes

The worker's judge is the mock server of ../shared/bench, which answers after --latency-ms; skipped where it is not there.
Each answer brings three documents, 5 kB in all. Durations are the client's, from sending to the last byte of the reply; the
first 200 do not count. One JSON line.
"""

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import aiohttp

from areopage.ledger.store import Ledger
from areopage.ledger.write.evaluations import Evaluations

MOCK = Path(__file__).parents[2] / "shared" / "bench" / "mock_llm.py"
WARM_UP = 200
DOCUMENT = "Le salarié acquiert deux jours et demi de congés par mois de travail effectif. " * 12
ANSWER = "**Analyse** : la question porte sur les congés. **Règle** : trente jours ouvrables par an. " * 10


def body(number: int, batch: int) -> bytes:
    items = [
        {
            "id": f"answer-{number}-{place}",
            "prompt": "Combien de jours de congés payés ai-je par an ?",
            "response": ANSWER,
            "documents": [{"title": f"Article {at}", "text": DOCUMENT} for at in range(3)],
            "source": "benchmark",
            "variant": "AB"[number % 2],
        }
        for place in range(batch)
    ]
    return json.dumps(items[0] if batch == 1 else {"items": items}).encode()


async def send(url: str, key: str, requests: int, wishes: argparse.Namespace) -> tuple[list[float], float]:
    """Send so many requests; returns their durations in seconds, in order of their end, and the wall time."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    numbers, durations = iter(range(requests)), []
    async with aiohttp.ClientSession(url, headers=headers, connector=aiohttp.TCPConnector(limit=wishes.concurrency)) as session:
        began = time.perf_counter()

        async def worker() -> None:
            for number in numbers:
                if wishes.rate:
                    await asyncio.sleep(max(0.0, began + number / wishes.rate - time.perf_counter()))
                content = body(number if requests > WARM_UP else -1 - number, wishes.batch)
                sent = time.perf_counter()
                async with session.post("/v1/evaluations", data=content) as reply:
                    await reply.read()
                    assert reply.status == 202, reply.status
                durations.append(time.perf_counter() - sent)

        await asyncio.gather(*(worker() for _ in range(wishes.concurrency)))
        return durations, time.perf_counter() - began


@contextmanager
def process(pattern: str, *command: str, folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """A process until the end of the block; yields the address in the first line that it writes."""
    everything = {**os.environ, **environment}
    with subprocess.Popen(
        command, cwd=folder, env=everything, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        try:
            assert running.stdout is not None
            line = running.stdout.readline()
            found = re.search(pattern, line)
            assert found, line
            yield found.group()
        finally:
            running.send_signal(signal.SIGTERM)


def measure(folder: Path, wishes: argparse.Namespace, environment: dict[str, str]) -> dict[str, object]:
    ledger = wishes.url or str(folder / "ledger.db")
    working = wishes.worker != "none"
    judges = ["openai:judge-a"] if working else ["rules:answer_quality"]
    monitor = {"judges": judges, "worker": {"concurrency": wishes.judging}, "report": {"enabled": False}}
    settings = {"ledger": ledger, "monitor": monitor}
    (folder / "areopage.yml").write_text(json.dumps(settings), encoding="utf-8")
    areopage = (sys.executable, "-m", "areopage")
    created = subprocess.run(
        [*areopage, "keys", "create", "benchmark", "--role", "write"], cwd=folder, capture_output=True, check=True
    )
    key = created.stdout.decode().strip()
    options = () if wishes.worker == "inside" else ("--no-worker",)
    with ExitStack() as stack:

        def start(pattern: str, *arguments: str) -> str:
            return stack.enter_context(process(pattern, *areopage, *arguments, folder=folder, environment=environment))

        url = start(r"http://[\d.:]+", "serve", "--port", "0", *options)
        if wishes.worker == "beside":
            start("judging", "monitor", "worker")
        asyncio.run(send(url, key, WARM_UP, wishes))
        durations, wall = asyncio.run(send(url, key, wishes.requests, wishes))
        opened = Ledger.open(ledger)
        backlog = Evaluations(opened).backlog()
        opened.close()
    durations.sort()
    answers = wishes.requests * wishes.batch
    return {
        "benchmark": "monitor_api",
        "database": "postgresql" if wishes.url else "sqlite",
        "worker": wishes.worker,
        "concurrency": wishes.concurrency,
        "rate": wishes.rate or None,
        "answers": answers,
        "answers_per_request": wishes.batch,
        "answers_per_s": round(answers / wall),
        "p50_ms": round(durations[len(durations) // 2] * 1e3, 1),
        "p99_ms": round(durations[int(len(durations) * 0.99)] * 1e3, 1),
        "longest_ms": round(durations[-1] * 1e3, 1),
        "evaluated_meanwhile": answers + WARM_UP * wishes.batch - backlog.waiting if working else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="", help="a PostgreSQL database; default a new SQLite file")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--concurrency", type=int, default=32, help="requests in flight")
    parser.add_argument("--batch", type=int, default=1, help="answers in each request")
    parser.add_argument("--rate", type=float, default=0.0, help="requests a second; 0: as fast as it goes")
    parser.add_argument("--worker", choices=("none", "inside", "beside"), default="none", help="who judges meanwhile")
    parser.add_argument("--judging", type=int, default=16, help="answers in judgment at once")
    parser.add_argument("--latency-ms", type=int, default=200, help="of the mock judge")
    wishes = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if wishes.worker == "none":
            print(json.dumps(measure(folder, wishes, {})))
        elif not MOCK.is_file():
            print(json.dumps({"benchmark": "monitor_api", "skipped": f"the mock server {MOCK.name} is not there"}))
        else:
            command = (sys.executable, str(MOCK), "--port", "0", "--latency-ms", str(wishes.latency_ms))
            with process(r"http://[\d.:]+", *command, folder=folder, environment={}) as mock:
                line = measure(folder, wishes, {"OPENAI_BASE_URL": f"{mock}/v1", "OPENAI_API_KEY": "none"})
                print(json.dumps(line | {"judge_latency_ms": wishes.latency_ms}))


if __name__ == "__main__":
    main()
