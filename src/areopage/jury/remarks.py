"""Remarks on an answer, from judges' remarks or else their explanations."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from areopage.criteria import Criterion
from areopage.jury.judges import PlannedCall
from areopage.jury.panel import Panel
from areopage.jury.reader import Remarks, remarks_of
from areopage.ledger import Judgment
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
    made = [judgments[call.key] for call in calls if call.key in judgments]
    remarks = [
        remarks_of(judgment) for judgment in made if any(isinstance(outcome, Scored) for outcome in judgment.outcomes.values())
    ]
    merged = Remarks(
        feedback="\n".join(_distinct(remark.feedback for remark in remarks)),
        strengths=_distinct(text for remark in remarks for text in remark.strengths),
        weaknesses=_distinct(text for remark in remarks for text in remark.weaknesses),
        suggestions=_distinct(text for remark in remarks for text in remark.suggestions),
    )
    return merged if merged.feedback else _explained(panel, calls, judgments, merged)


def _explained(panel: Panel, calls: Sequence[PlannedCall], judgments: Mapping[str, Judgment], merged: Remarks) -> Remarks:
    """Build remarks from explanations, weakest criteria first; existing remarks are kept."""
    explanations: list[_Explained] = []
    for call in calls:
        outcomes = judgments[call.key].outcomes if call.key in judgments else {}
        for criterion in call.criteria:  # in their order, which the ledger does not store
            outcome = outcomes.get(criterion.id)
            if isinstance(outcome, Scored) and (text := outcome.explanation.strip()):
                score = criterion.scale.map_to(outcome.score, panel.scale)
                explanations.append(_Explained(criterion=criterion, score=score, text=text))
    explanations.sort(key=lambda explained: explained.score if panel.scale.higher_is_better else -explained.score)
    weakest = {explanation.criterion.id: explanation for explanation in reversed(explanations)}
    first = [explanation for explanation in explanations if weakest[explanation.criterion.id] is explanation]
    return Remarks(
        feedback=" ".join(_line(explained, panel.language) for explained in first[:_EXPLAINED]),
        strengths=merged.strengths or _lines(first, "excellent", panel),
        weaknesses=merged.weaknesses or _lines(first, "weak", panel),
        suggestions=merged.suggestions,
    )


def _lines(explanations: Iterable[_Explained], grade: str, panel: Panel) -> tuple[str, ...]:
    return tuple(
        _line(explained, panel.language) for explained in explanations if grade_of(explained.score, panel.scale) == grade
    )


def _line(explained: _Explained, language: str) -> str:
    colon = "\u00a0:" if language.startswith("fr") else ":"
    return f"{explained.criterion.label or explained.criterion.name}{colon} {explained.text}"


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))
