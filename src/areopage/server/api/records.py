"""JSON records of the API; the OpenAPI schema is generated from them."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from areopage.cases import Document
from areopage.gate import AskedJudge, Change, Decision, GateVerdict, Reason, ReasonCode, SignalName
from areopage.ledger import Alert, Channel, EvaluationState, Grounded, Mode, PanelResult, ReleaseState
from areopage.monitor import PeriodFigures
from areopage.review import MAX_CORRECTION, AgreementReport, RaterDisagreement, ReviewProgress

MOST_ITEMS = 1000

Moment = Annotated[datetime, Meta(extra_json_schema={"format": "date-time", "examples": ["2026-03-01T09:30:00Z"]})]
GivenId = Annotated[
    str, Meta(min_length=1, max_length=128, description="Your id; an answer is evaluated once per id.", examples=["chat-4711-3"])
]
SourceName = Annotated[str, Meta(max_length=128, description="Origin of the answer.", examples=["helpdesk"])]
Variant = Annotated[str, Meta(max_length=64, description="Variant in an A/B test.", examples=["B"])]
Tongue = Annotated[
    str, Meta(max_length=16, description="Language (ISO 639) of the answer; default: the monitor's.", examples=["fr"])
]
TraceId = Annotated[
    str,
    Meta(max_length=128, description="Trace of the call in your own tracing.", examples=["0af7651916cd43dd8448eb211c80319c"]),
]
Age = Annotated[str | int, Meta(description="Age of the reader: years, a range or a word.", examples=["9-12"])]
Text = Annotated[str, Meta(min_length=1, max_length=500_000)]
Noted = Literal["yes", "soon", "no"]
"""Storage of a trace when the request returns: stored, about to be stored, or not stored."""

MOST_RESPONSE = 500_000
MOST_NOTE = 10_000

Collection = Annotated[str, Meta(max_length=128, description='Collection to search; "" is the configured one.', examples=[""])]
CollectionLabel = Annotated[
    str, Meta(max_length=128, description="Your name of the collection; keys can be limited to it.", examples=["handbook"])
]
SessionId = Annotated[str, Meta(max_length=128, description="Your id of the conversation.", examples=["chat-4711"])]
Response = Annotated[str, Meta(max_length=MOST_RESPONSE)]


class WireTurn(Struct, frozen=True, kw_only=True):
    """One message of a conversation, as in OpenAI's protocol. Instructions (`system`) and tool calls are not judged."""

    role: Literal["user", "assistant", "system", "developer", "tool", "function"]
    content: Text | list[dict[str, Any]] | None = None


