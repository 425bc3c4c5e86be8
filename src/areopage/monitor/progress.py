"""The progress of a worker."""

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

from areopage.ledger.queries import Backlog
from areopage.ledger.records import Judgment

WINDOW = 30.0
End = Literal["evaluated", "unscored", "again", "given_up"]
"""How an attempt ended: with a score, finally without one, to be made again, or with no attempt left."""


class Progress(Struct, frozen=True, kw_only=True):
    """A worker's completed work since its start, and all remaining work.

    Args:
        evaluated: answers that got a score; `unscored` those that finally got none.
        again: attempts that brought nothing and will be made again.
        given_up: answers that no attempt is left for.
        rate: answers a second over the last half minute, or since the start where that is shorter.
        backlog: of the ledger.
        cost: what was paid so far, by currency.
        seconds: since the start.
    """

    evaluated: int
    unscored: int
    again: int
    given_up: int
    rate: float
    backlog: Backlog
    cost: dict[str, float]
    seconds: float

    @property
    def left(self) -> int:
        """The number of unevaluated answers."""
        return self.backlog.waiting

    @property
    def seconds_left(self) -> float | None:
        """The estimated remaining seconds; None if unknown."""
        return self.left / self.rate if self.rate > 0 else None


class ProgressCounter:
    """Counts attempts as they end."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._ends: Counter[str] = Counter()
        self._cost: dict[str, float] = {}
        self._moments: deque[float] = deque()

    def add(self, end: End | None, paid: Sequence[Judgment] = ()) -> None:
        """Add an ended attempt (None: none) and its paid calls."""
        if end is not None:
            self._ends[end] += 1
        for judgment in paid:
            if judgment.cost is not None and judgment.currency:
                self._cost[judgment.currency] = self._cost.get(judgment.currency, 0.0) + judgment.cost
        if end in ("evaluated", "unscored"):
            self._moments.append(self._clock())

    def now(self, backlog: Backlog) -> Progress:
        """The current progress."""
        moment = self._clock()
        while self._moments and self._moments[0] < moment - WINDOW:
            self._moments.popleft()
        seconds = moment - self._began
        return Progress(
            evaluated=self._ends["evaluated"],
            unscored=self._ends["unscored"],
            again=self._ends["again"],
            given_up=self._ends["given_up"],
            rate=len(self._moments) / max(1e-3, min(seconds, WINDOW)),
            backlog=backlog,
            cost=dict(self._cost),
            seconds=seconds,
        )
