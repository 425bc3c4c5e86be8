"""What is to be queued next."""

from datetime import UTC, datetime, timedelta

from areopage.monitor.attempts import Attempts

AT_ONCE = 256
PER_PLACE = 4


class Due:
    """Chooses the answers that go to the queue: as many as keep all workers busy for a while, no more."""

    def __init__(self, attempts: Attempts, concurrency: int) -> None:
        """Args:
        attempts: of the ledger.
        concurrency: how many answers a worker judges at once.
        """
        self._attempts, self._concurrency = attempts, concurrency
        self._suspect: tuple[str, int] | None = None
        self._held = 0

    def take(self, *, leads: bool, live: int) -> list[tuple[str, int]]:
        """The answers to queue now, each with the number of the attempt, those due longest first.

        Args:
            leads: whether this worker sees to it for all; one that does not helps only where nothing is queued at all.
            live: how many workers there are.

        Raises:
            StorageError: the ledger cannot be read.
        """
        now = datetime.now(UTC)
        deep = max(AT_ONCE, PER_PLACE * self._concurrency * live)
        queued = len(self._attempts.evaluations.still_queued(now + timedelta(days=1), deep))
        if queued >= deep or (queued and not leads):
            return []
        return self._without_suspects(self._attempts.evaluations.due(now, min(deep - queued, AT_ONCE) + self._held))

    def _without_suspects(self, due: list[tuple[str, int]]) -> list[tuple[str, int]]:
        """Of the answers that workers may have died of, one at a time."""
        suspects = self._attempts.suspects(due)
        if suspects and (self._suspect is None or not self._attempts.is_open(*self._suspect)):
            self._suspect = suspects.pop(0)
        held = set(suspects)
        self._held = len(held)
        return [one for one in due if one not in held]
