"""The release verdict of a run, and why a run settles nothing."""

from typing import Literal, cast

from areopage.bench.release_panel import release_judges
from areopage.bench.results.run_view import RunView
from areopage.bench.spec import RunSpec
from areopage.ledger import NOT_WHOLE, Ledger, Run
from areopage.scoring import PASSES, Release, ReleaseJudge, RunState, Verdict

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
    """The release verdict by the floors that the suite sets; None where it sets none.

    It says what exams say of the judges now: a new exam changes the verdict on a run that is over.
    """
    return _release(view, tuple(release_judges(view.spec, view.standings)))


def scores_release(view: RunView) -> Release | None:
    """The release verdict as if every judge were qualified: what the scores say, whatever exams say of their judges."""
    return _release(
        view, tuple(ReleaseJudge(judge=one.judge, unfit=one.unfit) for one in release_judges(view.spec, view.standings))
    )


def _release(view: RunView, judges: tuple[ReleaseJudge, ...]) -> Release | None:
    spec = view.spec
    if spec.release is None:
        return None
    state = RunState(
        coverage=view.coverage.share,
        min_coverage=spec.min_coverage,
        complete=view.complete,
        judges=judges,
        ages={item.case.id: item.case.maturity for item in view.items},
        over_refusal=view.over_refusal,
        asked=len(view.asked),
        unanswered=tuple(id for id, state in view.states_of_asked.items() if state in NOT_WHOLE),
        withheld=view.withheld,
        addressing=view.swaying,
        thoughts=view.stored.with_thoughts("in_text"),
        rejected=len(view.rejected),
        off=spec.conversations_off,
        unknown=tuple(id for id, state in view.states_of_asked.items() if state not in ("answered", *NOT_WHOLE)),
    )
    return Release.of(spec.release, view.scores, spec.criteria, spec.failures, state)


def listed_verdict(run: Run, spec: RunSpec, ledger: Ledger) -> Verdict | None:
    """The release verdict of a complete run for a list of runs: its stored results with what exams say of its judges now.

    None where its suite sets no floors, or its results are not stored.
    """
    if run.finished_at is None or run.outcome is None or not run.outcome.verdict:
        return None
    stored = cast(Verdict, run.outcome.verdict)
    if stored not in PASSES or spec.release is None:
        return stored
    exams = ledger.qualifications
    judged_at = ledger.last_judged(run.id) if exams.any_of(spec.criteria) else {}
    standings = exams.standings(spec.judges, spec.criteria, judged_at, joint=spec.joint)
    return Release.verdict_with(stored, spec.release, spec.criteria, tuple(release_judges(spec, standings)))
