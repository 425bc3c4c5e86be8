"""Answers of the OpenAI protocol and of those who nearly speak it: what is text, what is thought, and why it ended."""

import math
from typing import Any

import msgspec

from areopage.errors import name_list
from areopage.models.error_bodies import CONTENT_FILTER, filter_names, filtered_names
from areopage.models.port import ANSWERED_BY, CALLED, FILTERED, Completion, read_logprobs

_ENDS = {
    word: end
    for end, words in (
        ("stop", "stop eos eos_token end_turn stop_sequence"),
        ("length", "length max_length model_length max_tokens max_output_tokens token_limit model_context_window_exceeded"),
        (
            CONTENT_FILTER,
            "safety content_filtered guardrail_intervened prohibited_content blocklist spii recitation sensitive image_safety",
        ),
    )
    for word in words.split()
}
"""Words of providers for why an answer ended, and those of the protocol."""
BROKEN_OFF = frozenset({"abort", "aborted", "cancelled", "canceled", "timeout", "insufficient_system_resource"})
"""Words of servers (vLLM, SGLang, DeepSeek) for an answer that they did not bring to its end."""
_LONGEST_NAME = 60
_ELSEWHERE = ("data", "result", "response", "output", "content")
_TEXTS = ("text", "output_text")
"""The types of parts that are text; others hold the reasoning."""


class ChatMessage(msgspec.Struct):
    """What the model wrote (a text, its parts, or an object), and what it thought where the server says so: in either of two
    fields."""

    content: Any = None
    refusal: str | None = None
    reasoning_content: Any = None
    reasoning: Any = None
    tool_calls: Any = None
    function_call: Any = None


class ChatChoice(msgspec.Struct):
    """One answer: in a message, in the piece of a stream, or as a text.

    Gateways may put an error in its place, and Azure what its content filter found.
    """

    message: ChatMessage | None = None
    delta: ChatMessage | None = None
    text: str | None = None
    finish_reason: str | None = None
    logprobs: Any = None
    error: Any = None
    content_filter_results: Any = None


class ChatUsage(msgspec.Struct):
    """What was counted; gateways state the cost."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: Any = None


class OpenAIReply(msgspec.Struct):
    """A whole answer; `provider` is who answered behind a gateway.

    The last two are what a filter of the prompt says in place of a choice: Azure's by category, and Gemini's.
    """

    choices: list[ChatChoice | None] | None = None
    usage: ChatUsage | None = None
    error: Any = None
    provider: Any = None
    prompt_filter_results: Any = None
    prompt_feedback: Any = msgspec.field(name="promptFeedback", default=None)
    message: Any = None
    detail: Any = None
    code: Any = None
    type: Any = None
    data: Any = None
    result: Any = None
    response: Any = None
    output: Any = None
    content: Any = None

    @property
    def other(self) -> tuple[str, ...]:
        """The fields of another protocol in which an answer may stand; a message that is an object is Ollama's."""
        names = [name for name in _ELSEWHERE if getattr(self, name)]
        return (*names, "message") if isinstance(self.message, dict) and "content" in self.message else tuple(names)

    @property
    def fault(self) -> object:
        """The error in place of an answer, in its field or as the reply itself (vLLM, FastAPI servers); None where it is none."""
        if self.error or self.choices is not None or self.other or not (said := self.message or self.detail):
            return self.error or None
        return {"message": said, "code": self.code, "type": self.type}


def called_tool(message: ChatMessage | None) -> str:
    """The tool that an answer without text calls; "" where it has a text, or calls none."""
    if message is None or refusal_of(message) or text_of(message):
        return ""
    return next((name for name, _ in tool_calls_of(message)), "")


