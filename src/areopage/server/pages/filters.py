"""The period and filters of a page's address, parsed leniently."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import get_args
from urllib.parse import urlencode

from msgspec import Struct
from starlette.requests import Request

from areopage.ledger.queries import Filters, Period, Scope
from areopage.ledger.records import Grade

ALL, CUSTOM, TODAY = "all", "custom", "today"
SPANS: Mapping[str, int] = {TODAY: 1, "7": 7, "30": 30, "90": 90}
GRADES: tuple[Grade, ...] = get_args(Grade)
ANY = "*"
"""The choice of a source or a variant that takes all: "" is a variant of its own (answers without one)."""
LONGEST_TEXT = 200
PATH = re.compile(r"[a-z0-9_.]{1,256}", re.ASCII)


class Asked(Struct, frozen=True, kw_only=True):
    """The period of an address.

    Args:
        name: the period's name: today, 7, 30, 90, custom, or all (lists only).
        period: its days; None for all.
        before: lists: only items before this number.
    """

    name: str
    period: Period | None
    before: int | None = None

    @property
    def last_day(self) -> date | None:
        """The last day of the period, included; None for all."""
        return self.period.end - timedelta(days=1) if self.period else None

    def parts(self) -> dict[str, str | None]:
        """The other parts of the address; None where one is not given."""
        return {}

    def query(self, **changes: str | None) -> str:
        """The query of an address that asks for the same; changes replace single parts, None removes one."""
        parts: dict[str, str | None] = {"period": self.name}
        if self.name == CUSTOM and self.period and self.last_day:
            parts |= {"from": self.period.start.isoformat(), "to": self.last_day.isoformat()}
        parts |= self.parts() | changes
        return urlencode([(name, value) for name, value in parts.items() if value is not None], errors="replace")


class Chosen(Asked, frozen=True, kw_only=True):
    """The filters of an address."""

    source: str | None = None
    variant: str | None = None
    grade: Grade | None = None
    criterion: str = ""
    text: str = ""

    @property
    def filters(self) -> Filters:
        """Convert to the ledger's filters."""
        return Filters(
            period=self.period,
            grade=self.grade,
            criterion=self.criterion if self.grade else "",
            source=self.source,
            variant=self.variant,
            text=self.text,
        )

    @property
    def narrowed(self) -> bool:
        """Whether any filter besides the period is set."""
        return bool(self.source is not None or self.variant is not None or self.grade or self.text)

    def scope(self, suite: str) -> Scope:
        """Which answers of a suite the figures are about."""
        return Scope(suite=suite, source=self.source, variant=self.variant)

    def parts(self) -> dict[str, str | None]:
        """The filters besides the period."""
        parts = {"source": self.source, "variant": self.variant, "grade": self.grade, "criterion": self.criterion or None}
        return parts | {"q": self.text or None}


def chosen(request: Request, today: date, default: str) -> Chosen:
    """Parse a request's filters.

    Args:
        today: the day that periods end with.
        default: the period where none is named.
    """
    query = request.query_params
    name, period = period_of(query, today, default)
    grade = query.get("grade")
    before = query.get("before", "")
    return Chosen(
        name=name,
        period=period,
        source=_choice(query, "source"),
        variant=_choice(query, "variant"),
        grade=next((one for one in GRADES if one == grade), None),
        criterion=query.get("criterion", "") if PATH.fullmatch(query.get("criterion", "")) else "",
        text=query.get("q", "").strip()[:LONGEST_TEXT],
        before=int(before) if before.isascii() and before.isdigit() and len(before) < 16 else None,
    )


def _choice(query: Mapping[str, str], name: str) -> str | None:
    value = query.get(name, ANY)
    return None if value == ANY else value


def period_of(query: Mapping[str, str], today: date, default: str) -> tuple[str, Period | None]:
    """The period's name and days.

    A first day makes it a custom one, up to `to` (included), else up to today; one that makes no sense is left out.
    """
    name = query.get("period", default)
    first = _day_of(query.get("from", ""))
    last = _day_of(query.get("to", "")) or today
    if first and first <= last < date.max:
        return CUSTOM, Period(start=first, end=last + timedelta(days=1))
    if name == ALL and default == ALL:
        return ALL, None
    name = name if name in SPANS else default
    return name, None if name == ALL else last_days(today, SPANS[name])


def last_days(today: date, days: int) -> Period:
    """So many days, today included."""
    return Period(start=today - timedelta(days=days - 1), end=today + timedelta(days=1))


def _day_of(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def label_of(labels: Mapping[str, str], criterion: str) -> str:
    """A criterion's label; one that the suite does not have any more is called by its own name."""
    return labels.get(criterion) or criterion.rpartition(".")[2].replace("_", " ")


def in_order(labels: Mapping[str, str], criteria: Sequence[str]) -> list[str]:
    """Criteria in the suite's order, unknown ones last."""
    places = {path: place for place, path in enumerate(labels)}
    return sorted(set(criteria), key=lambda path: (places.get(path, len(places)), path))