GivenPrompt = (
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
    prompt: GivenPrompt | None = None
    question: GivenPrompt | None = None
    response: Text | None = None
    answer: Text | None = None
    documents: Chunks | None = None
    context_chunks: Chunks | None = None
    source: SourceName | None = None
    variant: Variant | None = None
    language: Tongue | None = None
    age: Age | None = None
    answered_at: Moment | None = None
    trace_id: TraceId | None = None
    metadata: dict[str, Any] | None = None


class GivenAnswers(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Several answers. An id under which another answer is stored is refused (409); the other answers are stored."""

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
    """An answer and its state. `quality_score` and `result` are null until it is evaluated, and where it is read blind.

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
    documents: list[Document]
    metadata: dict[str, Any]
    trace_id: str
    erased: bool
    quality_score: QualityDictionary | None
    result: PanelResult | None


class EvaluationPage(Struct, frozen=True, kw_only=True):
    """Evaluated answers, newest first. `next` is the `before` of the next page; null on the last page."""

    items: list[EvaluationView]
    next: int | None


class AlertPage(Struct, frozen=True, kw_only=True):
    """Alerts, newest first. `open` counts all open alerts by rule; `next` is the `before` of the next page, null on the last."""

    items: list[Alert]
    open: dict[str, int]
    next: int | None


class GivenOpinion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a rater says beside labels; `correction` is what the answer should have said.

    `rater` defaults to the key's name; only an admin key may give another name.
    """

    note: Annotated[str, Meta(max_length=MOST_NOTE)] = ""
    correction: Annotated[str, Meta(max_length=MAX_CORRECTION)] = ""
    rater: Annotated[str, Meta(min_length=1, max_length=128)] | None = None


class GivenLabels(GivenOpinion, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The labels of a rater. Keys of `scores` are criteria as in `GET /v1/evaluations/{id}`; "" is the overall score.

    `correction` is what the answer should have said. `rater` defaults to the key's name; only an admin key may give another name.
    """

    answer_id: GivenId
    scores: Annotated[
        dict[str, float], Meta(min_length=1, max_length=100, examples=[{"": 7.0, "quality.answer.exactitude": 8.0}])
    ]


class GivenAdjudication(GivenLabels, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What decides between raters who disagree on an answer; `grounded`: whether the documents support it."""

    scores: Annotated[dict[str, float], Meta(max_length=100, examples=[{"quality.answer.exactitude": 8.0}])] = {}
    grounded: Literal["", "yes", "partly", "no"] = ""


class UndoneLabels(Struct, frozen=True, kw_only=True):
    """What was undone: labels of one answer that were given together, or an adjudication; "" is the overall score."""

    answer_id: str
    rater: str
    scores: dict[str, float]
    adjudication: bool


class GivenUndo(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose last label is undone: `rater` defaults to the key's name; only an admin key may give another name."""

    rater: Annotated[str, Meta(min_length=1, max_length=128)] | None = None


class DisagreementPage(Struct, frozen=True, kw_only=True):
    """The answers on which raters disagree, not adjudicated."""

    items: list[RaterDisagreement]


class StoredLabels(Struct, frozen=True, kw_only=True):
    """The number of stored labels and their rater.

    `blind`: the rater had read neither the judges' scores of this answer nor the labels of raters who disagree on it. Only blind
    labels measure judges; `remark` says so where they are not.
    """

    stored: int
    rater: str
    blind: bool
    remark: str = ""


class Fault(Struct, frozen=True, kw_only=True):
    """An error: `code` for programs, `message` for people."""

    code: str
    message: str


class Faulty(Struct, frozen=True, kw_only=True):
    """The response to a failed request."""

    error: Fault


class HeldReply(Struct, frozen=True, kw_only=True):
    """The review state of a held answer; `text` is the released text, else ""."""

    id: str
    state: ReleaseState
    text: str


class CheckRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An answer of another pipeline. `question`, `answer`, `context_chunks` are synonyms of `prompt`, `response`, `documents`.

    Documents are in ranking order; a `score` is in [0, 1], and counts with the rule `foreign_scores: compared`.
    With `store` false the decision is not stored or reviewed. With `judge` false no judge is asked.
    """

    prompt: GivenPrompt | None = None
    question: GivenPrompt | None = None
    response: Response | None = None
    answer: Response | None = None
    documents: Chunks | None = None
    context_chunks: Chunks | None = None
    collection: CollectionLabel = ""
    session: SessionId = ""
    store: bool = True
    judge: bool = True


class ReasonView(Reason, frozen=True, kw_only=True):
    """A reason with the sentence that explains it. `sentence` is an index in `sentences`."""

    text: str


class SentenceView(Struct, frozen=True, kw_only=True):
    """A sentence of the answer, characters `start` to `end`. `document` is the id of the most similar document.

    `changes`: what it changes of a sentence of that document that it nearly copies.
    """

    start: int
    end: int
    claim: bool
    p_unsupported: float | None
    document: str
    changes: tuple[Change, ...]


class SignalView(Struct, frozen=True, kw_only=True):
    """A signal of the gate; `value` is null if the signal does not apply."""

    name: SignalName
    value: float | None


class CheckReply(Decision, frozen=True, kw_only=True):
    """The gate's decision. `stored`: stored (`yes`), about to be stored (`soon`), or not stored (`no`).

    `needs_judge`: the answer is in the grey band and no judge was asked; `verdict` is the configured verdict without a judge.
    """

    id: str
    reasons: tuple[ReasonView, ...]
    sentences: tuple[SentenceView, ...]  # type: ignore[assignment]  # without their features
    signals: tuple[SignalView, ...]  # type: ignore[assignment]  # without places and times
    stored: Noted
    held: str | None


class TraceEntry(Struct, frozen=True, kw_only=True):
    """A trace in a list: prompt, delivered text and the metrics of the documented rules. `erased`: its texts were erased."""

    id: str
    at: Moment
    channel: Channel
    collection: str
    prompt: str
    delivered: str
    verdict: GateVerdict
    mode: Mode
    p_unsupported: float | None
    meaning_not_checked: int | None
    metrics: dict[str, float | bool | int | None]
    reasons: list[ReasonCode]
    language: str
    profile: str
    version: str
    erased: bool


class TracePage(Struct, frozen=True, kw_only=True):
    """Traces, newest first. `next` is the `before` of the next page; null on the last page."""

    items: list[TraceEntry]
    next: int | None


class GroundingView(Struct, frozen=True, kw_only=True):
    """A rater's label of an answer. `sentences` are the indexes of unsupported sentences, `correction` is a better answer.

    `decides`: it decides between raters who disagree, and counts in place of their labels.
    """

    rater: str
    grounded: Grounded
    sentences: tuple[int, ...]
    note: str
    correction: str
    decides: bool
    origin: str
    blind: bool
    created_at: Moment


class TraceView(TraceEntry, frozen=True, kw_only=True):
    """A trace with all details. `response` is the generated text; `release` is null unless the answer was held.

    `waiting`: number of equal answers that wait for the same review, this one included.
    """

    response: str
    sources_filter: tuple[str, ...]
    documents: tuple[Document, ...]
    model: str
    session: str
    api_key: str
    seconds: float | None
    gate_seconds: float | None
    judge: AskedJudge | None
    explanations: list[str]
    sentences: list[SentenceView]
    labels: list[GroundingView]
    release: HeldReply | None
    waiting: int


class Snapshot(Struct, frozen=True, kw_only=True):
    """The documented snapshot of a question: documents, generated text and metrics."""

    id: str
    timestamp: Moment
    question: str
    documents: tuple[Document, ...]
    sources: list[str]
    generation: str
    metrics: dict[str, float | bool | int | None]


class Latest(Struct, frozen=True, kw_only=True):
    """The latest trace of a question: its metrics, and its snapshot."""

    metrics: dict[str, Any]
    snapshot: Snapshot


class GivenVerdict(GivenOpinion, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A reviewer's verdict. `sentences` are the indexes of unsupported sentences; `correction` is a better answer.

    `action` releases a held answer (as `text`, or as generated) or rejects it. `rater` defaults to the key's name; only an
    admin key may give another name. `blind`: the rater had not seen the gate's decision; only such labels certify a risk.
    """

    grounded: Grounded
    sentences: Annotated[list[Annotated[int, Meta(ge=0, le=100_000)]], Meta(max_length=1000)] = []
    action: Literal["release", "refuse"] | None = None
    text: Annotated[str, Meta(max_length=MOST_RESPONSE)] | None = None
    blind: bool = False


class StoredVerdict(Struct, frozen=True, kw_only=True):
    """A stored verdict and the review state; `state` is null if the answer was never held.

    `settled`: number of answers that the action released or rejected, equal ones included; 0 without an action.
    """

    id: str
    rater: str
    state: ReleaseState | None
    settled: int


class Health(Struct, frozen=True, kw_only=True):
    """How the server is; `reason` is "" where it is well. A server whose judges fail is "ok", as it accepts answers."""

    status: Literal["ok", "unavailable"]
    reason: str = ""


RECORDS = (
    *(AcceptedAnswers, AgreementReport, AlertPage, GivenAnswer, GivenAnswers, CheckReply, CheckRequest),
    *(EvaluationPage, EvaluationView, Faulty, GivenLabels, GivenVerdict, Health, HeldReply, Latest, PeriodFigures),
    *(StoredLabels, StoredVerdict, TracePage, TraceView, ReviewProgress, UndoneLabels),
    *(DisagreementPage, GivenAdjudication, GivenUndo),
)
"""The bodies of requests and responses."""
