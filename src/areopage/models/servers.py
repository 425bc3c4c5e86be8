"""What the adapters of model servers share: where a server is and how it is reached, what it lists, its log-probabilities."""

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec

from areopage.errors import CallRejected, MissingKey, ModelError, name_list
from areopage.models.contacts import contact_of_endpoint
from areopage.models.http import JsonServer
from areopage.models.port import TokenLogprob, token_bytes
from areopage.models.settings import Endpoint, ModelSettings


class ListedModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model that a server offers.

    `digest` is "" and `size` (bytes) and `context_length` (tokens) are None where the server does not tell.
    """

    name: str
    digest: str = ""
    size: int | None = None
    context_length: int | None = None


class ServerAddress(msgspec.Struct, frozen=True, kw_only=True):
    """The address of a server; `source` says in a message who named it."""

    url: str
    source: str


class KeyedServer:
    """A model server with the name of the variable that holds its key."""

    def __init__(self, server: JsonServer, key_variable: str, *, lacks_key: bool) -> None:
        self.server = server
        self._key_variable, self._lacks_key = key_variable, lacks_key

    def require_key(self) -> None:
        """Raise a ModelError where the key is missing."""
        if self._lacks_key:
            raise MissingKey(f"{self.server.address} requires an API key: set the environment variable {self._key_variable}")

    def complain_of_key(self, fault: CallRejected) -> None:
        """Raise a ModelError that names the key's variable if the fault is about the key."""
        if fault.status in (401, 403):
            raise ModelError(
                f"{self.server.address} rejects the API key: correct the environment variable {self._key_variable} [{fault}]"
            ) from fault


class _AlternativeToken(msgspec.Struct):
    token: str
    logprob: float


class _Token(msgspec.Struct):
    token: str
    logprob: float
    top_logprobs: tuple[_AlternativeToken, ...] | None = None
    bytes: tuple[int, ...] | None = None


def named_endpoint(provider: str, name: str, settings: ModelSettings) -> Endpoint | None:
    """The endpoint of this name; None for no name.

    Raises:
        ModelError: no endpoint has the name, it belongs to another provider, or it may not be sent the variable that it names.
    """
    if not name:
        return None
    endpoint = settings.endpoints.get(name)
    if endpoint is None:
        known = name_list(sorted(settings.endpoints)) or "none is defined"
        raise ModelError(f"unknown endpoint {name!r} in {provider}@{name}: use one of the configuration's endpoints ({known})")
    if endpoint.provider != provider:
        raise ModelError(f"endpoint {name!r} belongs to {endpoint.provider}: write {endpoint.provider}@{name}:MODEL")
    contact_of_endpoint(endpoint).check(settings)
    return endpoint


def open_server(
    base_url: str, settings: ModelSettings, *, headers: Mapping[str, str] | None = None, api_key: str = ""
) -> JsonServer:
    """A transport with the user's limits; the key goes into the Authorization header, unless the headers have one.

    Raises:
        ModelError: the address, a header or the proxy cannot be used.
    """
    given = dict(headers or {})
    if api_key and "authorization" not in {name.lower() for name in given}:
        given["Authorization"] = f"Bearer {api_key}"
    return JsonServer(
        base_url,
        headers=given,
        timeouts=settings.timeouts,
        connections=settings.connections,
        proxy=environment_proxy(base_url, settings.environment),
    )


def environment_proxy(base_url: str, environment: Mapping[str, str]) -> str | None:
    """The proxy that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY name for an address; never one for loopback.

    The variable of the address's scheme goes before ALL_PROXY, and a name in lower case before the same in upper case.

    Raises:
        ModelError: the proxy is not an HTTP proxy.
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
        own = f"{parts.scheme.upper()}_PROXY"
        raise ModelError(
            f"{variable} names a {kind} proxy, and only HTTP proxies are supported: name one in {own}, or add {host} to NO_PROXY"
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


def read_logprobs(tokens: object) -> tuple[TokenLogprob, ...] | None:
    """Read the list of tokens that both protocols give; None where there is none, or where it has another shape.

    An answer that was paid for is not thrown away because its log-probabilities cannot be read.
    """
    if not tokens:
        return None
    try:
        read = msgspec.convert(tokens, list[_Token])
    except msgspec.ValidationError:
        return None
    return tuple(
        TokenLogprob(
            item.token,
            item.logprob,
            tuple((other.token, other.logprob) for other in item.top_logprobs or ()),
            token_bytes(item.token, item.bytes),
        )
        for item in read
    )
