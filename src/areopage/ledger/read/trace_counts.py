"""Counts of traces: whole days from `days`, other periods from rows."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import date, time
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Select, exists, func, literal, select

from areopage.ledger.people.labels import VALID, agreed
from areopage.ledger.read.queries import TraceFilter, TraceSummary, WithoutIndex
from areopage.ledger.tables.answer_tables import answers, decision_reasons, decisions
from areopage.ledger.tables.records import GROUNDING, Label
from areopage.ledger.tables.rows import RowValues, insert_or_add, naive, record_of, rows_in, storable
from areopage.ledger.tables.schema import days, labels
from areopage.ledger.write.answers import prompt_key

BINS = 20

_COLUMNS: dict[str, Column[Any]] = {
    "mode": decisions.c.mode,
    "language": decisions.c.language,
    "confidence": decisions.c.confidence_bin,
    "unsupported": decisions.c.unsupported_bin,
    "reason": decision_reasons.c.code,
}
"""What is counted. Every trace has a mode and a language; bins and reasons are there only where they are known."""


class _Counts(defaultdict[str, Counter[str]]):
    """How many traces there are of each verdict, and of each value of each kind; bins by their number as a text."""

    def add(self, verdict: str, kind: str, value: str, rows: int) -> None:
        """Add a number of traces of a value. Verdicts are counted with the modes, which every trace has one of."""
        if kind == "mode":
            self["verdict"][verdict] += rows
        self[kind][value] += rows


def bin_of(share: object) -> int | None:
    """The bin of a figure over [0, 1]; None without a figure."""
    if isinstance(share, bool) or not isinstance(share, int | float) or math.isnan(share):
        return None
    return 0 if share <= 0 else min(BINS - 1, int(min(1.0, share) * BINS))


def summed(connection: Connection, filter: TraceFilter) -> TraceSummary:
    """Count the traces that pass a filter; whole days are fast."""
    counts = _day_counts(connection, filter) if is_of_days(filter) else _row_counts(connection, filter)
    labelled, ungrounded = _labelled(connection, filter)
    return TraceSummary(
        traces=counts["verdict"].total(),
        verdicts=dict(counts["verdict"]),
        modes=dict(counts["mode"]),
        reasons=dict(sorted(counts["reason"].items(), key=lambda count: (-count[1], count[0]))),
        languages=dict(counts["language"]),
        confidences=tuple(counts["confidence"][str(at)] for at in range(BINS)),
        p_unsupported=tuple(counts["unsupported"][str(at)] for at in range(BINS)),
        labelled=labelled,
        ungrounded_delivered=ungrounded,
    )


# --- days


def count_traces(connection: Connection, new: Sequence[RowValues], reasons: Sequence[RowValues]) -> None:
    """Count new rows of `decisions` and `decision_reasons` by day; call it last: the day's rows stay locked till the commit."""
    added: Counter[tuple[Any, ...]] = Counter()
    for kind, column in _COLUMNS.items():
        for row in reasons if kind == "reason" else new:
            if row[column.name] is not None:
                value = str(row[column.name])
                added[row["at"].date(), kind, row["verdict"], value, row["channel"], row["collection"]] += 1
    insert_or_add(connection, days, [_day_row(key, rows) for key, rows in added.items()])


def recounted_days(connection: Connection) -> Iterator[dict[str, Any]]:
    """Recompute the rows of `days` from all decisions."""
    columns = decisions.c
    for kind, value in _COLUMNS.items():
        source = decisions.join(decision_reasons, decision_reasons.c.answer == columns.answer) if kind == "reason" else decisions
        groups = (func.date(columns.at).label("day"), columns.verdict, value.label("value"), columns.channel, columns.collection)
        query = select(*groups, func.count().label("rows")).select_from(source).where(value.is_not(None)).group_by(*groups)
        for row in connection.execute(query):
            day = date.fromisoformat(row.day) if isinstance(row.day, str) else row.day
            place = (day, kind, row.verdict, str(row.value), row.channel, row.collection)
            yield _UNUSED | _day_row(place, row.rows)


def is_of_days(filter: TraceFilter) -> bool:
    """Whether a filter names only whole days, channels, a verdict and a collection."""
    whole = all(bound is None or naive(bound).time() == time() for bound in (filter.since, filter.until))
    return whole and filter.prompt is None and not filter.unlabelled


