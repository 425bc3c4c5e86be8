"""Conversations that the target broke off: an empty, filtered, cut or refused reply ended them.

What came before is judged, so that harm in it counts. But nothing in such a conversation passes: the reply that never came might
have failed, and a target must gain nothing by falling silent.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from areopage.cases.records import Case
from areopage.criteria.records import Scale
from areopage.ledger.records import Answer
from areopage.scoring.failures import is_failure
from areopage.scoring.outcome import PlannedPass
from areopage.scoring.reduce import CriterionScore


def broken_off(answers: Mapping[str, Answer], cases: Mapping[str, Case]) -> frozenset[str]:
    """The ids of cases with a response whose last reply from the target is not whole.

    Args:
        answers: the target's last answers, by case.
        cases: as they are judged, by id.
    """
    return frozenset(
        id for id, answer in answers.items() if answer.state != "answered" and id in cases and cases[id].response is not None
    )


def only_failures(
    passes: Iterable[PlannedPass],
    scores: Iterable[CriterionScore],
    broken: Collection[str],
    limits: Mapping[str, float],
    scale: Scale,
) -> Sequence[PlannedPass]:
    """The passes, where those of cases in `broken` keep their outcome only on the criteria that the case fails.

    Args:
        scores: what all outcomes make.
        limits: of the criteria by id, on the scale of the scores.
    """
    failed = {(one.case_id, one.criterion) for one in scores if one.case_id in broken and is_failure(one, limits, scale)}
    return [
        one
        if one.case_id not in broken or one.by_rule or (one.case_id, one.criterion) in failed
        else msgspec.structs.replace(one, outcome=None)
        for one in passes
    ]
