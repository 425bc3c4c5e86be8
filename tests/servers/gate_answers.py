"""Recorded answers with what the shipped gate decides about them, and labels of people."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from areopage.cases.records import Document
from areopage.gate.decide import Gate
from areopage.ledger.traces import Traces
from areopage.ledger.records import Grounded
from areopage.ledger.records import Label, Trace
from areopage.ledger.store import Ledger
from areopage.suites.gate import load_gate

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
QUESTION = "Quel est le délai de rétractation pour un achat en ligne ?"
DOCUMENT = Document(
    id="conso-1",
    title="Vente à distance",
    text="Pour un achat en ligne, le délai de rétractation est de 14 jours à compter de la livraison du bien.",
    score=0.82,
    source="guide",
)
GOOD = "Pour un achat en ligne, le délai de rétractation est de 14 jours à compter de la livraison du bien [conso-1]."
BAD = f"{GOOD} Le vendeur verse en outre une indemnité de 250 € au client."


@lru_cache(maxsize=2)
def gate(name: str = "default") -> Gate:
    """The shipped gate."""
    return load_gate(name)


def trace(number: int, generation: str = GOOD, **fields: Any) -> Trace:
    """A recorded answer, decided by the shipped gate; one each minute."""
    documents = fields.pop("documents", (DOCUMENT,))
    question = fields.pop("question", QUESTION)
    decision = gate().decide(question, generation, documents)
    made = Trace(
        id=f"{number:032x}",
        at=NOON + timedelta(minutes=number),
        origin="check",
        collection="droit",
        question=question,
        generation=generation,
        answer="",
        documents=documents,
        verdict=decision.verdict,
        mode="generated" if decision.verdict == "deliver" else decision.verdict,
        decision=decision,
        metrics=msgspec.structs.asdict(decision.metrics),
        p_unsupported=decision.p_unsupported,
        response_lang=decision.response_lang,
        profile=decision.profile,
        version=decision.version,
        gate_seconds=0.0008,
    )
    return replace(made, **fields)


def imported(number: int, **fields: Any) -> Trace:
    """A row of an older system's log: figures alone."""
    given: dict[str, Any] = {"origin": "import", "decision": None, "documents": (), "p_unsupported": None, "generation": ""}
    made = trace(number)
    return replace(made, **{**given, "version": "", "profile": "", "gate_seconds": None, **fields})


def label(one: Trace, grounded: Grounded, rater: str = "anne", sentences: tuple[int, ...] = ()) -> Label:
    """What somebody says of an answer."""
    return Label(
        answer_id=one.id, rater=rater, grounded=grounded, sentences=sentences, origin="cli", created_at=NOON + timedelta(days=1)
    )


def filled(place: str | Path, answers: Sequence[Trace], labels: Sequence[Label] = ()) -> Ledger:
    """An open ledger with these in it."""
    ledger = Ledger.open(place)
    traces = Traces(ledger)
    traces.add(answers)
    for one in labels:
        traces.label(one)
    return ledger
