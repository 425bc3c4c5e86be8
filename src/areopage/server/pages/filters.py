"""The period and filters of a page's address. An invalid filter has no effect; the page names it."""

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import date, timedelta
from typing import TypeVar, get_args
from urllib.parse import urlencode

from msgspec import Struct
from starlette.requests import Request

from areopage.errors import CriteriaError
from areopage.ledger import Filters, Grade, Period, Scope, last_days
from areopage.review import Rubric
from areopage.server.api.evaluations import FIRST_DAY, LAST_DAY
from areopage.server.context import context_of

ALL, CUSTOM, TODAY = "all", "custom", "today"
SPANS: Mapping[str, int] = {TODAY: 1, "7": 7, "30": 30, "90": 90}
GRADES: tuple[Grade, ...] = get_args(Grade)
OF_PERIODS = ("period", "from", "to")
OF_EVERY_PAGE = ("lang", "seen", "id")
FILTERS = (*OF_PERIODS, "source", "variant", "baseline", "grade", "criterion", "q", "before")
ANY = "*"
"""The choice of a source or a variant that takes all: "" is a variant of its own (answers without one)."""
LONGEST_TEXT = 200
MOST_DIGITS = 15
LONGEST_PERIOD = 3660
"""Days of a period; `monitor report` has the same limit."""
PATH = re.compile(r"[a-z0-9_.]{1,256}", re.ASCII)


Word = TypeVar("Word", bound=str)


class Ignored(Struct, frozen=True, kw_only=True):
    """A filter of an address that has no effect.

    Args:
        why: the key of its message.
        field: the key of the filter's name.
        value: the given value.
    """

    why: str = "filter_invalid"
    field: str = ""
    value: str = ""


class ChosenPeriod(Struct, frozen=True, kw_only=True):
    """The period of an address.

    Args:
        name: the period's name: today, 7, 30, 90, custom, or all (lists only).
        period: its days; None for all.
        before: lists: only items before this number.
        ignored: filters that have no effect.
    """

    name: str
    period: Period | None
    before: int | None = None
    ignored: tuple[Ignored, ...] = ()

    @property
    def last_day(self) -> date | None:
        """The last day of the period, included; None for all."""
        return self.period.last if self.period else None

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


class Chosen(ChosenPeriod, frozen=True, kw_only=True):
    """The filters of an address."""

    source: str | None = None
    variant: str | None = None
    grade: Grade | None = None
    criterion: str = ""
    text: str = ""
    baseline: str | None = None

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
        """Whether any filter other than the period is set."""
        return bool(self.source is not None or self.variant is not None or self.grade or self.text)

    def scope(self, suite: str) -> Scope:
        """Which answers of a suite the figures are about."""
        return Scope(suite=suite, source=self.source, variant=self.variant)

    def parts(self) -> dict[str, str | None]:
        """The filters other than the period."""
        parts = {"source": self.source, "variant": self.variant, "grade": self.grade, "criterion": self.criterion or None}
        return parts | {"q": self.text or None, "baseline": self.baseline}


def ignore_unknown(query: Mapping[str, str], names: Collection[str], ignored: list[Ignored]) -> None:
    """Add the parameters that a page does not have to `ignored`."""
    ignored += [Ignored(why="filter_unknown", value=name) for name in query if name not in {*names, *OF_EVERY_PAGE}]


def chosen(request: Request, today: date, default: str, scope: Sequence[str]) -> Chosen:
    """Parse a request's filters.

    Args:
        today: the day that periods end with.
        default: the period where none is named.
        scope: the reader's only sources, of which one is always chosen; () for all.
    """
    query, ignored = request.query_params, list[Ignored]()
    ignore_unknown(query, FILTERS, ignored)
    name, period = period_of(query, today, default, ignored, may_be_all=default == ALL)
    criterion = _criterion_of(query.get("criterion", ""), request, ignored)
    source = _scope_of(query, "source")
    if scope and source not in scope:
        if source is not None:
            ignored.append(Ignored(field="source", value=source))
        source = scope[0]
    return Chosen(
        name=name,
        period=period,
        source=source,
        variant=_scope_of(query, "variant"),
        baseline=_scope_of(query, "baseline"),
        grade=choice_of(query, "grade", GRADES, "grade", ignored),
        criterion=criterion,
        text=query.get("q", "").strip()[:LONGEST_TEXT],
        before=number_of(query, "before", "filter_before", ignored),
        ignored=tuple(ignored),
    )


