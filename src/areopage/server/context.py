"""State shared by a server's requests, and what extensions add to the server."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from fastapi import APIRouter
from msgspec import Struct
from starlette.requests import Request

from areopage.app import AppConfig
from areopage.extensions import imported, registered
from areopage.gate import Gate
from areopage.ledger import Answer, Ledger, Trace
from areopage.suites import Suite

if TYPE_CHECKING:
    from areopage.checking import SentenceJudge


class AnswerService(Protocol):
    """Answers questions; an extension opens it."""

    async def forget(self, trace: Trace) -> None:
        """Remove the cached answer to a trace's prompt."""

    async def export_traces(self) -> None:
        """Update the trace files from the ledger; a StorageError names one that the next export completes."""

    async def aclose(self) -> None:
        """Close it, once open questions are answered."""


class Pipeline(Struct, frozen=True, kw_only=True):
    """The answering pipeline of a server.

    Args:
        service: answers questions.
        collection: where a question that names no collection is looked up.
        language: the language of messages where the question's language cannot be detected.
    """

    service: AnswerService
    collection: str
    language: str


class ServerContext(Struct, frozen=True, kw_only=True):
    """Args:
    ledger: where everything is kept.
    config: the configuration.
    suite: the suite that answers are judged by.
    submit: stores submitted answers durably; returns for each whether it is new.
    now: the clock, in UTC.
    gate: decides whether an answer may leave.
    judge: settles the gate's grey band; None where none is configured.
    rag: answers questions; None where the configuration has no section `rag`.
    """

    ledger: Ledger
    config: AppConfig
    suite: Suite
    submit: Callable[[Sequence[Answer]], Awaitable[Sequence[bool]]]
    now: Callable[[], datetime]
    gate: Gate
    judge: "SentenceJudge | None" = None
    rag: Pipeline | None = None

    @property
    def language(self) -> str:
        """The language where a text's cannot be told: the monitor's, else the suite's."""
        return self.config.monitor.section.language or self.suite.own_language


def context_of(request: Request) -> ServerContext:
    """Return the context of a request's server."""
    return cast(ServerContext, request.app.state.context)


class ServerPart(NamedTuple):
    """Routes, and what belongs to them.

    Args:
        records: bodies of requests and responses, for the OpenAPI schema.
        folder: templates (`*.j2`) and messages (`*words.yml`) of its pages; None where it has no pages.
    """

    router: APIRouter
    records: tuple[type[Struct], ...] = ()
    folder: Path | None = None


@cache
def server_parts() -> tuple[ServerPart, ...]:
    """The parts of all extensions."""
    return tuple(imported(place) for place in registered("pages").values())
