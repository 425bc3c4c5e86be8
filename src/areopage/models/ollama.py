"""Ollama's native protocol: `/api/chat` without streaming, `/api/tags` and `/api/show`."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from areopage.errors import CallError, CallRejected, CallUnreachable, ModelError, ModelMissing, PromptTooLong, name_list
from areopage.models.json_chat import ChatModel
from areopage.models.known_providers import SchemaMode
from areopage.models.port import CHARACTERS_PER_TOKEN, Completion, Message, ModelStatus, Options, Schema, read_logprobs, sent
from areopage.models.servers import ListedModel, ModelServer
from areopage.models.window import fills, too_small, window_of

# Fields of the request itself; Ollama ignores them without a word when they stand among `options`.
TOP_LEVEL_OPTIONS = frozenset({"keep_alive", "think", "logprobs", "top_logprobs", "truncate", "shift"})
# The windows, in tokens, that servers use by default when a call names no num_ctx (by version and by memory).
DEFAULT_WINDOWS = (2048, 4096, 32768, 262144)
WIDE_MARGIN = 1.3
_TOO_LONG = ("exceeds the context length", "exceeds maximum context", "context size exceeded", "exceeds the available context")


class _OllamaMessage(msgspec.Struct):
    content: str | None = None


class _OllamaReply(msgspec.Struct):
    message: _OllamaMessage | None = None
    done_reason: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    logprobs: Any = None
    error: Any = None


class _Tag(msgspec.Struct):
    name: str
    digest: str = ""
    size: int | None = None


class _Tags(msgspec.Struct):
    models: list[_Tag] | None = None


class _OllamaShow(msgspec.Struct):
    model_info: dict[str, Any] | None = None


class OllamaModel(ChatModel[_OllamaReply]):
    """One model of one Ollama server, as a `LanguageModel`. Thinking is not part of the text."""

    path = "/api/chat"
    reply_type = _OllamaReply

    async def check(self) -> ModelStatus:
        """Make sure that the server has the model; see `LanguageModel.check`."""
        by_name = {model.name: model for model in await listed(self.server)}
        name = self.reference.model
        entry = by_name.get(name) or by_name.get(f"{name}:latest")
        if entry is None:
            has = f"it has: {name_list(by_name)}" if by_name else "it has none yet"
            raise ModelMissing(f"{self.server.address} has no model {name!r}: ollama pull {name} ({has})")
        return ModelStatus(digest=entry.digest, context_length=await self._context_length())

    async def _context_length(self) -> int | None:
        """The longest context that the model was made for, in tokens; None where the server does not tell."""
        try:
            show = await self.server.http.post("/api/show", {"model": self.reference.model}, _OllamaShow)
        except CallError:
            return None
        lengths = [value for key, value in (show.model_info or {}).items() if key.endswith(".context_length")]
        return lengths[0] if lengths and isinstance(lengths[0], int) else None

    def _plain_body(self, messages: Sequence[Message], options: Options) -> dict[str, Any]:
        return chat_body(self.reference.model, messages, options)

    def _schema_fields(self, mode: SchemaMode, schema: Schema) -> Mapping[str, Any]:
        return {"format": dict(schema)}

    def _window(self, options: Options) -> tuple[int | None, str]:
        return window_of(options.get("num_ctx")), "num_ctx"

    def _learns(self, fault: CallError, sent: Mapping[str, Any]) -> bool:
        """False: Ollama passes over the options of a model that it does not know."""
        return False

    def _completion(self, reply: _OllamaReply, seconds: float) -> Completion:
        if reply.error is not None:
            raise self._fault_in(reply.error)
        if reply.message is None or (reply.done_reason in ("load", "unload") and not reply.message.content):
            raise CallUnreachable(f"{self.server.address}{self.path}: the answer holds no message")
        return Completion(
            text=reply.message.content or "",
            finish_reason=reply.done_reason or "stop",
            prompt_tokens=reply.prompt_eval_count,
            completion_tokens=reply.eval_count,
            seconds=seconds,
            logprobs=read_logprobs(reply.logprobs),
        )

    def _was_cut(self, completion: Completion, messages: Sequence[Message], options: Options) -> bool:
        """Whether the prompt was cut, before the answer began or to make room for it."""
        count, window = completion.prompt_tokens, window_of(options.get("num_ctx"))
        # where the context is full, a server drops the prompt's beginning and goes on
        moved = count is not None and window is not None and count <= window < count + (completion.completion_tokens or 0)
        return moved or looks_cut(messages, count, window) or self._meter.was_cut(messages, count, window)

    def _explained(self, fault: CallError, options: Options) -> Completion:
        if any(sign in str(fault) for sign in _TOO_LONG):
            window = window_of(options.get("num_ctx"))
            advice = too_small(window, "num_ctx") if window else "set num_ctx or shorten the case"
            raise PromptTooLong(f"{self.reference}: the prompt does not fit, {advice}: {fault}", status=400) from fault
        if isinstance(fault, CallRejected) and fault.status == 404:
            raise CallRejected(f"{fault}: ollama pull {self.reference.model}", status=fault.status) from fault
        raise fault


open_model = OllamaModel


async def listed(server: ModelServer) -> tuple[ListedModel, ...]:
    """The models that a server has, with digests and sizes."""
    try:
        tags = await server.look_up("/api/tags", _Tags)
    except CallRejected as fault:
        raise ModelError(f"{server.place} does not respond like an Ollama server: {fault}") from fault
    return tuple(ListedModel(name=tag.name, digest=tag.digest, size=tag.size) for tag in tags.models or ())


def chat_body(model: str, messages: Sequence[Message], options: Options) -> dict[str, Any]:
    """The body of a chat request: a few options are fields of their own, all the others go into `options` unchanged.

    The server is told to refuse a prompt that does not fit, unless the options say otherwise.
    """
    body: dict[str, Any] = {"model": model, "messages": sent(messages), "stream": False, "truncate": False}
    body |= {name: value for name, value in options.items() if name in TOP_LEVEL_OPTIONS}
    inner = {name: value for name, value in options.items() if name not in TOP_LEVEL_OPTIONS}
    if inner:
        body["options"] = inner
    return body


def looks_cut(messages: Sequence[Message], counted: int | None, window: object) -> bool:
    """Whether the server seems to have dropped part of the prompt.

    Ollama says nothing about it. The signs: the count is the whole window; or far fewer tokens were counted than the characters
    let expect, and the count is where a cut leaves it (half the window and a few tokens), or the prompt could never fit (then
    whole messages are dropped, and the count may be anything).
    """
    if counted is None:
        return False
    if fills(counted, window) if isinstance(window, int) else counted in DEFAULT_WINDOWS:
        return True
    expected = sum(len(message.content) for message in messages) / CHARACTERS_PER_TOKEN
    if expected <= counted * WIDE_MARGIN:
        return False
    if not isinstance(window, int):
        return any(_at_a_cut(counted, default) for default in DEFAULT_WINDOWS)
    return _at_a_cut(counted, window) or counted > window or expected > window * WIDE_MARGIN


def _at_a_cut(counted: int, window: int) -> bool:
    return counted in (window // 2 + 2, window // 2 + 3)
