"""How the gate's report puts its values: the same in HTML and in Markdown."""

import shlex
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from areopage.gate.records import GATE_VERDICTS
from areopage.ledger.queries import Period, TraceFilter
from areopage.report.gate.figures import BINS, OTHERS, Latency, Share
from areopage.report.gate.page import GateReport, ShownAnswer
from areopage.report.gate.wording import WORDS as DECISION_WORDS
from areopage.report.languages import MISSING, Language, language_for
from areopage.report.quality.wording import WORDS as QUALITY_WORDS
from areopage.report.quality.wording import day_name, period_text, title_case

WORDS = Path(__file__).with_name("report_words.yml")


def language_of(report: GateReport) -> Language:
    """The language that a report is written in."""
    return language_for(report.language, QUALITY_WORDS, DECISION_WORDS, WORDS)


def scope_text(language: Language, scope: TraceFilter) -> str:
    """The period: days where both ends are known."""
    last = None if scope.until is None else (scope.until - timedelta(microseconds=1)).date()
    if scope.since is not None and last is not None:
        return title_case(period_text(language, Period(start=scope.since.date(), end=last + timedelta(days=1))))
    if scope.since is not None:
        return language.say("gate_period_since", day=day_name(language, scope.since.date()))
    return language.say("gate_period_all") if last is None else language.say("gate_period_until", day=day_name(language, last))


def share_text(language: Language, share: Share) -> str:
    """A share as a percentage, a dash where nothing was counted."""
    return MISSING if share.share is None else language.percent(share.share)


def interval_text(language: Language, share: Share) -> str:
    """Its interval: 12.1% – 18.4%."""
    if share.low is None or share.high is None:
        return MISSING
    return f"{language.percent(share.low)} – {language.percent(share.high)}"


def of_text(language: Language, share: Share, key: str = "gate_of") -> str:
    """Hits and share: 12 of 80 (15.0%)."""
    hits, of = language.whole(share.hits), language.whole(share.of)
    return language.say(key, hits=hits, of=of, share=share_text(language, share))


def milliseconds(language: Language, seconds: float | None) -> str:
    """A time in milliseconds, with two decimals under ten of them."""
    if seconds is None:
        return MISSING
    value = seconds * 1000
    return language.say("gate_milliseconds", n=language.number(value, 2 if value < 10 else 0))


def latency_rows(language: Language, latency: Latency) -> list[tuple[str, str]]:
    """What decisions took."""
    values = (("gate_latency_p50", latency.p50), ("gate_latency_p90", latency.p90), ("gate_latency_p99", latency.p99))
    return [(language.say(key), milliseconds(language, seconds)) for key, seconds in values]


def verdict_rows(language: Language, shares: Mapping[str, Share]) -> list[tuple[str, str, Share]]:
    """The verdicts: code, name and share, from the best to the worst."""
    return [(verdict, language.say(f"gate_name_{verdict}"), shares[verdict]) for verdict in GATE_VERDICTS]


def reason_name(language: Language, code: str) -> str:
    """A reason in a few words; its code where it is not known."""
    return str(language.words["gate_reason_names"].get(code, code))


def name_text(language: Language, name: str) -> str:
    """The name of a collection, source or language."""
    if name == OTHERS:
        return language.say("gate_others")
    return str(language.words["gate_languages"].get(name, name)) or language.say("gate_unnamed")


def origins_text(language: Language, origins: Mapping[str, int]) -> str:
    """Where the answers come from, with counts where there are several origins."""
    names = [(language.words.get(f"gate_origin_{origin}", origin), count) for origin, count in origins.items()]
    return ", ".join(name if len(names) == 1 else f"{name} ({language.whole(count)})" for name, count in names)


def rules_text(language: Language, report: GateReport) -> str:
    """The profiles and versions that decided."""
    figures = report.figures
    profiles = [language.say("gate_profile_default") if name == "default" else name for name in figures.profiles if name]
    versions = [version for version in figures.versions if version and version != OTHERS]
    said = [*profiles, *versions[:3], *(["…"] if len(versions) > 3 else [])]
    return ", ".join(said) or language.say("gate_unnamed")


def warning_texts(language: Language, report: GateReport) -> list[str]:
    """What to bear in mind, in sentences."""
    return [language.count(key, n) for key, n in report.warned]


def steps(language: Language) -> list[str]:
    """What each bar of a histogram over [0, 1] counts: 0–0.1."""
    ends = [language.short(round(step / BINS, 2)) for step in range(BINS + 1)]
    return [f"{ends[step]}–{ends[step + 1]}" for step in range(BINS)]


def label_rows(language: Language, report: GateReport) -> list[tuple[str, str, Share]]:
    """Precision, recall, escapes: name, what it is, share."""
    labels = report.figures.labels
    named = (("precision", labels.precision), ("recall", labels.recall), ("escapes", labels.escapes))
    return [(language.say(f"gate_{name}"), language.say(f"gate_{name}_note"), share) for name, share in named]


def answer_facts(language: Language, answer: ShownAnswer) -> list[str]:
    """What became of one answer, what people say of it, and which it is."""
    label = language.say(f"gate_label_{answer.label}") if answer.label else ""
    facts = [language.say(f"gate_one_{answer.verdict}"), label, answer.id, language.moment(answer.at), answer.collection]
    return [fact for fact in facts if fact]


def labelled_text(language: Language, report: GateReport) -> str:
    """How many answers are labelled, and what as."""
    labels = report.figures.labels
    ungrounded, delivered = language.whole(labels.ungrounded), language.whole(labels.delivered)
    return language.count("gate_labelled", labels.labelled, ungrounded=ungrounded, delivered=delivered)


def text_note(language: Language, report: GateReport) -> str:
    """What was done to the texts; "" where they are whole."""
    return "" if report.text == "full" else language.say(f"text_{report.text}")


def command(report: GateReport) -> str:
    """The command that makes the report again."""
    scope = report.scope
    parts = ["areopage", "gate", "report", *report.place]
    parts += ["--since", scope.since.date().isoformat()] if scope.since is not None else []
    parts += ["--until", (scope.until - timedelta(days=1)).date().isoformat()] if scope.until is not None else []
    parts += ["--collection", scope.collection] if scope.collection is not None else []
    return shlex.join([*parts, "--lang", report.language])
