"""What has no verdict in a run, case by case, and why."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from msgspec import Struct

from areopage.ledger.records import Answer
from areopage.scoring.fold import RecordScores
from areopage.scoring.outcome import Given, Outcome, outcome_name

NOT_RUN = "not_run"

OutcomeAt = Callable[[str, str, str, int, int], Outcome | None]
"""The outcome of a pass by case, criterion, judge, number and turn; None where the judge was not asked."""


class MissingVerdict(Struct, frozen=True, kw_only=True):
    """Verdicts on a case that are missing for one reason.

    Args:
        judge: "" if the target gave no answer that could be judged.
        state: of the target's answer, or the outcome of the judge's pass; `not_run` where there is none.
        criteria: the ids of the criteria without the verdict.
        counts_first: one of them belongs to the categories whose failures count first.
    """

    case_id: str
    judge: str
    state: str
    reason: str
    criteria: tuple[str, ...]
    counts_first: bool


def missing_verdicts(
    records: Iterable[RecordScores],
    outcome_at: OutcomeAt,
    unanswered: Mapping[str, str],
    answers: Mapping[str, Answer],
    first: Collection[str],
) -> Iterator[MissingVerdict]:
    """The missing verdicts of a run, in order of cases.

    Args:
        unanswered: the state of the answer by case, of cases without one that could be judged.
        first: the ids of the criteria whose failures count first.
    """
    for record in records:
        found: dict[tuple[str, str, str], dict[str, None]] = {}
        if record.case_id in unanswered:
            answer = answers.get(record.case_id)
            place = ("", unanswered[record.case_id], answer.reason if answer else "")
            found[place] = dict.fromkeys(one.criterion for one in record.criteria if not one.by_rule and one.score is None)
        else:
            for judge, criterion, outcome in _passes(record, outcome_at):
                if not isinstance(outcome, Given):
                    told = (NOT_RUN, "") if outcome is None else (outcome_name(outcome), outcome.reason)
                    found.setdefault((judge, *told), {})[criterion] = None
        for (judge, state, reason), criteria in found.items():
            yield MissingVerdict(
                case_id=record.case_id,
                judge=judge,
                state=state,
                reason=reason,
                criteria=tuple(criteria),
                counts_first=any(criterion in first for criterion in criteria),
            )


def _passes(record: RecordScores, outcome_at: OutcomeAt) -> Iterator[tuple[str, str, Outcome | None]]:
    for score in record.criteria:
        for judge, turn, number in score.planned_passes:
            yield judge, score.criterion, outcome_at(record.case_id, score.criterion, judge, number, turn)
