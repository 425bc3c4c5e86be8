"""The configuration of the gate. All of it is part of a decision's `version`."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from areopage.gate.grounding.claims import ClaimKind
from areopage.gate.grounding.model import GroundingModel

ProfileName = Literal["default", "v1_1"]


class Thresholds(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The bounds of verdicts. The grey band lies between `deliver` and `hold`; it is empty where they are equal."""

    relevance: Annotated[
        float, Meta(ge=0, le=1, description="score of the best document, from which documents are relevant at all")
    ] = 0.5
    confidence: Annotated[float, Meta(ge=0, le=1, description="confidence from which an answer may leave")] = 0.35
    escalate_confidence: Annotated[
        float, Meta(ge=0, le=1, description="under it an answer that does not pass goes to people")
    ] = 0.25
    overlap: Annotated[float, Meta(ge=0, le=1, description="overlap from which an answer counts as cited")] = 0.35
    deliver: Annotated[
        float, Meta(ge=0, le=1, description="probability of something unsupported, up to which an answer leaves")
    ] = 0.24
    hold: Annotated[float, Meta(ge=0, le=1, description="from which it is held back; between both lies the grey band")] = 0.24


class GateConfig(Struct, frozen=True, kw_only=True):
    """The gate's rules, which are also the section `gate` of `areopage.yml`.

    `top` 0 reads all documents; under v1_1 the first five.
    `grounding` is None under v1_1, which asks no model; in a file it is a file of weights, or `default`. `tuned` is the tuner's
    statement of where thresholds and weights come from, {} for the shipped ones.
    """

    profile: Annotated[ProfileName, Meta(description="default, or v1_1: the documented rule to the letter")] = "default"
    mended_patterns: Annotated[bool, Meta(description="v1_1 alone: whole years and all writings of amounts")] = False
    top: Annotated[
        int, Meta(ge=0, description="the most documents to read: those that are cited, then the best by score; 0: all")
    ] = 0
    confidence_factor: Annotated[float, Meta(gt=0, description="confidence = factor × mean of the documents' scores")] = 0.8
    snippet: Annotated[
        int, Meta(ge=1, description="the number of first characters of a document that are looked for word by word")
    ] = 200
    thresholds: Thresholds = Thresholds()
    hard: Annotated[
        tuple[ClaimKind, ...], Meta(description="kinds that must stand in a document; also: quantity (3 witnesses)")
    ] = ("amount", "percentage", "date", "duration", "reference", "contact", "code", "number", "weekday", "name")
    citations: Annotated[
        Literal["required", "checked", "ignored"],
        Meta(description="required, checked (ids that do not exist are held back), ignored"),
    ] = "checked"
    language: Annotated[
        Literal["told", "fallback"], Meta(description="another language than the question's: told, or fallback")
    ] = "told"
    grey_band: Annotated[bool, Meta(description="whether a judge may be asked between deliver and hold")] = False
    unsettled: Annotated[
        Literal["hold", "deliver"], Meta(description="in the grey band without a judge's word: hold, or deliver")
    ] = "hold"
    near_copies: Annotated[
        Literal["flag", "hold"],
        Meta(
            description="a sentence that nearly copies a document, its meaning not checked: flag, or hold; a judge is asked first"
        ),
    ] = "flag"
    foreign_scores: Annotated[
        Literal["ignored", "compared"],
        Meta(description="scores of another retriever: ignored, or compared with relevance and confidence (in [0, 1])"),
    ] = "ignored"
    max_characters: Annotated[int, Meta(ge=1, description="a longer answer is held back unread")] = 100_000
    grounding: Annotated[GroundingModel | None, Meta(description="weights of the grounding model: a file, or default")] = None
    tuned: dict[str, Any] = {}
