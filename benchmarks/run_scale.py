"""What scores, files and the report of a large run cost, in a ledger that holds it. One JSON line.

    python benchmarks/run_scale.py                                # 100,000 judgments in a SQLite file
    python benchmarks/run_scale.py --judgments 1000000 --url temporary     # a million, in a PostgreSQL that is started for it
    python benchmarks/run_scale.py --folder DIR                   # keep the ledger; where it is there, use it again

A run of a few cases is carried out with a replayed target and three replayed judges. A run with its specification, more cases
and three passes of each judge is then written into the tables in bulk: answers, judgments, verdicts and links under their real
keys, with texts of usual lengths. The commands run as users give them, in processes of their own, the ledger is built in another
one: peaks of memory are theirs alone. `rescore` is `bench rescore`; `report` is `bench report --pages`, the report with the pages
of cases and trust; `files` is `bench report`, with results.json and results.csv too; `texts` is `rescore --texts`.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from bench_report import CRITERIA, write_run
from monitor_pipeline import place
from sqlalchemy import Connection, Table

from areopage.app.config import find_config
from areopage.app.ledger import open_ledger
from areopage.bench.keys import answer_calls, answered_cases
from areopage.bench.spec import RunCase, RunSpec, encode_spec, fingerprint_of, load_run_cases
from areopage.cases.records import Case
from areopage.ledger.store import Ledger
from areopage.ledger.tables import answer_tables as tables
from areopage.ledger.tables.records import Answer, Run, StoredOutcome
from areopage.ledger.write.answers import insert_answers

PASSES = 3
AT_ONCE = 2_000
SENTENCE = "the rain falls because warm water rises as vapour and cools up where drops gather"
WORDS = SENTENCE.split()
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
PARTS = ("rescore", "report", "files", "texts")


def small_run(folder: Path, location: str) -> None:
    """Carry out a run of a few cases, whose specification the large one takes."""
    options = write_run(folder, 4, CRITERIA, 1)
    command = [sys.executable, "-m", "areopage", "bench", "run", *options, "--ledger", location]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode not in (0, 1, 3):
        raise SystemExit(done.stderr)


def build(ledger: Ledger, judgments: int, out: Path) -> None:
    """Write a run with so many judgments."""
    first = ledger.run("latest")
    small = RunSpec.of(first)
    judges = tuple(msgspec.structs.replace(judge, pass_options=PASSES * judge.pass_options[:1]) for judge in small.judges)
    spec = msgspec.structs.replace(small, judges=judges)
    count = -(-judgments // (len(CRITERIA) * len(judges) * PASSES))
    items = made_cases(load_run_cases(ledger, first.id)[0], count)
    run = Run(
        id="large",
        suite=spec.suite,
        fingerprint=fingerprint_of(spec, tuple(items[:1])),
        folder=str(out / "large"),
        created_at=MOMENT,
        finished_at=MOMENT,
        spec=encode_spec(spec),
        outcome=StoredOutcome(verdict="", failed=0, scored=0, results=""),
    )
    ledger.create_run(run, [msgspec.json.encode(item).decode() for item in items])
    chance, number = random.Random(3), 0
    with ledger.engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA cache_size=-1000000")
        for start in range(0, count, AT_ONCE):
            number = write_portion(ledger, connection, spec, items[start : start + AT_ONCE], start, chance, number)
            connection.commit()
    with ledger.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        is_sqlite = connection.dialect.name == "sqlite"
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)" if is_sqlite else "VACUUM ANALYZE")


def made_cases(like: RunCase, count: int) -> list[RunCase]:
    """Cases like one of the small run, each with a prompt of its own."""
    ages, found = ("Child", "Teen", "YoungAdult", "Emerging"), []
    for n in range(count):
        prompt = f"Why does it rain at place {n}? {_text(random.Random(n), 25)}"
        case = msgspec.structs.replace(
            like.case, id=f"case-{n:07}", prompt=prompt, maturity=ages[n // 3 % 4], category=f"kind-{n % 4}"
        )
        found.append(msgspec.structs.replace(like, case=case))
    return found


def write_portion(
    ledger: Ledger, connection: Connection, spec: RunSpec, items: Sequence[RunCase], start: int, chance: random.Random, last: int
) -> int:
    """Write the answers and judgments of some cases; return the number of the last judgment."""
    calls = answer_calls(spec, items)
    answers = {call.key: _answer(call.key, call.case, chance) for call in calls}
    numbers = insert_answers(connection, list(answers.values()))
    places = [{"at": start + n, "answer": numbers[answers[call.key].id]} for n, call in enumerate(calls)]
    for one in places:
        connection.execute(
            tables.run_cases.update().where(tables.run_cases.c.run_id == "large", tables.run_cases.c.position == one["at"]),
            {"answer": one["answer"]},
        )
    of_case = {call.case.id: numbers[answers[call.key].id] for call in calls}
    first = last = last or _last(connection)
    judged, verdicts, links = [], [], []
    failing = {case: chance.random() < 0.03 for case in of_case}
    by_case = {call.case.id: answers[call.key] for call in calls}
    for call in spec.planned_calls(answered_cases(spec, items, by_case)):
        last += 1
        lot = chance.random()
        outcome = "unparsed" if lot < 0.004 else "refused" if lot < 0.006 else "scored"
        score = float(chance.choice((0, 1, 1, 2, 3) if failing[call.case.id] else (3, 4, 4, 5, 5, 5)))
        text = _text(chance, 25)
        judged.append(_judgment(last, call.key, call.judge.name, call.pass_index, score, text))
        verdicts.append(
            {
                "judgment_id": last,
                "criterion": call.criteria[0].id,
                "outcome": outcome,
                "score": score if outcome == "scored" else None,
                "explanation": text if outcome == "scored" else "",
                "evidence": "[]",
                "reason": "" if outcome == "scored" else "no score in the answer",
            }
        )
        links.append({"answer": of_case[call.case.id], "run_id": "large", "key": call.key})
    load(connection, tables.judgments, judged)
    load(connection, tables.verdicts, verdicts)
    load(connection, tables.answer_judgments, sorted(links, key=lambda link: (link["answer"], link["key"])))
    assert last - first == len(judged)
    return last


def _last(connection: Connection) -> int:
    return int(connection.exec_driver_sql("SELECT coalesce(max(id), 0) FROM judgments").scalar_one())


def _answer(key: str, case: Case, chance: random.Random) -> Answer:
    return Answer(
        id=f"answer-{key[:32]}",
        key=key,
        origin="bench",
        run_id="large",
        case=msgspec.structs.replace(case, response=_text(chance, 90)),
        state="answered",
        finish_reason="stop",
        model="target",
        source="target",
        received_at=MOMENT,
        answered_at=MOMENT,
        prompt_tokens=40,
        completion_tokens=100,
        seconds=1.0,
    )


def _judgment(id: int, key: str, judge: str, number: int, score: float, text: str) -> dict[str, Any]:
    return {
        "id": id,
        "key": key,
        "run_id": "large",
        "judge": judge,
        "model": "replay",
        "pass_index": number,
        "turn": 0,
        "raw_text": json.dumps({"score": score, "explanation": text, "evidence_extracts": []}),
        "repair_text": "",
        "finish_reason": "stop",
        "prompt_tokens": 900,
        "completion_tokens": 60,
        "seconds": 1.5,
        "repair": "none",
        "steps": '["json"]',
        "calls": 1,
        "cost": None,
        "currency": "",
        "created_at": MOMENT.replace(tzinfo=None),
        "stored": "full",
    }


def load(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows as fast as the database takes them."""
    names = list(rows[0])
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" * len(names))
        values = [[str(value) if isinstance(value, datetime) else value for value in row.values()] for row in rows]
        raw = connection.connection.cursor()
        raw.executemany(f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({marks})", values)
        return
    driver: Any = connection.connection
    with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} ({', '.join(names)}) FROM STDIN") as stream:
        for row in rows:
            stream.write_row(list(row.values()))


