"""Requests and answers of the Messages API: pure functions, no calls.

- The system message is a field of its own, and `max_tokens` must be there.
- An answer is a list of blocks. Blocks of type `thinking` and `redacted_thinking` are not the answer.
- The beginning that many prompts share is marked with `cache_control`, so that it is billed once at 1.25 of the price, and at 0.1
  of it from then on for five minutes. A beginning that is too short to be kept (1,024 tokens or more, by model) costs nothing.
- `input_tokens` counts what stands behind the kept beginning; the size of the prompt is the sum of three counts.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from areopage.models.call_notes import STOP_REASON
from areopage.models.error_bodies import CONTENT_FILTER
from areopage.models.known_providers import SchemaMode
from areopage.models.port import Completion, Message, Options, Schema

DEFAULT_LIMIT = 4096
"""Tokens of an answer where no option limits it: the field must be there."""
KEEP = "cache_prompt"
"""The option that leaves the beginnings of prompts unmarked, where it is false."""
WRITE_FACTOR, READ_FACTOR = 1.25, 0.1
"""What a prompt's tokens cost of the price when they are kept, and when they were kept."""
TOOL = "verdict"
_LIMITS = ("max_tokens", "max_completion_tokens", "num_predict", "n_predict")
_MADE_HERE = frozenset({*_LIMITS, "stop", KEEP})
_OLLAMA_ONLY = frozenset({"keep_alive", "num_ctx", "num_batch", "num_gpu", "num_thread", "think", "n_ctx", "n_threads"})
_ENDS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": CONTENT_FILTER,
}
_REFUSED = f"{STOP_REASON}refusal"
_MOST_CHOICES = 101
_UNKNOWN_BOUNDS = frozenset({"minimum", "maximum", "multipleOf", "minLength", "maxLength", "maxItems", "minItems", "pattern"})


class Block(msgspec.Struct):
    """A part of an answer."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    name: str | None = None
    input: Any = None


class _MessagesUsage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class MessagesReply(msgspec.Struct):
    """A message that the model answered with, or an error in its place."""

    content: list[Block] | None = None
    stop_reason: str | None = None
    usage: _MessagesUsage | None = None
    error: Any = None


def message_body(model: str, messages: Sequence[Message], options: Options, unsent: frozenset[str]) -> dict[str, Any]:
    """The body of a call: options as they are given, but for those that the API does not have."""
    body = {name: value for name, value in options.items() if name not in (_MADE_HERE | unsent | _OLLAMA_ONLY)}
    limits = [value for name in _LIMITS if type(value := options.get(name)) is int and value > 0]
    body |= {"model": model, "max_tokens": min(limits, default=DEFAULT_LIMIT)}
    if stop := options.get("stop"):
        body.setdefault("stop_sequences", [stop] if isinstance(stop, str) else list(stop))
    keeps = options.get(KEEP, True) is not False and any(message.constant for message in messages)
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    if system:
        body["system"] = [_block(system, kept=True)] if keeps else system
    body["messages"] = [
        {"role": message.role, "content": _content(message, keeps=keeps)} for message in messages if message.role != "system"
    ]
    return body


def schema_fields(mode: SchemaMode, schema: Schema) -> dict[str, Any]:
    """The fields of a request that hold the answer to a schema."""
    if mode == "json_schema":
        return {"output_config": {"format": {"type": "json_schema", "schema": plain_schema(schema)}}}
    if mode == "tool":
        tool = {"name": TOOL, "description": "Give the answer.", "input_schema": plain_schema(schema)}
        return {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL}}
    return {}


def plain_schema(schema: Any) -> Any:
    """A schema without the bounds that structured outputs do not know; few whole numbers are listed instead."""
    if isinstance(schema, Mapping):
        low, high = schema.get("minimum"), schema.get("maximum")
        kept = {name: plain_schema(value) for name, value in schema.items() if name not in _UNKNOWN_BOUNDS}
        if schema.get("type") == "integer" and type(low) is int and type(high) is int and 0 <= high - low < _MOST_CHOICES:
            kept["enum"] = list(range(low, high + 1))
        return kept
    return [plain_schema(item) for item in schema] if isinstance(schema, list | tuple) else schema


def completion_of(reply: MessagesReply, content: Sequence[Block], seconds: float) -> Completion:
    """Read an answer. A refusal by the API's own filter is not the model's answer: its finish reason is that of a filter."""
    usage = reply.usage or _MessagesUsage()
    verdict = next((block.input for block in content if block.type == "tool_use" and block.name == TOOL), None)
    text = "".join(block.text or "" for block in content if block.type == "text")
    if verdict is not None:
        text = msgspec.json.encode(verdict).decode()
    return Completion(
        text=text,
        finish_reason=_ENDS.get(reply.stop_reason or "end_turn", reply.stop_reason or "stop"),
        prompt_tokens=_whole_prompt(usage),
        completion_tokens=usage.output_tokens,
        seconds=seconds,
        notes=(_REFUSED,) if reply.stop_reason == "refusal" else (),
        reasoning="".join(block.thinking or "" for block in content if block.type == "thinking"),
        billed_tokens=_billed(usage),
    )


def _whole_prompt(usage: _MessagesUsage) -> int | None:
    if usage.input_tokens is None:
        return None
    return usage.input_tokens + (usage.cache_creation_input_tokens or 0) + (usage.cache_read_input_tokens or 0)


def _billed(usage: _MessagesUsage) -> float | None:
    """The tokens at the full price that the prompt is billed as."""
    if usage.input_tokens is None or not (usage.cache_creation_input_tokens or usage.cache_read_input_tokens):
        return None
    kept, read = usage.cache_creation_input_tokens or 0, usage.cache_read_input_tokens or 0
    return usage.input_tokens + WRITE_FACTOR * kept + READ_FACTOR * read


def _content(message: Message, *, keeps: bool) -> str | list[dict[str, Any]]:
    """The content of a message, in two blocks where its beginning is to be kept."""
    if not keeps or not message.constant:
        return message.content
    kept, rest = message.content[: message.constant], message.content[message.constant :]
    if not kept.strip() or not rest.strip():  # the API takes no empty block
        return message.content
    return [_block(kept, kept=True), _block(rest, kept=False)]


def _block(text: str, *, kept: bool) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": text}
    return {**block, "cache_control": {"type": "ephemeral"}} if kept else block
