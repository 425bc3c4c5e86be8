"""Storage policy: the texts kept after judging."""

import json
import re
from collections.abc import Callable, Sequence
from typing import cast

from msgspec import structs

from areopage.cases import Document, Turn
from areopage.gate import Decision, Place, SentenceCheck
from areopage.ledger.tables.records import Answer, Judgment, Verdict
from areopage.ledger.tables.trace_records import Trace
from areopage.ledger.write.answers import text_key
from areopage.scoring import NotApplicable, Outcome, Scored
from areopage.text import Policy, stored_text, stored_values

JUDGEABLE: tuple[Policy, ...] = ("full", "redacted")
"""The policies that leave a judge whole texts to read."""

_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def stored_answer(answer: Answer, policy: Policy, max_chars: int) -> Answer:
    """Apply the storage policy to an answer.

    The prompt, the response, the text that was delivered, the reference, the documents (titles, texts, sources) and the values of
    metadata are treated, each by `stored_text`; ids and sources stay. With the policy `none`, documents, metadata and the
    client's id of the conversation go altogether.
    """
    if policy == "full":
        return answer

    def kept(text: str) -> str:
        return stored_text(text, policy, max_chars)

    def stored_document(document: Document) -> Document:
        values = stored_values(document.metadata, policy, max_chars)
        return structs.replace(
            document, title=kept(document.title), text=kept(document.text), source=kept(document.source), metadata=values
        )

    case = answer.case
    asked = case.prompt
    turns = () if isinstance(asked, str) else tuple(Turn(role=turn.role, content=kept(turn.content)) for turn in asked)
    stored = structs.replace(
        case,
        prompt=kept(asked) if isinstance(asked, str) else turns,
        response=None if case.response is None else kept(case.response),
        reference=None if case.reference is None else kept(case.reference),
        documents=() if policy == "none" else tuple(map(stored_document, case.documents)),
        metadata={} if policy == "none" else stored_values(case.metadata, policy, max_chars),
    )
    session, trace_id = ("", "") if policy == "none" else (answer.session, answer.trace_id)
    return structs.replace(answer, case=stored, delivered=kept(answer.delivered), session=session, trace_id=trace_id)


def stored_judgment(judgment: Judgment, policy: Policy, max_chars: int) -> Judgment:
    """Apply the storage policy to a judgment; scores are always kept.

    A raw text that was truncated or removed cannot be parsed again.
    """
    if policy == "full":
        return judgment
    return structs.replace(
        judgment,
        stored=cast(Policy, str(policy)),
        raw_text=_stored_raw(judgment.raw_text, policy, max_chars),
        repair_text=_stored_raw(judgment.repair_text, policy, max_chars),
        verdicts=tuple(
            Verdict(criterion=verdict.criterion, outcome=_stored_outcome(verdict.outcome, policy, max_chars))
            for verdict in judgment.verdicts
        ),
    )


def stored_trace(trace: Trace, policy: Policy, max_chars: int) -> Trace:
    """Apply the storage policy to a trace; held traces stay whole until settled.

    Its `text_key` is that of the whole texts, but with the policy `none`, which leaves no hash of them either.
    """
    if trace.waits or policy == "full":
        return trace
    key = "" if policy == "none" else text_key(trace.collection, trace.response, trace.documents)
    return structs.replace(reduced_trace(trace, policy, max_chars), text_key=key)


def reduced_trace(trace: Trace, policy: Policy, max_chars: int) -> Trace:
    """Reduce a trace by the policy; ids, figures and reason codes are kept.

    Spans and sentences of the decision are found again in the texts that stay; one that is not there any more is left out (a
    sentence is emptied: its index and its figure stay).
    """
    if policy == "full":
        return trace

    def kept(text: str) -> str:
        return stored_text(text, policy, max_chars)

    answer = stored_answer(trace.answer, policy, max_chars)
    texts = {"": answer.case.response or ""} | {document.id: document.text for document in answer.case.documents}
    decision = None if trace.decision is None else _stored_decision(trace.decision, kept, texts)
    return structs.replace(trace, answer=answer, decision=decision)


def _stored_decision(decision: Decision, kept: Callable[[str], str], texts: dict[str, str]) -> Decision:
    """A decision whose words are those of the texts that stay, by the document's id; "" is the response."""

    def stored_place(place: Place) -> Place | None:
        text = kept(place.text)
        at = _find(texts.get(place.document, ""), text, place.start)
        return None if at is None else Place(document=place.document, start=at, end=at + len(text), text=text)

    def stored_sentence(sentence: SentenceCheck) -> SentenceCheck:
        text, response = kept(sentence.text), texts[""]
        at = _find(response, text, sentence.start)
        if at is None:
            return structs.replace(sentence, start=len(response), end=len(response), text="")
        return structs.replace(sentence, start=at, end=at + len(text), text=text)

    def stored_places(places: Sequence[Place]) -> tuple[Place, ...]:
        return tuple(stored for stored in map(stored_place, places) if stored is not None)

    return structs.replace(
        decision,
        sentences=tuple(map(stored_sentence, decision.sentences)),
        signals=tuple(structs.replace(signal, places=stored_places(signal.places)) for signal in decision.signals),
        reasons=tuple(
            structs.replace(reason, place=stored_place(reason.place) if reason.place else None) for reason in decision.reasons
        ),
        unknown_ids=tuple(text for text in map(kept, decision.unknown_ids) if text),
    )


def _find(whole: str, part: str, near: int) -> int | None:
    """Where a part stands in a text, the occurrence that lies nearest to a position; None where it does not."""
    if not part:
        return None
    after, before = whole.find(part, near), whole.rfind(part, 0, near + len(part))
    positions = [at for at in (before, after) if at >= 0]
    return min(positions, key=lambda at: abs(at - near)) if positions else None


def _stored_outcome(outcome: Outcome, policy: Policy, max_chars: int) -> Outcome:
    """An outcome with what stays of its texts; why there is no score may quote the judge."""
    if isinstance(outcome, Scored):
        return structs.replace(
            outcome,
            explanation=stored_text(outcome.explanation, policy, max_chars),
            evidence=() if policy == "none" else tuple(stored_text(extract, policy, max_chars) for extract in outcome.evidence),
        )
    if isinstance(outcome, NotApplicable):
        return NotApplicable(explanation=stored_text(outcome.explanation, policy, max_chars))
    return structs.replace(outcome, reason=stored_text(outcome.reason, policy, max_chars))


def _stored_raw(raw: str, policy: Policy, max_chars: int) -> str:
    """What stays of a judge's raw text. JSON hides names behind its escapes, so each of its strings is redacted as it reads."""
    if policy != "redacted":
        return stored_text(raw, policy, max_chars)

    def redacted_string(match: re.Match[str]) -> str:
        try:
            text = json.loads(match.group(), strict=False)
        except ValueError:  # what looks like a string and is none stays for the redaction of the whole
            return match.group()
        redacted = stored_text(text, policy, len(text))
        return match.group() if redacted == text else json.dumps(redacted, ensure_ascii=False)

    return stored_text(_JSON_STRING.sub(redacted_string, raw), policy, max_chars)
