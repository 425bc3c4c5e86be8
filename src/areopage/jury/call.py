"""One call to a judge: render, ask, read, ask once more where the answer cannot be read."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from msgspec import Struct

from areopage.cases.personas import Persona
from areopage.cases.records import Case
from areopage.criteria.rendering import render_judge_prompt, verdict_schema
from areopage.errors import CallError, CallRejected, CallTimedOut, CallUnreachable
from areopage.jury.judges import Judge
from areopage.jury.parsing import read_verdict
from areopage.jury.plan import PlannedCall
from areopage.ledger.records import Judgment, Repair, Verdict
from areopage.models.port import Completion, LanguageModel, Message, Schema, Subject
from areopage.scoring.outcome import Outcome, Refused, Scored, TimedOut, Unparsed, Unreachable

REPAIR_REQUEST = {
    "en": "Your last answer could not be read: {reason}. Answer again, with the one JSON object of the output format and nothing "
    "else; keep the explanation under 40 words.",
    "fr": "Votre dernière réponse n’a pas pu être lue ({reason}). Répondez de nouveau, par le seul objet JSON du format de "
    "sortie et rien d’autre ; l’explication doit tenir en 40 mots.",
}
# a runaway answer is not sent back whole
MAX_SHOWN_BACK = 4_000


class CallContext(Struct, frozen=True, kw_only=True):
    """What all calls of a run share."""

    run_id: str
    secret: bytes
    personas: Mapping[str, Persona]
    language: str


class Readings(Struct, frozen=True, kw_only=True):
    """What was read of one answer: an outcome for each criterion asked, by id. `steps` and `repair` are as in `Judgment`."""

    outcomes: dict[str, Outcome]
    steps: tuple[str, ...]
    repair: Repair = "none"

    @property
    def unread(self) -> dict[str, str]:
        """The criteria that could not be read, and why."""
        return {name: outcome.reason for name, outcome in self.outcomes.items() if isinstance(outcome, Unparsed)}


class AnyCall(Protocol):
    """A planned call, whatever it asks about."""

    @property
    def key(self) -> str:
        """What the judgment is kept under."""
        ...

    @property
    def case(self) -> Case:
        """What is judged."""
        ...

    @property
    def judge(self) -> Judge:
        """Who is asked."""
        ...

    @property
    def pass_index(self) -> int:
        """Which of the judge's passes; counts from 1."""
        ...

    @property
    def options(self) -> dict[str, Any]:
        """The options of this pass."""
        ...


class Question(Struct, frozen=True, kw_only=True):
    """What a judge is asked, and how its answer is read.

    Args:
        criteria: the ids asked about.
        read: from the answer's text and finish reason to an outcome for each of them.
        ask_again: from what could not be read to the text of the one repair call.
    """

    messages: tuple[Message, ...]
    schema: Schema
    subject: Subject
    criteria: tuple[str, ...]
    read: Callable[[str, str], Readings]
    ask_again: Callable[[Readings], str]


async def ask_judge(call: PlannedCall, model: LanguageModel, context: CallContext) -> Judgment:
    """Carry one planned call out.

    Raises:
        CallUnreachable: nothing listens at the judge's address any more.
        CallRejected: the server does not let us in or does not have the model (401, 403, 404): no call can succeed.
    """
    criterion = call.criterion
    persona = context.personas.get(call.case.maturity)
    prompt = render_judge_prompt(criterion, call.case, persona, context.secret)
    material = material_of(call.case)

    def read(text: str, finish_reason: str) -> Readings:
        reading = read_verdict(text, finish_reason, criterion.scale, material)
        repair: Repair = "heuristic" if reading.heuristic else "none"
        return Readings(outcomes={criterion.id: reading.outcome}, steps=reading.steps, repair=repair)

    request = REPAIR_REQUEST.get(criterion.language, REPAIR_REQUEST["en"])
    question = Question(
        messages=(Message("system", prompt.system), Message("user", prompt.user)),
        schema=verdict_schema(criterion),
        subject=Subject(
            case=call.case,
            asked=call.judge.name,
            criterion=criterion.id,
            pass_index=call.pass_index,
            language=context.language,
            scale=criterion.scale,
        ),
        criteria=(criterion.id,),
        read=read,
        ask_again=lambda unread: request.replace("{reason}", unread.unread[criterion.id]),
    )
    return await put(question, call, model, context)


