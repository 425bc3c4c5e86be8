"""Answers on their way through the gate as the ledger holds them: traces, and what became of held answers."""

from datetime import datetime
from typing import Literal

from msgspec import Struct, structs

from areopage.cases import Document
from areopage.gate import Decision, GateVerdict, JudgeTrust
from areopage.ledger.tables.records import Answer

Channel = Literal["chat", "check", "import"]
"""`chat`: the pipeline answered; `check`: another pipeline asked the gate; `import`: logs of an older system."""


Mode = Literal["generated", "cached", "fallback", "human_review", "shadow"]
"""Where the text that the user got comes from. `shadow`: delivered although the gate would have held it."""


ReleaseState = Literal["waiting", "released", "refused"]


class Trace(Struct, frozen=True, kw_only=True):
    """One answer on its way through the gate: the answer, the decision, and what the user got.

    Args:
        answer: prompt, response as it was generated (None where none was) and the documents that the gate saw.
        channel: how it came to the gate.
        collection: the documents' collection.
        sources_filter: the sources that the user restricted the search to.
        verdict: the gate's.
        mode: where the text that the user got comes from.
        decision: the gate's; None for imported rows, whose figures are in `metrics` all the same, and for erased ones.
        metrics: the specification's figures by name; a figure that rests on no score, or that an old log lacks, is None.
        meaning_not_checked: the number of sentences whose meaning was not checked; None for imported rows that lack it.
        language: of what the user read.
        gate_seconds: the decision's part of `answer.seconds`; None where it is not known.
        panel, judgments: the panel and the keys of the judgments that were asked for about its sentences; they are not read back.
        text_key: see `answers.text_key`; "" where it follows from the texts; it is not read back.
    """

    answer: Answer
    channel: Channel
    collection: str = ""
    sources_filter: tuple[str, ...] = ()
    verdict: GateVerdict
    mode: Mode
    decision: Decision | None
    metrics: dict[str, float | bool | int | None]
    p_unsupported: float | None = None
    meaning_not_checked: int | None = None
    language: str = ""
    profile: str = ""
    version: str = ""
    gate_seconds: float | None = None
    panel: str = ""
    judgments: tuple[str, ...] = ()
    text_key: str = ""

    @property
    def id(self) -> str:
        """The answer's id."""
        return self.answer.id

    @property
    def at(self) -> datetime:
        """When the prompt came."""
        return self.answer.received_at

    @property
    def prompt(self) -> str:
        """What the user asked."""
        return self.answer.case.prompt_text

    @property
    def response(self) -> str:
        """The response as it was generated; "" where none was."""
        return self.answer.case.response or ""

    @property
    def documents(self) -> tuple[Document, ...]:
        """The documents that the gate saw, in the retriever's order."""
        return self.answer.case.documents

    @property
    def confidence(self) -> float | None:
        """The gate's confidence in the documents; None where it rests on no score or is not known."""
        return self.metrics.get("confidence")

    @property
    def judge_standing(self) -> JudgeTrust | None:
        """What the word of the judge that the gate asked was worth; None where none was asked."""
        return self.decision.judge.standing if self.decision is not None and self.decision.judge is not None else None

    @property
    def erased(self) -> bool:
        """Whether its texts are gone for good."""
        return self.answer.erased

    @property
    def waits(self) -> bool:
        """Whether the user gets the response only once a person has released it."""
        return self.verdict == "human_review" and self.channel != "import" and self.mode != "shadow"


def decided_trace(
    decision: Decision,
    answer: Answer,
    *,
    channel: Channel,
    mode: Mode,
    language: str,
    sources_filter: tuple[str, ...] = (),
    gate_seconds: float | None = None,
    panel: str = "",
    judgments: tuple[str, ...] = (),
) -> Trace:
    """The trace of an answer that the gate has just decided on; the collection is the answer's source."""
    return Trace(
        answer=answer,
        channel=channel,
        collection=answer.source,
        sources_filter=sources_filter,
        verdict=decision.verdict,
        mode=mode,
        decision=decision,
        metrics=structs.asdict(decision.metrics),
        p_unsupported=decision.p_unsupported,
        meaning_not_checked=len(decision.meaning_not_checked),
        language=language,
        profile=decision.profile,
        version=decision.version,
        gate_seconds=gate_seconds,
        panel=panel,
        judgments=judgments,
    )


class Release(Struct, frozen=True, kw_only=True):
    """What became of a held answer. `text` is what the client may show, maybe edited by the reviewer; "" unless released."""

    answer_id: str
    state: ReleaseState
    text: str = ""
    rater: str = ""
    at: datetime | None = None
