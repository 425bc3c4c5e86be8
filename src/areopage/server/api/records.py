"""What the API takes and gives, as JSON. The OpenAPI schema is made from these."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from areopage.ledger.operations import Alert
from areopage.ledger.records import Band, CriterionResult, EvaluationState

MOST_ITEMS = 1000

Moment = Annotated[datetime, Meta(extra_json_schema={"format": "date-time", "examples": ["2026-03-01T09:30:00Z"]})]
GivenId = Annotated[
    str, Meta(min_length=1, max_length=128, description="Yours; an answer is evaluated once per id.", examples=["chat-4711-3"])
]
Source = Annotated[str, Meta(max_length=128, description="Where the answer comes from.", examples=["helpdesk"])]
Variant = Annotated[str, Meta(max_length=64, description="Its side of an A/B test.", examples=["B"])]
Tongue = Annotated[str, Meta(max_length=16, description="The answer's; without it the monitor's.", examples=["fr"])]
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
        description="Texts, or objects with `text` and maybe `id`, `title`, `score`, `source`, `metadata`; `doc_titre` too.",
        examples=[[{"title": "Article 45", "text": "Trente jours ouvrables par an."}]],
    ),
]


class GivenAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An answer to evaluate. `question`, `answer` and `context_chunks` are other names of `prompt`, `response`, `documents`."""

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
    """Several answers at once: all are stored, or none."""

    items: Annotated[list[GivenAnswer], Meta(min_length=1, max_length=MOST_ITEMS)]


class Accepted(Struct, frozen=True, kw_only=True):
    """An answer that is stored. `new` is false where its id was known: nothing changed then."""

    id: str
    new: bool


class AcceptedAnswers(Struct, frozen=True, kw_only=True):
    """What became of the answers of one request, in their order."""

    items: list[Accepted]


class Result(Struct, frozen=True, kw_only=True):
    """What the jury made of an answer. Scores are on the suite's scale, times in UTC, `seconds` is spent on its calls.

    `standing` is what is known of the judges' fitness; "" where nothing is to be said against them.
    """

    score_global: float | None
    band: Band
    criteria: tuple[CriterionResult, ...]
    feedback: str
    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]
    suggestions: tuple[str, ...]
    reason: str
    standing: str
    spread: float | None
    scored: int
    planned: int
    suite: str
    suite_version: str
    run_id: str
    evaluated_at: Moment
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    cost: float | None
    currency: str


QualityDictionary = dict[str, float | str | None]
"""The quality score as an answer's payload carries it: a score for each criterion's short name, `score_global`, `feedback`."""


class EvaluationView(Struct, frozen=True, kw_only=True):
    """An answer and how far it has come. `quality_score` and `result` are null until it is evaluated.

    `erased`: its texts are gone for good, or were never kept.
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
    result: Result | None


class EvaluationEntry(Struct, frozen=True, kw_only=True):
    """An evaluated answer in a list."""

    id: str
    answered_at: Moment
    source: str
    variant: str
    language: str
    prompt: str
    response: str
    erased: bool
    quality_score: QualityDictionary
    result: Result


class EvaluationPage(Struct, frozen=True, kw_only=True):
    """Evaluated answers, the newest first. `next` is the `before` of the page that follows; null on the last one."""

    items: list[EvaluationEntry]
    next: int | None


class AlertPage(Struct, frozen=True, kw_only=True):
    """Alerts, the newest first."""

    items: list[Alert]


class GivenLabels(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one person makes of an answer. Keys of `scores` are criteria as `GET /v1/evaluations/{id}` names them; "" is overall.

    `rater` is the key's name; only an admin's key may give another.
    """

    answer_id: GivenId
    scores: Annotated[
        dict[str, float], Meta(min_length=1, max_length=100, examples=[{"": 7.0, "quality.answer.exactitude": 8.0}])
    ]
    note: Annotated[str, Meta(max_length=10_000)] = ""
    rater: Annotated[str, Meta(min_length=1, max_length=128)] | None = None


class StoredLabels(Struct, frozen=True, kw_only=True):
    """How many labels were stored, and whose they are."""

    stored: int
    rater: str


class Fault(Struct, frozen=True, kw_only=True):
    """What is wrong: `code` is for programs, `message` for people."""

    code: str
    message: str


class Faulty(Struct, frozen=True, kw_only=True):
    """The answer to a request that is not served."""

    error: Fault
