"""A run beside others on the same cases: what got worse, what got better, and what drives the difference."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from areopage.bench import DIMENSIONS, RunView, case_column, case_group, totals, view_run
from areopage.compare.runs.records import LOST, ChangedCase, Compared, ComparedRun, Comparison, ComparisonOutcome, SliceDifference
from areopage.compare.runs.shared import RunPair, paired_runs
from areopage.compare.statistics.contributions import Drivers, failure_drivers, score_drivers
from areopage.compare.statistics.levels import Difference, LevelDifference, compare_cases, compare_levels, primary_criteria
from areopage.compare.statistics.tested import IntervalLevels, decided_levels, decided_slices, fewest_changes
from areopage.ledger import Ledger, Run
from areopage.scoring import ALPHA, FailingCases, RecordScores, Release


def compare_runs(
    ledger: Ledger,
    runs: Sequence[Run],
    *,
    by: Sequence[str] = (),
    cluster: str = "",
    anyway: bool = False,
    level: float = ALPHA,
    where: Sequence[str] = (),
) -> Comparison:
    """Compare runs with the first of them.

    Args:
        by: further columns to slice by, beside age, category, language and mode.
        cluster: a column that says which cases belong together; cases with equal prompts always do.
        anyway: compare what runs of different panels have in common.
        level: of the primary test, and of all others together, two-sided, in (0, 1].
        where: conditions of the form COLUMN=VALUE; only the cases that meet them are compared.
    """
    views = [view_run(run, ledger, where=where) for run in runs]
    pairs = [paired_runs(ledger, views[0], view, cluster, anyway=anyway, where=where) for view in views[1:]]
    builds = [partial(compare_levels, pair.other, pair.first, pair.basis, pair.design) for pair in pairs]
    families = decided_levels(builds, views[0].spec.scale, level)
    slices = _slices(pairs, by)
    first = compared_run(views[0])
    others = (
        _compared(first, compared_run(view), pair, levels, cuts, fewest_changes(level))
        for view, pair, levels, cuts in zip(views[1:], pairs, families, slices, strict=True)
    )
    return Comparison(first=first, others=tuple(others))


def compared_run(view: RunView) -> ComparedRun:
    """The figures of a run by itself."""
    spec, release, by_scores = view.spec, view.release, view.scores_release
    failed = release is not None and release.verdict == "FAIL"
    limits = spec.failures.limits(spec.criteria, spec.scale)
    return ComparedRun(
        run=view.run,
        spec=spec,
        name=spec.answered_by,
        verdict=release.verdict if release else None,
        verdict_by_scores=by_scores.verdict if by_scores else None,
        doubt="" if failed else view.doubt,
        coverage=view.coverage.share,
        score=view.scores.tree.score,
        interval=view.scores.interval,
        failures=FailingCases.of(view.scores.criteria, primary_criteria(spec.criteria), limits, spec.scale).count,
        unfit=tuple(health.judge for health in view.health if health.unfit),
        costs=totals(view.costs) if view.calls or spec.target is None else {},
    )


def _compared(
    first: ComparedRun,
    other: ComparedRun,
    pair: RunPair,
    levels: tuple[LevelDifference, ...],
    slices: tuple[SliceDifference, ...],
    fewest: int,
) -> Compared:
    both = [id for id, record in pair.other.items() if record.tree.score is not None and _score(pair.first, id) is not None]
    drivers = score_drivers(pair.other, pair.first, both) if both else None
    whole = levels[0].difference.failures
    newly, mended = _crossed(pair)
    same_floors = first.spec.release == other.spec.release
    verdicts = (first.verdict, other.verdict) if first.verdict and other.verdict and same_floors else None
    made = Compared(
        other=other,
        shared=pair.shared,
        outcome="no_difference",
        levels=levels,
        verdicts=verdicts,
        verdict_fell=verdicts is not None
        and first.verdict_by_scores in Release.PASSES
        and other.verdict_by_scores not in Release.PASSES,
        slices=slices,
        drivers=drivers,
        failure_parts=failure_drivers(
            {id: newly[id] for id in (whole.first if whole else ())}, {id: mended[id] for id in (whole.second if whole else ())}
        ),
        changed=_changed(pair, drivers, newly, mended),
        unknown=_unknown(pair),
    )
    outcome: ComparisonOutcome = "improvement" if made.levels_that_are("better") else "no_difference"
    if made.verdict_fell or made.levels_that_are("worse"):
        outcome = "regression"
    elif made.clusters < fewest or any(run.doubt in LOST for run in (first, other)):
        outcome = "too_little"
    return msgspec.structs.replace(made, outcome=outcome)


def _score(records: Mapping[str, RecordScores], id: str) -> float | None:
    return records[id].tree.score if id in records else None


def _crossed(pair: RunPair) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """The criteria that each case newly fails, and those that it fails no more."""
    limits = pair.basis.failures.limits(pair.basis.criteria, pair.basis.scale)

    def failing(records: Mapping[str, RecordScores], id: str) -> tuple[str, ...]:
        scores = records[id].criteria if id in records else ()
        return tuple(score.criterion for score in scores if score.fails(limits, pair.basis.scale))

    newly: dict[str, tuple[str, ...]] = {}
    mended: dict[str, tuple[str, ...]] = {}
    for id in pair.other:
        now, then = failing(pair.other, id), failing(pair.first, id)
        newly[id] = tuple(criterion for criterion in now if criterion not in then)
        mended[id] = tuple(criterion for criterion in then if criterion not in now)
    return newly, mended


def _unknown(pair: RunPair) -> tuple[str, ...]:
    """The cases with a criterion that has a score in the first run and, where it applies, none in the other."""

    def states(records: Mapping[str, RecordScores], id: str) -> dict[str, bool]:
        scores = records[id].criteria if id in records else ()
        return {score.criterion: score.score is not None for score in scores if score.applies}

    return tuple(
        id
        for id in pair.first
        if id not in pair.other
        or any(not states(pair.other, id).get(name, True) for name, is_scored in states(pair.first, id).items() if is_scored)
    )


def _changed(
    pair: RunPair, drivers: Drivers | None, newly: Mapping[str, tuple[str, ...]], mended: Mapping[str, tuple[str, ...]]
) -> tuple[ChangedCase, ...]:
    amounts = {part.name: part.amount for part in drivers.cases} if drivers else {}
    responses = [{case.id: case.response for case in view.cases} for view in pair.views]
    changed = [
        ChangedCase(
            case=msgspec.structs.replace(pair.cases[id].case, response=None),
            scores=(_score(pair.first, id), _score(pair.other, id)),
            responses=(responses[0].get(id), responses[1].get(id)),
            amount=amounts.get(id, 0.0),
            newly=newly[id],
            mended=mended[id],
        )
        for id in pair.other
        if newly[id] or mended[id] or abs(amounts.get(id, 0.0)) > 1e-12
    ]
    return tuple(sorted(changed, key=lambda change: (not change.newly, not change.mended, -abs(change.amount), change.case.id)))


def _slices(pairs: Sequence[RunPair], by: Sequence[str]) -> list[tuple[SliceDifference, ...]]:
    """The slices of each pair; the tests of all of them are corrected together."""
    cuts = [list(_cuts(pair, by)) for pair in pairs]
    builds = [build for pair_cuts in cuts for _, build in pair_cuts]
    differences = iter(decided_slices(builds, pairs[0].basis.scale))
    return [tuple(made(difference=next(differences)) for made, _ in pair_cuts) for pair_cuts in cuts]


def _cuts(
    pair: RunPair, by: Sequence[str]
) -> Iterator[tuple[Callable[..., SliceDifference], Callable[[IntervalLevels], Difference]]]:
    """The slices of a pair, each without its difference, which the second function computes."""
    ids = [id for id in pair.first if id in pair.other]
    cases = [pair.cases[id].case for id in ids]
    groups: dict[str, dict[str, str]] = {
        name: {case.id: case_group(case, pair.views[0].spec, name) for case in cases} for name in DIMENSIONS
    }
    groups |= {name: case_column(cases, name) for name in by}
    both = [id for id in ids if _score(pair.first, id) is not None and _score(pair.other, id) is not None]
    changes = {id: ((_score(pair.other, id) or 0.0) - (_score(pair.first, id) or 0.0)) / len(both) for id in both}
    whole = sum(changes.values())
    for column, values in groups.items():
        names = dict.fromkeys(values.values())
        if len(names) < 2:
            continue
        for value in names:
            members = [id for id in ids if values[id] == value]
            amount = sum(changes.get(id, 0.0) for id in members)
            share = amount / whole if abs(whole) > 1e-12 else None
            made = partial(SliceDifference, column=column, value=value, cases=len(members), amount=amount, share=share)
            other, earlier = ({id: records[id] for id in members} for records in (pair.other, pair.first))
            yield made, partial(compare_cases, other, earlier, pair.basis, pair.design)
