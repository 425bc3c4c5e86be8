"""Traces for tests: one that was delivered, one that was held."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from areopage.cases.records import Case, Document
from areopage.gate.records import Decision, Metrics, Place, Reason, SentenceCheck
from areopage.ledger.tables.records import GROUNDED, GROUNDING, Answer, Grounded, Label
from areopage.ledger.tables.trace_records import Trace

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
RIGHT = "Le délai est de 10 jours."
WRONG = "Jean Dupont demande 300 euros."
GENERATED = f"{RIGHT} {WRONG}"
FIGURES: dict[str, float | bool | int | None] = {
    "avg_score": 0.75,
    "confidence": 0.6,
    "cites_ok": True,
    "overlap_ratio": 0.2,
    "hallucination": True,
    "quality_pass": False,
    "escalate": True,
    "num_sources": 1,
}


def trace_id(number: int) -> str:
    """An id."""
    return f"{number:032x}"


def made_trace(*, id: str, at: datetime, prompt: str, response: str, **fields: Any) -> Trace:
    """A trace whose answer's fields are named beside its own."""
    documents = fields.pop("documents", ())
    collection = fields.setdefault("collection", "")
    own = {
        name: fields.pop(name) for name in ("delivered", "session", "api_key", "model", "seconds", "language") if name in fields
    }
    answer = Answer(
        id=id,
        origin="import" if fields.get("channel") == "import" else "gate",
        case=Case(id=id, prompt=prompt, response=response, documents=documents),
        source=collection,
        received_at=at,
        answered_at=at,
        **own,
    )
    return Trace(answer=answer, language=own.get("language", ""), **fields)


def held_decision() -> Decision:
    """Held back because of the figure in the second sentence."""
    at = GENERATED.index(WRONG)
    amount = GENERATED.index("300 euros")
    return Decision(
        verdict="human_review",
        needs_judge=False,
        p_unsupported=0.9,
        metrics=Metrics(**FIGURES),  # type: ignore[arg-type]
        sentences=(
            SentenceCheck(start=0, end=len(RIGHT), text=RIGHT, claim=True, p_unsupported=0.1, document="d1"),
            SentenceCheck(start=at, end=len(GENERATED), text=WRONG, claim=True, p_unsupported=0.9),
        ),
        signals=(),
        reasons=(
            Reason(
                code="unsupported_figure",
                decisive=True,
                place=Place(start=amount, end=amount + 9, text="300 euros"),
                sentence=1,
            ),
        ),
        unknown_ids=("Jean Dupont",),
        response_lang="fr",
        prompt_lang="fr",
        profile="default",
        version="v",
    )


def held_trace(number: int = 1, **fields: Any) -> Trace:
    """A held answer with two sentences."""
    document = Document(id="d1", text="Un délai de 10 jours. Écrire à Jean Dupont.", title="Délais", score=0.75, source="site")
    known: dict[str, Any] = {
        "id": trace_id(number),
        "at": NOW + timedelta(minutes=number),
        "channel": "chat",
        "collection": "faq",
        "prompt": "Quel délai ?",
        "response": GENERATED,
        "delivered": "Une personne va relire la réponse.",
        "documents": (document,),
        "verdict": "human_review",
        "mode": "human_review",
        "decision": held_decision(),
        "metrics": FIGURES,
        "p_unsupported": 0.9,
        "language": "fr",
        "session": "s1",
        "profile": "default",
        "version": "v",
    }
    return made_trace(**known | fields)


def delivered_trace(number: int = 1, **fields: Any) -> Trace:
    """An answer that was delivered, with its first sentence alone."""
    decision = msgspec.structs.replace(
        held_decision(), verdict="deliver", sentences=held_decision().sentences[:1], reasons=(), p_unsupported=0.1
    )
    known: dict[str, Any] = {"verdict": "deliver", "mode": "generated", "response": RIGHT, "delivered": RIGHT}
    return held_trace(number, **known | {"decision": decision, "p_unsupported": 0.1} | fields)


def grounding_label(number: int, rater: str = "Anne", grounded: Grounded = "no", *sentences: int, note: str = "") -> Label:
    """What a rater says of a trace."""
    score = float(GROUNDED.index(grounded))
    shared: dict[str, Any] = {"sentences": sentences, "note": note, "origin": "web", "created_at": NOW}
    return Label(answer_id=trace_id(number), rater=rater, criterion=GROUNDING, score=score, **shared)
