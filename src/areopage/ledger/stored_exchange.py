"""What stays of an exchange's texts under a storage policy. The ledger itself keeps what it is given."""

from collections.abc import Callable, Sequence

from msgspec import structs

from areopage.cases.records import Document
from areopage.gate.records import Decision, Place, Reason, SentenceCheck
from areopage.ledger.gate_records import Exchange
from areopage.text.stored_text import Policy, stored_text, stored_values

Keep = Callable[[str], str]


def is_waiting(exchange: Exchange) -> bool:
    """Whether an exchange's texts are needed until people have settled it."""
    return exchange.verdict == "human_review" and exchange.origin != "import" and exchange.mode != "shadow"


def stored_exchange(exchange: Exchange, policy: Policy, max_chars: int) -> Exchange:
    """What stays of an exchange: of one that waits for people everything, until it is settled; of others by the policy.

    Args:
        policy, max_chars: see `stored_text`.
    """
    return exchange if is_waiting(exchange) else reduced_exchange(exchange, policy, max_chars)


def reduced_exchange(exchange: Exchange, policy: Policy, max_chars: int) -> Exchange:
    """What the policy leaves of an exchange. Ids, figures, and the reasons' codes stay.

    Places and sentences of the decision are found again in the texts that stay; one that is not there any more is left out (a
    sentence is emptied: its index and its figure stay). With the policy `none`, documents go altogether.
    """
    if policy == "full":
        return exchange

    def keep(text: str) -> str:
        return stored_text(text, policy, max_chars)

    documents = () if policy == "none" else tuple(_document(one, policy, max_chars) for one in exchange.documents)
    generation = keep(exchange.generation)
    texts = {"": generation} | {one.id: one.text for one in documents}
    return structs.replace(
        exchange,
        question=keep(exchange.question),
        generation=generation,
        answer=keep(exchange.answer),
        documents=documents,
        decision=None if exchange.decision is None else _decision(exchange.decision, keep, texts),
        session="" if policy == "none" else exchange.session,
    )


def _document(one: Document, policy: Policy, max_chars: int) -> Document:
    return Document(
        id=one.id,
        title=stored_text(one.title, policy, max_chars),
        text=stored_text(one.text, policy, max_chars),
        score=one.score,
        source=stored_text(one.source, policy, max_chars),
        metadata=stored_values(one.metadata, policy, max_chars),
    )


def _decision(decision: Decision, keep: Keep, texts: dict[str, str]) -> Decision:
    """A decision whose words are those of the texts that stay."""

    def place(one: Place) -> Place | None:
        text = keep(one.text)
        at = _find(texts.get(one.document, ""), text, one.start)
        return None if at is None else Place(document=one.document, start=at, end=at + len(text), text=text)

    def reason(one: Reason) -> Reason:
        return structs.replace(one, place=place(one.place) if one.place else None)

    def there(places: Sequence[Place]) -> tuple[Place, ...]:
        return tuple(found for found in map(place, places) if found is not None)

    return structs.replace(
        decision,
        sentences=tuple(_sentence(one, keep, texts[""]) for one in decision.sentences),
        signals=tuple(structs.replace(one, places=there(one.places)) for one in decision.signals),
        reasons=tuple(reason(one) for one in decision.reasons),
        unknown_ids=tuple(kept for kept in map(keep, decision.unknown_ids) if kept),
    )


def _sentence(sentence: SentenceCheck, keep: Keep, generation: str) -> SentenceCheck:
    text = keep(sentence.text)
    at = _find(generation, text, sentence.start)
    if at is None:
        return structs.replace(sentence, start=len(generation), end=len(generation), text="")
    return structs.replace(sentence, start=at, end=at + len(text), text=text)


def _find(whole: str, part: str, near: int) -> int | None:
    """Where a part stands in a text, the occurrence that lies nearest to a position; None where it does not."""
    if not part:
        return None
    after, before = whole.find(part, near), whole.rfind(part, 0, near + len(part))
    found = [at for at in (before, after) if at >= 0]
    return min(found, key=lambda at: abs(at - near)) if found else None
