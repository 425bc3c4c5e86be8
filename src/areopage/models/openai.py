"""The OpenAI chat protocol, as OpenAI and every compatible server speak it: `/chat/completions` and `/models`."""

import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
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
from areopage.models.http import JsonServer, error_text
from areopage.models.port import Completion, Message, ModelStatus, Options, Schema, sent
from areopage.models.rate_headers import Allowance
from areopage.models.reference import ModelReference
from areopage.models.servers import ListedModel, ServerAddress, named_endpoint, open_server, read_logprobs
from areopage.models.settings import ModelSettings
from areopage.models.window import PromptMeter, window_of

DEFAULT_URL = "https://api.openai.com/v1"
KEY_REQUIRED_HOST = "api.openai.com"
DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
# Left out of every call: they size or place a model in memory, which no server of this protocol lets a caller do,
# and strict servers refuse a call with a name they do not know.
OLLAMA_ONLY_OPTIONS: frozenset[str] = frozenset(
    {
        "keep_alive",
        "low_vram",
        "main_gpu",
        "num_batch",
        "num_ctx",
        "num_gpu",
        "num_keep",
        "num_thread",
        "numa",
        "think",
        "use_mlock",
        "use_mmap",
    }
)
MOST_SLOTS = 1024
PROBE = (Message("user", "ok"),)


class _Part(msgspec.Struct):
    type: str = "text"
    text: str | None = None


