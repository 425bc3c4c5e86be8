"""Languages: their messages, and how they write numbers, shares, dates and spans of time.

Texts come out plain. The caller escapes them.
"""

import datetime
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from string import Template
from typing import Any

import yaml
from msgspec import Struct

MESSAGES_FILE = Path(__file__).with_name("locale_messages.yml")
REMARKS_FILE = Path(__file__).with_name("remark_messages.yml")
LANGUAGES = ("en", "fr")
MISSING = "—"

NARROW, WIDE = "\u202f", "\u00a0"
_SIGNS = str.maketrans({"-": "−"})
_FRENCH_SIGNS = str.maketrans({"-": "−", ",": NARROW, ".": ","})
_BEFORE_HIGH_SIGN = re.compile(r" (?=[;?!])")
_BEFORE_LOW_SIGN = re.compile(r" (?=[:%»])|(?<=«) ")
_POINTS = re.compile(r"(?P<number>\d[\d\u202f]*(?:,\d+)?)(?P<space>\s)point\(s\)")
_FORMS = re.compile(r"\{(?:(?P<name>\w+):)?(?P<one>[^{}|$]*)\|(?P<many>[^{}|$]*)\}")
_PLACES = re.compile(r"\$\{?(\w+)")
_QUANTITY = re.compile(r"[+−-]?(\d+(?:[.,]\d+)*)")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
NAMES_SHOWN = 8  # of a list of names in a remark
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_EXACT_SECONDS = 10.0  # spans under it have a decimal
_SHORT_SECONDS = 0.1  # times under it have three decimals


