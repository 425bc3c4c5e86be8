"""Workers: their ids, heartbeats, who is alive and who leads.

A worker is known by its computer and the first free lock file there: a process that starts again takes the id of the one that
died, so that the death is known at once. Each start is a new executor: nothing of the one before is taken for its own.
"""

import logging
import os
import socket
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from areopage.errors import StorageError
from areopage.file_lock import hold, hold_existing, remove
from areopage.ledger import Heartbeat, Ledger

LOG = logging.getLogger(__name__)
MOST_WORKERS = 1000
LONGEST_HOST = 60
HEARTBEATS_MISSED = 2.5


class WorkerId:
    """A worker's id, held until it is released or its process dies."""

    def __init__(self, folder: Path, pool: str, host: str | None = None) -> None:
        """Take the first free id.

        Args:
            folder: where the lock files lie; the same for all workers of a pool on this computer.
            pool: the worker pool.
            host: the computer's name; None: ask it.
        """
        self.host = host or socket.gethostname()
        self._folder = folder
        self._lock, number = _take(folder)
        self._place = folder / f"worker-{number}.lock"
        # Two computers may share a name; hardly also the id of a start of the system and the place of a folder.
        place = folder.stat()
        digest = zlib.crc32(f"{self.host} {_boot_id()} {place.st_dev} {place.st_ino} {pool}".encode())
        self.name = f"{self.host[:LONGEST_HOST]}-{digest:08x}-{number}"

    def is_free(self, id: str) -> bool:
        """Whether the process that had another id of this folder has ended; False for ids of other computers and folders."""
        begin, _, number = id.rpartition("-")
        if id == self.name or begin != self.name.rpartition("-")[0] or not number.isdecimal():
            return False
        place = self._folder / f"worker-{number}.lock"
        if not place.exists():
            return True
        lock = hold(place)
        if lock is None:
            return False
        os.close(lock)
        return True

    def release(self) -> None:
        """Release the id and remove its lock file; may be called twice."""
        if self._lock is not None:
            remove(self._place, self._lock)
            self._lock = None


class Presence:
    """One worker's heartbeats, and what it knows of the others of its pool. Its methods may be called from any thread."""

    def __init__(self, ledger: Ledger, id: WorkerId, pool: str, *, dead_after: float, every: float) -> None:
        """Begin; nothing is written before the first heartbeat.

        Args:
            dead_after: seconds without a heartbeat after which a worker counts as dead.
            every: seconds between two heartbeats.
        """
        now = datetime.now(UTC)
        self._id, self._workers, self._pool = id, ledger.workers, pool
        self._dead_after, self._silence = dead_after, min(dead_after, HEARTBEATS_MISSED * every)
        self._me = Heartbeat(id=id.name, pool=pool, host=id.host, process=os.getpid(), started_at=now, seen_at=now, state="alive")
        self.executor = executor_of(self._me)
        self._ended: list[str] = []
        self.leads = False
        self.live: frozenset[str] = frozenset({self.executor})
        """The executors that are alive, as known at the last heartbeat."""

    def beat(self, now: datetime) -> None:
        """Send a heartbeat, and read those of the others. On this computer the end of a process is known without them."""
        self._workers.beat(msgspec.structs.replace(self._me, seen_at=now))
        listed = self._workers.list(self._pool)
        self._ended = [worker.id for worker in listed if worker.state == "alive" and self._id.is_free(worker.id)]
        others = [worker for worker in listed if worker.id not in self._ended]
        self.live = frozenset(live_executors(others, now, self._dead_after) | {self.executor})
        self.leads = leader_of(others, now, self._silence) in ("", self._me.id)

    def mark_dead(self, now: datetime) -> list[str]:
        """Mark the workers of the pool that sent no heartbeat for too long; returns their ids."""
        silent = [worker.id for worker in self._workers.silent(now - timedelta(seconds=self._dead_after), self._pool)]
        dead = list(dict.fromkeys([*silent, *self._ended]))
        for id in dead:
            self._workers.mark(id, "taken_over")
        return dead

    def leave(self) -> None:
        """Mark this worker as stopped, if the ledger can be written."""
        try:
            self._workers.mark(self._me.id, "stopped")
        except StorageError as fault:
            LOG.warning("the worker's end cannot be noted: %s", fault)


def executor_of(worker: Heartbeat) -> str:
    """The id of a worker's start, as the queue knows it."""
    return f"{worker.id}@{round(worker.started_at.astimezone(UTC).timestamp() * 1000)}"


def live_executors(workers: Sequence[Heartbeat], now: datetime, dead_after: float) -> set[str]:
    """The executors that sent a heartbeat not long ago and did not stop."""
    since = now - timedelta(seconds=dead_after)
    return {executor_of(worker) for worker in workers if worker.state == "alive" and worker.seen_at > since}


def leader_of(workers: Sequence[Heartbeat], now: datetime, silence: float) -> str:
    """The worker that acts for all: the first by id of those with a recent heartbeat; "" for none."""
    since = now - timedelta(seconds=silence)
    return min((worker.id for worker in workers if worker.state == "alive" and worker.seen_at > since), default="")


def _boot_id() -> str:
    """The id of the system's last start; "" where the system has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _take(folder: Path) -> tuple[int | None, int]:
    """The lock and the number, from 1, of the first free id."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(1, MOST_WORKERS + 1):
            lock = hold_existing(folder / f"worker-{number}.lock")
            if lock is not None:
                return lock, number
    except OSError as error:
        raise StorageError(f"{error.filename or folder}: {error.strerror}: a worker must be able to write there") from None
    raise StorageError(f"{folder}: {MOST_WORKERS} workers are running here already: stop some")
