"""The languages of the report: its words, and the form of numbers, shares and dates."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from string import Template
from typing import Any

import yaml
from msgspec import Struct

WORDS_FILE = Path(__file__).with_name("words.yml")
LANGUAGES = ("en", "fr")
MISSING = "—"

NARROW, WIDE = "\u202f", "\u00a0"
_BEFORE_HIGH_SIGN = re.compile(r" (?=[;?!])")
_BEFORE_LOW_SIGN = re.compile(r" (?=[:%»])|(?<=«) ")


class Language(Struct, frozen=True, kw_only=True):
    """One language of the report. Texts come out plain: whoever puts them into HTML escapes them."""

    code: str
    words: Mapping[str, Any]

    def say(self, key: str, **values: object) -> str:
        """A phrase; each `$name` in it is replaced once, so that a value's own dollar signs stay what they are.

        Raises:
            KeyError: there is no such phrase, or a value is missing.
        """
        return Template(self.words[key]).substitute(values)

    def count(self, key: str, n: int, **values: object) -> str:
        """A phrase that goes by a number, with other values in it. French takes the singular for 0 too."""
        singular = n in (0, 1) if self.code == "fr" else n == 1
        return Template(self.words[key]["one" if singular else "many"]).substitute(values, n=self.whole(n))

    def standing(self, reason: str) -> str:
        """Why a judge is unfit, translated where it is one of the reasons that are known."""
        return str(self.words["standings"].get(reason, reason))

    def number(self, value: float | None, digits: int = 2) -> str:
        """A number with so many decimals: 4.20, 4,20; a dash where there is none."""
        if value is None or not math.isfinite(value):
            return MISSING
        return self._formed(f"{value:,.{digits}f}")

    def signed(self, value: float | None, digits: int = 2) -> str:
        """A difference with its sign, which only one that is shown as zero does not have."""
        shown = self.number(value, digits)
        if value is None or not any(sign in "123456789" for sign in shown):
            return shown.removeprefix("−")
        return shown if value < 0 else f"+{shown}"

    def short(self, value: float) -> str:
        """A number with no more decimals than it has, at most four: 5, 0.75."""
        return self._formed(f"{value:,.4f}".rstrip("0").rstrip("."))

    def whole(self, value: int) -> str:
        """A whole number, thousands set apart."""
        return self._formed(f"{value:,d}")

    def percent(self, share: float, digits: int = 1) -> str:
        """A share of 1 with so many decimals. 0 and 100 are bare, and only stand where nothing or all is meant."""
        step = 10.0**-digits
        value = share * 100
        if 0 < share < 1:
            value = min(max(round(value, digits), step), 100 - step)
        shown = self._formed(f"{value:.{0 if share in (0, 1) else digits}f}")
        return f"{shown}{WIDE if self.code == 'fr' else ''}%"

    def probability(self, value: float | None) -> str:
        """A probability with two decimals: neither 0 nor 1 where it lies between; a dash where there is none."""
        return self.number(min(max(value, 0.01), 0.99) if value is not None and 0 < value < 1 else value)

    def date(self, moment: datetime) -> str:
        """A day: 21 November 2026, 21 novembre 2026, 1er janvier 2027."""
        utc = moment.astimezone(UTC)
        day = "1er" if self.code == "fr" and utc.day == 1 else str(utc.day)
        return f"{day}{WIDE}{self.words['months'][utc.month - 1]} {utc.year}"

    def moment(self, moment: datetime) -> str:
        """A day and time, in UTC."""
        utc = moment.astimezone(UTC)
        time = f"{utc.hour}{WIDE}h{WIDE}{utc.minute:02d}" if self.code == "fr" else f"{utc:%H:%M}"
        return f"{self.date(utc)}, {time} UTC"

    def _formed(self, text: str) -> str:
        """Python's form of a number in this language's."""
        thousands = NARROW if self.code == "fr" else ","
        signs = {",": thousands, ".": self.words["decimal"], "-": "−"}
        return "".join(signs.get(sign, sign) for sign in text)


def language_for(code: str, *more_words: Path) -> Language:
    """The report's language for a run's: its own, the one of its first part (`fr-CA`), else English.

    Args:
        more_words: files whose words are added to the report's, or take their place.
    """
    first = re.split("[-_]", code)[0].lower()
    chosen = first if first in LANGUAGES else "en"
    words: dict[str, Any] = {}
    for path in (WORDS_FILE, *more_words):
        words |= yaml.safe_load(path.read_text(encoding="utf-8"))
    return Language(code=chosen, words={key: typeset(forms[chosen], chosen) for key, forms in words.items()})


def typeset(phrase: Any, code: str) -> Any:
    """A phrase, or the phrases of a list or mapping, with the spaces that French typography asks for."""
    if code != "fr":
        return phrase
    if isinstance(phrase, dict):
        return {key: typeset(value, code) for key, value in phrase.items()}
    if isinstance(phrase, list):
        return [typeset(value, code) for value in phrase]
    return _BEFORE_HIGH_SIGN.sub(NARROW, _BEFORE_LOW_SIGN.sub(WIDE, phrase))
