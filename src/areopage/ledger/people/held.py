"""Held answers: which wait for a person, and their place in the review queue.

Held answers that look equal to a reviewer wait in the queue as one item. Their key (`held_key`) says which are equal. Of
those that wait under one key the first has the item. A transaction that adds to, settles or erases from such a group holds its
lock until it ends: so none of them can be left without an item.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, func, select, text

from areopage.ledger.people.labels import insert_items
from areopage.ledger.tables.answer_tables import answers, decisions, releases
from areopage.ledger.tables.records import ReviewItem
from areopage.ledger.tables.rows import aware, chunks, rows_in, storable_json
from areopage.ledger.tables.schema import review_items
from areopage.ledger.tables.trace_records import Trace
from areopage.ledger.write.answers import prompt_key

HELD = "held"
"""Why a held answer is in the review queue."""


def held_key(trace: Trace) -> str:
    """The same for held answers that look equal to a reviewer: collection, prompt, response, documents, and the gate's
    version; "" for what does not wait."""
    if not trace.waits:
        return ""
    documents = [(document.id, document.title, document.text, document.source) for document in trace.documents]
    shown = [trace.collection, prompt_key(trace.prompt), trace.response, documents, trace.version]
    return hashlib.sha256(storable_json(shown).encode()).hexdigest()[:32]


def lock_waiting(connection: Connection, id: str) -> dict[str, int]:
    """Lock the answers that share a pending release with this answer; return their numbers by id."""
    keys = keys_of(connection, [id])
    lock_keys(connection, keys)
    # the rows are locked against an erasure that comes at the same time
    query = _waiting(select(answers.c.id, answers.c.number), decisions.c.held_key.in_(sorted(keys)))
    rows = connection.execute(query.order_by(answers.c.number).with_for_update(of=answers))
    numbers = {row.id: row.number for row in rows}
    return numbers if id in numbers else {}


def count_waiting(connection: Connection, ids: Sequence[str]) -> dict[str, int]:
    """Count the answers of each pending release, the answer included; others are skipped."""
    key = decisions.c.held_key
    waiting = rows_in(connection, _waiting(select(answers.c.id, key)), answers.c.id, ids)
    count = _waiting(select(key, func.count())).group_by(key)
    counts = dict(map(tuple, rows_in(connection, count, key, [row.held_key for row in waiting])))
    return {row.id: counts[row.held_key] for row in waiting}


# --- the review queue


def queue_traces(connection: Connection, new: Mapping[int, Trace]) -> None:
    """Queue new traces that a person should look at, in the order of their numbers; those of shadow mode one by one."""
    keys = {number: held_key(trace) for number, trace in new.items()}
    rows = _first_rows(connection, {key for key in keys.values() if key})
    for number, trace in new.items():
        if trace.verdict == "human_review" and trace.channel != "import" and not keys[number]:
            rows[number] = ReviewItem(answer_id=trace.id, why=HELD, created_at=trace.at)
    insert_items(connection, [rows[number] for number in sorted(rows)])


def queue_equals(connection: Connection, keys: Collection[str]) -> None:
    """Give one of the equal answers that wait under each key an item, where none of them has one."""
    insert_items(connection, [item for _, item in sorted(_first_rows(connection, keys).items())])


def lock_keys(connection: Connection, keys: Collection[str]) -> None:
    """Hold the locks of keys until the transaction ends; SQLite lets one transaction write at a time anyway."""
    if connection.dialect.name == "postgresql":
        for key in sorted(keys):
            number = int.from_bytes(bytes.fromhex(key)[:8], "big", signed=True)
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": number})


def keys_of(connection: Connection, ids: Sequence[str]) -> set[str]:
    """The keys of answers; those that never waited have none."""
    query = _with_decisions(select(decisions.c.held_key)).where(answers.c.id.in_(ids), decisions.c.held_key != "")
    return set(connection.execute(query).scalars())


# --- conditions


def is_held() -> ColumnElement[bool]:
    """Whether the user got the answer of a row of `decisions` neither at once nor by a release.

    For rows that are sought by their answers: the functions keep SQLite from seeking an index by verdict or channel instead.
    """
    columns = decisions.c
    verdict, channel = (func.coalesce(column, column) for column in (columns.verdict, columns.channel))
    return and_(verdict == "human_review", channel.in_(("chat", "check")), columns.mode != "shadow")


# --- inside


def _first_rows(connection: Connection, keys: Collection[str]) -> dict[int, ReviewItem]:
    """Lock keys, and give the item of the first that waits under each, by its number, where none of them has one."""
    columns, rows = decisions.c, dict[int, ReviewItem]()
    lock_keys(connection, keys)
    for part in chunks(sorted(keys)):
        queued = _waiting(select(columns.held_key), columns.held_key.in_(part)).join(
            review_items, review_items.c.answer_id == answers.c.id
        )
        left = sorted({*part}.difference(connection.execute(queued.where(review_items.c.why == HELD)).scalars()))
        no_item = ~exists().where(review_items.c.answer_id == answers.c.id)
        first = _waiting(select(func.min(columns.answer)), columns.held_key.in_(left), no_item).group_by(columns.held_key)
        first_rows = connection.execute(
            _with_decisions(select(columns.answer, answers.c.id, columns.at)).where(columns.answer.in_(first))
        )
        rows |= {row.answer: ReviewItem(answer_id=row.id, why=HELD, created_at=aware(row.at)) for row in first_rows}
    return rows


def _with_decisions(query: Select[Any]) -> Select[Any]:
    return query.select_from(decisions.join(answers, answers.c.number == decisions.c.answer))


def _waiting(query: Select[Any], *conditions: ColumnElement[bool]) -> Select[Any]:
    """A query over decisions and their answers, of those that wait; that the key is not "" lets the partial index serve."""
    settled = exists().where(releases.c.answer_id == answers.c.id)
    return _with_decisions(query).where(*conditions, decisions.c.held_key != "", ~settled)
