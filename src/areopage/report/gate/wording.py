"""The gate's decisions in plain sentences. Texts of answers and documents are quoted on one line, without control characters."""

from functools import lru_cache
from pathlib import Path

from areopage.gate.records import Decision, Reason
from areopage.report.languages import Language, language_for

WORDS = Path(__file__).with_name("words.yml")
LONGEST_QUOTE = 160
PERCENTAGES = frozenset(["unsupported_sentence", "no_citation"])


@lru_cache(maxsize=4)
def gate_language(code: str) -> Language:
    """The words for gate decisions in a language; English where it is not known."""
    return language_for(code, WORDS)


def explain(decision: Decision, language: str) -> list[str]:
    """Every reason as one plain sentence, decisive ones first.

    Args:
        language: "fr" or "en".
    """
    words = gate_language(language)
    return [reason_text(decision, reason, words) for reason in decision.reasons]


def verdict_text(decision: Decision, language: str) -> str:
    """The verdict in a sentence or two."""
    words = gate_language(language)
    said = [words.words["gate_verdicts"][decision.verdict]]
    if decision.refusal:
        said.append(words.say("gate_refusal"))
    if decision.needs_judge:
        said.append(words.count("gate_asks_judge", len(decision.doubtful)))
    return " ".join(said)


def reason_text(decision: Decision, reason: Reason, words: Language) -> str:
    """One reason as a sentence that names the sentence, the words and the document it is about."""
    text = words.say(_key(reason), **_values(decision, reason, words))
    if reason.sentence is not None:
        text = words.say("gate_in_sentence", sentence=words.whole(reason.sentence + 1), reason=text)
    if reason.document:
        text = words.say("gate_nearest", reason=text, document=shown(reason.document))
    if not reason.decisive:
        text = words.say("gate_told", reason=text)
    return f"{text[:1].upper()}{text[1:]}."


def shown(text: str, limit: int = LONGEST_QUOTE) -> str:
    """A foreign text on one line of at most `limit` characters, without control characters."""
    printable = "".join(sign if sign.isprintable() else " " for sign in text[: 4 * limit])
    line = " ".join(printable.split())
    return line if len(line) <= limit and len(text) <= 4 * limit else f"{line[: limit - 1]}…"


def _key(reason: Reason) -> str:
    if reason.code == "no_citation" and reason.value is not None:
        return "gate_no_citation_nor_overlap"
    if reason.code == "unsupported_sentence" and reason.place is None:
        return "gate_unsupported_answer"
    return f"gate_{reason.code}"


def _values(decision: Decision, reason: Reason, words: Language) -> dict[str, str]:
    """What is filled into a phrase."""
    languages = words.words["gate_languages"]
    if reason.code == "too_long":
        threshold = words.whole(int(reason.threshold or 0))
    elif reason.code in PERCENTAGES:
        threshold = words.percent(reason.threshold or 0.0, 0)
    else:
        threshold = words.number(reason.threshold)
    value = words.percent(reason.value or 0.0, 0) if reason.code in PERCENTAGES else words.number(reason.value)
    return {
        "quote": words.say("gate_quote", text=shown(reason.place.text)) if reason.place else "",
        "value": value,
        "threshold": threshold,
        "prompt": languages.get(decision.prompt_lang, decision.prompt_lang),
        "response": languages.get(decision.response_lang, decision.response_lang),
    }
