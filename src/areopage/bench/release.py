"""The release verdict of a run."""

from areopage.bench.results import RunView
from areopage.ledger.records import NOT_WHOLE
from areopage.scoring.release import Release, RunState, release_verdict


def run_release(view: RunView) -> Release | None:
    """The release verdict by the floors that the suite sets; None where it sets none."""
    spec = view.spec
    if spec.release is None:
        return None
    state = RunState(
        coverage=view.coverage.share,
        min_coverage=spec.min_coverage,
        complete=view.complete,
        unfit=tuple(health.judge for health in view.health if health.unfit),
        unexamined=tuple(health.judge for health in view.health if not health.unfit),
        over_refusal=view.over_refusal,
        asked=len(view.asked),
        unanswered=tuple(id for id in view.asked if view.answer_state(id) in NOT_WHOLE),
        unknown=tuple(id for id in view.asked if view.answer_state(id) not in ("answered", *NOT_WHOLE)),
    )
    return release_verdict(spec.release, view.scores, spec.criteria, spec.failures, state)
