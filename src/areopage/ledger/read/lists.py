"""Lists of evaluated answers: filters, search, pages and streams for exports."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from msgspec import Struct
from sqlalchemy import BigInteger, ColumnElement, Connection, Select, cast, exists, func, or_, select, tuple_

from areopage.ledger.people.labels import SAMPLE, VALID
from areopage.ledger.read.days import rounded
from areopage.ledger.read.queries import Filters, Period, Scope, between, in_period, in_scope, in_source, not_by_index
from areopage.ledger.read.search import ListOrder, numbers_found, wanted
from areopage.ledger.tables.answer_tables import (
    answer_judgments,
    answer_texts,
    answers,
    equal_answers,
    evaluation_scores,
    evaluations,
    judgments,
)
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.records import ADDRESSED, Evaluation, is_golden
from areopage.ledger.tables.rows import KEYS_PER_QUERY, aware, naive, storable
from areopage.ledger.tables.schema import days, labels, review_items
from areopage.ledger.write.evaluation_rows import PORTION, evaluations_by_number

COLUMNS = evaluations.c
_EVALUATED = not_by_index([COLUMNS.origin == "monitor", COLUMNS.state == "evaluated"])


class ReviewedAnswer(Struct, frozen=True, kw_only=True):
    """An answer that was drawn at random for review, or is labelled: its id, its day in UTC, and whether it was drawn."""

    id: str
    day: date
    drawn: bool


class EqualAnswers(Struct, frozen=True):
    """The answers of one set on one day under one variant that have a score on a criterion ("": the global one)."""

    first: int
    day: date
    variant: str
    criterion: str
    answers: int
    total: float


class ScoredAnswer(Struct, frozen=True):
    """What a comparison reads of an evaluated answer; `scores` are those on criteria, `prompt` is "" unless it was asked for."""

    day: date
    panel: str
    variant: str
    score_global: float | None
    grade: str
    scores: Mapping[str, float]
    prompt: str = ""


class EvaluationLists(Store):
    """Lists of the monitor's evaluated answers. Quick at a million rows: each goes through an index and takes few more rows than
    it shows.

    Two orders stand for "newest". Lists under at most one of a grade and a source go by the moment of the answer; all others (a
    text, a criterion's grade, a variant, several filters at once) by `number`, the order in which answers were submitted.
    """

    def page(self, filters: Filters, *, before: int | None = None, limit: int = 50) -> list[Evaluation]:
        """Return the newest answers that pass the filters, those that follow on the answer of a number."""
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
                portion = _portion(connection, filters, "oldest", last, PORTION)
            yield from portion
            if len(portion) < PORTION:
                return
            last = portion[-1].number

    def scored(self, period: Period, scope: Scope, *, prompts: bool = False) -> Iterator[ScoredAnswer]:
        """Iterate over the evaluated answers of a period, oldest first: their scores, without what else an evaluation has."""
        inside, criteria = (*_EVALUATED, *in_period(period), *in_scope(scope)), evaluation_scores.c
        query = select(COLUMNS.number, COLUMNS.timestamp, COLUMNS.run_id, COLUMNS.variant, COLUMNS.score_global, COLUMNS.grade)
        if prompts:
            query = query.add_columns(answer_texts.c.prompt).outerjoin(answer_texts, answer_texts.c.answer == COLUMNS.answer)
        rows = self._ledger.rows(query.where(*inside).order_by(COLUMNS.timestamp, COLUMNS.number))
        each = select(criteria.evaluation, criteria.criterion, criteria.score).where(criteria.score.is_not(None))
        for start in range(0, len(rows), KEYS_PER_QUERY):
            part = rows[start : start + KEYS_PER_QUERY]
            scores: dict[int, dict[str, float]] = {}
            for number, criterion, score in self._ledger.rows_in(each, criteria.evaluation, [row.number for row in part]):
                scores.setdefault(number, {})[criterion] = score
            for number, moment, panel, variant, score_global, grade, *texts in part:
                prompt = (texts[0] or "") if texts else ""
                yield ScoredAnswer(moment.date(), panel, variant, score_global, grade, scores.get(number, {}), prompt)

    def worst(self, period: Period, scope: Scope, limit: int = 5, *, higher_is_better: bool = True) -> list[Evaluation]:
        """Return the period's answers with the worst global score: the lowest, or the highest where lower is better."""
        columns = (COLUMNS.score_global, COLUMNS.timestamp, COLUMNS.origin, COLUMNS.source, COLUMNS.variant, COLUMNS.number)
        order = columns if higher_is_better else [column.desc() for column in columns]
        return self._evaluations(_extremes(COLUMNS.score_global, period, scope).order_by(*order).limit(limit))

    def spread_most(self, period: Period, scope: Scope, limit: int) -> list[Evaluation]:
        """Return the period's answers with the largest difference between judges."""
        columns = (COLUMNS.spread, COLUMNS.timestamp, COLUMNS.origin, COLUMNS.source, COLUMNS.variant, COLUMNS.number)
        query = _extremes(COLUMNS.spread, period, scope)
        return self._evaluations(query.order_by(*(column.desc() for column in columns)).limit(limit))

    def addressing(self, period: Period, scope: Scope, limit: int) -> list[Evaluation]:
        """Return the period's answers that address the judge, newest first."""
        asked = answer_judgments.join(judgments, judgments.c.key == answer_judgments.c.key)
        marked = select(answer_judgments.c.answer).select_from(asked)
        marked = marked.where(answer_judgments.c.answer == COLUMNS.answer, answer_judgments.c.run_id == COLUMNS.run_id)
        marked = marked.where(judgments.c.steps.contains(f'"{ADDRESSED}', autoescape=True))
        query = select(COLUMNS.number).where(*_EVALUATED, *in_period(period), *in_scope(scope), marked.exists())
        return self._evaluations(query.order_by(COLUMNS.timestamp.desc(), COLUMNS.number.desc()).limit(limit))

    def recent(self, since: datetime, scope: Scope, limit: int) -> list[Evaluation]:
        """Return the answers evaluated since a moment, newest first."""
        query = select(COLUMNS.number).where(COLUMNS.evaluated_at >= naive(since), *not_by_index(in_scope(scope)))
        return self._evaluations(query.order_by(COLUMNS.evaluated_at.desc(), COLUMNS.number.desc()).limit(limit))

    def sample(self, period: Period, scope: Scope, limit: int, seed: int) -> list[Evaluation]:
        """Return a random sample of a period, fixed by the seed; reads the keys of the whole period."""
        prime = 2_147_483_647  # all arithmetic stays under 2⁶³
        first, second = (seed * 48_271 + 11) % prime or 1, (seed * 69_621 + 7) % prime
        mixed = (cast(COLUMNS.number, BigInteger) * first + second) % prime
        numbers = select(COLUMNS.number).where(*_EVALUATED, *in_period(period), *in_scope(scope))
        return self._evaluations(numbers.order_by((mixed * mixed + first) % prime, COLUMNS.number).limit(limit))

    def tallies(self, since: datetime, until: datetime, scope: Scope) -> dict[tuple[str, str], dict[str, dict[float, int]]]:
        """Count answers by source and variant, then criterion and score, with timestamps in [since, until).

        The criterion "" is the global score; scores are rounded as the days' counts are.
        """
        inside = [*_EVALUATED, *between(since, until), *in_scope(scope)]
        place, criteria = (COLUMNS.source, COLUMNS.variant), evaluation_scores.c
        overall = select(*place, COLUMNS.score_global, func.count()).where(*inside, COLUMNS.score_global.is_not(None))
        joined = evaluations.join(evaluation_scores, criteria.evaluation == COLUMNS.number)
        each = select(*place, criteria.criterion, criteria.score, func.count()).select_from(joined)
        each = each.where(*inside, criteria.score.is_not(None)).group_by(*place, criteria.criterion, criteria.score)
        by_place: dict[tuple[str, str], dict[str, dict[float, int]]] = {}
        rows = [(*row[:2], "", *row[2:]) for row in self._ledger.rows(overall.group_by(*place, COLUMNS.score_global))]
        for source, variant, criterion, score, count in (*rows, *self._ledger.rows(each)):
            tally = by_place.setdefault((source, variant), {}).setdefault(criterion, {})
            tally[rounded(score)] = tally.get(rounded(score), 0) + count
        return by_place

    def sources(self) -> Sequence[str]:
        """Return the known sources, from the counts by day."""
        return self._distinct(days.c.source)

    def variants(self, sources: Sequence[str] = ()) -> Sequence[str]:
        """Return the known variants (of some sources; () for all), from the counts by day; "" where answers have none."""
        return self._distinct(days.c.variant, sources)

    def received_since(self, since: datetime) -> frozenset[str]:
        """The sources of the answers received since a moment."""
        columns = answers.c
        query = select(columns.source).distinct().where(columns.received_at >= naive(since), columns.origin == "monitor")
        return frozenset(source for source in self._ledger.values(query) if not is_golden(source))

    def last_received(self, source: str) -> datetime | None:
        """When the last answer of a source was received; None without any."""
        columns = answers.c
        query = select(columns.received_at).where(columns.source == storable(source), columns.origin == "monitor")
        moment: datetime | None = self._ledger.value(query.order_by(columns.received_at.desc()).limit(1))
        return aware(moment)

    def active_days(self, period: Period) -> dict[str, list[date]]:
        """The days of a period on which each source had evaluated answers, in order."""
        columns = days.c
        query = select(columns.source, columns.day).distinct().where(columns.kind == "evaluation")
        query = query.where(columns.day >= period.start, columns.day < period.end).order_by(columns.source, columns.day)
        by_source: dict[str, list[date]] = {}
        for source, day in self._ledger.rows(query):
            if not is_golden(source):
                by_source.setdefault(source, []).append(day)
        return by_source

    # --- people, and equal answers

    def reviewed(self, period: Period, scope: Scope) -> list[ReviewedAnswer]:
        """Return the evaluated answers of a period that were drawn at random for review, or are labelled."""
        item = review_items.c
        drawn = exists().where(item.answer_id == answers.c.id, item.run_id == "", item.why == SAMPLE)
        labelled = exists().where(labels.c.answer_id == answers.c.id, VALID)
        query = select(answers.c.id, COLUMNS.timestamp, drawn.label("drawn")).join(answers)
        query = query.where(*_EVALUATED, *in_period(period), *in_scope(scope), or_(drawn, labelled)).order_by(COLUMNS.number)
        rows = self._ledger.rows(query)
        return [ReviewedAnswer(id=row.id, day=aware(row.timestamp).date(), drawn=bool(row.drawn)) for row in rows]

    def panels(self, period: Period, scope: Scope) -> list[str]:
        """Return the ids of the panels that evaluated answers of a period, in order."""
        query = select(COLUMNS.run_id).distinct().where(*_EVALUATED, *in_period(period), *in_scope(scope))
        return [id for id in self._ledger.values(query.order_by(COLUMNS.run_id)) if id]

    def newest_panel(self, period: Period, scope: Scope) -> str:
        """Return the id of the panel that evaluated an answer of a period last; "" where none is evaluated."""
        query = select(COLUMNS.run_id).where(*_EVALUATED, *in_period(period), *in_scope(scope))
        return self._ledger.value(query.order_by(COLUMNS.evaluated_at.desc(), COLUMNS.number.desc()).limit(1)) or ""

    def equals(self, since: datetime, until: datetime, scope: Scope) -> list[EqualAnswers]:
        """Return the sets of answers with equal texts, with timestamps in [since, until), by day, variant and criterion."""
        equal, scores, day = equal_answers.c, evaluation_scores.c, func.date(COLUMNS.timestamp)
        place = (equal.first, day, COLUMNS.variant)
        inside = [equal.timestamp >= naive(since), equal.timestamp < naive(until), *between(since, until), *in_scope(scope)]
        joined = equal_answers.join(evaluations, COLUMNS.number == equal.evaluation)
        overall = select(*place, func.count(), func.sum(COLUMNS.score_global)).select_from(joined)
        overall = overall.where(*inside, COLUMNS.score_global.is_not(None)).group_by(*place)
        by_criterion = joined.join(evaluation_scores, scores.evaluation == COLUMNS.number)
        each = select(*place, scores.criterion, func.count(), func.sum(scores.score)).select_from(by_criterion)
        each = each.where(*inside, scores.score.is_not(None)).group_by(*place, scores.criterion)
        rows = [(*row[:3], "", *row[3:]) for row in self._ledger.rows(overall)]
        return [
            EqualAnswers(first, at if isinstance(at, date) else date.fromisoformat(at), variant, criterion, count, total)
            for first, at, variant, criterion, count, total in (*rows, *self._ledger.rows(each))
        ]

    # --- inside

    def _distinct(self, column: ColumnElement[str], sources: Sequence[str] = ()) -> Sequence[str]:
        query = select(column).distinct().where(days.c.kind == "evaluation").order_by(column)
        if sources:
            query = query.where(days.c.source.in_([storable(source) for source in sources]))
        return self._ledger.values(query)

    def _evaluations(self, numbers: Select[Any]) -> list[Evaluation]:
        with self._ledger.reading() as connection:
            return evaluations_by_number(connection, list(connection.execute(numbers).scalars()))


def _extremes(measure: ColumnElement[float], period: Period, scope: Scope) -> Select[Any]:
    """The numbers of a period's rows with a measure, to be walked along that measure's index: never all collected and sorted."""
    return select(COLUMNS.number).where(measure.is_not(None), *not_by_index([*in_period(period), *in_scope(scope)]))


def _portion(connection: Connection, filters: Filters, direction: ListOrder, last: int | None, limit: int) -> list[Evaluation]:
    """The answers that pass filters, beyond the last one of the portion before."""
    single = filters.grade is None or filters.source is None
    if filters.text.strip() or (filters.criterion and filters.grade) or filters.variant is not None or not single:
        asked = wanted(filters)
        numbers = numbers_found(connection, asked, direction, last, limit) if asked else []
        return evaluations_by_number(connection, numbers)
    # by their moment, under at most one of a grade and a source: each has its index in that order
    query = select(COLUMNS.number).where(*_EVALUATED, *(in_period(filters.period) if filters.period else ()))
    query = query if filters.grade is None else query.where(COLUMNS.grade == filters.grade)
    query = query.where(in_source(COLUMNS.source, filters.source)).limit(limit)
    if last is not None:  # where there is none of that number, what follows is after the nearest before it
        nearest = select(COLUMNS.timestamp).where(COLUMNS.number <= last).order_by(COLUMNS.number.desc()).limit(1)
        moment = connection.execute(nearest).scalar()
        here, edge = tuple_(COLUMNS.timestamp, COLUMNS.number), tuple_(moment or datetime.min, last)
        query = query.where(here < edge if direction == "newest" else here > edge)
    order = (COLUMNS.timestamp, COLUMNS.number)
    query = query.order_by(*(order if direction == "oldest" else (column.desc() for column in order)))
    return evaluations_by_number(connection, list(connection.execute(query).scalars()))