def _criterion_of(name: str, request: Request, ignored: list[Ignored]) -> str:
    """The path of a criterion by its path or its name; add an unknown one to `ignored`. A path may be of an older suite."""
    with suppress(CriteriaError):
        return Rubric.of_suite(context_of(request).suite).find(name) if name else ""
    if PATH.fullmatch(name) and "." in name:
        return name
    ignored.append(Ignored(field="criterion", value=name))
    return ""


def _scope_of(query: Mapping[str, str], name: str) -> str | None:
    value = query.get(name, ANY)
    return None if value == ANY else value


def choice_of(query: Mapping[str, str], name: str, choices: Collection[Word], field: str, ignored: list[Ignored]) -> Word | None:
    """Return a parameter that is one of the choices; add any other value to `ignored`."""
    value = query.get(name, "")
    choice = next((choice for choice in choices if choice == value), None)
    if value and choice is None:
        ignored.append(Ignored(field=field, value=value))
    return choice


def number_of(query: Mapping[str, str], name: str, field: str, ignored: list[Ignored], *, least: int = 0) -> int | None:
    """The number that a parameter holds; add an invalid one to `ignored`."""
    value = query.get(name, "")
    if value.isascii() and value.isdigit() and len(value) <= MOST_DIGITS and int(value) >= least:
        return int(value)
    if value:
        ignored.append(Ignored(field=field, value=value))
    return None


def period_of(
    query: Mapping[str, str], today: date, default: str, ignored: list[Ignored], *, may_be_all: bool
) -> tuple[str, Period | None]:
    """The period's name and days; what has no effect is added to `ignored`.

    A first day makes it a custom one, up to `to` (included), else up to today.
    """
    names = (*SPANS, CUSTOM, *([ALL] if may_be_all else []))
    name = choice_of(query, "period", names, "period", ignored) or default
    first, last = _day_of(query, "from", "from_day", ignored), _day_of(query, "to", "to_day", ignored)
    if first and 0 <= ((last or today) - first).days < LONGEST_PERIOD:
        return CUSTOM, Period(start=first, end=(last or today) + timedelta(days=1))
    if first and first <= (last or today):
        ignored.append(Ignored(why="filter_long"))
    elif first:
        ignored.append(Ignored(why="filter_order" if last else "filter_future"))
    elif last and not query.get("from"):
        ignored.append(Ignored(why="filter_needs_first"))
    name = default if name == CUSTOM else name
    return name, None if name == ALL else last_days(SPANS[name], today)


def _day_of(query: Mapping[str, str], name: str, field: str, ignored: list[Ignored]) -> date | None:
    value = query.get(name, "")
    with suppress(ValueError):
        day = date.fromisoformat(value) if value else None
        if day is None or FIRST_DAY <= day <= LAST_DAY:
            return day
    ignored.append(Ignored(field=field, value=value))
    return None


def label_of(labels: Mapping[str, str], criterion: str) -> str:
    """A criterion's label; one that the suite does not have any more is called by its own name."""
    return labels.get(criterion) or criterion.rpartition(".")[2].replace("_", " ")


def in_order(labels: Mapping[str, str], criteria: Sequence[str]) -> list[str]:
    """Criteria in the suite's order, unknown ones last."""
    places = {path: place for place, path in enumerate(labels)}
    return sorted(set(criteria), key=lambda path: (places.get(path, len(places)), path))
