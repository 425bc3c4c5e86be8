"""How quick the gate's store and its pages are with many exchanges. One JSON line; times are medians in milliseconds.

    python benchmarks/gate_store.py                                    # 1,000,000 exchanges in a SQLite file
    python benchmarks/gate_store.py --rows 200000 --url postgresql://user@host/database
    python benchmarks/gate_store.py --file ledger.db                   # filled where it is empty, and kept for the next time

Exchanges of the last 90 days, in the order they came, in two collections and in a third of old; 70 % delivered, 20 % fallback,
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

from areopage.cases.records import Document
from areopage.gate.records import Decision, GateVerdict, Metrics, Place, Reason, ReasonCode, SentenceCheck
from areopage.ledger.exchanges import Exchanges
from areopage.ledger.gate_records import Exchange, ExchangeFilter, ExchangeOrigin, GroundingLabel, Release
from areopage.ledger.people import ReviewQueue
from areopage.ledger.store import Ledger

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


def made(rows: int) -> Iterator[Exchange]:
    """Exchanges, the same every time."""
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
        origin: ExchangeOrigin = "import" if old else "check" if number % 10 == 0 else "chat"
        yield Exchange(
            id=f"{draw.getrandbits(128):032x}",
            at=START + timedelta(days=DAYS * number / rows),
            origin=origin,
            collection="archives" if old else "faq" if number % 3 else "actes",
            question=f"Quel est le délai du dossier {number % 50_000} ?",
            generation=TEXT * 4,
            answer=TEXT * 4 if verdict == "deliver" else "",
            documents=tuple(Document(id=f"d{at}", text=TEXT * 3, title="Délais", score=score) for at in range(3)),
            verdict=verdict,
            mode="generated" if verdict == "deliver" else verdict,
            decision=decision(verdict, share, metrics, draw),
            metrics={name: getattr(metrics, name) for name in Metrics.__struct_fields__},
            p_unsupported=share,
            response_lang="fr",
            model="ollama:llama3.1",
            profile="default",
            version="0123456789ab",
        )


def build(store: Exchanges, rows: int) -> float:
    """Fill the store; returns the seconds that it took to write."""
    batch: list[Exchange] = []
    taken = 0.0
    for exchange in made(rows):
        batch.append(exchange)
        if len(batch) == BATCH:
            begun = time.perf_counter()
            store.add(batch)
            taken += time.perf_counter() - begun
            batch.clear()
    begun = time.perf_counter()
    store.add(batch)
    return taken + time.perf_counter() - begun


def median_ms(act: Callable[[], object], times: int) -> float:
    """The median time of an act."""
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        act()
        taken.append(1000 * (time.perf_counter() - begun))
    return round(statistics.median(taken), 2)


def measured(store: Exchanges, queue: ReviewQueue, times: int) -> dict[str, Any]:
    """Medians of what pages and commands ask."""
    month = ExchangeFilter(since=END - timedelta(days=30), until=END)
    held = store.list(ExchangeFilter(verdict="human_review", origins=("chat",)), limit=300 + times)
    for one in held[times:]:
        store.label(
            GroundingLabel(exchange_id=one.id, rater="Anne", grounded="no", sentences=(0,), origin="cli", created_at=one.at)
        )
    middle = store.list(ExchangeFilter(until=START + timedelta(days=45)), limit=1)[0]
    numbers, waiting = iter(range(times)), iter(held)
    acts: dict[str, Callable[[], object]] = {
        "summary_all": lambda: store.summary(ExchangeFilter()),
        "summary_30_days": lambda: store.summary(month),
        "summary_30_days_of_a_collection": lambda: store.summary(_of(month, "actes")),
        "summary_1_day": lambda: store.summary(ExchangeFilter(since=END - timedelta(days=1))),
        "summary_36_hours": lambda: store.summary(ExchangeFilter(since=END - timedelta(hours=36))),
        "summary_of_a_collection": lambda: store.summary(ExchangeFilter(collection="actes")),
        "summary_of_a_rare_origin": lambda: store.summary(ExchangeFilter(origins=("import",))),
        "list_newest": lambda: store.list(ExchangeFilter()),
        "list_held_in_the_middle": lambda: store.list(ExchangeFilter(verdict="human_review"), before=middle.number),
        "list_of_a_collection_30_days": lambda: store.list(_of(month, "actes")),
        "list_of_a_collection_held": lambda: store.list(ExchangeFilter(verdict="human_review", collection="actes")),
        "list_unlabelled_held": lambda: store.list(ExchangeFilter(verdict="human_review", unlabelled=True)),
        "list_of_a_rare_origin": lambda: store.list(ExchangeFilter(origins=("import",))),
        "list_of_a_rare_origin_held": lambda: store.list(ExchangeFilter(origins=("import",), verdict="human_review")),
        "list_of_nothing_30_days": lambda: store.list(
            ExchangeFilter(since=month.since, until=month.until, origins=("import",), collection="faq", verdict="fallback")
        ),
        "list_of_an_old_collection_30_days": lambda: store.list(_of(month, "archives")),
        "list_of_a_question": lambda: store.list(ExchangeFilter(question=middle.question)),
        "list_of_an_unknown_question": lambda: store.list(ExchangeFilter(question="Et la taxe ?")),
        "summary_of_a_question": lambda: store.summary(ExchangeFilter(question=middle.question)),
        "latest_of_a_question": lambda: store.list(ExchangeFilter(question=middle.question), limit=1),
        "count": lambda: store.count(month),
        "get": lambda: store.get(middle.id),
        "queue": lambda: queue.open_items("Anne", limit=50),
        "queue_open": queue.count_open,
        "settle": lambda: store.settle(Release(exchange_id=next(waiting).id, state="refused", rater="Anne")),
        "release": lambda: store.release(held[0].id),
        "add_one": lambda: store.add([_again(middle, next(numbers))]),
    }
    return {name: median_ms(act, times) for name, act in acts.items()}


def measured_pages(ledger: str, id: str, times: int) -> dict[str, Any]:
    """Medians of pages over HTTP; `id` is of a held-back answer."""
    pages = {
        "/gate": "/gate",
        "/gate all": "/gate?period=all",
        "/gate, 30 days of a collection": "/gate?period=30&collection=actes",
        "/gate, a question of all time": "/gate?period=all&q=Quel+est+le+d%C3%A9lai+du+dossier+77+%3F",
        "/gate, imported, held": "/gate?period=all&origin=import&verdict=human_review",
        "/gate, unlabelled": "/gate?period=all&unlabelled=1",
        "/gate/{id}": f"/gate/{id}",
        "/review": "/review",
        "/review/ (the next one)": "/review/",
        "/chat/held/{id}": f"/chat/held/{id}",
        "/v1/exchanges": "/v1/exchanges",
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


def _of(filter: ExchangeFilter, collection: str) -> ExchangeFilter:
    return ExchangeFilter(since=filter.since, until=filter.until, collection=collection)


def _again(exchange: Exchange, number: int) -> Exchange:
    fields = {name: getattr(exchange, name) for name in Exchange.__struct_fields__}
    return Exchange(**fields | {"id": f"{number:032x}", "number": 0})


def main() -> None:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--url", default="", help="a PostgreSQL database")
    parser.add_argument("--file", default="", help="a SQLite file that stays; default one that is removed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = str(options.url or Path(options.file or Path(folder) / "ledger.db").absolute())
        ledger = Ledger.open(place)
        store = Exchanges(ledger)
        found: dict[str, Any] = {}
        if not store.list(ExchangeFilter(), limit=1):
            found["added_a_second"] = round(options.rows / build(store, options.rows))
        size = None if options.url else Path(place).stat().st_size
        found |= measured(store, ReviewQueue(ledger), options.times)
        begun = time.perf_counter()
        rows = sum(1 for _ in store.each(ExchangeFilter(verdict="human_review")))
        found["stream_rows_a_second"] = round(rows / (time.perf_counter() - begun))
        waiting = store.list(ExchangeFilter(verdict="human_review", unlabelled=True), limit=1)[0]
        ledger.close()
        found |= measured_pages(place, waiting.id, options.times)
    named = {"benchmark": "gate_store", "database": "postgresql" if options.url else "sqlite", "rows": options.rows}
    print(json.dumps(named | {"bytes_a_row": size and size // options.rows} | found))


if __name__ == "__main__":
    main()
