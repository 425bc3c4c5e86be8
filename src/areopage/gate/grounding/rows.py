"""The rows and columns of tables in documents: a value of an answer must be in the row and the column that its words name.

In a sentence with several values, each is bound to the names of rows nearest to it, before or after; other values of the same
row may stand between. A table has the names of its columns in the line before its rows or in the first of them; columns without
numbers name nothing.
"""

import itertools
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from itertools import groupby, pairwise

from msgspec import Struct

from areopage.gate.grounding.figure_context import Spot
from areopage.gate.reading.stated import PERCENTAGE_CUE
from areopage.text import CURRENCIES, WORD, TextFigure, decimal_of, lower_case, parted, stem, stems

_LISTING = re.compile(
    r"[ \t]*(?:[-*•–]|\|)|[^:\n|]{1,60}:[ \t]"
    # Cells parted by semicolons, tabs or commas: short ones, so that no sentence is taken for a row.
    r"|[^,;:.\t\n]{1,40}(?:(?:[;\t][^;\t\n]{1,40}){1,12}|(?:,[^\s,;][^,;\n]{0,40}){1,12})\s*\Z"
)
_CELL = re.compile(r"[0-9]{1,3}(?:[ \u00a0\u202f\u2009'’.,][0-9]{3}){1,4}(?:[.,][0-9]{1,2})?|[0-9]{1,15}(?:[.,][0-9]{1,4})?")
_LONGEST_HEAD = 400  # characters
_LONGEST_PAIR = 60  # characters of a name and of its value where several stand in one line
_RULER = re.compile(r"[\s|:+-]+")
_DIGIT = re.compile("[0-9]")
_CLAUSE_END = re.compile(r"\n|[.!?;][ \t]")
_FARTHEST = 300  # characters to the ends of a clause
_IN_TURN = re.compile(r"[ \u00a0]?,?[ \u00a0]?(?:et|and|,|puis|&)[ \u00a0](?:d['’e][ \u00a0]?)?", re.IGNORECASE)
_FEWEST = 2  # values and named rows of a clause without which none can be bound to another's row
_MARKS = "|\t;,"
_PARTING_COMMA = re.compile(r",(?<![0-9],)|,(?![0-9]{3}(?![0-9]))")  # one that does not part thousands
_LONGEST_LINE = 1_000  # characters of a line of a table
_MOST_LINES = 300  # of a table above a value
_SAME_BEGINNING = 5  # letters by which a word of the answer may name a column in another form

Span = tuple[int, int]
_Cell = tuple[str, int, int]  # its text, where it starts and ends


class _TableRow(Struct, frozen=True):
    start: int
    end: int
    labels: frozenset[str]
    block: int


_Line = tuple[int, int, frozenset[str]]  # start, end, the stems of a row


class Value(Struct, frozen=True):
    """A figure of an answer, where it stands in it, and where texts have it."""

    start: int
    end: int
    spots: Sequence[Spot]


class _RowName(Struct, frozen=True):
    """A word of an answer that names a row, or a value, and the rows of a block."""

    start: int
    end: int
    rows: frozenset[_TableRow]
    value: bool


class _TableText(Struct, frozen=True):
    """The rows of a text in order, where they start, and for each block its rows by their labels."""

    rows: Sequence[_TableRow]
    starts: Sequence[int]
    named: Mapping[int, Mapping[str, _TableRow]]


