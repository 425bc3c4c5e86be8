"""Reads what is told of many judgments from a ledger in blocks: columns instead of a record for each row.

Values of few kinds (judge, criterion, pass, outcome, steps) become one number in the database: their texts are read once.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from msgspec import Struct
from sqlalchemy import Connection

from areopage.errors import StorageError
from areopage.ledger.key_digests import Digests, digests_of
from areopage.ledger.number_columns import Column, Columns, Keys, Numbers, fetched, read_columns

BLOCK = 50_000
"""Judgments that are read together."""
_FIRST = 1_000  # of the first block: most kinds are learnt from it
_CASES = 500  # cases whose links are read together: PostgreSQL looks them up, where it would go through all links for more
_MOST = 2**62  # kinds that a whole number of the database can tell
OF_VERDICT = ("score", "mass", "written")
"""The columns of numbers of a verdict, in the order in which they are read."""
OF_JUDGMENT = ("seconds", "prompt_tokens", "completion_tokens", "cost")
"""The columns of numbers of a judgment, in the order in which they are read."""
KINDS_OF_VERDICT = ("v.outcome", "v.criterion")
KINDS_OF_JUDGMENT = ("j.pass_index", "j.turn", "j.repair", "j.judge", "j.steps")


class Where(Struct, frozen=True):
    """Which judgments `j` are read: a condition with a mark `?` for each value.

    Args:
        span: their first and last number, if these are known. PostgreSQL walks through all verdicts where it is not told of them.
        dense: most judgments with numbers of the span are among them: their verdicts are read without a look at judgments, those
            of others with them.
    """

    condition: str
    values: tuple[Any, ...]
    span: tuple[int, int] | None = None
    dense: bool = False

    @property
    def judgments(self) -> tuple[str, tuple[Any, ...]]:
        """The clauses of a query for these judgments, and the values in them."""
        return f"FROM judgments j WHERE {self.condition}", self.values

    @property
    def verdicts(self) -> tuple[str, tuple[Any, ...]]:
        """The clauses of a query for their verdicts `v`, and the values in them."""
        within = "v.judgment_id BETWEEN ? AND ?"
        if self.span is not None and self.dense:
            return f"FROM verdicts v WHERE {within}", self.span
        joined = f"FROM judgments j CROSS JOIN verdicts v WHERE v.judgment_id = j.id AND {self.condition}"
        return (joined, self.values) if self.span is None else (f"{joined} AND {within}", self.values + self.span)


class Verdicts(Struct, frozen=True, kw_only=True):
    """Verdicts, a row each; `numbers` are the columns of `OF_VERDICT`, NaN where one is NULL."""

    judgment: Numbers
    kind: Numbers
    numbers: Sequence[Column]


class Judgments(Struct, frozen=True, kw_only=True):
    """Judgments, a row each; `numbers` are the columns of `OF_JUDGMENT`, NaN where one is NULL, `digest` is that of the key."""

    number: Numbers
    digest: Digests
    kind: Numbers
    numbers: Sequence[Column]


class Kinds:
    """The kinds of rows that differ in some columns, numbered from 0 in the order in which they are found."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns
        self._known: tuple[dict[Any, int], ...] = tuple({} for _ in columns)
        self._numbers: dict[tuple[Any, ...], int] = {}

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self._numbers)

    def expression(self) -> tuple[str, tuple[Any, ...]]:
        """The number of a row's values in SQL, −1 where one of them is not known, and the values in it."""
        terms: list[str] = []
        width = 1
        for column, known in zip(self._columns, self._known, strict=True):
            cases = " ".join(f"WHEN ? THEN {number * width}" for number in known.values())
            terms.append(f"CASE {column} {cases} END" if known else "NULL")
            width *= len(known)
        if width > _MOST:
            raise StorageError("judgments of this run differ in too many ways to be read together")
        return f"coalesce(CAST(0 AS BIGINT) + {' + '.join(terms)}, -1)", tuple(chain.from_iterable(self._known))

    def learn(self, connection: Connection, source: str, values: Sequence[Any]) -> None:
        """Look up the values of the rows of which one is not known."""
        code, known = self.expression()
        query = f"SELECT DISTINCT {', '.join(self._columns)} {source} AND {code} = -1"
        for row in fetched(connection, query, (*values, *known)):
            for of_column, value in zip(self._known, row, strict=True):
                of_column.setdefault(value, len(of_column))

    def numbered(self, codes: Numbers) -> Numbers:
        """The kinds of rows by what `expression` tells of them."""
        found, at = distinct(codes)
        tables = [list(known) for known in self._known]
        kinds = [self._numbers.setdefault(_values_of(code, tables), len(self._numbers)) for code in found.tolist()]
        return np.array(kinds, dtype=np.int32)[at]


