"""Model servers: how a provider's server is reached and which key it is sent, and the proxy on the way."""

import ipaddress
from collections.abc import Mapping
from functools import partial
from typing import TypeVar
from urllib.parse import urlsplit

from msgspec import Struct

from areopage.errors import CallError, CallRejected, CallUnreachable, MissingKey, ModelError, ServerDown
from areopage.models.http import JsonServer, Query
from areopage.models.known_providers import KNOWN_PROVIDERS, SchemaMode, place_of
from areopage.models.settings import ModelSettings

T = TypeVar("T")


class ListedModel(Struct, frozen=True, kw_only=True):
    """A model that a server offers.

    `digest` is "" and `size` (bytes) and `context_length` (tokens) are None where the server does not tell.
    """

    name: str
    digest: str = ""
    size: int | None = None
    context_length: int | None = None


class ModelServer:
    """A provider's server, with what messages about it need: who named it, and which variable holds its key.

    A provider's key goes to the server that the environment means, and to the provider's; to a named endpoint only the key
    that it names, so that no key reaches a stranger.
    """

    def __init__(self, provider_name: str, endpoint: str, settings: ModelSettings, model: str = "") -> None:
        """Find the server; nothing is called.

        Args:
            endpoint: a named server, "" for the usual one.
            model: what is called there; only Azure's paths depend on it.
        """
        provider, named = KNOWN_PROVIDERS[provider_name], settings.endpoint_named(endpoint, provider_name)
        address, self._source = settings.address_of(provider_name, endpoint)
        api_version = named.api_version if named is not None else None
        self._url, query = place_of(provider, address, api_version, settings.environment, model)
        variable = named.api_key_env if named is not None else provider.key_variable
        key = settings.environment.get(variable, "").strip()
        headers = dict(provider.headers)
        if key and provider.key_header:
            headers[provider.key_header] = key
        headers |= named.headers if named is not None else {}
        names = {name.lower() for name in headers}
        if key and not provider.key_header and "authorization" not in names:
            headers["Authorization"] = f"Bearer {key}"
        is_providers = not provider.host or urlsplit(address).hostname == provider.host
        has_key = bool(key or {"authorization", provider.key_header} & names)
        self._key_variable = variable or "that the endpoint's api_key_env names"
        self._lacks_key = not has_key and provider.needs_key and is_providers
        self._open_at = partial(open_transport, settings=settings, headers=headers)
        self.http, self.provider, self.query = self._open_at(self._url), provider, query or None
        chosen = named.schema_mode if named is not None else "auto"
        self.modes: tuple[SchemaMode, ...] = provider.modes
        if chosen != "auto" and provider.protocol == "openai":
            self.modes = (chosen,)
        # a provider's own server refuses what does not fit
        self.may_cut = not (provider.hosted and is_providers)

    @property
    def address(self) -> str:
        """Its address, without credentials."""
        return self.http.address

    @property
    def place(self) -> str:
        """Its address, and who named it."""
        return f"{self.address} ({self._source})"

    def require_key(self) -> None:
        """Raise a ModelError where the key is missing."""
        if self._lacks_key:
            raise MissingKey(f"{self.address} requires an API key: set the environment variable {self._key_variable}")

    def complain_of_key(self, fault: CallRejected) -> None:
        """Raise a ModelError that names the key's variable if the fault is about the key."""
        if fault.status in (401, 403):
            raise ModelError(
                f"{self.address} rejects the API key: correct the environment variable {self._key_variable} [{fault}]"
            ) from fault

    async def look_up(self, path: str, into: type[T], query: Query | None = None) -> T:
        """Ask what the server has.

        Raises:
            ServerDown: nothing answers.
            ModelError: the key is missing or refused.
            CallRejected: the server refuses to tell for another reason.
        """
        self.require_key()
        try:
            return await (self.http.get(path, into) if query is None else self.http.ask(path, query, into))
        except CallRejected as fault:
            self.complain_of_key(fault)
            raise
        except CallError as fault:
            raise self.down(fault) from fault

    async def look_up_root(self, path: str, into: type[T]) -> T | None:
        """What stands at a path beside the API's own, which ends in /v1; None where the server does not tell."""
        root = self._open_at(self._url.strip().rstrip("/").removesuffix("/v1"))
        try:
            return await root.get(path, into)
        except CallError:
            return None
        finally:
            await root.aclose()

    def down(self, fault: CallError) -> ServerDown:
        """The exception for a server that does not answer, or takes no more calls."""
        if isinstance(fault, CallUnreachable) and fault.retry_after is not None:
            return ServerDown(f"{self.place} takes no more calls: try again later [{fault}]")
        return ServerDown(f"no {self.provider.kind} answers at {self.place}: {self.provider.advice} [{fault}]")


def open_transport(url: str, settings: ModelSettings, headers: Mapping[str, str]) -> JsonServer:
    """A transport with the user's limits."""
    return JsonServer(
        url,
        headers=headers,
        timeouts=settings.timeouts,
        connections=settings.connections,
        proxy=environment_proxy(url, settings.environment),
    )


def environment_proxy(base_url: str, environment: Mapping[str, str]) -> str | None:
    """The proxy that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY name for an address; never one for loopback.

    The variable of the address's scheme goes before ALL_PROXY, and a name in lower case before the same in upper case.
    """
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:  # no address: the transport says so
        return None
    variables = {name.lower(): name for name, value in sorted(environment.items()) if value}
    variable = variables.get(f"{parts.scheme}_proxy") or variables.get("all_proxy")
    if not variable or is_loopback(host):
        return None
    uncovered = environment[variables["no_proxy"]] if "no_proxy" in variables else ""
    if any(_covers(entry.strip().lower(), host, port) for entry in uncovered.split(",")):
        return None
    proxy = environment[variable] if "://" in environment[variable] else f"http://{environment[variable]}"
    if (kind := proxy.partition("://")[0].lower()) not in ("http", "https"):
        usual = f"{parts.scheme.upper()}_PROXY"
        raise ModelError(
            f"{variable} names a {kind} proxy, and only HTTP proxies are supported: "
            f"name one in {usual}, or add {host} to NO_PROXY"
        )
    return proxy


def _covers(entry: str, host: str, port: int) -> bool:
    """Whether an entry of NO_PROXY covers a host: `*`, the host, a domain that it belongs to, or a network such as 10.0.0.0/8.

    A domain may begin with a dot or with `*.`; a port may follow.
    """
    if "/" in entry:
        try:
            return ipaddress.ip_address(host) in ipaddress.ip_network(entry, strict=False)
        except ValueError:
            return False
    name, colon, number = entry.rpartition(":")
    if colon and number.isdecimal() and (":" not in name or name.endswith("]")):
        if int(number) != port:
            return False
        entry = name
    entry = entry.strip("[]").removeprefix("*.").removeprefix(".")
    return entry == "*" or (bool(entry) and (host == entry or host.endswith(f".{entry}")))


def is_loopback(host: str) -> bool:
    """Whether a host is this very machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
