"""A worker in this process: what is submitted is evaluated once, whatever fails on the way."""

import asyncio
import logging
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from sqlalchemy import text

from areopage.errors import ConfigError, ModelMissing, StorageError
from areopage.ledger.store import Ledger
from areopage.ledger.write.alerts import Alerts
from areopage.ledger.write.evaluations import Evaluations
from areopage.ledger.write.operations import Workers
from areopage.monitor.alerts.jobs import alert_jobs
from areopage.monitor.config import MonitorSection
from areopage.monitor.hook.spool import Spool
from areopage.monitor.hook.submission import submission_of
from areopage.monitor.intake import Intake
from areopage.monitor.worker import MonitorWorker, retry_answers
from areopage.work.handlers import ScheduledJob
from areopage.work.worker import WorkerPace
from servers import PATIENCE

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from servers.monitored import Monitored

QUICK = WorkerPace(dispatch=0.05, heartbeat=0.3, clean=0.5)
CHECK_PAUSE = 0.3


@pytest.fixture
def workers() -> Iterator[list[MonitorWorker]]:
    """Workers that are stopped after the test."""
    made: list[MonitorWorker] = []
    yield made
    for one in made:
        one.stop(0)


def begin(
    monitored: "Monitored", ledger: Ledger, workers: list[MonitorWorker], *jobs: ScheduledJob, **fields: Any
) -> MonitorWorker:
    from servers.monitored import judge_of

    config = monitored.configure(**fields)
    workers.append(MonitorWorker(ledger, config, judge_of(config), jobs, pace=QUICK, check_pause=CHECK_PAUSE))
    workers[-1].start()
    return workers[-1]


def test_a_worker_and_its_progress_outlast_a_database_that_is_gone_for_a_while(
    monitored: "Monitored", workers: list[MonitorWorker], postgres: "Engine", postgres_ledger: str
) -> None:
    from areopage.cli.worker import ProgressLine, show_progress
    from servers.databases import gone
    from servers.monitored import opened

    with opened(postgres_ledger) as ledger:
        worker = begin(monitored, ledger, workers)
        monitored.submit(ledger, 2)
        wait_for_scores(ledger, 2)
        with gone(postgres, postgres_ledger):
            with pytest.raises(StorageError):
                worker.progress()
            show_progress(worker, ProgressLine(terminal=False))
        monitored.submit(ledger, 1, start=2)
        wait_for_scores(ledger, 3)
        assert worker.alive
        worker.stop(0)


def wait_for_scores(ledger: Ledger, count: int) -> None:
    from servers.monitored import evaluated, wait_until

    wait_until(lambda: evaluated(ledger) >= count, f"{count} scores")


def test_what_is_submitted_and_what_is_spooled_is_judged_once(
    monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker]
) -> None:
    from servers.monitored import numbered, states

    given = monitored.submit(kept, 12)
    spool = Spool(monitored.config.spool)
    for number in range(8, 20):  # four of them were submitted already
        spool.append(numbered(number))
    spool.append(submission_of("?", "Another answer.", id="a3", source="bot"))
    worker = begin(monitored, kept, workers)
    wait_for_scores(kept, 20)
    assert len(monitored.server.verdict_calls) == 20 and monitored.server.repeated() == 0
    assert states(kept, [one.id for one in given]) == ["evaluated"] * 12
    score = Evaluations(kept).get("a3")
    assert score is not None and score.score_global is not None and len(score.criteria) == 4
    assert (score.prompt, score.source, score.suite) == ("Question 3 ?", "bot", "answer_quality")
    assert score.timestamp == given[3].answered_at
    assert len(Evaluations(kept).judgments("a3")) == 1
    worker.stop()
    progress = worker.progress()
    assert (progress.evaluated, progress.left, progress.again) == (20, 0, 0)
    (rejected,) = (spool.folder / "rejected").iterdir()
    assert "another answer has its id" in rejected.read_text() and "Another answer." in rejected.read_text()


