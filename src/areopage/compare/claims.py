"""The claim of a test that a run is not worse than a kept one."""

from areopage.bench import DifferentPanels
from areopage.compare.report.text import level_findings
from areopage.compare.runs.compare import compare_runs
from areopage.compare.statistics.tested import fewest_changes, kept_run_level
from areopage.errors import counted
from areopage.ledger import Ledger, Run
from areopage.locales import one_line
from areopage.report import report_locale
from areopage.testing import LONGEST, SHOWN_CASES, ClaimDecision, percent


def decide_regression(ledger: Ledger, baseline: Run | None, run: Run, confidence: float) -> ClaimDecision:
    """Whether a run is worse than the kept one, by the tests and the correction of `areopage bench compare`.

    A release verdict that changed is no reason: floors that allow a number of failures change with chance.

    Args:
        confidence: in [0.5, 1). An unchanged system is found worse in at most the rest of its runs, for all baselines but as
            large a share of them, see `kept_run_level`.
    """
    if baseline is None:
        why = "no baseline is kept for this test: run pytest --areopage-keep-baseline on the version to compare with"
        return ClaimDecision(verdict="undecided", lines=(why,), run=run.id)
    level = _level(confidence)
    try:
        compared = compare_runs(ledger, [baseline, run], level=level).others[0]
    except DifferentPanels as fault:
        if {difference.part for difference in fault.differs} != {"cases"}:
            parts = ", ".join(map(str, fault.differs))
            why = f"the baseline {baseline.id} cannot be compared ({parts}): keep a new one with --areopage-keep-baseline"
            return ClaimDecision(verdict="undecided", lines=(why,), run=run.id)
        compared = compare_runs(ledger, [baseline, run], anyway=True, level=level).others[0]
    locale, shared = report_locale("en"), counted(compared.shared.cases, "case")
    worse = compared.levels_that_are("worse")
    if worse:
        lines = (f"  {line}" for line in level_findings(worse, compared.other.spec, locale))
        risk = f"an unchanged system fails in at most {percent(1.0 - confidence)} of its runs"
        baselines = f"for at least {percent(confidence)} of all baselines"
        head = f"worse than the baseline {baseline.id} on {shared}, beyond chance ({risk}, {baselines}):"
        changed = [change for change in compared.changed if change.newly]
        cases = [
            f"  newly failing: {one_line(change.case.id)}: {one_line(change.case.prompt_text, LONGEST)}" for change in changed
        ]
        more = [f"  and {len(cases) - SHOWN_CASES} more"] if len(cases) > SHOWN_CASES else []
        return ClaimDecision(
            verdict="fail",
            lines=(head, *lines, *cases[:SHOWN_CASES], *more),
            run=run.id,
        )
    if compared.outcome == "too_little":
        fewest = fewest_changes(_level(confidence))
        answers, groups = counted(compared.shared.cases, "answer"), counted(compared.clusters, "case")
        needed = f"{answers} to {groups}, and at least {fewest} cases are needed at {percent(confidence)} confidence"
        reason = f"too few cases ({needed})" if compared.clusters < fewest else "one of the two runs is incomplete"
        why = f"not compared with the baseline {baseline.id}: {reason}"
        return ClaimDecision(verdict="undecided", lines=(why,), run=run.id)
    return ClaimDecision(
        verdict="pass", lines=(f"not worse than the baseline {baseline.id} beyond chance ({shared})",), run=run.id
    )


def _level(confidence: float) -> float:
    """The level of the primary test, and of all others together: each has half of the risk."""
    return kept_run_level((1.0 - confidence) / 2.0)
