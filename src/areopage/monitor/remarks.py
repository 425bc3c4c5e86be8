"""What is said of an answer in words: the judges' own remarks, or else what their explanations give."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from areopage.criteria.records import Criterion, Scale
from areopage.jury.judges import PlannedCall, Remarks
from areopage.jury.reader import remarks_of
from areopage.ledger.records import Judgment
from areopage.monitor.terms import Terms
from areopage.scoring.counts import band_of
from areopage.scoring.outcome import Scored

EXPLAINED = 2  # the specification asks for one or two sentences


class Explained(Struct, frozen=True, kw_only=True):
    """A criterion with its score, on the suite's scale, and one explanation."""

    criterion: Criterion
    score: float
    text: str


def words_about(terms: Terms, calls: Sequence[PlannedCall], judgments: Mapping[str, Judgment]) -> Remarks:
    """The remarks of joint answers, judge by judge, each distinct one once; without any, the explanations of single verdicts.

    An answer none of whose verdicts could be taken has no say here either.
    """
    found = [remarks_of(judgments[call.key]) for call in calls if call.key in judgments and has_score(judgments[call.key])]
    merged = Remarks(
        feedback="\n".join(distinct(one.feedback for one in found)),
        strengths=distinct(text for one in found for text in one.strengths),
        weaknesses=distinct(text for one in found for text in one.weaknesses),
        suggestions=distinct(text for one in found for text in one.suggestions),
    )
    return merged if merged.feedback else explained(terms, calls, judgments, merged)


def explained(terms: Terms, calls: Sequence[PlannedCall], judgments: Mapping[str, Judgment], merged: Remarks) -> Remarks:
    """Remarks made of the explanations of the criteria, the weakest first; what judges did remark is kept."""
    scales = {one.id: one.scale for one in terms.criteria}
    by_id = {one.id: one for one in terms.criteria}
    explanations = [
        Explained(
            criterion=by_id[verdict.criterion],
            score=scales[verdict.criterion].map_to(verdict.outcome.score, terms.scale),
            text=verdict.outcome.explanation.strip(),
        )
        for call in calls
        if call.key in judgments
        for verdict in judgments[call.key].verdicts
        if isinstance(verdict.outcome, Scored) and verdict.outcome.explanation.strip()
    ]
    explanations.sort(key=lambda one: one.score if terms.scale.higher_is_better else -one.score)
    weakest = {one.criterion.id: one for one in reversed(explanations)}
    first = [one for one in explanations if weakest[one.criterion.id] is one]
    return Remarks(
        feedback=" ".join(line(one, terms.language) for one in first[:EXPLAINED]),
        strengths=merged.strengths or lines(first, "excellent", terms),
        weaknesses=merged.weaknesses or lines(first, "weak", terms),
        suggestions=merged.suggestions,
    )


def lines(explanations: Iterable[Explained], band: str, terms: Terms) -> tuple[str, ...]:
    """The explanations of the criteria whose score lies in a band."""
    return tuple(line(one, terms.language) for one in explanations if in_band(one.score, terms.scale, band))


def in_band(score: float, scale: Scale, band: str) -> bool:
    """Whether a score lies in a band."""
    return band_of(score, scale) == band


def line(one: Explained, language: str) -> str:
    """An explanation led by what people call its criterion."""
    colon = "\u00a0:" if language.startswith("fr") else ":"
    return f"{one.criterion.label or one.criterion.name}{colon} {one.text}"


def has_score(judgment: Judgment) -> bool:
    """Whether any verdict of a judgment is a score."""
    return any(isinstance(verdict.outcome, Scored) for verdict in judgment.verdicts)


def distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Texts in order, empty ones and repetitions left out."""
    return tuple(dict.fromkeys(text for text in texts if text))
