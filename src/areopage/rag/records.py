"""Input, output and interfaces of the pipeline."""

from typing import Protocol

from msgspec import Struct

from areopage.cases import Document
from areopage.ledger import Trace
from areopage.records import record_from

EXCERPT = 300  # characters


class ChatPrompt(Struct, frozen=True, kw_only=True):
    """A prompt. "" and () take the configuration's values; `no_cache` neither reads nor writes the cache."""

    prompt: str
    collection: str = ""
    sources_filter: tuple[str, ...] = ()
    no_cache: bool = False
    session: str = ""
    api_key: str = ""


class Citation(Struct, frozen=True, kw_only=True):
    """A document that the answer rests on."""

    id: str
    title: str
    source: str
    score: float | None
    excerpt: str


def citations_of(trace: Trace) -> tuple[Citation, ...]:
    """The documents that a delivered answer rests on: those that it cites, else those that its sentences come nearest to."""
    decision = trace.decision
    if decision is None or trace.mode in ("fallback", "human_review"):
        return ()
    ids = dict.fromkeys(decision.cited_ids)
    if not ids:
        ids = dict.fromkeys(sentence.document for sentence in decision.sentences if sentence.claim and sentence.document)
    documents = {document.id: document for document in reversed(trace.documents)}
    citations = []
    for document in (documents[id] for id in ids if id in documents):
        line = " ".join(document.text[: 2 * EXCERPT].split())
        excerpt = line if len(line) <= EXCERPT else f"{line[: EXCERPT - 1].rstrip()}…"
        citations.append(record_from(Citation, document, excerpt=excerpt))
    return tuple(citations)


class Retriever(Protocol):
    """Finds documents."""

    async def retrieve(self, prompt: str, collection: str, sources_filter: tuple[str, ...]) -> tuple[Document, ...]:
        """The nearest documents, best first, with `score` in [0, 1]."""

    async def revision(self, collection: str) -> str:
        """What changes with each ingestion into a collection; "" while one is under way. Cheap: asked for before each answer that
        may come from the cache.
        """

    async def aclose(self) -> None:
        """Close connections."""


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

    async def generate(self, prompt: str, documents: tuple[Document, ...], language: str) -> Generated:
        """Answer in `language` from the documents alone."""

    async def aclose(self) -> None:
        """Close connections."""