class _ReplyMessage(msgspec.Struct):
    content: str | list[_Part] | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _ReplyMessage
    finish_reason: str | None = None
    logprobs: Any = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Reply(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None


class _ServerModel(msgspec.Struct):
    id: str
    max_model_len: int | None = None


class _ServerModels(msgspec.Struct):
    data: list[_ServerModel] | None = None


class _Props(msgspec.Struct):
    total_slots: Annotated[int, msgspec.Meta(ge=1, le=MOST_SLOTS)] | None = None


class OpenAIModel:
    """One model of one server of the OpenAI protocol, as a `LanguageModel`."""

    def __init__(self, reference: ModelReference, connection: "Connection") -> None:
        self._reference = reference
        self._connection = connection
        self._server = connection.server
        # Learnt from the server's first refusal of a response_format.
        self._schema_refused = False
        self._meter = PromptMeter()
        self._context_length: int | None = None
        self._slots: int | None = None

    @property
    def reference(self) -> ModelReference:
        """What the user called it."""
        return self._reference

    @property
    def max_concurrency(self) -> int | None:
        """The server's slots, where `check` found that it tells; None: the caller decides."""
        return self._slots

    def allowances(self) -> tuple[Allowance, ...]:
        """What the server said is left of its limits; see `JsonServer.allowances`."""
        return self._server.allowances()

    async def check(self) -> ModelStatus:
        """Make sure that the model answers; see `LanguageModel.check`.

        A gateway may serve models that it does not list, or list none: then one call for one token tells. The protocol has no
        digest of weights, and one name may stand for two models on two servers: the address stands in for it.
        """
        digest = f"server {self._server.address}"
        listed = await self._connection.models()
        name = self._reference.model
        found = next((model for model in listed or () if model.name == name), None)
        if found is not None:
            self._context_length, self._slots = found.context_length, await self._connection.slots()
            return ModelStatus(digest=digest, context_length=found.context_length, slots=self._slots)
        try:
            await self._ask(chat_body(name, PROBE, {"max_tokens": 1}))
        except CallRejected as fault:
            self._connection.complain_of_key(fault)
            if listed is None:
                advice = "correct the model's name, or the base URL, which usually ends in /v1"
            else:
                advice = f"it has: {name_list(model.name for model in listed)}" if listed else "it lists none"
            raise ModelMissing(f"{self._server.address} has no model {name!r} ({advice}) [{fault}]") from fault
        except CallError as fault:
            raise self._connection.down(fault) from fault
        return ModelStatus(digest=digest)

    async def generate(
        self, messages: Sequence[Message], options: Options, schema: Schema | None = None, *, case: Case | None = None
    ) -> Completion:
        """Ask once, or once more without the schema where the server refuses it; see `LanguageModel.generate`.

        The option num_ctx is not sent, since no server of this protocol takes it. A count that equals it is a sign of a cut all
        the same: some servers cut a longer prompt to a window of their own.
        """
        self._refuse_too_long(messages)
        return self._marked(await self._answer(messages, options, schema), messages, options)

    def body(self, messages: Sequence[Message], options: Options, schema: Schema | None = None) -> dict[str, Any]:
        """The body of a call, for a service that makes it later.

        Raises:
            PromptTooLong: see `generate`.
        """
        self._refuse_too_long(messages)
        plain = chat_body(self._reference.model, messages, options)
        return plain if schema is None else {**plain, "response_format": response_format(schema)}

    def read(self, reply: bytes, messages: Sequence[Message], options: Options) -> Completion:
        """Read the body of an answer that a service brought; its time is not known and is 0.

        Raises:
            CallError: it is an error, or not an answer.
        """
        try:
            found = msgspec.json.decode(reply, type=_Reply)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise CallUnreachable(f"{self._server.address}: the answer is not the JSON expected") from error
        return self._marked(self._completion(found, 0.0), messages, options)

    def _refuse_too_long(self, messages: Sequence[Message]) -> None:
        if refusal := self._meter.refusal(messages, self._context_length, "the server's context length"):
            raise PromptTooLong(f"{self._reference}: {refusal}")

    def _marked(self, completion: Completion, messages: Sequence[Message], options: Options) -> Completion:
        """A completion that says whether the server cut the prompt."""
        counted = completion.prompt_tokens
        window = self._context_length or window_of(options.get("num_ctx"))
        unknown = self._context_length is None and self._connection.may_cut
        cut = unknown and self._meter.fills_a_usual_window(messages, counted)
        cut = cut or self._meter.was_cut(messages, counted, window)
        return msgspec.structs.replace(completion, prompt_cut=cut)

    async def _answer(self, messages: Sequence[Message], options: Options, schema: Schema | None) -> Completion:
        plain = chat_body(self._reference.model, messages, options)
        if schema is None or self._schema_refused:
            return await self._ask(plain)
        try:
            return await self._ask({**plain, "response_format": response_format(schema)})
        except CallRejected as fault:
            if fault.status not in (400, 422):
                raise
        completion = await self._ask(plain)
        # Only now is it known that the schema was the reason.
        self._schema_refused = True
        return completion

    async def aclose(self) -> None:
        """Close the connections."""
        await self._server.aclose()

    async def _ask(self, body: Mapping[str, Any]) -> Completion:
        started = time.perf_counter()
        reply = await self._server.post("/chat/completions", dict(body), _Reply)
        return self._completion(reply, time.perf_counter() - started)

    def _completion(self, reply: _Reply, seconds: float) -> Completion:
        if reply.error is not None:
            raise self._server.fault("/chat/completions", _error_status(reply.error), error_text({"error": reply.error}))
        if not reply.choices:
            raise CallUnreachable(f"{self._server.address}/chat/completions: the answer holds no choice")
        choice = reply.choices[0]
        usage = reply.usage or _Usage()
        text, finish_reason = _text(choice.message), choice.finish_reason or "stop"
        if choice.message.refusal:
            text, finish_reason = choice.message.refusal, "refusal"
        tokens = choice.logprobs.get("content") if isinstance(choice.logprobs, dict) else None
        return Completion(
            text=text,
            finish_reason=finish_reason,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            seconds=seconds,
            logprobs=read_logprobs(tokens),
        )


class Connection:
    """A server with what messages about it need: who named it, and which variable holds its key."""

    def __init__(self, server: JsonServer, root: JsonServer, address: ServerAddress, key_variable: str, *, has_key: bool) -> None:
        self.server = server
        self._root = root
        self._address = address
        self._key_variable = key_variable
        # OpenAI's own refuses what does not fit
        self.may_cut = urlsplit(address.url).hostname != KEY_REQUIRED_HOST
        self._lacks_key = not has_key and urlsplit(address.url).hostname == KEY_REQUIRED_HOST

    async def models(self) -> tuple[ListedModel, ...] | None:
        """What the server lists; None where it has no list.

        Raises:
            ServerDown: nothing answers.
            ModelError: the key is missing or refused, or the server refuses to tell.
        """
        if self._lacks_key:
            raise ModelError(f"{self.server.address} requires an API key: set the environment variable {self._key_variable}")
        try:
            found = await self.server.get("/models", _ServerModels)
        except CallRejected as fault:
            if fault.status == 404:
                return None
            self.complain_of_key(fault)
            raise ModelError(f"{self.server.address} ({self._address.source}) does not list its models: {fault}") from fault
        except CallError as fault:
            raise self.down(fault) from fault
        return tuple(ListedModel(name=model.id, context_length=model.max_model_len) for model in found.data or ())

    async def slots(self) -> int | None:
        """How many calls the server works on at once; None where it does not tell. The server of llama.cpp does."""
        if not self.may_cut:
            return None
        try:
            return (await self._root.get("/props", _Props)).total_slots
        except CallError:
            return None
        finally:
            await self._root.aclose()

    def complain_of_key(self, fault: CallRejected) -> None:
        """Raise a ModelError that names the key's variable if the fault is about the key."""
        if fault.status in (401, 403):
            raise ModelError(
                f"{self.server.address} rejects the API key: correct the environment variable {self._key_variable} [{fault}]"
            ) from fault

    def down(self, fault: CallError) -> ServerDown:
        """The exception for a server that does not answer."""
        return ServerDown(
            f"no OpenAI-compatible server answers at {self.server.address} ({self._address.source}): "
            f"start it, or correct the address [{fault}]"
        )


def open_model(reference: ModelReference, settings: ModelSettings) -> OpenAIModel:
    """Open a model of a compatible server; nothing is called yet.

    Raises:
        ModelError: the endpoint is unknown, or an address is none.
    """
    return OpenAIModel(reference, connect(reference.endpoint, settings))


async def list_models(settings: ModelSettings, endpoint: str = "") -> tuple[ListedModel, ...]:
    """The models that a server lists; `endpoint` is "" for the usual server.

    Raises:
        ServerDown: nothing answers there.
        ModelError: the endpoint is unknown, the key is missing or refused, or the server has no list.
    """
    connection = connect(endpoint, settings)
    try:
        listed = await connection.models()
    finally:
        await connection.server.aclose()
    if listed is None:
        raise ModelError(f"{connection.server.address} does not list models: correct the base URL, which usually ends in /v1")
    return listed


def connect(endpoint: str, settings: ModelSettings) -> Connection:
    """Find the server.

    OPENAI_API_KEY goes to the server that the environment means, and to OpenAI's; to a named endpoint only the key
    that it names, so that no key reaches a stranger.

    Raises:
        ModelError: the endpoint is unknown or may not be sent its key, or an address is none.
    """
    named = named_endpoint("openai", endpoint, settings)
    address = server_address(endpoint, settings)
    variable = named.api_key_env if named is not None else DEFAULT_KEY_VARIABLE
    key = settings.environment.get(variable, "").strip()
    headers = named.headers if named is not None else {}
    has_key = bool(key) or "authorization" in {name.lower() for name in headers}
    server = open_server(address.url, settings, headers=headers, api_key=key)
    root = open_server(address.url.strip().rstrip("/").removesuffix("/v1"), settings, headers=headers, api_key=key)
    return Connection(server, root, address, variable or "that the endpoint's api_key_env names", has_key=has_key)


def server_address(endpoint: str, settings: ModelSettings) -> ServerAddress:
    """Where the server is: the named endpoint, else OPENAI_BASE_URL, else OpenAI's own.

    Raises:
        ModelError: the endpoint is unknown, or may not be sent its key.
    """
    named = named_endpoint("openai", endpoint, settings)
    if named is not None:
        return ServerAddress(url=named.base_url, source=f"endpoint {endpoint!r}")
    if base_url := settings.environment.get("OPENAI_BASE_URL", "").strip():
        return ServerAddress(url=base_url, source="OPENAI_BASE_URL")
    return ServerAddress(url=DEFAULT_URL, source="the default; OPENAI_BASE_URL names another")


def chat_body(model: str, messages: Sequence[Message], options: Options) -> dict[str, Any]:
    """The body of a chat request: options as they are given, but for those that only Ollama knows.

    `num_predict` becomes `max_tokens` where it is a limit (in Ollama -1 and -2 are none) and `max_tokens` is not given.
    """
    body = {name: value for name, value in options.items() if name not in OLLAMA_ONLY_OPTIONS}
    limit = body.pop("num_predict", None)
    if isinstance(limit, int) and limit > 0:
        body.setdefault("max_tokens", limit)
    return {**body, "model": model, "messages": sent(messages), "stream": False}


def response_format(schema: Schema) -> dict[str, Any]:
    """A JSON schema as the protocol wants it."""
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": dict(schema)}}


def _text(message: _ReplyMessage) -> str:
    """The text of an answer; where it comes in parts, those of type "text" (others hold the reasoning)."""
    if isinstance(message.content, list):
        return "".join(part.text or "" for part in message.content if part.type == "text")
    return message.content or ""


def _error_status(error: object) -> int:
    """The HTTP status that a gateway puts into an error object inside a 200; 200 where there is none."""
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 200
