"""Counts by day of evaluations, judges and decisions, and their recomputation."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, date, timedelta
from typing import Any, Literal, NamedTuple, TypeVar

from msgspec import Struct, field
from sqlalchemy import ColumnElement, Connection, Table, bindparam, case, delete, func, select, text

from areopage.ledger.read.queries import (
    DayScore,
    DayTotals,
    JudgeDays,
    Period,
    Scope,
    in_period,
    in_scope,
    in_source,
    midnight,
    not_by_index,
)
from areopage.ledger.read.trace_counts import recounted_days
from areopage.ledger.tables.answer_tables import MISSED, answer_judgments, evaluations, judgments, runs, verdicts
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.records import Evaluation, JudgeUse
from areopage.ledger.tables.rows import chunks, insert_or_add, naive, rows_in, storable
from areopage.ledger.tables.schema import days, score_days
from areopage.ledger.write.evaluation_rows import each_evaluation
from areopage.scoring import GIVEN_NAMES

CALLS = ""
"""The value under which a judge's calls are counted; its verdicts are counted under their own outcomes."""
COUNTED = "monitor"
"""The origin of the evaluations that are counted by day; those of a run of the benchmark belong to the run."""

_NO_SUITE = ""
_DECIMALS = 2
_DAY_KEY = ("day", "kind", "name", "value", "detail", "origin", "suite", "source", "variant", "currency")
_DAY_SUMS = ("count", "seconds", "prompt_tokens", "completion_tokens", "cost")
_VALUES = ("scored", "unscored", "failed", "left_out")
_SUMS = [  # a row's own `count` is that of a tuple; PostgreSQL sums tokens as decimals
    func.sum(days.c[name]).cast(days.c[name].type).label(label)
    for name, label in zip(_DAY_SUMS, ("rows", *_DAY_SUMS[1:]), strict=True)
]
_SCORE_KEY = ("day", "variant", "criterion", "score", "suite", "origin", "source")
_SCORE_SUMS = ("answers", "total")

_Key = TypeVar("_Key")
PanelPlace = tuple[int, str]
"""The number of an answer, and the panel that judged it."""


class DayLevel(NamedTuple):
    """Sums of a day's scores of a source on a criterion; "" is the global score."""

    day: date
    source: str
    criterion: str
    answers: int
    total: float
    squares: float
    weak: int


class DayCounts(Struct):
    """The increments of evaluations in the tables `days` and `score_days`, by key."""

    days: dict[tuple[Any, ...], list[float]] = field(default_factory=dict)
    scores: dict[tuple[Any, ...], list[float]] = field(default_factory=dict)

    def add(self, evaluation: Evaluation, uses: Iterable[JudgeUse] = ()) -> None:
        """Count an evaluation and its judges on the answer's UTC day."""
        if evaluation.origin != COUNTED:
            return
        if evaluation.state in ("failed", "left_out"):
            self._count(evaluation, evaluation.state, (1, 0.0, 0, 0, 0.0))
        elif evaluation.state == "evaluated":
            value = "unscored" if evaluation.score_global is None else "scored"
            tokens = (evaluation.prompt_tokens or 0, evaluation.completion_tokens or 0)
            self._count(evaluation, value, (1, evaluation.seconds, *tokens, 0.0))
            place = (storable(evaluation.suite), evaluation.origin, storable(evaluation.source))
            scores = [("", evaluation.score_global), *((result.criterion, result.score) for result in evaluation.criteria)]
            for criterion, score in scores:
                if score is not None:
                    key = (_day(evaluation), storable(evaluation.variant), storable(criterion), rounded(score), *place)
                    _add_to(self.scores, key, (1, score))
            for use in uses:
                self._add_judge(evaluation, use)

    def count_failed(self, evaluation: Evaluation, step: Literal[1, -1]) -> None:
        """Count an evaluation that is given up, or take it back."""
        if evaluation.origin == COUNTED:
            self._count(evaluation, "failed", (step, 0.0, 0, 0, 0.0))

    def remove(self, evaluation: Evaluation, uses: Iterable[JudgeUse]) -> None:
        """Take an evaluation out of the counts, with its judges."""
        counted = DayCounts()
        counted.add(evaluation, uses)
        for mine, theirs in ((self.days, counted.days), (self.scores, counted.scores)):
            for key, values in theirs.items():
                _add_to(mine, key, [-value for value in values])

    def write(self, connection: Connection) -> None:
        """Write all counts in a fixed order; the busiest rows, those of days, are locked last."""
        insert_or_add(connection, score_days, self.score_rows())
        insert_or_add(connection, days, self.day_rows())

    def score_rows(self) -> list[dict[str, Any]]:
        """The increments of `score_days`."""
        return [dict(zip((*_SCORE_KEY, *_SCORE_SUMS), (*key, *sums), strict=True)) for key, sums in self.scores.items()]

    def day_rows(self) -> list[dict[str, Any]]:
        """The increments of `days`."""
        return [dict(zip((*_DAY_KEY, *_DAY_SUMS), (*key, *sums), strict=True)) for key, sums in self.days.items()]

    def _count(self, evaluation: Evaluation, value: str, sums: Sequence[float]) -> None:
        place = (storable(evaluation.suite), storable(evaluation.source), storable(evaluation.variant))
        _add_to(self.days, (_day(evaluation), "evaluation", "", value, "", evaluation.origin, *place, ""), sums)

    def _add_judge(self, evaluation: Evaluation, use: JudgeUse) -> None:
        names = (storable(use.judge), storable(use.model), storable(use.currency))

        def key(value: str) -> tuple[Any, ...]:
            return (_day(evaluation), "judge", names[0], value, names[1], evaluation.origin, "", "", "", names[2])

        _add_to(self.days, key(CALLS), (use.calls, use.seconds, use.prompt_tokens, use.completion_tokens, use.cost))
        for outcome, count in use.outcomes.items():
            if count:
                _add_to(self.days, key(outcome), (count, 0.0, 0, 0, 0.0))


