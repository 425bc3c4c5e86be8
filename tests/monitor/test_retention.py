"""Answers are erased when their time is over, and not before."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from areopage.cases.records import Case
from areopage.ledger.access import Audit
from areopage.ledger.quality import QualityScores
from areopage.ledger.quality_records import Submission
from areopage.ledger.store import Ledger
from areopage.ledger.submissions import Submissions
from areopage.monitor import retention
from areopage.monitor.config import MonitorConfig
from areopage.monitor.duties import Duty
from areopage.monitor.retention import erase_older, retention_duty
from servers.configured import monitor_config
from servers.quality_ledger import TODAY, answered, filled


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Ten answers, one a day."""
    opened = filled(tmp_path / "ledger.db", [])
    Submissions(opened).add([handed_over(n, n) for n in range(10)])
    for n in range(10):
        QualityScores(opened).finish(answered(n, days_ago=n), [], [], None)
    yield opened
    opened.close()


def handed_over(number: int, days_ago: int) -> Submission:
    moment = TODAY - timedelta(days=days_ago)
    case = Case(id=f"a-{number}", prompt="q", response="r", source="chat")
    return Submission(case=case, received_at=moment, answered_at=moment, language="fr")


def carry_out(duty: Duty) -> None:
    async def once() -> None:
        await duty.run(TODAY)

    asyncio.run(once())


def config(folder: Path, days: int | None) -> MonitorConfig:
    return monitor_config(folder, storage={"retention_days": days})


def test_the_duty_erases_what_is_older_than_configured(tmp_path: Path, ledger: Ledger) -> None:
    duty = retention_duty(ledger, config(tmp_path, 5))
    assert duty is not None
    carry_out(duty)
    left = [n for n in range(10) if QualityScores(ledger).get(f"a-{n}")]
    assert left == [0, 1, 2, 3, 4, 5]
    assert [n for n in range(10) if Submissions(ledger).get(f"a-{n}")] == left
    (entry,) = Audit(ledger).list()
    assert (entry.actor, entry.action, entry.detail) == ("retention", "erase", "4 answers")
    carry_out(duty)
    assert len(Audit(ledger).list()) == 1


def test_without_a_configured_time_there_is_no_duty(tmp_path: Path, ledger: Ledger) -> None:
    assert retention_duty(ledger, config(tmp_path, None)) is None


def test_erasing_in_portions_erases_all(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "PORTION", 3)
    assert erase_older(ledger, TODAY, "me") == 9
    assert erase_older(ledger, TODAY + timedelta(days=1), "me") == 1


def test_answers_that_are_being_judged_do_not_hold_up_the_others(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    Submissions(ledger).add([handed_over(n, 30) for n in range(20, 27)])
    monkeypatch.setattr(retention, "PORTION", 3)
    assert erase_older(ledger, TODAY - timedelta(days=4, hours=1), "me") == 12
    assert [n for n in range(10) if QualityScores(ledger).get(f"a-{n}")] == [0, 1, 2, 3, 4]
    waiting = Submissions(ledger).get("a-20")
    assert waiting is None or waiting.case.prompt == ""
