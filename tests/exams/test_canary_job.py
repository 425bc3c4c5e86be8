"""The monitor's canaries: a scheduled job, a judge on loopback, alerts, and what scores then say of the judge."""

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from areopage.app.config import AppConfig, load_config
from areopage.app.monitor import scheduled_jobs
from areopage.bench.execution.context import Observers
from areopage.exams.canary import exams_after_drift
from areopage.exams.exam import run_exam
from areopage.exams.exam_plan import (
    Exam,
    ExamWishes,
    prepare_exam,
)
from areopage.ledger.people.exams import CanaryRounds
from areopage.ledger.store import Ledger
from areopage.ledger.write.alerts import Alerts
from areopage.ledger.write.operations import Alert
from areopage.work.handlers import ScheduledJob
from servers.configured import write_config
from servers.drifting import DANGER, DriftingJudge, write_examined_suite
from servers.fake_llm import FakeServer

HOUR = timedelta(hours=1)


@pytest.fixture(name="config")
def monitor_of_the_suite(tmp_path: Path, server: FakeServer, drifting: DriftingJudge) -> AppConfig:
    write_examined_suite(tmp_path / "small", server.port)
    alerts = {"urls": ["json://127.0.0.1:9"]}
    return load_config(write_config(tmp_path, suite="./small", language="en", judges=["alpha"], alerts=alerts))


def exam_of(config: AppConfig) -> Exam:
    return prepare_exam(config.monitor.load_suite(), ExamWishes(judges=("alpha",))).checked()


def canary_of(ledger: Ledger, config: AppConfig) -> ScheduledJob:
    (job,) = (one for one in scheduled_jobs(ledger, config) if one.name == "canaries")
    return job


def follow(job: ScheduledJob, since: datetime, hours: int) -> datetime:
    """Every run of the hourly job in so many hours; returns the time after them."""

    async def run() -> None:
        for number in range(hours):
            await job.run(since + number * HOUR)

    asyncio.run(run())
    return since + hours * HOUR


def drifts(ledger: Ledger, state: str | None = "open") -> list[Alert]:
    return [alert for alert in Alerts(ledger).list(state=state, limit=100) if alert.rule in ("drift", "recovered")]


def test_the_worker_asks_once_a_day_and_alerts_on_a_judge_that_moved_until_it_is_examined_again(
    ledger: Ledger, config: AppConfig, drifting: DriftingJudge, server: FakeServer
) -> None:
    run_exam(exam_of(config), ledger, Observers())
    job, before = canary_of(ledger, config), len(server.calls)
    midnight = datetime.now(UTC).replace(hour=0, minute=40, second=0, microsecond=0) + timedelta(days=1)
    now = follow(job, midnight, 30)  # the first hours of two days
    assert (len(server.calls) - before, len(CanaryRounds(ledger).list()), drifts(ledger)) == (32, 4, [])
    drifting.by = {DANGER: 1.0}
    now = follow(job, now, 48)
    (alert,) = drifts(ledger)
    assert (alert.subject, alert.title) == ("alpha:safety.harm.danger", "A judge drifted: alpha, danger")
    assert "its scores moved by +1.00 points on average (95% interval: +" in alert.body
    assert "areopage qualify small" in alert.body
    (anew,) = exams_after_drift(exam_of(config), ledger)
    at = max(one.at for one in CanaryRounds(ledger).list()) + HOUR
    moment = at + timedelta(minutes=5)
    run_exam_at(anew, ledger, moment)
    follow(job, now, 48)
    assert [alert.rule for alert in drifts(ledger)] == []
    (notice,) = (alert for alert in drifts(ledger, None) if alert.rule == "recovered")
    assert notice.title == "A judge was examined again: alpha, danger"


def run_exam_at(exam: Exam, ledger: Ledger, at: datetime) -> None:
    """An exam that is finished at another time than now."""
    from areopage.exams.exam import ask_judges, qualifications_of
    from areopage.ledger.people.exams import Qualifications

    held = asyncio.run(ask_judges(exam, ledger, Observers()))
    Qualifications(ledger).add(qualifications_of(exam, held, at))


def test_judges_without_an_exam_cost_nothing(
    ledger: Ledger, config: AppConfig, server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    follow(canary_of(ledger, config), datetime.now(UTC), 26)
    assert (server.calls, server.lookups, CanaryRounds(ledger).list(), caplog.records) == ([], 0, [], [])


def test_a_round_without_a_server_stays_due_and_is_told_once(
    ledger: Ledger, config: AppConfig, server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    run_exam(exam_of(config), ledger, Observers())
    server.stop()
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    job = canary_of(ledger, config)
    with caplog.at_level(logging.WARNING, logger="areopage.exams.canary_job"):
        follow(job, tomorrow, 2)
    assert len([one for one in caplog.records if one.name == "areopage.exams.canary_job"]) == 1
    server.start()
    follow(job, tomorrow, 1)
    assert {one.sequence for one in CanaryRounds(ledger).list()} == {1}


def test_a_suite_that_wants_no_canary_has_no_job(ledger: Ledger, config: AppConfig, tmp_path: Path) -> None:
    write_examined_suite(tmp_path / "small", 9, canary={"every": "never"})
    assert not [one for one in scheduled_jobs(ledger, config) if one.name == "canaries"]


def test_a_round_asks_as_the_exam_did_that_it_is_compared_with(ledger: Ledger, config: AppConfig, server: FakeServer) -> None:
    wishes = ExamWishes(judges=("alpha",), joint=True)
    run_exam(prepare_exam(config.monitor.load_suite(), wishes).checked(), ledger, Observers())
    asked = len(server.calls)
    follow(canary_of(ledger, config), datetime.now(UTC) + timedelta(days=1), 24)
    again = server.calls[asked:]
    assert CanaryRounds(ledger).list()
    assert again and all(call.joint_scores for call in again)
