"""Columns of many rows as arrays: what a database makes of a whole column is one value, where each row would cost more.

PostgreSQL sends the bytes of numbers. SQLite writes numbers as a text between commas, whole ones the fastest.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

Column = NDArray[np.floating[Any]]
Numbers = NDArray[np.integer[Any]]
Keys = NDArray[np.bytes_]

_KEY = 64  # characters of a digest
_MISSING = -(2**63)  # stands for NULL: no score, duration, number of tokens, price or mass is less than a scale's end
_RARE = ("v.mass", "v.written", "j.cost")  # columns that are NULL in all rows of most runs
_DURATIONS = ("j.seconds",)
_SHORT, _FINE, _COARSE = 8, 60, 50
"""Durations under 8 s are whole numbers of 2⁻⁶⁰ s, but for the tiniest ones, and longer ones of 2⁻⁵⁰ s: both fit 64 bits."""


class Columns(Struct, frozen=True):
    """Columns of some rows: whole numbers, numbers with NaN for NULL, and keys. Numbers have 32 bits where these hold them."""

    wholes: Sequence[Numbers]
    numbers: Sequence[Column]
    keys: Keys


def unknown(rows: int) -> Column:
    """A column of NaN, which takes no memory."""
    return np.broadcast_to(np.float32(np.nan), rows)


def _is_unknown(column: NDArray[Any]) -> bool:
    return column.strides == (0,) and column.dtype.kind == "f"


def narrowed(column: NDArray[Any]) -> NDArray[Any]:
    """The column in 32 bits, where these hold all of its values."""
    if _is_unknown(column):
        return column
    with np.errstate(over="ignore"):
        short = column.astype(np.int32 if column.dtype.kind == "i" else np.float32)
    is_same = short == column
    return short if (is_same | (column != column)).all() else column  # noqa: PLR0124 - NaN is the value that differs from itself


class GrowingColumn:
    """A column that grows part by part, in one piece: parts that are joined in the end are held twice."""

    def __init__(self, expected: int = 0) -> None:
        """Args:
        expected: how many rows it will have; memory that is not written to is not taken.
        """
        self._expected, self._rows = expected, 0
        self._column: NDArray[Any] | None = None  # None where all numbers are unknown so far

    def add(self, part: NDArray[Any]) -> None:
        """Add rows, which may be of a wider type than those before."""
        if not _is_unknown(part) or self._column is not None:
            needed = self._rows + len(part)
            held = unknown(self._rows) if self._column is None else self._column
            kind = np.result_type(held, part) if self._rows else part.dtype
            if len(held) < needed or held.dtype != kind or self._column is None:
                room = len(held) if needed <= len(held) else 2 * len(held)
                self._column = np.empty(max(needed, self._expected, room), dtype=kind)
                self._column[: self._rows] = held[: self._rows]
            self._column[self._rows : needed] = part
        self._rows += len(part)

    def whole(self) -> NDArray[Any]:
        """All rows so far."""
        if not self._rows:
            return np.zeros(0, dtype=np.int64)
        return unknown(self._rows) if self._column is None else self._column[: self._rows]


class GrowingTable:
    """Columns of the same rows that grow part by part."""

    def __init__(self, columns: int, expected: int = 0) -> None:
        """Args:
        expected: how many rows it will have.
        """
        self._columns = [GrowingColumn(expected) for _ in range(columns)]

    def add(self, *parts: NDArray[Any]) -> None:
        """Add rows, a part to each column."""
        for column, part in zip(self._columns, parts, strict=True):
            column.add(part)

    def whole(self) -> list[NDArray[Any]]:
        """The columns so far."""
        return [column.whole() for column in self._columns]


def joined(*parts: NDArray[Any]) -> NDArray[Any]:
    """The parts of a column in one piece."""
    found = GrowingColumn(sum(map(len, parts)))
    for part in parts:
        found.add(part)
    return found.whole()


def taken(column: NDArray[Any], rows: Numbers) -> NDArray[Any]:
    """Some rows of a column, in this order."""
    return unknown(len(rows)) if _is_unknown(column) else column[rows]


def read_columns(
    connection: Connection, wholes: Sequence[str], numbers: Sequence[str], keys: Sequence[str], source: str, values: Sequence[Any]
) -> Columns:
    """Read columns of the rows of a source.

    Numbers are first read in a way that suits most runs, and again where it does not.

    Args:
        wholes: expressions that are never NULL.
        numbers: names of columns.
        keys: the name of a column of texts without commas, or none.
        source: the clauses of a query from FROM on; as in the expressions, a mark `?` stands for each value.
    """
    database = _Sqlite() if _is_file(connection) else _Postgres()
    fixed = [*map(database.whole, wholes), *map(database.text, keys)]
    for usual in (True, False):
        asked = ", ".join((*fixed, *(database.number(one, usual=usual) for one in numbers)))
        ((count, *found),) = fetched(connection, f"SELECT count(*), {asked} {source}", values)
        read = [database.numbers_in(one, name, usual=usual) for name, one in zip(numbers, found[len(fixed) :], strict=True)]
        if all(len(one) in ((0, count) if name in _RARE else (count,)) for name, one in zip(numbers, read, strict=True)):
            break
    return Columns(
        wholes=[narrowed(database.wholes_in(one)) for one in found[: len(wholes)]],
        numbers=tuple(narrowed(one) if len(one) else unknown(count) for one in read),
        keys=split_keys(found[len(wholes)] or b"") if keys else key_column(()),
    )


def fetched(connection: Connection, query: str, values: Sequence[Any]) -> list[Any]:
    """The rows of a query in which a mark `?` stands for each value."""
    driver: Any = connection.connection  # SQLAlchemy's rows take twice the time
    try:
        with closing(driver.cursor() if _is_file(connection) else driver.cursor(binary=True)) as cursor:
            cursor.execute(query if _is_file(connection) else query.replace("?", "%s"), tuple(values))
            return list(cursor.fetchall())
    except connection.dialect.loaded_dbapi.Error as error:
        raise DBAPIError(query, None, error) from error


def key_column(keys: Sequence[str]) -> Keys:
    """Keys as an array."""
    width = max((_KEY, *(len(key.encode()) for key in keys)))
    return np.array([key.encode() for key in keys], dtype=f"S{width}")


def split_keys(text: bytes) -> Keys:
    """The keys in a text, between commas."""
    if not text:
        return key_column(())
    held = np.frombuffer(text + b",", dtype=np.uint8)
    if len(held) % (_KEY + 1) == 0:
        table = held.reshape(-1, _KEY + 1)
        ends = table == ord(",")
        if ends[:, _KEY].all() and np.count_nonzero(ends) == len(table):
            return np.ascontiguousarray(table[:, :_KEY]).view(f"S{_KEY}")[:, 0]
    return key_column(text.decode().split(","))


# --- the two databases


def _is_file(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"


class _Database(ABC):
    """How a column becomes one value in a database's answer, and that value an array."""

    @abstractmethod
    def whole(self, expression: str) -> str:
        """Whole numbers, none of them NULL."""

    @abstractmethod
    def number(self, column: str, *, usual: bool) -> str:
        """Numbers, of which some may be NULL; in the usual way rare columns without their NULLs."""

    @abstractmethod
    def text(self, column: str) -> str:
        """Texts, between commas, as bytes."""

    @abstractmethod
    def wholes_in(self, value: Any) -> Numbers:
        """What `whole` asks for."""

    @abstractmethod
    def numbers_in(self, value: Any, column: str, *, usual: bool) -> Column:
        """What `number` asks for."""