def test_a_stopped_worker_leaves_the_rest_for_the_next_start(
    monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker]
) -> None:
    from servers.monitored import evaluated, wait_until

    count = 24
    monitored.server.latency = 0.5
    monitored.submit(kept, count)
    worker = begin(monitored, kept, workers)
    wait_for_scores(kept, 5)
    worker.stop()
    assert not worker.alive and 5 <= evaluated(kept) < count
    assert [one.state for one in Workers(kept).list()] == ["stopped"]
    calls = len(monitored.server.verdict_calls)
    assert calls == evaluated(kept)  # what was begun was finished
    monitored.server.latency = 0.0
    begin(monitored, kept, workers)
    wait_for_scores(kept, count)
    wait_until(lambda: Evaluations(kept).backlog().waiting == 0)
    assert len(monitored.server.verdict_calls) == count


def test_a_stop_without_grace_puts_back_what_is_begun(monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker]) -> None:
    monitored.server.faults.hold = True
    monitored.submit(kept, 5)
    worker = begin(monitored, kept, workers)
    monitored.server.wait_for_calls(5)
    worker.stop(0)
    assert Evaluations(kept).backlog().waiting == 5
    monitored.server.faults.hold = False
    begin(monitored, kept, workers)
    wait_for_scores(kept, 5)


def test_a_worker_starts_while_its_judge_is_down_and_keeps_what_is_spooled(
    monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker], caplog: pytest.LogCaptureFixture
) -> None:
    from servers.monitored import numbered, wait_until

    monitored.server.stop()
    with caplog.at_level(logging.WARNING):
        begin(monitored, kept, workers)
    assert "cannot be reached" in caplog.text
    Spool(monitored.config.spool).append(numbered(1))
    wait_until(lambda: Evaluations(kept).get("a1") is not None)
    monitored.server.start()
    wait_for_scores(kept, 1)


def test_judges_that_nobody_configured_are_missed_when_the_first_answer_waits(
    monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker], caplog: pytest.LogCaptureFixture
) -> None:
    from servers.monitored import judge_of, wait_until

    config = monitored.configure()
    defaults = MonitorSection.model_construct(_fields_set=set(), **dict(config.section))
    monitored.server.stop()
    with caplog.at_level(logging.WARNING):
        unasked = msgspec.structs.replace(config, section=defaults)
        workers.append(MonitorWorker(kept, unasked, judge_of(config), pace=QUICK, check_pause=CHECK_PAUSE))
        workers[-1].start()
        time.sleep(2 * CHECK_PAUSE)
        assert "cannot be reached" not in caplog.text
        monitored.submit(kept, 1)
        wait_until(lambda: "cannot be reached" in caplog.text)


def test_an_outage_is_logged_and_when_the_judge_is_back_no_answer_waits_for_its_pause(
    monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker], caplog: pytest.LogCaptureFixture
) -> None:
    from servers.monitored import wait_until

    monitored.server.faults.status = 500
    monitored.submit(kept, 6)
    with caplog.at_level(logging.WARNING):
        begin(monitored, kept, workers, worker={"pause": 3600, "longest_pause": 7200})
        wait_until(lambda: len(Evaluations(kept).waiting(10, tried=True)) == 6)
        wait_until(lambda: "fails: answers wait" in caplog.text)
        monitored.server.faults.status = 0
        wait_for_scores(kept, 6)
    assert caplog.text.count("fails: answers wait") == 1 and "500" in caplog.text and "works again" in caplog.text


def test_answers_that_wait_for_their_pause_can_be_retried_at_once(
    monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker]
) -> None:
    from servers.monitored import evaluated, wait_until

    monitored.server.faults.status = 500
    monitored.submit(kept, 2)
    begin(monitored, kept, workers, worker={"pause": 3600, "longest_pause": 7200})
    wait_until(lambda: len(Evaluations(kept).waiting(10, tried=True)) == 2)
    monitored.server.faults.status = 0

    def all_scored() -> bool:
        retry_answers(kept)  # both at once, or one after the other: the worker may hold one just now
        return evaluated(kept) == 2

    wait_until(all_scored)


