"""The review queue and people's labels."""

from collections.abc import Sequence
from datetime import datetime

from areopage.ledger.quality_records import Label, ReviewItem
from areopage.ledger.store import Ledger


class ReviewQueue:
    """The table `review_items`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def add(self, items: Sequence[ReviewItem]) -> int:
        """Queue answers; one that is in the queue already (open or done) stays as it is. Returns how many are new."""
        raise NotImplementedError

    def open_items(self, rater: str | None = None, *, limit: int = 50, after: int = 0) -> Sequence[ReviewItem]:
        """Open items in order of arrival; with a rater, only those that he has not labelled yet."""
        raise NotImplementedError

    def item(self, submission_id: str) -> ReviewItem | None:
        """The item of an answer."""
        raise NotImplementedError

    def count_open(self) -> int:
        """How many are open."""
        raise NotImplementedError


class Labels:
    """The table `labels`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def add(self, labels: Sequence[Label]) -> None:
        """Append labels, and set review items done that have as many raters as wanted."""
        raise NotImplementedError

    def of(self, submission_id: str) -> Sequence[Label]:
        """The labels of an answer in the order they came, replaced ones too."""
        raise NotImplementedError

    def current(self, since: datetime | None = None) -> Sequence[Label]:
        """The label that counts for each answer, rater and criterion: the latest."""
        raise NotImplementedError

    def judge_scores(self, submission_ids: Sequence[str]) -> dict[str, dict[str, float]]:
        """What the jury gave these answers: id -> criterion -> score; "" is the global score; None scores are left out."""
        raise NotImplementedError
