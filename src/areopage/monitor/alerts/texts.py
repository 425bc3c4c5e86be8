"""Texts of alerts: plain, bounded, in French or English."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

from areopage.criteria import Scale
from areopage.locales import Locale, locale_for, one_line
from areopage.monitor.config import MonitorConfig
from areopage.monitor.figures import criterion_labels
from areopage.records import record_from
from areopage.suites import StorageSection, Suite
from areopage.text import stored_text

MESSAGES_FILE = Path(__file__).with_name("messages.yml")
QUESTION_LENGTH = 500
REMARK_LENGTH = 300
REMARKS = 5

# Some services take these for a mention of all members; the character that replaces the at sign looks the same.
_MENTION = re.compile(r"@(?=\s*(?:everyone|here|channel|all)\b)|(?<=<)[@!#]", re.IGNORECASE)
FULL_WIDTH = {"@": "＠", "!": "！", "#": "＃"}


class AlertLocale(Locale, frozen=True, kw_only=True):
    """A locale with the messages of alerts and a monitor's settings."""

    scale: Scale
    labels: Mapping[str, str] = {}
    storage: StorageSection = StorageSection()
    link: str = ""

    def line(self, key: str, value: str) -> str:
        """`Name: value`."""
        return self.say("pair", name=self.messages[key], value=value)

    def mark(self, value: float | None) -> str:
        """A score with one decimal, or two if needed, so that 5.96 is not shown as 6.0."""
        return self.number(value).removesuffix("0")

    def score(self, value: float | None) -> str:
        """A score on its scale."""
        return self.say("of", score=self.mark(value), max=self.short(self.scale.max))

    def label(self, criterion: str) -> str:
        """A criterion's display name."""
        return plain(self.labels.get(criterion) or criterion.rpartition(".")[2].replace("_", " "), 80)

    def kept(self, text: str, limit: int) -> str:
        """A foreign text as it may be stored and leave the ledger, on one line, bounded."""
        kept = stored_text(text, self.storage.text, self.storage.max_chars)
        return plain(stored_text(kept, self.storage.export_text, self.storage.max_chars), limit)

    def page(self, path: str = "") -> str:
        """The line with the live page's address; "" if unknown."""
        return self.line("link", f"{self.link.rstrip('/')}/monitor{path}") if self.link else ""

    def answer_page(self, answer_id: str) -> str:
        """The line with an answer's page, else its id."""
        if self.link:
            return self.page(f"/answers/{quote(answer_id, safe='')}")
        return self.line("answer_id", plain(answer_id, 128))


def alert_locale(
    language: str,
    *,
    scale: Scale,
    labels: Mapping[str, str] | None = None,
    storage: StorageSection | None = None,
    link: str = "",
) -> AlertLocale:
    """The locale of alerts in a language, English if unknown. Without `storage` it shows whole texts."""
    return record_from(
        AlertLocale,
        locale_for(language, MESSAGES_FILE),
        scale=scale,
        labels=labels or {},
        storage=storage or StorageSection(export_text="full"),
        link=link,
    )


def monitor_locale(config: MonitorConfig, suite: Suite, language: str = "") -> AlertLocale:
    """The locale of a monitor's alerts: the given language, else its configuration's, else the suite's."""
    language = language or config.section.language or suite.own_language
    return alert_locale(
        language,
        scale=suite.scale,
        labels=criterion_labels(suite, language),
        storage=config.storage,
        link=config.section.alerts.link,
    )


def plain(text: str, limit: int) -> str:
    """A foreign text on one line, bounded, without control characters and mentions."""
    return _MENTION.sub(lambda mention: FULL_WIDTH[mention[0]], one_line(text, limit))


def lines(*parts: str) -> str:
    """The lines of a text without empty lines."""
    return "\n".join(part for part in parts if part)


def listed(title: str, items: Iterable[str]) -> str:
    """A title and its items, one per line; "" without items."""
    shown = [f"- {item}" for item in items if item]
    return "\n".join([title, *shown]) if shown else ""
