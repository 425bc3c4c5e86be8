"""The Messages API of Anthropic: `/v1/messages` and `/v1/models`, without streaming.

Written from Anthropic's documentation as it stood in autumn 2026, with the header `anthropic-version: 2023-06-01`: messages, stop
reasons, structured outputs (`output_config.format`), prompt caching, errors and rate limits.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from areopage.cases.records import Case
from areopage.errors import CallError, CallRejected, ModelError, ModelMissing, PromptTooLong, ServerDown
from areopage.models.anthropic_messages import Reply, completion_of, message_body, schema_fields, unsent_options
from areopage.models.http import JsonServer
from areopage.models.json_chat import HostedModel
from areopage.models.port import SERVER, Completion, Message, ModelStatus, Options, Schema
from areopage.models.reference import ModelReference
from areopage.models.servers import KeyedServer, ListedModel, ServerAddress, named_endpoint, open_server
from areopage.models.settings import ModelSettings

DEFAULT_URL = "https://api.anthropic.com"
URL_VARIABLE = "ANTHROPIC_BASE_URL"
KEY_VARIABLE = "ANTHROPIC_API_KEY"
KEY_HEADER = "x-api-key"
VERSION = "2023-06-01"
MESSAGES = "/v1/messages"

SchemaMode = Literal["json_schema", "tool", "none"]
MODES: tuple[SchemaMode, ...] = ("json_schema", "tool", "none")
"""How the model is held to a schema, in the order in which it is tried: older models have no structured outputs."""
_OF_SCHEMA = ("output_config", "output format", "structured output", "schema", "tool_choice", "tools")
_TOO_LONG = ("prompt is too long", "exceed context limit", "exceeds the maximum")
_PAGE = 1000


class _ServerModel(msgspec.Struct):
    id: str
    max_input_tokens: int | None = None


class _ServerModels(msgspec.Struct):
    data: list[_ServerModel] | None = None
    has_more: bool = False
    last_id: str | None = None


class AnthropicModel(HostedModel[SchemaMode]):
    """One model of the Messages API, as a `LanguageModel`."""

    def __init__(self, reference: ModelReference, connection: "Connection") -> None:
        super().__init__(reference, connection.server, MODES)
        self._connection = connection

    async def check(self) -> ModelStatus:
        """Look the model up; see `LanguageModel.check`. There is no digest of weights: the server's address stands in for it."""
        self._connection.require_key()
        name = self._reference.model
        try:
            found = await self._server.get(f"/v1/models/{_path_part(name)}", _ServerModel)
        except CallRejected as fault:
            self._connection.complain_of_key(fault)
            advice = "areopage models list anthropic"
            raise ModelMissing(f"{self._server.address} has no model {name!r}: {advice} [{fault}]") from fault
        except CallError as fault:
            raise self._connection.down(fault) from fault
        return ModelStatus(digest=f"{SERVER}{self._server.address}", context_length=found.max_input_tokens)

    async def generate(
        self, messages: Sequence[Message], options: Options, schema: Schema | None = None, *, case: Case | None = None
    ) -> Completion:
        """Ask once, or once more where the model does not take the schema or an option; see `LanguageModel.generate`."""

        def read(reply: Reply, seconds: float) -> Completion:
            return completion_of(reply, self._server, seconds, self.notes(options))

        try:
            return await self._ask(MESSAGES, message_body(self._reference.model, messages, options), schema, Reply, read)
        except CallRejected as fault:
            raise told_more(self._reference, fault) from fault

    def body(self, messages: Sequence[Message], options: Options, schema: Schema | None = None) -> dict[str, Any]:
        """The body of a call, for a service that makes it later."""
        plain = message_body(self._reference.model, messages, options)
        if schema is not None:
            plain |= schema_fields(self._modes[0], schema)
        return self._untaken.applied(plain)

    def notes(self, options: Options) -> tuple[str, ...]:
        """What is noted of a call with these options."""
        return self._untaken.notes(options, unsent_options(options))

    def learn(self, fault: CallRejected, options: Options) -> bool:
        """Learn from the rejection of a call that a service made; whether it is worth another try."""
        if len(self._modes) > 1 and _is_about_schema(fault):
            self._modes = self._modes[1:]
            return True
        return self._untaken.learn(fault, message_body(self._reference.model, (Message("user", "ok"),), options))

    def read(self, reply: Reply, options: Options) -> Completion:
        """Read an answer that a service brought; its time is not known and is 0.

        Raises:
            CallError: it holds none.
        """
        return completion_of(reply, self._server, 0.0, self.notes(options))

    def _schema_fields(self, mode: SchemaMode, schema: Schema) -> Mapping[str, Any]:
        return schema_fields(mode, schema)

    def _following(self, fault: CallRejected, at: int, last: int) -> int | None:
        return at + 1 if _is_about_schema(fault) else None


