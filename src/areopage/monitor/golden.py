"""Golden questions: fixed questions put to the live bot on a schedule, judged like every answer, compared round by round.

A round is begun once: its row in the ledger comes first, each answer is stored as it arrives, and whoever finds a round that
nobody carries on any more goes on where it stopped.
"""

import asyncio
import logging
import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import msgspec
from msgspec import Struct

from areopage.cases.loader import load_dataset
from areopage.cases.records import Case
from areopage.errors import CallError, CallRejected, ModelError, SubmissionError, UserError
from areopage.jury.opening import open_retrying
from areopage.jury.options import model_settings
from areopage.jury.schedule import OutageWatch, concurrency_of, run_concurrently
from areopage.ledger.answers import Answers
from areopage.ledger.operations import GoldenRun, GoldenRuns
from areopage.ledger.records import GOLDEN_SOURCE, Answer
from areopage.ledger.store import Ledger
from areopage.models.port import LanguageModel, Message
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings, Timeouts
from areopage.monitor.alerts.duties import AlertDesk, desk_of
from areopage.monitor.config import GoldenSection, MonitorConfig
from areopage.monitor.duties import Duty
from areopage.monitor.golden_rounds import answer_id, finish_if_judged, finish_round
from areopage.monitor.submit import Intake

EACH_MINUTE = "30 * * * * *"
CONCURRENCY = 4
ANSWER_SECONDS = 300.0
OUTAGE_SECONDS = 60.0
FAILURES_IN_A_ROW = 5
QUIET_FOR = timedelta(minutes=15)
"""After so long without a question no worker asks a round's questions any more: two attempts at one are over by then."""

ROUNDS_SEEN = 50

logger = logging.getLogger(__name__)


class GoldenDesk(Struct, frozen=True, kw_only=True):
    """What a round needs. `suite` is the name under which rounds are kept; their answers' source is `golden:` and that name."""

    ledger: Ledger
    suite: str
    language: str
    cases: tuple[Case, ...]
    reference: ModelReference
    settings: ModelSettings
    alerts: AlertDesk


def open_golden(ledger: Ledger, config: MonitorConfig, environment: Mapping[str, str] | None = None) -> GoldenDesk:
    """The golden questions of a monitor.

    Args:
        environment: variables that the bot's headers may name; by default the process's.

    Raises:
        ConfigError: the configuration has no golden questions, or its suite cannot be loaded.
        DatasetError, ModelError: the questions cannot be read, or the target is no model reference.
    """
    section = golden_section(config)
    suite = config.load_suite()
    dataset = load_dataset([config.path(section.dataset)], default_maturity="")
    for row in dataset.rejected:
        logger.warning("golden question left out: %s row %d: %s", row.file, row.row, row.reason)
    language = config.section.language or suite.own_language
    settings = model_settings(suite, language, CONCURRENCY)
    seconds = min(ANSWER_SECONDS, settings.timeouts.total)
    return GoldenDesk(
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
        alerts=desk_of(ledger, config, suite),
    )


def golden_section(config: MonitorConfig) -> GoldenSection:
    """The section of golden questions.

    Raises:
        ConfigError: there is none.
    """
    if config.section.golden is None:
        raise config.fault("there are no golden questions: add the section", "golden")
    return config.section.golden


def golden_duties(ledger: Ledger, config: MonitorConfig, environment: Mapping[str, str] | None = None) -> list[Duty]:
    """The duties of golden questions: begin a round on schedule, and each minute carry on or finish what was begun.

    The questions are read anew for each round; where they cannot be read already, the log says so. Without a section for them
    there are no duties.
    """
    if config.section.golden is None:
        return []
    try:
        open_golden(ledger, config, environment)
    except UserError as fault:
        logger.warning("the golden questions cannot be asked: %s", fault)

    async def begin(due: datetime) -> None:
        await begin_round(await asyncio.to_thread(open_golden, ledger, config, environment), due)

    async def follow(due: datetime) -> None:
        if await asyncio.to_thread(running_rounds, ledger):
            await follow_rounds(await asyncio.to_thread(open_golden, ledger, config, environment), due)

    return [
        Duty(name="golden-round", schedule=config.section.golden.schedule, run=begin),
        Duty(name="golden-follow", schedule=EACH_MINUTE, run=follow),
    ]


