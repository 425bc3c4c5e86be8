"""What has no verdict in a run, case by case, and why."""

from collections.abc import Collection, Iterator, Mapping

import numpy as np
from msgspec import Struct

from areopage.bench.results.run_columns import RunColumns
from areopage.bench.results.run_texts import RunJudgments
from areopage.ledger import StoredState
from areopage.scoring import OUTCOME_NAMES, ScoreColumns

NOT_RUN = "not_run"
_NAMES = (NOT_RUN, *OUTCOME_NAMES)


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
    columns: RunColumns,
    judgments: RunJudgments,
    scores: ScoreColumns,
    unanswered: Mapping[str, str],
    answers: Mapping[str, StoredState],
    first: Collection[str],
) -> Iterator[MissingVerdict]:
    """The missing verdicts of a run, in order of cases.

    Args:
        unanswered: the state of the answer by case, of cases without one that could be judged.
        first: the ids of the criteria whose failures count first.
    """
    passes = columns.passes
    found: dict[int, dict[tuple[str, str, str], dict[str, None]]] = {}
    for row, judge, number, code in columns.missing():
        if passes.cases[passes.case[row]] not in unanswered:
            criterion, at = passes.criteria[passes.criterion[row]], int(columns.judgment[row, judge, number])
            place = (passes.judges[judge], _NAMES[code], judgments.reasons.get((at, criterion), "") if code else "")
            found.setdefault(int(passes.case[row]), {}).setdefault(place, {})[criterion] = None
    for position, case_id in enumerate(passes.cases):
        if case_id in unanswered and (rows := scores.rows_of(case_id)):
            lacking = [row for row in rows if not scores.cells.by_rule[row] and np.isnan(scores.cells.score[row])]
            place = ("", unanswered[case_id], answers[case_id].reason if case_id in answers else "")
            found[position] = {place: dict.fromkeys(scores.criteria[scores.criterion[row]] for row in lacking)}
    for position in sorted(found):
        for (judge_name, state, reason), criteria in found[position].items():
            yield MissingVerdict(
                case_id=passes.cases[position],
                judge=judge_name,
                state=state,
                reason=reason,
                criteria=tuple(criteria),
                counts_first=any(criterion in first for criterion in criteria),
            )
