"""Golden questions: fixed questions, asked on a schedule, judged and compared.

A round is begun once, by its row in the ledger. It is an item of the work engine: a worker asks what has no answer yet, each
answer is stored as it arrives, and the round is looked at again until its answers are judged.
"""

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from areopage.cases import Case, load_dataset
from areopage.errors import CallError, CallRejected, ModelError, SubmissionError, UserError
from areopage.jury import FailureStreak, run_concurrently
from areopage.ledger import GOLDEN_SOURCE, Answer, GoldenRun, Ledger
from areopage.models import LanguageModel, Message, ModelReference, ModelSettings, Timeouts, Traffic
from areopage.monitor.alerts.jobs import Alerting, open_alerting
from areopage.monitor.config import GoldenSection, MonitorConfig
from areopage.monitor.golden_rounds import PATIENCE, answer_id, finish_round, recomputed_round
from areopage.monitor.intake import Intake
from areopage.work import Finished, Handler, ItemOutcome, Pending, Retry, ScheduledJob

NAME = "golden_round"
LOOK_AGAIN = 30.0
"""Seconds after which a round whose answers are not judged yet is looked at again."""

CONCURRENCY = 4
ANSWER_SECONDS = 300.0
OUTAGE_SECONDS = 60.0
FAILURES_IN_A_ROW = 5
ATTEMPTS = 5
ROUNDS_SEEN = 50

logger = logging.getLogger(__name__)


class Golden(Struct, frozen=True, kw_only=True):
    """Loaded golden questions.

    `suite` is the name under which rounds are kept; their answers' source is `golden:` and that name.
    """

    ledger: Ledger
    suite: str
    language: str
    cases: tuple[Case, ...]
    reference: ModelReference
    settings: ModelSettings
    alerts: Alerting

    async def run_round(self, due: datetime) -> GoldenRun:
        """Ask a new round's questions here, unless a round is running.

        Workers see the round once all questions are asked.
        """
        run, is_new = await asyncio.to_thread(_round_at, self, due)
        return await _ask_questions(self, run) if is_new else run

    async def carry_on(self, id: str, now: datetime) -> ItemOutcome:
        """Ask a round's questions, and finish the round once judged."""
        running = await asyncio.to_thread(running_rounds, self.ledger, self.suite)
        run = next((run for run in running if run.id == id), None)
        if run is not None and run.asked_at is None:
            run = await _ask_questions(self, run)
        if run is None or run.verdict != "running":
            return Finished()
        ids = list((await asyncio.to_thread(self.ledger.golden_runs.questions, run.id)).values())
        evaluations = await asyncio.to_thread(self.ledger.evaluations.latest, ids)
        if any(evaluation.state == "waiting" for evaluation in evaluations.values()) and now - run.started_at <= PATIENCE:
            return Retry(reason="its answers are not judged yet", after=LOOK_AGAIN, counted=False)
        await asyncio.to_thread(finish_round, self.alerts, self.cases, run, now)
        return Finished()

    @classmethod
    def open(cls, ledger: Ledger, config: MonitorConfig, environment: Mapping[str, str] | None = None) -> "Golden":
        """Load the golden questions of a monitor."""
        section = golden_section(config)
        suite = config.load_suite()
        dataset = load_dataset([config.path(section.dataset)], default_maturity="")
        for row in dataset.rejected:
            logger.warning("golden question left out: %s row %d: %s", row.file, row.row, row.reason)
        language = config.section.language or suite.own_language
        settings = suite.model_settings(language, CONCURRENCY)
        seconds = min(ANSWER_SECONDS, settings.timeouts.total)
        return cls(
            ledger=ledger,
            suite=suite.name,
            language=language,
            cases=dataset.cases,
            reference=ModelReference.parse(section.target),
            settings=msgspec.structs.replace(
                settings,
                environment=os.environ if environment is None else environment,
                base_dir=config.folder,
                timeouts=Timeouts(connect=settings.timeouts.connect, read=seconds, total=seconds),
            ),
            alerts=open_alerting(ledger, config, suite),
        )


def golden_section(config: MonitorConfig) -> GoldenSection:
    """Return the section; raise a configuration error if it is missing."""
    if config.section.golden is None:
        raise config.fault("there are no golden questions: add the section", "golden")
    return config.section.golden


def golden_jobs(ledger: Ledger, config: MonitorConfig, environment: Mapping[str, str] | None = None) -> list[ScheduledJob]:
    """The scheduled job that begins rounds; none without golden questions.

    The questions are read for each round; where they cannot be read already, the log says so.
    """
    if config.section.golden is None:
        return []
    try:
        Golden.open(ledger, config, environment)
    except UserError as fault:
        logger.warning("the golden questions cannot be asked: %s", fault)

    async def begin(due: datetime) -> None:
        golden = await asyncio.to_thread(Golden.open, ledger, config, environment)
        await asyncio.to_thread(begin_round, golden, due)

    return [ScheduledJob(name="golden-round", schedule=config.section.golden.schedule, run=begin)]


