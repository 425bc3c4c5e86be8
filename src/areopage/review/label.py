"""Take one rater's label of one answer."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from areopage.errors import UserError
from areopage.ledger.access import Audit
from areopage.ledger.answers import Answers
from areopage.ledger.labels import Labels
from areopage.ledger.records import Label
from areopage.ledger.store import Ledger
from areopage.review.rubric import Rubric

MAX_RATER = 128
MAX_NOTE = 10_000

Origin = Literal["web", "api", "cli", "import"]


def label_answer(
    ledger: Ledger, rubric: Rubric, id: str, rater: str, scores: Mapping[str, str], note: str, origin: Origin, now: datetime
) -> list[Label]:
    """Append a rater's scores of an answer, with an entry in the audit log.

    Args:
        scores: criterion by any of its names -> score as written; empty scores are left out.

    Returns:
        The labels.

    Raises:
        UserError: there is no such answer, a score or a name is wrong, or there is no score at all.
    """
    name = rater_name(rater)
    given = scores_of(rubric, scores)
    if not given:
        raise UserError("no score is given: score at least one criterion")
    if not Answers(ledger).known([id]):
        raise UserError(f"no answer {id!r} in {ledger.place}: areopage review list shows those that wait")
    labels = [
        Label(
            answer_id=id,
            rater=name,
            criterion=criterion,
            score=score,
            note=note.strip()[:MAX_NOTE],
            origin=origin,
            created_at=now,
        )
        for criterion, score in given.items()
    ]
    Labels(ledger).add(labels)
    Audit(ledger).note(name, "label", id, ", ".join(f"{label.criterion or 'global'}={label.score:g}" for label in labels))
    return labels


def scores_of(rubric: Rubric, scores: Mapping[str, str]) -> dict[str, float]:
    """Scores by criterion path, "" the overall one.

    Raises:
        UserError: a criterion or a score is wrong, or one criterion is named twice.
    """
    given: dict[str, float] = {}
    for name, text in scores.items():
        if not text.strip():
            continue
        criterion = rubric.find(name) if name else ""
        if criterion in given:
            raise UserError(f"{name}: this criterion is scored twice: give one score")
        try:
            given[criterion] = rubric.score(text)
        except UserError as fault:
            raise UserError(f"{name or 'global'}: {fault}") from None
    return given


def rater_name(text: str) -> str:
    """A rater's name without stray spaces.

    Raises:
        UserError: it is empty or too long.
    """
    name = " ".join(text.split())
    if not name or len(name) > MAX_RATER:
        raise UserError(f"a rater's name has 1 to {MAX_RATER} characters")
    return name
