"""Judgments with their verdicts, in the caller's transaction."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from areopage.ledger.tables.answer_tables import judgments, verdicts
from areopage.ledger.tables.chain import seal, with_verdicts
from areopage.ledger.tables.records import Judgment, Verdict
from areopage.ledger.tables.rows import (
    RowValues,
    chunks,
    insert_numbered,
    insert_rows,
    outcome_of,
    record_of,
    row_of,
    values_of,
    verdict_row,
)

# made once: a condition on many keys that is made for one query keeps them in a reference cycle
_ATTEMPTS = select(judgments).where(judgments.c.key.in_(bindparam("keys", expanding=True))).order_by(judgments.c.id)
_VERDICTS = select(verdicts).where(verdicts.c.judgment_id.in_(bindparam("numbers", expanding=True)))


def attempts_of(connection: Connection, keys: Sequence[str]) -> Iterator[list[Judgment]]:
    """The judgments of keys in order, those of some keys after those of others."""
    for part in chunks(keys):
        yield judgments_of(connection, connection.execute(_ATTEMPTS, {"keys": part}).all())


def judgments_of(connection: Connection, rows: Sequence[Row[Any]]) -> list[Judgment]:
    """Read judgments with their verdicts from rows, in order."""
    said: dict[int, list[Verdict]] = {}
    for part in chunks([row.id for row in rows]):
        for row in connection.execute(_VERDICTS, {"numbers": part}):
            said.setdefault(row.judgment_id, []).append(Verdict(criterion=row.criterion, outcome=outcome_of(row)))
    return [record_of(Judgment, row, verdicts=tuple(said.get(row.id, ()))) for row in rows]


def insert_judgments(connection: Connection, judged: Sequence[Judgment]) -> None:
    """Append judgments with their verdicts."""
    if not judged:
        return
    added = [row_of(judgment, "verdicts") for judgment in judged]
    ids = insert_numbered(connection, judgments, added)
    said = [[verdict_row(number, verdict) for verdict in judgment.verdicts] for number, judgment in zip(ids, judged, strict=True)]
    insert_rows(connection, verdicts, [row for rows in said for row in rows])
    sealed = [with_verdicts(row | {"id": number}, rows) for number, row, rows in zip(ids, added, said, strict=True)]
    seal(connection, "added", "judgments", sealed)


def whole_judgments(connection: Connection, ids: Sequence[int]) -> list[RowValues]:
    """Return the rows of judgments by id, with what is hashed of their verdicts."""
    rows = connection.execute(select(judgments).where(judgments.c.id.in_(ids)).order_by(judgments.c.id))
    return judged_rows(connection, [values_of(row) for row in rows])


def judged_rows(connection: Connection, rows: Sequence[RowValues]) -> list[RowValues]:
    """Add to rows of judgments what is hashed of their verdicts."""
    said: dict[int, list[RowValues]] = {}
    for row in connection.execute(_VERDICTS, {"numbers": [judgment_row["id"] for judgment_row in rows]}):
        said.setdefault(row.judgment_id, []).append(values_of(row))
    return [with_verdicts(row, said.get(row["id"], [])) for row in rows]
