"""Reads numbers of many rows from a ledger's database in blocks: columns instead of a record for each row.

Values of few kinds (judge, criterion, pass, outcome, steps) become one number in the database: their texts are read once. Keys
come many in one text. A block of a SQLite ledger is read row by row without SQLAlchemy; PostgreSQL sends it in its binary format.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from sqlalchemy import Connection

from areopage.errors import StorageError
from areopage.ledger.rows import TEXTS
from areopage.scoring.outcome import OUTCOME_NAMES

Column = NDArray[np.float64]
Numbers = NDArray[np.int64]
Keys = NDArray[np.bytes_]
Table = NDArray[np.void]

BLOCK = 50_000
"""Judgments that are read together."""
_PORTION = 2_000  # rows that are turned into arrays together: few enough to stay in the processor's cache
_MOST = 2**62  # kinds that a whole number of the database can tell
_KEY = 64  # characters of a digest
FLOATS = ("score", "seconds", "prompt_tokens", "completion_tokens", "cost", "mass", "written")
"""The columns of numbers, in the order in which they are read."""
_VALUES = ("v.score", "j.seconds", "j.prompt_tokens", "j.completion_tokens", "j.cost", "v.mass", "v.written")
_FROM = "FROM judgments j CROSS JOIN verdicts v WHERE v.judgment_id = j.id AND "
_KINDS = ("j.pass_index", "j.turn", "v.outcome", "j.repair", "j.judge", "v.criterion", "j.steps")


class Where(Struct, frozen=True):
    """Which judgments `j` are read: a condition with a mark `?` for each value."""

    condition: str
    values: tuple[Any, ...]


class VerdictKind(Struct, frozen=True):
    """What verdicts of one kind have in common."""

    pass_index: int
    turn: int
    outcome: str
    repair: str
    judge: str
    criterion: str
    steps: tuple[str, ...]


class Verdicts(Struct, frozen=True, kw_only=True):
    """Verdicts, a row each; `numbers` has a row for each of the columns of `FLOATS`, NaN where one is NULL."""

    judgment: Numbers
    kind: Numbers
    numbers: Column


class KindReader:
    """Reads verdicts, and numbers their kinds from 0 in the order in which they are found."""

    def __init__(self) -> None:
        self._known: tuple[dict[Any, int], ...] = tuple({} for _ in _KINDS)
        self._numbers: dict[tuple[Any, ...], int] = {}

    def read(self, connection: Connection, where: Where) -> Verdicts:
        """The verdicts of some judgments.

        A value that was not met before has no number in the database's answer. It is looked up, and the rows are read again.
        """
        if not all(self._known):
            self._learn(connection, where)
        while True:
            code, values = self._expression()
            judgment, codes, numbers = _rows(
                connection, f"CAST(j.id AS BIGINT), {code}", _FROM, Where(where.condition, values + where.values)
            )
            if not np.any(codes < 0):
                return Verdicts(judgment=judgment, kind=self._kinds_of(codes), numbers=numbers)
            self._learn(connection, where)

    def all(self) -> tuple[VerdictKind, ...]:
        """The kinds, by number.

        Raises:
            StorageError: a verdict has an unknown outcome.
        """
        return tuple(map(_kind_of, self._numbers))

    def _expression(self) -> tuple[str, tuple[Any, ...]]:
        """The number of a verdict's values in SQL, −1 where one of them is not known, and the values in it."""
        terms: list[str] = []
        width = 1
        for column, known in zip(_KINDS, self._known, strict=True):
            cases = " ".join(f"WHEN ? THEN {number * width}" for number in known.values())
            terms.append(f"CASE {column} {cases} END" if known else "NULL")
            width *= len(known)
        if width > _MOST:
            raise StorageError("judgments of this run differ in too many ways to be read together")
        return f"coalesce(CAST(0 AS BIGINT) + {' + '.join(terms)}, -1)", tuple(chain.from_iterable(self._known))

    def _learn(self, connection: Connection, where: Where) -> None:
        query = f"SELECT DISTINCT {', '.join(_KINDS)} {_FROM} {where.condition}"
        for row in _fetched(connection, query, where.values):
            for known, value in zip(self._known, row, strict=True):
                known.setdefault(value, len(known))

    def _kinds_of(self, codes: Numbers) -> Numbers:
        found, at = _distinct(codes)
        tables = [list(known) for known in self._known]
        kinds = [self._numbers.setdefault(_values_of(code, tables), len(self._numbers)) for code in found.tolist()]
        return np.array(kinds, dtype=np.int64)[at]


def _distinct(codes: Numbers) -> tuple[Numbers, Numbers]:
    """The numbers that occur, and the place among them of each; numbers are counted where they are small, else sorted."""
    if codes.max(initial=0) > len(codes):
        return np.unique(codes, return_inverse=True)
    is_there = np.bincount(codes) > 0
    return np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[codes]