class Rows:
    """The lines of tables and lists in some texts, each named by the words that no other line of its block has."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._read: dict[int, _TableText] = {}
        self._cells: dict[tuple[str, Decimal], list[Spot]] | None = None

    def any_in(self, spots: Sequence[Spot]) -> bool:
        """Whether any spot stands in a row."""
        return any(self._row_at(spot) is not None for spot in spots)

    def other_row(self, spots: Sequence[Spot], said: Set[str]) -> Spot | None:
        """The row that an answer speaks of, where all spots of a figure stand in rows that it does not speak of."""
        rival: Spot | None = None
        for spot in spots:
            row = self._row_at(spot)
            if row is None or not row.labels or row.labels & said:
                return None
            named = self._read_of(spot[0]).named[row.block]
            others = [other for other in map(named.get, said) if other is not None]
            if others and rival is None:
                rival = _first(spot[0], others)
        return rival

    def bound_elsewhere(self, response: str, clause: tuple[int, int], values: Sequence[Value], asked: Value) -> Spot | None:
        """The row that the words nearest to a value name, where the value stands in other rows only."""
        if len(values) < _FEWEST:
            return None
        rival: Spot | None = None
        for spot in asked.spots:
            row = self._row_at(spot)
            if row is None:
                return None
            bound = _bound_to(response, self._named(response, clause, values, spot[0], row.block), asked)
            if not bound or row in bound:
                return None
            rival = rival or _first(spot[0], bound)
        return rival

    def _named(self, response: str, clause: tuple[int, int], values: Sequence[Value], number: int, block: int) -> list[_RowName]:
        """What a clause has of a block, in order: the words that name its rows, and values that stand in them."""
        within = []
        for value in values:
            rows = [self._row_at(spot) for spot in value.spots if spot[0] == number]
            block_rows = frozenset([row for row in rows if row is not None and row.block == block])
            if block_rows:
                within.append(_RowName(value.start, value.end, block_rows, value=True))
        names = self._read_of(number).named[block]
        for match in WORD.finditer(parted(response[clause[0] : clause[1]])):
            start, end = match.start() + clause[0], match.end() + clause[0]
            row = names.get(stem(match.group()))
            if row is not None and not any(value.start < end and start < value.end for value in values):
                within.append(_RowName(start, end, frozenset([row]), value=False))
        return sorted(within, key=lambda name: name.start)

    def cells(self, stated: TextFigure) -> Sequence[Spot]:
        """Where an amount or a percentage stands in a row under a head that has its unit."""
        if stated.kind not in ("amount", "percentage") or not isinstance(stated.value, Decimal):
            return ()
        if self._cells is None:
            self._cells = {}
            for number, text in enumerate(self._texts):
                for unit, value, start, end in _headed(text, self._read_of(number).rows):
                    self._cells.setdefault((unit, value), []).append((number, start, end))
        return self._cells.get(("%" if stated.kind == "percentage" else stated.unit, stated.value), ())

    def _row_at(self, spot: Spot) -> _TableRow | None:
        read = self._read_of(spot[0])
        at = bisect_right(read.starts, spot[1]) - 1
        return read.rows[at] if at >= 0 and spot[1] < read.rows[at].end else None

    def _read_of(self, number: int) -> _TableText:
        table = self._read.get(number)
        if table is None:
            rows = list(_rows(self._texts[number]))
            named: dict[int, dict[str, _TableRow]] = {}
            for row in rows:
                named.setdefault(row.block, {}).update(dict.fromkeys(row.labels, row))
            table = self._read[number] = _TableText(rows, [row.start for row in rows], named)
        return table


def _headed(text: str, rows: Sequence[_TableRow]) -> Iterator[tuple[str, Decimal, int, int]]:
    heads: dict[int, list[tuple[str, ...]]] = {}
    for row in rows:
        line = text[row.start : row.end]
        mark = next((sign for sign in "|\t;," if sign in line), "|")
        if row.block not in heads:
            heads[row.block] = [_units_in(cell) for cell in _head(text, row.block).split(mark)]
        cells = line.split(mark)
        start = row.start
        for cell, units in zip(cells, heads[row.block], strict=False) if len(cells) == len(heads[row.block]) else ():
            written = cell.strip()
            if units and _CELL.fullmatch(written):
                first = start + cell.index(written)
                yield from ((unit, decimal_of(written), first, first + len(written)) for unit in units)
            start += len(cell) + 1


def _head(text: str, block: int) -> str:
    lines = text[max(0, block - _LONGEST_HEAD) : block].splitlines()
    return next((line for line in reversed(lines) if not _RULER.fullmatch(line)), "").rstrip()


def _units_in(cell: str) -> tuple[str, ...]:
    low = lower_case(cell)
    percent = ("%",) if PERCENTAGE_CUE.search(low) else ()
    return (*percent, *(unit for unit, cues in CURRENCIES.items() if any(cue in low for cue in cues)))


def _first(number: int, rows: Iterable[_TableRow]) -> Spot:
    row = min(rows, key=lambda row: row.start)
    return number, row.start, row.end


def _bound_to(response: str, named: Sequence[_RowName], asked: Value) -> frozenset[_TableRow]:
    """The rows that the words before and after a value name; none where the clause names fewer than two."""
    values = [name for name in named if name.value]
    if len(values) < _FEWEST or len({row for name in named if not name.value for row in name.rows}) < _FEWEST:
        return frozenset()
    at = next(index for index, name in enumerate(named) if name.start == asked.start)
    turn = _in_turn(response, named, values)
    if turn is not None:
        return turn[values.index(named[at])]
    return _nearest(named[:at][::-1]) | _nearest(named[at + 1 :])


def _nearest(beside: Sequence[_RowName]) -> frozenset[_TableRow]:
    """The rows of the first names on one side of a value; none where values of other rows stand before them."""
    groups = [(value, list(group)) for value, group in groupby(beside, key=lambda name: name.value)]
    between = groups.pop(0)[1] if groups and groups[0][0] else []
    if not groups:
        return frozenset()
    rows = frozenset[_TableRow]().union(*(name.rows for name in groups[0][1]))
    return rows if all(name.rows & rows for name in between) else frozenset()


def _in_turn(response: str, named: Sequence[_RowName], values: Sequence[_RowName]) -> list[frozenset[_TableRow]] | None:
    """The rows of values in their order, where as many names as values stand together: "A and B get 10 € and 20 €"."""
    rows = [rows for rows, _ in groupby(name.rows for name in named if not name.value)]
    together = len(list(groupby(name.value for name in named))) == _FEWEST
    if not together or len(rows) != len(values):
        return None
    gaps = [response[first.end : second.start] for first, second in pairwise(values)]
    return rows if all(_IN_TURN.fullmatch(gap) for gap in gaps) else None


def _rows(text: str) -> Iterator[_TableRow]:
    block: list[_Line] = []
    start = 0
    for line in [*text.splitlines(keepends=True), "\n\n"]:
        pairs = list(_pairs(start, line)) if line.count(":") > 1 and ";" in line else []
        if pairs:
            yield from _block_of(block)
            yield from _block_of(pairs)
            block = []
        elif _LISTING.match(line) and _DIGIT.search(line):
            block.append(_line(start, line))
        elif not _RULER.fullmatch(line) or not line.strip():
            yield from _block_of(block)
            block = []
        start += len(line)


def _pairs(start: int, line: str) -> Iterator[_Line]:
    """The pairs of a line that has nothing else, but for words before the first: "Primes : employé : 250 € ; cadre : 400 €"."""
    parts = line.split(";")
    names = [part.rpartition(":")[0].rpartition(":")[2] for part in parts]
    values = [part.rpartition(":")[2] for part in parts]
    if all(name.strip() and len(name) <= _LONGEST_PAIR for name in names) and all(
        len(value) <= _LONGEST_PAIR and _DIGIT.search(value) for value in values
    ):
        for part, name, value in zip(parts, names, values, strict=True):
            pair = f"{name}:{value}"
            yield _line(start + len(part) - len(pair), pair)
            start += len(part) + 1


def _line(start: int, written: str) -> _Line:
    return start, start + len(written.rstrip()), frozenset(root for root in stems(written) if not root[0].isdigit())


def _block_of(lines: Sequence[_Line]) -> Iterator[_TableRow]:
    shared = Counter(label for _, _, labels in lines for label in labels)
    if len(lines) > 1:
        for first, last, labels in lines:
            yield _TableRow(first, last, frozenset(label for label in labels if shared[label] == 1), lines[0][0])


def clause_at(response: str, start: int, end: int) -> tuple[int, int]:
    """The line or sentence of an answer in which a figure stands."""
    first, last = max(0, start - _FARTHEST), min(len(response), end + _FARTHEST)
    for match in _CLAUSE_END.finditer(response, first, start):
        first = match.end()
    closing = _CLAUSE_END.search(response, end, last)
    return first, closing.start() if closing else last


class TableColumns(Struct, frozen=True):
    """The columns of a table by the words that no other one has, and the cells of the row in which a value stands."""

    names: Mapping[str, int]
    words: Sequence[frozenset[str]]
    cells: Sequence[_Cell]


def table_at(text: str, start: int) -> TableColumns | None:
    """The table in which a position of a text stands; None where it is none, or its columns have no names."""
    first = text.rfind("\n", max(0, start - _LONGEST_LINE), start) + 1
    end = text.find("\n", start, start + _LONGEST_LINE)
    line = text[first : end if end >= 0 else start + _LONGEST_LINE]
    mark = next((sign for sign in _MARKS if line.count(sign) >= _FEWEST), "")
    if not mark or (mark == "," and (", " in line or not _PARTING_COMMA.search(line))):
        return None
    written = line.split(mark)
    ends = list(itertools.accumulate(len(cell) + 1 for cell in written))
    cells = [(cell, first + end - 1 - len(cell), first + end - 1) for cell, end in zip(written, ends, strict=True)]
    lines = [
        line for line in text[:first].rsplit("\n", _MOST_LINES)[-_MOST_LINES:-1] if not (line.strip() and _RULER.fullmatch(line))
    ]
    rows = (line.split(mark) for line in reversed(lines))
    above = list(itertools.takewhile(lambda row: len(row) == len(cells), rows))  # up to the names of the columns
    if not above:
        return None
    head, body = above[-1], [*above[:-1], [cell for cell, _, _ in cells]]
    words = [frozenset(stems(cell)) for cell in head]
    shared = Counter(word for roots in words for word in roots)
    numeric = [2 * sum(_DIGIT.search(row[at]) is not None for row in body) > len(body) for at in range(len(cells))]
    names = [
        frozenset(word for word in roots if shared[word] == 1) if filled else frozenset[str]()
        for roots, filled in zip(words, numeric, strict=True)
    ]
    if sum(map(bool, names)) < _FEWEST:
        return None
    return TableColumns({word: at for at, roots in enumerate(names) for word in roots}, names, cells)


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
        cells = enumerate(table.cells) if table else ()
        column = next((at for at, (_, first, last) in cells if first <= start < last), -1)
        if table is None or column < 0 or not table.words[column]:
            return None
        named = [(at, table.names[root]) for at, root in roots if root in table.names]
        near = _nearest_named(named, values, asked) if named else {table.names[word] for word in question if word in table.names}
        if column in near or not near or (not named and len(near) > 1):
            return None
        named_words = [
            word[:_SAME_BEGINNING] for word in table.words[column] if len(word) >= _SAME_BEGINNING and not word[0].isdigit()
        ]
        if not beginnings.isdisjoint(named_words):  # in another form: plafonnée, Plafond
            return None
        _, first, last = table.cells[min(near)]
        rival = rival or (number, first, last)
    return rival


def _nearest_named(named: Sequence[tuple[int, int]], values: Sequence[Span], asked: Span) -> set[int]:
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
