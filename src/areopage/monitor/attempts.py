"""What follows an attempt that brought no score: another one after a pause, or none."""

import random
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Literal

from areopage.ledger.evaluations import OPEN_STATES, Evaluations
from areopage.ledger.records import Evaluation
from areopage.monitor.config import WorkerSection

Ending = Literal["evaluated", "unscored", "again", "given_up", "passed"]
"""How an attempt ended: with a score, finally without one, to be tried again, with nothing left to try, or with nothing to do."""

MOST_DEATHS = 5
SUSPECT_AFTER = 2
SPREAD = 0.25


class Attempts:
    """Counts attempts at answers and says when the next one is due. Several workers may do so for one answer."""

    def __init__(self, evaluations: Evaluations, section: WorkerSection, draw: Callable[[], float] = random.random) -> None:
        """Args:
        evaluations: the table.
        section: how many attempts there are, and the pauses between them.
        draw: a random number in [0, 1).
        """
        self.evaluations, self._section, self._draw = evaluations, section, draw

    def last(self, attempt: int) -> bool:
        """Whether no attempt follows the one with this number (from 0)."""
        return attempt + 1 >= self._section.attempts

    def failed(self, id: str, attempt: int, reason: str, now: datetime) -> Ending:
        """Another attempt after a pause, or none; nothing where somebody else has seen to the answer meanwhile."""
        return self._settle(id, attempt, reason, now + self.pause(attempt + 1))

    def died(self, id: str, attempt: int, now: datetime) -> Ending:
        """The worker died while it judged an answer; that may be the answer's fault.

        After the first death it is tried again at once; after the second it is a suspect (see `suspects`) and is tried again
        after a pause, and the one that kills is given up in the end.
        """
        evaluation = self._still(id, attempt)
        if evaluation is None:
            return "passed"
        deaths = evaluation.deaths + 1
        reason = f"its worker died {deaths} time{'s' if deaths > 1 else ''} in a row"
        if deaths >= MOST_DEATHS or self.last(attempt):
            self.evaluations.give_up(id, f"{reason}: judging it may be what kills")
            return "given_up"
        self.evaluations.retry(id, now if deaths == 1 else now + self.pause(deaths - 1), reason, deaths)
        return "again"

    def suspects(self, items: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
        """Those of some answers (id, attempts made) at which workers died twice in a row.

        Any of them may be what kills. They are to be tried one at a time, so that the innocent part from the guilty.
        """
        found = []
        for id, attempt in items:
            if attempt >= SUSPECT_AFTER:
                evaluation = self._still(id, attempt)
                if evaluation is not None and evaluation.deaths >= SUSPECT_AFTER:
                    found.append((id, attempt))
        return found

    def is_open(self, id: str, attempt: int) -> bool:
        """Whether an attempt has not ended yet."""
        return self._still(id, attempt) is not None

    def put_back(self, id: str, attempt: int, reason: str, now: datetime) -> Ending:
        """An attempt that came to nothing by no fault of its own is made again at once."""
        return self._settle(id, attempt, reason, now)

    def pause(self, failures: int) -> timedelta:
        """The pause after so many failures, give or take a quarter, so that what failed together does not come back together."""
        seconds = min(self._section.longest_pause, self._section.pause * 2.0 ** min(failures - 1, 60))
        return timedelta(seconds=seconds * (1 - SPREAD + 2 * SPREAD * self._draw()))

    def _settle(self, id: str, attempt: int, reason: str, at: datetime) -> Ending:
        if self._still(id, attempt) is None:
            return "passed"
        if self.last(attempt):
            self.evaluations.give_up(id, reason)
            return "given_up"
        self.evaluations.retry(id, at, reason)
        return "again"

    def _still(self, id: str, attempt: int) -> Evaluation | None:
        evaluation = self.evaluations.get(id)
        return evaluation if evaluation and evaluation.state in OPEN_STATES and evaluation.attempts == attempt else None