class Connection(KeyedServer):
    """The server, with what messages about it need: who named it, and which variable holds its key."""

    def __init__(self, server: JsonServer, address: ServerAddress, key_variable: str, *, has_key: bool) -> None:
        is_providers = urlsplit(address.url).hostname == urlsplit(DEFAULT_URL).hostname
        super().__init__(server, key_variable, lacks_key=not has_key and is_providers)
        self._address = address

    def down(self, fault: CallError) -> ServerDown:
        """The exception for a server that does not answer."""
        return ServerDown(
            f"no server of the Messages API answers at {self.server.address} ({self._address.source}): "
            f"correct the address [{fault}]"
        )


def open_model(reference: ModelReference, settings: ModelSettings) -> AnthropicModel:
    """Open a model; nothing is called yet.

    Raises:
        ModelError: the endpoint is unknown, or an address is none.
    """
    return AnthropicModel(reference, connect(reference.endpoint, settings))


async def list_models(settings: ModelSettings, endpoint: str = "") -> tuple[ListedModel, ...]:
    """The models that the server lists; `endpoint` is "" for Anthropic's own.

    Raises:
        ServerDown: nothing answers there.
        ModelError: the endpoint is unknown, or the key is missing or refused.
    """
    connection = connect(endpoint, settings)
    connection.require_key()
    try:
        found = await connection.server.ask("/v1/models", [("limit", str(_PAGE))], _ServerModels)
    except CallRejected as fault:
        connection.complain_of_key(fault)
        raise ModelError(f"{connection.server.address} does not list its models: {fault}") from fault
    except CallError as fault:
        raise connection.down(fault) from fault
    finally:
        await connection.server.aclose()
    return tuple(ListedModel(name=one.id, context_length=one.max_input_tokens) for one in found.data or ())


def connect(endpoint: str, settings: ModelSettings) -> Connection:
    """Find the server; a named endpoint gets only the key that it names.

    Raises:
        ModelError: the endpoint is unknown or may not be sent its key, or an address is none.
    """
    named = named_endpoint("anthropic", endpoint, settings)
    address = server_address(endpoint, settings)
    variable = named.api_key_env if named is not None else KEY_VARIABLE
    key = settings.environment.get(variable, "").strip()
    given: Mapping[str, str] = named.headers if named is not None else {}
    headers = {"anthropic-version": VERSION, **({KEY_HEADER: key} if key else {}), **given}
    has_key = bool({KEY_HEADER, "authorization"} & {name.lower() for name in headers})
    server = open_server(address.url.strip().rstrip("/").removesuffix("/v1"), settings, headers=headers)
    return Connection(server, address, variable or "that the endpoint's api_key_env names", has_key=has_key)


def server_address(endpoint: str, settings: ModelSettings) -> ServerAddress:
    """Where the server is: the named endpoint, else ANTHROPIC_BASE_URL, else Anthropic's own.

    Raises:
        ModelError: the endpoint is unknown, or may not be sent its key.
    """
    named = named_endpoint("anthropic", endpoint, settings)
    if named is not None:
        return ServerAddress(url=named.base_url, source=f"endpoint {endpoint!r}")
    if base_url := settings.environment.get(URL_VARIABLE, "").strip():
        return ServerAddress(url=base_url, source=URL_VARIABLE)
    return ServerAddress(url=DEFAULT_URL, source=f"the default; {URL_VARIABLE} names another")


def _is_about_schema(fault: CallRejected) -> bool:
    return fault.status == 400 and any(sign in str(fault).lower() for sign in _OF_SCHEMA)


def told_more(reference: ModelReference, fault: CallRejected) -> CallRejected:
    """A rejection as the kind of fault that it is: too long a prompt, or an account without money."""
    message = str(fault).lower()
    if fault.status in (400, 413) and any(sign in message for sign in _TOO_LONG):
        return PromptTooLong(f"{reference}: the prompt does not fit: {fault}", status=fault.status)
    if fault.status == 400 and "credit balance is too low" in message:
        return CallRejected(str(fault), status=402, code=fault.code)
    return fault


def _path_part(name: str) -> str:
    """A model's name as a part of a path.

    Raises:
        ModelError: it is no name of a model.
    """
    if not name or not all(char.isalnum() or char in "-_.:@" for char in name) or set(name) <= {"."}:
        raise ModelError(f"{name[:60]!r} is not the name of a model of Anthropic: areopage models list anthropic")
    return name
