"""How far a worker is."""

import time
from collections import Counter, deque
from collections.abc import Callable

from msgspec import Struct

from areopage.ledger.queries import Backlog
from areopage.monitor.evaluate import Ended

WINDOW = 30.0


class Progress(Struct, frozen=True, kw_only=True):
    """What one worker has done since it started, and what is left for all.

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
        """How many answers are not evaluated yet."""
        return self.backlog.waiting + self.backlog.queued

    @property
    def seconds_left(self) -> float | None:
        """How long that takes at the present rate; None where nothing can be said."""
        return self.left / self.rate if self.rate > 0 else None


class Progressing:
    """Counts attempts as they end."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._endings: Counter[str] = Counter()
        self._cost: dict[str, float] = {}
        self._moments: deque[float] = deque()

    def add(self, ended: Ended) -> None:
        """One attempt has ended."""
        self._endings[ended.ending] += 1
        if ended.cost is not None and ended.currency:
            self._cost[ended.currency] = self._cost.get(ended.currency, 0.0) + ended.cost
        if ended.ending in ("evaluated", "unscored"):
            self._moments.append(self._clock())

    def now(self, backlog: Backlog) -> Progress:
        """How far it is."""
        moment = self._clock()
        while self._moments and self._moments[0] < moment - WINDOW:
            self._moments.popleft()
        seconds = moment - self._began
        return Progress(
            evaluated=self._endings["evaluated"],
            unscored=self._endings["unscored"],
            again=self._endings["again"],
            given_up=self._endings["given_up"],
            rate=len(self._moments) / max(1e-3, min(seconds, WINDOW)),
            backlog=backlog,
            cost=dict(self._cost),
            seconds=seconds,
        )
