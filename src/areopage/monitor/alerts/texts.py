"""The texts of alerts: plain, bounded, in French or in English."""

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from string import Template
from urllib.parse import quote

import yaml
from msgspec import Struct

from areopage.criteria.records import Scale
from areopage.ledger.storage import stored_text
from areopage.monitor.config import MonitorConfig
from areopage.suites.config_file import StorageSection
from areopage.suites.loader import Suite

WORDS_FILE = Path(__file__).with_name("words.yml")
LANGUAGES = ("en", "fr")
QUESTION_LENGTH = 500
REMARK_LENGTH = 300
REMARKS = 5

NARROW, WIDE = "\u202f", "\u00a0"
_BEFORE_HIGH_SIGN = re.compile(r" (?=[;?!])")
_BEFORE_LOW_SIGN = re.compile(r" (?=[:%»])|(?<=«) ")
# Some services take these for a call to everybody; the sign that replaces the at sign looks the same.
_MENTION = re.compile(r"@(?=\s*(?:everyone|here|channel|all)\b)|(?<=<)[@!#]", re.IGNORECASE)
FULL_WIDTH = {"@": "＠", "!": "！", "#": "＃"}


class Voice(Struct, frozen=True, kw_only=True):
    """How alerts are put into words.

    Args:
        words: the phrases by key, in one language.
        language: "en" or "fr".
        scale: of the scores.
        labels: names of criteria for people, by path.
        storage: what may be shown of an answer's texts.
        link: the address of the live page, "" for none.
    """

    words: Mapping[str, str]
    language: str
    scale: Scale
    labels: Mapping[str, str] = {}
    storage: StorageSection = StorageSection()
    link: str = ""

    def say(self, key: str, **values: object) -> str:
        """A phrase; each `$name` is replaced once, so that a value's own dollar signs stay what they are."""
        return Template(self.words[key]).substitute(values)

    def line(self, key: str, value: str) -> str:
        """`Name: value`."""
        return self.say("pair", name=self.words[key], value=value)

    def number(self, value: float | None, digits: int = 1) -> str:
        """A number with so many decimals; a dash where there is none."""
        if value is None or not math.isfinite(value):
            return "—"
        return self._formed(f"{value:,.{digits}f}")

    def mark(self, value: float | None) -> str:
        """A score: with one decimal, and with two where it has them, so that 5.96 does not look like 6.0."""
        if value is None or not math.isfinite(value):
            return "—"
        return self._formed(f"{value:,.2f}".removesuffix("0"))

    def signed(self, value: float, digits: int = 2) -> str:
        """A difference, with its sign."""
        return self._formed(f"{value:+,.{digits}f}")

    def short(self, value: float) -> str:
        """A number with no more decimals than it has, at most two."""
        return self._formed(f"{value:,.2f}".rstrip("0").rstrip("."))

    def whole(self, value: int) -> str:
        """A whole number, thousands set apart."""
        return self._formed(f"{value:,d}")

    def percent(self, share: float) -> str:
        """A share of 1, with at most one decimal."""
        return f"{self._formed(f'{share * 100:.1f}'.removesuffix('.0'))}{WIDE if self.language == 'fr' else ''}%"

    def hours(self, hours: float) -> str:
        """A span of hours."""
        return self.say("hours", n=self.short(hours))

    def score(self, value: float | None) -> str:
        """A score on its scale."""
        return self.say("of", score=self.mark(value), max=self.short(self.scale.max))

    def label(self, criterion: str) -> str:
        """A criterion's name for people."""
        return plain(self.labels.get(criterion) or criterion.rpartition(".")[2].replace("_", " "), 80)

    def kept(self, text: str, limit: int) -> str:
        """A foreign text by the storage policy, on one line, bounded."""
        return plain(stored_text(text, self.storage.text, self.storage.max_chars), limit)

    def page(self, path: str = "") -> str:
        """The line with the live page's address; "" where it is not known."""
        return self.line("link", f"{self.link.rstrip('/')}/monitor{path}") if self.link else ""

    def answer_page(self, answer_id: str) -> str:
        """The line that leads to one answer: its page, else its id."""
        if self.link:
            return self.page(f"/answers/{quote(answer_id, safe='')}")
        return self.line("answer_id", plain(answer_id, 128))

    def _formed(self, text: str) -> str:
        thousands = NARROW if self.language == "fr" else ","
        signs = {",": thousands, ".": self.words["decimal"], "-": "−"}
        return "".join(signs.get(sign, sign) for sign in text)


def voice_for(
    language: str,
    *,
    scale: Scale,
    labels: Mapping[str, str] | None = None,
    storage: StorageSection | None = None,
    link: str = "",
) -> Voice:
    """A voice in a language, or in that of its first part (`fr-CA`), else in English."""
    first = re.split("[-_]", language)[0].lower()
    chosen = first if first in LANGUAGES else "en"
    words = yaml.safe_load(WORDS_FILE.read_text(encoding="utf-8"))
    return Voice(
        words={key: typeset(forms[chosen], chosen) for key, forms in words.items()},
        language=chosen,
        scale=scale,
        labels=labels or {},
        storage=storage or StorageSection(),
        link=link,
    )


def voice_of(config: MonitorConfig, suite: Suite) -> Voice:
    """The voice of a monitor: in the language of its configuration, else the suite's own."""
    language = config.section.language or suite.own_language
    return voice_for(
        language,
        scale=suite.scale,
        labels={entry.path: suite.registry.label(entry.id, language) for entry in suite.registry.entries.values()},
        storage=config.storage,
        link=config.section.alerts.link,
    )


def typeset(phrase: str, language: str) -> str:
    """A phrase with the spaces that French typography asks for."""
    return _BEFORE_HIGH_SIGN.sub(NARROW, _BEFORE_LOW_SIGN.sub(WIDE, phrase)) if language == "fr" else phrase


def plain(text: str, limit: int) -> str:
    """A foreign text as one line of at most `limit` characters, without control characters and calls to everybody.

    Nothing in it can begin a line of its own, turn the direction of writing, or be taken for a mention.
    """
    printable = "".join(char if char.isprintable() else " " for char in text[: 4 * limit])
    line = _MENTION.sub(lambda found: FULL_WIDTH[found[0]], " ".join(printable.split()))
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def lines(*parts: str) -> str:
    """The lines of a text; empty ones are left out."""
    return "\n".join(part for part in parts if part)


def listed(title: str, items: Iterable[str]) -> str:
    """A title with its items, each on a line; "" without items."""
    shown = [f"- {item}" for item in items if item]
    return "\n".join([title, *shown]) if shown else ""