class Locale(Struct, frozen=True, kw_only=True, eq=False):
    """One language with its messages by key; no two are equal, so that a locale can be a key."""

    code: str
    messages: Mapping[str, Any]

    def names(self, names: Sequence[str], *, whole: bool = False) -> str:
        """Names for a reader; beyond the first ones the rest is counted, unless the `whole` list is wanted."""
        if whole:
            return ", ".join(names)
        more = len(names) - NAMES_SHOWN
        rest = [locale_for(self.code, REMARKS_FILE).say("more_names", n=more)] if more > 0 else []
        return " ".join([", ".join(names[:NAMES_SHOWN]), *rest])

    def clauses(self, parts: Iterable[str]) -> str:
        """Parts of a sentence, with semicolons between them."""
        return f"{NARROW if self.code == 'fr' else ''}; ".join(parts)

    def say(self, key: str, **values: object) -> str:
        """A message; each `$name` in it is replaced once, so that a value's own dollar signs stay."""
        return self._filled(self.messages[key], values)

    def count(self, key: str, n: int, **values: object) -> str:
        """A message in singular or plural. French takes the singular for 0 too."""
        return self._filled(self.messages[key]["one" if self._is_singular(n) else "many"], {**values, "n": self.whole(n)})

    def _filled(self, message: str, values: Mapping[str, object]) -> str:
        """A message with its values; `{one|many}` agrees with the value before it, `{name:one|many}` with that of a name."""

        def form(match: re.Match[str]) -> str:
            name = match["name"] or _PLACES.findall(message[: match.start()])[-1]
            return match["one"] if self._is_singular(values[name]) else match["many"]

        agreeing = _FORMS.sub(form, message) if "|" in message else message
        text = Template(agreeing).substitute(values)
        if self.code != "fr":
            return text

        def points(match: re.Match[str]) -> str:  # from 2 on the plural: 1,82 point, 2 points; a message says `point(s)`
            value = float(match["number"].replace(NARROW, "").replace(",", "."))
            return f"{match['number']}{match['space']}{'points' if value >= 2 else 'point'}"

        return _POINTS.sub(points, text)

    def _is_singular(self, value: object) -> bool:
        """Whether a number, or a text that begins with one, takes the singular: 1; in French, what is under 2."""
        number = _QUANTITY.match(str(value).replace(NARROW, "").replace(WIDE, ""))
        if number is None:
            return False
        if self.code == "fr":
            return float(number[1].replace(",", ".")) < 2
        return number[1] == "1"

    def number(self, value: float | None, digits: int = 2) -> str:
        """A number with a fixed number of decimals: 4.20, 4,20; a dash for None; zero without a sign."""
        if value is None or not math.isfinite(value):
            return MISSING
        shown = f"{value:,.{digits}f}"
        return self._formed(shown if any(sign in "123456789" for sign in shown) else shown.removeprefix("-"))

    def signed(self, value: float | None, digits: int = 2) -> str:
        """A difference with its sign; one that is shown as zero has none."""
        shown = self.number(value, digits)
        if value is None or not any(sign in "123456789" for sign in shown):
            return shown.removeprefix("−")
        return shown if value < 0 else f"+{shown}"

    def short(self, value: float) -> str:
        """A number without trailing zeros, at most four decimals: 5, 0.75."""
        return self._formed(f"{value:,.4f}".rstrip("0").rstrip("."))

    def whole(self, value: int) -> str:
        """A whole number with its thousands grouped."""
        return self._formed(f"{value:,d}")

    def percent(self, share: float, digits: int = 1, *, trim: bool = False) -> str:
        """A share as a percentage. 0 and 100 have no decimals, and only appear for exactly none and all.

        Args:
            share: in [0, 1].
            trim: drop trailing zeros.
        """
        step = 10.0**-digits
        value = share * 100
        if 0 < share < 1:
            value = min(max(round(value, digits), step), 100 - step)
        text = f"{value:.{0 if share in (0, 1) else digits}f}"
        shown = self._formed(text.rstrip("0").rstrip(".") if trim and "." in text else text)
        return f"{shown}{WIDE if self.code == 'fr' else ''}%"

    def probability(self, value: float | None) -> str:
        """A probability with two decimals: 0 and 1 only appear where they are exact; a dash for None."""
        return self.number(min(max(value, 0.01), 0.99) if value is not None and 0 < value < 1 else value)

    def interval(self, low: float, high: float, *, sign: bool = False) -> str:
        """An interval: 6.14 to 7.66, de 6,14 à 7,66."""
        shown = self.signed if sign else self.number
        return self.say("interval_text", low=shown(low), high=shown(high))

    def steps(self, low: float, high: float, count: int) -> list[str]:
        """The names of equal steps between two ends: 0–1, 1–2."""
        ends = [self.short(round(low + (high - low) / count * step, 4)) for step in range(count + 1)]
        return [f"{start}–{end}" for start, end in pairwise(ends)]

    def money(self, amount: float, currency: str) -> str:
        """An amount with its currency; small amounts have four decimals."""
        digits = 2 if amount == 0 or abs(amount) >= 1 else 4
        return f"{self.number(amount, digits)}{WIDE}{currency}".rstrip()

    def costs(self, amounts: Mapping[str, float]) -> str:
        """Amounts by currency, "" without any. An amount without a currency is not a known price."""
        return " + ".join(self.money(amount, currency) for currency, amount in sorted(amounts.items()) if currency)

    def date(self, day: datetime.date) -> str:
        """A day, of a moment the one in UTC: 21 November 2026, 21 novembre 2026, 1er janvier 2027."""
        day = day.astimezone(datetime.UTC) if isinstance(day, datetime.datetime) else day
        return f"{self._day(day)}{WIDE}{self.messages['months'][day.month - 1]} {day.year}"

    def short_date(self, day: datetime.date) -> str:
        """A day for an axis or a list: 21 Nov, 21 nov."""
        return f"{day.day}{WIDE}{self.messages['months_short'][day.month - 1]}"

    def period(self, first: datetime.date, last: datetime.date) -> str:
        """Days from the first to the last: 13–19 November 2026, du 13 au 19 novembre 2026."""
        if first == last:
            return self.date(first)
        start = self._day(first)
        same_month = (first.year, first.month) == (last.year, last.month)
        if not same_month:
            start += f"{WIDE}{self.messages['months'][first.month - 1]}"
        if first.year != last.year:
            start += f" {first.year}"
        return self.say("between_days" if same_month else "between_months", first=start, last=self.date(last))

    def moment(self, moment: datetime.datetime) -> str:
        """A day and time, in UTC: 21 November 2026, 14:03 UTC; 21 novembre 2026, 14 h 03 UTC."""
        utc = moment.astimezone(datetime.UTC)
        time = f"{utc.hour}{WIDE}h{WIDE}{utc.minute:02d}" if self.code == "fr" else f"{utc:%H:%M}"
        return f"{self.date(utc)}, {time} UTC"

    def stamp(self, moment: datetime.datetime) -> str:
        """A moment for a list, in UTC: 21 Nov 2026, 14:03."""
        utc = moment.astimezone(datetime.UTC)
        return f"{self.short_date(utc)}{WIDE}{utc.year}, {utc:%H:%M}"

    def seconds(self, seconds: float | None) -> str:
        """A short time: 1.50 s, 0.020 s; a dash for None."""
        if seconds is None:
            return MISSING
        return self.say("seconds_unit", n=self.number(seconds, 2 if seconds >= _SHORT_SECONDS else 3))

    def milliseconds(self, seconds: float | None) -> str:
        """A time in milliseconds, with two decimals under ten; a dash for None."""
        if seconds is None:
            return MISSING
        value = seconds * 1000
        return self.say("milliseconds", n=self.number(value, 2 if value < 10 else 0))

    def hours(self, hours: float) -> str:
        """A number of hours."""
        return self.say("hours", n=self.short(hours))

    def span(self, seconds: float) -> str:
        """A span of time in its two largest units: 0.4 s, 12 s, 3 min, 2 h 05, 4 d 3 h; whole seconds stay whole."""
        if isinstance(seconds, float) and seconds < _EXACT_SECONDS:
            return f"{self.number(max(seconds, 0.0), 1)}{NARROW}s"
        whole = int(seconds)
        if whole < _MINUTE:
            return f"{whole}{NARROW}s"
        if whole < _HOUR:
            return f"{whole // _MINUTE}{NARROW}min"
        if whole < _DAY:
            return f"{whole // _HOUR}{NARROW}h{NARROW}{whole % _HOUR // _MINUTE:02d}"
        return f"{self.whole(whole // _DAY)}{NARROW}{self.messages['day_unit']}{NARROW}{whole % _DAY // _HOUR}{NARROW}h"

    def _day(self, day: datetime.date) -> str:
        return "1er" if self.code == "fr" and day.day == 1 else str(day.day)

    def _formed(self, text: str) -> str:
        return text.translate(_FRENCH_SIGNS if self.code == "fr" else _SIGNS)


