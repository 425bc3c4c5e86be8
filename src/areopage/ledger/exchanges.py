"""Answers on their way out, and what became of them."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from sqlalchemy import Connection, and_, func, insert, or_, select, update

from areopage.ledger.connection import storage_errors
from areopage.ledger.erasure import wipe_remains
from areopage.ledger.exchange_erasure import erase_exchanges, older_exchanges
from areopage.ledger.exchange_rows import (
    HELD,
    conditions_of,
    counting_labels,
    exchange_of,
    exchange_row,
    held_back,
    label_of,
    label_row,
    reason_rows,
    release_of,
    text_row,
    waits,
    whole_rows,
)
from areopage.ledger.exchange_sums import summed
from areopage.ledger.gate_records import Exchange, ExchangeFilter, ExchangeSummary, GroundingLabel, Release
from areopage.ledger.gate_tables import exchange_reasons, exchange_texts, exchanges, grounding_labels, releases
from areopage.ledger.inserts import insert_into
from areopage.ledger.people_tables import review_items
from areopage.ledger.rows import chunks, naive, storable
from areopage.ledger.store import Ledger
from areopage.ledger.submissions import durable

PORTION = 200
"""Exchanges that `each` holds at a time, and that one transaction erases: each may have some ten thousand characters."""


class Exchanges:
    """The tables `exchanges`, `exchange_texts`, `exchange_reasons`, `grounding_labels`, `releases`.

    Each method may be called from any thread, and is one transaction but for `each`, `erase`, `prune` and `erase_before`.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def add(self, exchanges: Sequence[Exchange]) -> int:
        """Append, in one transaction; those with the verdict human_review join the review queue (why: `held`) unless imported.

        On return they are on the disk, whatever happens to power. An id that is there already stays as it is.

        Returns:
            How many are new.
        """
        if not exchanges:
            return 0
        with storage_errors(self._ledger.place), durable(self._ledger) as connection:
            return append(connection, exchanges)

    def get(self, id: str) -> Exchange | None:
        """One of them by its id; of an erased one what is counted stays, without texts."""
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            row = connection.execute(whole_rows().where(exchanges.c.id == storable(id))).one_or_none()
        return exchange_of(row) if row else None

    def list(self, filter: ExchangeFilter, *, limit: int = 50, before: int | None = None) -> Sequence[Exchange]:
        """The newest first, by their time; `before` is the number of the last one of the page before."""
        one = exchanges.c
        query = whole_rows().where(*conditions_of(filter)).order_by(one.at.desc(), one.number.desc()).limit(limit)
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            if before is not None:
                at = connection.execute(select(one.at).where(one.number == before)).scalar()
                if at is None:
                    return []
                query = query.where(or_(one.at < at, and_(one.at == at, one.number < before)))
            return [exchange_of(row) for row in connection.execute(query)]

    def each(self, filter: ExchangeFilter) -> Iterator[Exchange]:
        """All of them in the order they came, read in portions: memory does not grow with their number."""
        number, last = exchanges.c.number, 0
        query = whole_rows().where(*conditions_of(filter)).order_by(number).limit(PORTION)
        while True:
            with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
                found = [exchange_of(row) for row in connection.execute(query.where(number > last))]
            yield from found
            if len(found) < PORTION:
                return
            last = found[-1].number

    def each_labelled(self, filter: ExchangeFilter) -> Iterator[tuple[Exchange, Sequence[GroundingLabel]]]:
        """The same, each with its labels: see `labels`."""
        found = self.each(filter)
        while portion := tuple(islice(found, PORTION)):
            labels = self.labels([one.id for one in portion])
            for one in portion:
                yield one, labels.get(one.id, ())

    def count(self, filter: ExchangeFilter) -> int:
        """How many there are, for whoever shows how far `each` has come."""
        query = select(func.count()).select_from(exchanges).where(*conditions_of(filter))
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return int(connection.execute(query).scalar_one())

    def summary(self, filter: ExchangeFilter) -> ExchangeSummary:
        """Counts; cheap on a million rows."""
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return summed(connection, filter)

    def label(self, label: GroundingLabel) -> None:
        """Append a label; the item in the review queue is done once enough people labelled it and its answer does not wait."""
        with storage_errors(self._ledger.place), self._ledger.engine.begin() as connection:
            connection.execute(insert(grounding_labels), [label_row(label)])
            set_done(connection, label.exchange_id)

    def labels(self, exchange_ids: Sequence[str]) -> dict[str, Sequence[GroundingLabel]]:
        """The label of each rater that counts (his latest), by exchange."""
        found: dict[str, Sequence[GroundingLabel]] = {}
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            for part in chunks([storable(id) for id in exchange_ids]):
                query = select(grounding_labels).where(grounding_labels.c.exchange_id.in_(part))
                rows = connection.execute(query.order_by(grounding_labels.c.number))
                found |= counting_labels([label_of(row) for row in rows])
        return found

    def settle(self, release: Release, stored: Exchange | None = None) -> bool:
        """Release or refuse a held-back answer; False where somebody settled it before, or it is not held back.

        Args:
            stored: what stays of the exchange's texts now that nobody waits for them; None leaves them as they are.
        """
        row = {
            "exchange_id": storable(release.exchange_id),
            "state": release.state,
            "text": storable(release.text),
            "rater": storable(release.rater),
            "at": naive(release.at or datetime.now(UTC)),
        }
        with storage_errors(self._ledger.place), durable(self._ledger) as connection:
            # the row is locked against an erasure that comes at the same time
            held = select(exchanges.c.number).where(exchanges.c.id == row["exchange_id"], held_back()).with_for_update()
            number = connection.execute(held).scalar()
            statement = insert_into(connection, releases).on_conflict_do_nothing().returning(releases.c.exchange_id)
            settled = number is not None and connection.execute(statement, row).first() is not None
            if settled and number is not None:
                if stored is not None:
                    kept = {name: value for name, value in text_row(number, stored).items() if name != "exchange"}
                    connection.execute(update(exchange_texts).where(exchange_texts.c.exchange == number).values(**kept))
                set_done(connection, release.exchange_id)
        return settled

    def release(self, exchange_id: str) -> Release | None:
        """How a held-back answer stands; `waiting` where nobody settled it; None: no such id, or it was not held back."""
        id = storable(exchange_id)
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            row = connection.execute(select(releases).where(releases.c.exchange_id == id)).one_or_none()
            if row is not None:
                return release_of(row)
            held = connection.execute(select(exchanges.c.id).where(exchanges.c.id == id, held_back())).first()
        return Release(exchange_id=exchange_id, state="waiting") if held else None

    def erase(self, exchange_id: str, *, wipe: bool = True) -> bool:
        """Remove all texts of an exchange (and its labels' notes, its release), down to the bytes; its counts stay.

        An answer that waited for people is refused by that.

        Args:
            wipe: see `QualityScores.erase`.
        """
        with storage_errors(self._ledger.place):
            erased = erase_exchanges(self._ledger.engine, [storable(exchange_id)])
            if erased and wipe:
                wipe_remains(self._ledger.engine)
        return erased > 0

    def prune(self, days: int) -> int:
        """Erase the texts of exchanges that are older; returns how many."""
        return self.erase_before(datetime.now(UTC) - timedelta(days=days))

    def erase_before(self, moment: datetime) -> int:
        """Erase the texts of exchanges before a moment, in portions; returns how many."""
        erased = 0
        with storage_errors(self._ledger.place):
            while True:
                with self._ledger.engine.connect() as connection:
                    ids = older_exchanges(connection, moment, PORTION)
                if not ids:
                    break
                erased += erase_exchanges(self._ledger.engine, ids)
            if erased:
                wipe_remains(self._ledger.engine)
        return erased


