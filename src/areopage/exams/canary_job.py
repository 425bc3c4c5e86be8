"""The canaries of a monitor: a scheduled job asks examined judges about some rows of their exams again, and alerts on a drift."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import structs

from areopage.errors import UserError
from areopage.exams.canary import Canary, CanaryResult, is_due, plan_canaries, run_canary
from areopage.exams.exam_plan import ExamWishes, prepare_exam
from areopage.jury import choose_judges
from areopage.ledger import Ledger
from areopage.monitor import OUTAGE_SECONDS, MonitorConfig, canary_finding, open_alerting, settle
from areopage.suites import GOLD_FILE, Suite
from areopage.work import ScheduledJob

HOURLY = "40 * * * *"
LOG = logging.getLogger(__name__)


def canary_job(ledger: Ledger, config: MonitorConfig) -> ScheduledJob | None:
    """The scheduled job of canaries; None where the suite has no gold set, or wants none."""
    suite = config.load_suite()
    if suite.config.exam.canary.interval is None or not (suite.folder / GOLD_FILE).is_file():
        return None
    warnings: set[str] = set()

    def warn(text: str) -> None:
        if text not in warnings:
            warnings.add(text)
            LOG.warning("%s", text)

    async def run(due: datetime) -> None:
        await run_due_canaries(ledger, config, due, warn)

    return ScheduledJob(name="canaries", schedule=HOURLY, run=run)


async def run_due_canaries(
    ledger: Ledger, config: MonitorConfig, due: datetime, warn: Callable[[str], None] = LOG.warning
) -> tuple[CanaryResult, ...]:
    """Run the rounds that are due at a moment; a round that cannot be finished stays due, and goes on where it was."""
    suite = await asyncio.to_thread(config.load_suite)
    every, names = suite.config.exam.canary.interval, tuple(config.judges(suite))
    if every is None or not await asyncio.to_thread(_may_be_due, ledger, suite, names, every, due):
        return ()
    try:
        wishes = ExamWishes(judges=names, outage_seconds=min(suite.config.execution.outage_seconds, OUTAGE_SECONDS))
        canaries = await asyncio.to_thread(_planned, ledger, suite, wishes, joint=config.section.joint)
    except UserError as fault:
        warn(f"no canary of the judges: {fault}")
        return ()
    results: list[CanaryResult] = []
    for canary in canaries:
        if left_out := canary.left_out_text:
            warn(f"not in the canary of judge {canary.judge.name}: {left_out}")
        last = max((reference.earlier[-1].at for reference in canary.references if reference.earlier), default=None)
        if canary.references and is_due(last, every, due):
            results += [result] if (result := await _run(ledger, config, suite, canary, due, warn)) else []
    return tuple(results)


def _planned(ledger: Ledger, suite: Suite, wishes: ExamWishes, *, joint: bool) -> tuple[Canary, ...]:
    """The next rounds: of exams that asked as the monitor asks, else of those that asked otherwise."""
    rounds: list[tuple[Canary, ...]] = []
    for way in (joint, not joint):
        exam = prepare_exam(suite, structs.replace(wishes, joint=way)).checked()
        rounds.append(plan_canaries(suite, exam, ledger))
        if any(canary.references for canary in rounds[-1]):
            return rounds[-1]
    return rounds[0]


async def _run(
    ledger: Ledger, config: MonitorConfig, suite: Suite, canary: Canary, due: datetime, warn: Callable[[str], None]
) -> CanaryResult | None:
    now = max(due, datetime.now(UTC))
    try:
        result = await run_canary(canary, ledger, None, now)
    except UserError as fault:
        warn(f"the canary of judge {canary.judge.name} is not finished: {fault}")
        return None
    alerting = await asyncio.to_thread(open_alerting, ledger, config, suite)
    for report in result.rounds:
        await asyncio.to_thread(settle, alerting, canary_finding(report, alerting.locale), now)
        if report.moved:
            LOG.warning("judge %s moved since its exam on %s", report.judge, report.criterion)
    return result


def _may_be_due(ledger: Ledger, suite: Suite, names: Sequence[str], every: timedelta, due: datetime) -> bool:
    """Whether a judge was examined and had no round in this period, by the ledger alone: no server is asked for nothing."""
    judges = choose_judges(suite, names)
    examined = {name for exam in ledger.qualifications.list(suite=suite.name) if exam.whole for name in (exam.judge, exam.model)}
    last: dict[str, datetime] = {}
    for report in ledger.canaries.list(suite=suite.name):
        last[report.judge] = max(report.at, last.get(report.judge, report.at))
    return any({judge.name, str(judge.reference)} & examined and is_due(last.get(judge.name), every, due) for judge in judges)
