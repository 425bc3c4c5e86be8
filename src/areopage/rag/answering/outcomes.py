"""From the graph's final state to what the user gets and what the ledger keeps; pure."""

from datetime import datetime

import msgspec
from msgspec import Struct

from areopage.cases.records import Document
from areopage.gate.records import Decision
from areopage.ledger.gate_records import Exchange, Mode, decided_exchange
from areopage.rag.answering.answer_cache import CachedAnswer
from areopage.rag.answering.state import RagState
from areopage.rag.answering.texts import Texts
from areopage.rag.records import ChatAnswer, Citation

EXCERPT = 300  # characters


class Asked(Struct, frozen=True, kw_only=True):
    """A question with everything filled in. `language` is what it is answered in."""

    id: str
    at: datetime
    question: str
    collection: str
    sources_filter: tuple[str, ...]
    language: str
    session: str
    key: str

    def state(self) -> RagState:
        """The state that the graph begins with."""
        return {
            "id": self.id,
            "question": self.question,
            "collection": self.collection,
            "sources_filter": self.sources_filter,
            "language": self.language,
        }


class Outcome(Struct, frozen=True, kw_only=True):
    """What became of a question. `gate_seconds` is None where nothing was decided anew; `judgments` as in `Exchange`."""

    answer: str
    generation: str
    documents: tuple[Document, ...]
    decision: Decision
    mode: Mode
    model: str
    gate_seconds: float | None
    judgments: tuple[str, ...] = ()


def outcome_of(state: RagState) -> Outcome:
    """The outcome of a run of the graph."""
    generated = state.get("generated")
    return Outcome(
        answer=state["answer"],
        generation=state.get("generation", ""),
        documents=state["documents"],
        decision=state["decision"],
        mode=state["mode"],
        model=generated.model if generated else "",
        gate_seconds=state.get("gate_seconds"),
        judgments=state.get("judgments", ()),
    )


def cached_outcome(entry: CachedAnswer) -> Outcome:
    """The outcome of a question that was answered before."""
    return Outcome(
        answer=entry.answer,
        generation=entry.generation,
        documents=entry.documents,
        decision=entry.decision,
        mode="cached",
        model=entry.model,
        gate_seconds=None,
    )


def cache_entry(outcome: Outcome, asked: Asked, revision: str, label: int) -> CachedAnswer | None:
    """What the cache keeps of an outcome; None unless the gate let the answer out.

    Args:
        revision, label: see `CachedAnswer`.
    """
    if outcome.mode != "generated" or outcome.decision.verdict != "deliver":
        return None
    return CachedAnswer(
        exchange=asked.id,
        revision=revision,
        label=label,
        answer=outcome.answer,
        generation=outcome.generation,
        documents=outcome.documents,
        decision=outcome.decision,
        model=outcome.model,
    )


def repeated(outcome: Outcome, asked: Asked, texts: Texts) -> Outcome:
    """The outcome for somebody else who asked the same at the same time."""
    if outcome.mode == "generated":
        return msgspec.structs.replace(outcome, mode="cached", gate_seconds=None)
    if outcome.mode == "human_review":
        return msgspec.structs.replace(outcome, answer=texts.held_back(asked.language, asked.id), gate_seconds=None)
    return msgspec.structs.replace(outcome, gate_seconds=None)


def answer_of(asked: Asked, outcome: Outcome, seconds: float) -> ChatAnswer:
    """What the user gets."""
    decision = outcome.decision
    return ChatAnswer(
        id=asked.id,
        answer=outcome.answer,
        verdict=decision.verdict,
        mode=outcome.mode,
        confidence=decision.metrics.confidence,
        p_unsupported=decision.p_unsupported,
        citations=citations_of(outcome) if outcome.mode not in ("fallback", "human_review") else (),
        response_lang=language_of_answer(asked, outcome),
        documents=outcome.documents,
        decision=decision,
        seconds=seconds,
    )


def exchange_of(asked: Asked, outcome: Outcome, seconds: float) -> Exchange:
    """What the ledger keeps."""
    return decided_exchange(
        outcome.decision,
        id=asked.id,
        at=asked.at,
        origin="chat",
        collection=asked.collection,
        sources_filter=asked.sources_filter,
        question=asked.question,
        generation=outcome.generation,
        answer=outcome.answer,
        documents=outcome.documents,
        mode=outcome.mode,
        response_lang=language_of_answer(asked, outcome),
        model=outcome.model,
        session=asked.session,
        key=asked.key,
        seconds=seconds,
        gate_seconds=outcome.gate_seconds,
        judgments=outcome.judgments,
    )


def language_of_answer(asked: Asked, outcome: Outcome) -> str:
    """The language of what the user reads: the generated text's where it leaves, else the question's."""
    if outcome.mode in ("fallback", "human_review"):
        return asked.language
    return outcome.decision.response_lang or asked.language


def citations_of(outcome: Outcome) -> tuple[Citation, ...]:
    """The documents that an answer rests on: those that it cites, else those that its sentences come nearest to."""
    decision = outcome.decision
    ids = dict.fromkeys(decision.cited_ids)
    if not ids:
        ids = dict.fromkeys(sentence.document for sentence in decision.sentences if sentence.claim and sentence.document)
    found = {document.id: document for document in reversed(outcome.documents)}
    return tuple(
        Citation(
            id=document.id,
            title=document.title,
            source=document.source,
            score=document.score,
            excerpt=excerpt_of(document.text),
        )
        for document in (found[id] for id in ids if id in found)
    )


def excerpt_of(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[: 2 * EXCERPT].split())
    return line if len(line) <= EXCERPT else f"{line[: EXCERPT - 1].rstrip()}…"