def append(connection: Connection, given: Sequence[Exchange]) -> int:
    """Append the rows of exchanges; returns how many are new."""
    by_id: dict[str, Exchange] = {}
    for exchange in given:
        by_id.setdefault(storable(exchange.id), exchange)
    # transactions that bring the same ids at once wait for each other in one order
    order = sorted(by_id) if connection.dialect.name == "postgresql" else list(by_id)
    statement = insert_into(connection, exchanges).on_conflict_do_nothing().returning(exchanges.c.id, exchanges.c.number)
    found = connection.execute(statement, [exchange_row(by_id[id]) for id in order])
    new = {row.number: by_id[row.id] for row in found}
    if not new:
        return 0
    connection.execute(insert(exchange_texts), [text_row(number, exchange) for number, exchange in new.items()])
    reasons = [row for number, exchange in new.items() for row in reason_rows(number, exchange)]
    if reasons:
        connection.execute(insert(exchange_reasons), reasons)
    held = [item_row(exchange) for _, exchange in sorted(new.items()) if wants_review(exchange)]
    if held:
        queue = insert_into(connection, review_items).on_conflict_do_nothing(index_elements=["submission_id"])
        connection.execute(queue, held)
    return len(new)


def wants_review(exchange: Exchange) -> bool:
    """Whether people should look at an exchange."""
    return exchange.verdict == "human_review" and exchange.origin != "import"


def item_row(exchange: Exchange) -> dict[str, Any]:
    """An exchange's place in the review queue."""
    made = {"created_at": naive(exchange.at), "state": "open", "wanted": 1}
    return {"submission_id": storable(exchange.id), "why": HELD} | made


def set_done(connection: Connection, exchange_id: str) -> None:
    """Set the review item of an exchange done if as many people as wanted labelled it, and its answer does not wait.

    The item is locked before the labels are counted: of two raters who label at once, the second then sees both.
    """
    id = storable(exchange_id)
    own = and_(review_items.c.submission_id == id, review_items.c.why == HELD)
    connection.execute(select(review_items.c.number).where(own).with_for_update()).all()
    raters = select(func.count(grounding_labels.c.rater.distinct())).where(grounding_labels.c.exchange_id == id)
    complete = raters.scalar_subquery() >= review_items.c.wanted
    finished = update(review_items).where(own, review_items.c.state == "open", complete, ~waits(review_items.c.submission_id))
    connection.execute(finished.values(state="done"))