def test_jobs_run_while_the_judge_is_down_and_say_that_answers_wait(
    monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker]
) -> None:
    from servers.monitored import states, wait_until

    given = monitored.submit(kept, 3)
    config = monitored.configure(alerts={"queue": {"minutes": 0.001}})
    monitored.server.stop()
    (watch,) = alert_jobs(kept, config)
    begin(monitored, kept, workers, msgspec.structs.replace(watch, schedule="* * * * * *"))
    wait_until(lambda: Alerts(kept).is_open("queue", "all"))
    assert states(kept, [one.id for one in given]) == ["waiting"] * 3
    monitored.server.start()
    wait_for_scores(kept, 3)
    wait_until(lambda: not Alerts(kept).is_open("queue", "all"))


def test_what_an_earlier_start_had_queued_is_not_taken_before_the_judge_is_there(
    monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker]
) -> None:
    from servers.monitored import states, wait_until

    monitored.server.faults.hold = True
    given = monitored.submit(kept, 16)
    begin(monitored, kept, workers).stop(0)
    monitored.server.faults.hold = False
    monitored.server.stop()
    ticks: list[datetime] = []

    async def tick(due: datetime) -> None:
        ticks.append(due)

    begin(monitored, kept, workers, ScheduledJob(name="tick", schedule="* * * * * *", run=tick))
    before = states(kept, [one.id for one in given])
    wait_until(lambda: len(ticks) >= 2)
    assert states(kept, [one.id for one in given]) == before and "evaluated" not in before
    monitored.server.start()
    wait_for_scores(kept, 16)


def test_a_judge_that_cannot_be_used_stops_the_start(monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker]) -> None:
    with pytest.raises(ModelMissing):
        begin(monitored, kept, workers, judges=["openai:nowhere"])


def test_a_schedule_that_is_none_stops_the_start(monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker]) -> None:
    async def nothing(due: datetime) -> None: ...

    with pytest.raises(ConfigError, match=r"the schedule of report.*'every day' is no cron expression"):
        begin(monitored, kept, workers, ScheduledJob(name="report", schedule="every day", run=nothing))


def test_a_second_worker_in_one_process_is_refused(monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker]) -> None:
    from areopage.errors import UserError

    begin(monitored, kept, workers)
    with pytest.raises(UserError, match="has a worker already"):
        begin(monitored, kept, workers)
    workers.pop()
    monitored.submit(kept, 1)
    wait_for_scores(kept, 1)


def test_an_answer_erased_while_it_is_judged_does_not_come_back(
    monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker]
) -> None:
    from servers.monitored import counted, wait_until

    monitored.server.faults.hold = True
    monitored.submit(kept, 1)
    worker = begin(monitored, kept, workers)
    monitored.server.wait_for_calls(1)
    kept.erasure.erase(["a0"])
    monitored.server.faults.hold = False
    wait_until(lambda: worker.progress().left == 0)
    worker.stop()
    assert counted(kept, "SELECT count(*) FROM quality_scores") == 0
    assert counted(kept, "SELECT count(*) FROM judgments WHERE raw_text <> ''") == 0


def test_the_queue_s_file_may_be_deleted_between_two_starts(
    monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker]
) -> None:
    monitored.server.faults.hold = True
    monitored.submit(kept, 16)
    worker = begin(monitored, kept, workers)
    monitored.server.wait_for_calls(8)
    worker.stop(0)
    for file in monitored.folder.glob("*.queue.db*"):
        file.unlink()
    monitored.server.faults.hold = False
    begin(monitored, kept, workers)
    wait_for_scores(kept, 16)


def test_a_rate_limit_holds(monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker]) -> None:
    monitored.submit(kept, 12)
    began = time.monotonic()
    begin(monitored, kept, workers, worker={"rate_limit": {"answers": 4, "seconds": 2}})
    wait_for_scores(kept, 12)
    assert time.monotonic() - began > 4.0  # the third four begin two pauses after the first


