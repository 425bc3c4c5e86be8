"""A language model as a judge, with one repair call for unreadable answers."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from areopage.criteria import answer_schema, defused, judge_prompt, short_names
from areopage.errors import BudgetSpent, CallError, CallRejected, CallTimedOut, CallUnreachable, PromptTooLong
from areopage.jury.addressing import signs_of
from areopage.jury.expectations import refuses_log_probabilities, with_expected_scores, without_log_probabilities
from areopage.jury.judges import PROMPT_CUT, CallContext, CallResult, JudgeStatus, PlannedCall
from areopage.jury.reader import Reading, material_of, read_answer
from areopage.models import ONLY_THOUGHTS, Completion, LanguageModel, Message, ModelReference, Price, Schema, cut_text
from areopage.scoring import Outcome, Refused, TimedOut, Unparsed, Unreachable

# a runaway answer is not sent back whole
MAX_SHOWN_BACK = 4_000
_REPAIR_REQUEST = {
    "en": "Your last answer could not be read: {reason}. Answer again, with the one JSON object of the output format and nothing "
    "else; keep each explanation under 40 words.",
    "fr": "Votre dernière réponse n’a pas pu être lue ({reason}). Répondez de nouveau, par le seul objet JSON du format de "
    "sortie et rien d’autre ; chaque explication doit tenir en 40 mots.",
}


class ModelJudge:
    """A judge that calls a language model; see `areopage.jury.judges.JudgeBackend`."""

    def __init__(self, model: LanguageModel) -> None:
        """Use this model; it is closed with the judge."""
        self._model = model
        self._no_log_probabilities = False  # learnt from the server's first refusal

    @property
    def reference(self) -> ModelReference:
        """The model's reference."""
        return self._model.reference

    @property
    def max_concurrency(self) -> int | None:
        """The model's own limit."""
        return self._model.max_concurrency

    async def check(self) -> JudgeStatus:
        """Check the model; see `LanguageModel.check`."""
        status = await self._model.check()
        return JudgeStatus(
            digest=status.digest, context_length=status.context_length, slots=status.slots, unfit=status.unfit, kind="model"
        )

    async def judge(self, call: PlannedCall, context: CallContext, first: Completion | None = None) -> CallResult:
        """Call the model, and call it once more if the answer is unreadable.

        Args:
            first: an answer that came by another way, in place of the first call.

        Raises:
            CallUnreachable: nothing listens at the model's address any more.
            CallRejected: the server rejects the key or does not have the model (401, 403, 404): no call can succeed.
        """
        request = _JudgeRequest.of(call, context)
        result = await self._asked(call, request, first)
        return msgspec.structs.replace(result, steps=(*result.steps, *request.signs)) if request.signs else result

    def request(self, call: PlannedCall, context: CallContext) -> tuple[tuple[Message, ...], Schema | None]:
        """The messages of a call, and the schema that its answer must fit."""
        request = _JudgeRequest.of(call, context)
        return request.messages, request.schema

    async def _asked(self, call: PlannedCall, request: "_JudgeRequest", first: Completion | None) -> CallResult:
        try:
            first = first or await self._generate(request.messages, call, request.schema)
        except PromptTooLong as fault:
            return msgspec.structs.replace(call.without_answer(Unparsed(reason=str(fault))), steps=(PROMPT_CUT,))
        except CallError as fault:
            return call.without_answer(_failure(fault))
        reading = _read(first, call, request)
        if not reading.unread or first.prompt_cut:
            return _result(reading, call.judge.price, first)
        try:
            messages = (*request.messages, *_repair_messages(call, first.text, reading.unread))
            second = await self._generate(messages, call, request.schema)
        except (CallError, BudgetSpent) as fault:
            return _result(_unrepaired(reading, fault), call.judge.price, first)
        return _result(reading.completed_by(_read(second, call, request)), call.judge.price, first, second)

    async def _generate(self, messages: Sequence[Message], call: PlannedCall, schema: Schema | None) -> Completion:
        """Ask once; without log-probabilities where the server refuses them."""
        options = call.options
        if call.judge.method == "expected":
            options = without_log_probabilities(options) if self._no_log_probabilities else options
            try:
                return await self._model.generate(messages, options, schema)
            except CallRejected as fault:
                if self._no_log_probabilities or not refuses_log_probabilities(fault):
                    raise
            options, self._no_log_probabilities = without_log_probabilities(options), True
        return await self._model.generate(messages, options, schema)

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()


