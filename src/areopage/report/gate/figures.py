"""Data of the gate's report, with exportable texts only."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from areopage.gate import GateVerdict
from areopage.ledger import Grounded, Ledger, TraceFilter
from areopage.records import record_from
from areopage.report.gate.counts import FEW_LABELS, FEW_ROWS, GateCounts, GateFigures, WorstAnswer
from areopage.report.gate.decisions import explain
from areopage.text import Policy, stored_text
from areopage.version import __version__

SCHEMA = "areopage/gate-report/1"
MOST_REASONS = 8  # of one answer
CUT = "…"
DOUBT = 0.5  # from this probability of unsupported content on a sentence is doubtful

Warned = tuple[str, int]


class AnswerPart(Struct, frozen=True):
    """A part of an answer, and whether the gate doubts it."""

    text: str
    marked: bool


class ShownAnswer(Struct, frozen=True, kw_only=True):
    """A worst answer of the report. `reasons` are sentences in the report's language."""

    id: str
    at: datetime
    collection: str
    verdict: GateVerdict
    p_unsupported: float | None
    label: Grounded | None
    escaped: bool
    question: str
    answer: tuple[AnswerPart, ...]
    reasons: tuple[str, ...]


class GateOverview(Struct, frozen=True, kw_only=True):
    """Args:
    scope: which traces it is about.
    warned: what to bear in mind, as keys of words with the number that they tell.
    text: the policy by which texts left the ledger.
    place: options of the command that say which ledger it was, without a password; none for the usual one.
    heads: of the ledger's hash chains.
    """

    figures: GateFigures
    scope: TraceFilter
    language: str
    worst: tuple[ShownAnswer, ...]
    warned: tuple[Warned, ...]
    text: Policy
    made_at: datetime
    place: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()


def gate_figures(
    ledger: Ledger,
    scope: TraceFilter,
    *,
    language: str,
    policy: Policy,
    max_chars: int,
    now: datetime,
    place: Sequence[str] = (),
    moved: Callable[[int], None] = lambda _: None,
) -> GateOverview:
    """Read a report's data, in portions.

    Args:
        language: "fr" or "en".
        place: see `GateOverview`.
        moved: told how many answers were read after each.

    Raises:
        StorageError: the ledger cannot be read.
    """
    counts = GateCounts()
    for read, (trace, labels) in enumerate(ledger.traces.each_labelled(scope), 1):
        counts.take(trace, labels)
        moved(read)
    figures = counts.figures()
    by_people, found = figures.labels, []
    if 0 < figures.answers < FEW_ROWS:
        found.append(("gate_warn_few", figures.answers))
    if figures.without_p:
        found.append(("gate_warn_no_p", figures.without_p))
    if figures.erased:
        found.append(("gate_warn_erased", figures.erased))
    versions = sum(1 for version in figures.versions if version)
    if versions > 1:
        found.append(("gate_warn_versions", versions))
    if 0 < by_people.labelled < FEW_LABELS:
        found.append(("gate_warn_few_labels", by_people.labelled))
    if by_people.labelled and not by_people.delivered:
        found.append(("gate_warn_held_only", by_people.labelled))
    return GateOverview(
        figures=figures,
        scope=scope,
        language=language,
        worst=tuple(_shown(one, language, policy, max_chars) for one in figures.worst),
        warned=tuple(found),
        text=policy,
        made_at=now,
        place=tuple(place),
        heads=tuple(map(str, ledger.heads())),
    )


def _shown(worst: WorstAnswer, language: str, policy: Policy, max_chars: int) -> ShownAnswer:
    trace = worst.trace
    reasons = list(dict.fromkeys(explain(trace.decision, language)))[:MOST_REASONS] if trace.decision is not None else []
    return record_from(
        ShownAnswer,
        trace,
        label=worst.label,
        escaped=worst.escaped,
        question=stored_text(trace.prompt, policy, max_chars),
        answer=outward(_pieces(worst), policy, max_chars),
        reasons=tuple(text for text in (stored_text(reason, policy, max_chars) for reason in reasons) if text),
    )


def _pieces(worst: WorstAnswer) -> tuple[AnswerPart, ...]:
    """The answer, with the places that the gate doubts marked: those of decisive reasons, else its doubtful sentences."""
    text, decision = worst.trace.response, worst.trace.decision
    if decision is None:
        return (AnswerPart(text, marked=False),)
    places = [reason.place for reason in decision.reasons if reason.decisive and reason.place is not None]
    spans = sorted({(place.start, place.end) for place in places if text[place.start : place.end] == place.text})
    if not spans:
        claims = (one for one in decision.sentences if one.claim and text[one.start : one.end] == one.text)
        spans = [(one.start, one.end) for one in claims if (one.p_unsupported or 0.0) >= DOUBT]
    return _cut(text, spans)


def _cut(text: str, spans: Sequence[tuple[int, int]]) -> tuple[AnswerPart, ...]:
    found, done = [], 0
    for start, end in spans:
        if end <= done:
            continue
        begin = max(start, done)
        if begin > done:
            found.append(AnswerPart(text[done:begin], marked=False))
        if found and found[-1].marked and begin == done:
            found[-1] = AnswerPart(found[-1].text + text[begin:end], marked=True)
        else:
            found.append(AnswerPart(text[begin:end], marked=True))
        done = end
    if done < len(text):
        found.append(AnswerPart(text[done:], marked=False))
    return tuple(found)


def outward(parts: Sequence[AnswerPart], policy: Policy, max_chars: int) -> tuple[AnswerPart, ...]:
    """The pieces with what may leave the ledger; a cut text ends where the whole of it reaches its length."""
    if policy == "none":
        return ()
    if policy != "truncated":
        return tuple(AnswerPart(stored_text(part.text, policy, max_chars), part.marked) for part in parts)
    kept: list[AnswerPart] = []
    left = max_chars
    for part in parts:
        if len(part.text) > left:
            return (*kept, AnswerPart(part.text[: max(0, left - 1)] + CUT, part.marked))
        kept.append(part)
        left -= len(part.text)
    return tuple(kept)


def json_figures(found: GateOverview) -> dict[str, Any]:
    """Build the JSON form: figures and scope."""
    scope = found.scope
    return {
        "schema": SCHEMA,
        "areopage": __version__,
        "made_at": found.made_at,
        "scope": {"since": scope.since, "until": scope.until, "collection": scope.collection},
        **msgspec.structs.asdict(found.figures),
        "warnings": [key.removeprefix("gate_warn_") for key, _ in found.warned],
        "text": found.text,
        "ledger_heads": found.heads,
        "worst": found.worst,
    }