_UNUSED = {"suite": "", "variant": "", "currency": "", "seconds": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost": 0}
"""The columns of `days` that only evaluations and judges have, with their defaults."""


def _day_row(place: Sequence[Any], rows: int) -> dict[str, Any]:
    day, kind, verdict, value, channel, collection = place
    origin = "import" if channel == "import" else "gate"
    names = {"kind": kind, "name": verdict, "value": value, "detail": channel, "origin": origin, "source": collection}
    return {"day": day, "count": rows} | names


def _day_counts(connection: Connection, filter: TraceFilter) -> _Counts:
    columns = days.c
    # the moments of such a filter are midnights, which a column of days takes as days
    narrowed = _narrow_conditions(filter, columns.day, columns.name, columns.detail, columns.source)
    query = select(columns.name, columns.kind, columns.value, func.sum(columns.count).label("rows"))
    query = query.where(columns.kind.in_(_COLUMNS), *narrowed)
    counts = _Counts(Counter)
    for row in connection.execute(query.group_by(columns.name, columns.kind, columns.value)):
        counts.add(row.name, row.kind, row.value, int(row.rows))
    return counts


# --- rows


def conditions_of(filter: TraceFilter, *, scan: bool = False) -> list[ColumnElement[bool]]:
    """Build a filter's conditions on `decisions` `joined` with `answers`.

    Of channel, collection and verdict SQLite may seek in the index of one, the first that is given: it knows nothing of how rare
    a value is, and the rarest are channels, then collections. With `scan` no index is sought in by them or by time: counts go
    through the index that lies in their order, which is quicker than to fetch the rows of a period one by one.
    """
    decision = decisions.c
    columns: tuple[ColumnElement[Any], ...] = (decision.at, decision.verdict, decision.channel, decision.collection)
    if scan:
        columns = tuple(func.coalesce(column, column) for column in columns)
    else:
        by_verdict_or_collection = decision.verdict if filter.collection is None else decision.collection
        sought = decision.channel if len(filter.channels) == 1 else by_verdict_or_collection
        columns = tuple(column if column is decision.at or column is sought else WithoutIndex(column) for column in columns)
    asked = _narrow_conditions(filter, *columns)
    if filter.prompt is not None:
        asked.append(answers.c.prompt_key == prompt_key(filter.prompt))
    if filter.unlabelled:
        asked.append(~exists().where(labels.c.answer_id == answers.c.id, labels.c.criterion == GROUNDING, VALID))
    return asked


def joined(query: Select[Any], filter: TraceFilter) -> Select[Any]:
    """Build a query over `decisions`, with `answers` if the filter needs them."""
    if filter.prompt is None and not filter.unlabelled:
        return query.select_from(decisions)
    return query.select_from(decisions.join(answers, answers.c.number == decisions.c.answer))


def _narrow_conditions(
    filter: TraceFilter,
    at: ColumnElement[Any],
    verdict: ColumnElement[Any],
    channel: ColumnElement[Any],
    collection: ColumnElement[Any],
) -> list[ColumnElement[bool]]:
    """What a filter asks of the columns that `decisions`, `decision_reasons` and `days` have in common."""
    asked: list[ColumnElement[bool]] = []
    if filter.since is not None:
        asked.append(at >= literal(naive(filter.since), at.type))
    if filter.until is not None:
        asked.append(at < literal(naive(filter.until), at.type))
    if filter.channels:
        asked.append(channel.in_(filter.channels))
    if filter.verdict is not None:
        asked.append(verdict == filter.verdict)
    if filter.collection is not None:
        asked.append(collection == storable(filter.collection))
    return asked


def _row_counts(connection: Connection, filter: TraceFilter) -> _Counts:
    decision = decisions.c
    columns = (decision.verdict, decision.mode, decision.language, decision.confidence_bin, decision.unsupported_bin)
    conditions = conditions_of(filter, scan=filter.prompt is None)
    grouped = joined(select(*columns, func.count().label("rows")), filter).where(*conditions).group_by(*columns)
    counts = _Counts(Counter)
    for verdict, *values, rows in connection.execute(grouped):
        for kind, value in zip(_COLUMNS, values, strict=False):
            if value is not None:
                counts.add(verdict, kind, str(value), rows)
    reason = decision_reasons.c
    asked = _narrow_conditions(filter, reason.at, reason.verdict, reason.channel, reason.collection)
    if filter.prompt is not None:  # few: sought by the prompt, and not the other way round
        asked.append(reason.answer.in_(joined(select(decisions.c.answer), filter).where(*conditions_of(filter))))
    elif filter.unlabelled:
        of_it = joined(select(decisions.c.answer), filter).where(decisions.c.answer == reason.answer, *conditions_of(filter))
        asked.append(of_it.correlate(decision_reasons).exists())
    reasons = select(reason.verdict, reason.code, func.count()).where(*asked).group_by(reason.verdict, reason.code)
    for verdict, code, rows in connection.execute(reasons):
        counts.add(verdict, "reason", code, rows)
    return counts


def _labelled(connection: Connection, filter: TraceFilter) -> tuple[int, int]:
    """How many traces have labels of grounding, and how many of these were delivered though they are not grounded."""
    if filter.unlabelled:
        return 0, 0
    # labels are few: each one's trace is sought, and not the labels of each trace of a period
    source = labels.join(answers, answers.c.id == labels.c.answer_id).join(decisions, decisions.c.answer == answers.c.number)
    asked = conditions_of(filter, scan=filter.prompt is None)
    query = select(labels.c.answer_id, decisions.c.verdict).distinct().select_from(source)
    labelled = connection.execute(query.where(labels.c.criterion == GROUNDING, VALID, *asked)).all()
    grounding = select(labels).where(labels.c.criterion == GROUNDING, VALID).order_by(labels.c.number)
    delivered = [row.answer_id for row in labelled if row.verdict == "deliver"]
    by_answer: dict[str, dict[tuple[str, bool], Label]] = {}
    for row in rows_in(connection, grounding, labels.c.answer_id, delivered):
        by_answer.setdefault(row.answer_id, {})[row.rater, row.decides] = record_of(Label, row)
    return len(labelled), sum(agreed(list(by_rater.values()))[0] != "yes" for by_rater in by_answer.values())
