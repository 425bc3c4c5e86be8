"""Lists of answers: filtered, searched, page by page, and as a stream for exports."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, Select, cast, func, select, tuple_

from areopage.ledger.connection import storage_errors
from areopage.ledger.counting import rounded
from areopage.ledger.monitor_tables import quality_criteria, quality_days, quality_scores
from areopage.ledger.quality_records import Filters, Period, QualityScore, Scope
from areopage.ledger.quality_rows import scores_by_number, scores_of
from areopage.ledger.rows import naive
from areopage.ledger.scoping import Conditions, between, in_period, in_scope, in_source, not_by_index
from areopage.ledger.search import Direction, numbers_found, wanted
from areopage.ledger.store import Ledger

PORTION = 500
COLUMNS = quality_scores.c


class QualityLists:
    """Reads of `quality_scores`. Quick at a million rows: each goes through an index and takes no more rows than it shows.

    Two orders stand for "newest". Lists under at most one of a band and a source go by the moment of the answer; all others (a
    text, a criterion's band, a variant, several filters at once) by `number`, the order in which answers were evaluated.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def page(self, filters: Filters, *, before: int | None = None, limit: int = 50) -> list[QualityScore]:
        """The newest answers that pass the filters.

        Args:
            before: the `number` of the last answer of the page before, with the same filters: what follows on it.
        """
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return portion(connection, filters, "newest", before, limit)

    def stream(self, filters: Filters) -> Iterator[QualityScore]:
        """All answers that pass, oldest first, in portions; memory stays bounded."""
        last: int | None = None
        while True:
            with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
                found = portion(connection, filters, "oldest", last, PORTION)
            yield from found
            if len(found) < PORTION:
                return
            last = found[-1].number

    def worst(self, period: Period, scope: Scope, limit: int = 5, *, higher_is_better: bool = True) -> list[QualityScore]:
        """The scored answers of a period with the worst global score: the lowest, unless lower is better on the suite's scale."""
        columns = (COLUMNS.score_global, COLUMNS.timestamp, COLUMNS.source, COLUMNS.variant, COLUMNS.number)
        order = columns if higher_is_better else [column.desc() for column in columns]
        return self._scores(extremes(COLUMNS.score_global, period, scope).order_by(*order).limit(limit))

    def spread_most(self, period: Period, scope: Scope, limit: int) -> list[QualityScore]:
        """The answers of a period on which judges differ most."""
        columns = (COLUMNS.spread, COLUMNS.timestamp, COLUMNS.source, COLUMNS.variant, COLUMNS.number)
        query = extremes(COLUMNS.spread, period, scope)
        return self._scores(query.order_by(*(column.desc() for column in columns)).limit(limit))

    def recent(self, since: datetime, scope: Scope, limit: int) -> list[QualityScore]:
        """The answers evaluated at or after a moment, newest first."""
        query = select(quality_scores).where(COLUMNS.evaluated_at >= naive(since), *not_by_index(in_scope(scope)))
        return self._scores(query.order_by(COLUMNS.evaluated_at.desc(), COLUMNS.number.desc()).limit(limit))

    def sample(self, period: Period, scope: Scope, limit: int, seed: int) -> list[QualityScore]:
        """A random sample of a period's answers; the same for the same seed and rows. Reads the whole period's keys."""
        numbers = scoped(scope, *in_period(period)).with_only_columns(COLUMNS.number)
        query = numbers.order_by(shuffled(COLUMNS.number, seed), COLUMNS.number).limit(limit)
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return scores_by_number(connection, list(connection.execute(query).scalars()))

    def tally(self, since: datetime, until: datetime, scope: Scope) -> dict[str, dict[float, int]]:
        """How often each score was given to answers whose timestamp is in [since, until): criterion, score, number of answers.

        The criterion "" is the global score; scores are rounded as the days' counts are.
        """
        inside = scoped(scope, *between(since, until))
        overall = inside.with_only_columns(COLUMNS.score_global, func.count()).where(COLUMNS.score_global.is_not(None))
        criteria = quality_criteria.c
        joined = inside.join(quality_criteria, criteria.quality_number == COLUMNS.number).where(criteria.score.is_not(None))
        each = joined.with_only_columns(criteria.criterion, criteria.score, func.count())
        found: dict[str, dict[float, int]] = {}
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            rows = [("", *row) for row in connection.execute(overall.group_by(COLUMNS.score_global))]
            rows += [tuple(row) for row in connection.execute(each.group_by(criteria.criterion, criteria.score))]
        for criterion, score, answers in rows:
            tally = found.setdefault(criterion, {})
            tally[rounded(score)] = tally.get(rounded(score), 0) + answers
        return found

    def sources(self) -> Sequence[str]:
        """The sources there are (from the days' totals)."""
        return self._distinct(quality_days.c.source)

    def variants(self) -> Sequence[str]:
        """The variants there are, "" included where answers have none (from the days' totals)."""
        return self._distinct(quality_days.c.variant)

    def _scores(self, query: Select[Any]) -> list[QualityScore]:
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return scores_of(connection, connection.execute(query).all())

    def _distinct(self, column: ColumnElement[str]) -> Sequence[str]:
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return list(connection.execute(select(column).distinct().order_by(column)).scalars())


def scoped(scope: Scope, *conditions: ColumnElement[bool]) -> Select[Any]:
    """Rows of a scope that meet conditions."""
    return select(quality_scores).where(*conditions, *in_scope(scope))


def extremes(measure: ColumnElement[float], period: Period, scope: Scope) -> Select[Any]:
    """A period's rows with a measure, to be walked along that measure's index: never all collected and sorted."""
    return select(quality_scores).where(measure.is_not(None), *not_by_index([*in_period(period), *in_scope(scope)]))


def portion(connection: Connection, filters: Filters, direction: Direction, last: int | None, limit: int) -> list[QualityScore]:
    """The answers that pass filters, beyond the last one of the portion before."""
    single = filters.band is None or filters.source is None
    if filters.text.strip() or (filters.criterion and filters.band) or filters.variant is not None or not single:
        asked = wanted(filters)
        numbers = numbers_found(connection, asked, direction, last, limit) if asked else []
        return scores_by_number(connection, numbers)
    query = by_time(filters, direction).limit(limit)
    if last is not None:
        query = query.where(beyond(connection, last, direction))
    return scores_of(connection, connection.execute(query).all())


def by_time(filters: Filters, direction: Direction) -> Select[Any]:
    """Answers by their moment, under at most one of a band and a source: each has its index in that order."""
    conditions: Conditions = in_period(filters.period) if filters.period else []
    if filters.band is not None:
        conditions.append(COLUMNS.band == filters.band)
    conditions.append(in_source(COLUMNS.source, filters.source))
    order = (COLUMNS.timestamp, COLUMNS.number)
    columns = order if direction == "oldest" else tuple(column.desc() for column in order)
    return select(quality_scores).where(*conditions).order_by(*columns)


def beyond(connection: Connection, last: int, direction: Direction) -> ColumnElement[bool]:
    """What comes after an answer in the order of time; where it was erased since, after the one evaluated before it."""
    nearest = select(COLUMNS.timestamp).where(COLUMNS.number <= last).order_by(COLUMNS.number.desc()).limit(1)
    moment = connection.execute(nearest).scalar()
    here = tuple_(COLUMNS.timestamp, COLUMNS.number)
    there = tuple_(moment if moment is not None else datetime.min, last)
    return here < there if direction == "newest" else here > there


def shuffled(number: ColumnElement[int], seed: int) -> ColumnElement[Any]:
    """A number's place in an order that a seed determines; all arithmetic stays under 2⁶³."""
    prime = 2_147_483_647
    first, second = (seed * 48_271 + 11) % prime or 1, (seed * 69_621 + 7) % prime
    mixed = (cast(number, BigInteger) * first + second) % prime
    return (mixed * mixed + first) % prime
