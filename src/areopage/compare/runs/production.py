"""A run against the answers that the monitor evaluated in a period.

The prompts differ, so that nothing is paired: a difference may come from the users' questions as well as from the system. The
comparison therefore shows the mix of languages, ages and categories on both sides, and standardises to production's mix.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import msgspec
from msgspec import Struct

from areopage.bench import (
    DIMENSIONS,
    DifferentPanels,
    PartDifference,
    RunView,
    case_clusters,
    case_column,
    case_group,
    load_run_cases,
    production_differences,
    view_run,
)
from areopage.compare.runs.compare import compared_run
from areopage.compare.runs.production_answers import (
    JudgedAnswer,
    WantedAnswers,
    answer_scores,
    answer_traits,
    answer_weights,
    judged_answers,
    language_of,
    left_out_by_sampling,
)
from areopage.compare.runs.records import LOST, ComparedRun, ComparisonOutcome
from areopage.compare.runs.shared import reduced_scores, shared_criteria
from areopage.compare.statistics.levels import (
    Basis,
    Design,
    UnpairedLevel,
    UnpairedOutcomes,
    compare_cases,
    compare_levels,
    compare_unpaired,
)
from areopage.compare.statistics.tested import IntervalLevels, decided_levels, decided_slices
from areopage.compare.statistics.unpaired import Sample
from areopage.errors import UserError
from areopage.jury import Panel
from areopage.ledger import Ledger, Period, Run
from areopage.scoring import RecordScores

_FEWEST = 8
"""With fewer independent cases on a side, nothing is concluded."""

IN_STRATUM = 10
"""The fewest scored cases on both sides of a value that takes part in a slice or a standardised comparison."""

_NOT_COMPARED = "mode"  # answers of users have none

Records = Mapping[str, RecordScores]
Columns = Mapping[str, Mapping[str, str]]


class ProductionSide(Struct, frozen=True, kw_only=True):
    """The answers of production that are compared.

    Args:
        panel: the id of the panel that judged them.
        answers: how many; `other_panels` were judged by other panels in the period, and are left out.
        not_sampled: answers of the period that sampling left out; where days were sampled unequally, `weighted` says so.
        source: only answers of this source; None: any but golden questions.
    """

    period: Period
    suite: str
    source: str | None
    panel: str
    answers: int
    other_panels: int
    not_sampled: int
    weighted: bool


class MixValue(Struct, frozen=True, kw_only=True):
    """How many cases of the run, and how many answers of production, have a value in a column; "" stands for none."""

    value: str
    run: int
    production: int


class Mix(Struct, frozen=True, kw_only=True):
    """The values of a column on both sides, the commonest in production first."""

    column: str
    values: tuple[MixValue, ...]

    @property
    def totals(self) -> tuple[int, int]:
        """How many cases and answers there are."""
        return sum(value.run for value in self.values), sum(value.production for value in self.values)


class Standardised(Struct, frozen=True, kw_only=True):
    """Both sides standardised to production's mix of a column: means of the means of its values.

    Args:
        values: those with enough cases on both sides.
        covered: production's share of these values, in [0, 1]; the other answers are left out of both sides.
    """

    column: str
    values: tuple[str, ...]
    covered: float
    difference: UnpairedOutcomes


class ProductionSlice(Struct, frozen=True, kw_only=True):
    """The cases and the answers with one value in a column."""

    column: str
    value: str
    cases: tuple[int, int]
    difference: UnpairedOutcomes


class ProductionComparison(Struct, frozen=True, kw_only=True):
    """A run against production; all differences are the run − production.

    Args:
        cases: of the run that are compared; `criteria`: that both have.
        left_out: the ids of the criteria that are not compared.
        differs: in what the panels differ, where this was allowed; empty where they are the same.
        levels: the nodes of the tree, the whole run first.
        missing: the columns that production's answers do not have.
    """

    run: ComparedRun
    production: ProductionSide
    cases: int
    criteria: int
    left_out: tuple[str, ...]
    differs: tuple[PartDifference, ...]
    outcome: ComparisonOutcome
    levels: tuple[UnpairedLevel, ...]
    mixes: tuple[Mix, ...]
    standardised: tuple[Standardised, ...]
    slices: tuple[ProductionSlice, ...]
    missing: tuple[str, ...]


class _Matched(Struct, frozen=True, kw_only=True):
    """The answers of one panel, and in what it differs from the run's."""

    panel: Panel
    id: str
    answers: tuple[JudgedAnswer, ...]
    differs: tuple[PartDifference, ...]


