"""The days' counts: what every figure of a period is folded from."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, case, func, select

from areopage.criteria.records import Scale
from areopage.ledger.connection import storage_errors
from areopage.ledger.counting import CALLS, DAY_COLUMNS, NO_SUITE
from areopage.ledger.monitor_tables import judge_days, quality_counts, quality_days
from areopage.ledger.quality_records import DaySums, DayTotals, JudgeDays, Period, Scope
from areopage.ledger.rows import storable
from areopage.ledger.scoping import in_source
from areopage.ledger.store import Ledger
from areopage.scoring.counts import WEAK_UNDER

TOLERANCE = 1e-6  # of a band's end, whatever binary fractions make of it


class Counts:
    """The tables `quality_counts`, `quality_days` and `judge_days`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def variants(self, period: Period, scope: Scope) -> dict[str, dict[str, dict[float, int]]]:
        """Scores given over the whole period, with two decimals: variant -> criterion -> score -> answers.

        The criterion "" is the global score. For bands and histograms; means are made of `sums`.
        """
        columns = quality_counts.c
        group = (columns.variant, columns.criterion, columns.score)
        found: dict[str, dict[str, dict[float, int]]] = {}
        for variant, criterion, score, answers in self._rows(scores_by(group, period, scope)):
            found.setdefault(variant, {}).setdefault(criterion, {})[score] = int(answers)
        return found

    def sums(self, period: Period, scope: Scope, scale: Scale) -> Sequence[DaySums]:
        """What means and variances are made of, by day, variant and criterion, in order of days; sums are of the exact scores.

        Args:
            scale: the suite's; a score in its weak band counts as weak.
        """
        columns = quality_counts.c
        group = (columns.day, columns.variant, columns.criterion)  # the beginning of the key: nothing is sorted
        totals = (
            func.sum(columns.total),
            func.sum(columns.squares),
            func.sum(case((is_weak(columns.score, scale), columns.answers), else_=0)),
        )
        query = scores_by(group, period, scope).add_columns(*totals).order_by(*group)
        return [
            DaySums(
                day=day, variant=variant, criterion=criterion, answers=int(answers), total=total, squares=squares, weak=int(weak)
            )
            for day, variant, criterion, answers, total, squares, weak in self._rows(query)
        ]

    def totals(self, period: Period, scope: Scope) -> Sequence[DayTotals]:
        """What was done, by day, in order; days without answers are left out.

        What was given up or left out by sampling belongs to every suite: none had judged it.
        """
        columns = quality_days.c
        sums = [func.sum(columns[name]).label(name) for name in DAY_COLUMNS]
        query = select(columns.day, *sums).where(*in_scope(quality_days, period, scope))
        if scope.suite is not None:
            query = query.where(columns.suite.in_((scope.suite, NO_SUITE)))
        rows = self._rows(query.group_by(columns.day).order_by(columns.day))
        totals = [
            DayTotals(
                day=row.day,
                scored=int(row.scored),
                unscored=int(row.unscored),
                failed=int(row.failed),
                left_out=int(row.left_out),
                seconds=row.seconds,
                prompt_tokens=int(row.prompt_tokens),
                completion_tokens=int(row.completion_tokens),
            )
            for row in rows
        ]
        return [day for day in totals if day.scored or day.unscored or day.failed or day.left_out]

    def judges(self, period: Period) -> Sequence[JudgeDays]:
        """What each judge did (golden questions included)."""
        columns = judge_days.c
        group = (columns.judge, columns.model, columns.outcome, columns.currency)
        names = ("verdicts", "calls", "seconds", "prompt_tokens", "completion_tokens", "cost")
        sums = [func.sum(columns[name]).label(name) for name in names]
        query = select(*group, *sums).where(columns.day >= period.start, columns.day < period.end)
        judges: dict[tuple[str, str], list[Any]] = {}
        for row in self._rows(query.group_by(*group).order_by(*group)):
            judges.setdefault((row.judge, row.model), []).append(row)
        return [judge_of(judge, model, rows) for (judge, model), rows in judges.items()]

    def _rows(self, query: Select[Any]) -> Sequence[Any]:
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return connection.execute(query).all()


def scores_by(group: Sequence[ColumnElement[Any]], period: Period, scope: Scope) -> Select[Any]:
    """How many scores were given, by some of the columns of `quality_counts`."""
    query = select(*group, func.sum(quality_counts.c.answers)).where(*in_scope(quality_counts, period, scope)).group_by(*group)
    return query if scope.suite is None else query.where(quality_counts.c.suite == scope.suite)


def is_weak(score: ColumnElement[Any], scale: Scale) -> ColumnElement[bool]:
    """Whether a score, of two decimals, is in the weak band; `scoring.counts.band_of` says which that is."""
    reach = WEAK_UNDER * (scale.max - scale.min)
    return score < scale.min + reach - TOLERANCE if scale.higher_is_better else score > scale.max - reach + TOLERANCE


def in_scope(table: Table, period: Period, scope: Scope) -> list[ColumnElement[bool]]:
    """The conditions of a period, and of a scope but for its suite."""
    columns = table.c
    conditions = [columns.day >= period.start, columns.day < period.end, in_source(columns.source, scope.source)]
    return conditions if scope.variant is None else [*conditions, columns.variant == storable(scope.variant)]


def judge_of(judge: str, model: str, rows: Sequence[Any]) -> JudgeDays:
    """One judge's sums, from its rows by outcome and currency."""
    outcomes: dict[str, int] = {}
    cost: dict[str, float] = {}
    for row in rows:
        if row.outcome != CALLS:
            outcomes[row.outcome] = outcomes.get(row.outcome, 0) + int(row.verdicts)
        elif row.cost:
            cost[row.currency] = row.cost
    return JudgeDays(
        judge=judge,
        model=model,
        calls=sum(int(row.calls) for row in rows),
        outcomes=outcomes,
        seconds=sum(row.seconds for row in rows),
        prompt_tokens=sum(int(row.prompt_tokens) for row in rows),
        completion_tokens=sum(int(row.completion_tokens) for row in rows),
        cost=cost,
    )
