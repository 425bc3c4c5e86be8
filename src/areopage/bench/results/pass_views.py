"""The planned passes of a run with what their judges said, and what judges may quote."""

from collections.abc import Iterator

from msgspec import Struct

from areopage.bench.results.run_data import RunData
from areopage.cases import Case
from areopage.ledger import Judgment
from areopage.scoring import CriterionScore, Given, Outcome, Scored


class PassView(Struct, frozen=True, kw_only=True):
    """One planned pass, over a reply if `turn` is not 0.

    `score` is on the run's scale; `judgment` and `outcome` are None where the judge was not asked.
    """

    case_id: str
    criterion: str
    judge: str
    pass_index: int
    turn: int
    judgment: Judgment | None
    outcome: Outcome | None
    score: float | None

    @property
    def outcome_name(self) -> str:
        """The outcome's name, `not_run` where there is none."""
        return self.outcome.name if self.outcome is not None else "not_run"

    @property
    def reason(self) -> str:
        """Why there is no verdict; "" where there is one, or where the judge was not asked."""
        return "" if self.outcome is None or isinstance(self.outcome, Given) else self.outcome.reason

    @property
    def explanation(self) -> str:
        """What the judge says of its verdict."""
        return self.outcome.explanation if isinstance(self.outcome, Given) else ""

    @property
    def verdict(self) -> Scored | None:
        """The outcome, if it is a score."""
        return self.outcome if isinstance(self.outcome, Scored) else None


def pass_views(view: RunData, score: CriterionScore) -> Iterator[PassView]:
    """Return the planned passes over a case's criterion, judge by judge."""
    scale, judgments = view.spec.criteria_by_id()[score.criterion].scale, view.judgments.of(score.case_id)
    for judge, turn, number in score.planned_passes:
        judgment = judgments.get((score.case_id, score.criterion, judge, number, turn))
        outcome = judgment.outcomes.get(score.criterion) if judgment is not None else None
        yield PassView(
            case_id=score.case_id,
            criterion=score.criterion,
            judge=judge,
            pass_index=number,
            turn=turn,
            judgment=judgment,
            outcome=outcome,
            score=scale.map_to(outcome.score, view.spec.scale) if isinstance(outcome, Scored) else None,
        )


def all_pass_views(view: RunData) -> Iterator[PassView]:
    """Every planned pass of a run, in order of cases."""
    view.judgments.expect(view.columns.passes.cases)
    for record in view.scores.records:
        for score in record.criteria:
            yield from pass_views(view, score)


def quoted_verbatim(extract: str, folded_response: str) -> bool:
    """Whether a response contains an extract literally; white space is normalised.

    Args:
        folded_response: the response as `fold_space` leaves it.
    """
    folded = fold_space(extract)
    return bool(folded) and folded in folded_response


def quotable(case: Case, turn: int, whole: bool) -> str:
    """What judges may quote of a reply (0: of the case), or of the whole conversation, as `fold_space` leaves it."""
    return fold_space("\n".join(case.replies) if whole else case.at(turn).response or "")


def fold_space(text: str) -> str:
    """Replace each run of white space by one space."""
    return " ".join(text.split())
