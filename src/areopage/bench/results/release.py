"""The release verdict of a run, and why a run settles nothing."""

from typing import Literal

from areopage.bench.results.run_view import RunView
from areopage.ledger.records import NOT_WHOLE
from areopage.scoring.release import Release, RunState, release_verdict

Doubt = Literal["", "incomplete", "none_applies", "no_score", "coverage", "unscored_first", "release"]
"""Why a run settles nothing: calls are open, no criterion applies, nothing is scored, its coverage is too low, criteria whose
failures count first have no score, or its release verdict is INCONCLUSIVE; "" where it settles something."""


def doubt_about(view: RunView, release: Release | None) -> Doubt:
    """Why a run settles nothing, if its release verdict is not FAIL."""
    doubts: dict[Doubt, bool] = {
        "incomplete": not view.complete,
        "none_applies": view.coverage.none_applies,
        "no_score": view.scores.tree.score is None,
        "coverage": view.coverage.share < view.spec.min_coverage,
        "unscored_first": bool(view.failures.unscored),
        "release": release is not None and release.verdict == "INCONCLUSIVE",
    }
    return next((doubt for doubt, applies in doubts.items() if applies), "")


def run_release(view: RunView) -> Release | None:
    """The release verdict by the floors that the suite sets; None where it sets none."""
    spec = view.spec
    if spec.release is None:
        return None
    state = RunState(
        coverage=view.coverage.share,
        min_coverage=spec.min_coverage,
        complete=view.complete,
        unfit=tuple(standing.judge for standing in view.standings if standing.state == "unfit"),
        not_qualified=tuple(standing.judge for standing in view.standings if standing.state == "not_qualified"),
        drifted=tuple(standing.judge for standing in view.standings if standing.state == "drifted"),
        unexamined=tuple(standing.judge for standing in view.standings if standing.state == "never_examined"),
        ages={item.case.id: item.case.maturity for item in view.items},
        over_refusal=view.over_refusal,
        asked=len(view.asked),
        unanswered=tuple(id for id, state in view.states_of_asked.items() if state in NOT_WHOLE),
        withheld=view.withheld,
        rejected=len(view.rejected),
        unknown=tuple(id for id, state in view.states_of_asked.items() if state not in ("answered", *NOT_WHOLE)),
    )
    return release_verdict(spec.release, view.scores, spec.criteria, spec.failures, state)
