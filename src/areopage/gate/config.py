"""What the gate decides by. Everything here is in the decision's `version`."""

from typing import Any, Literal

from msgspec import Struct

from areopage.gate.grounding.claims import ClaimKind
from areopage.gate.grounding.model import GroundingModel

ProfileName = Literal["default", "v1_1"]


class Thresholds(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every bound that a verdict depends on.

    Args:
        relevance: the best document's score from which documents are relevant at all.
        confidence: confidence (0.8 × avg_score) from which an answer may leave.
        escalate_confidence: under it what does not pass goes to people.
        overlap: overlap_ratio from which the answer counts as cited (v1_1), in [0, 1].
        deliver: p_unsupported up to which an answer leaves.
        hold: p_unsupported from which it is held back; between `deliver` and `hold` lies the grey band (empty where equal).
    """

    relevance: float = 0.5
    confidence: float = 0.35
    escalate_confidence: float = 0.25
    overlap: float = 0.35
    deliver: float = 0.24
    hold: float = 0.24


class GateConfig(Struct, frozen=True, kw_only=True):
    """The gate's rules.

    Args:
        profile: `default`, or `v1_1`: the documented rule to the letter.
        mended_patterns: v1_1 alone: find whole years and all writings of amounts, instead of the two documented expressions.
        top: so many documents count, the first ones.
        confidence_factor: confidence = factor × avg_score.
        snippet: v1_1: so many first characters of a document are looked for verbatim.
        hard: kinds of claims that must stand in a document, where the answer's words stand; one that does not is decisive.
        citations: `required`: an answer without a known id does not pass; `checked`: ids that no document has are decisive;
            `ignored`.
        language: what becomes of an answer in another language than its question: only told, or sent to the fallback.
        grey_band: whether a judge may be asked between the thresholds.
        unsettled: what is done in the grey band where no judge answers: hold back (fails closed) or deliver.
        max_characters: a longer answer is not read to its end: it is held back.
        grounding: the grounding model; None under v1_1.
        tuned: where thresholds and weights come from: the tuner's statement, {} for the shipped ones.
    """

    profile: ProfileName = "default"
    mended_patterns: bool = False
    top: int = 5
    confidence_factor: float = 0.8
    snippet: int = 200
    thresholds: Thresholds = Thresholds()
    hard: tuple[ClaimKind, ...] = ("amount", "percentage", "date", "duration", "reference")
    citations: Literal["required", "checked", "ignored"] = "checked"
    language: Literal["told", "fallback"] = "told"
    grey_band: bool = False
    unsettled: Literal["hold", "deliver"] = "hold"
    max_characters: int = 100_000
    grounding: GroundingModel | None = None
    tuned: dict[str, Any] = {}
