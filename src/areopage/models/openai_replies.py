"""Answers of the OpenAI protocol and of those who nearly speak it: what is text, what is thought, and why it ended."""

import math
from typing import Any

import msgspec

from areopage.models.call_notes import ANSWERED_BY, FILTERED
from areopage.models.error_bodies import CONTENT_FILTER, filter_names, filtered_names

_ENDS = {"model_length": "length", "max_tokens": "length", "eos": "stop"} | dict.fromkeys(
    ("safety", "content_filtered", "guardrail_intervened", "prohibited_content", "blocklist", "spii", "recitation", "sensitive"),
    CONTENT_FILTER,
)
"""Words of providers for why an answer ended, and those of the protocol."""
_LONGEST_NAME = 60


class Part(msgspec.Struct):
    """A part of a content: its text, where `type` is "text"; others hold the reasoning."""

    type: str = "text"
    text: str | None = None


class ReplyMessage(msgspec.Struct):
    """What the model wrote, and what it thought where the server says so: in either of two fields."""

    content: str | list[Part] | None = None
    refusal: str | None = None
    reasoning_content: Any = None
    reasoning: Any = None


class Choice(msgspec.Struct):
    """One answer; gateways may put an error in its place, and Azure what its content filter found."""

    message: ReplyMessage | None = None
    finish_reason: str | None = None
    logprobs: Any = None
    error: Any = None
    content_filter_results: Any = None


class Usage(msgspec.Struct):
    """What was counted; gateways state the cost."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: Any = None


class Reply(msgspec.Struct):
    """A whole answer; `provider` is who answered behind a gateway.

    The last two are what a filter of the prompt says in place of a choice: Azure's by category, and Gemini's.
    """

    choices: list[Choice] | None = None
    usage: Usage | None = None
    error: Any = None
    provider: Any = None
    prompt_filter_results: Any = None
    prompt_feedback: Any = msgspec.field(name="promptFeedback", default=None)


def prompt_filters(reply: Reply) -> tuple[str, ...] | None:
    """The categories for which a filter stopped the prompt; None where the reply names no filter that did."""
    results = reply.prompt_filter_results if isinstance(reply.prompt_filter_results, list) else []
    found = [filtered_names(result.get("content_filter_results")) for result in results if isinstance(result, dict)]
    names = tuple(dict.fromkeys(name for names in found for name in names))
    feedback = reply.prompt_feedback if isinstance(reply.prompt_feedback, dict) else {}
    reason = feedback.get("blockReason") or feedback.get("block_reason")
    if isinstance(reason, str) and reason:
        return (*names, *filter_names([reason.lower()]))
    return names or None


def text_of(message: ReplyMessage) -> str:
    """The text of an answer; where it comes in parts, those of type "text" (others hold the reasoning)."""
    if isinstance(message.content, list):
        return "".join(part.text or "" for part in message.content if part.type == "text")
    return message.content or ""


def error_status(error: object) -> int:
    """The HTTP status that a gateway puts into an error object inside a 200; 200 where there is none."""
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 200


def end_of(reason: str | None) -> str:
    """Why an answer ended, in the protocol's words; some providers put the kind of filter behind its name."""
    if not reason:
        return "stop"
    return CONTENT_FILTER if reason.startswith(CONTENT_FILTER) else _ENDS.get(reason.lower(), reason)


def notes_of(provider: object, finish_reason: str, choice: Choice) -> tuple[str, ...]:
    """Who answered behind a gateway, and what a content filter found."""
    found: tuple[str, ...] = ()
    if isinstance(provider, str) and provider:
        shown = "".join(char for char in provider[:_LONGEST_NAME] if char.isalnum() or char in " ._/-").strip()
        found = (f"{ANSWERED_BY}{shown}",)
    if finish_reason == CONTENT_FILTER:
        found += tuple(f"{FILTERED}{name}" for name in filtered_names(choice.content_filter_results))
    return found


def reasoning_of(message: ReplyMessage) -> str:
    """What the model thought, where the server gives it beside the text: never a part of the answer."""
    found = message.reasoning_content or message.reasoning
    return found if isinstance(found, str) else ""


def cost_of(usage: Usage) -> float | None:
    """What the gateway says that the call cost, in US dollars; None where it says nothing that can be."""
    cost = usage.cost
    return float(cost) if type(cost) in (int, float) and 0 <= cost < math.inf else None
