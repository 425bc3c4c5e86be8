"""What stays of an answer's texts once it is judged: all, their beginning, what is not personal, or nothing."""

import json
import re

import msgspec

from areopage.cases.records import Case, Document, Turn
from areopage.ledger.records import Judgment, Verdict
from areopage.scoring.outcome import Outcome, Scored
from areopage.text.personal import redact
from areopage.text.stored_text import Policy, stored_text, stored_values

__all__ = ["Policy", "stored_case", "stored_judgment", "stored_text"]

_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def stored_case(case: Case, policy: Policy, max_chars: int) -> Case | None:
    """What stays of a submission's case, or None where it stays as it is.

    The prompt, the response, the reference, the documents (titles, texts, sources) and the values of metadata are treated, each
    by `stored_text`; ids and the answer's source stay. With the policy `none`, documents and metadata go altogether.
    """
    if policy == "full":
        return None

    def kept(text: str) -> str:
        return stored_text(text, policy, max_chars)

    def document(one: Document) -> Document:
        return Document(
            id=one.id,
            title=kept(one.title),
            text=kept(one.text),
            score=one.score,
            source=kept(one.source),
            metadata=stored_values(one.metadata, policy, max_chars),
        )

    return msgspec.structs.replace(
        case,
        prompt=kept(case.prompt)
        if isinstance(case.prompt, str)
        else tuple(Turn(role=turn.role, content=kept(turn.content)) for turn in case.prompt),
        response=None if case.response is None else kept(case.response),
        reference=None if case.reference is None else kept(case.reference),
        documents=() if policy == "none" else tuple(document(one) for one in case.documents),
        metadata={} if policy == "none" else stored_values(case.metadata, policy, max_chars),
    )


def stored_judgment(judgment: Judgment, policy: Policy, max_chars: int) -> Judgment:
    """What stays of a judgment: its scores always; what the judge wrote, by the policy.

    A raw text that was truncated or removed cannot be parsed again.
    """
    if policy == "full":
        return judgment
    return msgspec.structs.replace(
        judgment,
        raw_text=_stored_raw(judgment.raw_text, policy, max_chars),
        repair_text=_stored_raw(judgment.repair_text, policy, max_chars),
        verdicts=tuple(
            Verdict(criterion=verdict.criterion, outcome=_stored_outcome(verdict.outcome, policy, max_chars))
            for verdict in judgment.verdicts
        ),
    )


def _stored_outcome(outcome: Outcome, policy: Policy, max_chars: int) -> Outcome:
    """An outcome with what stays of its texts; why there is no score may quote the judge."""
    if isinstance(outcome, Scored):
        return Scored(
            score=outcome.score,
            explanation=stored_text(outcome.explanation, policy, max_chars),
            evidence=() if policy == "none" else tuple(stored_text(extract, policy, max_chars) for extract in outcome.evidence),
        )
    return msgspec.structs.replace(outcome, reason=stored_text(outcome.reason, policy, max_chars))


def _stored_raw(raw: str, policy: Policy, max_chars: int) -> str:
    """What stays of a judge's raw text. JSON hides names behind its escapes, so each of its strings is redacted as it reads."""
    if policy != "redacted":
        return stored_text(raw, policy, max_chars)
    return redact(_JSON_STRING.sub(_redacted_string, raw))


def _redacted_string(match: re.Match[str]) -> str:
    """A JSON string, redacted; what looks like one and is none stays for the redaction of the whole."""
    try:
        text = json.loads(match.group(), strict=False)
    except ValueError:
        return match.group()
    redacted = redact(text)
    return match.group() if redacted == text else json.dumps(redacted, ensure_ascii=False)
