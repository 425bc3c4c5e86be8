"""The answer cache: delivered answers by all that determines them, for as long as nothing speaks against them.

An answer is given again only if the collection is as it was, nobody has said since that it is not grounded, and the exchange that
it was made in is not erased. That is looked up each time, in the collection and in the ledger: whoever ingests, labels or erases
may be another process, and cannot reach what this one has in memory.
"""

import asyncio
from collections.abc import Callable

from msgspec import Struct

from areopage.digest import digest_of
from areopage.ledger.exchanges import Exchanges
from areopage.ledger.store import Ledger
from areopage.rag.answering.answer_cache import AnswerCache, CachedAnswer
from areopage.rag.answering.outcomes import Asked, Outcome, cache_entry
from areopage.rag.config import RagConfig
from areopage.rag.generation.generator import generation_options, prompts_of
from areopage.rag.records import ChatQuestion, Retriever

FORMAT = "2"  # of the entries; goes up when `CachedAnswer` changes


class Place(Struct, frozen=True):
    """Where an answer would be kept, and the collection's revision; with "" it is not kept now."""

    key: str
    revision: str


class KeptAnswers:
    """Finds answers, and keeps them."""

    def __init__(
        self, config: RagConfig, gate_version: str, ledger: Ledger, retriever: Retriever, say: Callable[[str], None]
    ) -> None:
        """Args: see `AnswerCache` and `CacheKeys`.

        Raises:
            ConfigError, MissingExtra: see `AnswerCache`.
            StorageError: the ledger cannot be read.
        """
        self._cache = AnswerCache(config, say)
        self._keys = CacheKeys(config, gate_version, ledger.secret() if self._cache.enabled else b"")
        self._exchanges, self._retriever = Exchanges(ledger), retriever

    @property
    def enabled(self) -> bool:
        """Whether answers are kept at all."""
        return self._cache.enabled

    async def place(self, question: ChatQuestion, language: str) -> Place:
        """Where the answer to a question is kept.

        Raises:
            UserError: there is no such collection, or its store cannot be reached.
        """
        return Place(self._keys.key(question, language), await self._retriever.revision(question.collection))

    async def find(self, place: Place) -> CachedAnswer | None:
        """The answer of a place; None where there is none, or where it does not stand any more.

        Raises:
            StorageError: the ledger cannot be read.
        """
        found = await self._cache.get(place.key) if place.revision else None
        if found is None or found.revision != place.revision:
            return None
        if not await asyncio.to_thread(self._exchanges.stands, found.exchange, found.label):
            return None
        return found

    async def latest_label(self) -> int:
        """What `keep` wants to know, to be asked before an answer is made.

        Raises:
            StorageError: the ledger cannot be read.
        """
        return await asyncio.to_thread(self._exchanges.latest_label)

    async def keep(self, place: Place, asked: Asked, outcome: Outcome, label: int) -> None:
        """Keep an answer if the gate let it out."""
        entry = cache_entry(outcome, asked, place.revision, label) if place.revision else None
        if entry is not None:
            await self._cache.put(place.key, entry)

    async def forget(self, question: ChatQuestion, language: str) -> None:
        """Keep no answer to a question any more."""
        await self._cache.forget(self._keys.key(question, language))

    async def aclose(self) -> None:
        """Let go of connections."""
        await self._cache.aclose()


class CacheKeys:
    """Makes the keys: all that determines an answer, but for what stands in the question."""

    def __init__(self, config: RagConfig, gate_version: str, ledger: bytes) -> None:
        """Args:
        gate_version: the gate's fingerprint.
        ledger: the ledger's secret: servers with ledgers of their own can share a Redis, yet no answers.
        """
        section = config.section
        generation = section.generation
        self._common = digest_of(
            [
                FORMAT,
                ledger.hex(),
                generation.model,
                {name: endpoint.base_url for name, endpoint in sorted(config.shared.endpoints.items())},
                generation_options(generation, section.retrieval.top_k),
                prompts_of(generation).version,
                gate_version,
                [section.embedding.provider, section.embedding.model, section.embedding.endpoint],
                [section.retrieval.top_k, section.retrieval.score_threshold],
                [section.store.path, section.store.url],
                section.language,
                None if section.grey_band is None else section.grey_band.model_dump(),
            ]
        )
        self._collection = section.store.collection
        self._sources = tuple(section.retrieval.sources)

    def key(self, question: ChatQuestion, language: str) -> str:
        """SHA-256 of the canonical JSON of everything that determines the answer; white space in the question does not count."""
        return digest_of(
            [
                self._common,
                " ".join(question.question.split()),
                question.collection or self._collection,
                sorted(set(question.sources_filter or self._sources)),
                language,
            ]
        )
