"""The grounding model: from features of a sentence to the probability that the documents do not support it."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from areopage.cases.records import Document
from areopage.evidence.sentences import Span, sentences
from areopage.gate.answer_features import answer_features
from areopage.gate.claims import Claim
from areopage.gate.linear import Linear, probability
from areopage.gate.records import Place
from areopage.gate.sentence_features import SentenceFacts, sentence_facts
from areopage.gate.source import Source
from areopage.gate.tokens import WORD, stem, stems


class GroundingModel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fitted weights, as they stand in a readable JSON file; `provenance` says on what and how they were fitted.

    Args:
        sentence: from a sentence's features to the log odds that it is not supported.
        answer: from those of all claims to the log odds that the answer says something unsupported.
    """

    name: str
    provenance: dict[str, Any]
    sentence: Linear
    answer: Linear


class SentenceGrounding(Struct, frozen=True, kw_only=True):
    """What was found about one sentence of the answer.

    Args:
        claim: false for a greeting, a question, a refusal, a closing.
        features: by name, as the model reads them.
        unsupported: the words, names, figures and references of the sentence that no document holds.
        claims: its figures and references, each with whether a document holds it.
        document: id of the document that supports it best, "" where none does at all.
        supporting: the place in that document which comes nearest; None where there is none.
    """

    start: int
    end: int
    text: str
    claim: bool
    p_unsupported: float
    features: dict[str, float]
    unsupported: tuple[Place, ...] = ()
    claims: tuple[Claim, ...] = ()
    document: str = ""
    supporting: Place | None = None


class Grounding(Struct, frozen=True, kw_only=True):
    """What the model says of a whole answer."""

    p_unsupported: float
    sentences: tuple[SentenceGrounding, ...]
    features: dict[str, float]


def ground(model: GroundingModel, prompt: str, response: str, documents: Sequence[Document], language: str) -> Grounding:
    """Check an answer sentence by sentence against its documents.

    Args:
        language: the answer's, "fr" or "en".

    Returns:
        The probabilities, with what they rest on. An answer without any claim has p_unsupported 0.
    """
    spans = sentences(response, language)
    source = Source(documents, frozenset(map(stem, WORD.findall(response))) - {""})
    question = frozenset(stems(prompt))
    checked: list[SentenceGrounding] = []
    logits: list[float] = []
    said: set[str] = set()
    for index, span in enumerate(spans):
        facts = sentence_facts(span.text, span.start, source, question, (index, len(spans)), said)
        claim = bool(facts.words) and not facts.features["closing"] and not facts.features["question"]
        logit = model.sentence.logit(facts.features) if claim else 0.0
        if claim:
            logits.append(logit)
        checked.append(_sentence(span, facts, source, probability(logit) if claim else 0.0, claim))
    features = answer_features(logits) if logits else {}
    p_unsupported = probability(model.answer.logit(features)) if logits else 0.0
    return Grounding(p_unsupported=p_unsupported, sentences=tuple(checked), features=features)


def _sentence(span: Span, facts: SentenceFacts, source: Source, p_unsupported: float, claim: bool) -> SentenceGrounding:
    """The record of one sentence."""
    supporting = source.place(facts.stretch) if facts.stretch >= 0 else None
    return SentenceGrounding(
        start=span.start,
        end=span.end,
        text=span.text,
        claim=claim,
        p_unsupported=p_unsupported,
        features=dict(facts.features),
        unsupported=tuple(
            Place(start=word.start, end=word.end, text=span.text[word.start - span.start : word.end - span.start])
            for word in facts.words
            if not (word.held or word.asked)
        ),
        document=supporting.document if supporting else "",
        supporting=supporting,
    )


def model_of(data: Mapping[str, Any]) -> GroundingModel:
    """The model that a file's contents hold.

    Raises:
        ValueError: a field is missing or wrong; the message names it.
    """
    return msgspec.convert(data, GroundingModel)
