"""The passes of a run in order, each with its judgment, its outcome, and its score on the run's scale."""

from collections.abc import Iterator

from msgspec import Struct

from areopage.bench.results import RunView, outcome_for
from areopage.ledger.records import Judgment
from areopage.scoring.outcome import Outcome, Scored, outcome_name
from areopage.scoring.reduce import CriterionScore

NOT_RUN = "not_run"


class PassView(Struct, frozen=True, kw_only=True):
    """One planned pass. `score` is on the run's scale; `judgment` and `outcome` are None where the judge was not asked."""

    case_id: str
    criterion: str
    judge: str
    pass_index: int
    judgment: Judgment | None
    outcome: Outcome | None
    score: float | None

    @property
    def outcome_name(self) -> str:
        """The outcome's name, `not_run` where there is none."""
        return outcome_name(self.outcome) if self.outcome is not None else NOT_RUN

    @property
    def reason(self) -> str:
        """Why there is no score; "" where there is one, or where the judge was not asked."""
        return "" if self.outcome is None or isinstance(self.outcome, Scored) else self.outcome.reason

    @property
    def verdict(self) -> Scored | None:
        """The outcome, if it is a score."""
        return self.outcome if isinstance(self.outcome, Scored) else None


def passes_of(view: RunView, score: CriterionScore) -> Iterator[PassView]:
    """The planned passes over one criterion of one case, judge by judge."""
    own = view.spec.criteria_by_id()[score.criterion].scale
    for judge in score.judges:
        for number in range(1, judge.planned + 1):
            judgment = view.judgments.get((score.case_id, score.criterion, judge.judge, number))
            outcome = outcome_for(judgment, score.criterion)
            yield PassView(
                case_id=score.case_id,
                criterion=score.criterion,
                judge=judge.judge,
                pass_index=number,
                judgment=judgment,
                outcome=outcome,
                score=own.map_to(outcome.score, view.spec.scale) if isinstance(outcome, Scored) else None,
            )


def all_passes(view: RunView) -> Iterator[PassView]:
    """Every planned pass of a run, in order of cases."""
    for record in view.scores.records:
        for score in record.criteria:
            yield from passes_of(view, score)


def quoted_verbatim(extract: str, folded_response: str) -> bool:
    """Whether an extract stands in a response word for word; runs of white space count as one space.

    Args:
        folded_response: the response as `fold_space` leaves it.
    """
    folded = fold_space(extract)
    return bool(folded) and folded in folded_response


def fold_space(text: str) -> str:
    """A text with every run of white space made one space."""
    return " ".join(text.split())
