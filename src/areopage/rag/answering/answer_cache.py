"""The answer cache: delivered answers, keyed by all that determines them, in memory or in Redis.

An answer is given again only if the collection is as it was, people do not say that its documents fail to support it, and its
first trace is not erased. Each request checks this in the collection and in the ledger: another process may ingest, label or
erase, and cannot reach this process's memory. Values are JSON, never pickles: a client that can write into a shared Redis must
not be able to run code here.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from areopage.checking import RagConfig, generation_options
from areopage.digest import digest_of
from areopage.errors import MissingExtra
from areopage.ledger import Ledger, Trace
from areopage.rag.generation import prompts_of
from areopage.rag.records import ChatPrompt, Retriever

if TYPE_CHECKING:
    from cashews import Cache

MEMORY, OFF = "memory", "off"
REDIS_SCHEMES = ("redis", "rediss")
PREFIX = "areopage:answer:"
FORMAT = "4"  # of the entries; goes up when `CachedAnswer` changes
PATIENCE = 1.0  # seconds for one look-up: a store that is slower is of no use
PAUSE = 10.0  # seconds without the store after it failed


class CachedAnswer(Struct, frozen=True, kw_only=True):
    """The trace of a delivered answer, with the conditions of its reuse."""

    trace: Trace
    revision: str


class AnswerCache:
    """Stores delivered answers.

    While the store fails, answers are not cached; the fault is logged once, and the store is retried later.
    """

    def __init__(self, config: RagConfig, say: Callable[[str], None]) -> None:
        section = config.section.cache
        self._store = section.store
        self._section = section
        self._say = say
        self._warned = False
        self._paused_until = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        if self._store not in (MEMORY, OFF) and urlsplit(self._store).scheme not in REDIS_SCHEMES:
            raise config.fault(f"is {self._store!r}: write memory, off, or redis://HOST:PORT/NUMBER", "cache", "store")
        self._cache = self._new_cache() if self._store not in (MEMORY, OFF) else None  # one in memory is made when it is used

    @property
    def enabled(self) -> bool:
        """Whether the cache is enabled."""
        return self._store != OFF

    async def get(self, key: str) -> CachedAnswer | None:
        """Return the answer of a key; None if missing or the store fails."""
        entry = await self._ask(lambda cache: cache.get(f"{PREFIX}{key}"))
        if not isinstance(entry, bytes):
            return None
        try:
            return msgspec.json.decode(entry, type=CachedAnswer)
        except msgspec.DecodeError:  # an entry of another program, or damaged: counts as missing
            return None

    async def put(self, key: str, answer: CachedAnswer) -> None:
        """Store an answer for the configured time."""
        entry = msgspec.json.encode(answer)
        await self._ask(lambda cache: cache.set(f"{PREFIX}{key}", entry, expire=self._section.seconds))

    async def aclose(self) -> None:
        """Close connections."""
        if self._cache is not None and self._loop is asyncio.get_running_loop():
            await self._cache.close()

    async def _ask(self, do: "Callable[[Cache], Awaitable[object]]") -> object:
        """Ask the store; None where it fails, or failed a moment ago."""
        cache = self._here()
        if cache is None or time.monotonic() < self._paused_until:
            return None
        from cashews.exceptions import CacheError

        faults: tuple[type[Exception], ...] = (CacheError, OSError, TimeoutError)
        with suppress(ModuleNotFoundError):
            from redis.exceptions import RedisError

            faults = (*faults, RedisError)
        try:
            async with asyncio.timeout(PATIENCE):
                reply = await do(cache)
        except faults as fault:
            self._paused_until = time.monotonic() + PAUSE
            if not self._warned:
                self._warned = True
                reason = " ".join(str(fault.__cause__ or fault).split()) or f"no answer within {PATIENCE:g} s"
                self._say(f"the answer cache at {shown(self._store)} cannot be reached, answers are not kept: {reason}")
            return None
        self._warned = False
        return reply

    def _here(self) -> "Cache | None":
        """The cache of the running event loop: connections belong to a loop, entries in memory to none."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            if self._loop is not None and self.enabled and self._store != MEMORY:
                self._cache = self._new_cache()
            self._loop = loop
        if self._cache is None and self._store == MEMORY:
            self._cache = self._new_cache()
        return self._cache

    def _new_cache(self) -> "Cache":
        """A cache of our own: the one that cashews offers is shared by the whole process."""
        try:
            from cashews import Cache
        except ModuleNotFoundError:
            raise MissingExtra("the answer cache", "rag") from None
        cache = Cache()
        if self._store == MEMORY:
            # no sweeping task: it would belong to one event loop; an entry that is too old goes when it is looked at
            cache.setup("mem://", size=self._section.entries, check_interval=0)
        else:
            cache.setup(self._store, pickle_type="null", suppress=False, socket_timeout=PATIENCE, client_name="areopage")
        return cache


def shown(url: str) -> str:
    """A store's address without its password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" if parts.scheme else url


class CachePlace(Struct, frozen=True):
    """An answer's key and the collection's revision; "" disables storage for now."""

    key: str
    revision: str


class KeptAnswers(AnswerCache):
    """Finds and stores reusable answers."""

    def __init__(
        self, config: RagConfig, gate_version: str, ledger: Ledger, retriever: Retriever, say: Callable[[str], None]
    ) -> None:
        super().__init__(config, say)
        self._keys = CacheKeys(config, gate_version, ledger.secret() if self.enabled else b"")
        self._traces, self._labels, self._retriever = ledger.traces, ledger.labels, retriever

    async def place(self, asked: ChatPrompt, language: str) -> CachePlace:
        """Compute the place of a prompt's answer."""
        return CachePlace(self._keys.key(asked, language), await self._retriever.revision(asked.collection))

    async def find(self, place: CachePlace) -> CachedAnswer | None:
        """Return the answer of a place; None if missing or no longer valid."""
        entry = await self.get(place.key) if place.revision else None
        if entry is None or entry.revision != place.revision:
            return None
        trace = entry.trace

        def stands() -> bool:
            supported = self._labels.supported(trace.collection, trace.prompt, trace.response, trace.documents)
            return supported is not False and self._traces.has_texts(trace.id)

        return entry if await asyncio.to_thread(stands) else None

    async def keep(self, place: CachePlace, trace: Trace) -> None:
        """Store a delivered answer without data of the current user."""
        if not place.revision or trace.mode != "generated" or trace.verdict != "deliver":
            return
        answer = replace(trace.answer, case=replace(trace.answer.case, prompt=""), session="", api_key="")
        kept = replace(trace, answer=answer, judgments=())
        await self.put(place.key, CachedAnswer(trace=kept, revision=place.revision))

    async def forget_prompt(self, asked: ChatPrompt, language: str) -> None:
        """Remove the cached answer to a prompt."""
        key = self._keys.key(asked, language)
        await self._ask(lambda cache: cache.delete(f"{PREFIX}{key}"))


class CacheKeys:
    """Computes keys from everything that determines an answer."""

    def __init__(self, config: RagConfig, gate_version: str, ledger: bytes) -> None:
        """`ledger` is its secret: servers with ledgers of their own can share a Redis, yet no answers."""
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
