"""Bots for tests of hooks: objects of frameworks, ASGI applications and their clients."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from areopage.ledger.tables.records import Answer
from areopage.monitor.hook.endpoints import AsgiMessage, AsgiReceive, AsgiSend, QualityHook
from areopage.monitor.hook.spool_files import drain


def drained(folder: Path) -> list[Answer]:
    """The answers of a spool."""
    found: list[Answer] = []

    def take(submissions: Sequence[Answer]) -> Sequence[Answer]:
        found.extend(submissions)
        return ()

    drain(folder, take)
    return found


class Thing:
    """An object of a framework."""

    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)


async def call(
    hook: QualityHook,
    request: Sequence[bytes],
    path: str = "/chat",
    headers: Sequence[tuple[bytes, bytes]] = (),
    query: bytes = b"",
) -> list[tuple[AsgiMessage, int]]:
    """The messages that the client got, each with how many answers the hook had noted by then."""
    waiting = [{"type": "http.request", "body": chunk, "more_body": at + 1 < len(request)} for at, chunk in enumerate(request)]
    got: list[tuple[AsgiMessage, int]] = []

    async def receive() -> AsgiMessage:
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message: AsgiMessage) -> None:
        got.append((message, sum(hook.counts.values())))

    scope = {"type": "http", "path": path, "method": "POST", "headers": headers, "query_string": query}
    await hook(scope, receive, send)
    return got


def application(chunks: Sequence[bytes], status: int = 200, kind: str = "application/json", **headers: str) -> Any:
    """An application that reads its request and answers with these chunks."""

    async def app(scope: Any, receive: AsgiReceive, send: AsgiSend) -> None:
        more = True
        while more:
            more = (await receive()).get("more_body", False)
        given = {"content-type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
        await send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [(name.encode(), value.encode()) for name, value in given.items()],
            }
        )
        for at, chunk in enumerate(chunks):
            await send({"type": "http.response.body", "body": chunk, "more_body": at + 1 < len(chunks)})

    return app
