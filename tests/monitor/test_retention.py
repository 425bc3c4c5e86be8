"""Answers are erased when their time is over, and not before."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from areopage.ledger.people import erasure
from areopage.ledger.people.access import Audit
from areopage.ledger.store import Ledger
from areopage.ledger.write.answers import Answers
from areopage.ledger.write.evaluations import Evaluations
from areopage.monitor.config import MonitorConfig
from areopage.monitor.worker import erase_older, retention_job
from areopage.work.handlers import ScheduledJob
from servers.configured import monitor_config
from servers.evaluated import submitted
from servers.quality_ledger import TODAY, answered, filled


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Ten answers, one a day."""
    opened = filled(tmp_path / "ledger.db", [answered(n, days_ago=n) for n in range(10)])
    yield opened
    opened.close()


def kept(ledger: Ledger) -> list[int]:
    """The numbers of the answers that have their texts."""
    return [n for n in range(10) if (found := Answers(ledger).get(f"a-{n}")) and not found.erased]


def carry_out(job: ScheduledJob) -> None:
    async def once() -> None:
        await job.run(TODAY)

    asyncio.run(once())


def config(folder: Path, days: int | None) -> MonitorConfig:
    return monitor_config(folder, storage={"retention_days": days})


def test_the_job_erases_what_is_older_than_configured(tmp_path: Path, ledger: Ledger) -> None:
    job = retention_job(ledger, config(tmp_path, 5))
    assert job is not None
    carry_out(job)
    assert kept(ledger) == [0, 1, 2, 3, 4, 5]
    assert [Evaluations(ledger).get(f"a-{n}").erased for n in range(10)] == [False] * 6 + [True] * 4  # type: ignore[union-attr]
    (entry,) = Audit(ledger).list()
    assert (entry.actor, entry.action, entry.detail) == ("retention", "erase", "4 answers")
    carry_out(job)
    assert len(Audit(ledger).list()) == 1


def test_without_a_configured_time_there_is_no_job(tmp_path: Path, ledger: Ledger) -> None:
    assert retention_job(ledger, config(tmp_path, None)) is None


def test_erasing_in_portions_erases_all(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasure, "PORTION", 3)
    assert erase_older(ledger, TODAY, "me") == 9
    assert erase_older(ledger, TODAY + timedelta(days=1), "me") == 1


def test_answers_that_wait_to_be_judged_are_erased_like_the_others(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    moment = TODAY - timedelta(days=30)
    given = [submitted(f"a-{n}", received_at=moment, answered_at=moment) for n in range(20, 27)]
    Evaluations(ledger).submit(given)
    monkeypatch.setattr(erasure, "PORTION", 3)
    assert erase_older(ledger, TODAY - timedelta(days=4, hours=1), "me") == 12
    assert kept(ledger) == [0, 1, 2, 3, 4]
    waiting = Evaluations(ledger).get("a-20")
    assert waiting is not None and (waiting.state, waiting.prompt) == ("erased", "")
    assert erase_older(ledger, TODAY - timedelta(days=4, hours=1), "me") == 0
