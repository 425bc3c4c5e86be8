"""Scores of answers in production: written once per answer, together with the day's counts; read one by one."""

from collections.abc import Sequence
from datetime import datetime

from areopage.cases.records import Case
from areopage.ledger.quality_records import JudgeUse, QualityScore
from areopage.ledger.records import Judgment
from areopage.ledger.store import Ledger


class QualityScores:
    """The table `quality_scores` and what is kept in step with it. Each method is one transaction."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def finish(self, score: QualityScore, uses: Sequence[JudgeUse], keys: Sequence[str], stored_case: Case | None) -> bool:
        """Write an answer's score and its criteria, count it for its day and its judges, link its judgments, set it evaluated.

        Args:
            keys: the keys of its judgments.
            stored_case: what stays of the submission's case (by the storage policy); None leaves it as it is.

        Returns:
            False where the answer had its row already: nothing is changed then, nothing counted twice.
        """
        raise NotImplementedError

    def get(self, id: str) -> QualityScore | None:
        """An answer's score by its id."""
        raise NotImplementedError

    def judgments(self, id: str) -> list[Judgment]:
        """Every judgment of an answer, failed attempts too, in the order they came."""
        raise NotImplementedError

    def erase(self, ids: Sequence[str]) -> int:
        """Remove answers wholly: submission, score, criteria, judgments, alerts' texts, review items, labels' notes, index.

        The days' counts stay: they hold no text. Judgments that another answer shares stay until that one goes.

        Returns:
            How many answers there were.
        """
        raise NotImplementedError

    def older_than(self, moment: datetime, limit: int) -> list[str]:
        """Ids of submissions received before a moment (evaluated or not), oldest first."""
        raise NotImplementedError