def locale_for(language: str, *files: Path) -> Locale:
    """The locale of a language code, or of its first part (`fr-CA`), else English; later files' messages replace earlier ones."""
    first = re.split("[-_]", language)[0].lower()
    return _read(first if first in LANGUAGES else "en", files)


@lru_cache(maxsize=32)
def _read(code: str, files: tuple[Path, ...]) -> Locale:
    messages: dict[str, Any] = {}
    for path in (MESSAGES_FILE, *files):
        messages |= yaml.load(path.read_bytes(), _LOADER)  # noqa: S506 - both loaders are safe ones
    return Locale(code=code, messages={key: _typeset(forms[code], code) for key, forms in messages.items()})


class Note(Struct, frozen=True):
    """A remark on a run: its key in `REMARKS_FILE` and the values in it. As a string it is English.

    A value that lists names shows the first of them and counts the others; `n` decides between singular and plural.
    """

    key: str
    values: Mapping[str, str | int | tuple[str, ...]] = {}

    def text(self, language: str) -> str:
        """The remark in a language, else in English."""
        locale = locale_for(language, REMARKS_FILE)
        said = {name: _shown(locale, value) for name, value in self.values.items() if name != "n"}
        n = self.values.get("n")
        return locale.count(self.key, n, **said) if isinstance(n, int) else locale.say(self.key, **said)

    def __str__(self) -> str:
        return self.text("en")


def _shown(locale: Locale, value: str | int | tuple[str, ...]) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return locale.whole(value)
    return locale.names(value)


def one_line(text: str, limit: int = 160) -> str:
    """A foreign text on one line of at most `limit` characters, without control characters."""
    begin = text[: 4 * limit]
    printable = begin if begin.isprintable() else "".join(sign if sign.isprintable() else " " for sign in begin)
    line = " ".join(printable.split())
    return line if len(line) <= limit and len(text) <= 4 * limit else f"{line[: limit - 1]}…"


def sentence_case(text: str) -> str:
    """A text with a capital first letter; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def _typeset(phrase: Any, code: str) -> Any:
    """A message, or the messages of a list or mapping, with the spaces of French typography."""
    if code != "fr":
        return phrase
    if isinstance(phrase, dict):
        return {key: _typeset(value, code) for key, value in phrase.items()}
    if isinstance(phrase, list):
        return [_typeset(value, code) for value in phrase]
    return _BEFORE_HIGH_SIGN.sub(NARROW, _BEFORE_LOW_SIGN.sub(WIDE, phrase))
