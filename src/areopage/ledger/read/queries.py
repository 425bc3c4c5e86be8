"""Scopes, periods and filters of answers, and the sums they give.

The functions below say the same in SQL, over the table `evaluations`.
"""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple, cast

from msgspec import Struct
from sqlalchemy import BinaryExpression, ColumnElement, func, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from areopage.gate import GateVerdict
from areopage.ledger.tables.answer_tables import answers, evaluations
from areopage.ledger.tables.records import GOLDEN_SOURCE, Grade, JudgeWork
from areopage.ledger.tables.rows import naive, storable
from areopage.ledger.tables.trace_records import Channel

Conditions = list[ColumnElement[bool]]


class Scope(Struct, frozen=True, kw_only=True):
    """Which answers a figure is about. None takes all; golden questions are taken only where `source` names them."""

    suite: str | None = None
    source: str | None = None
    variant: str | None = None


class Period(Struct, frozen=True, kw_only=True):
    """Days in UTC, `end` excluded."""

    start: date
    end: date

    @property
    def days(self) -> int:
        """How many days."""
        return (self.end - self.start).days

    @property
    def last(self) -> date:
        """The last day."""
        return self.end - timedelta(days=1)


def last_days(days: int, last: date) -> Period:
    """The period of a number of days, with its last day."""
    return Period(start=last - timedelta(days=days - 1), end=last + timedelta(days=1))


class Filters(Struct, frozen=True, kw_only=True):
    """Which answers a list shows. `criterion` "" means that `grade` is that of the global score; `text` is free text."""

    period: Period | None = None
    grade: Grade | None = None
    criterion: str = ""
    source: str | None = None
    variant: str | None = None
    text: str = ""


class DayScore(NamedTuple):
    """How often a score was given on one criterion on one day for one variant.

    `score` has two decimals; `total` is the sum of the scores as they were given. The criterion "" is the global score.
    """

    day: date
    variant: str
    criterion: str
    score: float
    answers: int
    total: float


class DayTotals(Struct, frozen=True, kw_only=True):
    """What was done on one day, and how many answers of it sampling left out."""

    day: date
    scored: int
    unscored: int
    failed: int
    left_out: int
    seconds: float
    prompt_tokens: int
    completion_tokens: int


class JudgeDays(JudgeWork, frozen=True, kw_only=True):
    """What one judge did over a period; `cost` is by currency."""

    cost: dict[str, float]


class Backlog(Struct, frozen=True, kw_only=True):
    """How much is not evaluated yet; `oldest_at` is when the oldest of the waiting was received."""

    waiting: int
    failed: int
    oldest_at: datetime | None

    def waited(self, now: datetime) -> float | None:
        """The seconds that the oldest has waited; None where none waits.

        A time in the future comes from a clock that was ahead. Its distance counts: that the answer waits must not go unseen.
        """
        return None if self.oldest_at is None else abs((now - self.oldest_at).total_seconds())


class EvaluationFilter(Struct, frozen=True, kw_only=True):
    """Which of the monitor's evaluations are wanted. `since` and `until` are UTC, `until` is exclusive.

    Args:
        source: None: any but golden questions.
        ids: of answers, from any source. Empty: any.
    """

    since: datetime | None = None
    until: datetime | None = None
    source: str | None = None
    ids: tuple[str, ...] = ()

    def conditions(self) -> Conditions:
        """Build the conditions on `evaluations`."""
        columns = evaluations.c
        conditions = [columns.origin == "monitor", columns.state == "evaluated"]
        if self.ids:
            named = answers.c.id.in_([storable(id) for id in self.ids])
            conditions.append(columns.answer.in_(select(answers.c.number).where(named)))
        if self.source is not None or not self.ids:
            conditions.append(in_source(columns.source, self.source))
        if self.since is not None:
            conditions.append(columns.timestamp >= naive(self.since))
        if self.until is not None:
            conditions.append(columns.timestamp < naive(self.until))
        return conditions


class TraceFilter(Struct, frozen=True, kw_only=True):
    """Which traces are wanted; None and () mean any. `since` and `until` are UTC, `until` is exclusive.

    `unlabelled`: only those that no rater has said of whether the documents support them.
    """

    since: datetime | None = None
    until: datetime | None = None
    channels: tuple[Channel, ...] = ()
    verdict: GateVerdict | None = None
    collection: str | None = None
    prompt: str | None = None
    unlabelled: bool = False


class TraceSummary(Struct, frozen=True, kw_only=True):
    """Counts of a period, formed by the database.

    Args:
        reasons: how many traces each reason decided, the most frequent first.
        confidences, p_unsupported: histograms of 20 equal bins over [0, 1].
        labelled: traces with labels of grounding; `ungrounded_delivered`: those of them that were delivered though people say
            that the documents do not support them, or partly.
    """

    traces: int
    verdicts: dict[str, int]
    modes: dict[str, int]
    reasons: dict[str, int]
    languages: dict[str, int]
    confidences: tuple[int, ...]
    p_unsupported: tuple[int, ...]
    labelled: int
    ungrounded_delivered: int


# --- in SQL


def in_source(column: ColumnElement[str], source: str | None) -> ColumnElement[bool]:
    """Match rows of a source; without a source, all but golden questions."""
    return column == storable(source) if source is not None else not_golden(column)


def not_golden(column: ColumnElement[str]) -> ColumnElement[bool]:
    """Match rows other than golden questions."""
    return func.substr(column, 1, len(GOLDEN_SOURCE)) != GOLDEN_SOURCE  # LIKE would mind the case in one database only


def in_scope(scope: Scope) -> Conditions:
    """Build a scope's conditions on `evaluations`."""
    columns = evaluations.c
    conditions = [columns.origin == "monitor", in_source(columns.source, scope.source)]
    if scope.suite is not None:
        conditions.append(columns.suite == scope.suite)
    if scope.variant is not None:
        conditions.append(columns.variant == storable(scope.variant))
    return conditions


def in_period(period: Period) -> Conditions:
    """Build a period's conditions on `evaluations`."""
    return between(midnight(period.start), midnight(period.end))


def between(since: datetime, until: datetime) -> Conditions:
    """Match moments in [since, until)."""
    timestamp: ColumnElement[Any] = evaluations.c.timestamp
    return [timestamp >= naive(since), timestamp < naive(until)]


def midnight(day: date) -> datetime:
    """The moment in UTC when a day begins."""
    return datetime.combine(day, time(), UTC)


class WithoutIndex(FunctionElement[Any]):
    """A column that SQLite does not choose an index by: it sees `+column`, and PostgreSQL the column."""

    name = "passed_over"
    inherit_cache = True


@compiles(WithoutIndex)
def compile_passed_over(element: WithoutIndex, compiler: SQLCompiler, **options: Any) -> str:
    """Compile the column with a plus sign for SQLite."""
    column = compiler.process(element.clause_expr.element, **options)
    return f"+{column}" if compiler.dialect.name == "sqlite" else column


def not_by_index(conditions: Conditions) -> Conditions:
    """Compare columns without their index in SQLite, which would collect and sort all matching rows."""
    comparisons = [cast("BinaryExpression[bool]", condition) for condition in conditions]
    return [BinaryExpression(WithoutIndex(comparison.left), comparison.right, comparison.operator) for comparison in comparisons]
