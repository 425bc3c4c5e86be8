"""What the rows of exams and of canaries have in common: which judge was asked about which criterion, and for what it holds."""

from datetime import datetime

from msgspec import Struct


class ExamRow(Struct, frozen=True, kw_only=True):
    """A judge on a criterion in an exam.

    Args:
        number: given by the database (0 before).
        exam: the id of the exam.
        judge, model: its name and reference then; `digest` identifies its weights, where they are known.
        criterion: its id, which holds its version.
        keys: one for each language, of what the result holds for: see `standing_key`.
    """

    number: int = 0
    exam: str
    at: datetime
    suite: str
    judge: str
    model: str
    digest: str
    criterion: str
    keys: tuple[str, ...]

    @property
    def path(self) -> str:
        """The criterion's path, without its version."""
        return self.criterion.rpartition("__v")[0]
