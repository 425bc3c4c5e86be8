"""How values stand in a page: numbers, moments, spans of time, addresses."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import quote

from areopage.report.languages import NARROW, WIDE, Language

MINUTE, HOUR, DAY = 60, 3600, 86_400


def filters_of(language: Language) -> dict[str, Callable[..., Any]]:
    """The filters of a language's templates."""
    return {
        "number": language.number,
        "signed": lambda value, digits=2: signed(language, value, digits),
        "short": language.short,
        "whole": language.whole,
        "percent": language.percent,
        "date": language.date,
        "moment": language.moment,
        "stamp": lambda moment: stamp(language, moment),
        "day": lambda day: day_text(language, day),
        "span": lambda seconds: span(language, seconds),
        "points": points,
        "money": lambda amount, currency: money(language, amount, currency),
        "iso": iso,
        "clamp": clamp,
    }


def signed(language: Language, value: float | None, digits: int = 2) -> str:
    """A difference: its sign always stands there, but for one that is shown as zero."""
    shown = language.number(value, digits)
    if value is None or not any(sign in "123456789" for sign in shown):
        return shown.lstrip("−")
    return shown if value < 0 else f"+{shown}"


def stamp(language: Language, moment: datetime) -> str:
    """A moment for a list, in UTC: 21 Nov 2026, 14:03; 21 nov. 2026, 14:03."""
    utc = moment.astimezone(UTC)
    return f"{utc.day}{WIDE}{language.words['months_short'][utc.month - 1]}{WIDE}{utc.year}, {utc:%H:%M}"


def day_text(language: Language, day: date) -> str:
    """A day for an axis or a list: 21 Nov, 21 nov."""
    return f"{day.day}{WIDE}{language.words['months_short'][day.month - 1]}"


def span(language: Language, seconds: float) -> str:
    """A span of time in its two largest units: 0.4 s, 12 s, 3 min, 2 h 05, 4 d 3 h; whole seconds stay whole."""
    if isinstance(seconds, float) and seconds < 10:
        return f"{language.number(max(seconds, 0.0), 1)}{NARROW}s"
    whole = int(seconds)
    if whole < MINUTE:
        return f"{whole}{NARROW}s"
    if whole < HOUR:
        return f"{whole // MINUTE}{NARROW}min"
    if whole < DAY:
        return f"{whole // HOUR}{NARROW}h{NARROW}{whole % HOUR // MINUTE:02d}"
    return f"{language.whole(whole // DAY)}{NARROW}{language.words['day_unit']}{NARROW}{whole % DAY // HOUR}{NARROW}h"


def money(language: Language, amount: float, currency: str) -> str:
    """An amount with its currency; small ones keep more decimals."""
    digits = 2 if amount == 0 or abs(amount) >= 1 else 4
    return f"{language.number(amount, digits)}{WIDE}{currency}".rstrip()


def points(share: float) -> str:
    """A share of 1 as a coordinate on a drawing that is 100 units wide, whatever the language."""
    return f"{share * 100:.2f}"


def iso(moment: datetime) -> str:
    """A moment as machines read it."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def clamp(text: str, length: int = 160) -> str:
    """The beginning of a text on one line, for a list."""
    flat = " ".join(text[: length * 4].split())
    return flat if len(flat) <= length else f"{flat[: length - 1].rstrip()}…"


def answer_url(id: str) -> str:
    """The page of an answer. An id of dots alone would be taken for a folder by browsers, so it goes into the query."""
    if id in (".", ".."):
        return f"/monitor/answers/?id={quote(id)}"
    return f"/monitor/answers/{quote(id, safe='')}"


def review_url(id: str) -> str:
    """The page where people label an answer; ids of dots alone go into the query, as in `answer_url`."""
    if id in (".", ".."):
        return f"/review/?id={quote(id)}"
    return f"/review/{quote(id, safe='')}"


def gate_url(id: str) -> str:
    """The page of an answer on its way out."""
    return f"/gate/{quote(id, safe='')}"
