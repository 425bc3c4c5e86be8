"""One call to the target, or to the model that plays a child, and the ledger's record of it."""

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from areopage.bench.keys import AnswerCall
from areopage.bench.target_prompts import to_single_prompt
from areopage.errors import CallError, CallRejected, CallTimedOut
from areopage.ledger import WITHHELD, Answer, AnswerState, Thoughts
from areopage.models import Completion, LanguageModel, Message, Options
from areopage.text import MARKERS, split_thoughts, withheld_content


async def answered(model: LanguageModel, call: AnswerCall, run_id: str, language: str) -> Answer:
    """Make one call.

    In a conversation a reply with sexual content or means of self-harm is withheld: a marker takes its place before it is stored.
    """
    messages: Sequence[Message] = call.messages
    if call.target.single_prompt:
        messages = [Message("user", to_single_prompt(call.messages, language))]
    options: Options = call.target.options
    try:
        completion = await model.generate(messages, options, case=call.case)
    except CallError as fault:
        if fault.hopeless:
            raise
        return record_of(call, run_id, None, _state_after(fault), str(fault))
    completion, thinking, place = _without_thoughts(completion, judged=call.target.judge_thinking)
    thoughts: Thoughts = "in_text" if "in_text" in (place, call.thoughts) else place or call.thoughts
    state, reason = _state_of(completion)
    if call.conversation and (harm := withheld_content(completion.text)):
        thinking, state, reason = "", "answered", f"withheld: {harm}"
        completion = msgspec.structs.replace(completion, text=MARKERS[harm], finish_reason=WITHHELD)
    elif call.conversation and withheld_content(thinking):
        thinking = ""
    answer = record_of(call, run_id, completion, state, reason)
    return msgspec.structs.replace(answer, thinking=thinking, thoughts=thoughts)


def _without_thoughts(completion: Completion, *, judged: bool) -> tuple[Completion, str, Thoughts]:
    """A reply without the thoughts that judges do not read, these, and where they came."""
    if judged:
        read = f"<think>{completion.reasoning}</think>\n{completion.text}" if completion.reasoning else completion.text
        return msgspec.structs.replace(completion, text=read), "", ""
    parts = split_thoughts(completion.text)
    bare = msgspec.structs.replace(completion, text=parts.answer if parts.state == "none" else parts.answer.strip())
    if parts.thoughts.strip():
        return bare, parts.thoughts, "in_text"
    return bare, completion.reasoning, "apart" if completion.reasoning.strip() else ""


def record_of(call: AnswerCall, run_id: str, completion: Completion | None, state: AnswerState, reason: str) -> Answer:
    """The ledger's record of a call."""
    now, target = datetime.now(UTC), str(call.target.reference)
    reply = completion or Completion(text="", finish_reason="")
    return Answer(
        id=secrets.token_hex(16),
        origin="bench",
        case=msgspec.structs.replace(call.case, response=None if completion is None else completion.text),
        state=state,
        reason=reason,
        finish_reason=reply.finish_reason,
        key=call.key,
        run_id=run_id,
        source=call.source or target,
        model=target,
        session=call.conversation,
        received_at=now,
        answered_at=now,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        seconds=reply.seconds,
    )


def _state_of(completion: Completion) -> tuple[AnswerState, str]:
    """The state of a reply, without its thinking, and what is to be said of it."""
    if completion.finish_reason == "content_filter":
        return "filtered", "; ".join(("a content filter ended the answer", *completion.notes))
    if not completion.text.strip():
        limit = " before the limit of tokens" if completion.finish_reason == "length" else ""
        return "empty", f"no text came{limit}"
    if completion.finish_reason == "length":
        return "cut", "the limit of tokens ended the answer"
    cut = ("the server cut the prompt: raise num_ctx",) if completion.prompt_cut else ()
    return "answered", "; ".join((*cut, *completion.notes))


def _state_after(fault: CallError) -> AnswerState:
    if isinstance(fault, CallTimedOut):
        return "timed_out"
    return "refused" if isinstance(fault, CallRejected) else "unreachable"