class _Sides(Struct, frozen=True, kw_only=True):
    """Both sides as they are compared, the run first."""

    basis: Basis
    records: tuple[Records, Records]
    drawn: tuple[Sample, Sample]
    columns: tuple[Columns, Columns]

    @property
    def design(self) -> Design[UnpairedOutcomes]:
        """How both are compared as they are."""
        return partial(compare_unpaired, drawn=self.drawn)


def compare_production(
    ledger: Ledger, run: Run, wanted: WantedAnswers, *, by: Sequence[str] = (), cluster: str = "", anyway: bool = False
) -> ProductionComparison:
    """Compare a run with production.

    Args:
        by: further columns to slice by and to standardise by, beside age, category and language.
        cluster: a column that says which cases, and answers, belong together; equal prompts and conversations always do without.
        anyway: compare although the panels differ.
    """
    view, answers = view_run(run, ledger), judged_answers(ledger, wanted)
    matched = _matched(ledger, view, answers, anyway=anyway)
    criteria = shared_criteria(view.spec.criteria, matched.panel.criteria)
    if not criteria or view.spec.scale != matched.panel.scale:
        what = "their scores are on different scales" if criteria else "they have no criterion in common"
        raise UserError(f"{run.id} and production cannot be compared: {what}")
    sides = _sides(ledger, view, matched, wanted, by, cluster)
    (levels,) = decided_levels([partial(compare_levels, *sides.records, sides.basis, sides.design)], view.spec.scale)
    compared, shared = compared_run(view), [name for name in sides.columns[0] if name in sides.columns[1]]
    ids = {criterion.id for criterion in criteria}
    return ProductionComparison(
        run=compared,
        production=ProductionSide(
            period=wanted.period,
            suite=wanted.suite,
            source=wanted.source,
            panel=matched.id,
            answers=len(matched.answers),
            other_panels=len(answers) - len(matched.answers),
            not_sampled=left_out_by_sampling(ledger, wanted),
            weighted=bool(sides.drawn[1].weights),
        ),
        cases=len(sides.records[0]),
        criteria=len(criteria),
        left_out=tuple(
            dict.fromkeys(criterion.id for criterion in (*view.spec.criteria, *matched.panel.criteria) if criterion.id not in ids)
        ),
        differs=matched.differs,
        outcome=_outcome(levels, incomplete=compared.doubt in LOST),
        levels=levels,
        mixes=tuple(_mix(sides, name) for name in shared),
        standardised=_standardised(sides, shared),
        slices=_slices(sides, shared),
        missing=tuple(name for name in sides.columns[0] if name not in sides.columns[1]),
    )


def _matched(ledger: Ledger, view: RunView, answers: Sequence[JudgedAnswer], *, anyway: bool) -> _Matched:
    """The answers of the panels that judge as the run's does; where none does, of the one with most answers, if that is allowed.

    Several panels may judge alike: a name of a judge, or a price, makes another panel and changes no score.
    """
    counts = Counter(answer.panel for answer in answers)
    cases = load_run_cases(ledger, view.run.id)
    panels = {id: Panel.of(run) for id in counts if (run := ledger.panel(id)) is not None}
    differs = {id: production_differences(view.spec, cases, panel) for id, panel in panels.items()}
    alike = [id for id, differences in differs.items() if not differences]
    ordered = [id for id, _ in counts.most_common() if id in panels]
    if not ordered:
        raise UserError(f"{view.run.id}: the panels of production's answers are not in the ledger")
    if not alike and not anyway:
        raise DifferentPanels(view.run.id, "production", differs[ordered[0]])
    chosen = alike or ordered[:1]
    first = next(id for id in ordered if id in chosen)
    kept = tuple(answer for answer in answers if answer.panel in chosen)
    return _Matched(panel=panels[first], id=first, answers=kept, differs=differs[first])


