"""Where a server of the OpenAI protocol is, which key it is sent, and what it lists."""

from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from areopage.errors import CallError, CallRejected, ModelError, ServerDown
from areopage.models.dialects import DIALECTS, OPENAI, Dialect, SchemaMode, modes_of, place_of, version_of
from areopage.models.http import JsonServer, Query
from areopage.models.servers import KeyedServer, ListedModel, ServerAddress, named_endpoint, open_server
from areopage.models.settings import ModelSettings

MOST_SLOTS = 1024


class _ServerModel(msgspec.Struct):
    """A listed model; servers name its window in different ways."""

    id: str
    max_model_len: int | None = None  # vLLM
    context_length: int | None = None  # OpenRouter, Together
    max_context_length: int | None = None  # Mistral
    context_window: int | None = None  # Groq

    @property
    def window(self) -> int | None:
        """In tokens; None where the server does not tell."""
        return self.max_model_len or self.context_length or self.max_context_length or self.context_window or None


class _ServerModels(msgspec.Struct):
    data: list[_ServerModel] | None = None


class _Props(msgspec.Struct):
    total_slots: Annotated[int, msgspec.Meta(ge=1, le=MOST_SLOTS)] | None = None


class Connection(KeyedServer):
    """A server with what messages about it need: who named it, and which variable holds its key."""

    def __init__(
        self,
        server: JsonServer,
        root: JsonServer,
        address: ServerAddress,
        key_variable: str,
        *,
        has_key: bool,
        dialect: Dialect = OPENAI,
        modes: tuple[SchemaMode, ...] = OPENAI.modes,
        query: Query | None = None,
    ) -> None:
        is_providers = not dialect.host or urlsplit(address.url).hostname == dialect.host
        super().__init__(server, key_variable, lacks_key=not has_key and dialect.needs_key and is_providers)
        self._root = root
        self._address = address
        self.dialect, self.modes, self.query = dialect, modes, query
        # a provider's own server refuses what does not fit
        self.may_cut = not (dialect.hosted and is_providers)

    async def models(self) -> tuple[ListedModel, ...] | None:
        """What the server lists; None where it has no list.

        Raises:
            ServerDown: nothing answers.
            ModelError: the key is missing or refused, or the server refuses to tell.
        """
        self.require_key()
        if not self.dialect.lists:
            return None
        try:
            found = await self.server.get("/models", _ServerModels | list[_ServerModel])  # type: ignore[arg-type]
        except CallRejected as fault:
            if fault.status == 404:
                return None
            self.complain_of_key(fault)
            raise ModelError(f"{self.server.address} ({self._address.source}) does not list its models: {fault}") from fault
        except CallError as fault:
            raise self.down(fault) from fault
        models = found if isinstance(found, list) else found.data or ()
        return tuple(ListedModel(name=model.id, context_length=model.window) for model in models)

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

    def down(self, fault: CallError) -> ServerDown:
        """The exception for a server that does not answer."""
        return ServerDown(
            f"no OpenAI-compatible server answers at {self.server.address} ({self._address.source}): "
            f"start it, or correct the address [{fault}]"
        )


async def list_models(settings: ModelSettings, endpoint: str = "", provider: str = "openai") -> tuple[ListedModel, ...]:
    """The models that a server lists; `endpoint` is "" for the usual server.

    Raises:
        ServerDown: nothing answers there.
        ModelError: the endpoint is unknown, the key is missing or refused, or the server has no list.
    """
    if not DIALECTS[provider].lists:
        raise ModelError(f"{provider} does not list what can be called there: name a deployment, as in {provider}:NAME")
    connection = connect(endpoint, settings, provider)
    try:
        listed = await connection.models()
    finally:
        await connection.server.aclose()
    if listed is None:
        raise ModelError(f"{connection.server.address} does not list models: correct the base URL, which usually ends in /v1")
    return listed


def connect(endpoint: str, settings: ModelSettings, provider: str = "openai", model: str = "") -> Connection:
    """Find the server.

    A provider's key goes to the server that the environment means, and to the provider's; to a named endpoint only the key
    that it names, so that no key reaches a stranger.

    Args:
        model: what is called there; only Azure's paths depend on it.

    Raises:
        ModelError: the endpoint is unknown or may not be sent its key, or an address is none.
    """
    dialect = DIALECTS[provider]
    named = named_endpoint(provider, endpoint, settings)
    address = server_address(endpoint, settings, provider)
    place = place_of(dialect, address.url, version_of(named, settings.environment), model)
    variable = named.api_key_env if named is not None else dialect.key_variable
    key = settings.environment.get(variable, "").strip()
    given = named.headers if named is not None else {}
    headers = {**dialect.headers(key), **given}
    bearer = "" if dialect.key_header else key
    has_key = bool(key) or bool({"authorization", dialect.key_header} & {name.lower() for name in given})
    server = open_server(place.url, settings, headers=headers, api_key=bearer)
    root = open_server(place.url.strip().rstrip("/").removesuffix("/v1"), settings, headers=headers, api_key=bearer)
    return Connection(
        server,
        root,
        address,
        variable or "that the endpoint's api_key_env names",
        has_key=has_key,
        dialect=dialect,
        modes=modes_of(dialect, named),
        query=place.query or None,
    )


def server_address(endpoint: str, settings: ModelSettings, provider: str = "openai") -> ServerAddress:
    """Where the server is: the named endpoint, else that of the provider's variable, else the provider's own.

    Raises:
        ModelError: the endpoint is unknown, or may not be sent its key, or no address is known.
    """
    dialect = DIALECTS[provider]
    named = named_endpoint(provider, endpoint, settings)
    if named is not None:
        return ServerAddress(url=named.base_url, source=f"endpoint {endpoint!r}")
    if base_url := settings.environment.get(dialect.url_variable, "").strip():
        return ServerAddress(url=base_url, source=dialect.url_variable)
    if not dialect.url:
        raise ModelError(f"{provider} needs the address of your resource: set the environment variable {dialect.url_variable}")
    return ServerAddress(url=dialect.url, source=f"the default; {dialect.url_variable} names another")