def completion_of(reply: OpenAIReply, choice: ChatChoice | None, seconds: float) -> Completion:
    """What an answer without an error says.

    Raises:
        LookupError: it holds no choice or no message; which one is the first argument.
    """
    if choice is None:
        if reply.choices or (filters := prompt_filters(reply)) is None:
            place = (
                f" as the OpenAI protocol has it, but the field {name_list(map(repr, reply.other))}: is this another protocol?"
            )
            raise LookupError(f"choice{place if reply.other and not reply.choices else ''}")
        filtered = tuple(f"{FILTERED}{name}" for name in filters)
        return Completion(text="", finish_reason=CONTENT_FILTER, seconds=seconds, notes=filtered)
    finish_reason = end_of(choice.finish_reason)
    message = choice.message or choice.delta or (ChatMessage(content=choice.text) if choice.text is not None else None)
    if message is None and finish_reason != CONTENT_FILTER:
        raise LookupError("message")
    usage, message = reply.usage or ChatUsage(), message or ChatMessage()
    refusal = refusal_of(message)
    notes: list[str] = []
    if isinstance(reply.provider, str) and reply.provider:
        notes.append(f"{ANSWERED_BY}{_shown(reply.provider)}")
    if tool := called_tool(message):
        notes.append(f"{CALLED}{_shown(tool)}")
    if finish_reason == CONTENT_FILTER:
        notes += [f"{FILTERED}{name}" for name in filtered_names(choice.content_filter_results)]
    thoughts = message.reasoning_content or message.reasoning
    tokens = choice.logprobs.get("content") if isinstance(choice.logprobs, dict) else None
    return Completion(
        text=refusal or text_of(message) or "\n".join(arguments for _, arguments in tool_calls_of(message)),
        finish_reason="refusal" if refusal else finish_reason,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        seconds=seconds,
        logprobs=read_logprobs(tokens),
        notes=tuple(notes),
        reasoning=thoughts if isinstance(thoughts, str) else "",
        cost=float(usage.cost) if type(usage.cost) in (int, float) and 0 <= usage.cost < math.inf else None,
    )


def prompt_filters(reply: OpenAIReply) -> tuple[str, ...] | None:
    """The categories for which a filter stopped the prompt; None where the reply names no filter that did."""
    results = reply.prompt_filter_results if isinstance(reply.prompt_filter_results, list) else []
    categories = [filtered_names(result.get("content_filter_results")) for result in results if isinstance(result, dict)]
    names = tuple(dict.fromkeys(name for names in categories for name in names))
    feedback = reply.prompt_feedback if isinstance(reply.prompt_feedback, dict) else {}
    reason = feedback.get("blockReason") or feedback.get("block_reason")
    if isinstance(reason, str) and reason:
        return (*names, *filter_names([reason.lower()]))
    return names or None


def text_of(message: ChatMessage) -> str:
    """The text of an answer; where it comes in parts, those of type "text" (others hold the reasoning)."""
    content = message.content
    if isinstance(content, dict) and "text" not in content:
        return _encoded(content)  # a gateway that has read the object which was asked for
    return "".join(map(_part_text, content if isinstance(content, list) else [content]))


def tool_calls_of(message: ChatMessage) -> list[tuple[str, str]]:
    """The tools that a message calls in place of a text, by name, with their arguments as JSON."""
    listed = message.tool_calls if isinstance(message.tool_calls, list) else []
    functions = [call.get("function") for call in listed if isinstance(call, dict)] or [message.function_call]
    calls: list[tuple[str, str]] = []
    for function in functions:
        if isinstance(function, dict):
            arguments = function.get("arguments")
            calls.append((str(function.get("name")), arguments if isinstance(arguments, str) else _encoded(arguments)))
    return calls


def refusal_of(message: ChatMessage) -> str:
    """What the model says where it refuses: in a field of its own, or as a part of the content."""
    parts = message.content if isinstance(message.content, list) else []
    said = (part.get("refusal") for part in parts if isinstance(part, dict) and part.get("type") == "refusal")
    return message.refusal or next((text for text in said if isinstance(text, str)), "")


def _shown(name: str) -> str:
    return "".join(char for char in name[:_LONGEST_NAME] if char.isalnum() or char in " ._/-").strip()


def _encoded(value: Any) -> str:
    """A value as JSON."""
    return msgspec.json.encode(value).decode()


def _part_text(part: Any) -> str:
    if isinstance(part, dict) and part.get("type", "text") in _TEXTS:
        part = part.get("text")
        part = part.get("value") if isinstance(part, dict) else part
    return part if isinstance(part, str) else ""


def end_of(reason: str | None) -> str:
    """Why an answer ended, in the protocol's words; some providers put the kind of filter behind its name."""
    if not reason or reason.lower() in ("null", "none"):
        return "stop"
    return CONTENT_FILTER if reason.startswith(CONTENT_FILTER) else _ENDS.get(reason.lower(), reason)
