"""How `areopage gate check` shows a decision."""

import msgspec

from areopage.gate.records import Decision
from areopage.locales import one_line
from areopage.report.decisions import decision_locale, explain, verdict_text

LONGEST_SENTENCE = 120


def decision_json(case_id: str, decision: Decision) -> str:
    """A decision on one line of JSON, led by the id of its case."""
    return msgspec.json.encode({"id": case_id} | msgspec.to_builtins(decision)).decode()


def decision_text(decision: Decision, language: str) -> str:
    """Verdict, reasons and sentences, for reading."""
    locale = decision_locale(language)
    lines = [f"{decision.verdict}: {verdict_text(decision, language)}"]
    lines += [f"  - {reason}" for reason in explain(decision, language)]
    for number, sentence in enumerate(decision.sentences, 1):
        risk = locale.percent(sentence.p_unsupported, 0) if sentence.p_unsupported is not None and sentence.claim else "—"
        document = f"  [{one_line(sentence.document, 40)}]" if sentence.document and sentence.claim else ""
        lines.append(f"  {number:>3}  {risk:>5}  {one_line(sentence.text, LONGEST_SENTENCE)}{document}")
    return "\n".join(lines)
