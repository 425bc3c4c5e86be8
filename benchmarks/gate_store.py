"""How quick the gate's store is with many exchanges in it. One JSON line; times are medians in milliseconds.

    python benchmarks/gate_store.py                                    # 1,000,000 exchanges in a SQLite file
    python benchmarks/gate_store.py --rows 200000 --url postgresql://user@host/empty_database

Exchanges of 90 days, in the order they came, in two collections: 70 % delivered, 20 % fallback, 10 % held back; each with three
documents of 300 characters and a decision of four sentences. They are added through the store itself, 500 in a transaction.
"""

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from areopage.cases.records import Document
from areopage.gate.records import Decision, GateVerdict, Metrics, Place, Reason, ReasonCode, SentenceCheck
from areopage.ledger.exchanges import Exchanges
from areopage.ledger.gate_records import Exchange, ExchangeFilter, GroundingLabel
from areopage.ledger.store import Ledger

START = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 90
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
        yield Exchange(
            id=f"{draw.getrandbits(128):032x}",
            at=START + timedelta(days=DAYS * number / rows),
            origin="chat",
            collection="faq" if number % 3 else "actes",
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


def measured(store: Exchanges, times: int) -> dict[str, Any]:
    """Medians of what pages and commands ask."""
    end = START + timedelta(days=DAYS)
    month = ExchangeFilter(since=end - timedelta(days=30), until=end)
    held = store.list(ExchangeFilter(verdict="human_review"), limit=300)
    for one in held:
        store.label(
            GroundingLabel(exchange_id=one.id, rater="Anne", grounded="no", sentences=(0,), origin="cli", created_at=one.at)
        )
    middle = store.list(ExchangeFilter(until=START + timedelta(days=45)), limit=1)[0]
    numbers = iter(range(times))
    return {
        "summary_all": median_ms(lambda: store.summary(ExchangeFilter()), times),
        "summary_30_days": median_ms(lambda: store.summary(month), times),
        "summary_30_days_of_a_collection": median_ms(lambda: store.summary(_of(month, "actes")), times),
        "summary_1_day": median_ms(lambda: store.summary(ExchangeFilter(since=end - timedelta(days=1))), times),
        "list_newest": median_ms(lambda: store.list(ExchangeFilter()), times),
        "list_held_in_the_middle": median_ms(
            lambda: store.list(ExchangeFilter(verdict="human_review"), before=middle.number), times
        ),
        "list_of_a_collection_30_days": median_ms(lambda: store.list(_of(month, "actes")), times),
        "list_unlabelled_held": median_ms(lambda: store.list(ExchangeFilter(verdict="human_review", unlabelled=True)), times),
        "latest_of_a_question": median_ms(lambda: store.list(ExchangeFilter(question=middle.question), limit=1), times),
        "get": median_ms(lambda: store.get(middle.id), times),
        "add_one": median_ms(lambda: store.add([_again(middle, next(numbers))]), times),
    }


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
    parser.add_argument("--url", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.open(options.url or Path(folder) / "ledger.db")
        store = Exchanges(ledger)
        seconds = build(store, options.rows)
        size = None if options.url else (Path(folder) / "ledger.db").stat().st_size
        found = measured(store, options.times)
        begun = time.perf_counter()
        rows = sum(1 for _ in store.each(ExchangeFilter(verdict="human_review")))
        found["stream_rows_a_second"] = round(rows / (time.perf_counter() - begun))
        ledger.close()
    named = {"benchmark": "gate_store", "database": "postgresql" if options.url else "sqlite", "rows": options.rows}
    print(
        json.dumps(
            named | {"added_a_second": round(options.rows / seconds), "bytes_a_row": size and size // options.rows} | found
        )
    )


if __name__ == "__main__":
    main()
