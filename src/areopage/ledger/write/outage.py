"""A ledger that cannot be used for a while: its database is started again, or the network fails."""

import time
from collections.abc import Callable

from areopage.errors import StorageError

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 15.0


class LedgerOutage:
    """Says once that a ledger cannot be used, and once that it can again; for those that look at it again and again."""

    def __init__(
        self, tell: Callable[[str], None], patience: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Wait for no ledger yet; `tell` shows a line, and after `patience` seconds (None: never) the fault is raised."""
        self._tell, self._patience, self._clock = tell, patience, clock
        self._since: float | None = None
        self._pause = 0.0

    def met(self, fault: StorageError) -> float:
        """Note a fault; return the seconds to wait before the next look.

        Raises:
            StorageError: the ledger has not been usable for as long as `patience`.
        """
        now = self._clock()
        if self._since is None:
            self._since, self._pause = now, FIRST_PAUSE
            self._tell(f"{fault}: trying again until the ledger can be used")
        elif self._patience is not None and now - self._since >= self._patience:
            raise fault
        else:
            self._pause = min(LONGEST_PAUSE, 2 * self._pause)
        return self._pause

    def over(self) -> None:
        """Note that the ledger can be used."""
        if self._since is not None:
            self._since = None
            self._tell("the ledger can be used again")
