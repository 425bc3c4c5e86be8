"""Outages of judges: told once, probed at a fixed pace, and over with the first call that arrives."""

import logging
import time
from collections.abc import Callable, Iterable

from areopage.ledger import Judgment
from areopage.scoring import TimedOut, Unreachable

LOG = logging.getLogger(__name__)
FAILURES = 3
"""A judge counts as down after this number of failed calls in a row."""


class Outages:
    """Which judges are down, as this process has seen it. All its methods are called in one event loop."""

    def __init__(self, probe_pause: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._pause, self._clock = probe_pause, clock
        self._failures: dict[str, int] = {}
        self._next_probe = 0.0
        self._wake = False
        self._seen: set[str] = set()

    def note(self, judgments: Iterable[Judgment]) -> None:
        """Note calls that were just made."""
        for judgment in judgments:
            fault = next(
                (verdict.outcome for verdict in judgment.verdicts if isinstance(verdict.outcome, TimedOut | Unreachable)), None
            )
            if fault is None:
                self._answered(judgment.judge)
                continue
            judge, reason = judgment.judge, fault.reason if isinstance(fault, Unreachable) else "no answer in time"
            self._failures[judge] = self._failures.get(judge, 0) + 1
            if self._failures[judge] == FAILURES:
                LOG.warning("judge %s fails: answers wait and are tried again until it works: %s", judge, reason)
                self._next_probe = self._clock() + self._pause

    def _answered(self, judge: str) -> None:
        was_down = self._failures.pop(judge, 0) >= FAILURES
        if was_down:
            LOG.warning("judge %s works again: the answers that waited for it are tried now", judge)
        # what waited before this process had started waits for nothing any more either
        self._wake = self._wake or was_down or judge not in self._seen
        self._seen.add(judge)

    def probe_is_due(self) -> bool:
        """Whether an answer should be tried now to see if a judge works again; the next probe is due after the pause."""
        if self._clock() < self._next_probe or not any(count >= FAILURES for count in self._failures.values()):
            return False
        self._next_probe = self._clock() + self._pause
        return True

    def woken(self) -> bool:
        """Whether answers that wait for another attempt should be tried now; says so once."""
        wake, self._wake = self._wake and not any(count >= FAILURES for count in self._failures.values()), False
        return wake
