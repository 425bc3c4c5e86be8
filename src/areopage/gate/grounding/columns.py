"""The columns of tables in documents: a value of an answer must be in a column that the answer's words name, if they name any.

A table has its names in the line before its rows or in the first of them. A sentence that names several columns binds each value
to those nearest to it, before or after. Columns without numbers name nothing.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set

from msgspec import Struct

from areopage.gate.grounding.figure_context import Spot
from areopage.text import WORD, parted, stem, stems

_MARKS = "|\t;,"
_DIGIT = re.compile("[0-9]")
_PARTING_COMMA = re.compile(r",(?<![0-9],)|,(?![0-9]{3}(?![0-9]))")  # one that does not part thousands
_RULER = re.compile(r"[\s|:+-]+")
_LONGEST = 1_000  # characters of a line of a table
_MOST_LINES = 300  # of a table above a value
_FEWEST = 2  # columns with numbers and a name
_SAME_BEGINNING = 5  # letters by which a word of the answer may name a column in another form

Span = tuple[int, int]
_Cell = tuple[str, int, int]  # its text, where it starts and ends


class TableColumns(Struct, frozen=True):
    """The columns of a table by the words that no other one has, and the cells of the row in which a value stands."""

    names: Mapping[str, int]
    own: Sequence[frozenset[str]]
    cells: Sequence[_Cell]

    def column_at(self, start: int) -> int:
        """The column of a position; -1 outside of the row."""
        return next((at for at, (_, first, last) in enumerate(self.cells) if first <= start < last), -1)


def table_at(text: str, start: int) -> TableColumns | None:
    """The table in which a position of a text stands; None where it is none, or its columns have no names."""
    first = text.rfind("\n", max(0, start - _LONGEST), start) + 1
    end = text.find("\n", start, start + _LONGEST)
    line = text[first : end if end >= 0 else start + _LONGEST]
    mark = next((one for one in _MARKS if line.count(one) >= _FEWEST), "")
    if not mark or (mark == "," and (", " in line or not _PARTING_COMMA.search(line))):
        return None
    written = line.split(mark)
    ends = list(itertools.accumulate(len(cell) + 1 for cell in written))
    cells = [(cell, first + end - 1 - len(cell), first + end - 1) for cell, end in zip(written, ends, strict=True)]
    above = list(_lines_above(text, first, mark, len(cells)))
    if not above:
        return None
    head, body = above[-1], [*above[:-1], [cell for cell, _, _ in cells]]
    words = [frozenset(stems(cell)) for cell in head]
    shared = Counter(word for own in words for word in own)
    numeric = [2 * sum(_DIGIT.search(row[at]) is not None for row in body) > len(body) for at in range(len(cells))]
    own = [
        frozenset(word for word in found if shared[word] == 1) if filled else frozenset[str]()
        for found, filled in zip(words, numeric, strict=True)
    ]
    if sum(map(bool, own)) < _FEWEST:
        return None
    return TableColumns({word: at for at, found in enumerate(own) for word in found}, own, cells)


def _lines_above(text: str, start: int, mark: str, count: int) -> Iterator[list[str]]:
    """The rows above a row, upwards, up to the names of the columns."""
    for _ in range(_MOST_LINES):
        if start <= 0:
            return
        first = text.rfind("\n", max(0, start - 1 - _LONGEST), start - 1) + 1
        line = text[first : start - 1]
        start = first
        if _RULER.fullmatch(line) and line.strip():
            continue
        cells = line.split(mark)
        if len(cells) != count:
            return
        yield cells


def other_column(
    texts: Sequence[str],
    spots: Sequence[Spot],
    response: str,
    clause: Span,
    values: Sequence[Span],
    asked: Span,
    question: Set[str],
) -> Spot | None:
    """The cell in the column that an answer's clause or the question names, where all spots of a value stand in other columns."""
    rival: Spot | None = None
    words = list(WORD.finditer(parted(response[clause[0] : clause[1]])))
    roots = [(match.start() + clause[0], stem(match.group())) for match in words]
    beginnings = {root[:_SAME_BEGINNING] for _, root in roots}
    for number, start, _ in spots:
        table = table_at(texts[number], start)
        column = table.column_at(start) if table else -1
        if table is None or column < 0 or not table.own[column]:
            return None
        named = [(at, table.names[root]) for at, root in roots if root in table.names]
        near = _nearest(named, values, asked) if named else {table.names[word] for word in question if word in table.names}
        if column in near or not near or (not named and len(near) > 1):
            return None
        own = [word[:_SAME_BEGINNING] for word in table.own[column] if len(word) >= _SAME_BEGINNING and not word[0].isdigit()]
        if not beginnings.isdisjoint(own):  # in another form: plafonnée, Plafond
            return None
        _, first, last = table.cells[min(near)]
        rival = rival or (number, first, last)
    return rival


def _nearest(named: Sequence[tuple[int, int]], values: Sequence[Span], asked: Span) -> set[int]:
    """The columns of the names nearest to a value on each side: those up to the next value that has names before it."""
    names = {start for start, _ in named}
    others = [start for start, end in values if (start, end) != asked and not any(start <= name < end for name in names)]
    order = sorted([(start, column) for start, column in named] + [(start, -1) for start in others])
    before = [column for start, column in order if start < asked[0]]
    after = [column for start, column in order if start > asked[0]]
    return _group(before[::-1]) | _group(after)


def _group(beside: Sequence[int]) -> set[int]:
    """The first columns that follow each other; -1 is none."""
    return set(itertools.takewhile(lambda column: column >= 0, itertools.dropwhile(lambda column: column < 0, beside)))
