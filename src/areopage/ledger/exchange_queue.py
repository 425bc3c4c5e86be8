"""Exchanges in the review queue: held-back answers that a reviewer cannot tell apart wait there as one item.

Their key (`held_key`) says which are equal. Of those that wait under one key the first has the item. Whoever adds to, settles or
erases from such a group holds its lock until his transaction ends: so none of them can be left without an item.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, exists, func, select, text, update

from areopage.ledger.exchange_rows import HELD, held_back, held_key, waits
from areopage.ledger.gate_records import Exchange
from areopage.ledger.gate_tables import exchanges, grounding_labels, releases
from areopage.ledger.inserts import insert_into
from areopage.ledger.people_tables import review_items
from areopage.ledger.rows import chunks, naive, storable


def queue_exchanges(connection: Connection, new: Mapping[int, Exchange]) -> None:
    """Queue what people should look at, in the order of their numbers; what is only looked at (in shadow mode) one by one."""
    keys = {number: held_key(one) for number, one in new.items()}
    rows = first_rows(connection, {key for key in keys.values() if key})
    for number, one in new.items():
        if one.verdict == "human_review" and one.origin != "import" and not keys[number]:
            rows[number] = item_row(storable(one.id), naive(one.at))
    insert_items(connection, rows)


def queue_equals(connection: Connection, keys: Collection[str]) -> None:
    """See to it that of equal answers that wait one has an item."""
    insert_items(connection, first_rows(connection, keys))


def first_rows(connection: Connection, keys: Collection[str]) -> dict[int, dict[str, Any]]:
    """Lock keys, and give the item of the first that waits under each, by its number, where none of them has one."""
    one, rows = exchanges.c, dict[int, dict[str, Any]]()
    lock_keys(connection, keys)
    for part in chunks(sorted(keys)):
        queued = select(one.held_key).join(review_items, review_items.c.submission_id == one.id)
        there = queued.where(*unsettled(part), review_items.c.why == HELD)
        left = sorted({*part}.difference(connection.execute(there).scalars()))
        no_item = ~exists().where(review_items.c.submission_id == one.id)
        first = select(func.min(one.number)).where(*unsettled(left), no_item).group_by(one.held_key)
        found = connection.execute(select(one.number, one.id, one.at).where(one.number.in_(first)))
        rows |= {row.number: item_row(row.id, row.at) for row in found}
    return rows


def item_row(id: str, at: Any) -> dict[str, Any]:
    """An exchange's place in the review queue."""
    return {"submission_id": id, "why": HELD, "created_at": at, "state": "open", "wanted": 1}


def insert_items(connection: Connection, rows: Mapping[int, dict[str, Any]]) -> None:
    """Insert items in the order of their exchanges' numbers; an answer that is in the queue already stays there as it is."""
    if rows:
        queue = insert_into(connection, review_items).on_conflict_do_nothing(index_elements=["submission_id"])
        connection.execute(queue, [row for _, row in sorted(rows.items())])


def lock_keys(connection: Connection, keys: Collection[str]) -> None:
    """Hold the locks of keys until the transaction ends; in SQLite whoever writes is alone anyway."""
    if connection.dialect.name == "postgresql":
        for key in sorted(keys):
            number = int.from_bytes(bytes.fromhex(key)[:8], "big", signed=True)
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": number})


def keys_of(connection: Connection, ids: Sequence[str]) -> set[str]:
    """The keys of exchanges; those that never waited have none."""
    query = select(exchanges.c.held_key).where(exchanges.c.id.in_(ids), exchanges.c.held_key != "")
    return set(connection.execute(query).scalars())


def unsettled(keys: Sequence[str]) -> tuple[ColumnElement[bool], ...]:
    """Which rows of `exchanges` wait under these keys."""
    return exchanges.c.held_key.in_(keys), exchanges.c.held_key != "", ~settled()


def settled() -> ColumnElement[bool]:
    """Whether somebody has decided on a row of `exchanges`."""
    return exists().where(releases.c.exchange_id == exchanges.c.id)


def lock_waiting(connection: Connection, id: str) -> dict[str, int]:
    """Lock a held-back answer and those that wait as one with it: their ids and numbers; none where that one does not wait."""
    one, keys = exchanges.c, keys_of(connection, [id])
    lock_keys(connection, keys)
    conditions = unsettled(sorted(keys)) if keys else (one.id == id, held_back(), ~settled())
    # the rows are locked against an erasure that comes at the same time
    rows = connection.execute(select(one.id, one.number).where(*conditions).order_by(one.number).with_for_update(of=exchanges))
    found = {row.id: row.number for row in rows}
    return found if id in found else {}


def count_waiting(connection: Connection, ids: Sequence[str]) -> dict[str, int]:
    """How many wait as one with each of these, itself included; those that do not wait are left out."""
    one, counts, found = exchanges.c, dict[str, int](), dict[str, int]()
    for part in chunks(ids):
        rows = connection.execute(select(one.id, one.held_key).where(one.id.in_(part), held_back(), ~settled())).all()
        for keys in chunks([row.held_key for row in rows if row.held_key]):
            query = select(one.held_key, func.count().label("rows")).where(*unsettled(keys)).group_by(one.held_key)
            counts |= {row.held_key: row.rows for row in connection.execute(query)}
        found |= {row.id: counts.get(row.held_key, 1) for row in rows}
    return found


def set_done(connection: Connection, exchange_id: str) -> None:
    """Set the review item of an exchange done if as many people as wanted labelled it, and its answer does not wait.

    Whoever labels one of equal answers has labelled them all. The item is locked before the labels are counted: of two raters
    who label at once, the second then sees both.
    """
    id = storable(exchange_id)
    keys = sorted(keys_of(connection, [id]))
    equal = select(exchanges.c.id).where(exchanges.c.held_key.in_(keys), exchanges.c.held_key != "") if keys else [id]
    own = and_(review_items.c.submission_id.in_(equal), review_items.c.why == HELD, review_items.c.state == "open")
    connection.execute(select(review_items.c.number).where(own).order_by(review_items.c.number).with_for_update()).all()
    raters = select(func.count(grounding_labels.c.rater.distinct())).where(grounding_labels.c.exchange_id.in_(equal))
    complete = raters.scalar_subquery() >= review_items.c.wanted
    connection.execute(update(review_items).where(own, complete, ~waits(review_items.c.submission_id)).values(state="done"))