class _Postgres(_Database):
    """Numbers as their eight bytes."""

    def whole(self, expression: str) -> str:
        return f"string_agg(int8send(CAST({expression} AS BIGINT)), '')"

    def number(self, column: str, *, usual: bool) -> str:
        exact = f"CAST({column} AS DOUBLE PRECISION)"
        known = exact if usual and column in _RARE else f"coalesce({exact}, 'NaN')"
        return f"string_agg(float8send({known}), '')"

    def text(self, column: str) -> str:
        return f"string_agg(textsend({column}), ',')"

    def wholes_in(self, value: Any) -> Numbers:
        return np.frombuffer(value or b"", dtype=">i8").astype(np.int64)

    def numbers_in(self, value: Any, column: str, *, usual: bool) -> Column:
        return np.frombuffer(value or b"", dtype=">f8").astype(np.float64)


class _Sqlite(_Database):
    """Numbers as texts from which the same numbers are read again."""

    def whole(self, expression: str) -> str:
        return f"group_concat({expression})"

    def number(self, column: str, *, usual: bool) -> str:
        missing = "NULL" if usual and column in _RARE else f"{_MISSING}"
        if usual and column in _DURATIONS:
            fine, coarse = (f"CAST({column} * (1 << {bits}) AS INTEGER)" for bits in (_FINE, _COARSE))
            short = f"WHEN {column} >= 0 AND {column} < {_SHORT} AND {fine} / CAST(1 << {_FINE} AS REAL) = {column} THEN {fine}"
            long = f"WHEN {column} >= {_SHORT} AND {coarse} / CAST(1 << {_COARSE} AS REAL) = {column} THEN -{coarse}"
            return f"group_concat(CASE WHEN {column} IS NULL THEN {missing} {short} {long} END)"
        whole, digits = f"CAST({column} AS INTEGER)", f"printf('%!.20g', {column})"  # with fewer digits some change
        return f"group_concat(CASE WHEN {column} IS NULL THEN {missing} WHEN {whole} = {column} THEN {whole} ELSE {digits} END)"

    def text(self, column: str) -> str:
        return f"CAST(group_concat({column}) AS BLOB)"

    def wholes_in(self, value: Any) -> Numbers:
        return _whole(value or "")

    def numbers_in(self, value: Any, column: str, *, usual: bool) -> Column:
        text = value or ""
        is_whole = not any(mark in text for mark in ".eEnN")
        if not is_whole:
            found = np.fromstring(text, dtype=np.float64, sep=",")
            return np.where(found == _MISSING, np.nan, found)
        counts = _whole(text)
        found = counts.astype(np.float64)
        if usual and column in _DURATIONS:
            found *= np.where(counts >= 0, 2.0**-_FINE, -(2.0**-_COARSE))
        found[counts == _MISSING] = np.nan
        return found


def _whole(text: str) -> Numbers:
    """The whole numbers in a text, between commas. They are parsed ten times as fast as others."""
    return np.fromstring(text, dtype=np.int64, sep=",")
