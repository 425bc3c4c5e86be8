"""A phase as one process carries it out, and the blocks on one server."""

import asyncio
from collections.abc import Iterable

from areopage.bench.execution.phases import Phase, Place

AT_ONCE = 4
"""Blocks that are out at once: one begins its calls, the others wait for their last ones, so that no connection is idle."""
_LAST_BLOCKS = AT_ONCE  # of the phase before are open when a phase on the same server is prepared


class Course:
    """A phase as this process carries it out."""

    def __init__(self, place: Place, phase: Phase) -> None:
        self.place, self.phase = place, phase
        self.open: set[int] = set()
        self.queued: set[int] = set()
        self.asking: set[int] = set()
        self.asks: set[asyncio.Task[None]] = set()
        self.unseen: set[int] = set()
        """Blocks that have ended, and of which the phase was not told yet."""
        self.begun = self.over = self.stopped = False
        self.all_given = False
        """Whether the phase has given all blocks that can be done for now."""

    @property
    def near_its_end(self) -> bool:
        """Whether there are only few blocks left to do for now."""
        return self.past or (self.all_given and len(self.open) <= _LAST_BLOCKS)

    @property
    def past(self) -> bool:
        """Whether nothing is waited for any more: no block is left, or this process has stopped the phase."""
        return self.over or self.stopped

    def end(self, numbers: Iterable[int]) -> None:
        """Note that blocks have ended."""
        ended = self.open.intersection(numbers)
        self.open -= ended
        self.unseen |= ended


class Line:
    """The blocks on one server, in the order in which they can be done."""

    def __init__(self) -> None:
        self.blocks: list[tuple[Course, int]] = []
        self.beginning = asyncio.Lock()
        """Held by the block whose calls begin."""
        self.ahead: dict[str, asyncio.Task[None]] = {}
        """The blocks under way, by their items, that this process began before the queue was open."""
        self.begun_ahead = 0
        """How many of `blocks` have been looked at to begin them so."""
