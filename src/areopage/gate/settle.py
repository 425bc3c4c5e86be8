"""What a judge's word makes of a decision in the grey band, and what people's labels make of any."""

from collections.abc import Sequence

import msgspec

from areopage.gate.config import GateConfig
from areopage.gate.records import Decision, GateVerdict, JudgeTrust, Place, Reason, ReasonCode, SentenceJudgment

_UNPROVEN: frozenset[JudgeTrust] = frozenset(["unexamined", "failed"])


def settled(config: GateConfig, decision: Decision, judgments: Sequence[SentenceJudgment]) -> Decision:
    """Settle a decision that needs a judge: see `Gate.resolve`. The word of a judge without a passed exam releases nothing."""
    refuted = {judgment.sentence for judgment in judgments if judgment.supported is False}
    refuted &= set(range(len(decision.sentences)))
    supported = {judgment.sentence for judgment in judgments if judgment.supported is True}
    missing = [index for index in decision.doubtful if index not in supported and index not in refuted]
    reasons = [
        msgspec.structs.replace(reason, decisive=False) if reason.code == "unsupported_sentence" else reason
        for reason in decision.reasons
    ]
    # The word of a judge that has passed no exam releases nothing, and checks no meaning.
    unproven = {judgment.sentence for judgment in judgments if judgment.supported and judgment.standing in _UNPROVEN}
    insisted = {judgment.sentence for judgment in judgments if judgment.supported and judgment.standing == "accepted"}
    unchecked = tuple(index for index in decision.meaning_not_checked if index in unproven or index not in supported | refuted)
    reasons = [reason for reason in reasons if reason.code != "meaning_not_checked" or reason.sentence in unchecked]
    # What holds an answer that no judge spoke about: a sentence whose meaning was not checked, or a doubtful one.
    holds = {at: (config.near_copies if at in unchecked else config.unsettled) == "hold" for at in range(len(decision.sentences))}
    if refuted:
        added = [_about(decision, index, "judge_unsupported", decisive=True) for index in sorted(refuted)]
    elif missing:
        added = [_about(decision, index, "judge_failed", decisive=holds[index]) for index in missing]
    else:
        added = [
            _about(decision, index, "unexamined_judge", decisive=index in unproven and holds[index])
            for index in sorted(unproven | insisted)
        ]
    verdict: GateVerdict = "human_review" if any(reason.decisive for reason in added) else "deliver"
    reasons = [*added, *reasons] if refuted else sorted([*added, *reasons], key=lambda reason: not reason.decisive)
    return msgspec.structs.replace(
        decision,
        verdict=verdict,
        needs_judge=False,
        doubtful=(),
        meaning_not_checked=unchecked,
        p_unsupported=None if verdict == "deliver" and not (missing or unproven) else decision.p_unsupported,
        judged=bool(refuted) or not (missing or unproven),
        reasons=tuple(reasons),
        metrics=msgspec.structs.replace(
            decision.metrics,
            hallucination=bool(refuted),
            quality_pass=verdict == "deliver",
            escalate=verdict == "human_review",
        ),
    )


def asking_about_near_copies(decision: Decision) -> Decision:
    """A decision that asks a judge about its near copies, if nothing else holds the answer; for a caller that has a judge."""
    otherwise_held = any(reason.decisive and reason.code != "meaning_not_checked" for reason in decision.reasons)
    if decision.needs_judge or otherwise_held or not decision.meaning_not_checked:
        return decision
    return msgspec.structs.replace(decision, needs_judge=True, doubtful=decision.meaning_not_checked)


def settled_by_labels(decision: Decision, *, supported: bool) -> Decision:
    """Settle a decision by what people said of the same response over the same documents.

    A fallback stays, and an answer that the gate would deliver anyway. No probability is stated beside what people said.
    """
    if decision.verdict == "fallback" or (supported and decision.verdict == "deliver" and not decision.needs_judge):
        return decision
    reasons = [
        msgspec.structs.replace(reason, decisive=False) if supported else reason
        for reason in decision.reasons
        if reason.code != "meaning_not_checked"
    ]
    said = Reason(code="labelled_supported" if supported else "labelled_unsupported", decisive=not supported)
    return msgspec.structs.replace(
        decision,
        verdict="deliver" if supported else "human_review",
        needs_judge=False,
        doubtful=(),
        meaning_not_checked=(),
        p_unsupported=None,
        reasons=(said, *reasons),
        metrics=msgspec.structs.replace(
            decision.metrics, hallucination=not supported, quality_pass=supported, escalate=not supported
        ),
    )


def _about(decision: Decision, index: int, code: ReasonCode, *, decisive: bool) -> Reason:
    sentence = decision.sentences[index]
    return Reason(
        code=code,
        decisive=decisive,
        place=Place(start=sentence.start, end=sentence.end, text=sentence.text),
        document=sentence.document,
        sentence=index,
    )
