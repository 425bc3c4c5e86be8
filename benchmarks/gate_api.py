"""`POST /v1/gate/check` against `areopage serve` in a process of its own: checks a minute and core, and how long one takes.

    python benchmarks/gate_api.py                        each decision is noted in the ledger (SQLite)
    python benchmarks/gate_api.py --no-store             none is
    python benchmarks/gate_api.py --url postgresql://... the ledger in PostgreSQL (an empty database)

Each check brings a question, an answer of 600 characters and five documents of 1,000; every one asks something else. The share
that is held back (--held) claims an amount that no document has: such an answer waits until it is on the disk. The server's CPU
time (all its threads, writing included) is what counts: checks a minute and core = 60 / CPU seconds of a check. Durations are the
client's, from sending to the last byte of the reply, with --concurrency requests in flight; the first 300 do not count. One JSON
line.
"""

import argparse
import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import aiohttp

from areopage.ledger.read.queries import TraceFilter
from areopage.ledger.store import Ledger
from areopage.ledger.write.traces import Traces

WARM_UP = 300
SUBJECTS = ("Le salarié", "L’employeur", "Le notaire", "Le bailleur", "L’acquéreur", "Le vendeur", "Le locataire", "La commune")
VERBS = ("dispose", "bénéficie", "s’acquitte", "rend compte", "prend acte", "est informé", "justifie", "fait état")
MATTERS = (
    "du délai de rétractation",
    "de la garantie décennale",
    "des congés payés",
    "du préavis de départ",
    "de la taxe foncière",
)
ENDS = (
    "dans les conditions prévues par l’acte",
    "selon les usages de la profession",
    "après avis de l’autre partie",
    "par écrit",
)


def sentence(chance: random.Random) -> str:
    parts = (chance.choice(SUBJECTS), chance.choice(VERBS), chance.choice(MATTERS), chance.choice(ENDS))
    return f"{parts[0]} {parts[1]} {parts[2]}, {parts[3]}, dans un délai de {chance.randint(2, 90)} jours."


def text(chance: random.Random, characters: int) -> str:
    found = ""
    while len(found) < characters:
        found += sentence(chance) + " "
    return found[:characters].rsplit(" ", 1)[0]


def body(number: int, *, held: bool, store: bool) -> bytes:
    chance = random.Random(number)
    documents = [
        {"id": f"doc-{at}", "title": f"Acte {at}", "text": text(chance, 1000), "score": 0.9 - at / 20} for at in range(5)
    ]
    said = " ".join(str(one["text"])[:110].rsplit(" ", 1)[0] + "." for one in documents) + " [doc-1]"
    if held:
        said += f" La somme due est de {number % 9000 + 10_345} €."
    question = f"Que doit savoir {chance.choice(SUBJECTS)} {chance.choice(MATTERS)} ({number}) ?"
    return json.dumps({"prompt": question, "response": said[:640], "documents": documents, "store": store}).encode()


async def send(url: str, key: str, bodies: list[bytes], concurrency: int) -> list[float]:
    """Send all; returns the durations in seconds, in order of their end."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    left, durations = iter(bodies), []
    async with aiohttp.ClientSession(url, headers=headers, connector=aiohttp.TCPConnector(limit=concurrency)) as session:

        async def worker() -> None:
            for content in left:
                sent = time.perf_counter()
                async with session.post("/v1/gate/check", data=content) as reply:
                    await reply.read()
                    assert reply.status == 200, await reply.text()
                durations.append(time.perf_counter() - sent)

        await asyncio.gather(*(worker() for _ in range(concurrency)))
    return durations


def cpu_seconds(process: int) -> float:
    """User and system time of a process with all its threads."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(folder: Path, wishes: argparse.Namespace) -> dict[str, object]:
    ledger = wishes.url or str(folder / "ledger.db")
    monitor = {"judges": ["rules:answer_quality"], "report": {"enabled": False}}
    settings = {"ledger": ledger, "monitor": monitor}
    (folder / "areopage.yml").write_text(json.dumps(settings), encoding="utf-8")
    areopage = (sys.executable, "-m", "areopage")
    made = subprocess.run(
        [*areopage, "keys", "create", "benchmark", "--role", "write"], cwd=folder, capture_output=True, check=True
    )
    key = made.stdout.decode().strip()
    share = wishes.held
    bodies = [
        body(number, held=int(number * share) != int((number + 1) * share), store=not wishes.no_store)
        for number in range(WARM_UP + wishes.checks)
    ]
    command = [*areopage, "serve", "--port", "0", "--no-worker"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        assert server.stdout is not None
        found = re.search(r"http://[\d.:]+", server.stdout.readline())
        assert found
        try:
            asyncio.run(send(found.group(), key, bodies[:WARM_UP], wishes.concurrency))
            spent, began = cpu_seconds(server.pid), time.perf_counter()
            durations = sorted(asyncio.run(send(found.group(), key, bodies[WARM_UP:], wishes.concurrency)))
            wall = time.perf_counter() - began
            time.sleep(0.2)  # the writes that no request waited for are done
            spent = cpu_seconds(server.pid) - spent
        finally:
            server.send_signal(signal.SIGTERM)
    opened = Ledger.open(ledger)
    summary = Traces(opened).summary(TraceFilter())
    opened.close()
    return {
        "benchmark": "gate_api",
        "database": "postgresql" if wishes.url else "sqlite",
        "checks": wishes.checks,
        "concurrency": wishes.concurrency,
        "stored": summary.traces,
        "verdicts": summary.verdicts,
        "checks_per_min_per_core": round(60 * wishes.checks / spent),
        "cpu_ms_per_check": round(spent / wishes.checks * 1e3, 2),
        "checks_per_s": round(wishes.checks / wall),
        "p50_ms": round(durations[len(durations) // 2] * 1e3, 1),
        "p99_ms": round(durations[int(len(durations) * 0.99)] * 1e3, 1),
        "longest_ms": round(durations[-1] * 1e3, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="", help="a PostgreSQL database; default a new SQLite file")
    parser.add_argument("--checks", type=int, default=5000)
    parser.add_argument("--concurrency", type=int, default=4, help="requests in flight")
    parser.add_argument("--held", type=float, default=0.05, help="share of answers that are to be held back")
    parser.add_argument("--no-store", action="store_true", help="note no decision")
    wishes = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        print(json.dumps(measure(Path(scratch), wishes)))


if __name__ == "__main__":
    main()
