"""What passes are told apart by, and what a judgment says on a criterion."""

from areopage.ledger import Judgment
from areopage.scoring import Outcome

PassKey = tuple[str, str, str, int, int]
"""Case, criterion, judge, pass and turn; the turn is 0 where the case is judged as a whole."""
Item = tuple[str, str, str, int]
"""Case, criterion, judge and turn."""


def outcome_for(judgment: Judgment | None, criterion: str) -> Outcome | None:
    """A judgment's outcome on a criterion."""
    if judgment is None:
        return None
    return next((verdict.outcome for verdict in judgment.verdicts if verdict.criterion == criterion), None)
