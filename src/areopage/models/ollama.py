"""Ollama's native protocol: `/api/chat` without streaming, `/api/tags` and `/api/show`."""

import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from areopage.cases.records import Case
from areopage.errors import (
    CallError,
    CallRejected,
    CallUnreachable,
    ModelError,
    ModelMissing,
    PromptTooLong,
    ServerDown,
    name_list,
)
from areopage.models.error_bodies import error_of
from areopage.models.http import JsonServer
from areopage.models.json_chat import JsonChat
from areopage.models.port import CHARACTERS_PER_TOKEN, Completion, Message, ModelStatus, Options, Schema, sent
from areopage.models.reference import ModelReference
from areopage.models.servers import ListedModel, ServerAddress, named_endpoint, open_server, read_logprobs
from areopage.models.settings import ModelSettings
from areopage.models.window import PromptMeter, fills, too_small, window_of

DEFAULT_URL = "http://localhost:11434"
DEFAULT_PORT = 11434
# Fields of the request itself; Ollama ignores them without a word when they stand among `options`.
TOP_LEVEL_OPTIONS = frozenset({"keep_alive", "think", "logprobs", "top_logprobs", "truncate", "shift"})
# The windows, in tokens, that servers use by default when a call names no num_ctx (by version and by memory).
DEFAULT_WINDOWS = (2048, 4096, 32768, 262144)
WIDE_MARGIN = 1.3
_TOO_LONG = ("exceeds the context length", "exceeds maximum context", "context size exceeded", "exceeds the available context")


class _ReplyMessage(msgspec.Struct):
    content: str | None = None


class _Reply(msgspec.Struct):
    message: _ReplyMessage | None = None
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


class _Show(msgspec.Struct):
    model_info: dict[str, Any] | None = None


class OllamaModel(JsonChat):
    """One model of one Ollama server, as a `LanguageModel`."""

    def __init__(self, reference: ModelReference, server: JsonServer, address: ServerAddress) -> None:
        super().__init__(reference, server)
        self._address, self._meter = address, PromptMeter()

    async def check(self) -> ModelStatus:
        """Make sure that the server has the model; see `LanguageModel.check`."""
        listed = await _list(self._server, self._address)
        by_name = {model.name: model for model in listed}
        name = self._reference.model
        found = by_name.get(name) or by_name.get(f"{name}:latest")
        if found is None:
            has = f"it has: {name_list(by_name)}" if by_name else "it has none yet"
            raise ModelMissing(f"{self._server.address} has no model {name!r}: ollama pull {name} ({has})")
        return ModelStatus(digest=found.digest, context_length=await self._context_length())

    async def generate(
        self, messages: Sequence[Message], options: Options, schema: Schema | None = None, *, case: Case | None = None
    ) -> Completion:
        """Ask once; see `LanguageModel.generate`. Thinking is not part of the text.

        A prompt that cannot fit into the call's num_ctx is not sent.
        """
        window = window_of(options.get("num_ctx"))
        if refusal := self._meter.refusal(messages, window, "num_ctx"):
            raise PromptTooLong(f"{self._reference}: {refusal}")
        started = time.perf_counter()
        try:
            reply = await self._server.post("/api/chat", chat_body(self._reference.model, messages, options, schema), _Reply)
        except (CallRejected, CallUnreachable) as fault:
            raise self._told_more(fault, window) from fault
        if reply.error is not None:
            raise self._told_more(self._server.fault("/api/chat", 200, error_of({"error": reply.error}).message), window)
        if reply.message is None:
            raise CallUnreachable(f"{self._server.address}/api/chat: the answer holds no message")
        return Completion(
            text=reply.message.content or "",
            finish_reason=reply.done_reason or "stop",
            prompt_tokens=reply.prompt_eval_count,
            completion_tokens=reply.eval_count,
            seconds=time.perf_counter() - started,
            logprobs=read_logprobs(reply.logprobs),
            prompt_cut=self._was_cut(messages, reply, window),
        )

    def _was_cut(self, messages: Sequence[Message], reply: _Reply, window: int | None) -> bool:
        """Whether the prompt was cut, before the answer began or to make room for it."""
        counted = reply.prompt_eval_count
        # where the context is full, a server drops the prompt's beginning and goes on
        moved = counted is not None and window is not None and counted <= window < counted + (reply.eval_count or 0)
        return moved or looks_cut(messages, counted, window) or self._meter.was_cut(messages, counted, window)

    def _told_more(self, fault: CallError, window: int | None) -> CallError:
        """A fault with what the user can do about it, where that is known."""
        if any(sign in str(fault) for sign in _TOO_LONG):
            advice = too_small(window, "num_ctx") if window else "set num_ctx or shorten the case"
            return PromptTooLong(f"{self._reference}: the prompt does not fit, {advice}: {fault}", status=400)
        if isinstance(fault, CallRejected) and fault.status == 404:
            return CallRejected(f"{fault}: ollama pull {self._reference.model}", status=fault.status)
        return fault

    async def _context_length(self) -> int | None:
        """The longest context that the model was made for, in tokens; None where the server does not tell."""
        try:
            show = await self._server.post("/api/show", {"model": self._reference.model}, _Show)
        except CallError:
            return None
        lengths = [value for key, value in (show.model_info or {}).items() if key.endswith(".context_length")]
        return lengths[0] if lengths and isinstance(lengths[0], int) else None


