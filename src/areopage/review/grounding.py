"""What people say of answers that the gate has seen, and what becomes of those that it held back."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct

from areopage.errors import NotHeldBack, UnknownExchange, UserError
from areopage.ledger.access import Audit
from areopage.ledger.exchanges import Exchanges
from areopage.ledger.gate_records import Exchange, Grounded, GroundingLabel, Release
from areopage.ledger.store import Ledger
from areopage.ledger.stored_exchange import reduced_exchange
from areopage.review.label import MAX_NOTE, Origin, rater_name
from areopage.text.stored_text import Policy

MAX_RELEASED = 100_000
GROUNDED: tuple[Grounded, ...] = ("yes", "partly", "no")


class Settlement(Struct, frozen=True, kw_only=True):
    """What is to become of a held-back answer. `text` replaces the one that was generated; None leaves it as it is."""

    state: Literal["released", "refused"]
    text: str | None = None


class Storage(Struct, frozen=True, kw_only=True):
    """What stays of the texts once nobody waits for them; see `stored_text`."""

    policy: Policy = "full"
    max_chars: int = 500


KEEP_ALL = Storage()


class Settled(Struct, frozen=True, kw_only=True):
    """What was noted of a settlement, and how many answers it settled: the one that was looked at, and equal ones that waited."""

    release: Release
    answers: int


def find_exchange(ledger: Ledger, id: str) -> Exchange:
    """An exchange by its id.

    Raises:
        UnknownExchange: there is none, or it was erased.
    """
    found = Exchanges(ledger).get(id)
    if found is None:
        raise UnknownExchange(f"no answer {id[:128]!r} of the gate in {ledger.place}: areopage review list shows those that wait")
    if found.erased:
        raise UnknownExchange(f"the answer {id!r} was erased: there is nothing left to look at")
    return found


def label_exchange(
    ledger: Ledger,
    id: str,
    rater: str,
    grounded: str,
    *,
    sentences: Sequence[int] = (),
    note: str = "",
    origin: Origin,
    now: datetime,
) -> GroundingLabel:
    """Append a rater's word on an answer, with an entry in the audit log.

    Args:
        grounded: yes, partly or no.
        sentences: indexes in the decision, from 0, of the sentences that no document supports.

    Raises:
        UnknownExchange: there is no such exchange, or it was erased.
        UserError: a name, a word or a sentence is wrong.
    """
    label = checked_label(find_exchange(ledger, id), rater, grounded, sentences=sentences, note=note, origin=origin, now=now)
    append(ledger, label)
    return label


def settle_exchange(
    ledger: Ledger, id: str, rater: str, settlement: Settlement, *, now: datetime, storage: Storage = KEEP_ALL
) -> Settled:
    """Release or refuse a held-back answer, and all equal ones that wait, once and for all, with an entry in the audit log.

    Args:
        storage: what stays of the exchanges' own texts from now on. What is released stays readable as it is, for whoever asked.

    Raises:
        UnknownExchange: there is no such exchange, or it was erased.
        NotHeldBack: it waits for nobody.
        UserError: a name or the text is wrong.
    """
    exchange = waiting_exchange(ledger, id)
    release = checked_release(exchange, rater, settlement, now)

    def reduce(one: Exchange) -> Exchange:
        """What stays of an exchange."""
        return reduced_exchange(one, storage.policy, storage.max_chars)

    answers = Exchanges(ledger).settle(release, None if storage.policy == "full" else reduce)
    if not answers:
        raise not_held_back(ledger, id)
    edited = ", edited" if release.state == "released" and release.text != exchange.generation else ""
    equal = f", with {answers - 1} equal ones" if answers > 1 else ""
    Audit(ledger).note(release.rater, "release", id, release.state + edited + equal)
    return Settled(release=release, answers=answers)


def review_exchange(
    ledger: Ledger,
    id: str,
    rater: str,
    grounded: str,
    settlement: Settlement,
    *,
    sentences: Sequence[int] = (),
    note: str = "",
    origin: Origin,
    now: datetime,
    storage: Storage = KEEP_ALL,
) -> tuple[GroundingLabel, Settled]:
    """Label and settle in one go: everything is checked before anything is written.

    Should somebody else settle it in this very moment, the label stays.

    Raises:
        UnknownExchange, NotHeldBack, UserError: see `label_exchange` and `settle_exchange`.
    """
    exchange = waiting_exchange(ledger, id)
    label = checked_label(exchange, rater, grounded, sentences=sentences, note=note, origin=origin, now=now)
    checked_release(exchange, rater, settlement, now)
    append(ledger, label)
    return label, settle_exchange(ledger, id, rater, settlement, now=now, storage=storage)


def append(ledger: Ledger, label: GroundingLabel) -> None:
    """Append a label, with an entry in the audit log."""
    Exchanges(ledger).label(label)
    marked = f", sentences {', '.join(str(at + 1) for at in label.sentences)}" if label.sentences else ""
    Audit(ledger).note(label.rater, "label", label.exchange_id, f"grounded: {label.grounded}{marked}")


def checked_label(
    exchange: Exchange, rater: str, grounded: str, *, sentences: Sequence[int], note: str, origin: Origin, now: datetime
) -> GroundingLabel:
    """A label that fits its exchange.

    Raises:
        UserError: a name, a word or a sentence is wrong.
    """
    word = next((known for known in GROUNDED if known == grounded), None)
    if word is None:
        raise UserError(f"grounded {grounded[:40]!r}: use yes, partly or no")
    marked = tuple(sorted(set(sentences)))
    known = len(exchange.decision.sentences) if exchange.decision else 0
    if marked and (marked[0] < 0 or marked[-1] >= known):
        wrong = marked[0] if marked[0] < 0 else marked[-1]
        raise UserError(f"there is no sentence {wrong + 1}: the answer has {known}")
    if marked and word == "yes":
        raise UserError("an answer with a sentence that no document supports is not grounded: say partly or no")
    return GroundingLabel(
        exchange_id=exchange.id,
        rater=rater_name(rater),
        grounded=word,
        sentences=marked,
        note=note.strip()[:MAX_NOTE],
        origin=origin,
        created_at=now,
    )


def checked_release(exchange: Exchange, rater: str, settlement: Settlement, now: datetime) -> Release:
    """What is to be noted of a settlement.

    Raises:
        UserError: a name or the text is wrong.
    """
    name = rater_name(rater)
    if settlement.state == "refused":
        if settlement.text is not None:
            raise UserError("an answer that is refused has no text: release it, or leave the text out")
        return Release(exchange_id=exchange.id, state="refused", rater=name, at=now)
    text = exchange.generation if settlement.text is None else settlement.text.strip()
    if not text.strip() or len(text) > MAX_RELEASED:
        raise UserError(f"a released answer has 1 to {MAX_RELEASED:,} characters: give one, or refuse it")
    return Release(exchange_id=exchange.id, state="released", text=text, rater=name, at=now)


def waiting_exchange(ledger: Ledger, id: str) -> Exchange:
    """An exchange that waits for somebody to settle it.

    Raises:
        UnknownExchange: there is no such exchange, or it was erased.
        NotHeldBack: it waits for nobody.
    """
    exchange = find_exchange(ledger, id)
    release = Exchanges(ledger).release(id)
    if release is None or release.state != "waiting":
        raise not_held_back(ledger, id)
    return exchange


def not_held_back(ledger: Ledger, id: str) -> NotHeldBack:
    """Why an answer cannot be settled."""
    release = Exchanges(ledger).release(id)
    if release is None:
        return NotHeldBack(f"the answer {id!r} was not held back: there is nothing to release or refuse")
    return NotHeldBack(f"the answer {id!r} is {release.state} already, by {release.rater or 'nobody (it was erased)'}")