async def put(question: Question, call: AnyCall, model: LanguageModel, context: CallContext) -> Judgment:
    """Put a question to a judge, once more where something of the answer cannot be read.

    Raises:
        CallUnreachable, CallRejected: as for `ask_judge`.
    """
    try:
        first = await model.generate(question.messages, call.options, question.schema, subject=question.subject)
    except CallError as fault:
        return judgment_without_answer(call, context, question.criteria, failure(fault))
    readings = read(first, question)
    if not readings.unread or first.prompt_cut:
        return judgment_of(call, context, first, readings)
    shown_back = Message("assistant", first.text[:MAX_SHOWN_BACK])
    messages = [*question.messages, shown_back, Message("user", question.ask_again(readings))]
    try:
        second = await model.generate(messages, call.options, question.schema, subject=question.subject)
    except CallError as fault:
        failed = {
            name: unrepaired(fault, f"{reason}; the repair call failed: {fault}") for name, reason in readings.unread.items()
        }
        steps = (*readings.steps, "repair_call_failed")
        settled = Readings(outcomes=readings.outcomes | failed, steps=steps, repair=readings.repair)
        return judgment_of(call, context, first, settled)
    return judgment_of(call, context, first, completed(readings, read(second, question)), second)


def read(completion: Completion, question: Question) -> Readings:
    """The reading of a completion; a judge that was not shown the whole prompt has not judged."""
    if completion.prompt_cut:
        cut = Unparsed(reason="the server cut the prompt: raise num_ctx")
        return Readings(outcomes=dict.fromkeys(question.criteria, cut), steps=("prompt_cut",))
    return question.read(completion.text, completion.finish_reason)


def completed(first: Readings, again: Readings) -> Readings:
    """What the repair call's answer adds: verdicts that could be read at first stand."""
    added = {name: again.outcomes[name] for name in first.unread}
    repair: Repair = "model" if any(isinstance(outcome, Scored) for outcome in added.values()) else first.repair
    return Readings(outcomes=first.outcomes | added, steps=(*first.steps, "repair_call", *again.steps), repair=repair)


def material_of(case: Case) -> str:
    """Everything of a case that comes from outside."""
    documents = (text for document in case.documents for text in (document.title, document.text))
    return "\n".join([case.prompt_text, case.response or "", case.reference or "", *documents])


def failure(fault: CallError) -> Outcome:
    """The outcome of a call that gave nothing; faults that no further call can escape are raised again.

    A rejection of this very call (a content filter, too long a prompt, nothing to measure, no recording) is a refusal: the same
    call would be turned away again.
    """
    if fault.hopeless:
        raise fault
    if isinstance(fault, CallTimedOut):
        return TimedOut(reason=str(fault))
    if isinstance(fault, CallRejected):
        return Refused(reason=str(fault))
    return Unreachable(reason=str(fault))


def unrepaired(fault: CallError, reason: str) -> Outcome:
    """The outcome of an answer that cannot be read and whose repair failed: where another try may help, it stays open.

    Nothing is raised: the first answer is paid for and goes to the ledger; the next call finds a server that is gone.
    """
    if isinstance(fault, CallTimedOut):
        return TimedOut(reason=reason)
    return Unreachable(reason=reason) if isinstance(fault, CallUnreachable) else Unparsed(reason=reason)


def judgment_without_answer(call: AnyCall, context: CallContext, criteria: Iterable[str], outcome: Outcome) -> Judgment:
    """The ledger's record of a call that brought no answer: one outcome for all that was asked."""
    readings = Readings(outcomes=dict.fromkeys(criteria, outcome), steps=())
    return judgment_of(call, context, Completion(text=""), readings)


def judgment_of(
    call: AnyCall, context: CallContext, first: Completion, readings: Readings, second: Completion | None = None
) -> Judgment:
    """The ledger's record of a call; `readings` are those of both answers together."""
    last, price = second or first, call.judge.price
    tokens = (
        add(first.prompt_tokens, second.prompt_tokens if second else 0),
        add(first.completion_tokens, second.completion_tokens if second else 0),
    )
    return Judgment(
        key=call.key,
        run_id=context.run_id,
        judge=call.judge.name,
        model=str(call.judge.reference),
        pass_index=call.pass_index,
        raw_text=first.text,
        repair_text=second.text if second else "",
        finish_reason=last.finish_reason,
        prompt_tokens=tokens[0],
        completion_tokens=tokens[1],
        calls=2 if second else 1,
        cost=price.of(*tokens) if price else None,
        currency=price.currency if price else "",
        seconds=first.seconds + (second.seconds if second else 0.0),
        repair=readings.repair,
        steps=readings.steps,
        created_at=datetime.now(UTC),
        verdicts=tuple(Verdict(criterion=name, outcome=outcome) for name, outcome in readings.outcomes.items()),
    )


def add(one: int | None, other: int | None) -> int | None:
    """The sum of two counts, unknown where one is."""
    return None if one is None or other is None else one + other