def _text(chance: random.Random, words: int) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(words))


def timed(command: Sequence[str], folder: Path) -> dict[str, Any]:
    """Run a command; its seconds, seconds of CPU and peak memory."""
    began = time.perf_counter()
    with (folder / "said.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "areopage", *command], stdout=log, stderr=log)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1, 3):
        raise SystemExit((folder / "said.log").read_text())
    return {
        "seconds": round(time.perf_counter() - began, 2),
        "cpu": round(used.ru_utime + used.ru_stime, 2),
        "peak_mb": round(used.ru_maxrss / 1024),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--judgments", type=int, default=100_000)
    parser.add_argument("--url", help="an empty PostgreSQL database, or `temporary` to start one; else a SQLite file")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--parts", default=",".join(PARTS[:2]), help=f"which are measured, of {', '.join(PARTS)}")
    parser.add_argument("--build", action="store_true", help="build the ledger alone")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        if given.build:
            built(given.judgments, folder, given.url)
            return
        with place(given.url, folder) as location:
            print(json.dumps(measured(given, folder, location)))


def built(judgments: int, folder: Path, location: str) -> None:
    """Build the ledger."""
    small_run(folder, location)
    with open_ledger(find_config(None, location)) as ledger:
        build(ledger, judgments, folder / "runs")
    (folder / "built").touch()


def measured(given: argparse.Namespace, folder: Path, location: str) -> dict[str, Any]:
    """Build the ledger unless it is there, and measure the commands."""
    found: dict[str, Any] = {"benchmark": "run_scale", "judgments": given.judgments, "load": os.getloadavg()[0]}
    out = folder / "runs"
    if not (folder / "built").exists():
        began = time.perf_counter()
        options = ["--build", "--judgments", str(given.judgments), "--folder", str(folder), "--url", location]
        subprocess.run([sys.executable, __file__, *options], check=True)
        found["build_s"] = round(time.perf_counter() - began, 1)
    store = ["--out", str(out), "--ledger", location]
    commands = {
        "rescore": ["bench", "rescore", "large", *store],
        "texts": ["bench", "rescore", "large", "--texts", *store],
        "report": ["bench", "report", "large", "--pages", *store],
        "files": ["bench", "report", "large", *store],
    }
    for part in given.parts.split(","):
        rounds = [timed(commands[part], folder) for _ in range(given.rounds)]
        load = {"load": round(os.getloadavg()[0], 1), "rounds": [one["seconds"] for one in rounds]}
        found[part] = sorted(rounds, key=lambda one: one["seconds"])[len(rounds) // 2] | load
    return found


if __name__ == "__main__":
    main()
