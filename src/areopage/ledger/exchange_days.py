"""Counts of exchanges by day: what one adds to them, and what a period of whole days comes to."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, time
from typing import Literal

from msgspec import Struct, field
from sqlalchemy import Connection, func, select

from areopage.ledger.exchange_rows import bin_of
from areopage.ledger.gate_records import Exchange, ExchangeFilter
from areopage.ledger.gate_tables import LONGEST_NAME, exchange_days
from areopage.ledger.inserts import insert_or_add
from areopage.ledger.rows import naive, storable

Kind = Literal["mode", "language", "confidence", "unsupported", "reason"]
"""What is counted. Every exchange has a mode and a language; bins and reasons only where there are any."""


class ExchangeCounts(Struct, frozen=True):
    """How many exchanges there are of each verdict, and of each value of each kind; bins by their number as a text."""

    verdicts: Counter[str] = field(default_factory=Counter)
    kinds: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, verdict: str, kind: Kind, value: str, rows: int) -> None:
        """Add so many exchanges of a value. Verdicts are counted with the modes, which every exchange has one of."""
        if kind == "mode":
            self.verdicts[verdict] += rows
        self.kinds.setdefault(kind, Counter())[value] += rows

    def of(self, kind: Kind) -> Counter[str]:
        """The counts of a kind."""
        return self.kinds.get(kind, Counter())


def add_to_days(connection: Connection, given: Iterable[Exchange]) -> None:
    """Count new exchanges on the days that they came. To be done last: the day's rows stay locked until the commit."""
    added: Counter[tuple[object, ...]] = Counter()
    for one in given:
        day, collection = one.at.astimezone(UTC).date(), storable(one.collection)[:LONGEST_NAME]
        added.update((day, one.origin, collection, one.verdict, kind, value) for kind, value in values_of(one))
    names = ("day", "origin", "collection", "verdict", "kind", "value")
    rows = [dict(zip(names, key, strict=True)) | {"exchanges": rows} for key, rows in added.items()]
    insert_or_add(connection, exchange_days, rows)


def values_of(exchange: Exchange) -> Iterator[tuple[Kind, str]]:
    """What an exchange is counted under."""
    yield "mode", exchange.mode
    yield "language", storable(exchange.response_lang)[:16]
    confidence, unsupported = bin_of(exchange.metrics.get("confidence")), bin_of(exchange.p_unsupported)
    if confidence is not None:
        yield "confidence", str(confidence)
    if unsupported is not None:
        yield "unsupported", str(unsupported)
    if exchange.decision is not None:
        yield from (("reason", code) for code in {one.code for one in exchange.decision.reasons if one.decisive})


def is_of_days(filter: ExchangeFilter) -> bool:
    """Whether a filter asks for nothing but whole days (or all time), origins, a verdict and a collection."""
    whole = all(bound is None or naive(bound).time() == time() for bound in (filter.since, filter.until))
    return whole and filter.question is None and not filter.unlabelled


def day_counts(connection: Connection, filter: ExchangeFilter) -> ExchangeCounts:
    """The counts of a filter that `is_of_days`."""
    one = exchange_days.c
    query = select(one.verdict, one.kind, one.value, func.sum(one.exchanges).label("rows"))
    for bound, limit in ((filter.since, one.day.__ge__), (filter.until, one.day.__lt__)):
        if bound is not None:
            query = query.where(limit(day_of(bound)))
    if filter.origins:
        query = query.where(one.origin.in_(filter.origins))
    if filter.verdict is not None:
        query = query.where(one.verdict == filter.verdict)
    if filter.collection is not None:
        query = query.where(one.collection == storable(filter.collection))
    counts = ExchangeCounts()
    for row in connection.execute(query.group_by(one.verdict, one.kind, one.value)):
        counts.add(row.verdict, row.kind, row.value, int(row.rows))
    return counts


def day_of(moment: datetime) -> object:
    """The day of a moment in UTC."""
    return naive(moment).date()
