"""Equal answers that are judged at the same time have a judgment each; every figure rests on one of them, and stays so."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import text

from areopage.app.monitor import open_quality_judge
from areopage.app.verify import verify_ledger
from areopage.ledger.store import Ledger
from areopage.ledger.write.evaluations import Evaluations
from areopage.monitor.evaluate import Evaluator, ProgressCounter
from servers import PATIENCE
from servers.configured import monitor_config
from servers.evaluated import submitted
from servers.fake_llm import FakeServer

JUDGES = {"judges": ["openai:fake-a", "openai:fake-b"]}


@pytest.fixture(params=["sqlite", "postgres"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    """An empty ledger."""
    place = tmp_path / "ledger.db" if request.param == "sqlite" else request.getfixturevalue("postgres_ledger")
    with Ledger.open(place) as opened:
        yield opened


def evaluated_by_two_workers(ledger: Ledger, folder: Path, ids: list[str]) -> None:
    """Each worker has its own event loop, connections and sessions, as two processes have, and half of the answers."""
    with ThreadPoolExecutor(2) as pool:
        begun = Barrier(2)
        halves = (ids[: len(ids) // 2], ids[len(ids) // 2 :])
        list(pool.map(lambda half: asyncio.run(_evaluated(ledger, folder, half, begun)), halves))


async def _evaluated(ledger: Ledger, folder: Path, ids: list[str], begun: Barrier) -> None:
    config = monitor_config(folder, **JUDGES)
    judge = open_quality_judge(config)
    await judge.check()
    ledger.put_panel(judge.run())
    begun.wait(PATIENCE)
    with ThreadPoolExecutor(4) as threads:
        worker = Evaluator(ledger, judge, config, threads, ProgressCounter())
        await asyncio.gather(*(worker.run(id, 0) for id in ids))
    await judge.aclose()


def named(ledger: Ledger) -> list[str]:
    told: list[str] = []
    verify_ledger(ledger, (), lambda done: None, told.append, lambda one: told.append(f"{one.subject}: {one.field}"))
    return told


@pytest.mark.parametrize("unreadable", [0.0, 0.5])
def test_a_ledger_with_equal_answers_in_flight_is_intact(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unreadable: float
) -> None:
    with FakeServer(latency=0.3) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        server.faults.texts, server.faults.kinds = unreadable, ("prose",)
        for day in range(3):
            ids = [f"day-{day}-{number}" for number in range(12)]
            Evaluations(ledger).submit([submitted(id, prompt=f"Why {number % 2}?") for number, id in enumerate(ids)])
            evaluated_by_two_workers(ledger, tmp_path, ids)
            assert named(ledger) == []
        server.faults.texts = 0.0
        Evaluations(ledger).reopen_unscored()
        assert named(ledger) == []
        with ledger.engine.connect() as connection:
            waiting = text(
                "SELECT id FROM answers JOIN evaluations ON answer = answers.number WHERE evaluations.state = 'waiting'"
            )
            again = list(connection.execute(waiting).scalars())
        evaluated_by_two_workers(ledger, tmp_path, again)
        assert named(ledger) == []
        shared = "SELECT count(*) FROM (SELECT key FROM judgments GROUP BY key HAVING count(*) > 1) AS several"
        with ledger.engine.connect() as connection:
            assert connection.execute(text(shared)).scalar_one() > 0


def test_the_judgment_that_scores_rest_on_is_in_the_chain(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        Evaluations(ledger).submit([submitted("a"), submitted("b")])
        evaluated_by_two_workers(ledger, tmp_path, ["a", "b"])
    assert named(ledger) == []
    with ledger.engine.begin() as connection:
        connection.execute(text("UPDATE answer_judgments SET judgment = judgment + 1"))
    assert any(one.startswith("answer_judgments ") and one.endswith("altered (judgment)") for one in named(ledger))
