"""Checks on every request: known hosts and origins, limits of bodies, security headers."""

import asyncio
import ipaddress
from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from areopage.app import AppConfig
from areopage.server.errors import SECURITY_HEADERS, Refusal, answer

ANY_HOST_PATHS = frozenset({"/healthz", "/readyz"})
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
ANY_HOST = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - to recognise them
FORWARDED = (
    "forwarded",
    "x-forwarded-",
    "x-real-ip",
    "via",
    "cf-connecting-ip",
    "true-client-ip",
    "x-client-ip",
    "x-cluster-client-ip",
)
"""How the names of headers begin that only proxies send."""
STATIC = "/static/"
MOST_DROPPED = 32 * 1024 * 1024
"""Bytes of a refused body that are read at most."""
SILENT_SECONDS = 1.0
"""After so long a client that sends nothing of its refused body gets the answer."""


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
        scheme, separator, host = origin.partition("://")  # "null" is no origin
        return not origin or (host if scheme and separator else "") == request.headers.get("host", "").lower()


def _hostname(host: str) -> str:
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host if host.count(":") > 1 else host.partition(":")[0].rstrip(".")


def is_loopback(host: str) -> bool:
    """Whether a name or address means this computer."""
    name = _hostname(host)
    if name in LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def address_of(request: Request) -> str:
    """The IP address of a client, as a trusted proxy forwards it; "no IP address" where it is none."""
    name = _hostname(request.client.host) if request.client else ""
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return "no IP address"


def is_local(request: Request) -> bool:
    """Whether a request is local, without a proxy."""
    client = request.client.host if request.client else ""
    if any(name.startswith(FORWARDED) for name in request.headers):
        return False
    return is_loopback(client) and is_loopback(request.headers.get("host", ""))


class HttpMiddleware(ABC):
    """A middleware of HTTP requests; what is none passes through."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Process one request."""
        await (self.serve if scope["type"] == "http" else self.app)(scope, receive, send)

    @abstractmethod
    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Process one HTTP request."""


class KnownHosts(HttpMiddleware):
    """Rejects unknown hosts, against DNS rebinding by other sites, and requests that name several.

    Health checks hold no data, and pages of other sites send no API key: both may use any name.
    """

    def __init__(self, app: ASGIApp, addresses: Addresses) -> None:
        super().__init__(app)
        self._addresses = addresses

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Process one request."""
        request = Request(scope)
        if len(request.headers.getlist("host")) > 1:  # a proxy before the server may have read another one
            await answer(request, 400, "bad_host", "the request has several Host headers: send one")(scope, receive, send)
            return
        if scope["path"] not in ANY_HOST_PATHS:
            host = request.headers.get("host", "")
            if not self._addresses.answers_for(host) and not request.headers.get("authorization"):
                message = "unknown host: add its address to server.origins in areopage.yml"
                await answer(request, 421, "unknown_host", message)(scope, receive, send)
                return
        await self.app(scope, receive, send)


class BodyLimit(HttpMiddleware):
    """Refuses large and slow request bodies.

    A body of more than `most` bytes is refused where its length is told, else as soon as it exceeds the limit. The rest of it is
    read and dropped first, up to `MOST_DROPPED` bytes: a client that is still sending would see a reset, not the answer. A body
    that is incomplete `seconds` after the application began to read it is refused too.
    """

    def __init__(self, app: ASGIApp, most: int, seconds: float) -> None:
        super().__init__(app)
        self._most, self._seconds = most, seconds

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Process one request."""
        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if not length.isdigit() or len(length) > 18 or int(length) > self._most:
            if length.isdigit() and len(length) <= 18 and int(length) <= MOST_DROPPED and not _waits_for_leave(scope):
                await self._drop(receive, int(length))
            await answer(Request(scope), 413, "too_large", self._message(), {"Connection": "close"})(scope, receive, send)
            return
        await self.app(scope, self._counted(receive), send)

    def _counted(self, receive: Receive) -> Receive:
        taken, whole = 0, False
        end: float | None = None

        async def counted() -> Message:
            nonlocal taken, whole, end
            if whole:  # further calls wait for the client to disconnect
                return await receive()
            end = end or asyncio.get_running_loop().time() + self._seconds
            try:
                async with asyncio.timeout_at(end):
                    message = await receive()
            except TimeoutError:
                reason = f"the body did not arrive within {self._seconds:g} s (server.body_seconds)"
                raise Refusal(408, "too_slow", reason, {"Connection": "close"}) from None
            whole = not message.get("more_body", False)
            taken += len(message.get("body", b""))
            if taken > self._most:
                if not whole:
                    await self._drop(receive, MOST_DROPPED - taken)
                raise Refusal(413, "too_large", self._message(), {"Connection": "close"})
            return message

        return counted

    async def _drop(self, receive: Receive, most: int) -> None:
        """Read what is left of a body, up to so many bytes, while it keeps coming."""
        dropped, has_more = 0, True
        with suppress(TimeoutError):
            async with asyncio.timeout(self._seconds):
                while has_more and dropped < most:
                    message = await asyncio.wait_for(receive(), SILENT_SECONDS)
                    has_more = message["type"] == "http.request" and message.get("more_body", False)
                    dropped += len(message.get("body", b""))

    def _message(self) -> str:
        return f"the body exceeds {self._most} bytes (server.max_body)"


def _waits_for_leave(scope: Scope) -> bool:
    """Whether a client sends its body only once it is told to (`Expect: 100-continue`)."""
    return any(name == b"expect" for name, _ in scope["headers"])


class SecurityHeaders(HttpMiddleware):
    """Adds missing `SECURITY_HEADERS` to every response; browsers may cache files under /static and revalidate them."""

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Process one request."""
        static = scope["path"].startswith(STATIC)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, "no-cache" if static and name == "Cache-Control" else value)
            await send(message)

        await self.app(scope, receive, with_headers)


class HeadOfGet(HttpMiddleware):
    """Answers HEAD like GET, without the body; load balancers and uptime monitors send it."""

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Process one request."""
        if scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self.app({**scope, "method": "GET"}, receive, without_body)
