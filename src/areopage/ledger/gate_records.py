"""What the ledger holds of the gate: answers on their way out, what became of them, and what people said of those held back."""

from datetime import datetime
from typing import Literal

from msgspec import Struct, structs

from areopage.cases.records import Document
from areopage.gate.records import Decision, GateVerdict

ExchangeOrigin = Literal["chat", "check", "import"]
Mode = Literal["generated", "cached", "fallback", "human_review", "shadow"]
"""Where the text that the user got comes from. `shadow`: generated and delivered although the gate would not have let it out."""

GATE_RUN = "gate-"
"""The beginning of the ids of the runs that the judgments of the grey band's judges belong to."""

Grounded = Literal["yes", "partly", "no"]
ReleaseState = Literal["waiting", "released", "refused"]


class Exchange(Struct, frozen=True, kw_only=True):
    """A question, its answer, and the gate's decision: one row of `exchanges`.

    Args:
        id: 32 hexadecimal digits; a client finds a held-back answer under it.
        origin: `chat` (our pipeline), `check` (somebody else's pipeline asked the gate), `import` (logs of an older system).
        question, generation: the prompt, and the response as it was generated; "" where none was.
        answer: what the user got; "" for `check`.
        documents: those that the gate saw, in the retriever's order.
        decision: the gate's; None for imported rows, whose figures stand in `metrics` all the same.
        metrics: the specification's figures by name; a figure that an old log lacks is None.
        judgments: keys of the judgments that were asked for about its sentences; they are not read back.
        session, key: who asked, by the client's own session id and the API key's name; may be "".
        seconds: from the question to the answer; `gate_seconds` is the decision's part, None where it is not known.
        erased: its texts are gone for good; what is counted of it stays.
    """

    number: int = 0
    id: str
    at: datetime
    origin: ExchangeOrigin
    collection: str = ""
    sources_filter: tuple[str, ...] = ()
    question: str
    generation: str
    answer: str
    documents: tuple[Document, ...]
    verdict: GateVerdict
    mode: Mode
    decision: Decision | None
    metrics: dict[str, float | bool | int | None]
    p_unsupported: float | None = None
    response_lang: str = ""
    model: str = ""
    profile: str = ""
    version: str = ""
    session: str = ""
    key: str = ""
    seconds: float | None = None
    gate_seconds: float | None = None
    judgments: tuple[str, ...] = ()
    erased: bool = False


def decided_exchange(
    decision: Decision,
    *,
    id: str,
    at: datetime,
    origin: ExchangeOrigin,
    collection: str,
    question: str,
    generation: str,
    answer: str,
    documents: tuple[Document, ...],
    mode: Mode,
    response_lang: str,
    sources_filter: tuple[str, ...] = (),
    model: str = "",
    session: str = "",
    key: str = "",
    seconds: float | None = None,
    gate_seconds: float | None = None,
    judgments: tuple[str, ...] = (),
) -> Exchange:
    """The exchange of an answer that the gate has just decided on: all that the decision says of it stands in its place.

    Args: see `Exchange`.
    """
    return Exchange(
        id=id,
        at=at,
        origin=origin,
        collection=collection,
        sources_filter=sources_filter,
        question=question,
        generation=generation,
        answer=answer,
        documents=documents,
        verdict=decision.verdict,
        mode=mode,
        decision=decision,
        metrics=structs.asdict(decision.metrics),
        p_unsupported=decision.p_unsupported,
        response_lang=response_lang,
        model=model,
        profile=decision.profile,
        version=decision.version,
        session=session,
        key=key,
        seconds=seconds,
        gate_seconds=gate_seconds,
        judgments=judgments,
    )


class GroundingLabel(Struct, frozen=True, kw_only=True):
    """What a reviewer says of an answer. `sentences` are the indexes (in the decision) of those that no document supports."""

    exchange_id: str
    rater: str
    grounded: Grounded
    sentences: tuple[int, ...] = ()
    note: str = ""
    origin: Literal["web", "api", "cli", "import"]
    created_at: datetime


class Release(Struct, frozen=True, kw_only=True):
    """What became of a held-back answer. `text` is what the client may show, maybe edited by the reviewer; "" unless released."""

    exchange_id: str
    state: ReleaseState
    text: str = ""
    rater: str = ""
    at: datetime | None = None


class ExchangeFilter(Struct, frozen=True, kw_only=True):
    """Which exchanges are wanted; None and () mean any. `since` and `until` are UTC, `until` is exclusive."""

    since: datetime | None = None
    until: datetime | None = None
    origins: tuple[ExchangeOrigin, ...] = ()
    verdict: GateVerdict | None = None
    collection: str | None = None
    question: str | None = None
    unlabelled: bool = False


class ExchangeSummary(Struct, frozen=True, kw_only=True):
    """Counts of a period, formed by the database.

    Args:
        reasons: how many exchanges each reason decided, the most frequent first.
        confidences, p_unsupported: histograms of 20 equal bins over [0, 1].
        labelled: exchanges with labels; `ungrounded_delivered`: those of them that went out though people say no, or partly.
    """

    exchanges: int
    verdicts: dict[str, int]
    modes: dict[str, int]
    reasons: dict[str, int]
    languages: dict[str, int]
    confidences: tuple[int, ...]
    p_unsupported: tuple[int, ...]
    labelled: int
    ungrounded_delivered: int
