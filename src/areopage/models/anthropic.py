"""The Messages API of Anthropic: `/v1/messages` and `/v1/models`, without streaming.

Written from Anthropic's documentation as it stood in autumn 2026, with the header `anthropic-version: 2023-06-01`: messages, stop
reasons, structured outputs (`output_config.format`), prompt caching, errors and rate limits.

- The system message is a field of its own, and `max_tokens` must be there.
- An answer is a list of blocks. Blocks of type `thinking` and `redacted_thinking` are not the answer.
- The beginning that many prompts share is marked with `cache_control`, so that it is billed once at 1.25 of the price, and at 0.1
  of it from then on for five minutes. A beginning that is too short to be kept (1,024 tokens or more, by model) costs nothing.
- `input_tokens` counts what stands behind the kept beginning; the size of the prompt is the sum of three counts.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from areopage.errors import CallError, CallRejected, CallUnreachable, ModelError, ModelMissing, PromptTooLong
from areopage.models.error_bodies import CONTENT_FILTER
from areopage.models.json_chat import ChatModel
from areopage.models.known_providers import SchemaMode
from areopage.models.port import SERVER, STOP_REASON, Completion, Message, ModelStatus, Options, Schema
from areopage.models.prices import LIMITS, answer_limit
from areopage.models.servers import ListedModel, ModelServer

DEFAULT_LIMIT = 4096
"""Tokens of an answer where no option limits it: the field must be there."""
KEEP = "cache_prompt"
"""The option that leaves the beginnings of prompts unmarked, where it is false."""
WRITE_FACTOR, READ_FACTOR = 1.25, 0.1
"""What a prompt's tokens cost of the price when they are kept, and when they were kept."""
TOOL = "verdict"
_MADE_HERE = frozenset({*LIMITS, "stop", KEEP})
_OLLAMA_ONLY = frozenset({"keep_alive", "num_ctx", "num_batch", "num_gpu", "num_thread", "think", "n_ctx", "n_threads"})
_ENDS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": CONTENT_FILTER,
}
_MOST_CHOICES = 101
_UNKNOWN_BOUNDS = frozenset({"minimum", "maximum", "multipleOf", "minLength", "maxLength", "maxItems", "minItems", "pattern"})


_TOO_LONG = ("prompt is too long", "exceed context limit", "exceeds the maximum")
_ADVICE = "areopage models list anthropic"
_PAGE = 1000


class _AnthropicEntry(msgspec.Struct):
    id: str
    max_input_tokens: int | None = None


class _AnthropicEntries(msgspec.Struct):
    data: list[_AnthropicEntry] | None = None


class _AnswerBlock(msgspec.Struct):
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

    content: list[_AnswerBlock] | None = None
    stop_reason: str | None = None
    usage: _MessagesUsage | None = None
    error: Any = None


