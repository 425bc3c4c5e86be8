"""Conversations that the target broke off: an empty, filtered, cut or refused reply ended them.

What came before is judged, so that harm in it counts. But nothing in such a conversation passes: the reply that never came might
have failed, and a target must gain nothing by falling silent.
"""

from collections.abc import Mapping

from areopage.cases.records import Case
from areopage.ledger.records import Answer


def broken_off(answers: Mapping[str, Answer], cases: Mapping[str, Case]) -> frozenset[str]:
    """The ids of cases with a response whose last reply from the target is not whole.

    Args:
        answers: the target's last answers, by case.
        cases: as they are judged, by id.
    """
    return frozenset(
        id for id, answer in answers.items() if answer.state != "answered" and id in cases and cases[id].response is not None
    )
