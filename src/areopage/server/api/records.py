"""JSON records of the API; the OpenAPI schema is generated from them."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from areopage.ledger.operations import Alert
from areopage.ledger.records import EvaluationState, PanelResult

MOST_ITEMS = 1000

Moment = Annotated[datetime, Meta(extra_json_schema={"format": "date-time", "examples": ["2026-03-01T09:30:00Z"]})]
GivenId = Annotated[
    str, Meta(min_length=1, max_length=128, description="Your id; an answer is evaluated once per id.", examples=["chat-4711-3"])
]
Source = Annotated[str, Meta(max_length=128, description="Origin of the answer.", examples=["helpdesk"])]
Variant = Annotated[str, Meta(max_length=64, description="Variant in an A/B test.", examples=["B"])]
Tongue = Annotated[str, Meta(max_length=16, description="Language of the answer; default: the monitor's.", examples=["fr"])]
Text = Annotated[str, Meta(min_length=1, max_length=500_000)]


class WireTurn(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One turn of a conversation."""

    role: Literal["user", "assistant"]
    content: Text


Prompt = (
    Annotated[str, Meta(min_length=1, max_length=500_000, examples=["Combien de jours de congés payés ai-je ?"])]
    | Annotated[list[WireTurn], Meta(min_length=1, max_length=1000)]
)
Chunks = Annotated[
    list[Annotated[str, Meta(min_length=1)] | dict[str, Any]],
    Meta(
        max_length=500,
        description="Texts, or objects with `text` and optional `id`, `title` (or `doc_titre`), `score`, `source`, `metadata`.",
        examples=[[{"title": "Article 45", "text": "Trente jours ouvrables par an."}]],
    ),
]


class GivenAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An answer to evaluate. `question`, `answer` and `context_chunks` are synonyms of `prompt`, `response` and `documents`."""

    id: GivenId | None = None
    prompt: Prompt | None = None
    question: Prompt | None = None
    response: Text | None = None
    answer: Text | None = None
    documents: Chunks | None = None
    context_chunks: Chunks | None = None
    source: Source | None = None
    variant: Variant | None = None
    language: Tongue | None = None
    answered_at: Moment | None = None
    metadata: dict[str, Any] | None = None


class GivenAnswers(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Several answers: all are stored, or none."""

    items: Annotated[list[GivenAnswer], Meta(min_length=1, max_length=MOST_ITEMS)]


class Accepted(Struct, frozen=True, kw_only=True):
    """A stored answer. `new` is false if the id was known; the stored answer did not change."""

    id: str
    new: bool


class AcceptedAnswers(Struct, frozen=True, kw_only=True):
    """The stored answers of a request, in order."""

    items: list[Accepted]


QualityDictionary = dict[str, float | str | None]
"""The quality score: a score by short criterion name, `score_global` and `feedback`."""


class EvaluationView(Struct, frozen=True, kw_only=True):
    """An answer and its state. `quality_score` and `result` are null until it is evaluated.

    `erased`: its texts were erased or never stored.
    """

    id: str
    state: EvaluationState
    attempts: int
    reason: str
    received_at: Moment
    answered_at: Moment
    source: str
    variant: str
    language: str
    prompt: str
    response: str
    erased: bool
    quality_score: QualityDictionary | None
    result: PanelResult | None


class EvaluationPage(Struct, frozen=True, kw_only=True):
    """Evaluated answers, newest first. `next` is the `before` of the next page; null on the last page."""

    items: list[EvaluationView]
    next: int | None


class AlertPage(Struct, frozen=True, kw_only=True):
    """Alerts, newest first."""

    items: list[Alert]


class GivenLabels(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The labels of a rater. Keys of `scores` are criteria as in `GET /v1/evaluations/{id}`; "" is the overall score.

    `rater` defaults to the key's name; only an admin key may give another name.
    """

    answer_id: GivenId
    scores: Annotated[
        dict[str, float], Meta(min_length=1, max_length=100, examples=[{"": 7.0, "quality.answer.exactitude": 8.0}])
    ]
    note: Annotated[str, Meta(max_length=10_000)] = ""
    rater: Annotated[str, Meta(min_length=1, max_length=128)] | None = None


class StoredLabels(Struct, frozen=True, kw_only=True):
    """The number of stored labels and their rater."""

    stored: int
    rater: str


class Fault(Struct, frozen=True, kw_only=True):
    """An error: `code` for programs, `message` for people."""

    code: str
    message: str


class Faulty(Struct, frozen=True, kw_only=True):
    """The response to a failed request."""

    error: Fault
