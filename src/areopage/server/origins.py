"""The server's own addresses, and the foreign origins it accepts."""

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.requests import Request

from areopage.app.config import AppConfig

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
ANY_HOST = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - to recognise them
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


class Addresses:
    """The names that this server answers for (against DNS rebinding), and the foreign origins that may send to it."""

    def __init__(self, host: str, origins: Iterable[str], link: str = "") -> None:
        self.origins = frozenset(origin.rstrip("/").lower() for origin in origins)
        named = {_hostname(host), *(_hostname(urlsplit(address).netloc) for address in (*self.origins, link))}
        self._hosts = LOOPBACK_NAMES | (named - ANY_HOST)

    @classmethod
    def of(cls, config: AppConfig) -> "Addresses":
        """Read the addresses of a configuration."""
        return cls(config.server.host, config.server.origins, config.section.monitor.alerts.link)

    def answers_for(self, host: str) -> bool:
        """Whether a Host header names this server."""
        return _hostname(host) in self._hosts

    def trusts(self, request: Request) -> bool:
        """Whether a request that changes something came from one of our own pages, an origin of the list, or no browser at all.

        Browsers tell where a request comes from (Sec-Fetch-Site, Origin) and let no script forge it.
        """
        origin = request.headers.get("origin", "").lower()
        if origin in self.origins:
            return True
        site = request.headers.get("sec-fetch-site", "")
        if site:
            return site in ("same-origin", "none")
        return not origin or _urlsplit_host(origin) == request.headers.get("host", "").lower()


def _hostname(host: str) -> str:
    """The name or address in a Host header, without its port, in lower case."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host if host.count(":") > 1 else host.partition(":")[0].rstrip(".")


def _urlsplit_host(origin: str) -> str:
    """The host and port of an origin; "" where it is none ("null")."""
    scheme, separator, rest = origin.partition("://")
    return rest if scheme and separator else ""


def is_loopback(host: str) -> bool:
    """Whether a name or address means this computer."""
    name = _hostname(host)
    if name in LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def is_local(request: Request) -> bool:
    """Whether a request is local, without a proxy."""
    client = request.client.host if request.client else ""
    if any(name in request.headers for name in FORWARDED):
        return False
    return is_loopback(client) and is_loopback(request.headers.get("host", ""))