class Days(Store):
    """Reads of `score_days` and `days`, the source of all period figures."""

    def scores(self, period: Period, scope: Scope) -> list[DayScore]:
        """How often each score was given, by day, variant and criterion, in this order; all figures of scores are made of it."""
        columns = score_days.c
        group = (columns.day, columns.variant, columns.criterion, columns.score)  # the beginning of the key: nothing is sorted
        query = select(*group, func.sum(columns.answers), func.sum(columns.total))
        query = query.where(*_in_scope(score_days, period, scope)).group_by(*group).order_by(*group)
        if scope.suite is not None:
            query = query.where(columns.suite == scope.suite)
        return [
            DayScore(day, variant, criterion, score, int(answers), total)
            for day, variant, criterion, score, answers, total in self._ledger.rows(query)
        ]

    def levels(self, period: Period, weak: Callable[[ColumnElement[float]], ColumnElement[bool]]) -> Sequence[DayLevel]:
        """Sums of the scores of each day, source and criterion, golden questions left out; `weak` says which scores are weak."""
        columns = score_days.c
        group = (columns.day, columns.source, columns.criterion)
        sums = (
            func.sum(columns.answers),
            func.sum(columns.total),
            func.sum(columns.answers * columns.score * columns.score),
            func.sum(case((weak(columns.score), columns.answers), else_=0)),
        )
        query = select(*group, *sums).where(*_in_scope(score_days, period, Scope())).group_by(*group).order_by(*group)
        return [
            DayLevel(day, source, criterion, int(answers), float(total), float(squares), int(count))
            for day, source, criterion, answers, total, squares, count in self._ledger.rows(query)
        ]

    def panels(self, period: Period) -> dict[date, set[str]]:
        """The panels that judged the first and the last answer of each day."""
        panels: dict[date, set[str]] = {}
        evaluated = select(evaluations.c.run_id).where(*in_scope(Scope()), evaluations.c.state == "evaluated").limit(1)
        for number in range(period.days):
            day = period.start + timedelta(days=number)
            inside = evaluated.where(*in_period(Period(start=day, end=day + timedelta(days=1))))
            for order in (evaluations.c.timestamp, evaluations.c.timestamp.desc()):
                panels.setdefault(day, set()).update(id or "" for id in self._ledger.values(inside.order_by(order)))
        return panels

    def totals(self, period: Period, scope: Scope) -> Sequence[DayTotals]:
        """Totals by day, in order, without empty days.

        What was given up or left out by sampling belongs to every suite: none had judged it.
        """
        columns = days.c
        group = (columns.day, columns.kind, columns.name, columns.value)  # the beginning of the key: nothing is sorted
        evaluated = not_by_index([columns.kind == "evaluation"])
        query = select(*group, *_SUMS).where(*evaluated, *_in_scope(days, period, scope))
        if scope.suite is not None:
            query = query.where(columns.suite.in_((scope.suite, _NO_SUITE)))
        by_day: dict[date, dict[str, Any]] = {}
        for row in self._ledger.rows(query.group_by(*group).order_by(*group)):
            by_day.setdefault(row.day, {})[row.value] = row
        totals = []
        for day, rows in by_day.items():
            counts = {value: int(rows[value].rows) if value in rows else 0 for value in _VALUES}
            judged = [rows[value] for value in ("scored", "unscored") if value in rows]
            if any(counts.values()):
                seconds, (prompt, completion) = sum(row.seconds for row in judged), _tokens_of(judged)
                totals.append(DayTotals(day=day, **counts, seconds=seconds, prompt_tokens=prompt, completion_tokens=completion))
        return totals

    def judges(self, period: Period) -> Sequence[JudgeDays]:
        """Sums of each judge, golden questions included."""
        columns = days.c
        group = (columns.name, columns.detail, columns.value, columns.currency)
        query = select(*group, *_SUMS).where(columns.kind == "judge", columns.day >= period.start, columns.day < period.end)
        judges: dict[tuple[str, str], list[Any]] = {}
        for row in self._ledger.rows(query.group_by(*group).order_by(*group)):
            judges.setdefault((row.name, row.detail), []).append(row)
        # verdicts that judges did not give: of every attempt, on the day it was made
        of_judge = (judgments.c.judge, judgments.c.model, verdicts.c.outcome)
        query = select(*of_judge, func.count()).join(judgments, judgments.c.id == verdicts.c.judgment_id)
        query = query.join(runs, runs.c.id == judgments.c.run_id).where(text(f"verdicts.{MISSED}"), runs.c.kind == COUNTED)
        since, until = naive(midnight(period.start)), naive(midnight(period.end))
        query = query.where(judgments.c.created_at >= since, judgments.c.created_at < until).group_by(*of_judge)
        missed: dict[tuple[str, str], dict[str, int]] = {}
        for judge, model, outcome, count in self._ledger.rows(query):
            missed.setdefault((judge, model), {})[outcome] = count
        return [
            _judge_of(judge, model, judges.get((judge, model), ()), missed.get((judge, model), {}))
            for judge, model in sorted({*judges, *missed})
        ]


