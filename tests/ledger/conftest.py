"""Ledgers on SQLite and on a real PostgreSQL; the latter is skipped where it cannot start, unless it is required."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Answer, CriterionResult, Evaluation, Judgment, Run, Verdict
from areopage.scoring.outcome import Scored
from servers.evaluated import submitted
from servers.new_ledger import new_ledger_file

MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)

MONITORED = Run(id="m", kind="monitor", suite="s", fingerprint="f", folder="", created_at=MOMENT, finished_at=None, spec="{}")


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty ledger is: a file, or the URL of a database."""
    if request.param == "sqlite":
        return str(new_ledger_file(tmp_path / "ledger.db"))
    return str(request.getfixturevalue("postgres_ledger"))


@pytest.fixture(params=["sqlite", "postgres"])
def new_location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a ledger can be made: a file that is not there, or the URL of a database without tables."""
    return str(tmp_path / "new.db") if request.param == "sqlite" else str(request.getfixturevalue("empty_database"))


@pytest.fixture
def open_ledger() -> Iterator[Callable[[str | Path], Ledger]]:
    """Open ledgers that are closed after the test."""
    opened: list[Ledger] = []

    def open_one(place: str | Path) -> Ledger:
        opened.append(Ledger.open(place))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def ledger(location: str, open_ledger: Callable[[str | Path], Ledger]) -> Ledger:
    """An open ledger that holds a run `r`."""
    opened = open_ledger(location)
    opened.create_run(
        Run(id="r", suite="s", fingerprint="f" * 64, folder="/x", created_at=MOMENT, finished_at=None, spec="{}"), ["{}"]
    )
    return opened


@pytest.fixture(scope="session")
def judgment() -> Callable[..., Judgment]:
    """A judgment, with the fields that a test cares about."""

    def make(key: str = "k", **fields: Any) -> Judgment:
        known: dict[str, Any] = {
            "key": key,
            "run_id": "r",
            "judge": "one",
            "model": "fake:m",
            "pass_index": 1,
            "raw_text": "{}",
            "repair_text": "",
            "finish_reason": "stop",
            "prompt_tokens": 10,
            "completion_tokens": None,
            "seconds": 0.25,
            "repair": "none",
            "steps": ("strict",),
            "created_at": MOMENT,
            "verdicts": (Verdict(criterion="a.b.c__v1_0", outcome=Scored(score=4.5, explanation="kind", evidence=("hi", "é"))),),
        }
        return Judgment(**(known | fields))

    return make


@pytest.fixture
def monitored(location: str, open_ledger: Callable[[str | Path], Ledger]) -> Ledger:
    """An open ledger that holds the monitor's run `m`."""
    opened = open_ledger(location)
    opened.put_panel(MONITORED)
    return opened


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """An open ledger that a module's tests share; it holds the monitor's run `m`."""
    if request.param == "sqlite":
        place = str(new_ledger_file(tmp_path_factory.mktemp("shared") / "ledger.db"))
    else:
        place = str(request.getfixturevalue("shared_postgres_ledger"))
    opened = Ledger.open(place)
    opened.put_panel(MONITORED)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def submission() -> Callable[..., Answer]:
    """A submitted answer, with the fields that a test cares about."""
    return submitted


@pytest.fixture(scope="session")
def scored() -> Callable[..., Evaluation]:
    """The evaluation of an answer, with the fields that a test cares about."""

    def make(id: str = "a", **fields: Any) -> Evaluation:
        known: dict[str, Any] = {
            "id": id,
            "run_id": "m",
            "state": "evaluated",
            "timestamp": MOMENT,
            "received_at": MOMENT,
            "evaluated_at": MOMENT,
            "suite": "s",
            "suite_version": "1",
            "language": "en",
            "source": "site",
            "variant": "A",
            "prompt": "Why?",
            "response": "So.",
            "score_global": 7.0,
            "grade": "acceptable",
            "criteria": (
                CriterionResult(criterion="q.a.exactitude", score=8.5, grade="excellent", agreement=0.9),
                CriterionResult(criterion="q.a.completude", score=None, grade="unscored"),
            ),
        }
        return Evaluation(**known | fields)

    return make