class _JudgeRequest(Struct, frozen=True, kw_only=True):
    """What is asked about a case, with `material_of` it and `signs_of` it."""

    messages: tuple[Message, ...]
    schema: Schema | None
    material: str
    signs: tuple[str, ...]

    @classmethod
    def of(cls, call: PlannedCall, context: CallContext) -> "_JudgeRequest":
        reader = context.personas.get(call.case.maturity)
        prompt = judge_prompt(call.criteria, call.case, reader, context.secret, call.hardening)
        return cls(
            messages=(Message("system", prompt.system), Message("user", prompt.user, prompt.constant)),
            schema=answer_schema(call.criteria) if call.hardening.schema else None,
            material=material_of(call.case),
            signs=signs_of(call.case),
        )


def _read(completion: Completion, call: PlannedCall, request: _JudgeRequest) -> Reading:
    if completion.prompt_cut:
        cut = Unparsed(reason=cut_text(call.judge.reference.provider, call.options))
        return Reading(outcomes={criterion.id: cut for criterion in call.criteria}, steps=(PROMPT_CUT,))
    reading = read_answer(completion.text, completion.finish_reason, call.criteria, request.material)
    if completion.only_thoughts:
        empty = Unparsed(reason=f"empty answer: {ONLY_THOUGHTS}")
        return msgspec.structs.replace(reading, outcomes={criterion.id: empty for criterion in call.criteria})
    return with_expected_scores(reading, completion, call.criteria) if call.judge.method == "expected" else reading


def _repair_messages(call: PlannedCall, answer: str, unread: Mapping[str, str]) -> tuple[Message, Message]:
    """The unreadable answer, and what is asked of the model about it."""
    names = dict(zip((criterion.id for criterion in call.criteria), short_names(call.criteria), strict=True))
    reasons = (f"{names[key]} ({reason})" if len(names) > 1 else reason for key, reason in unread.items())
    request = _REPAIR_REQUEST.get(call.criteria[0].language, _REPAIR_REQUEST["en"]).replace("{reason}", "; ".join(reasons))
    return Message("assistant", defused(answer[:MAX_SHOWN_BACK])), Message("user", defused(request))


def _failure(fault: CallError) -> Outcome:
    """The outcome of a failed call; permanent faults are raised again.

    A rejection of this very call (a content filter, too long a prompt) is a refusal: the same call would be rejected again.
    """
    if fault.hopeless:
        raise fault
    if isinstance(fault, CallTimedOut):
        return TimedOut(reason=str(fault))
    if isinstance(fault, CallRejected):
        return Refused(reason=str(fault))
    return Unreachable(reason=str(fault))


def _unrepaired(reading: Reading, fault: CallError | BudgetSpent) -> Reading:
    """A reading whose repair call failed; retryable criteria stay open.

    Nothing is raised: the first answer is paid for and is stored; the next call finds a server that is gone.
    """

    def outcome(unread: str) -> Outcome:
        reason = f"{unread}; the repair call failed: {fault}"
        if isinstance(fault, CallTimedOut):
            return TimedOut(reason=reason)
        return Unreachable(reason=reason) if isinstance(fault, CallUnreachable | BudgetSpent) else Unparsed(reason=reason)

    failed = {name: outcome(reason) for name, reason in reading.unread.items()}
    return Reading(
        outcomes=reading.outcomes | failed,
        steps=(*reading.steps, "repair_call_failed"),
        repair=reading.repair,
    )


def _result(reading: Reading, price: Price | None, first: Completion, second: Completion | None = None) -> CallResult:
    last, answers, cost = second or first, (first,) if second is None else (first, second), None
    if price is not None and any(answer.cost is not None or answer.billed_tokens is not None for answer in answers):
        cost = sum(price.of_completion(answer) for answer in answers)  # a provider says more than their tokens
    notes = first.notes if second is None else tuple(dict.fromkeys((*first.notes, *second.notes)))
    return CallResult(
        outcomes=reading.outcomes,
        raw_text=first.text,
        repair_text=second.text if second else "",
        finish_reason=last.finish_reason,
        prompt_tokens=_sum(first.prompt_tokens, second.prompt_tokens if second else 0),
        completion_tokens=_sum(first.completion_tokens, second.completion_tokens if second else 0),
        seconds=first.seconds + (second.seconds if second else 0.0),
        repair=reading.repair,
        steps=(*reading.steps, *notes) if notes else reading.steps,
        cost=cost,
    )


def _sum(count: int | None, other: int | None) -> int | None:
    return None if count is None or other is None else count + other
