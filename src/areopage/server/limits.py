"""Early rejection of unknown hosts and of large or slow request bodies."""

import asyncio

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from areopage.server.errors import Refusal, answer
from areopage.server.origins import Addresses

ANY_HOST_PATHS = frozenset({"/healthz", "/readyz"})


class KnownHosts:
    """Rejects unknown hosts, against DNS rebinding by other sites.

    Health checks hold no data, and who shows an API key is no such page: both may use any name.
    """

    def __init__(self, app: ASGIApp, addresses: Addresses) -> None:
        self.app = app
        self._addresses = addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Process one request."""
        if scope["type"] == "http" and scope["path"] not in ANY_HOST_PATHS:
            request = Request(scope)
            host = request.headers.get("host", "")
            if not self._addresses.answers_for(host) and not request.headers.get("authorization"):
                message = "unknown host: add its address to server.origins in areopage.yml"
                await answer(request, 421, "unknown_host", message)(scope, receive, send)
                return
        await self.app(scope, receive, send)


class BodyLimit:
    """Refuses large and slow request bodies.

    A body of more than `most` bytes is refused at once where its length is told, else as soon as it exceeds the limit. A body
    that is incomplete `seconds` after the application began to read it is refused too.
    """

    def __init__(self, app: ASGIApp, most: int, seconds: float) -> None:
        self.app = app
        self._most, self._seconds = most, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Process one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        told = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if not told.isdigit() or len(told) > 18 or int(told) > self._most:
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
                told = f"the body did not arrive within {self._seconds:g} s (server.body_seconds)"
                raise Refusal(408, "too_slow", told, {"Connection": "close"}) from None
            whole = not message.get("more_body", False)
            taken += len(message.get("body", b""))
            if taken > self._most:
                raise Refusal(413, "too_large", self._message(), {"Connection": "close"})
            return message

        return counted

    def _message(self) -> str:
        return f"the body exceeds {self._most} bytes (server.max_body)"
