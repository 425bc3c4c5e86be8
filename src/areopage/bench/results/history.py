"""What a run is compared with: the run before it, and the run in the other mode, of the same target and suite.

Runs are compared only where panel and cases are the same; else it is said what differs.
"""

from collections.abc import Iterator

from msgspec import structs

from areopage.bench.compared import OtherRun, RunComparison, RunHistory, RunOutcome
from areopage.bench.panels import PanelParts, PartName, panel_parts, part_differences
from areopage.bench.results.run_view import RunView, view_run
from areopage.bench.spec import RunSpec, Target, load_run_cases
from areopage.errors import StorageError
from areopage.ledger import Ledger, Run
from areopage.scoring import FailingCases, paired_difference, paired_failures

_FREE: tuple[PartName, ...] = ("suite", "mode", "floors")
"""What compared runs need not share: the version of the suite's files, the mode, and the floors, which change no score."""


def with_history(view: RunView, ledger: Ledger) -> RunView:
    """The view of a run beside those of the same target and suite in its ledger.

    Raises:
        StorageError: the ledger cannot be read.
    """
    parts = panel_parts(view.spec, view.items)
    candidates = list(_candidates(view, ledger))
    alike = ((run, spec) for run, spec in candidates if spec.mode == view.spec.mode and run.created_at < view.run.created_at)
    earlier = next((_compared(view, parts, run, spec, ledger) for run, spec in alike), None)
    others = (_compared(view, parts, run, spec, ledger) for run, spec in candidates if spec.mode != view.spec.mode)
    other_mode = next((comparison for comparison in others if not comparison.differs), None) if view.spec.target else None
    return structs.replace(view, history=RunHistory(earlier=earlier, other_mode=other_mode))


def _candidates(view: RunView, ledger: Ledger) -> Iterator[tuple[Run, RunSpec]]:
    """The complete runs of the same target, suite and language, newest first."""
    for run in ledger.runs():
        if run.suite != view.run.suite or run.id == view.run.id or run.finished_at is None:
            continue
        try:
            spec = RunSpec.of(run)
        except StorageError:
            continue  # another version of areopage wrote it
        if spec.language == view.spec.language and _name(spec.target) == _name(view.spec.target):
            yield run, spec


def _name(target: Target | None) -> str:
    return "" if target is None else str(target.reference)


def _compared(view: RunView, parts: PanelParts, run: Run, spec: RunSpec, ledger: Ledger) -> RunComparison:
    other = OtherRun(run_id=run.id, created_at=run.created_at, mode=spec.mode)
    differences = part_differences(parts, panel_parts(spec, load_run_cases(ledger, run.id)))
    differs = tuple(difference for difference in differences if difference.part not in _FREE)
    if differs:
        return RunComparison(other=other, differs=differs)
    compared = view_run(run, ledger)
    before, now = _pairs(compared), _pairs(view)
    finals, compared_finals = view.scores.records.finals_by_case, compared.scores.records.finals_by_case
    new: dict[str, tuple[str, ...]] = {}
    mended: dict[str, tuple[str, ...]] = {}
    for (case_id, criterion), fails in now.items():
        failed = before.get((case_id, criterion))
        if failed is not None and failed != fails:
            changed = new if fails else mended
            changed[case_id] = (*changed.get(case_id, ()), criterion)
    release = compared.release
    return RunComparison(
        other=other,
        target_changes=_target_changes(view.spec.target, spec.target),
        outcome=RunOutcome(
            verdict=release.verdict if release else None,
            score=compared.scores.tree.score,
            interval=compared.scores.interval,
            coverage=compared.coverage.share,
            first=compared.failures.first,
            by_criterion=compared.failures.by_criterion,
        ),
        failures=paired_failures(_first_failures(view), _first_failures(compared)),
        score=paired_difference(finals, compared_finals, span=view.spec.scale.max - view.spec.scale.min),
        new=new,
        mended=mended,
    )


def _target_changes(target: Target | None, other: Target | None) -> tuple[str, ...]:
    if target is None or other is None:
        return ()
    named = ("digest", "options", "single_prompt", "system_prompt")
    return tuple(name for name in named if getattr(target, name) != getattr(other, name))


def _first_failures(view: RunView) -> dict[str, bool | None]:
    """Whether each case fails a criterion of the categories that count first; no entry where it is not known."""
    spec = view.spec
    first = {criterion.id for criterion in spec.criteria if criterion.category in view.failures.categories}
    failing = FailingCases.of(view.scores.criteria, first, spec.limits, spec.scale)
    return {**dict.fromkeys(failing.failed, True), **dict.fromkeys(failing.passed, False)}


def _pairs(view: RunView) -> dict[tuple[str, str], bool]:
    """Whether each case with a score on a criterion fails it."""
    scale, limits = view.spec.scale, view.spec.limits
    scored = (score for score in view.scores.criteria if score.score is not None and score.applies)
    return {(score.case_id, score.criterion): score.fails(limits, scale) for score in scored}
