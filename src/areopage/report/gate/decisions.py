"""The gate's decisions in plain sentences. Texts of answers and documents are quoted on one line, without control characters."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from areopage.gate import Decision, Reason
from areopage.locales import Locale, locale_for, one_line, sentence_case
from areopage.text import figures

MESSAGES = Path(__file__).parents[1] / "messages" / "decision.yml"
COUNTS = frozenset(["too_long", "too_many_numbers", "unread_documents"])
PROBABLE = 0.5  # p_unsupported from which something is probably unsupported
PERCENTAGES = frozenset(["no_citation"])
# The messages of figures that are dates.
DATED: Mapping[str, str] = MappingProxyType({"unsupported_figure": "unsupported_date", "misplaced_figure": "misplaced_date"})


def decision_locale(language: str) -> Locale:
    """The messages on decisions in a language; English if unknown."""
    return locale_for(language, MESSAGES)


def explain(decision: Decision, language: str) -> list[str]:
    """Describe every reason, decisive reasons first.

    Args:
        language: "fr" or "en".
    """
    locale = decision_locale(language)
    return [reason_text(decision, reason, locale) for reason in decision.reasons]


def verdict_text(decision: Decision, language: str) -> str:
    """Describe the verdict."""
    locale = decision_locale(language)
    said = [locale.messages["gate_verdicts"][decision.verdict]]
    if decision.refusal:
        said.append(locale.say("gate_refusal"))
    if decision.needs_judge:
        said.append(locale.count("gate_asks_judge", len(decision.doubtful)))
    if decision.judge is not None:
        said.append(locale.say(f"gate_judge_is_{decision.judge.standing}", model=one_line(decision.judge.model)))
    return " ".join(said)


def reason_text(decision: Decision, reason: Reason, locale: Locale) -> str:
    """Describe a reason with its sentence, words and document."""
    text = locale.say(_key(decision, reason), **_values(decision, reason, locale))
    if reason.sentence is not None:
        text = locale.say("gate_in_sentence", sentence=locale.whole(reason.sentence + 1), reason=text)
    if reason.document:
        text = locale.say("gate_nearest", reason=text, document=one_line(reason.document))
    if not reason.decisive:
        text = locale.say("gate_told", reason=text)
    return f"{sentence_case(text)}."


def _key(decision: Decision, reason: Reason) -> str:
    if reason.code == "unexamined_judge" and decision.judge is not None and decision.judge.standing in ("failed", "accepted"):
        return f"gate_{decision.judge.standing}_judge"
    if reason.code == "no_citation" and reason.value is not None:
        return "gate_no_citation_nor_overlap"
    if reason.code == "unsupported_sentence":
        likely = "unsupported" if (reason.value or 0.0) >= PROBABLE else "uncertain"
        return f"gate_{likely}_{'answer' if reason.place is None else 'sentence'}"
    if reason.code in DATED and reason.place is not None and any(part.kind == "date" for part in figures(reason.place.text)):
        return f"gate_{DATED[reason.code]}"
    return f"gate_{reason.code}"


def _values(decision: Decision, reason: Reason, locale: Locale) -> dict[str, str]:
    languages, command = locale.messages["gate_languages"], decision.judge.examine_with if decision.judge is not None else ""

    def shown_value(figure: float | None) -> str:
        if reason.code in COUNTS:
            return locale.whole(int(figure or 0))
        return locale.percent(figure or 0.0, 0) if reason.code in PERCENTAGES else locale.number(figure)

    return {
        "examine": locale.say("gate_examine_with", command=command) if command else "",
        "quote": locale.say("gate_quote", text=one_line(reason.place.text)) if reason.place else "",
        "value": shown_value(reason.value),
        "threshold": shown_value(reason.threshold),
        "prompt": languages.get(decision.prompt_lang, decision.prompt_lang),
        "response": languages.get(decision.response_lang, decision.response_lang),
    }
