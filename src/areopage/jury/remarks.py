"""Remarks on an answer, from judges' remarks or else their explanations."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from areopage.criteria import Criterion, Scale
from areopage.jury.judges import PlannedCall, Remarks
from areopage.jury.panel import Panel
from areopage.jury.reader import remarks_of
from areopage.ledger import Judgment, Verdict
from areopage.scoring import Scored, grade_of

_EXPLAINED = 2  # the specification asks for one or two sentences


class _Explained(Struct, frozen=True, kw_only=True):
    """A criterion with its score on the suite's scale and one explanation."""

    criterion: Criterion
    score: float
    text: str


def remarks_on(panel: Panel, calls: Sequence[PlannedCall], judgments: Mapping[str, Judgment]) -> Remarks:
    """Collect distinct remarks by judge; without remarks, use the explanations.

    An answer none of whose verdicts could be taken has no say here either.
    """
    remarks = [remarks_of(judgments[call.key]) for call in calls if call.key in judgments and _has_score(judgments[call.key])]
    merged = Remarks(
        feedback="\n".join(_distinct(remark.feedback for remark in remarks)),
        strengths=_distinct(text for remark in remarks for text in remark.strengths),
        weaknesses=_distinct(text for remark in remarks for text in remark.weaknesses),
        suggestions=_distinct(text for remark in remarks for text in remark.suggestions),
    )
    return merged if merged.feedback else _explained(panel, calls, judgments, merged)


def _explained(panel: Panel, calls: Sequence[PlannedCall], judgments: Mapping[str, Judgment], merged: Remarks) -> Remarks:
    """Build remarks from explanations, weakest criteria first; existing remarks are kept."""
    scales = {criterion.id: criterion.scale for criterion in panel.criteria}
    by_id = {criterion.id: criterion for criterion in panel.criteria}
    explanations = [
        _Explained(
            criterion=by_id[verdict.criterion],
            score=scales[verdict.criterion].map_to(verdict.outcome.score, panel.scale),
            text=verdict.outcome.explanation.strip(),
        )
        for call in calls
        if call.key in judgments
        for verdict in _in_order(judgments[call.key], call)
        if isinstance(verdict.outcome, Scored) and verdict.outcome.explanation.strip()
    ]
    explanations.sort(key=lambda explained: explained.score if panel.scale.higher_is_better else -explained.score)
    weakest = {explanation.criterion.id: explanation for explanation in reversed(explanations)}
    first = [explanation for explanation in explanations if weakest[explanation.criterion.id] is explanation]
    return Remarks(
        feedback=" ".join(_line(explained, panel.language) for explained in first[:_EXPLAINED]),
        strengths=merged.strengths or _lines(first, "excellent", panel),
        weaknesses=merged.weaknesses or _lines(first, "weak", panel),
        suggestions=merged.suggestions,
    )


def _in_order(judgment: Judgment, call: PlannedCall) -> list[Verdict]:
    """Sort verdicts in the call's order of criteria, which the ledger does not store."""
    order = [criterion.id for criterion in call.criteria]
    return sorted(judgment.verdicts, key=lambda verdict: order.index(verdict.criterion))


def _lines(explanations: Iterable[_Explained], grade: str, panel: Panel) -> tuple[str, ...]:
    """The explanations of criteria whose score lies in a grade."""
    return tuple(
        _line(explanation, panel.language) for explanation in explanations if _in_grade(explanation.score, panel.scale, grade)
    )


def _in_grade(score: float, scale: Scale, grade: str) -> bool:
    """Whether a score lies in a grade."""
    return grade_of(score, scale) == grade


def _line(explained: _Explained, language: str) -> str:
    """An explanation after its criterion's display name."""
    colon = "\u00a0:" if language.startswith("fr") else ":"
    return f"{explained.criterion.label or explained.criterion.name}{colon} {explained.text}"


def _has_score(judgment: Judgment) -> bool:
    """Whether any verdict of a judgment is a score."""
    return any(isinstance(verdict.outcome, Scored) for verdict in judgment.verdicts)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Remove empty and repeated texts; keeps the order."""
    return tuple(dict.fromkeys(text for text in texts if text))
