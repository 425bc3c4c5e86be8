"""Conversion between records and rows (texts, times, outcomes), and inserts with a rule for existing rows."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar, overload

import msgspec
from msgspec.json import Decoder
from sqlalchemy import Connection, Row, Table
from sqlalchemy.dialects import postgresql, sqlite

from areopage.ledger.records import Judgment, Label, Run, Verdict
from areopage.scoring.outcome import Outcome, Refused, Scored, TimedOut, Unparsed, Unreachable, outcome_name

KEYS_PER_QUERY = 500
Key = TypeVar("Key", str, int)
SURROGATES = re.compile("[\ud800-\udfff]")
TEXTS: Decoder[tuple[str, ...]] = Decoder(tuple[str, ...])
"""Reads the JSON of a list of texts."""


def chunks(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    """Split keys into portions that fit a query."""
    distinct = list(dict.fromkeys(keys))
    for start in range(0, len(distinct), KEYS_PER_QUERY):
        yield distinct[start : start + KEYS_PER_QUERY]


def is_scored(judgment: Judgment) -> bool:
    """Whether every verdict of a judgment is a score."""
    return bool(judgment.verdicts) and all(isinstance(verdict.outcome, Scored) for verdict in judgment.verdicts)


def row_of(record: Judgment | Run) -> dict[str, Any]:
    """A record's fields, with texts that every database accepts."""
    fields = msgspec.structs.asdict(record)
    return {name: storable(value) if isinstance(value, str) else value for name, value in fields.items()}


def judgment_row(judgment: Judgment) -> dict[str, Any]:
    """A judgment's row; its verdicts are separate rows."""
    row = row_of(judgment)
    del row["verdicts"]
    return row | {"steps": json_text(judgment.steps), "created_at": naive(judgment.created_at)}


def judgment_of(row: Row[Any], said: tuple[Verdict, ...]) -> Judgment:
    """Read a judgment from a row and its verdicts."""
    fields = {name: value for name, value in row._mapping.items() if name != "id"}
    return Judgment(**fields | {"steps": TEXTS.decode(row.steps), "created_at": aware(row.created_at), "verdicts": said})


def label_of(row: Row[Any]) -> Label:
    """Read a label from a row, which may have other columns."""
    return Label(
        answer_id=row.answer_id,
        rater=row.rater,
        criterion=row.criterion,
        score=row.score,
        sentences=msgspec.json.decode(row.sentences, type=tuple[int, ...]),
        note=row.note,
        origin=row.origin,
        created_at=aware(row.created_at),
    )


def verdict_row(judgment_id: int, verdict: Verdict) -> dict[str, Any]:
    """A verdict as a row; scores are a column, so that SQL can aggregate them."""
    outcome = verdict.outcome
    scored = isinstance(outcome, Scored)
    evidence = tuple(storable(extract) for extract in outcome.evidence) if isinstance(outcome, Scored) else ()
    return {
        "judgment_id": judgment_id,
        "criterion": verdict.criterion,
        "outcome": outcome_name(outcome),
        "score": outcome.score if isinstance(outcome, Scored) else None,
        "explanation": storable(outcome.explanation) if isinstance(outcome, Scored) else "",
        "evidence": json_text(evidence),
        "reason": "" if scored else storable(getattr(outcome, "reason", "")),
    }


FAILURES: dict[str, Callable[..., Outcome]] = {
    "unparsed": Unparsed,
    "refused": Refused,
    "timed_out": TimedOut,
    "unreachable": Unreachable,
}


def outcome_of(row: Row[Any]) -> Outcome:
    """Read the outcome of a verdict's row."""
    if row.outcome == "scored":
        return Scored(score=row.score, explanation=row.explanation, evidence=TEXTS.decode(row.evidence))
    return FAILURES[row.outcome](reason=row.reason)


def json_text(value: Any) -> str:
    """Serialise a value as JSON."""
    return msgspec.json.encode(value).decode()


def storable(text: str) -> str:
    """Replace NUL and lone surrogates by U+FFFD, for every database."""
    try:
        text.encode()  # ten times as fast as to search for what cannot be encoded
    except UnicodeEncodeError:
        text = SURROGATES.sub("\ufffd", text)
    return text.replace("\x00", "\ufffd")


def naive(moment: datetime) -> datetime:
    """Remove the zone of a UTC time, as in the columns."""
    return moment.astimezone(UTC).replace(tzinfo=None)


@overload
def aware(moment: datetime) -> datetime: ...
@overload
def aware(moment: None) -> None: ...
def aware(moment: datetime | None) -> datetime | None:
    """Add the UTC zone to a column's time."""
    return moment.replace(tzinfo=UTC) if moment else None


def storable_value(value: Any) -> Any:
    """Make every text of a nested value storable."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable_value(name): storable_value(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [storable_value(inner) for inner in value]
    return value


def storable_json(value: Any) -> str:
    """Serialise records as JSON that every database accepts."""
    try:
        text = json_text(value)
    except UnicodeEncodeError:  # half a character, which JSON has no form for
        return json_text(storable_value(msgspec.to_builtins(value)))
    return json_text(storable_value(msgspec.to_builtins(value))) if "\\u0000" in text else text


RowValues = dict[str, Any]
AnyInsert = postgresql.Insert | sqlite.Insert


def insert_into(connection: Connection, table: Table) -> AnyInsert:
    """Build an INSERT that supports conflict rules of the connection's database."""
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)


def _key_names(table: Table) -> list[str]:
    """The columns of a table's primary key."""
    return [column.name for column in table.primary_key.columns]


def insert_missing(connection: Connection, table: Table, rows: Sequence[RowValues]) -> None:
    """Insert rows; rows with an existing key are kept."""
    if rows:
        connection.execute(insert_into(connection, table).on_conflict_do_nothing(), _by_key(table, rows))


def insert_or_replace(connection: Connection, table: Table, row: RowValues) -> None:
    """Insert a row, or replace the values of an existing row."""
    keys = _key_names(table)
    statement = insert_into(connection, table)
    given = statement.excluded
    changes = {name: given[name] for name in row if name not in keys}
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=changes), [row])


def insert_or_add(connection: Connection, table: Table, rows: Sequence[RowValues]) -> None:
    """Insert rows of counts, or add their counts to existing rows."""
    if not rows:
        return
    keys = _key_names(table)
    statement = insert_into(connection, table)
    given = statement.excluded
    sums = {name: table.c[name] + given[name] for name in rows[0] if name not in keys}
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=sums), _by_key(table, rows))


def _by_key(table: Table, rows: Sequence[RowValues]) -> list[RowValues]:
    """Sort rows by primary key: PostgreSQL transactions on the same rows never wait for each other in a circle."""
    names = _key_names(table)
    return sorted(rows, key=lambda row: [row[name] for name in names])