def _sides(ledger: Ledger, view: RunView, matched: _Matched, wanted: WantedAnswers, by: Sequence[str], cluster: str) -> _Sides:
    criteria = shared_criteria(view.spec.criteria, matched.panel.criteria)
    cases = [item.case for item in load_run_cases(ledger, view.run.id)]
    asked = [msgspec.structs.replace(case, response=None) for case in cases]
    columns: dict[str, dict[str, str]] = {
        name: {case.id: case_group(case, view.spec, name) for case in cases} for name in DIMENSIONS if name != _NOT_COMPARED
    }
    columns["language"] = {id: language_of(language) for id, language in columns["language"].items()}
    columns |= {name: case_column(cases, name) for name in by}
    traits = answer_traits(ledger, matched.answers, list(columns), cluster)
    if lacking := [name for name in (*by, *([cluster] if cluster else [])) if name not in traits.columns]:
        raise UserError(f"production: no answer has a value in the column {lacking[0]!r}")
    return _Sides(
        basis=Basis(criteria=criteria, scale=view.spec.scale, failures=view.spec.failures),
        records=(
            reduced_scores(view, view.spec, [case.id for case in cases], criteria),
            answer_scores(matched.answers, matched.panel, criteria, view.spec.weights),
        ),
        drawn=(
            Sample(clusters=case_clusters(asked, cluster)),
            Sample(clusters=traits.clusters, weights=answer_weights(ledger, wanted, matched.answers)),
        ),
        columns=({name: values for name, values in columns.items() if any(values.values())}, traits.columns),
    )


def _outcome(levels: Sequence[UnpairedLevel], *, incomplete: bool) -> ComparisonOutcome:
    directions = {direction for level in levels for direction in level.difference.directions}
    if "worse" in directions:
        return "regression"
    if incomplete or min(levels[0].difference.score.clusters) < _FEWEST:
        return "too_little"
    return "improvement" if "better" in directions else "no_difference"


def _mix(sides: _Sides, column: str) -> Mix:
    counts = [
        Counter(values[column].get(id, "") for id in records)
        for values, records in zip(sides.columns, sides.records, strict=True)
    ]
    order = sorted(counts[0] | counts[1], key=lambda value: (-counts[1][value], -counts[0][value], value))
    return Mix(
        column=column,
        values=tuple(MixValue(value=value, run=counts[0][value], production=counts[1][value]) for value in order),
    )


def _common(sides: _Sides, column: str) -> list[str]:
    """The values with enough scored cases on both sides, the commonest in production first."""
    counts = [
        Counter(values[column].get(id, "") for id, record in records.items() if record.tree.score is not None)
        for values, records in zip(sides.columns, sides.records, strict=True)
    ]
    return [value for value, n in counts[1].most_common() if value and min(n, counts[0][value]) >= IN_STRATUM]


def _standardised(sides: _Sides, columns: Sequence[str]) -> tuple[Standardised, ...]:
    """Both sides standardised to production's mix of each column with two values or more; the tests are corrected together."""
    made: list[Callable[..., Standardised]] = []
    builds: list[Callable[[IntervalLevels], UnpairedOutcomes]] = []
    for column in columns:
        values = _common(sides, column)
        if len(values) < 2:
            continue
        weights, of = sides.drawn[1].weights, (sides.columns[0][column], sides.columns[1][column])
        sums = dict.fromkeys(values, 0.0)
        whole = 0.0
        for id in sides.records[1]:
            whole += weights.get(id, 1.0)
            if (value := of[1].get(id, "")) in sums:
                sums[value] += weights.get(id, 1.0)
        shares = {value: weight / whole for value, weight in sums.items()}
        standardised = partial(
            compare_unpaired,
            drawn=(
                msgspec.structs.replace(sides.drawn[0], strata=of[0], shares=shares),
                msgspec.structs.replace(sides.drawn[1], strata=of[1], shares=shares),
            ),
        )
        made.append(partial(Standardised, column=column, values=tuple(values), covered=sum(sums.values()) / whole))
        builds.append(partial(compare_cases, *sides.records, sides.basis, standardised))
    differences = decided_slices(builds, sides.basis.scale)
    return tuple(make(difference=difference) for make, difference in zip(made, differences, strict=True))


def _slices(sides: _Sides, columns: Sequence[str]) -> tuple[ProductionSlice, ...]:
    """The slices by each column; the tests of all of them are corrected together."""
    made: list[Callable[..., ProductionSlice]] = []
    builds: list[Callable[[IntervalLevels], UnpairedOutcomes]] = []
    for column in columns:
        values = _common(sides, column)
        for value in values if len(values) > 1 else ():
            of_run, of_production = (
                {id: record for id, record in records.items() if values_of[column].get(id, "") == value}
                for values_of, records in zip(sides.columns, sides.records, strict=True)
            )
            made.append(partial(ProductionSlice, column=column, value=value, cases=(len(of_run), len(of_production))))
            builds.append(partial(compare_cases, of_run, of_production, sides.basis, sides.design))
    differences = decided_slices(builds, sides.basis.scale)
    return tuple(make(difference=difference) for make, difference in zip(made, differences, strict=True))
