"""A server's stated limits, kept by all processes of a ledger together.

Each process has a part of a server's limits, which it renews in the ledger; see `EndpointShares`. A process that
cannot renew its part begins no call any more once the part may have returned to the others.
"""

import asyncio
import logging
import math
import socket
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from areopage.errors import StorageError
from areopage.ledger import Ledger
from areopage.models import CalledServer, Traffic

LOG = logging.getLogger(__name__)
RENEWED_EVERY = 1.0
SOON = 0.1
_NO_LIMIT = 1_000_000
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


class SharedLimits:
    """Keeps a process's calls within its part of each server's limits; use as `async with`, in the loop that makes the calls."""

    def __init__(self, ledger: Ledger, traffic: Traffic, *, without_limits: float = SOON) -> None:
        """Prepare; when the block begins, no model of `traffic` may be open in its event loop."""
        self._shares, self._traffic, self._without_limits = ledger.endpoint_shares, traffic, without_limits
        self._holder = self._shares.join()
        self._parts: dict[str, _LimitPart] = {}
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._traffic.share_limits()
        self._task = asyncio.create_task(self._keep())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Return this process's parts."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._parts:
            try:
                await asyncio.to_thread(self._shares.leave, self._holder)
            except StorageError as fault:
                LOG.warning("limits of servers are returned after %g s: %s", self._shares.silence, fault)

    async def _keep(self) -> None:
        while True:
            limited = self._traffic.limited()
            for server in limited:
                part = self._parts.setdefault(server_name(server.name, server.address), _LimitPart())
                waits, due = server.limiter.wanted > 0 and not (part.slots or part.failed), time.monotonic() >= part.due_at
                if waits or (due and (server.limiter.wanted or part.stored)):
                    await self._renew(server, server_name(server.name, server.address), part)
            await asyncio.sleep(SOON if limited else self._without_limits)

    async def _renew(self, server: CalledServer, name: str, part: "_LimitPart") -> None:
        limit, wanted, now = server.concurrency or _NO_LIMIT, server.limiter.wanted, time.monotonic()
        in_use = max(part.slots, server.limiter.open_calls)  # calls may begin meanwhile, up to the slots that are in force
        try:
            share = await asyncio.to_thread(self._shares.renew, name, self._holder, limit=limit, wanted=wanted, in_use=in_use)
        except StorageError as fault:
            part.due_at = now + RENEWED_EVERY
            if not part.slots or now - part.renewed_at > self._shares.silence / 2:
                if not part.failed:
                    LOG.error("no call to %s begins: its limits cannot be shared: %s", server.address, fault)
                part.slots, part.failed = 0, True
                server.limiter.limit_to(0)
            return
        slots = share.slots if share.rate > 0 else 0
        part.due_at = now + (SOON if slots < part.slots else RENEWED_EVERY)  # what is given up is soon free for others
        part.slots, part.stored, part.renewed_at, part.failed = slots, max(share.slots, in_use), now, False
        if share.rate > 0:
            server.limiter.pacer.limit_to(share.rate)
        whole = math.inf if server.concurrency is None and slots else slots
        server.limiter.limit_to(0 if self._traffic.held else whole)


@dataclass(slots=True)
class _LimitPart:
    """What this process has of a server's limits: the slots in force, those in the ledger, and times of the own clock."""

    slots: int = 0
    stored: int = 0
    renewed_at: float = 0.0
    due_at: float = 0.0
    failed: bool = False


def server_name(endpoint: str, address: str) -> str:
    """What all processes call a server: an address of the computer itself is another server on each computer."""
    here = socket.gethostname() if is_on_this_machine(address) else ""
    return f"{endpoint} {address} {here}".strip()


def is_on_this_machine(address: str) -> bool:
    """Whether an address is one of the computer itself."""
    return urlsplit(address).hostname in _THIS_MACHINE
