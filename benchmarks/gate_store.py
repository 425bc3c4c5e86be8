"""How quick the gate's store and its pages are with many traces. One JSON line; times are medians in milliseconds.

    python benchmarks/gate_store.py                                    # 1,000,000 traces in a SQLite file
    python benchmarks/gate_store.py --rows 200000 --url postgresql://user@host/database
    python benchmarks/gate_store.py --file ledger.db                   # filled where it is empty, and kept for the next time

Traces of the last 90 days, in the order they came, in two collections and in a third of old; 70 % delivered, 20 % fallback,
10 % held back; one of ten from another pipeline, the oldest thousandth imported; each with three documents of 300 characters and
a decision of four sentences. They are added through the store itself, 500 in a transaction. Pages are asked for over HTTP, of
`areopage serve` in a process of its own, one after another.
"""

import argparse
import json
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import structs

from areopage.cases.records import Case, Document
from areopage.gate.records import Decision, GateVerdict, Metrics, Place, Reason, ReasonCode, SentenceCheck
from areopage.ledger.people.labels import Labels, ReviewQueue
from areopage.ledger.read.queries import TraceFilter
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import GROUNDING, Answer, Label
from areopage.ledger.tables.trace_records import Channel, Mode, Release, Trace, decided_trace
from areopage.ledger.write.traces import Traces

DAYS = 90
END = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
START = END - timedelta(days=DAYS)
BATCH = 500
CODES: tuple[ReasonCode, ...] = ("unsupported_figure", "unsupported_sentence", "unknown_citation")
TEXT = "Le délai de rétractation est de dix jours à compter du lendemain de la première présentation de la lettre. "


def decision(verdict: GateVerdict, share: float, metrics: Metrics, draw: random.Random) -> Decision:
    """A decision of four sentences."""
    size = len(TEXT) - 1
    sentences = tuple(
        SentenceCheck(
            start=at * (size + 1), end=at * (size + 1) + size, text=TEXT[:-1], claim=True, p_unsupported=share / (at + 1)
        )
        for at in range(4)
    )
    place = Place(start=0, end=size, text=TEXT[:-1])
    code: ReasonCode = draw.choice(CODES) if verdict == "human_review" else "not_relevant"
    reasons = () if verdict == "deliver" else (Reason(code=code, decisive=True, place=place, sentence=0, value=share),)
    return Decision(
        verdict=verdict,
        needs_judge=False,
        p_unsupported=share,
        metrics=metrics,
        sentences=sentences,
        signals=(),
        reasons=reasons,
        response_lang="fr",
        profile="default",
        version="0123456789ab",
    )


def made(rows: int) -> Iterator[Trace]:
    """Traces, the same every time."""
    draw = random.Random(7)
    for number in range(rows):
        chance = draw.random()
        verdict: GateVerdict = "deliver" if chance < 0.7 else "fallback" if chance < 0.9 else "human_review"
        score, share = draw.betavariate(6, 3), draw.betavariate(2, 5)
        metrics = Metrics(
            avg_score=score,
            confidence=0.8 * score,
            cites_ok=True,
            overlap_ratio=0.2,
            hallucination=verdict == "human_review",
            quality_pass=verdict == "deliver",
            escalate=verdict == "human_review",
            num_sources=3,
        )
        old = number < rows / 1000
        channel: Channel = "import" if old else "check" if number % 10 == 0 else "chat"
        id, collection = f"{draw.getrandbits(128):032x}", "archives" if old else "faq" if number % 3 else "actes"
        at = START + timedelta(days=DAYS * number / rows)
        documents = tuple(Document(id=f"d{at}", text=TEXT * 3, title="Délais", score=score) for at in range(3))
        answer = Answer(
            id=id,
            origin="import" if old else "gate",
            case=Case(id=id, prompt=f"Quel est le délai du dossier {number % 50_000} ?", response=TEXT * 4, documents=documents),
            source=collection,
            language="fr",
            model="ollama:llama3.1",
            delivered=TEXT * 4 if verdict == "deliver" else "",
            received_at=at,
            answered_at=at,
        )
        mode: Mode = "generated" if verdict == "deliver" else verdict
        yield decided_trace(decision(verdict, share, metrics, draw), answer, channel=channel, mode=mode, language="fr")


def build(store: Traces, rows: int) -> float:
    """Fill the store; returns the seconds that it took to write."""
    batch: list[Trace] = []
    taken = 0.0
    for trace in made(rows):
        batch.append(trace)
        if len(batch) == BATCH:
            begun = time.perf_counter()
            store.append(batch)
            taken += time.perf_counter() - begun
            batch.clear()
    begun = time.perf_counter()
    store.append(batch)
    return taken + time.perf_counter() - begun


def median_ms(act: Callable[[], object], times: int) -> float:
    """The median time of an act."""
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        act()
        taken.append(1000 * (time.perf_counter() - begun))
    return round(statistics.median(taken), 2)


