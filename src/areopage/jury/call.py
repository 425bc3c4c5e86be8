"""One call to a judge: render, ask, read, ask once more where the answer cannot be read."""

from collections.abc import Mapping
from datetime import UTC, datetime

from msgspec import Struct

from areopage.cases.personas import Persona
from areopage.cases.records import Case
from areopage.criteria.rendering import render_judge_prompt, verdict_schema
from areopage.errors import CallError, CallRejected, CallTimedOut, CallUnreachable
from areopage.jury.parsing import Reading, read_verdict
from areopage.jury.plan import PlannedCall
from areopage.ledger.records import Judgment, Repair, Verdict
from areopage.models.port import Completion, LanguageModel, Message, Subject
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


async def ask_judge(call: PlannedCall, model: LanguageModel, context: CallContext) -> Judgment:
    """Carry one planned call out.

    Raises:
        CallUnreachable: nothing listens at the judge's address any more.
        CallRejected: the server does not let us in or does not have the model (401, 403, 404): no call can succeed.
    """
    persona = context.personas.get(call.case.maturity)
    prompt = render_judge_prompt(call.criterion, call.case, persona, context.secret)
    messages = [Message("system", prompt.system), Message("user", prompt.user)]
    schema = verdict_schema(call.criterion)
    subject = Subject(
        case=call.case,
        asked=call.judge.name,
        criterion=call.criterion.id,
        pass_index=call.pass_index,
        language=context.language,
        scale=call.criterion.scale,
    )
    try:
        first = await model.generate(messages, call.options, schema, subject=subject)
    except CallError as fault:
        return judgment_of(call, context, Completion(text=""), Reading(outcome=failure(fault), steps=()))
    reading = read(first, call)
    if not isinstance(reading.outcome, Unparsed) or first.prompt_cut:
        return judgment_of(call, context, first, reading)
    request = REPAIR_REQUEST.get(call.criterion.language, REPAIR_REQUEST["en"]).replace("{reason}", reading.outcome.reason)
    messages += [Message("assistant", first.text[:MAX_SHOWN_BACK]), Message("user", request)]
    try:
        second = await model.generate(messages, call.options, schema, subject=subject)
    except CallError as fault:
        steps = (*reading.steps, "repair_call_failed")
        outcome = unrepaired(fault, f"{reading.outcome.reason}; the repair call failed: {fault}")
        return judgment_of(call, context, first, Reading(outcome=outcome, steps=steps))
    again = read(second, call)
    steps = (*reading.steps, "repair_call", *again.steps)
    return judgment_of(call, context, first, Reading(outcome=again.outcome, steps=steps), second)


def read(completion: Completion, call: PlannedCall) -> Reading:
    """The reading of a completion; a judge that was not shown the whole prompt has not judged."""
    if completion.prompt_cut:
        return Reading(outcome=Unparsed(reason="the server cut the prompt: raise num_ctx"), steps=("prompt_cut",))
    return read_verdict(completion.text, completion.finish_reason, call.criterion.scale, material_of(call.case))


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


def judgment_of(
    call: PlannedCall, context: CallContext, first: Completion, reading: Reading, second: Completion | None = None
) -> Judgment:
    """The ledger's record of a call."""
    scored = isinstance(reading.outcome, Scored)
    repair: Repair = "model" if second and scored else "heuristic" if reading.heuristic else "none"
    last = second or first
    return Judgment(
        key=call.key,
        run_id=context.run_id,
        judge=call.judge.name,
        model=str(call.judge.reference),
        pass_index=call.pass_index,
        raw_text=first.text,
        repair_text=second.text if second else "",
        finish_reason=last.finish_reason,
        prompt_tokens=add(first.prompt_tokens, second.prompt_tokens if second else 0),
        completion_tokens=add(first.completion_tokens, second.completion_tokens if second else 0),
        seconds=first.seconds + (second.seconds if second else 0.0),
        repair=repair,
        steps=reading.steps,
        created_at=datetime.now(UTC),
        verdicts=(Verdict(criterion=call.criterion.id, outcome=reading.outcome),),
    )


def add(one: int | None, other: int | None) -> int | None:
    """The sum of two counts, unknown where one is."""
    return None if one is None or other is None else one + other
