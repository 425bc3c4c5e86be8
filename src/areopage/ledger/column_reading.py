"""Reads numbers of many rows from a ledger's database in blocks: columns instead of a record for each row.

Values of few kinds (judge, criterion, pass, outcome, steps) become one number in the database: their texts are read once.
A column of a block comes as one text: rows cost more in both databases, and hold Python's lock.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from areopage.errors import StorageError
from areopage.ledger.rows import TEXTS
from areopage.scoring.outcome import OUTCOME_NAMES

Column = NDArray[np.float64]
Numbers = NDArray[np.int64]
Keys = NDArray[np.bytes_]

BLOCK = 50_000
"""Judgments that are read together."""
_MOST = 2**62  # kinds that a whole number of the database can tell
_KEY = 64  # characters of a digest
OF_VERDICT = ("score", "mass", "written")
"""The columns of numbers of a verdict, in the order in which they are read."""
OF_JUDGMENT = ("seconds", "prompt_tokens", "completion_tokens", "cost")
"""The columns of numbers of a judgment, in the order in which they are read."""
_MISSING = -(2**63)  # stands for NULL: no score, duration, number of tokens, price or mass is less than a scale's end
_RARE = ("v.mass", "v.written", "j.cost")  # columns that are NULL in all rows of most runs
_FROM = "FROM judgments j CROSS JOIN verdicts v WHERE v.judgment_id = j.id AND "
_KINDS = ("j.pass_index", "j.turn", "v.outcome", "j.repair", "j.judge", "v.criterion", "j.steps")


class Where(Struct, frozen=True):
    """Which judgments `j` are read: a condition with a mark `?` for each value.

    Args:
        span: their first and last number, if these are known. PostgreSQL walks through all verdicts where it is not told of them.
    """

    condition: str
    values: tuple[Any, ...]
    span: tuple[int, int] | None = None

    def source(self, *, verdicts: bool) -> tuple[str, tuple[Any, ...]]:
        """The clauses of a query for these judgments, or for their verdicts `v`, and the values in them."""
        if not verdicts:
            return f"FROM judgments j WHERE {self.condition}", self.values
        if self.span is None:
            return f"{_FROM} {self.condition}", self.values
        return f"{_FROM} {self.condition} AND v.judgment_id BETWEEN ? AND ?", self.values + self.span


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
    """Verdicts, a row each; `numbers` has a row for each of the columns of `OF_VERDICT`, NaN where one is NULL."""

    judgment: Numbers
    kind: Numbers
    numbers: Column


class Judgments(Struct, frozen=True, kw_only=True):
    """Judgments, a row each; `numbers` has a row for each of the columns of `OF_JUDGMENT`, NaN where one is NULL."""

    number: Numbers
    key: Keys
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
            source, given = where.source(verdicts=True)
            texts, numbers = _columns(connection, ("j.id", code), _of("v", OF_VERDICT), source, values + given)
            judgment, codes = map(_whole, texts)
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
        source, values = where.source(verdicts=True)
        for row in _fetched(connection, f"SELECT DISTINCT {', '.join(_KINDS)} {source}", values):
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
        span = (start, start + width - 1)
        yield Where("j.run_id = ? AND j.id BETWEEN ? AND ?", (run_id, *span), span)


def read_judgments(connection: Connection, where: Where) -> Judgments:
    """Some judgments, with or without a verdict."""
    source, values = where.source(verdicts=False)
    (number, keys), numbers = _columns(connection, ("j.id", "j.key"), _of("j", OF_JUDGMENT), source, values)
    return Judgments(number=_whole(number), key=_split_keys(keys) if keys else key_column(()), numbers=numbers)


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
    try:
        with closing(driver.cursor()) as cursor:
            if not _is_file(connection):
                cursor.execute("SET LOCAL extra_float_digits = 1")  # the default: numbers in texts are exact
            cursor.execute(query if _is_file(connection) else query.replace("?", "%s"), tuple(values))
            return list(cursor.fetchall())
    except connection.dialect.loaded_dbapi.Error as error:
        raise DBAPIError(query, None, error) from error


def _of(table: str, names: Sequence[str]) -> list[str]:
    return [f"{table}.{name}" for name in names]


def _exact(connection: Connection, column: str, missing: str) -> str:
    """A number as a text that gives the same number again; `missing` stands for NULL. Whole numbers are written fastest."""
    if not _is_file(connection):
        return f"coalesce({column}::text, {missing})"
    whole, digits = f"CAST({column} AS INTEGER)", f"printf('%!.20g', {column})"  # with fewer digits some change
    return f"CASE WHEN {column} IS NULL THEN {missing} WHEN {whole} = {column} THEN {whole} ELSE {digits} END"


def _columns(
    connection: Connection, texts: Sequence[str], numbers: Sequence[str], source: str, values: Sequence[Any]
) -> tuple[list[str], Column]:
    """Columns as texts between commas, and columns of numbers with NaN for NULL: a row for each column.

    Columns that are rarely used are first read without their NULLs: usually there is nothing else in them, or nothing is NULL.
    """
    for rare in (_RARE, ()):
        exact = [_exact(connection, one, "NULL" if one in rare else f"'{_MISSING}'") for one in numbers]
        asked = ", ".join(_together(connection, one) for one in (*texts, *exact))
        ((count, *found),) = _fetched(connection, f"SELECT count(*), {asked} {source}", values)
        read = [_with_nan(text or "") for text in found[len(texts) :]]
        if all(len(one) in (0, count) for one in read):
            break
    return [text or "" for text in found[: len(texts)]], np.array([one if len(one) else np.full(count, np.nan) for one in read])


def _with_nan(text: str) -> Column:
    """The numbers in a text, between commas, NaN for missing ones. Whole numbers are parsed ten times as fast as others."""
    is_whole = not any(mark in text for mark in ".eEnN")
    found = _whole(text).astype(np.float64) if is_whole else np.fromstring(text, dtype=np.float64, sep=",")
    found[found == _MISSING] = np.nan
    return found


def _whole(text: str) -> Numbers:
    """The whole numbers in a text, between commas."""
    return np.fromstring(text, dtype=np.int64, sep=",")
