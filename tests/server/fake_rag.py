"""A pipeline without models and stores: it answers at once, through the real gate, and notes what it did."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from typing import Any, cast

from msgspec import structs

from areopage.cases.records import Case, Document
from areopage.errors import UnknownCollection
from areopage.gate.records import Decision
from areopage.ledger.tables.records import Answer
from areopage.ledger.tables.trace_records import Mode, Trace, decided_trace
from areopage.ledger.write.traces import Traces
from areopage.rag.records import ChatPrompt
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

    async def answer(self, prompt: ChatPrompt) -> Trace:
        return self.answered(prompt)

    def answered(self, prompt: ChatPrompt) -> Trace:
        self.asked.append(prompt)
        if prompt.collection not in (COLLECTION, OTHER):
            raise UnknownCollection(f"no collection {prompt.collection}: there are secret-1, secret-2")
        if self.fault:
            raise self.fault
        decision = self.context.gate.decide(prompt.prompt, self.response, self.documents)
        return self.noted(prompt, decision)

    async def stream(self, prompt: ChatPrompt) -> AsyncIterator[dict[str, Any]]:
        if prompt.collection not in (COLLECTION, OTHER):
            raise UnknownCollection("no such collection")
        for node in ("retrieve", "grade_documents", "generate", "evaluate_response"):
            await asyncio.sleep(self.pause)
            if node == "generate" and self.fault:
                raise self.fault
            yield {"node": node, "state": {"response": self.response, "documents": self.documents}}
        yield {"trace": await self.answer(prompt)}

    async def forget(self, trace: Trace) -> None:
        self.forgotten.append(trace.id)

    async def aclose(self) -> None:
        self.closed = True

    async def export_traces(self) -> None:
        """There are no trace files."""

    def noted(self, prompt: ChatPrompt, decision: Decision) -> Trace:
        modes: dict[str, tuple[Mode, str]] = {
            "deliver": ("generated", self.response),
            "fallback": ("fallback", FALLBACK),
            "human_review": ("human_review", HELD),
        }
        mode, text = modes[decision.verdict]
        id, now = secrets.token_hex(16), self.context.now()
        answer = Answer(
            id=id,
            origin="gate",
            case=Case(id=id, prompt=prompt.prompt, response=self.response, documents=self.documents),
            source=prompt.collection,
            language="fr",
            model="fake:model",
            session=prompt.session,
            api_key=prompt.api_key,
            delivered=text,
            received_at=now,
            answered_at=now,
            seconds=0.2,
        )
        trace = decided_trace(decision, answer, channel="chat", sources_filter=prompt.sources_filter, mode=mode, language="fr")
        Traces(self.context.ledger).append([trace])
        return trace


def with_rag(context: ServerContext, response: str = GROUNDED) -> tuple[ServerContext, FakeRag]:
    """A context whose server answers questions."""
    fake = FakeRag(context, response)
    pipeline = Pipeline(service=cast(RagService, fake), collection=COLLECTION, language="fr")
    return structs.replace(context, rag=pipeline), fake