def _values_of(code: int, tables: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    found = []
    for values in tables:
        code, at = divmod(code, len(values))
        found.append(values[at])
    return tuple(found)


def _kind_of(values: tuple[Any, ...]) -> VerdictKind:
    number, turn, outcome, repair, judge, criterion, steps = values
    if outcome not in OUTCOME_NAMES:
        raise StorageError(f"the ledger is damaged: a verdict has the unknown outcome {outcome!r}")
    return VerdictKind(number, turn, outcome, repair, judge, criterion, TEXTS.decode(steps))


def blocks_of(connection: Connection, run_id: str) -> Iterator[Where]:
    """All judgments of a run in blocks, in order."""
    query = "SELECT min(j.id), max(j.id), count(*) FROM judgments j WHERE j.run_id = ?"
    ((first, last, count),) = _fetched(connection, query, (run_id,))
    if not count:
        return
    width = -(-(last - first + 1) // -(-count // BLOCK))
    for start in range(first, last + 1, width):
        yield Where("j.run_id = ? AND j.id BETWEEN ? AND ?", (run_id, start, start + width - 1))


def judgment_keys(connection: Connection, where: Where) -> tuple[Numbers, Keys]:
    """The numbers of some judgments, and their keys."""
    query = f"SELECT {_together(connection, 'j.id')}, {_together(connection, 'j.key')} FROM judgments j WHERE {where.condition}"  # noqa: S608 - no input in it
    ((numbers, keys),) = _fetched(connection, query, where.values)
    if numbers is None:
        return np.zeros(0, dtype=np.int64), key_column(())
    return np.fromstring(numbers, dtype=np.int64, sep=","), _split_keys(keys)


def links_of(connection: Connection, run_id: str) -> tuple[Numbers, Keys]:
    """The positions of a run's cases, once for each judgment that is linked to the case's answer, and the judgments' keys."""
    query = (
        f"SELECT c.position, count(*), {_together(connection, 'l.key')} FROM run_cases c CROSS JOIN answer_judgments l "  # noqa: S608 - no input in it
        "WHERE l.answer = c.answer AND l.run_id = c.run_id AND c.run_id = ? GROUP BY c.position ORDER BY c.position"
    )
    rows = _fetched(connection, query, (run_id,))
    if not rows:
        return np.zeros(0, dtype=np.int64), key_column(())
    position, count, keys = zip(*rows, strict=True)
    return np.repeat(np.array(position, dtype=np.int64), np.array(count)), _split_keys(",".join(keys))


def key_column(keys: Sequence[str]) -> Keys:
    """Keys as an array."""
    width = max((_KEY, *(len(key.encode()) for key in keys)))
    return np.array([key.encode() for key in keys], dtype=f"S{width}")


def _split_keys(text: str) -> Keys:
    """The keys in a text, between commas."""
    held = np.frombuffer(f"{text},".encode(), dtype=np.uint8)
    if len(held) % (_KEY + 1) == 0:
        table = held.reshape(-1, _KEY + 1)
        ends = table == ord(",")
        if ends[:, _KEY].all() and np.count_nonzero(ends) == len(table):
            return np.ascontiguousarray(table[:, :_KEY]).view(f"S{_KEY}")[:, 0]
    return key_column(text.split(","))


# --- the two databases


def _is_file(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"


def _together(connection: Connection, column: str) -> str:
    """The values of all rows in one text, between commas."""
    return f"group_concat({column})" if _is_file(connection) else f"string_agg({column}::text, ',')"


def _fetched(connection: Connection, query: str, values: Sequence[Any]) -> list[Any]:
    driver: Any = connection.connection  # SQLAlchemy's rows take twice the time
    with closing(driver.cursor()) as cursor:
        cursor.execute(query if _is_file(connection) else query.replace("?", "%s"), tuple(values))
        return list(cursor.fetchall())


def _rows(connection: Connection, numbers: str, source: str, where: Where) -> tuple[Numbers, Numbers, Column]:
    """Two whole numbers of each row, and the numbers of `_VALUES`."""
    if _is_file(connection):
        query = f"SELECT {numbers}, {', '.join(_VALUES)} {source} {where.condition}"
        parts = [_columns_of(rows) for rows in _portions(connection, query, where.values)] or [_columns_of(())]
        return tuple(np.concatenate(some, axis=-1) for some in zip(*parts, strict=True))  # type: ignore[return-value]
    known = ", ".join(f"coalesce({value}::float8, 'NaN')" for value in _VALUES)
    table = _copied(connection, f"SELECT {numbers}, {known} {source} {where.condition}", where.values)
    floats = np.array([table[name] for name in FLOATS], dtype=np.float64)
    return table["judgment"].astype(np.int64), table["code"].astype(np.int64), floats


def _portions(connection: Connection, query: str, values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    driver: Any = connection.connection
    with closing(driver.cursor()) as cursor:
        cursor.execute(query, tuple(values))
        while rows := cursor.fetchmany(_PORTION):
            yield rows


def _columns_of(rows: Sequence[Any]) -> tuple[Numbers, Numbers, Column]:
    first, second, *others = zip(*rows, strict=True) if rows else [()] * (2 + len(_VALUES))
    return np.array(first, dtype=np.int64), np.array(second, dtype=np.int64), np.array([*map(_with_nan, others)])


def _with_nan(values: Sequence[float | None]) -> Column:
    """Numbers with NaN for None; the usual case of a column that is not used is recognised first."""
    return np.full(len(values), np.nan) if values.count(None) == len(values) else np.array(values, dtype=np.float64)


_HEADER, _TRAILER = 19, 2  # bytes
_ROW = np.dtype(
    [("fields", ">i2")]
    + [part for name in ("judgment", "code") for part in ((f"{name} bytes", ">i4"), (name, ">i8"))]
    + [part for name in FLOATS for part in ((f"{name} bytes", ">i4"), (name, ">f8"))]
)
"""A row in PostgreSQL's binary format: every field with its length before it. No field is NULL."""


def _copied(connection: Connection, query: str, values: Sequence[Any]) -> Table:
    driver: Any = connection.connection
    with closing(driver.cursor()) as cursor:
        statement = f"COPY ({query.replace('?', '%s')}) TO STDOUT (FORMAT binary)"
        with cursor.copy(statement, tuple(values)) as stream:
            held = b"".join(stream)
    return np.frombuffer(held, dtype=_ROW, offset=_HEADER, count=(len(held) - _HEADER - _TRAILER) // _ROW.itemsize)
