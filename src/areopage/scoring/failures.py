"""Failures: the cases whose score on a criterion lies at or beyond a limit. A mean hides them, a count does not.

Source of the bounds: C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the
binomial" (Biometrika 26, 1934).
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from msgspec import Struct

from areopage.criteria import Criterion, Scale
from areopage.scoring.arrays import Flags, Places
from areopage.scoring.failure_rules import FailureRules
from areopage.scoring.score_columns import ScoreColumns
from areopage.scoring.shares import Share, lower_bound, upper_bound

_FAILED, _PASSED, _MISSING, _NOT_APPLICABLE, _RULED_OUT = _STATES = range(5)


class FailureCount(Struct, frozen=True, kw_only=True):
    """How many cases fail, of those that the criterion applies to.

    Args:
        limit: on the run's scale; None where several criteria with their own limits are counted together.
        failed: cases at or beyond the limit, of `scored` cases with a score, of `cases` that it applies to.
        not_applicable: further cases, to which it does not apply; `by_rule` of them by a rule, without a judge.
        low, high: the 95 % bounds of the share of failures among such cases; None without a score.
        if_missing: the lower bound if no case without a score failed, and the upper bound if each of them did; None where none
            is missing.
    """

    limit: float | None
    failed: int
    scored: int
    cases: int
    not_applicable: int
    low: float | None
    high: float | None
    if_missing: tuple[float, float] | None = None
    by_rule: int = 0


class FailingCases(Struct, frozen=True, kw_only=True):
    """The cases that fail any of some criteria.

    Args:
        count: a case counts as scored if it fails, or if all of the criteria that apply to it have a score.
        failed, passed, missing: the ids of the cases that fail, of those that do not, and of those of which it is not known.
    """

    count: FailureCount
    failed: tuple[str, ...]
    passed: tuple[str, ...]
    missing: tuple[str, ...]

    @classmethod
    def of(cls, columns: ScoreColumns, criteria: Collection[str], limits: Mapping[str, float], scale: Scale) -> "FailingCases":
        """Count the cases that fail any of some criteria, by the ids of these and their limits on the scale of the scores."""
        rows = np.flatnonzero(_among(columns, criteria))
        cases, codes = _state_codes(columns, columns.failing(limits, scale, criteria), rows)
        failed, passed, missing = (
            tuple(columns.cases[case] for case in cases[codes == state].tolist()) for state in (_FAILED, _PASSED, _MISSING)
        )
        return cls(count=_count_codes(codes), failed=failed, passed=passed, missing=missing)


class Failures(Struct, frozen=True, kw_only=True):
    """The failures of a run.

    Args:
        categories: those that count first.
        first: the cases that fail at least one criterion of them. A case counts as scored if it fails, or if all that apply to it
            have a score.
        by_category: the cases that fail at least one criterion of a category, by its name.
        by_criterion: by a criterion's id.
        by_case: the ids of the criteria that a case fails, worst first; only cases that fail.
        unscored: the ids of the criteria of the first categories that apply to cases and have no score at all.
    """

    categories: tuple[str, ...]
    first: FailureCount
    by_category: dict[str, FailureCount]
    by_criterion: dict[str, FailureCount]
    by_case: dict[str, tuple[str, ...]]
    unscored: tuple[str, ...]

    @classmethod
    def of(cls, columns: ScoreColumns, criteria: Sequence[Criterion], scale: Scale, rules: FailureRules) -> "Failures":
        """Count the failures of a run; `scale` is that of the scores."""
        categories, limits = rules.categories(criteria), rules.limits(criteria, scale)
        failing = columns.failing(limits, scale)
        groups = _group_counts(columns, failing, np.arange(len(columns)), criteria, limits, categories)
        first = [criterion.id for criterion in criteria if criterion.category in categories]
        by_case: dict[str, list[tuple[float, str]]] = {}
        for row in np.flatnonzero(failing).tolist():
            score = float(columns.cells.score[row])
            failure = (score if scale.higher_is_better else -score, columns.criteria[columns.criterion[row]])
            by_case.setdefault(columns.cases[columns.case[row]], []).append(failure)
        return cls(
            categories=categories,
            first=groups.first,
            by_category=groups.by_category,
            by_criterion=groups.by_criterion,
            by_case={
                case_id: tuple(name for _, name in sorted(failures, key=lambda failure: failure[0]))
                for case_id, failures in by_case.items()
            },
            unscored=tuple(id for id in first if groups.by_criterion[id].cases and not groups.by_criterion[id].scored),
        )


class GroupFailures(Struct, frozen=True, kw_only=True):
    """The failures of a group of cases, such as those of one age; counts as in `Failures`."""

    first: FailureCount
    by_category: dict[str, FailureCount]
    by_criterion: dict[str, FailureCount]

    @staticmethod
    def of(
        columns: ScoreColumns, criteria: Sequence[Criterion], scale: Scale, rules: FailureRules, groups: Mapping[str, str]
    ) -> "dict[str, GroupFailures]":
        """Count the failures of each group, by a case's id; a group whose cases are not judged has counts of 0."""
        limits = rules.limits(criteria, scale)
        numbers = {group: number for number, group in enumerate(dict.fromkeys(groups.values()))}
        judged = set(columns.case_ids)
        of_case = [numbers[groups[case_id]] if case_id in judged else -1 for case_id in columns.cases]
        of_row = np.array(of_case, dtype=np.intp)[columns.case]
        order = np.argsort(of_row, kind="stable")
        ends = np.searchsorted(of_row[order], np.arange(len(numbers) + 1))
        failing, categories = columns.failing(limits, scale), rules.categories(criteria)
        return {
            group: _group_counts(columns, failing, order[ends[number] : ends[number + 1]], criteria, limits, categories)
            for group, number in numbers.items()
        }


