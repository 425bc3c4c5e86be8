"""API keys, looked up in the ledger and cached for a few seconds."""

import asyncio
import hashlib
import logging
import time

from starlette.concurrency import run_in_threadpool

from areopage.ledger.access import ApiKeys
from areopage.ledger.operations import ApiKey

REMEMBERED_SECONDS = 3.0
MOST_REMEMBERED = 1024
LONGEST_KEY = 256
LOG_SECONDS = 10.0

log = logging.getLogger(__name__)


class KeyDirectory:
    """Keys by their text and by their id. A revoked or new key is noticed within `REMEMBERED_SECONDS`."""

    def __init__(self, keys: ApiKeys) -> None:
        self._keys = keys
        self._found: dict[bytes, tuple[float, ApiKey]] = {}
        self._all: tuple[float, dict[str, ApiKey]] | None = None
        self._turn = asyncio.Lock()
        self._failures = FailureLog()

    async def find(self, key: str, client: str) -> ApiKey | None:
        """Find a key's record; a wrong key costs one look-up and is logged."""
        digest = hashlib.sha256(key.encode("utf-8", "replace")).digest()
        remembered = self._found.get(digest)
        if remembered is None:
            return await self._look_up(digest, key, client)
        if fresh(remembered[0]):
            return remembered[1]
        async with self._turn:  # of many requests with one key, one asks the ledger again
            remembered = self._found.get(digest)
            if remembered is not None and fresh(remembered[0]):
                return remembered[1]
            return await self._look_up(digest, key, client)

    async def _look_up(self, digest: bytes, key: str, client: str) -> ApiKey | None:
        record = await run_in_threadpool(self._keys.find, key) if len(key) <= LONGEST_KEY else None
        if record is None:
            self._found.pop(digest, None)
            self._failures.note(client)
            return None
        if len(self._found) >= MOST_REMEMBERED:
            self._found.clear()
        self._found[digest] = (time.monotonic(), record)
        return record

    async def by_id(self, key_id: str) -> ApiKey | None:
        """Find the record of a key that is not revoked."""
        return (await self._valid()).get(key_id)

    async def any(self) -> bool:
        """Whether a key exists, so that every client must send one."""
        return bool(await self._valid())

    async def _valid(self) -> dict[str, ApiKey]:
        if self._all is None or not fresh(self._all[0]):
            records = await run_in_threadpool(self._keys.list)
            self._all = (time.monotonic(), {record.id: record for record in records if record.revoked_at is None})
        return self._all[1]


class FailureLog:
    """Logs wrong keys: one line per `LOG_SECONDS`, with their number."""

    def __init__(self) -> None:
        self._count = 0
        self._logged_at = float("-inf")

    def note(self, client: str) -> None:
        """Count a wrong key."""
        self._count += 1
        if time.monotonic() - self._logged_at >= LOG_SECONDS:
            log.warning("invalid API key from %s (%d since the last message)", client, self._count)
            self._count, self._logged_at = 0, time.monotonic()


def fresh(at: float) -> bool:
    """Whether cached data of a moment is still valid."""
    return time.monotonic() - at < REMEMBERED_SECONDS
