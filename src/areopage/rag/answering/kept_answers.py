"""The answer cache: delivered answers by all that determines them, for as long as nothing speaks against them.

An answer is given again only if the collection is as it was, no label has said since that it is not grounded, and its first trace
is not erased. That is looked up each time, in the collection and in the ledger: whoever ingests, labels or erases
may be another process, and cannot reach what this one has in memory.
"""

import asyncio
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from areopage.digest import digest_of
from areopage.ledger.records import Trace
from areopage.ledger.store import Ledger
from areopage.ledger.traces import Traces
from areopage.rag.answering.answer_cache import AnswerCache, CachedAnswer
from areopage.rag.config import RagConfig
from areopage.rag.generation.generator import generation_options, prompts_of
from areopage.rag.records import ChatPrompt, Retriever

FORMAT = "3"  # of the entries; goes up when `CachedAnswer` changes


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
        self._traces, self._retriever = Traces(ledger), retriever

    @property
    def enabled(self) -> bool:
        """Whether answers are kept at all."""
        return self._cache.enabled

    async def place(self, asked: ChatPrompt, language: str) -> Place:
        """Where the answer to a prompt is kept.

        Raises:
            UserError: there is no such collection, or its store cannot be reached.
        """
        return Place(self._keys.key(asked, language), await self._retriever.revision(asked.collection))

    async def find(self, place: Place) -> CachedAnswer | None:
        """The answer of a place; None where there is none, or where it does not stand any more.

        Raises:
            StorageError: the ledger cannot be read.
        """
        found = await self._cache.get(place.key) if place.revision else None
        if found is None or found.revision != place.revision:
            return None
        if not await asyncio.to_thread(self._traces.stands, found.trace.id, found.label):
            return None
        return found

    async def latest_label(self) -> int:
        """What `keep` wants to know, to be asked before an answer is made.

        Raises:
            StorageError: the ledger cannot be read.
        """
        return await asyncio.to_thread(self._traces.latest_label)

    async def keep(self, place: Place, trace: Trace, label: int) -> None:
        """Keep an answer if the gate delivered it; what only concerns the user who asked is left out."""
        if not place.revision or trace.mode != "generated" or trace.verdict != "deliver":
            return
        answer = replace(trace.answer, case=replace(trace.answer.case, prompt=""), session="", api_key="")
        kept = replace(trace, answer=answer, judgments=())
        await self._cache.put(place.key, CachedAnswer(trace=kept, revision=place.revision, label=label))

    async def forget(self, asked: ChatPrompt, language: str) -> None:
        """Keep no answer to a prompt any more."""
        await self._cache.forget(self._keys.key(asked, language))

    async def aclose(self) -> None:
        """Let go of connections."""
        await self._cache.aclose()


class CacheKeys:
    """Makes the keys: all that determines an answer, but for the prompt."""

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

    def key(self, asked: ChatPrompt, language: str) -> str:
        """SHA-256 of the canonical JSON of everything that determines the answer; white space in the prompt does not count."""
        return digest_of(
            [
                self._common,
                " ".join(asked.prompt.split()),
                asked.collection or self._collection,
                sorted(set(asked.sources_filter or self._sources)),
                language,
            ]
        )
