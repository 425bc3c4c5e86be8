"""A ledger of all applications, filled by their own code: runs, evaluations in every state, decisions, labels, erased answers."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from msgspec import structs
from sqlalchemy import text

from areopage.app.monitor import open_quality_judge
from areopage.bench.execution.start import run_benchmark
from areopage.bench.options import RunOptions
from areopage.checking.judging import open_sentence_judge
from areopage.gate.records import SentenceCheck
from areopage.ledger.people.labels import Labels
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Label
from areopage.ledger.tables.schema import metadata
from areopage.ledger.write.evaluations import Evaluations
from areopage.ledger.write.operations import GoldenRuns
from areopage.ledger.write.traces import Traces
from areopage.monitor.evaluate import Evaluator, ProgressCounter
from areopage.monitor.golden import Golden
from areopage.monitor.golden_rounds import finish_round
from servers.configured import monitor_config
from servers.evaluated import submitted
from servers.fake_llm import FakeServer
from servers.made_traces import delivered_trace, grounding_label, held_trace, trace_id
from servers.rag_parts import DOCUMENTS, QUESTION, decision, rag_config
from servers.small_suite import write_cases, write_suite

REDUCED = "m-cut"
ANSWER = "Le délai est de 14 jours. Il part de la livraison."
SENTENCES = tuple(
    SentenceCheck(start=ANSWER.index(part), end=ANSWER.index(part) + len(part), text=part, claim=True, p_unsupported=0.5)
    for part in ("Le délai est de 14 jours.", "Il part de la livraison.")
)
CACHES = ("evaluation_scores", "score_days", "days", "evaluation_search")
"""Tables that hold nothing but scores and counts."""
VALUES = (
    "score_global = NULL, grade = '', scored = 0, planned = 0, spread = NULL, prompt_tokens = NULL, "
    "completion_tokens = NULL, cost = NULL, currency = ''"
)
REMARKS = "feedback = '', strengths = '[]', weaknesses = '[]', suggestions = '[]', reason = ''"


def make_seeded(place: str) -> None:
    """Fill the empty ledger at a place; its models and its runs' folders are gone then."""
    with FakeServer() as server, TemporaryDirectory() as folder:
        environment = {"OPENAI_BASE_URL": server.openai_url, "OLLAMA_HOST": server.address}
        with mock.patch.dict(os.environ, environment):
            ledger = Ledger.open(place)
            _seed(ledger, Path(folder), server)
            ledger.close()


def _seed(ledger: Ledger, folder: Path, server: FakeServer) -> None:
    _seed_monitor(ledger, folder, server)
    _seed_golden(ledger, folder)
    _seed_bench(ledger, folder)
    _seed_gate(ledger, folder, server)
    now = datetime.now(UTC)
    with ledger.engine.connect() as connection:
        bench = connection.execute(text("SELECT id FROM answers WHERE origin = 'bench' ORDER BY number")).scalars().all()
    for id in ("m-1", bench[0], bench[-1]):
        Labels(ledger).add([Label(answer_id=id, rater="ann", criterion="", score=4.0, origin="web", created_at=now)])
    Labels(ledger).add([structs.replace(grounding_label(1, "Anne", "no", 1, note="x"), created_at=now)])
    ledger.erasure.erase(["m-2", "m-like-1", "m-waiting-erased", bench[1], bench[-1], trace_id(2)])


def wipe_caches(ledger: Ledger) -> None:
    """Throw every stored score and count away; remarks that storage reduced cannot be computed, and stay."""
    with ledger.engine.begin() as connection:
        connection.execute(text(f"UPDATE evaluations SET {VALUES} WHERE state = 'evaluated'"))
        cut = "(SELECT number FROM answers WHERE id = :id)"
        statement = f"UPDATE evaluations SET {REMARKS} WHERE state = 'evaluated' AND answer != {cut}"
        connection.execute(text(statement), {"id": REDUCED})
        connection.execute(text("UPDATE golden_runs SET asked = 0, answered = 0, scored = 0, mean = NULL, change = NULL"))
        for name in CACHES:
            connection.execute(text(f"DELETE FROM {name}"))


def caches(ledger: Ledger) -> dict[str, list[Any]]:
    """Every stored score and count, row by row; sums of floats but for their last digits."""
    with ledger.engine.connect() as connection:
        found = {}
        for name in ("evaluations", "golden_runs", *CACHES):
            key = ", ".join(column.name for column in metadata.tables[name].primary_key) if name in metadata.tables else "1"
            if name == "evaluation_search" and connection.dialect.name == "sqlite":
                key = "rowid"
            columns = "rowid, words" if key == "rowid" else "*"
            rows = connection.execute(text(f"SELECT {columns} FROM {name} ORDER BY {key}")).all()
            found[name] = [tuple(round(value, 9) if isinstance(value, float) else value for value in row) for row in rows]
    return found