def open_model(reference: ModelReference, settings: ModelSettings) -> OllamaModel:
    """Open a model of an Ollama server; nothing is called yet.

    Raises:
        ModelError: the endpoint is unknown, or an address is none.
    """
    server, address = _open(reference.endpoint, settings)
    return OllamaModel(reference, server, address)


async def list_models(settings: ModelSettings, endpoint: str = "") -> tuple[ListedModel, ...]:
    """The models that a server has, with digests and sizes; `endpoint` is "" for the usual server.

    Raises:
        ServerDown: nothing answers there.
        ModelError: the endpoint is unknown, or what answers is no Ollama server.
    """
    server, address = _open(endpoint, settings)
    try:
        return await _list(server, address)
    finally:
        await server.aclose()


def server_address(endpoint: str, settings: ModelSettings) -> ServerAddress:
    """Where the server is: the named endpoint, else OLLAMA_HOST, else the suite's preset, else this machine.

    Raises:
        ModelError: the endpoint is unknown, or what should be an address is none.
    """
    named = named_endpoint("ollama", endpoint, settings)
    if named is not None:
        return ServerAddress(url=server_url(named.base_url), source=f"endpoint {endpoint!r}")
    preset = settings.ollama_base_url
    host = settings.environment.get("OLLAMA_HOST", "").strip(" \t\r\n\"'")
    if host:
        beside = f"; the suite's preset names {_without_credentials(preset)}" if preset else ""
        return ServerAddress(url=server_url(host), source=f"OLLAMA_HOST{beside}")
    if preset:
        return ServerAddress(url=server_url(preset), source="the suite's active preset; OLLAMA_HOST would override it")
    return ServerAddress(url=DEFAULT_URL, source="the default; OLLAMA_HOST names another")


def server_url(host: str) -> str:
    """Read an address as Ollama's own tools do: `host`, `host:port`, `:port`, `http(s)://host[:port][/path]`.

    Without a scheme the port is 11434 by default; with one it is the scheme's. An address to listen on (0.0.0.0, ::)
    is taken as this machine.

    Raises:
        ModelError: it is no address.
    """
    scheme, separator, rest = host.strip().partition("://")
    if not separator:
        scheme, rest = "http", scheme
    try:
        parts = urlsplit(f"{scheme}://{rest}")
        name, port = parts.hostname or "127.0.0.1", parts.port
    except ValueError as error:
        raise ModelError(f"{_without_credentials(host)!r} is not the address of an Ollama server: write host:port") from error
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(name, name)  # noqa: S104
    if ":" in name:
        name = f"[{name}]"
    if port is None and not separator:
        port = DEFAULT_PORT
    user_info, at, _ = parts.netloc.rpartition("@")
    return f"{scheme}://{user_info}{at}{name}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}"


def chat_body(model: str, messages: Sequence[Message], options: Options, schema: Schema | None) -> dict[str, Any]:
    """The body of a chat request: a few options are fields of their own, all the others go into `options` unchanged.

    The server is told to refuse a prompt that does not fit, unless the options say otherwise.
    """
    body: dict[str, Any] = {"model": model, "messages": sent(messages), "stream": False, "truncate": False}
    body |= {name: value for name, value in options.items() if name in TOP_LEVEL_OPTIONS}
    inner = {name: value for name, value in options.items() if name not in TOP_LEVEL_OPTIONS}
    if inner:
        body["options"] = inner
    if schema is not None:
        body["format"] = dict(schema)
    return body


def looks_cut(messages: Sequence[Message], counted: int | None, window: object) -> bool:
    """Whether the server seems to have dropped part of the prompt.

    Ollama says nothing about it. The signs: the count is the whole window; or far fewer tokens were counted than the characters
    let expect, and the count is where a cut leaves it (half the window and a few tokens), or the prompt could never fit (then
    whole messages are dropped, and the count may be anything).

    Args:
        messages: what was sent.
        counted: how many prompt tokens the server counted; None where it is silent.
        window: the call's num_ctx, if it names one.
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


def _open(endpoint: str, settings: ModelSettings) -> tuple[JsonServer, ServerAddress]:
    address = server_address(endpoint, settings)
    named = named_endpoint("ollama", endpoint, settings)
    headers: Mapping[str, str] = named.headers if named else {}
    key = settings.environment.get(named.api_key_env, "").strip() if named else ""
    return open_server(address.url, settings, headers=headers, api_key=key), address


async def _list(server: JsonServer, address: ServerAddress) -> tuple[ListedModel, ...]:
    try:
        tags = await server.get("/api/tags", _Tags)
    except CallRejected as fault:
        raise ModelError(f"{server.address} ({address.source}) does not respond like an Ollama server: {fault}") from fault
    except CallError as fault:
        raise ServerDown(
            f"no Ollama server answers at {server.address} ({address.source}): start it with: ollama serve [{fault}]"
        ) from fault
    return tuple(ListedModel(name=tag.name, digest=tag.digest, size=tag.size) for tag in tags.models or ())


def _without_credentials(address: str) -> str:
    return address.rpartition("@")[2]
