"""Carry a run out in phases: all answers, then judge by judge; whatever the ledger holds is not asked again."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Protocol

import msgspec
from msgspec import Struct

from areopage.bench.keys import AnswerCall, answer_calls, answer_ids, judged_cases, open_cases, recorded_answers
from areopage.bench.spec import RunCase, RunSpec
from areopage.bench.target_prompts import to_single_prompt
from areopage.errors import CallError, CallRejected, CallTimedOut
from areopage.jury.judges import PlannedCall
from areopage.jury.opening import open_retrying
from areopage.jury.panel import planned_calls
from areopage.jury.plan import JudgedCase
from areopage.jury.schedule import UNREACHABLE_IN_A_ROW, OutageWatch, concurrency_of, run_concurrently
from areopage.jury.session import Session, is_open
from areopage.ledger.answers import Answers, CaseAnswer, Link, Record
from areopage.ledger.batch import Batch
from areopage.ledger.records import Answer, AnswerState, Judgment
from areopage.ledger.store import Ledger
from areopage.models.port import Completion, LanguageModel, Message, Options
from areopage.models.settings import ModelSettings

TARGET_PHASE = "target"
# What does not keep a run open. A call that was turned away (a content filter) is asked again when a run is resumed, for the
# server may have been set up wrongly; but nobody should wait for it.
SETTLED = ("answered", "refused")


class Observer(Protocol):
    """Who wants to know how a run goes on."""

    def phase(self, name: str, total: int, kept: int) -> None:
        """A phase begins: `total` calls belong to it, `kept` of them are in the ledger already."""
        ...

    def answered(self, answer: Answer) -> None:
        """The target was asked."""
        ...

    def judged(self, judgment: Judgment) -> None:
        """A judge was asked."""
        ...


class Silent:
    """An observer that does nothing."""

    def phase(self, name: str, total: int, kept: int) -> None:
        """Ignore it."""

    def answered(self, answer: Answer) -> None:
        """Ignore it."""

    def judged(self, judgment: Judgment) -> None:
        """Ignore it."""


class RunContext(Struct, frozen=True, kw_only=True):
    """What the phases of a run share."""

    run_id: str
    spec: RunSpec
    settings: ModelSettings
    ledger: Ledger
    observer: Observer


async def carry_out(context: RunContext, cases: Sequence[RunCase]) -> None:
    """Ask whatever the ledger does not hold yet, then note that the run is complete.

    A run is complete when nothing is left that another try could bring; calls that timed out or found no server are left, and
    resuming tries them again. A case whose answer is erased is neither answered nor judged again.

    Raises:
        ServerDown, ModelError, StorageError: the run stops; what arrived is kept.
    """
    stored, positions = Answers(context.ledger), {item.case.id: position for position, item in enumerate(cases)}
    recorded = [CaseAnswer(context.run_id, positions[case], id) for case, id in answer_ids(cases, [], {}).items()]
    stored.append_judged([*recorded_answers(cases, datetime.now(UTC)), *recorded])
    cases = open_cases(cases, stored.erased_in(context.run_id))
    calls = answer_calls(context.spec, cases)
    await ask_target(context, calls, positions)
    answers = stored.by_key([call.key for call in calls])
    judged = judged_cases(context.spec, cases, calls, answers)
    ids = answer_ids(cases, calls, answers)
    by_id = stored.numbers(list(ids.values()))
    numbers = {case: by_id[id] for case, id in ids.items()}
    open_ends = sum(call.key not in answers or answers[call.key].state not in SETTLED for call in calls)
    open_ends += await ask_judges(context, judged, numbers)
    context.ledger.finish_run(context.run_id, datetime.now(UTC) if open_ends == 0 else None)


async def ask_target(context: RunContext, calls: Sequence[AnswerCall], positions: Mapping[str, int]) -> None:
    """The first phase.

    Args:
        positions: of the cases in the run, by their ids.
    """
    target = context.spec.target
    if target is None:
        return
    wanted, stored = distinct(calls), Answers(context.ledger)
    held = stored.by_key([call.key for call in wanted])

    def assigned(answers: Mapping[str, Answer]) -> list[Record]:
        asked = [call for call in calls if call.key in answers]
        return [CaseAnswer(context.run_id, positions[call.case.id], answers[call.key].id) for call in asked]

    stored.append_judged(assigned(held))
    missing = [call for call in wanted if call.key not in held or held[call.key].state != "answered"]
    context.observer.phase(TARGET_PHASE, len(wanted), len(wanted) - len(missing))
    if not missing:
        return
    model = open_retrying(target.reference, context.settings, context.spec.outage_seconds)
    watch = OutageWatch(max(UNREACHABLE_IN_A_ROW, context.spec.concurrency))
    try:
        async with Batch[Record, None](stored.append_judged, what="answers") as writer:

            async def ask(call: AnswerCall) -> None:
                answer = await ask_for_answer(call, model, context)
                writer.write_soon([answer, *assigned({call.key: answer})])
                context.observer.answered(answer)
                reached, turned_away = answer.state != "unreachable", answer.state == "refused"
                watch.note(TARGET_PHASE, answer.reason, reached=reached, turned_away=turned_away)

            limit = concurrency_of(model, context.spec.concurrency)
            await run_concurrently(f"target {target.reference}", missing, ask, limit)
    finally:
        await model.aclose()


async def ask_for_answer(call: AnswerCall, model: LanguageModel, context: RunContext) -> Answer:
    """One call to the target.

    Raises:
        CallUnreachable, CallRejected: no call can succeed any more.
    """
    messages: Sequence[Message] = call.messages
    if call.target.single_prompt:
        messages = [Message("user", to_single_prompt(call.messages, context.spec.language))]
    options: Options = call.target.options
    state: AnswerState = "answered"
    try:
        completion = await model.generate(messages, options, case=call.case)
        reason = "the server cut the prompt: raise num_ctx" if completion.prompt_cut else ""
    except CallError as fault:
        if fault.hopeless:
            raise
        completion, state, reason = Completion(text="", finish_reason=""), state_after(fault), str(fault)
    now, target = datetime.now(UTC), str(call.target.reference)
    return Answer(
        id=secrets.token_hex(16),
        origin="bench",
        case=msgspec.structs.replace(call.case, response=completion.text if state == "answered" else None),
        state=state,
        reason=reason,
        finish_reason=completion.finish_reason,
        key=call.key,
        run_id=context.run_id,
        source=target,
        model=target,
        received_at=now,
        answered_at=now,
        prompt_tokens=completion.prompt_tokens,
        completion_tokens=completion.completion_tokens,
        seconds=completion.seconds,
    )


def state_after(fault: CallError) -> AnswerState:
    """What a failed call to the target leaves."""
    if isinstance(fault, CallTimedOut):
        return "timed_out"
    return "refused" if isinstance(fault, CallRejected) else "unreachable"


async def ask_judges(context: RunContext, judged: Sequence[JudgedCase], numbers: Mapping[str, int]) -> int:
    """Ask judge by judge, so that a server keeps one model in memory.

    Args:
        numbers: of the cases' answers, by the case's id.

    Returns:
        How many calls are still open: timed out or unreachable.
    """
    spec, open_ends = context.spec, 0
    async with Batch[Record, None](Answers(context.ledger).append_judged, what="judgments") as writer:
        store = _RunJudgments(context.ledger, writer)
        session = Session(
            spec,
            context.settings,
            store,
            kind="bench",
            run_id=context.run_id,
            outage_seconds=spec.outage_seconds,
            stops_at_outage=True,
        )
        for judge in spec.judges:
            calls = list(planned_calls(spec, judged, [judge]))
            store.links = _links_of(calls, numbers, context.run_id)
            held = await session.known(calls)
            context.observer.phase(judge.name, len(store.links), len(held))
            try:
                await session.ask(calls, held, context.observer.judged, spec.concurrency)
            finally:
                await session.release(judge)
            open_ends += sum(is_open(judgment) for judgment in held.values())
    return open_ends


class _RunJudgments:
    """The judgments of a run: looked up in the ledger, and written with their links to answers by the run's own writer."""

    def __init__(self, ledger: Ledger, writer: Batch[Record, None]) -> None:
        self._ledger, self._writer, self.secret = ledger, writer, ledger.secret()
        self.links: Mapping[str, Sequence[Link]] = {}

    async def known(self, keys: Sequence[str]) -> Mapping[str, Judgment]:
        return self._ledger.judgments(keys)

    def append(self, judgment: Judgment) -> None:
        self._writer.write_soon([judgment, *self.links[judgment.key]])


def _links_of(calls: Sequence[PlannedCall], numbers: Mapping[str, int], run_id: str) -> dict[str, list[Link]]:
    """Which answers each key is about: cases alike to the letter share their judgments."""
    links: dict[str, list[Link]] = {}
    for call in calls:
        links.setdefault(call.key, []).append(Link(numbers[call.case.id], run_id, call.key))
    return links


def distinct(calls: Sequence[AnswerCall]) -> list[AnswerCall]:
    """The first call of each key: cases alike to the letter are asked about once."""
    found: dict[str, AnswerCall] = {}
    for call in calls:
        found.setdefault(call.key, call)
    return list(found.values())
