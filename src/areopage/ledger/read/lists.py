"""Lists of evaluated answers: filters, search, pages and streams for exports."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, Select, cast, func, select, tuple_

from areopage.ledger.read.days import rounded
from areopage.ledger.read.queries import Conditions, Filters, Period, Scope, between, in_period, in_scope, in_source, not_by_index
from areopage.ledger.read.search import Direction, numbers_found, wanted
from areopage.ledger.tables.answer_tables import answer_judgments, evaluation_scores, evaluations, judgments
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.records import ADDRESSED, Evaluation
from areopage.ledger.tables.rows import naive, storable
from areopage.ledger.tables.schema import days
from areopage.ledger.write.evaluation_rows import PORTION, evaluations_by_number

COLUMNS = evaluations.c
_EVALUATED = not_by_index([COLUMNS.origin == "monitor", COLUMNS.state == "evaluated"])


class EvaluationLists(Store):
    """Lists of the monitor's evaluated answers. Quick at a million rows: each goes through an index and takes few more rows than
    it shows.

    Two orders stand for "newest". Lists under at most one of a grade and a source go by the moment of the answer; all others (a
    text, a criterion's grade, a variant, several filters at once) by `number`, the order in which answers were submitted.
    """

    def page(self, filters: Filters, *, before: int | None = None, limit: int = 50) -> list[Evaluation]:
        """Return the newest answers that pass the filters.

        Args:
            before: the `number` of the last answer of the page before, with the same filters: what follows on it.
        """
        with self._ledger.reading() as connection:
            return _portion(connection, filters, "newest", before, limit)

    def neighbours(self, filters: Filters, number: int) -> tuple[Evaluation | None, Evaluation | None]:
        """Return the next newer and the next older answer that pass the filters."""
        with self._ledger.reading() as connection:
            newer, older = (_portion(connection, filters, direction, number, 1) for direction in ("oldest", "newest"))
        return next(iter(newer), None), next(iter(older), None)

    def stream(self, filters: Filters) -> Iterator[Evaluation]:
        """Iterate over matching answers, oldest first, with bounded memory."""
        last: int | None = None
        while True:
            with self._ledger.reading() as connection:
                found = _portion(connection, filters, "oldest", last, PORTION)
            yield from found
            if len(found) < PORTION:
                return
            last = found[-1].number

    def worst(self, period: Period, scope: Scope, limit: int = 5, *, higher_is_better: bool = True) -> list[Evaluation]:
        """Return the period's answers with the worst global score.

        The worst is the lowest, unless lower is better on the suite's scale.
        """
        columns = (COLUMNS.score_global, COLUMNS.timestamp, COLUMNS.origin, COLUMNS.source, COLUMNS.variant, COLUMNS.number)
        order = columns if higher_is_better else [column.desc() for column in columns]
        return self._found(_extremes(COLUMNS.score_global, period, scope).order_by(*order).limit(limit))

    def spread_most(self, period: Period, scope: Scope, limit: int) -> list[Evaluation]:
        """Return the period's answers with the largest difference between judges."""
        columns = (COLUMNS.spread, COLUMNS.timestamp, COLUMNS.origin, COLUMNS.source, COLUMNS.variant, COLUMNS.number)
        query = _extremes(COLUMNS.spread, period, scope)
        return self._found(query.order_by(*(column.desc() for column in columns)).limit(limit))

    def addressing(self, period: Period, scope: Scope, limit: int) -> list[Evaluation]:
        """Return the period's answers that address the judge, newest first."""
        asked = answer_judgments.join(judgments, judgments.c.key == answer_judgments.c.key)
        marked = select(answer_judgments.c.answer).select_from(asked)
        marked = marked.where(answer_judgments.c.answer == COLUMNS.answer, answer_judgments.c.run_id == COLUMNS.run_id)
        marked = marked.where(judgments.c.steps.contains(f'"{ADDRESSED}', autoescape=True))
        query = select(COLUMNS.number).where(*_EVALUATED, *in_period(period), *in_scope(scope), marked.exists())
        return self._found(query.order_by(COLUMNS.timestamp.desc(), COLUMNS.number.desc()).limit(limit))

    def recent(self, since: datetime, scope: Scope, limit: int) -> list[Evaluation]:
        """Return the answers evaluated since a moment, newest first."""
        query = select(COLUMNS.number).where(COLUMNS.evaluated_at >= naive(since), *not_by_index(in_scope(scope)))
        return self._found(query.order_by(COLUMNS.evaluated_at.desc(), COLUMNS.number.desc()).limit(limit))

    def sample(self, period: Period, scope: Scope, limit: int, seed: int) -> list[Evaluation]:
        """Return a random sample of a period, fixed by the seed.

        Reads the keys of the whole period.
        """
        numbers = select(COLUMNS.number).where(*_EVALUATED, *in_period(period), *in_scope(scope))
        return self._found(numbers.order_by(_shuffled(COLUMNS.number, seed), COLUMNS.number).limit(limit))

    def tally(self, since: datetime, until: datetime, scope: Scope) -> dict[str, dict[float, int]]:
        """Count answers by criterion and score, with timestamps in [since, until).

        The criterion "" is the global score; scores are rounded as the days' counts are.
        """
        found: dict[str, dict[float, int]] = {}
        for by_criterion in self.tallies(since, until, scope).values():
            for criterion, counts in by_criterion.items():
                tally = found.setdefault(criterion, {})
                for score, answers in counts.items():
                    tally[score] = tally.get(score, 0) + answers
        return found

    def tallies(self, since: datetime, until: datetime, scope: Scope) -> dict[tuple[str, str], dict[str, dict[float, int]]]:
        """Count answers like `tally`, by source and variant."""
        inside = [*_EVALUATED, *between(since, until), *in_scope(scope)]
        place, criteria = (COLUMNS.source, COLUMNS.variant), evaluation_scores.c
        overall = select(*place, COLUMNS.score_global, func.count()).where(*inside, COLUMNS.score_global.is_not(None))
        joined = evaluations.join(evaluation_scores, criteria.evaluation == COLUMNS.number)
        each = select(*place, criteria.criterion, criteria.score, func.count()).select_from(joined)
        each = each.where(*inside, criteria.score.is_not(None)).group_by(*place, criteria.criterion, criteria.score)
        found: dict[tuple[str, str], dict[str, dict[float, int]]] = {}
        with self._ledger.reading() as connection:
            rows = [(*row[:2], "", *row[2:]) for row in connection.execute(overall.group_by(*place, COLUMNS.score_global))]
            rows += [tuple(row) for row in connection.execute(each)]
        for source, variant, criterion, score, answers in rows:
            tally = found.setdefault((source, variant), {}).setdefault(criterion, {})
            tally[rounded(score)] = tally.get(rounded(score), 0) + answers
        return found

    def sources(self) -> Sequence[str]:
        """Return the known sources, from the counts by day."""
        return self._distinct(days.c.source)

    def variants(self, sources: Sequence[str] = ()) -> Sequence[str]:
        """Return the known variants (of some sources; () for all), from the counts by day.

        "" is included where answers have no variant.
        """
        return self._distinct(days.c.variant, sources)

    def _distinct(self, column: ColumnElement[str], sources: Sequence[str] = ()) -> Sequence[str]:
        query = select(column).distinct().where(days.c.kind == "evaluation").order_by(column)
        if sources:
            query = query.where(days.c.source.in_([storable(one) for one in sources]))
        with self._ledger.reading() as connection:
            return list(connection.execute(query).scalars())

    def _found(self, numbers: Select[Any]) -> list[Evaluation]:
        with self._ledger.reading() as connection:
            return evaluations_by_number(connection, list(connection.execute(numbers).scalars()))


def _extremes(measure: ColumnElement[float], period: Period, scope: Scope) -> Select[Any]:
    """The numbers of a period's rows with a measure, to be walked along that measure's index: never all collected and sorted."""
    return select(COLUMNS.number).where(measure.is_not(None), *not_by_index([*in_period(period), *in_scope(scope)]))


def _portion(connection: Connection, filters: Filters, direction: Direction, last: int | None, limit: int) -> list[Evaluation]:
    """The answers that pass filters, beyond the last one of the portion before."""
    single = filters.grade is None or filters.source is None
    if filters.text.strip() or (filters.criterion and filters.grade) or filters.variant is not None or not single:
        asked = wanted(filters)
        numbers = numbers_found(connection, asked, direction, last, limit) if asked else []
        return evaluations_by_number(connection, numbers)
    query = _by_time(filters, direction).limit(limit)
    if last is not None:
        query = query.where(_beyond(connection, last, direction))
    return evaluations_by_number(connection, list(connection.execute(query).scalars()))


def _by_time(filters: Filters, direction: Direction) -> Select[Any]:
    """The numbers of answers by their moment, under at most one of a grade and a source: each has its index in that order."""
    conditions: Conditions = [*_EVALUATED, *(in_period(filters.period) if filters.period else ())]
    if filters.grade is not None:
        conditions.append(COLUMNS.grade == filters.grade)
    conditions.append(in_source(COLUMNS.source, filters.source))
    order = (COLUMNS.timestamp, COLUMNS.number)
    columns = order if direction == "oldest" else tuple(column.desc() for column in order)
    return select(COLUMNS.number).where(*conditions).order_by(*columns)


def _beyond(connection: Connection, last: int, direction: Direction) -> ColumnElement[bool]:
    """What comes after an answer in the order of time; where there is none of that number, after the nearest before it."""
    nearest = select(COLUMNS.timestamp).where(COLUMNS.number <= last).order_by(COLUMNS.number.desc()).limit(1)
    moment = connection.execute(nearest).scalar()
    here = tuple_(COLUMNS.timestamp, COLUMNS.number)
    there = tuple_(moment if moment is not None else datetime.min, last)
    return here < there if direction == "newest" else here > there


def _shuffled(number: ColumnElement[int], seed: int) -> ColumnElement[Any]:
    """A number's place in an order that a seed determines; all arithmetic stays under 2⁶³."""
    prime = 2_147_483_647
    first, second = (seed * 48_271 + 11) % prime or 1, (seed * 69_621 + 7) % prime
    mixed = (cast(number, BigInteger) * first + second) % prime
    return (mixed * mixed + first) % prime
