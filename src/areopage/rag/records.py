"""What goes into the pipeline and what comes out."""

from typing import Protocol

from msgspec import Struct

from areopage.cases.records import Document
from areopage.gate.records import Decision, GateVerdict
from areopage.ledger.gate_records import Mode

MOST_QUESTION = 20_000  # characters


class ChatQuestion(Struct, frozen=True, kw_only=True):
    """A question. "" and () take the configuration's values; `no_cache` neither reads nor writes the cache."""

    question: str
    collection: str = ""
    sources_filter: tuple[str, ...] = ()
    no_cache: bool = False
    session: str = ""
    key: str = ""


class Citation(Struct, frozen=True, kw_only=True):
    """A document that the answer rests on."""

    id: str
    title: str
    source: str
    score: float | None
    excerpt: str


class ChatAnswer(Struct, frozen=True, kw_only=True):
    """What the user gets. `id` finds the exchange, and later what a reviewer released; `decision` is None for a cached answer's
    repetition only where the cache's entry is older than this program."""

    id: str
    answer: str
    verdict: GateVerdict
    mode: Mode
    confidence: float
    p_unsupported: float | None
    citations: tuple[Citation, ...]
    response_lang: str
    documents: tuple[Document, ...]
    decision: Decision | None
    seconds: float


class Retriever(Protocol):
    """Finds documents."""

    async def retrieve(self, question: str, collection: str, sources_filter: tuple[str, ...]) -> tuple[Document, ...]:
        """The nearest documents, best first, with `score` in [0, 1].

        Raises:
            UserError: there is no such collection, another embedder filled it, or the store cannot be reached.
        """
        ...

    async def revision(self, collection: str) -> str:
        """What changes with each ingestion into a collection; "" while one is under way. Cheap: asked for before each answer that
        may come from the cache.

        Raises:
            UserError: there is no such collection, or the store cannot be reached.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...


class Generated(Struct, frozen=True, kw_only=True):
    """A response of the model. `cited_ids` are those that it named apart from its text (structured output)."""

    text: str
    cited_ids: tuple[str, ...] = ()
    model: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float


class Generator(Protocol):
    """Writes a response from documents."""

    async def generate(self, question: str, documents: tuple[Document, ...], language: str) -> Generated:
        """Answer in `language` from the documents alone.

        Raises:
            CallError: the model did not answer.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...
