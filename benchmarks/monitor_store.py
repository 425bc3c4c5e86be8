"""How quick the monitor's store is with many answers in it. One JSON line; times are medians in milliseconds.

    python benchmarks/monitor_store.py                                    # 1,000,000 answers in a SQLite file
    python benchmarks/monitor_store.py --rows 200000 --url postgresql://user@host/empty_database

The store is built with the real schema from texts that are the same every time: 30 days, 3 sources, 2 variants, about 90
different words an answer, one of them ("notaire") in half of all answers, one ("usucapion") in one of 20,000.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from made_answers import CRITERIA, END, ONE_DAY, PERIOD, made_answers
from msgspec.structs import replace
from sqlalchemy import Connection, Table, insert, text

from areopage.cases.records import Case
from areopage.criteria.records import Scale
from areopage.ledger.read.days import DayCounts, Days
from areopage.ledger.read.lists import EvaluationLists
from areopage.ledger.read.queries import Filters, Scope
from areopage.ledger.read.search import SEARCH_TABLE, add_words
from areopage.ledger.store import Ledger
from areopage.ledger.tables.answer_tables import evaluations
from areopage.ledger.tables.records import Answer, Evaluation, JudgeUse, Judgment, Run, Verdict
from areopage.ledger.write.answers import insert_answers
from areopage.ledger.write.evaluation_rows import evaluation_row, insert_scores
from areopage.ledger.write.evaluations import Evaluations
from areopage.monitor.figures import PeriodFigures
from areopage.scoring.outcome import Scored

USE = JudgeUse(
    judge="one",
    model="model",
    calls=1,
    outcomes={"scored": 4},
    seconds=1.5,
    prompt_tokens=900,
    completion_tokens=200,
    cost=0.001,
    currency="EUR",
)
BATCH = 5000
Item = TypeVar("Item")


def answer_of(score: Evaluation) -> Answer:
    """The answer that was evaluated."""
    case, moment = Case(id=score.id, prompt=score.prompt, response=score.response), score.timestamp
    return Answer(
        id=score.id,
        origin="monitor",
        case=case,
        received_at=moment,
        answered_at=moment,
        source=score.source,
        variant=score.variant,
        language="fr",
    )


def judgment_of(key: str) -> Judgment:
    """What the judge said of an answer."""
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    texts = {"raw_text": "{}", "repair_text": "", "finish_reason": "stop", "repair": "none", "steps": ()}
    spent = {"prompt_tokens": 900, "completion_tokens": 200, "seconds": 1.5, "cost": 0.001, "currency": "EUR"}
    said = tuple(Verdict(criterion=name, outcome=Scored(score=7.0)) for name in CRITERIA)
    own: dict[str, Any] = texts | spent
    return Judgment(key=key, run_id="m", judge="one", model="model", pass_index=0, created_at=moment, verdicts=said, **own)


def build(ledger: Ledger, rows: int) -> None:
    """Fill a new ledger."""
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    run = Run(id="m", kind="monitor", suite="s", fingerprint="f", folder="", created_at=moment, finished_at=None, spec="{}")
    ledger.put_panel(run)
    counts = DayCounts()
    with ledger.engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA cache_size=-1000000")
            connection.exec_driver_sql("PRAGMA wal_autocheckpoint=100000")
        indexes = drop_indexes(connection)
        for batch in batched(enumerate(made_answers(rows), 1), BATCH):
            for _, (score, _) in batch:
                counts.add(score, (USE,))
            numbers = insert_answers(connection, [answer_of(score) for _, (score, _) in batch])
            rows_of = [evaluation_row(score) | {"number": number, "answer": numbers[score.id]} for number, (score, _) in batch]
            load(connection, evaluations, rows_of)
            insert_scores(connection, {number: score.criteria for number, (score, _) in batch})
            load_words(connection, {number: words for number, (_, words) in batch})
            connection.commit()
        counts.write(connection)
        for statement in indexes:
            connection.exec_driver_sql(statement)
        connection.commit()
    ledger.engine.dispose()
    with ledger.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        vacuum = "VACUUM ANALYZE" if connection.dialect.name == "postgresql" else "PRAGMA wal_checkpoint(TRUNCATE)"
        connection.exec_driver_sql(vacuum)


def drop_indexes(connection: Connection) -> list[str]:
    """Drop the indexes that are quicker made at the end; returns the statements that make them."""
    if connection.dialect.name == "sqlite":
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = 'evaluations'"
    else:
        query = "SELECT indexname, indexdef FROM pg_indexes WHERE indexname ~ '^ix_(evaluation|answers)'"
    found = connection.execute(text(query)).all()
    for name, _ in found:
        connection.exec_driver_sql(f"DROP INDEX {name}")
    return [statement for _, statement in found]


def load(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    """Insert many rows, by the quickest way of the database."""
    if connection.dialect.name == "sqlite":
        connection.execute(insert(table), rows)
        return
    columns = ", ".join(f'"{name}"' for name in rows[0])
    with connection.connection.cursor() as cursor, cursor.copy(f"COPY {table.name} ({columns}) FROM STDIN") as copy:  # type: ignore[attr-defined]
        for row in rows:
            copy.write_row(tuple(row.values()))


def load_words(connection: Connection, words: dict[int, list[str]]) -> None:
    """Enter many answers into the index of words, by the quickest way of the database."""
    if connection.dialect.name == "sqlite":
        add_words(connection, words)
        return
    with connection.connection.cursor() as cursor, cursor.copy(f"COPY {SEARCH_TABLE} (number, words) FROM STDIN") as copy:  # type: ignore[attr-defined]
        for number, listed in words.items():
            copy.write_row((number, " ".join(f"'{word}'" for word in listed)))


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Items in portions."""
    rest = iter(items)
    while portion := list(islice(rest, size)):
        yield portion


