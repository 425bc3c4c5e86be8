"""The conditions that a scope, a period or filters are in SQL."""

from datetime import UTC, date, datetime, time
from typing import Any, cast

from sqlalchemy import BinaryExpression, ColumnElement, func
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from areopage.ledger.monitor_tables import quality_scores
from areopage.ledger.quality_records import Period, Scope
from areopage.ledger.rows import naive, storable
from areopage.ledger.search import GOLDEN

Conditions = list[ColumnElement[bool]]


def in_source(column: ColumnElement[str], source: str | None) -> ColumnElement[bool]:
    """Whether a row is of a source; of any but golden questions' where none is named."""
    return column == storable(source) if source is not None else not_golden(column)


def not_golden(column: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether a row is no golden question's."""
    return func.substr(column, 1, len(GOLDEN)) != GOLDEN  # LIKE would mind the case in one database only


def in_scope(scope: Scope) -> Conditions:
    """The conditions of a scope on `quality_scores`."""
    columns = quality_scores.c
    conditions = [in_source(columns.source, scope.source)]
    if scope.suite is not None:
        conditions.append(columns.suite == scope.suite)
    if scope.variant is not None:
        conditions.append(columns.variant == storable(scope.variant))
    return conditions


def in_period(period: Period) -> Conditions:
    """The conditions of a period on `quality_scores`."""
    return between(midnight(period.start), midnight(period.end))


def between(since: datetime, until: datetime) -> Conditions:
    """Since a moment, and before another."""
    timestamp: ColumnElement[Any] = quality_scores.c.timestamp
    return [timestamp >= naive(since), timestamp < naive(until)]


def midnight(day: date) -> datetime:
    """The moment in UTC when a day begins."""
    return datetime.combine(day, time(), UTC)


class PassedOver(FunctionElement[Any]):
    """A column in a condition that SQLite is not to choose an index by: its `+column`. PostgreSQL sees the column itself."""

    name = "passed_over"
    inherit_cache = True


@compiles(PassedOver)
def compile_passed_over(element: PassedOver, compiler: SQLCompiler, **options: Any) -> str:
    """The column, behind a plus in SQLite."""
    column = compiler.process(element.clause_expr.element, **options)
    return f"+{column}" if compiler.dialect.name == "sqlite" else column


def not_by_index(conditions: Conditions) -> Conditions:
    """Comparisons with a column that SQLite is not to choose an index by; it would collect and sort all rows that they leave."""
    comparisons = [cast("BinaryExpression[bool]", condition) for condition in conditions]
    return [BinaryExpression(PassedOver(one.left), one.right, one.operator) for one in comparisons]