def remove_empty_days(connection: Connection) -> None:
    """Remove counts of evaluations and judges that have become zero."""
    connection.execute(delete(score_days).where(score_days.c.answers == 0))
    connection.execute(delete(days).where(days.c.kind.in_(("evaluation", "judge")), days.c.count == 0))


def judge_uses(connection: Connection, places: Sequence[PanelPlace]) -> dict[PanelPlace, list[JudgeUse]]:
    """Sum judges' work on answers under their panels: of each key the judgment counts that the scores rest on."""
    by_place: dict[PanelPlace, list[JudgeUse]] = {}
    for part in chunks([answer for answer, _ in places]):
        counting = list(_counting(connection, part, set(places)))
        outcomes: dict[int, list[str]] = {}
        said = select(verdicts.c.judgment_id, verdicts.c.outcome)
        for row in rows_in(connection, said, verdicts.c.judgment_id, [row.id for row in counting]):
            outcomes.setdefault(row.judgment_id, []).append(row.outcome)
        by_judge: dict[tuple[PanelPlace, str, str, str], list[Any]] = {}
        for row in counting:
            by_judge.setdefault(((row.answer, row.panel), row.judge, row.model, row.currency), []).append(row)
        for (place, judge, model, currency), rows in by_judge.items():
            prompt, completion = _tokens_of(rows)
            use = JudgeUse(
                judge=judge,
                model=model,
                calls=sum(row.calls for row in rows),
                outcomes=dict(Counter(outcome for row in rows for outcome in outcomes.get(row.id, ()))),
                seconds=sum(row.seconds for row in rows),
                prompt_tokens=prompt,
                completion_tokens=completion,
                cost=sum(row.cost or 0.0 for row in rows),
                currency=currency,
            )
            by_place.setdefault(place, []).append(use)
    return by_place


