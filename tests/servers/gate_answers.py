"""Recorded answers with what the shipped gate decides about them, and labels of people."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from areopage.app.gate_rules import load_gate
from areopage.cases.records import Document
from areopage.gate.decide import Gate
from areopage.ledger.people.labels import Labels
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import GROUNDED, GROUNDING, Grounded, Label
from areopage.ledger.tables.trace_records import Trace
from areopage.ledger.write.traces import Traces
from servers.made_traces import made_trace
from servers.new_ledger import ledger_at

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


def trace(number: int, response: str = GOOD, **fields: Any) -> Trace:
    """A recorded answer, decided by the shipped gate; one each minute."""
    documents = fields.pop("documents", (DOCUMENT,))
    prompt = fields.pop("prompt", QUESTION)
    decision = gate().decide(prompt, response, documents)
    known: dict[str, Any] = {
        "id": f"{number:032x}",
        "at": NOON + timedelta(minutes=number),
        "channel": "check",
        "collection": "droit",
        "documents": documents,
        "verdict": decision.verdict,
        "mode": "generated" if decision.verdict == "deliver" else decision.verdict,
        "decision": decision,
        "metrics": msgspec.structs.asdict(decision.metrics),
        "p_unsupported": decision.p_unsupported,
        "language": decision.response_lang,
        "profile": decision.profile,
        "version": decision.version,
        "gate_seconds": 0.0008,
    }
    return made_trace(prompt=prompt, response=response, **known | fields)


def imported(number: int, **fields: Any) -> Trace:
    """A row of an older system's log: figures alone."""
    decided = trace(number)
    known: dict[str, Any] = {
        name: getattr(decided, name) for name in ("id", "at", "collection", "prompt", "verdict", "mode", "metrics")
    }
    return made_trace(**known | {"channel": "import", "decision": None, "response": "", "language": decided.language} | fields)


def label(one: Trace, grounded: Grounded, rater: str = "anne", sentences: tuple[int, ...] = ()) -> Label:
    """What a rater says of an answer."""
    score, moment = float(GROUNDED.index(grounded)), NOON + timedelta(days=1)
    return Label(
        answer_id=one.id,
        rater=rater,
        criterion=GROUNDING,
        score=score,
        sentences=sentences,
        origin="cli",
        blind=True,
        created_at=moment,
    )


def filled(place: str | Path, answers: Sequence[Trace], labels: Sequence[Label] = ()) -> Ledger:
    """An open ledger with these in it."""
    ledger = Ledger.open(place) if "://" in str(place) else ledger_at(Path(place))
    Traces(ledger).append(answers)
    Labels(ledger).add(labels)
    return ledger