def _group_counts(
    columns: ScoreColumns,
    failing: Flags,
    rows: Places,
    criteria: Sequence[Criterion],
    limits: Mapping[str, float],
    categories: Collection[str],
) -> GroupFailures:
    """The failures of some rows, in order of cases."""
    by_category: dict[str, list[str]] = {}
    for criterion in criteria:
        by_category.setdefault(criterion.category, []).append(criterion.id)
    first = [criterion.id for criterion in criteria if criterion.category in categories]

    def counted(ids: Collection[str], limit: float | None = None) -> FailureCount:
        return _count_codes(_state_codes(columns, failing, rows[_among(columns, ids)[rows]])[1], limit)

    return GroupFailures(
        first=counted(first),
        by_category={category: counted(cases) for category, cases in by_category.items()},
        by_criterion={criterion.id: counted([criterion.id], limits[criterion.id]) for criterion in criteria},
    )


def _among(columns: ScoreColumns, criteria: Collection[str]) -> Flags:
    """Which rows are of some criteria."""
    rows: Flags = np.array([criterion in criteria for criterion in columns.criteria], dtype=bool)[columns.criterion]
    return rows


def _state_codes(columns: ScoreColumns, failing: Flags, rows: Places) -> tuple[Places, Places]:
    """The cases of some rows, which are in order of cases, and their states as numbers in `_STATES`."""
    if not len(rows):
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    case = columns.case[rows].astype(np.intp)
    firsts = np.flatnonzero(np.diff(case, prepend=-1))
    any_of, cells = np.logical_or.reduceat, columns.cells
    lacking = any_of(cells.applies[rows] & np.isnan(cells.score[rows]), firsts)
    codes = np.where(any_of(failing[rows], firsts), _FAILED, np.where(lacking, _MISSING, _PASSED))
    waived = np.where(np.logical_and.reduceat(cells.by_rule[rows], firsts), _RULED_OUT, _NOT_APPLICABLE)
    return case[firsts], np.where(any_of(cells.applies[rows], firsts), codes, waived).astype(np.intp)


def _count_codes(codes: Places, limit: float | None = None) -> FailureCount:
    """The failures among cases, by their states."""
    counts = np.bincount(codes, minlength=len(_STATES)).tolist()
    failed, by_rule = counts[_FAILED], counts[_RULED_OUT]
    not_applicable = counts[_NOT_APPLICABLE] + by_rule
    scored, cases = failed + counts[_PASSED], len(codes) - not_applicable
    share = Share.exact(failed, scored)
    ends = (lower_bound(failed, cases), upper_bound(failed + cases - scored, cases)) if scored < cases else None
    return FailureCount(
        limit=limit,
        failed=failed,
        scored=scored,
        cases=cases,
        not_applicable=not_applicable,
        low=share.low,
        high=share.high,
        if_missing=ends,
        by_rule=by_rule,
    )