def computed_days(connection: Connection) -> dict[str, list[dict[str, Any]]]:
    """Compute the rows of `score_days` and `days`, by table name."""
    counts = DayCounts()
    for portion in each_evaluation(connection, COUNTED):
        uses = judge_uses(
            connection, [(answer, evaluation.run_id) for answer, evaluation in portion if evaluation.state == "evaluated"]
        )
        for answer, evaluation in portion:
            counts.add(evaluation, uses.get((answer, evaluation.run_id), ()))
    return {score_days.name: counts.score_rows(), days.name: [*counts.day_rows(), *recounted_days(connection)]}


def rounded(score: float) -> float:
    """Round a score for grades; never −0, which one database tells from 0."""
    return round(score, _DECIMALS) + 0.0


# --- parts


def _day(evaluation: Evaluation) -> date:
    return evaluation.timestamp.astimezone(UTC).date()


def _add_to(sums: dict[_Key, list[float]], key: _Key, values: Sequence[float]) -> None:
    totals = sums.setdefault(key, [0] * len(values))
    for place, value in enumerate(values):
        totals[place] += value


_OF_IT = select(verdicts.c.criterion).where(verdicts.c.judgment_id == judgments.c.id)
_IS_WHOLE = ~_OF_IT.where(verdicts.c.outcome.not_in(GIVEN_NAMES)).exists() & _OF_IT.exists()
_JUDGED = (
    select(answer_judgments.c.answer, answer_judgments.c.run_id.label("panel"), judgments, _IS_WHOLE.label("is_whole"))
    .join(judgments, judgments.c.key == answer_judgments.c.key)
    .where(func.coalesce(answer_judgments.c.judgment, judgments.c.id) == judgments.c.id)
    .where(answer_judgments.c.answer.in_(bindparam("of", expanding=True)))
    .order_by(judgments.c.id)
)


def _counting(connection: Connection, answers: Sequence[int], places: Collection[PanelPlace]) -> Iterator[Any]:
    """The judgment that counts for each place and key: the noted one, else the latest with a verdict on every criterion, else
    the latest."""
    best: dict[tuple[PanelPlace, str], Any] = {}
    for row in connection.execute(_JUDGED, {"of": answers}):
        place = (row.answer, row.panel)
        before = best.get((place, row.key))
        if place in places and (before is None or row.is_whole or not before.is_whole):
            best[(place, row.key)] = row
    yield from best.values()


def _in_scope(table: Table, period: Period, scope: Scope) -> list[ColumnElement[bool]]:
    """The conditions of a period, and of a scope but for its suite."""
    columns = table.c
    inside = [columns.day >= period.start, columns.day < period.end]
    conditions = [*inside, columns.origin == COUNTED, in_source(columns.source, scope.source)]
    return conditions if scope.variant is None else [*conditions, columns.variant == storable(scope.variant)]


def _tokens_of(rows: Sequence[Any]) -> tuple[int, int]:
    return sum(int(row.prompt_tokens or 0) for row in rows), sum(int(row.completion_tokens or 0) for row in rows)


def _judge_of(judge: str, model: str, rows: Sequence[Any], missed: dict[str, int]) -> JudgeDays:
    """One judge's sums, from its rows by outcome and currency; verdicts that it did not give count once for each attempt."""
    outcomes: dict[str, int] = {}
    calls = [row for row in rows if row.value == CALLS]
    for row in rows:
        if row.value != CALLS:
            outcomes[row.value] = outcomes.get(row.value, 0) + int(row.rows)
    prompt, completion = _tokens_of(calls)
    return JudgeDays(
        judge=judge,
        model=model,
        calls=sum(int(row.rows) for row in calls),
        outcomes=outcomes | {outcome: max(count, outcomes.get(outcome, 0)) for outcome, count in missed.items()},
        seconds=sum(row.seconds for row in calls),
        prompt_tokens=prompt,
        completion_tokens=completion,
        cost={row.currency: row.cost for row in calls if row.cost},
    )
