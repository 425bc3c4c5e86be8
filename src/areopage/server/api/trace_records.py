"""What the API takes and gives about answers on their way out, as JSON. The OpenAPI schema is made from these."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from areopage.cases.records import Document
from areopage.gate.records import Decision, GateVerdict, Reason, ReasonCode, SignalName
from areopage.ledger.records import Channel, Grounded, Mode, ReleaseState
from areopage.rag.records import MOST_PROMPT, Citation
from areopage.server.api.records import Chunks, Moment, Prompt

Noted = Literal["yes", "soon", "no"]
"""What is known of a trace when its request is answered: on the disk, about to be written, or not kept."""

MOST_RESPONSE = 500_000
MOST_NOTE = 10_000

Collection = Annotated[str, Meta(max_length=128, description='Where to look; "" takes the configured one.', examples=[""])]
Label = Annotated[str, Meta(max_length=128, description="A name of yours that keys may be scoped to.", examples=["handbook"])]
Session = Annotated[str, Meta(max_length=128, description="Your own id of the conversation.", examples=["chat-4711"])]
Response = Annotated[str, Meta(max_length=MOST_RESPONSE)]


class ChatRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question for the pipeline. `no_cache` neither reads nor writes the cache of answers."""

    question: Annotated[str, Meta(min_length=1, max_length=MOST_PROMPT, examples=["Combien de jours de congés payés ai-je ?"])]
    collection: Collection = ""
    sources_filter: Annotated[list[Annotated[str, Meta(max_length=256)]], Meta(max_length=100)] = []
    no_cache: bool = False
    session: Session = ""


class ChatReply(Struct, frozen=True, kw_only=True):
    """What the user gets. Where `verdict` is `human_review`, `held` is the path under which a person's decision is found later.

    `reasons` are sentences in the question's language; of a text that did not leave they quote nothing.
    """

    id: str
    answer: str
    verdict: GateVerdict
    mode: Mode
    confidence: float
    p_unsupported: float | None
    citations: tuple[Citation, ...]
    response_lang: str
    reasons: list[str]
    seconds: float
    held: str | None


class HeldReply(Struct, frozen=True, kw_only=True):
    """What became of an answer that was held back; `text` is what may be shown, "" unless it was released."""

    id: str
    state: ReleaseState
    text: str


class CheckRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An answer of another pipeline. `question`, `answer`, `context_chunks` are other names of `prompt`, `response`, `documents`.

    Documents stand as they were ranked; a `score` lies in [0, 1]. With `store` false nothing is kept, and nobody reviews it.
    """

    prompt: Prompt | None = None
    question: Prompt | None = None
    response: Response | None = None
    answer: Response | None = None
    documents: Chunks | None = None
    context_chunks: Chunks | None = None
    collection: Label = ""
    session: Session = ""
    store: bool = True


class ReasonView(Reason, frozen=True, kw_only=True):
    """A reason with the sentence that explains it. `sentence` is an index in `sentences`."""

    text: str


class SentenceView(Struct, frozen=True, kw_only=True):
    """A sentence of the answer, characters `start` to `end`. `document` is the id of the one that supports it best."""

    start: int
    end: int
    claim: bool
    p_unsupported: float | None
    document: str


class SignalView(Struct, frozen=True, kw_only=True):
    """One thing that the gate looked at; `value` is null where it does not apply."""

    name: SignalName
    value: float | None


class CheckReply(Decision, frozen=True, kw_only=True):
    """The gate's decision. `stored`: on the disk (`yes`), about to be (`soon`), or not kept (`no`).

    `needs_judge`: the answer lies in the grey band, and `verdict` is what the configuration does there without a judge.
    """

    id: str
    reasons: tuple[ReasonView, ...]
    sentences: tuple[SentenceView, ...]  # type: ignore[assignment]  # without their features
    signals: tuple[SignalView, ...]  # type: ignore[assignment]  # without places and times
    stored: Noted
    held: str | None


class TraceEntry(Struct, frozen=True, kw_only=True):
    """A trace in a list: a prompt, what the user read, and the specification's figures. `erased`: its texts are gone."""

    id: str
    at: Moment
    channel: Channel
    collection: str
    prompt: str
    delivered: str
    verdict: GateVerdict
    mode: Mode
    p_unsupported: float | None
    metrics: dict[str, float | bool | int | None]
    reasons: list[ReasonCode]
    language: str
    profile: str
    version: str
    erased: bool


class TracePage(Struct, frozen=True, kw_only=True):
    """Traces, the newest first. `next` is the `before` of the page that follows; null on the last one."""

    items: list[TraceEntry]
    next: int | None


class GroundingView(Struct, frozen=True, kw_only=True):
    """What one rater says of an answer. `sentences` are the indexes of those that no document supports."""

    rater: str
    grounded: Grounded
    sentences: tuple[int, ...]
    note: str
    origin: str
    created_at: Moment


class TraceView(TraceEntry, frozen=True, kw_only=True):
    """A trace with all that is known of it. `response` is what the model wrote; `release` is null unless it was held.

    `waiting`: how many answers wait for the same release, this one and equal ones; 0 where it does not wait.
    """

    response: str
    sources_filter: tuple[str, ...]
    documents: tuple[Document, ...]
    model: str
    session: str
    api_key: str
    seconds: float | None
    gate_seconds: float | None
    explanations: list[str]
    sentences: list[SentenceView]
    labels: list[GroundingView]
    release: HeldReply | None
    waiting: int


class Snapshot(Struct, frozen=True, kw_only=True):
    """The specification's snapshot of a question: what was found, what was written, and the figures."""

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


class GivenVerdict(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person makes of an answer. `sentences` are the indexes of those that no document supports.

    `action` releases a held-back answer (as `text`, or as it was generated) or refuses it. `rater` is the key's name; only an
    admin's key may give another.
    """

    grounded: Grounded
    sentences: Annotated[list[Annotated[int, Meta(ge=0, le=100_000)]], Meta(max_length=1000)] = []
    note: Annotated[str, Meta(max_length=MOST_NOTE)] = ""
    action: Literal["release", "refuse"] | None = None
    text: Annotated[str, Meta(max_length=MOST_RESPONSE)] | None = None
    rater: Annotated[str, Meta(min_length=1, max_length=128)] | None = None


class StoredVerdict(Struct, frozen=True, kw_only=True):
    """What is known after a verdict: whose it is, and how the answer stands; `state` is null where it was never held back.

    `settled`: how many answers the action released or refused, this one and equal ones that waited; 0 without an action.
    """

    id: str
    rater: str
    state: ReleaseState | None
    settled: int
