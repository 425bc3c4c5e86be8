"""Answers on their way out, and what became of them."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice

from sqlalchemy import Connection, func, insert, or_, select, update

from areopage.ledger.connection import storage_errors
from areopage.ledger.erasure import wipe_remains
from areopage.ledger.exchange_days import add_to_days
from areopage.ledger.exchange_doubts import latest_label, stands
from areopage.ledger.exchange_erasure import erase_exchanges, erase_unlinked, older_exchanges
from areopage.ledger.exchange_queue import count_waiting, lock_waiting, queue_exchanges, set_done
from areopage.ledger.exchange_rows import (
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
    whole_rows,
)
from areopage.ledger.exchange_sums import summed
from areopage.ledger.gate_records import Exchange, ExchangeFilter, ExchangeSummary, GroundingLabel, Release
from areopage.ledger.gate_tables import (
    exchange_judgments,
    exchange_reasons,
    exchange_texts,
    exchanges,
    grounding_labels,
    releases,
)
from areopage.ledger.inserts import insert_into
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
                query = query.where(one.at <= at, or_(one.at < at, one.number < before))  # the first part seeks in an index
            return [exchange_of(row) for row in connection.execute(query)]

    def each(self, filter: ExchangeFilter) -> Iterator[Exchange]:
        """All of them in the order they came, read in portions: memory does not grow with their number."""
        number, last = exchanges.c.number, 0
        # along the key, once through the table: an index by time or verdict would be sorted by number for each portion again
        query = whole_rows().where(*conditions_of(filter, scan=filter.question is None)).order_by(number).limit(PORTION)
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

    def settle(self, release: Release, reduce: Callable[[Exchange], Exchange] | None = None) -> int:
        """Release or refuse a held-back answer, and all equal ones that wait with it; of two who come at once one does.

        Args:
            reduce: what stays of the texts now that nobody waits for them; None: all.

        Returns:
            How many were settled; 0 where somebody settled it before, or it is not held back.
        """
        settled = {
            "state": release.state,
            "text": storable(release.text),
            "rater": storable(release.rater),
            "at": naive(release.at or datetime.now(UTC)),
        }
        with storage_errors(self._ledger.place), durable(self._ledger) as connection:
            waiting = lock_waiting(connection, storable(release.exchange_id))
            if not waiting:
                return 0
            statement = insert_into(connection, releases).on_conflict_do_nothing().returning(releases.c.exchange_id)
            done = connection.execute(statement, [settled | {"exchange_id": id} for id in waiting]).scalars().all()
            if reduce is not None:
                reduce_texts(connection, [waiting[id] for id in done], reduce)
            set_done(connection, release.exchange_id)
        return len(done)

    def waiting(self, exchange_ids: Sequence[str]) -> dict[str, int]:
        """How many wait for one and the same decision as each of these, itself included; those that do not wait are left out."""
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return count_waiting(connection, [storable(id) for id in exchange_ids])

    def latest_label(self) -> int:
        """The number of the latest label; whoever labels from now on gets a higher one."""
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return latest_label(connection)

    def stands(self, exchange_id: str, label: int) -> bool:
        """Whether an exchange's answer may be given again: it is not erased, and no label after that one doubts it."""
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return stands(connection, storable(exchange_id), label)

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
        """Remove all texts of an exchange, down to the bytes; its counts stay.

        With them go its labels' notes, its release, and the judgments on its sentences that serve no other exchange.

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
        """Erase the texts of exchanges before a moment, in portions, and old judgments of none; returns how many exchanges."""
        erased = 0
        with storage_errors(self._ledger.place):
            while True:
                with self._ledger.engine.connect() as connection:
                    ids = older_exchanges(connection, moment, PORTION)
                if not ids:
                    break
                erased += erase_exchanges(self._ledger.engine, ids)
            if erase_unlinked(self._ledger.engine, moment) or erased:
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
    judged = [{"exchange": number, "key": key} for number, exchange in new.items() for key in dict.fromkeys(exchange.judgments)]
    if judged:
        connection.execute(insert(exchange_judgments), judged)
    queue_exchanges(connection, new)
    add_to_days(connection, new.values())
    return len(new)


def reduce_texts(connection: Connection, numbers: Sequence[int], reduce: Callable[[Exchange], Exchange]) -> None:
    """Put what stays of exchanges' texts in their place."""
    for part in chunks(numbers):
        for row in connection.execute(whole_rows().where(exchanges.c.number.in_(part))).all():
            kept = {name: value for name, value in text_row(row.number, reduce(exchange_of(row))).items() if name != "exchange"}
            connection.execute(update(exchange_texts).where(exchange_texts.c.exchange == row.number).values(**kept))
