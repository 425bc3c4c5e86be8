"""A pipeline without models and stores: it answers at once, through the real gate, and notes what it did."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from typing import Any, cast

from msgspec import structs

from areopage.cases.records import Document
from areopage.errors import UnknownCollection
from areopage.gate.records import Decision
from areopage.ledger.traces import Traces
from areopage.ledger.records import Mode, Trace
from areopage.rag.records import ChatPrompt, Citation
from areopage.rag.service import RagService
from areopage.server.context import Pipeline, ServerContext

COLLECTION = "handbook"
OTHER = "contracts"
LEAVE = "Le salarié acquiert 2,5 jours ouvrables de congés payés par mois de travail effectif, soit 30 jours par an."
DOCUMENTS: tuple[Document, ...] = (
    Document(id="conges-1", title="Congés payés", text=LEAVE, score=0.91, source="reglement"),
    Document(
        id="conges-2", title="Dates", text="L'employeur arrête les dates après avis du salarié.", score=0.78, source="reglement"
    ),
)
QUESTION = "Combien de jours de congés payés acquiert le salarié par mois ?"
GROUNDED = "Le salarié acquiert 2,5 jours ouvrables de congés payés par mois de travail effectif [conges-1]."
MADE_UP = "Le salarié touche en outre une prime de 1 350 € au titre de l’article 77."
FALLBACK = "Je n’ai pas trouvé cette information dans les documents."
HELD = "Une personne va examiner votre question."


class FakeRag:
    """Answers every question with `response`; raises `fault` instead where there is one."""

    def __init__(self, context: ServerContext, response: str = GROUNDED) -> None:
        self.context, self.response = context, response
        self.fault: Exception | None = None
        self.asked: list[ChatPrompt] = []
        self.closed = False
        self.forgotten: list[str] = []
        self.documents = DOCUMENTS
        self.pause = 0.0

    async def answer(self, question: ChatPrompt) -> Trace:
        return self.answered(question)

    def answered(self, question: ChatPrompt) -> Trace:
        self.asked.append(question)
        if question.collection not in (COLLECTION, OTHER):
            raise UnknownCollection(f"no collection {question.collection}: there are secret-1, secret-2")
        if self.fault:
            raise self.fault
        decision = self.context.gate.decide(question.question, self.response, self.documents)
        return self.noted(question, decision)

    async def stream(self, question: ChatPrompt) -> AsyncIterator[dict[str, Any]]:
        if question.collection not in (COLLECTION, OTHER):
            raise UnknownCollection("no such collection")
        for node in ("retrieve", "grade_documents", "generate", "evaluate_response"):
            await asyncio.sleep(self.pause)
            if node == "generate" and self.fault:
                raise self.fault
            yield {"node": node, "state": {"generation": self.response, "documents": self.documents}}
        yield {"answer": await self.answer(question)}

    async def forget(self, trace: Trace) -> None:
        self.forgotten.append(trace.id)

    async def aclose(self) -> None:
        self.closed = True

    def noted(self, question: ChatPrompt, decision: Decision) -> Trace:
        verdict = decision.verdict
        modes: dict[str, tuple[Mode, str]] = {
            "deliver": ("generated", self.response),
            "fallback": ("fallback", FALLBACK),
            "human_review": ("human_review", HELD),
        }
        mode, text = modes[verdict]
        trace = Trace(
            id=secrets.token_hex(16),
            at=self.context.now(),
            origin="chat",
            collection=question.collection,
            sources_filter=question.sources_filter,
            question=question.question,
            generation=self.response,
            answer=text,
            documents=self.documents,
            verdict=verdict,
            mode=mode,
            decision=decision,
            metrics=structs.asdict(decision.metrics),
            p_unsupported=decision.p_unsupported,
            response_lang="fr",
            model="fake:model",
            profile=decision.profile,
            version=decision.version,
            session=question.session,
            key=question.key,
            seconds=0.2,
        )
        Traces(self.context.ledger).append([trace])
        return Trace(
            id=trace.id,
            answer=text,
            verdict=verdict,
            mode=mode,
            confidence=decision.metrics.confidence,
            p_unsupported=decision.p_unsupported,
            citations=tuple(
                Citation(id=one.id, title=one.title, source=one.source, score=one.score, excerpt=one.text[:80])
                for one in self.documents
                if one.id in decision.cited_ids
            ),
            response_lang="fr",
            documents=self.documents,
            decision=decision,
            seconds=0.2,
        )


def with_rag(context: ServerContext, response: str = GROUNDED) -> tuple[ServerContext, FakeRag]:
    """A context whose server answers questions."""
    fake = FakeRag(context, response)
    pipeline = Pipeline(service=cast(RagService, fake), collection=COLLECTION, language="fr")
    return structs.replace(context, rag=pipeline), fake
