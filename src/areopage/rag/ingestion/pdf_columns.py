"""Two columns of running text whose lines a PDF writes by turns: found by where texts begin, and told from tables."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

_FEWEST_ROWS = 5
_MIDDLE = (0.3, 0.7)  # of the page's width, in which a second column begins
_NARROW = 0.35  # of the size of a text, which a letter is wide at least
_FEWEST_LETTERS = 15  # of a line of running text
_GOES_ON = 0.55  # of its lines that begin with a small letter
_FEW_DIGITS = 0.2  # of its letters
_NEAR = 1.0  # point


class Placed(NamedTuple):
    """A text of a page: the number of its operator, where it begins, its size and how many letters it has."""

    number: int
    x: float
    y: float
    size: float
    letters: float


class Columns(NamedTuple):
    """The texts of the second column, and those below both columns, by number."""

    second: frozenset[int]
    below: frozenset[int]


def columns_of(texts: Sequence[Placed], left: float, right: float) -> Columns | None:
    """The columns of a page that are written by turns, line by line; None where there are none."""
    rows: dict[int, list[Placed]] = defaultdict(list)
    for text in texts:
        rows[round(text.y)].append(text)
    low, high = (left + share * (right - left) for share in _MIDDLE)
    starts = Counter(round(text.x) for row in rows.values() for text in row if low < text.x < high and len(row) > 1)
    if not starts:
        return None
    start, _ = starts.most_common(1)[0]
    pairs = [row for row in rows.values() if _is_pair(row, start)]
    if len(pairs) < _FEWEST_ROWS:
        return None
    top, bottom = max(row[0].y for row in pairs), min(row[0].y for row in pairs)
    block = [text for text in texts if bottom - _NEAR <= text.y <= top + _NEAR]
    if any(text.x < start - _NEAR and text.x + _NARROW * text.size * text.letters > start for text in block):
        return None  # a line over both
    sides = [text.x >= start - _NEAR for text in block]
    turns = sum(before != after for before, after in pairwise(sides))
    if turns < 2 * len(pairs) - 2:
        return None
    second = frozenset(text.number for text in block if text.x >= start - _NEAR)
    return Columns(second, frozenset(text.number for text in texts if text.y < bottom - _NEAR))


def _is_pair(row: Sequence[Placed], start: int) -> bool:
    """Whether a row has a line of running text on each side."""
    first = [text for text in row if text.x < start - _NEAR]
    second = [text for text in row if text.x >= start - _NEAR]
    return (
        sum(text.letters for text in first) >= _FEWEST_LETTERS
        and sum(text.letters for text in second) >= _FEWEST_LETTERS
        and abs(min(text.x for text in second) - start) <= _NEAR
    )


def is_running(text: str) -> bool:
    """Whether the lines of a column go on in the next ones, as the cells of a table do not."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    digits = sum(map(str.isdigit, text))
    small = sum(line[0].islower() for line in lines)
    return len(lines) >= _FEWEST_ROWS and small >= _GOES_ON * len(lines) and digits <= _FEW_DIGITS * len(text)