def measured(store: Traces, queue: ReviewQueue, labelled: Labels, times: int) -> dict[str, Any]:
    """Medians of what pages and commands ask."""
    month = TraceFilter(since=END - timedelta(days=30), until=END)
    held = store.list(TraceFilter(verdict="human_review", channels=("chat",)), limit=300 + times)
    shared: dict[str, Any] = {"rater": "Anne", "criterion": GROUNDING, "score": 0.0, "sentences": (0,), "origin": "cli"}
    labelled.add([Label(answer_id=one.id, created_at=one.at, **shared) for one in held[times:]])
    middle = store.list(TraceFilter(until=START + timedelta(days=45)), limit=1)[0]
    numbers, waiting = iter(range(times)), iter(held)
    acts: dict[str, Callable[[], object]] = {
        "summary_all": lambda: store.summary(TraceFilter()),
        "summary_30_days": lambda: store.summary(month),
        "summary_30_days_of_a_collection": lambda: store.summary(_of(month, "actes")),
        "summary_1_day": lambda: store.summary(TraceFilter(since=END - timedelta(days=1))),
        "summary_36_hours": lambda: store.summary(TraceFilter(since=END - timedelta(hours=36))),
        "summary_of_a_collection": lambda: store.summary(TraceFilter(collection="actes")),
        "summary_of_a_rare_channel": lambda: store.summary(TraceFilter(channels=("import",))),
        "list_newest": lambda: store.list(TraceFilter()),
        "list_held_in_the_middle": lambda: store.list(TraceFilter(verdict="human_review"), before=middle.answer.number),
        "list_of_a_collection_30_days": lambda: store.list(_of(month, "actes")),
        "list_of_a_collection_held": lambda: store.list(TraceFilter(verdict="human_review", collection="actes")),
        "list_unlabelled_held": lambda: store.list(TraceFilter(verdict="human_review", unlabelled=True)),
        "list_of_a_rare_channel": lambda: store.list(TraceFilter(channels=("import",))),
        "list_of_a_rare_channel_held": lambda: store.list(TraceFilter(channels=("import",), verdict="human_review")),
        "list_of_nothing_30_days": lambda: store.list(
            TraceFilter(since=month.since, until=month.until, channels=("import",), collection="faq", verdict="fallback")
        ),
        "list_of_an_old_collection_30_days": lambda: store.list(_of(month, "archives")),
        "list_of_a_question": lambda: store.list(TraceFilter(prompt=middle.prompt)),
        "list_of_an_unknown_question": lambda: store.list(TraceFilter(prompt="Et la taxe ?")),
        "summary_of_a_question": lambda: store.summary(TraceFilter(prompt=middle.prompt)),
        "latest_of_a_question": lambda: store.list(TraceFilter(prompt=middle.prompt), limit=1),
        "count": lambda: store.count(month),
        "get": lambda: store.get(middle.id),
        "queue": lambda: queue.open_items("Anne", limit=50),
        "queue_open": queue.count_open,
        "settle": lambda: store.settle(Release(answer_id=next(waiting).id, state="refused", rater="Anne")),
        "release": lambda: store.release(held[0].id),
        "add_one": lambda: store.append([_again(middle, next(numbers))]),
    }
    return {name: median_ms(act, times) for name, act in acts.items()}


def measured_pages(ledger: str, id: str, times: int) -> dict[str, Any]:
    """Medians of pages over HTTP; `id` is of a held-back answer."""
    pages = {
        "/gate": "/gate",
        "/gate all": "/gate?period=all",
        "/gate, 30 days of a collection": "/gate?period=30&collection=actes",
        "/gate, a question of all time": "/gate?period=all&q=Quel+est+le+d%C3%A9lai+du+dossier+77+%3F",
        "/gate, imported, held": "/gate?period=all&channel=import&verdict=human_review",
        "/gate, unlabelled": "/gate?period=all&unlabelled=1",
        "/gate/{id}": f"/gate/{id}",
        "/review": "/review",
        "/review/ (the next one)": "/review/",
        "/chat/held/{id}": f"/chat/held/{id}",
        "/v1/traces": "/v1/traces",
        "/metrics": "/metrics",
    }
    with tempfile.TemporaryDirectory() as folder:
        monitor = {"judges": ["rules:answer_quality"], "report": {"enabled": False}}
        settings = {"ledger": ledger, "monitor": monitor}
        Path(folder, "areopage.yml").write_text(json.dumps(settings), encoding="utf-8")
        command = [sys.executable, "-m", "areopage", "serve", "--port", "0", "--no-worker"]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
            assert server.stdout is not None
            address = re.search(r"http://[\d.:]+", server.stdout.readline())
            assert address
            try:
                return {name: median_ms(partial(fetch, address.group() + path), times) for name, path in pages.items()}
            finally:
                server.send_signal(signal.SIGTERM)


def fetch(address: str) -> None:
    """Read a page to its end."""
    with urllib.request.urlopen(address, timeout=120) as reply:
        reply.read()


def _of(filter: TraceFilter, collection: str) -> TraceFilter:
    return TraceFilter(since=filter.since, until=filter.until, collection=collection)


def _again(trace: Trace, number: int) -> Trace:
    id = f"{number:032x}"
    return structs.replace(trace, answer=structs.replace(trace.answer, id=id, number=0))


def main() -> None:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--url", default="", help="a PostgreSQL database")
    parser.add_argument("--file", default="", help="a SQLite file that stays; default one that is removed")
    parser.add_argument("--no-pages", action="store_true", help="measure the store alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = str(options.url or Path(options.file or Path(folder) / "ledger.db").absolute())
        ledger = Ledger.open(place)
        store = Traces(ledger)
        found: dict[str, Any] = {}
        if not store.list(TraceFilter(), limit=1):
            found["added_a_second"] = round(options.rows / build(store, options.rows))
        size = None if options.url else Path(place).stat().st_size
        found |= measured(store, ReviewQueue(ledger), Labels(ledger), options.times)
        begun = time.perf_counter()
        rows = sum(1 for _ in store.each(TraceFilter(verdict="human_review")))
        found["stream_rows_a_second"] = round(rows / (time.perf_counter() - begun))
        waiting = store.list(TraceFilter(verdict="human_review", unlabelled=True), limit=1)[0]
        ledger.close()
        if not options.no_pages:
            found |= measured_pages(place, waiting.id, options.times)
    named = {"benchmark": "gate_store", "database": "postgresql" if options.url else "sqlite", "rows": options.rows}
    print(json.dumps(named | {"bytes_a_row": size and size // options.rows} | found))


if __name__ == "__main__":
    main()
