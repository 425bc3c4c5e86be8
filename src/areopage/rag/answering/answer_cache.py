"""Where the answer cache lies: in memory or in Redis.

Values are JSON, never pickles: whoever can write into a shared Redis must not be able to run code here.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from areopage.errors import MissingExtra
from areopage.ledger.records import Trace
from areopage.rag.config import RagConfig

if TYPE_CHECKING:
    from cashews import Cache

MEMORY, OFF = "memory", "off"
REDIS_SCHEMES = ("redis", "rediss")
PREFIX = "areopage:answer:"
PATIENCE = 1.0  # seconds for one look-up: a store that is slower is of no use
PAUSE = 10.0  # seconds without the store after it failed


class CachedAnswer(Struct, frozen=True, kw_only=True):
    """The trace of a delivered answer, and what tells whether it may be given again.

    Args:
        revision: the collection's when the documents were retrieved.
        label: the number of the latest label when the prompt came; see `Traces.stands`.
    """

    trace: Trace
    revision: str
    label: int


class AnswerCache:
    """Keeps delivered answers. A store that fails is gone without: it is said once, and looked for again after a while."""

    def __init__(self, config: RagConfig, say: Callable[[str], None]) -> None:
        """Args:
        say: gets the warning about a store that cannot be reached.

        Raises:
            ConfigError: the store is neither `memory`, `off` nor a Redis URL.
            MissingExtra: cashews is not installed.
        """
        section = config.section.cache
        self._store = section.store
        self._section = section
        self._say = say
        self._warned = False
        self._paused_until = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        if self._store not in (MEMORY, OFF) and urlsplit(self._store).scheme not in REDIS_SCHEMES:
            raise config.fault(f"is {self._store!r}: write memory, off, or redis://HOST:PORT/NUMBER", "cache", "store")
        self._cache = self._new_cache() if self.enabled else None

    @property
    def enabled(self) -> bool:
        """Whether answers are kept at all."""
        return self._store != OFF

    async def get(self, key: str) -> CachedAnswer | None:
        """The answer of a key; None where there is none, or the store fails."""
        found = await self._ask(lambda cache: cache.get(f"{PREFIX}{key}"))
        if not isinstance(found, bytes):
            return None
        try:
            return msgspec.json.decode(found, type=CachedAnswer)
        except msgspec.DecodeError:  # somebody else's entry, or damaged: as good as none
            return None

    async def put(self, key: str, answer: CachedAnswer) -> None:
        """Keep an answer for the configured time."""
        entry = msgspec.json.encode(answer)
        await self._ask(lambda cache: cache.set(f"{PREFIX}{key}", entry, expire=self._section.seconds))

    async def forget(self, key: str) -> None:
        """Let go of the answer of a key."""
        await self._ask(lambda cache: cache.delete(f"{PREFIX}{key}"))

    async def aclose(self) -> None:
        """Let go of connections."""
        if self._cache is not None and self._loop is asyncio.get_running_loop():
            await self._cache.close()

    async def _ask(self, do: "Callable[[Cache], Awaitable[object]]") -> object:
        """Ask the store; None where it fails, or failed a moment ago."""
        cache = self._here()
        if cache is None or time.monotonic() < self._paused_until:
            return None
        from cashews.exceptions import CacheError

        faults: tuple[type[Exception], ...] = (CacheError, OSError, TimeoutError, *redis_faults())
        try:
            async with asyncio.timeout(PATIENCE):
                found = await do(cache)
        except faults as fault:
            self._paused_until = time.monotonic() + PAUSE
            if not self._warned:
                self._warned = True
                reason = " ".join(str(fault.__cause__ or fault).split()) or f"no answer within {PATIENCE:g} s"
                self._say(f"the answer cache at {shown(self._store)} cannot be reached, answers are not kept: {reason}")
            return None
        self._warned = False
        return found

    def _here(self) -> "Cache | None":
        """The cache of the running event loop: connections belong to a loop, entries in memory to none."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            if self._loop is not None and self.enabled and self._store != MEMORY:
                self._cache = self._new_cache()
            self._loop = loop
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


def redis_faults() -> tuple[type[Exception], ...]:
    """What the Redis client raises by itself; nothing where it is not installed, and so cannot be in use."""
    try:
        from redis.exceptions import RedisError
    except ModuleNotFoundError:
        return ()
    return (RedisError,)


def shown(url: str) -> str:
    """A store's address without its password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" if parts.scheme else url