def median_ms(work: Callable[[], object], times: int) -> float:
    """The median time of some work in milliseconds, after once for warmth."""
    work()
    took = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        took.append(time.perf_counter() - begun)
    return round(1000 * statistics.median(took), 2)


FILTERS = {
    "page": Filters(),
    "page_day": Filters(period=ONE_DAY),
    "page_band": Filters(grade="weak"),
    "page_source": Filters(source="application"),
    "page_variant": Filters(variant="B"),
    "page_band_source_day": Filters(grade="weak", source="application", period=ONE_DAY),
    "page_criterion_grade": Filters(grade="weak", criterion=CRITERIA[0]),
    "page_criterion_band_source_30d": Filters(grade="weak", criterion=CRITERIA[0], source="site", period=PERIOD),
    "text_half": Filters(text="notaire"),
    "text_rare": Filters(text="usucapion"),
    "text_none": Filters(text="introuvable"),
    "text_prefix_3": Filters(text="pac"),
    "text_two_words": Filters(text="acac notaire"),
    "text_half_grade_source_day": Filters(text="notaire", grade="weak", source="application", period=ONE_DAY),
    "text_half_unscored_30d": Filters(text="notaire", grade="unscored", period=PERIOD),
    "text_rare_band_30d": Filters(text="usucapion", grade="acceptable", period=PERIOD),
    "text_half_other_source": Filters(text="notaire", source="nowhere"),
}


def read_times(ledger: Ledger, rows: int, times: int) -> dict[str, float]:
    """How long each read takes."""
    lists, counts, scores = EvaluationLists(ledger), Days(ledger), Evaluations(ledger)
    took = {name: median_ms(lambda filters=filters: lists.page(filters), times) for name, filters in FILTERS.items()}  # type: ignore[misc]
    took["page_in_the_middle"] = median_ms(lambda: lists.page(Filters(), before=rows // 2), times)
    took["text_half_in_the_middle"] = median_ms(lambda: lists.page(Filters(text="notaire"), before=rows // 2), times)
    took["worst_5_of_30d"] = median_ms(lambda: lists.worst(PERIOD, Scope()), times)
    took["worst_5_of_a_day_source"] = median_ms(lambda: lists.worst(ONE_DAY, Scope(source="site")), times)
    took["spread_most_of_a_day"] = median_ms(lambda: lists.spread_most(ONE_DAY, Scope(), 5), times)
    took["sample_of_a_day"] = median_ms(lambda: lists.sample(ONE_DAY, Scope(), 5, 1), times)
    took["counts_scores_30d"] = median_ms(lambda: counts.scores(PERIOD, Scope()), times)
    took["measure_30d"] = median_ms(lambda: PeriodFigures.of(ledger, PERIOD, Scope(), Scale(0, 10), {}), times)
    took["counts_totals_30d"] = median_ms(lambda: counts.totals(PERIOD, Scope()), times)
    took["tally_24h"] = median_ms(lambda: lists.tallies(END - timedelta(hours=24), END, Scope()), min(times, 5))
    took["get"] = median_ms(lambda: scores.get(f"answer-{rows // 3}"), times)
    took["backlog"] = median_ms(lambda: Evaluations(ledger).backlog(), times)
    return took


def write_times(ledger: Ledger) -> dict[str, float]:
    """How long each write takes."""
    store = Evaluations(ledger)
    beginning = time.time_ns()  # a store that is kept has those of the last time
    fresh = [replace(score, id=f"{beginning}-{score.id}", timestamp=END - timedelta(hours=1)) for score, _ in made_answers(1500)]
    ready = [answer_of(score) for score in fresh]
    singles, hundreds = iter(ready[:100]), iter(list(batched(ready[100:], 100)))
    took = {
        "add_1": median_ms(lambda: store.submit([next(singles)]), 90),
        "add_100": median_ms(lambda: store.submit(next(hundreds)), 12),
    }
    store.submit(ready)
    ledger.append([judgment_of(score.id) for score in fresh])
    todo = iter(fresh)

    def finish() -> None:
        score = next(todo)
        assert store.finish(score, [score.id])

    return took | {"finish": median_ms(finish, 1000)}


def rebuild_seconds(ledger: Ledger) -> float:
    """How long it takes to form all counts by day anew."""
    begun = time.perf_counter()
    ledger.caches.rebuild_days()
    return round(time.perf_counter() - begun, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--url", help="an empty PostgreSQL database; by default a SQLite file in a temporary folder")
    parser.add_argument("--keep", type=Path, help="a SQLite file that is built once and used again")
    parser.add_argument("--times", type=int, default=15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        ledger = Ledger.open(options.url or options.keep or Path(scratch) / "ledger.db")
        begun = time.perf_counter()
        if Evaluations(ledger).get("answer-0") is None:
            build(ledger, options.rows)
        built = time.perf_counter() - begun
        file = None if options.url else Path(ledger.place).stat().st_size / 1e9
        took = read_times(ledger, options.rows, options.times) | write_times(ledger)
        rebuilt = rebuild_seconds(ledger)
        ledger.close()
    figures = {
        "benchmark": "monitor_store",
        "database": ledger.engine.dialect.name,
        "rows": options.rows,
        "build_seconds": round(built, 1),
        "gigabytes": round(file, 2) if file else None,
        "ms": took,
        "rebuild_seconds": rebuilt,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
