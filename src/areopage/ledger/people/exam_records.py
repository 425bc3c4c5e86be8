"""The results of exams of judges, and of rounds of canaries: one judge on one criterion each."""

from datetime import datetime

from msgspec import Struct

from areopage.scoring import CriterionExam, ExamItem, ExamState, Look, Said, Shift


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


class Qualification(ExamRow, frozen=True, kw_only=True):
    """The result of one judge on one criterion in one exam; other fields as of `ExamRow`.

    Args:
        at: when the exam was finished.
        template: the version of the prompt template.
        languages: those of the gold rows.
        gold: SHA-256 of the gold rows; `whole`: they are all of the suite's. Only a whole exam gives a standing.
        salt: what set the exam's calls apart from all others; "" for nothing.
        result: figures, marks, and whether they are met.
        items: what the judge said, row by row.
    """

    template: str
    languages: tuple[str, ...]
    gold: str
    whole: bool
    salt: str = ""
    result: CriterionExam
    items: tuple[ExamItem, ...] = ()

    @property
    def state(self) -> ExamState:
        """Whether all marks are met."""
        return self.result.state


class CanaryRound(ExamRow, frozen=True, kw_only=True):
    """What one round says of one judge on one criterion; other fields as of `ExamRow`.

    Args:
        round: the id of the round, shared by its criteria.
        exam: the id of the exam that it is compared with; `sequence` counts the rounds since then, from 1.
        at: when the round began.
        moved: the judge's scores moved, by this round or an earlier one since the exam; `found` is the number of that round.
        look: the evidence of all rounds so far.
        shift: how far the latest scores lie from those before; of a judge that moved as it was found.
        items: what the judge said of each row, pass by pass.
    """

    round: str
    sequence: int
    moved: bool
    found: int = 0
    look: Look
    shift: Shift
    items: dict[str, tuple[Said, ...]] = {}