def distinct(codes: Numbers) -> tuple[Numbers, Numbers]:
    """The numbers that occur, and the place among them of each; numbers are counted where they are small, else sorted."""
    if codes.max(initial=0) > len(codes):
        found, at = np.unique(codes, return_inverse=True)
        return found, at.astype(np.int32)
    is_there = np.bincount(codes) > 0
    return np.flatnonzero(is_there), (np.cumsum(is_there, dtype=np.int32) - 1)[codes]


def _values_of(code: int, tables: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    found = []
    for values in tables:
        code, at = divmod(code, len(values))
        found.append(values[at])
    return tuple(found)


def blocks_of(connection: Connection, run_id: str) -> tuple[int, list[Where]]:
    """How many judgments a run has, and all of them in blocks, in order."""
    query = "SELECT min(j.id), max(j.id), count(*) FROM judgments j WHERE j.run_id = ?"
    ((first, last, count),) = fetched(connection, query, (run_id,))
    found: list[Where] = []
    if not count:
        return 0, found
    size = last - first + 1
    width, dense = -(-size // -(-count // BLOCK)), 2 * count > size
    own = "coalesce(j.run_id, '')" if dense else "j.run_id"  # the numbers tell enough: no database looks the run up
    start = first
    while start <= last:
        span = (start, start + (min(_FIRST, width) if start == first else width) - 1)
        found.append(Where(f"{own} = ? AND j.id BETWEEN ? AND ?", (run_id, *span), span, dense))
        start = span[1] + 1
    return count, found


def judgments_in(connection: Connection, where: Where, kinds: Kinds) -> Judgments:
    """Some judgments, with or without a verdict."""
    found, kind = _read(connection, kinds, "j.id", _of("j", OF_JUDGMENT), ("j.key",), *where.judgments)
    return Judgments(number=found.wholes[0], kind=kind, numbers=found.numbers, digest=digests_of(found.keys))


def verdicts_in(connection: Connection, where: Where, kinds: Kinds) -> Verdicts:
    """The verdicts of some judgments."""
    found, kind = _read(connection, kinds, "v.judgment_id", _of("v", OF_VERDICT), (), *where.verdicts)
    return Verdicts(judgment=found.wholes[0], kind=kind, numbers=found.numbers)


def _read(
    connection: Connection,
    kinds: Kinds,
    id: str,
    numbers: Sequence[str],
    keys: Sequence[str],
    source: str,
    values: tuple[Any, ...],
) -> tuple[Columns, Numbers]:
    """Columns of rows, their ids the first of them, and their kinds.

    A value that was not met before has no number in the database's answer. It is looked up, and the rows are read again.
    """
    while True:
        code, known = kinds.expression()
        found = read_columns(connection, (id, code), numbers, keys, source, known + values)
        if not np.any(found.wholes[1] < 0):
            return found, kinds.numbered(found.wholes[1])
        kinds.learn(connection, source, values)


def links_of(connection: Connection, run_id: str) -> Iterator[tuple[Numbers, Keys]]:
    """The positions of a run's cases, once for each judgment that is linked to the case's answer, and the judgments' keys.

    They come in portions.
    """
    source = (
        "FROM run_cases c CROSS JOIN answer_judgments l "
        "WHERE l.answer = c.answer AND l.run_id = c.run_id AND c.run_id = ? AND c.position BETWEEN ? AND ?"
    )
    ((last,),) = fetched(connection, "SELECT max(c.position) FROM run_cases c WHERE c.run_id = ?", (run_id,))
    for start in range(0, -1 if last is None else last + 1, _CASES):
        found = read_columns(connection, ("c.position",), (), ("l.key",), source, (run_id, start, start + _CASES - 1))
        yield found.wholes[0], found.keys


def _of(table: str, names: Sequence[str]) -> list[str]:
    return [f"{table}.{name}" for name in names]