class AnthropicModel(ChatModel[MessagesReply]):
    """One model of the Messages API, as a `LanguageModel`."""

    path = "/v1/messages"
    reply_type = MessagesReply
    schema_signs = ("output_config", "output format", "structured output", "schema", "tool_choice", "tools")

    async def check(self) -> ModelStatus:
        """Look the model up; see `LanguageModel.check`. There is no digest of weights: the server's address stands in for it."""
        name = self.reference.model
        if not name or not all(char.isalnum() or char in "-_.:@" for char in name) or set(name) <= {"."}:
            raise ModelError(f"{name[:60]!r} is not the name of a model of Anthropic: {_ADVICE}")
        try:
            entry = await self.server.look_up(f"/v1/models/{name}", _AnthropicEntry)
        except CallRejected as fault:
            raise ModelMissing(f"{self.server.address} has no model {name!r}: {_ADVICE} [{fault}]") from fault
        return ModelStatus(digest=f"{SERVER}{self.server.address}", context_length=entry.max_input_tokens)

    def explained(self, fault: CallError) -> CallError:
        """A fault as the kind that it is: too long a prompt, or an account without money."""
        if not isinstance(fault, CallRejected):
            return fault
        message = str(fault).lower()
        if fault.status in (400, 413) and any(sign in message for sign in _TOO_LONG):
            return PromptTooLong(f"{self.reference}: the prompt does not fit: {fault}", status=fault.status)
        if fault.status == 400 and "credit balance is too low" in message:
            return CallRejected(str(fault), status=402, code=fault.code)
        return fault

    def _explained(self, fault: CallError, options: Options) -> Completion:
        raise self.explained(fault) from fault

    def _plain_body(self, messages: Sequence[Message], options: Options) -> dict[str, Any]:
        unsent = _MADE_HERE | _OLLAMA_ONLY | self.server.provider.unsent
        body = {name: value for name, value in options.items() if name not in unsent}
        body |= {"model": self.reference.model, "max_tokens": answer_limit(options) or DEFAULT_LIMIT}
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

    def _schema_fields(self, mode: SchemaMode, schema: Schema) -> Mapping[str, Any]:
        if mode == "json_schema":
            return {"output_config": {"format": {"type": "json_schema", "schema": _plain_schema(schema)}}}
        if mode == "tool":
            tool = {"name": TOOL, "description": "Give the answer.", "input_schema": _plain_schema(schema)}
            return {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL}}
        return {}

    def _completion(self, reply: MessagesReply, seconds: float) -> Completion:
        """What an answer says. A refusal by the API's own filter is not the model's: its finish reason is that of a filter."""
        if reply.error is not None:
            raise self._fault_in(reply.error)
        if reply.content is None:
            raise CallUnreachable(f"{self.server.address}{self.path}: the answer holds no content")
        usage = reply.usage or _MessagesUsage()
        kept, read = usage.cache_creation_input_tokens or 0, usage.cache_read_input_tokens or 0
        fresh = usage.input_tokens
        verdict = next((block.input for block in reply.content if block.type == "tool_use" and block.name == TOOL), None)
        text = "".join(block.text or "" for block in reply.content if block.type == "text")
        return Completion(
            text=text if verdict is None else msgspec.json.encode(verdict).decode(),
            finish_reason=_ENDS.get(reply.stop_reason or "end_turn", reply.stop_reason or "stop"),
            prompt_tokens=None if fresh is None else fresh + kept + read,
            completion_tokens=usage.output_tokens,
            seconds=seconds,
            notes=(f"{STOP_REASON}refusal",) if reply.stop_reason == "refusal" else (),
            reasoning="".join(block.thinking or "" for block in reply.content if block.type == "thinking"),
            billed_tokens=None if fresh is None or not kept + read else fresh + WRITE_FACTOR * kept + READ_FACTOR * read,
        )


open_model = AnthropicModel


async def listed(server: ModelServer) -> tuple[ListedModel, ...]:
    """The models that a server lists."""
    try:
        reply = await server.look_up("/v1/models", _AnthropicEntries, [("limit", str(_PAGE))])
    except CallRejected as fault:
        raise ModelError(f"{server.place} does not list its models: {fault}") from fault
    return tuple(ListedModel(name=model.id, context_length=model.max_input_tokens) for model in reply.data or ())


def _plain_schema(schema: Any) -> Any:
    """A schema without the bounds that structured outputs do not know; few whole numbers are listed instead."""
    if isinstance(schema, Mapping):
        low, high = schema.get("minimum"), schema.get("maximum")
        kept = {name: _plain_schema(value) for name, value in schema.items() if name not in _UNKNOWN_BOUNDS}
        if schema.get("type") == "integer" and type(low) is int and type(high) is int and 0 <= high - low < _MOST_CHOICES:
            kept["enum"] = list(range(low, high + 1))
        return kept
    return [_plain_schema(item) for item in schema] if isinstance(schema, list | tuple) else schema


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