async def begin_round(desk: GoldenDesk, due: datetime) -> GoldenRun:
    """Begin the round of a moment and ask its questions; one that runs already is left to whoever carries it on.

    Returns:
        The round that was begun, or that was there.
    """
    id = f"{desk.suite}-{due:%Y%m%dT%H%M%SZ}"
    rounds = await asyncio.to_thread(GoldenRuns(desk.ledger).list, desk.suite, ROUNDS_SEEN)
    for known in rounds:
        if known.verdict == "running" or known.id == id:
            logger.info("golden round %s is %s: no other is begun", known.id, known.verdict)
            return known
    return await ask_questions(desk, GoldenRun(id=id, suite=desk.suite, started_at=due, asked=len(desk.cases)))


async def follow_rounds(desk: GoldenDesk, now: datetime) -> None:
    """Carry on the rounds that nobody carries on any more, and finish those whose answers are judged."""
    for run in await asyncio.to_thread(running_rounds, desk.ledger, desk.suite):
        if run.asking_at is None:
            await asyncio.to_thread(finish_if_judged, desk.alerts, desk.cases, run, now)
        elif now - run.asking_at > QUIET_FOR:
            await ask_questions(desk, run)


def running_rounds(ledger: Ledger, suite: str | None = None) -> list[GoldenRun]:
    """The rounds that are not finished."""
    return [run for run in GoldenRuns(ledger).list(suite, ROUNDS_SEEN) if run.verdict == "running"]


async def ask_questions(desk: GoldenDesk, run: GoldenRun) -> GoldenRun:
    """Ask what has no answer yet, and submit each answer for evaluation as it comes.

    A question that the bot does not answer stays without one; several in a row, and the bot counts as down. A round without any
    answer is over at once.

    Returns:
        The round as it is kept.
    """
    runs = GoldenRuns(desk.ledger)
    await asyncio.to_thread(note_asking, runs, run)
    unasked = await asyncio.to_thread(unanswered, desk, run)
    failures: list[str] = []
    watch = OutageWatch(FAILURES_IN_A_ROW)

    async def ask(case: Case) -> None:
        try:
            await answer_one(desk, run, case, model)
            watch.note("golden", "", reached=True, turned_away=False)
        except (CallError, SubmissionError) as fault:
            failures.append(f"{case.id}: {fault}")
            logger.warning("golden question without an answer: %s: %s", case.id, fault)
            watch.note("golden", str(fault), reached=False, turned_away=isinstance(fault, CallRejected))
        finally:
            await asyncio.to_thread(note_asking, runs, run)

    try:
        model = open_retrying(desk.reference, desk.settings, OUTAGE_SECONDS)
        try:
            await run_concurrently(str(desk.reference), unasked, ask, concurrency_of(model, CONCURRENCY))
        finally:
            await model.aclose()
    except ModelError as fault:
        failures.insert(0, str(fault))
        logger.warning("golden round %s: %s", run.id, fault)
    answered = len(desk.cases) - len(await asyncio.to_thread(unanswered, desk, run))
    reason = failures[0] if failures else ""
    run = msgspec.structs.replace(run, answered=answered, asked=len(desk.cases), asking_at=None, reason=reason)
    if answered:
        await asyncio.to_thread(runs.save, run)
        return run
    return await asyncio.to_thread(finish_round, desk.alerts, desk.cases, run, datetime.now(UTC))


def unanswered(desk: GoldenDesk, run: GoldenRun) -> list[Case]:
    """The questions of a round that have no answer in the ledger."""
    known = Answers(desk.ledger).numbers([answer_id(run.id, case.id) for case in desk.cases])
    return [case for case in desk.cases if answer_id(run.id, case.id) not in known]


async def answer_one(desk: GoldenDesk, run: GoldenRun, case: Case, model: LanguageModel) -> None:
    """Ask one question, and store the answer with the documents that the bot named, else with the question's own.

    Raises:
        CallError: the bot did not answer.
        SubmissionError: the answer cannot be stored as it is.
    """
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
        source=f"{GOLDEN_SOURCE}{desk.suite}",
        language=desk.language,
        received_at=now,
        answered_at=now,
    )
    await Intake(desk.ledger).submit_async([answer])


def note_asking(runs: GoldenRuns, run: GoldenRun) -> None:
    """Note that a worker asks the round's questions right now."""
    runs.save(msgspec.structs.replace(run, asking_at=datetime.now(UTC)))
