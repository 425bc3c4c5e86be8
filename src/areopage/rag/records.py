"""Input, output and interfaces of the pipeline."""

from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from areopage.cases import Document
from areopage.gate import Decision, NumberedSource, numbered
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


class ShownReply(Struct, frozen=True, kw_only=True):
    """A reply as people read it: numbers stand in its text for the ids of documents. `sources` pairs them with the citations."""

    text: str
    sources: tuple[tuple[NumberedSource, Citation], ...]


def shown_reply(trace: Trace) -> ShownReply:
    """The text that the user got, and what it rests on."""
    citations = {citation.id: citation for citation in citations_of(trace)}
    text, sources = numbered(trace.answer.delivered, trace.documents, tuple(citations))
    return ShownReply(text=text, sources=tuple((source, citations[source.document.id]) for source in sources))


def readable_decision(trace: Trace) -> Decision | None:
    """A trace's decision for people: its reasons name documents by their numbers in the reply, else by their titles."""
    decision = trace.decision
    if decision is None:
        return None
    names = {document.id: document.title or document.id for document in reversed(trace.documents)}
    names |= {source.document.id: f"[{source.number}]" for source, _ in shown_reply(trace).sources}

    def named(text: str) -> str:
        for id, name in names.items():
            text = text.replace(f"[{id}]", name if name.startswith("[") else f"[{name}]")
        return text

    reasons = []
    for reason in decision.reasons:
        place = replace(reason.place, text=named(reason.place.text)) if reason.place else None
        reasons.append(replace(reason, document=names.get(reason.document, reason.document), place=place))
    return replace(decision, reasons=tuple(reasons))


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
