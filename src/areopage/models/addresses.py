"""Addresses of model servers."""

from urllib.parse import urlsplit

from msgspec import Struct

from areopage.errors import ModelError

OLLAMA_PORT = 11434


class ServerAddress(Struct, frozen=True, kw_only=True):
    """The address of a server; `source` says in a message who named it."""

    url: str
    source: str


def ollama_url(host: str) -> str:
    """Read an address as Ollama's own tools do: `host`, `host:port`, `:port`, `http(s)://host[:port][/path]`.

    Without a scheme the port is 11434 by default; with one it is the scheme's. An address to listen on (0.0.0.0, ::)
    is taken as this machine.
    """
    scheme, separator, rest = host.strip().partition("://")
    if not separator:
        scheme, rest = "http", scheme
    try:
        parts = urlsplit(f"{scheme}://{rest}")
        name, port = parts.hostname or "127.0.0.1", parts.port
    except ValueError as error:
        raise ModelError(f"{host.rpartition('@')[2]!r} is not the address of an Ollama server: write host:port") from error
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(name, name)  # noqa: S104
    if ":" in name:
        name = f"[{name}]"
    if port is None and not separator:
        port = OLLAMA_PORT
    user_info, at, _ = parts.netloc.rpartition("@")
    return f"{scheme}://{user_info}{at}{name}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}"