def test_jobs_run_by_the_clock_and_one_that_fails_stops_nothing(
    monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker], caplog: pytest.LogCaptureFixture
) -> None:
    from servers.monitored import wait_until

    ticks: list[datetime] = []

    async def tick(due: datetime) -> None:
        ticks.append(due)

    async def fail(due: datetime) -> None:
        raise KeyError("oh")

    begin(
        monitored,
        kept,
        workers,
        ScheduledJob(name="tick", schedule="* * * * * *", run=tick),
        ScheduledJob(name="the failing one", schedule="* * * * * *", run=fail),
    )
    wait_until(lambda: len(ticks) >= 3 and "scheduled job the failing one failed: KeyError" in caplog.text)
    assert len(set(ticks)) == len(ticks) and all(one.tzinfo and not one.microsecond for one in ticks)
    monitored.submit(kept, 1)
    wait_for_scores(kept, 1)


def test_a_ledger_that_fails_for_a_while_loses_nothing(
    monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker], monkeypatch: pytest.MonkeyPatch
) -> None:
    from servers.monitored import wait_until

    failures: list[str] = []
    real = Evaluations.finish

    def finish(self: Evaluations, score: Any, *given: Any) -> bool:
        if score.id not in failures:
            failures.append(score.id)
            raise StorageError("no space left")
        return real(self, score, *given)

    monkeypatch.setattr(Evaluations, "finish", finish)
    monkeypatch.setattr("areopage.work.engine.STORAGE_PAUSE", 0.1)
    monitored.submit(kept, 4)
    begin(monitored, kept, workers)
    wait_until(lambda: len(failures) == 4)
    wait_for_scores(kept, 4)
    assert len(monitored.server.verdict_calls) == 4  # the judgments were in the ledger


def test_what_was_done_long_ago_is_cleared_from_the_queue(
    monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy import create_engine

    from servers.monitored import wait_until

    monkeypatch.setattr("areopage.work.queue.ENDED_KEPT", 0.5)
    monitored.submit(kept, 5)
    begin(monitored, kept, workers)
    wait_for_scores(kept, 5)
    engine = create_engine(f"sqlite:///{monitored.location}.queue.db")

    def rows() -> int:
        with engine.connect() as connection:
            return int(connection.execute(text("SELECT count(*) FROM workflow_status")).scalar_one())

    wait_until(lambda: rows() == 0)
    engine.dispose()


def test_a_worker_beside_a_running_loop_does_not_hold_it_up(monitored: "Monitored", kept: Ledger) -> None:
    from servers.monitored import evaluated, judge_of

    monitored.submit(kept, 5)
    worker = MonitorWorker(kept, monitored.config, judge_of(monitored.config), pace=QUICK)

    async def serve() -> None:
        await asyncio.to_thread(worker.start)
        while evaluated(kept) < 5:  # noqa: ASYNC110 - it happens in another thread
            await asyncio.sleep(0.01)
        await asyncio.to_thread(worker.stop)

    asyncio.run(asyncio.wait_for(serve(), PATIENCE))
    assert not any(one.name == "areopage-worker" for one in threading.enumerate())


def test_the_clock_of_heartbeats_is_utc(monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker]) -> None:
    before = datetime.now(UTC)
    begin(monitored, kept, workers)
    (worker,) = Workers(kept).list()
    assert worker.state == "alive" and before <= worker.seen_at <= datetime.now(UTC)


@pytest.mark.parametrize("status", [0, 500], ids=["judged", "given up"])
def test_removed_texts_leave_the_log_of_the_database_while_the_worker_runs(
    monitored: "Monitored", kept: Ledger, workers: list[MonitorWorker], status: int
) -> None:
    from servers.monitored import wait_until
    from servers.searched import files_with

    monitored.server.faults.status, monitored.server.faults.message = status, "no verdict on a xylophage"
    given = submission_of("Xylophage ?", "Oui, un xylophage.", ["Un xylophage."], id="a0", source="bot")
    assert Intake(kept).submit([given]) == [True]
    assert files_with(kept, "xylophage") != []
    begin(monitored, kept, workers, storage={"text": "none"}, worker={"attempts": 1})
    wait_until(lambda: not files_with(kept, "xylophage"), "a log without the text")
    found = Evaluations(kept).get("a0")
    assert found is not None and found.state == ("failed" if status else "evaluated")
