"""Conversion between records and rows (texts, times, outcomes), and inserts with a rule for existing rows."""

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_origin, overload

import msgspec
from msgspec import Struct
from msgspec.json import Decoder
from sqlalchemy import ColumnElement, Connection, Dialect, Row, Select, Table, bindparam, insert
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError

from areopage.errors import DamagedLedger, DamagedRow
from areopage.ledger.tables.records import Verdict
from areopage.scoring import NotApplicable, Outcome, Refused, Scored, TimedOut, Unparsed, Unreachable

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

RowValues = dict[str, Any]
KEYS_PER_QUERY = 500
Key = TypeVar("Key")
Record = TypeVar("Record", bound=Struct)
Item = TypeVar("Item")
Value = TypeVar("Value")
SURROGATES = re.compile("[\ud800-\udfff]")
TEXTS: Decoder[tuple[str, ...]] = Decoder(tuple[str, ...])
"""Reads the JSON of a list of texts."""


def chunks(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    """Split keys into portions that fit a query."""
    distinct = list(dict.fromkeys(keys))
    for start in range(0, len(distinct), KEYS_PER_QUERY):
        yield distinct[start : start + KEYS_PER_QUERY]


def rows_in(connection: Connection, query: Select[Any], column: ColumnElement[Any], keys: Iterable[Any]) -> list[Any]:
    """The rows of a query in which a column has one of some keys, read in portions."""
    stored = [storable(key) if isinstance(key, str) else key for key in keys]
    # made once: a condition on many keys that is made for one query keeps them in a reference cycle
    within = query.where(column.in_(bindparam("keys", expanding=True)))
    return [row for part in chunks(stored) for row in connection.execute(within, {"keys": part})]


def valid_places(attempts: Iterable[tuple[str, bool]]) -> dict[str, int]:
    """The place of each key's valid judgment among attempts in order: the latest whole one, else the latest one.

    This is the rule for all applications. It does not matter which run or panel a judgment was made for.
    """
    places: dict[str, int] = {}
    with_whole: set[str] = set()
    for place, (key, whole) in enumerate(attempts):
        if whole:
            with_whole.add(key)
        if whole or key not in with_whole:
            places[key] = place
    return places


def row_of(record: Struct, *without: str) -> RowValues:
    """A record's fields as columns hold them: storable texts, times in UTC without a zone, JSON of what has parts."""
    row: RowValues = msgspec.structs.asdict(record)
    for name in without:
        del row[name]
    for name, value in row.items():
        if type(value) is str:
            row[name] = storable(value)
        elif isinstance(value, datetime):
            row[name] = naive(value)
        elif isinstance(value, (tuple, dict, Struct)):
            row[name] = storable_json(value)
    return row


def record_of(kind: type[Record], row: Row[Any], **others: Any) -> Record:
    """Read a record from the columns of a row that are called like its fields; see `row_of`.

    `others` are fields that are read otherwise; what is neither here nor in the row has its default.
    """
    columns, fields = values_of(row), dict[str, Any]()
    for name, decoder in _decoders(kind):
        if name in columns and name not in others:
            value = columns[name]
            if decoder is not None:
                try:
                    value = decoder.decode(value)
                except msgspec.MsgspecError as fault:
                    raise DamagedRow(_name_of(kind, columns), name, fault) from None
            elif isinstance(value, datetime):
                value = aware(value)
            fields[name] = value
    return kind(**fields, **others)


def decoded(decoder: Decoder[Value], text: str, row: str, column: str) -> Value:
    """Decode the JSON of a row's column.

    Raises:
        DamagedRow: it cannot be read.
    """
    try:
        return decoder.decode(text)
    except msgspec.MsgspecError as fault:
        raise DamagedRow(row, column, fault) from None


@cache
def _decoders(kind: type[Struct]) -> tuple[tuple[str, Decoder[Any] | None], ...]:
    """The fields of a record, each with what reads its JSON; None where the column holds the value itself."""
    decoders = []
    for field in msgspec.structs.fields(kind):
        has_parts = get_origin(field.type) in (tuple, dict) or (isinstance(field.type, type) and issubclass(field.type, Struct))
        decoders.append((field.name, Decoder(field.type) if has_parts else None))
    return tuple(decoders)


def readable(
    read: Callable[[Sequence[Item]], list[Value]], items: Sequence[Item], on_damage: Callable[[DamagedRow], None]
) -> list[Value]:
    """Read items, those with a damaged row left out; `on_damage` gets each of them."""
    try:
        return read(items)
    except DamagedRow as damage:
        if len(items) == 1:
            on_damage(damage)
            return []
    middle = len(items) // 2
    return [*readable(read, items[:middle], on_damage), *readable(read, items[middle:], on_damage)]


def _name_of(kind: type[Struct], columns: RowValues) -> str:
    """The name of a row by its record and its first key."""
    if "judgment_id" in columns:
        return f"verdicts of judgment {columns['judgment_id']}"
    key = next((columns[name] for name in ("id", "number", "answer_id") if name in columns), "")
    return f"{kind.__name__.lower()} {key}"


def values_of(row: Row[Any]) -> RowValues:
    """A row's values by column."""
    return dict(zip(row._fields, row, strict=True))  # in a fifth of the time of `_asdict`


_UNSAID = {"score": None, "mass": None, "written": None, "explanation": "", "evidence": "[]", "reason": ""}
_OUTCOMES: dict[str, type[Outcome]] = {
    str(kind.__struct_config__.tag): kind for kind in (Scored, NotApplicable, Unparsed, Refused, TimedOut, Unreachable)
}


def verdict_row(judgment_id: int, verdict: Verdict) -> dict[str, Any]:
    """A verdict as a row; scores are a column, so that SQL can aggregate them."""
    place = {"judgment_id": judgment_id, "criterion": verdict.criterion, "outcome": verdict.outcome.name}
    return place | _UNSAID | row_of(verdict.outcome)


def outcome_of(row: Row[Any]) -> Outcome:
    """Read the outcome of a verdict's row."""
    if row.outcome not in _OUTCOMES:
        raise DamagedLedger(f"judgment {row.judgment_id} has the unknown outcome {row.outcome!r}")
    return record_of(_OUTCOMES[row.outcome], row)


def json_text(value: Any) -> str:
    """Serialise a value as JSON."""
    return msgspec.json.encode(value).decode()


def storable(text: str) -> str:
    """Replace NUL and lone surrogates by U+FFFD, for every database."""
    if not text.isascii():
        try:
            text.encode()  # ten times as fast as to search for what cannot be encoded
        except UnicodeEncodeError:
            text = SURROGATES.sub("\ufffd", text)
    return text.replace("\x00", "\ufffd")


def naive(moment: datetime) -> datetime:
    """Remove the zone of a time, as in the columns, which hold UTC."""
    return (moment if moment.tzinfo is UTC else moment.astimezone(UTC)).replace(tzinfo=None)


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


AnyInsert = Union["postgresql.Insert", sqlite.Insert]


def insert_into(connection: Connection, table: Table) -> AnyInsert:
    """Build an INSERT that supports conflict rules of the connection's database."""
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # takes as long as the half of SQLAlchemy

    return postgresql.insert(table)


def insert_rows(connection: Connection, table: Table, rows: Sequence[RowValues], rule: str = "") -> None:
    """Insert rows, which all have the same columns; `rule` is the clause for existing rows, else they are an error."""
    if rows:
        _insert_values(connection, table, _names(rows), rows, rule)


def _insert_values(connection: Connection, table: Table, names: Sequence[str], rows: Sequence[RowValues], rule: str = "") -> Any:
    statement, converted = _prepared_insert(connection.dialect, table, tuple(names), rule)
    values = list(map(values_in(names), rows))
    if converted:
        values = [tuple(converted[at](value) if at in converted else value for at, value in enumerate(row)) for row in values]
    return carried_out(connection, statement, values)


@lru_cache(maxsize=256)
def _prepared_insert(
    dialect: Dialect, table: Table, names: tuple[str, ...], rule: str
) -> tuple[str, Mapping[int, Callable[[Any], Any]]]:
    """The driver's own statement, and what converts its values, by their places."""
    processors = [(at, table.c[name].type.dialect_impl(dialect).bind_processor(dialect)) for at, name in enumerate(names)]
    marks = ", ".join(["?" if dialect.name == "sqlite" else "%s"] * len(names))
    statement = f"INSERT INTO {table.name} ({_listed(names)}) VALUES ({marks}) {rule}"  # noqa: S608 - there is no input in it
    return statement, {at: convert for at, convert in processors if convert is not None}


def carried_out(connection: Connection, statement: str, values: Sequence[Sequence[Any]]) -> Any:
    """Execute a statement of the driver's own, once for each sequence of values; there is at least one.

    In SQLite it goes to the driver itself: what SQLAlchemy does for a statement takes longer than to write a row.
    """
    if connection.dialect.name != "sqlite":
        return connection.exec_driver_sql(statement, [tuple(row) for row in values] if len(values) > 1 else tuple(values[0]))
    cursor = connection.connection.cursor()
    try:
        if len(values) > 1:
            cursor.executemany(statement, values)
        else:
            cursor.execute(statement, values[0])
    except sqlite3.Error as error:
        raise DBAPIError.instance(statement, None, error, sqlite3.Error, dialect=connection.dialect) from error
    return cursor


def values_in(names: Sequence[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Return a function that reads the values of these columns from a row."""
    return itemgetter(*names) if len(names) > 1 else lambda row: (row[names[0]],)


def insert_numbered(connection: Connection, table: Table, rows: Sequence[RowValues]) -> list[int]:
    """Insert at least one row into a table that numbers its rows; return the numbers, in order.

    SQLite has one writer: once the first row is written, the numbers that follow are this transaction's. To have each number
    returned, SQLAlchemy would write row by row.
    """
    (key,) = table.primary_key.columns
    if connection.dialect.name != "sqlite":
        statement = insert(table).returning(key, sort_by_parameter_order=True)
        return list(connection.execute(statement, rows).scalars())
    first = int(_insert_values(connection, table, _names(rows), rows[:1]).lastrowid)
    numbers = list(range(first, first + len(rows)))
    insert_rows(connection, table, [row | {key.name: number} for number, row in zip(numbers[1:], rows[1:], strict=True)])
    return numbers


def insert_missing(connection: Connection, table: Table, rows: Sequence[RowValues]) -> None:
    """Insert rows; rows with an existing key are kept."""
    insert_rows(connection, table, _by_key(table, rows), "ON CONFLICT DO NOTHING")


def insert_or_replace(connection: Connection, table: Table, row: RowValues) -> None:
    """Insert a row, or replace the values of an existing row."""
    _insert_or_change(connection, table, [row], '"{0}" = excluded."{0}"')


def insert_or_add(connection: Connection, table: Table, rows: Sequence[RowValues]) -> None:
    """Insert rows of counts, or add their counts to existing rows."""
    _insert_or_change(connection, table, _by_key(table, rows), f'"{{0}}" = {table.name}."{{0}}" + excluded."{{0}}"')


def _insert_or_change(connection: Connection, table: Table, rows: Sequence[RowValues], change: str) -> None:
    keys = [column.name for column in table.primary_key.columns]
    changes = ", ".join(change.format(name) for name in _names(rows) if name not in keys)
    insert_rows(connection, table, rows, f"ON CONFLICT ({_listed(keys)}) DO UPDATE SET {changes}")


def _names(rows: Sequence[RowValues]) -> list[str]:
    return list(rows[0]) if rows else []


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _by_key(table: Table, rows: Sequence[RowValues]) -> list[RowValues]:
    """Sort rows by primary key: PostgreSQL transactions on the same rows never wait for each other in a circle."""
    names = [column.name for column in table.primary_key.columns if column.name in _names(rows)]
    return sorted(rows, key=lambda row: [row[name] for name in names])