def golden_handler(ledger: Ledger, config: MonitorConfig, environment: Mapping[str, str] | None = None) -> Handler | None:
    """The handler of rounds; None without golden questions."""
    if config.section.golden is None:
        return None

    async def run(id: str, attempt: int) -> ItemOutcome:
        golden = await asyncio.to_thread(Golden.open, ledger, config, environment)
        return await golden.carry_on(id, datetime.now(UTC))

    def give_up(id: str, reason: str) -> None:
        for running in running_rounds(ledger):
            if running.id == id:
                ended = msgspec.structs.replace(running, finished_at=datetime.now(UTC), verdict="incomplete", reason=reason)
                ledger.golden_runs.save(recomputed_round(ledger, ended))

    def pending(after: int, limit: int) -> Sequence[Pending]:
        rounds = [Pending(round(run.started_at.timestamp() * 1000), run.id) for run in running_rounds(ledger)]
        return sorted(golden_round for golden_round in rounds if golden_round.number > after)[:limit]

    return Handler(
        name=NAME,
        run=run,
        gave_up=give_up,
        pending=pending,
        ahead=0,
        attempts=ATTEMPTS,
        polling=5.0,
    )


def begin_round(golden: Golden, due: datetime) -> GoldenRun:
    """Begin a round unless one is running; a worker asks its questions."""
    run, is_new = _round_at(golden, due)
    if is_new:
        _note_questions(golden, run)
        golden.ledger.golden_runs.save(run)
    return run


def _round_at(golden: Golden, due: datetime) -> tuple[GoldenRun, bool]:
    """The round that runs already, or that of a moment, and whether it is new."""
    id = f"{golden.suite}-{due:%Y%m%dT%H%M%SZ}"
    for run in golden.ledger.golden_runs.list(golden.suite, ROUNDS_SEEN):
        if run.verdict == "running" or run.id == id:
            logger.info("golden round %s is %s: no other is begun", run.id, run.verdict)
            return run, False
    return GoldenRun(id=id, suite=golden.suite, started_at=due, asked=len(golden.cases)), True


def running_rounds(ledger: Ledger, suite: str | None = None) -> list[GoldenRun]:
    """Return the unfinished rounds."""
    return [run for run in ledger.golden_runs.list(suite, ROUNDS_SEEN) if run.verdict == "running"]


async def _ask_questions(golden: Golden, run: GoldenRun) -> GoldenRun:
    """Ask open questions and submit each answer as it arrives.

    A question that the bot does not answer stays without one; several in a row, and the bot counts as down. A round without any
    answer is over at once.
    """

    def unanswered() -> list[Case]:
        if not golden.ledger.golden_runs.questions(run.id):
            _note_questions(golden, run)
        noted = set(golden.ledger.golden_runs.questions(run.id).values())
        open_ids = noted - golden.ledger.answers.numbers(list(noted)).keys()
        return [case for case in golden.cases if answer_id(run.id, case.id) in open_ids]

    unasked = await asyncio.to_thread(unanswered)
    failures: list[str] = []
    streak = FailureStreak(limit=FAILURES_IN_A_ROW)

    async def ask(case: Case) -> None:
        try:
            await _answer_one(golden, run, case, model)
            streak.note("golden", "", reached=True, turned_away=False)
        except (CallError, SubmissionError) as fault:
            failures.append(f"{case.id}: {fault}")
            logger.warning("golden question without an answer: %s: %s", case.id, fault)
            streak.note("golden", str(fault), reached=False, turned_away=isinstance(fault, CallRejected))

    try:
        model = Traffic(OUTAGE_SECONDS).open(golden.reference, golden.settings)
        try:
            await run_concurrently(str(golden.reference), unasked, ask, min(CONCURRENCY, model.max_concurrency or CONCURRENCY))
        finally:
            await model.aclose()
    except ModelError as fault:
        failures.insert(0, str(fault))
        logger.warning("golden round %s: %s", run.id, fault)
    ids = list((await asyncio.to_thread(golden.ledger.golden_runs.questions, run.id)).values())
    answered = len(await asyncio.to_thread(golden.ledger.answers.numbers, ids))
    reason = failures[0] if failures else ""
    now = datetime.now(UTC)
    run = msgspec.structs.replace(run, asked=len(ids), answered=answered, asked_at=now, reason=reason)
    if answered:
        await asyncio.to_thread(golden.ledger.golden_runs.save, run)
        return run
    return await asyncio.to_thread(finish_round, golden.alerts, golden.cases, run, now)


def _note_questions(golden: Golden, run: GoldenRun) -> None:
    golden.ledger.golden_runs.note_questions(run.id, {case.id: answer_id(run.id, case.id) for case in golden.cases})


async def _answer_one(golden: Golden, run: GoldenRun, case: Case, model: LanguageModel) -> None:
    """Ask one question, and store the answer with the documents that the bot named, else with the question's own."""
    messages = [Message(turn.role, turn.content) for turn in case.turns]
    completion = await model.generate(messages, {}, case=case)
    now = datetime.now(UTC)
    id = answer_id(run.id, case.id)
    answered = msgspec.structs.replace(
        case, id=id, response=completion.text, documents=completion.documents or case.documents, source=""
    )
    answer = Answer(
        id=id,
        origin="monitor",
        case=answered,
        source=f"{GOLDEN_SOURCE}{golden.suite}",
        language=golden.language,
        received_at=now,
        answered_at=now,
    )
    await Intake(golden.ledger).submit_async([answer])
