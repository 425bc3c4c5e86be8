"""Parts of an answering pipeline for tests: documents and responses that are given, and a gate that decides as it is told."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from areopage.cases.documents import LooseDocuments, records_of
from areopage.cases.records import Document
from areopage.checking.config import RagConfig, RagSection
from areopage.checking.judging import SentenceJudge
from areopage.gate.config import GateConfig
from areopage.gate.decide import Gate
from areopage.gate.records import Decision, GateVerdict, Metrics, Reason, SentenceCheck, SentenceJudgment
from areopage.ledger.store import Ledger
from areopage.rag.records import Generated
from areopage.rag.service import RagService
from areopage.suites.config_file import SharedSections
from servers.new_ledger import ledger_at

QUESTION = "Quel est le délai de rétractation pour un achat en ligne ?"
RESPONSE = "Le délai de rétractation est de 14 jours à compter de la livraison [conso-1]."
DOCUMENTS = (
    Document(
        id="conso-1",
        title="Vente à distance",
        text="Pour un achat en ligne, le délai de rétractation est de 14 jours à compter de la livraison du bien.",
        score=0.82,
        source="guide",
    ),
    Document(
        id="conso-2",
        title="Remboursement",
        text="Le vendeur rembourse l’acheteur au plus tard 14 jours après avoir été informé de la rétractation.",
        score=0.64,
        source="guide",
    ),
)


class GivenRetriever:
    """Finds the documents that are given; notes what was asked."""

    def __init__(self, documents: tuple[Document, ...] = DOCUMENTS, fault: Exception | None = None) -> None:
        self.documents, self.fault = documents, fault
        self.asked: list[tuple[str, str, tuple[str, ...]]] = []
        self.known_revision = "1"
        self.closed = False

    async def retrieve(self, prompt: str, collection: str, sources_filter: tuple[str, ...]) -> tuple[Document, ...]:
        self.asked.append((prompt, collection, sources_filter))
        if self.fault is not None:
            raise self.fault
        return self.documents

    async def revision(self, collection: str) -> str:
        if self.fault is not None:
            raise self.fault
        return self.known_revision

    async def aclose(self) -> None:
        self.closed = True


class GivenGenerator:
    """Answers with what is given, after a while; notes in which language."""

    def __init__(
        self,
        text: str = RESPONSE,
        *,
        cited_ids: tuple[str, ...] = (),
        seconds: float = 0.0,
        fault: Exception | None = None,
    ) -> None:
        self.text, self.cited_ids, self.seconds, self.fault = text, cited_ids, seconds, fault
        self.languages: list[str] = []
        self.closed = False

    async def generate(self, prompt: str, documents: tuple[Document, ...], language: str) -> Generated:
        self.languages.append(language)
        await asyncio.sleep(self.seconds)
        if self.fault is not None:
            raise self.fault
        return Generated(text=self.text, cited_ids=self.cited_ids, model="given:model", seconds=self.seconds)

    async def aclose(self) -> None:
        self.closed = True


class ToldGate(Gate):
    """Decides as it is told; documents under a score of 0.5, or none, are not relevant."""

    def __init__(self, verdict: GateVerdict = "deliver", *, doubtful: tuple[int, ...] = (), version: str = "told") -> None:
        super().__init__(GateConfig(profile="v1_1"))
        self.verdict, self.doubtful = verdict, doubtful
        self.told_version = version
        self.seen: list[tuple[str, str]] = []
        self.judgments: Sequence[SentenceJudgment] = ()

    @property
    def version(self) -> str:
        return self.told_version

    def decide(self, prompt: str, response: str, documents: LooseDocuments) -> Decision:
        self.seen.append((prompt, response))
        relevant = any((document.score or 0) >= 0.5 for document in records_of(documents))
        if not relevant:
            code: Any = "not_relevant" if documents else "no_documents"
            return decision("fallback", reasons=(Reason(code=code, decisive=True),))
        if not response:
            return decision("fallback", reasons=(Reason(code="empty_response", decisive=True),))
        checks = (SentenceCheck(start=0, end=len(response), text=response, claim=True, p_unsupported=0.5, document="conso-1"),)
        if self.doubtful:
            return decision("human_review", sentences=checks, needs_judge=True, doubtful=self.doubtful)
        return decision(self.verdict, sentences=checks)

    def resolve(self, decision: Decision, judgments: Sequence[SentenceJudgment]) -> Decision:
        self.judgments = judgments
        good = bool(judgments) and all(judgment.supported for judgment in judgments)
        return msgspec.structs.replace(
            decision, needs_judge=False, judged=True, verdict="deliver" if good else "human_review", doubtful=()
        )


def decision(verdict: GateVerdict, **changes: Any) -> Decision:
    """A decision with this verdict."""
    metrics = Metrics(
        avg_score=0.73,
        confidence=0.584,
        cites_ok=True,
        overlap_ratio=0.0,
        hallucination=False,
        quality_pass=verdict == "deliver",
        escalate=verdict == "human_review",
        num_sources=2,
    )
    fields: dict[str, Any] = {
        "verdict": verdict,
        "needs_judge": False,
        "p_unsupported": 0.1,
        "metrics": metrics,
        "sentences": (),
        "signals": (),
        "reasons": (),
        "response_lang": "fr",
        "profile": "default",
        "version": "told",
    }
    return Decision(**(fields | changes))


def rag_config(folder: Path, *, endpoints: dict[str, Any] | None = None, **sections: Any) -> RagConfig:
    """A configuration with these sections, and endpoints beside them."""
    shared = SharedSections.model_validate({"endpoints": endpoints or {}})
    return RagConfig(section=RagSection.model_validate(sections), folder=folder, shared=shared)


def rag_service(
    folder: Path,
    *,
    gate: Gate | None = None,
    retriever: GivenRetriever | None = None,
    generator: GivenGenerator | None = None,
    judge: SentenceJudge | None = None,
    ledger: Ledger | None = None,
    say: Callable[[str], None] | None = None,
    **sections: Any,
) -> RagService:
    """A service of given parts, on a ledger in the folder."""
    return RagService(
        rag_config(folder, **sections),
        ledger or ledger_at(folder / "ledger.db"),
        gate or ToldGate(),
        retriever or GivenRetriever(),
        generator or GivenGenerator(),
        say or (lambda line: None),
        judge=judge,
    )