def _seed_monitor(ledger: Ledger, folder: Path, server: FakeServer) -> None:
    evaluations = Evaluations(ledger)
    given = [submitted(f"m-{n}", prompt=f"Why {n}?", variant="AB"[n % 2]) for n in range(5)]
    given += [submitted(f"m-like-{n}", prompt="Why so?") for n in (1, 2)]
    given += [submitted("m-golden", source="golden:morning"), submitted("m-unread", prompt="Unread?")]
    given += [submitted(REDUCED, prompt="Cut?", response="A long response. " * 9), submitted("m-failed"), submitted("m-waiting")]
    given += [submitted("m-waiting-erased"), submitted("m-left", erased=True, reason="sampling"), submitted("m-broken")]
    evaluations.submit(given)
    evaluations.give_up("m-failed", "busy")
    judges = {"judges": ["openai:fake-a", "openai:fake-b"]}
    _evaluate(ledger, folder, [one.id for one in given if one.id[:3] == "m-l" or one.id[2:].isdigit()] + ["m-golden"], judges)
    server.faults.texts, server.faults.kinds = 1.0, ("prose",)
    _evaluate(ledger, folder, ["m-unread"], judges)
    server.faults.texts, server.faults.kinds = 0.5, ("cut", "prose", "fenced")
    _evaluate(ledger, folder, ["m-broken"], judges)
    server.faults.texts = 0.0
    _evaluate(ledger, folder, [REDUCED], judges | {"storage": {"text": "truncated", "max_chars": 20}})


def _seed_golden(ledger: Ledger, folder: Path) -> None:
    """Two rounds of golden questions, the second compared with the first; one of its questions has no score."""
    rows = [{"id": f"g{n}", "prompt": f"How long is notice {n}?"} for n in range(3)]
    judges = {"judges": ["openai:fake-a", "openai:fake-b"]}
    section = {"dataset": str(write_cases(folder / "golden.csv", rows)), "target": "openai:fake-target"}
    golden = Golden.open(ledger, monitor_config(folder, golden=section, alerts={"urls": ["json://127.0.0.1:9"]}, **judges))
    for day, judged in ((1, 3), (2, 2)):
        run = asyncio.run(golden.run_round(datetime(2026, 4, day, tzinfo=UTC)))
        ids = list(GoldenRuns(ledger).questions(run.id).values())
        _evaluate(ledger, folder, ids[:judged], judges)
        for id in ids[judged:]:
            Evaluations(ledger).give_up(id, "busy")
        finish_round(golden.alerts, golden.cases, run, datetime.now(UTC))


def _evaluate(ledger: Ledger, folder: Path, ids: list[str], fields: dict[str, Any]) -> None:
    config = monitor_config(folder, **fields)

    async def evaluate() -> None:
        judge = open_quality_judge(config)
        await judge.check()
        ledger.put_panel(judge.run())
        with ThreadPoolExecutor(2) as threads:
            evaluator = Evaluator(ledger, judge, config, threads, ProgressCounter())
            for id in ids:
                await evaluator.run(id, 0)
        await judge.aclose()

    asyncio.run(evaluate())


def _seed_bench(ledger: Ledger, folder: Path) -> None:
    suite = write_suite(folder / "small")
    rows = [{"id": f"r{n}", "prompt": f"Why {n}?", "response": f"So {n}.", "age": "10"} for n in range(2)]
    recorded = write_cases(suite / "r.csv", rows)
    out = folder / "outputs"
    run_benchmark(str(suite), RunOptions(limit=3), ledger=ledger, out=out)
    run_benchmark(str(suite), RunOptions(datasets=(recorded,), judges=("alpha",)), ledger=ledger, out=out)
    run_benchmark(str(suite), RunOptions(datasets=(recorded,), profile="v1_1"), ledger=ledger, out=out)


def _seed_gate(ledger: Ledger, folder: Path, server: FakeServer) -> None:
    doubt = decision("human_review", sentences=SENTENCES, needs_judge=True, doubtful=(1, 0))
    config = rag_config(folder, grey_band={"judge": "ollama:fake-a", "seconds": 20.0, "sentences": 5, "unexamined": "deliver"})
    judge = open_sentence_judge(config, ledger, {"OLLAMA_HOST": server.address}, 4096)
    assert judge is not None

    async def ask(answer: str) -> Any:
        return await judge.judge(QUESTION, answer, DOCUMENTS, doubt, "fr")

    async def both() -> tuple[Any, Any]:
        found = await ask(ANSWER), await ask(f" {ANSWER}")
        await judge.aclose()
        return found

    first, second = asyncio.run(both())
    traces = [
        held_trace(1, panel=first.panel, judgments=first.keys),
        delivered_trace(2, panel=second.panel, judgments=second.keys),
        delivered_trace(3, channel="check", language="en"),
        delivered_trace(4, channel="import", decision=None),
    ]
    Traces(ledger).append(traces)
    Evaluations(ledger).submit([submitted(trace_id(3))])
    _evaluate(ledger, folder, [trace_id(3)], {"judges": ["openai:fake-a", "openai:fake-b"]})
    Evaluations(ledger).submit([submitted(trace_id(1))])
    _evaluate(ledger, folder, [trace_id(1)], {"judges": ["openai:fake-a", "openai:fake-b"]})
