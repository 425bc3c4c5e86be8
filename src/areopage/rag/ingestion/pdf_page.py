"""The text of a page of a PDF that a reader sees: without what is hidden, struck twice, or glued to a raised digit."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from areopage.rag.ingestion.pdf_columns import Placed, columns_of, is_running

if TYPE_CHECKING:
    from pypdf import PageObject

Matrix = Sequence[float]
Colour = tuple[float, ...] | None
"""Red, green and blue from 0 to 1; None where it is not known."""
Box = tuple[float, float, float, float]

_IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_WHITE, _BLACK = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)
_INVISIBLE = (3, 7)  # text rendering modes that paint nothing
_FILLED = (0, 4)  # modes that paint with the fill's colour alone
_ALIKE = 0.06  # of colours that nobody tells apart
_TINY = 1.0  # point
_BEYOND = 2.0  # points outside of the page
_SHIFT = 0.12  # of the size of its letters, by which a text is struck again
_MOST_STRUCK = 3  # places of the same text that are compared
_LEAST_SIDE = 4.0  # points of a box that can lie under or over a text
_MOST_BOXES = 10_000  # of a page that are looked at
_BANDS = 64  # of a page, by its height, in which its boxes are kept
_FILLED_BOX = 0.85  # of a box, which a shape that has no other form fills
_SCANNED = 0.5  # of a page that pictures take whose text is the invisible one
_STRIP = 0.6  # of the page's width or height, which a strip of a scanned page has
_SMALLER, _LOWEST_RISE, _HIGHEST_RISE = 0.85, 0.1, 0.9  # of the size before, for a raised digit
_MOST_RAISED = 3  # digits
_MOST_FRAMED = 20  # shapes of a path that may be a frame
_LONGEST_SHOWN = 60  # characters of a hidden text
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_FAMILIES = {"/DeviceGray": 1, "/CalGray": 1, "/DeviceRGB": 3, "/CalRGB": 3, "/DeviceCMYK": 4}
_SETS_COLOUR = {b"g": 1, b"rg": 3, b"k": 4}
_FILLS, _ENDS_PATH = (b"f", b"F", b"f*", b"B", b"B*", b"b", b"b*"), (b"S", b"s", b"n")
_STROKES = (b"S", b"s", b"B", b"B*", b"b", b"b*")
_MOVES = (b"Td", b"TD", b"Tm", b"T*", b"BT", b"'", b'"')


class PageText(Struct, frozen=True, kw_only=True):
    """The text of a page, and the beginnings of the lines on it that a reader does not see."""

    text: str
    hidden: tuple[str, ...] = ()


class _State(Struct, frozen=True):
    """The part of the graphics state that tells whether a text is seen. `components`: of the fill's colours, 0 where unknown."""

    mode: float = 0
    fill: Colour = _BLACK
    components: int = 1
    opacity: float = 1.0
    blended: bool = False
    size: float = 0.0
    rise: float = 0.0
    width: float = 1.0
    clip: Box | None = None


class _Shown(Struct, frozen=True):
    """A text: the number of its operator, its characters as the file has them, where it begins, and how it is painted."""

    number: int
    raw: bytes
    x: float
    y: float
    size: float
    state: _State
    moved: bool
    layer_off: bool

    @property
    def letters(self) -> float:
        """About how many letters it has: some fonts take two bytes for each."""
        return len(self.raw) / (2 if b"\0" in self.raw else 1)


class _Painted(Struct, frozen=True):
    """A box that was painted; `opaque`: whether it covers what lies under it. The colour of another shape is not known."""

    number: int
    box: Box
    colour: Colour
    opaque: bool

    def holds(self, x: float, y: float) -> bool:
        """Whether a point lies in it."""
        return self.box[0] <= x <= self.box[2] and self.box[1] <= y <= self.box[3]


def read_page(page: "PageObject", layers_off: frozenset[int], check: Callable[..., None]) -> PageText:
    """Read a page; it is read again without the texts that are not seen, or that are struck twice, where there are some.

    Args:
        layers_off: the numbers of the objects of layers that are not shown.
        check: called before each step.
    """
    reading = _Reading(page, layers_off, check, frozenset())
    text = reading.text()
    numbers = frozenset(shown.number for shown in reading.shown)
    hidden = frozenset(shown.number for shown in reading.shown if reading.is_hidden(shown))
    left_out = hidden | frozenset(_struck_again([shown for shown in reading.shown if shown.number not in hidden]))
    seen = [shown for shown in reading.shown if shown.number not in left_out]
    by_column = _by_column(seen, reading, lambda kept: _Reading(page, layers_off, check, numbers - kept).text())
    if by_column or left_out:
        text = by_column or _Reading(page, layers_off, check, left_out).text()
    unseen = _Reading(page, layers_off, check, numbers - hidden).text() if hidden else ""
    lines = [" ".join(line.split())[:_LONGEST_SHOWN] for line in unseen.splitlines()]
    return PageText(text=text, hidden=tuple(filter(None, lines)))


class _Reading:
    """One pass over a page. The library reports each operator before it carries it out: a text can be taken out of it."""

    def __init__(
        self, page: "PageObject", layers_off: frozenset[int], check: Callable[..., None], left_out: frozenset[int]
    ) -> None:
        self._page, self._off, self._check, self._left_out = page, layers_off, check, left_out
        self._number = 0
        self._state, self._states = _State(), list[_State]()
        self._moved = True
        self._layers: list[bool] = []  # of marked contents that are open, whether each belongs to a layer that is off
        self._base: list[Matrix] = [_IDENTITY]
        self._resources: list[Any] = [_entry(page, "/Resources")]
        self._outside: list[tuple[_State, bool]] = []  # of the XObjects that are open: the state, whether it is a form
        self._path: list[list[tuple[float, float]]] = []  # the points of each of its shapes
        self._clips = False  # what the path closes in is all that is painted from there on
        self._pieces: list[tuple[str, float, float]] = []
        self.shown: list[_Shown] = []
        self._painted: dict[int, list[_Painted]] = defaultdict(list)
        self._boxes = 0
        self._pictured = 0.0
        left, bottom, right, top = map(float, page.cropbox)
        self.box: Box = (min(left, right), min(bottom, top), max(left, right), max(bottom, top))

    def text(self) -> str:
        """Read the page; digits that are set higher and smaller than what they follow are raised ones."""
        whole: str = self._page.extract_text(
            visitor_operand_before=self._before, visitor_operand_after=self._after, visitor_text=self._piece
        )
        # where the library does not tell all of its pieces, they are not what is read
        return "".join(_with_raised(self._pieces)) if "".join(text for text, _, _ in self._pieces) == whole else whole

    def is_hidden(self, shown: _Shown) -> bool:
        """Whether a reader does not see a text. That of a scanned page is written invisibly over its picture, and is read."""
        self._check()
        state, (_, bottom, right, top) = shown.state, self.box
        if state.mode in _INVISIBLE:
            return self._pictured < _SCANNED * _area(self.box)
        if shown.layer_off or state.opacity <= 0 or 0 < shown.size < _TINY:
            return True
        if shown.x > right + _BEYOND or not bottom - _BEYOND - shown.size <= shown.y <= top + _BEYOND:
            return True
        x, y = shown.x + 0.25 * shown.size, shown.y + 0.3 * shown.size
        colour: Colour = _WHITE
        for painted in self._painted[self._band(y)]:
            if painted.holds(x, y):
                if painted.number > shown.number and painted.opaque:
                    return True
                if painted.number < shown.number:
                    colour = painted.colour
        if state.mode not in _FILLED or state.fill is None or colour is None or self._boxes >= _MOST_BOXES:
            return False
        return all(abs(own - under) <= _ALIKE for own, under in zip(state.fill, colour, strict=True))

    def _before(self, operator: bytes, operands: Any, cm: Matrix, tm: Matrix) -> None:
        self._check()
        self._number += 1
        matrix = _product(cm, self._base[-1])
        if operator in (b"Tj", b"TJ", b"'", b'"'):
            self._moved = self._moved or operator in _MOVES
            self._show(operator, operands, _product(tm, matrix))
        elif operator in _MOVES:
            self._moved = True
        elif operator in (b"re", b"m", b"l", b"c", b"v", b"y"):
            if operator in (b"re", b"m") or not self._path:
                self._path.append([])
            self._path[-1] += [_at(matrix, *point) for point in _points(operator, _numbers(operands))]
        elif operator in (b"W", b"W*"):
            self._clips = True
        elif operator in _FILLS or operator in _ENDS_PATH:
            self._end_path(operator, _scale(matrix))
        elif operator == b"sh":
            self._paint(self.box, None, opaque=False)
        elif operator == b"Do":
            self._begin_object(operands, matrix)
        else:
            self._set_state(operator, operands)

    def _after(self, operator: bytes, operands: Any, cm: Matrix, tm: Matrix) -> None:
        if operator == b"Do" and self._outside:
            self._state, form = self._outside.pop()
            if form:
                self._base.pop()
                self._resources.pop()

    def _piece(self, text: str, cm: Matrix, tm: Matrix, font: Any, size: float | None) -> None:
        matrix = _product(tm, _product(cm, self._base[-1]))
        upright = abs(matrix[1]) < abs(matrix[0])
        self._pieces.append((text, matrix[5] if upright else 0.0, (size or 0.0) * _scale(matrix)))

    def _show(self, operator: bytes, operands: Any, matrix: Matrix) -> None:
        place = 2 if operator == b'"' else 0
        if len(operands) <= place:
            return
        parts = operands[place] if operator == b"TJ" else [operands[place]]
        raw = b"".join(part for part in parts if isinstance(part, bytes)) if isinstance(parts, list) else b""
        size, state = self._state.size * _scale(matrix), self._state
        self.shown.append(_Shown(self._number, raw, matrix[4], matrix[5], size, state, self._moved, any(self._layers)))
        self._moved = False
        if self._number in self._left_out:
            operands[place] = type(operands[place])()
        elif state.rise > _LOWEST_RISE * state.size and raw.isdigit() and len(raw) <= _MOST_RAISED and operator != b"TJ":
            from pypdf.generic import TextStringObject

            operands[place] = TextStringObject(raw.decode("ascii").translate(_RAISED))

    def _set_state(self, operator: bytes, operands: Any) -> None:
        """Note what an operator changes of the state."""
        values = _numbers(operands)
        if operator == b"q":
            self._states.append(self._state)
        elif operator == b"Q" and self._states:
            self._state = self._states.pop()
        elif operator in (b"Tr", b"Ts", b"Tf", b"w") and values:
            name = {b"Tr": "mode", b"Ts": "rise", b"Tf": "size", b"w": "width"}[operator]
            self._state = replace(self._state, **{name: values[-1]})
        elif operator in _SETS_COLOUR:
            components = _SETS_COLOUR[operator]
            self._state = replace(self._state, components=components, fill=_colour(values, components))
        elif operator in (b"sc", b"scn"):
            self._state = replace(self._state, fill=_colour(values, self._state.components))
        elif operator == b"cs" and operands:
            components = self._components(str(operands[0]))
            self._state = replace(self._state, components=components, fill=_BLACK if components else None)
        elif operator == b"gs" and operands:
            self._set_extended(_entry(_entry(self._resources[-1], "/ExtGState"), str(operands[0])))
        elif operator in (b"BDC", b"BMC"):
            self._layers.append(self._is_off(operands))
        elif operator == b"EMC" and self._layers:
            self._layers.pop()

    def _set_extended(self, entries: Any) -> None:
        opacity = _entry(entries, "/ca")
        mode, width = _entry(entries, "/BM"), _entry(entries, "/LW")
        if isinstance(opacity, int | float):
            self._state = replace(self._state, opacity=float(opacity))
        if isinstance(width, int | float):
            self._state = replace(self._state, width=float(width))
        if mode is not None:
            self._state = replace(self._state, blended=str(mode) not in ("/Normal", "/Compatible"))

    def _components(self, name: str) -> int:
        """How many components a colour space has; 0 where its values are no shares of light or of the four inks."""
        space = _entry(_entry(self._resources[-1], "/ColorSpace"), name)
        if name in _FAMILIES or isinstance(space, str):
            return _FAMILIES.get(name if space is None else str(space), 0)
        if not isinstance(space, list) or not space:
            return 0
        if str(space[0]) == "/ICCBased" and len(space) > 1:
            count = _entry(space[1].get_object(), "/N")
            return count if count in (1, 3, 4) else 0
        return _FAMILIES.get(str(space[0]), 0)

    def _is_off(self, operands: Any) -> bool:
        if len(operands) < 2 or str(operands[0]) != "/OC" or not self._off:
            return False
        properties = _entry(self._resources[-1], "/Properties")
        layer = dict.get(properties, operands[1]) if isinstance(properties, dict) else None  # the reference to it
        return getattr(layer, "idnum", None) in self._off

    def _begin_object(self, operands: Any, matrix: Matrix) -> None:
        """Begin a picture, which is painted, or a form, whose own contents follow."""
        drawn = _entry(_entry(self._resources[-1], "/XObject"), str(operands[0])) if operands else None
        form = drawn is not None and str(_entry(drawn, "/Subtype")) == "/Form"
        self._outside.append((self._state, form))
        if form:
            own = _numbers(_entry(drawn, "/Matrix") or ())
            self._base.append(_product(own, matrix) if len(own) == len(_IDENTITY) else matrix)
            self._resources.append(_entry(drawn, "/Resources") or self._resources[-1])
        elif drawn is not None:
            box = _box_of([_at(matrix, x, y) for x in (0, 1) for y in (0, 1)])
            page = self.box
            if box[2] - box[0] >= _STRIP * (page[2] - page[0]) or box[3] - box[1] >= _STRIP * (page[3] - page[1]):
                self._pictured += _area(box)
            self._paint(box, None, opaque=False)

    def _end_path(self, operator: bytes, scale: float) -> None:
        """Note what a path paints: its boxes, and of other shapes and broad lines that their colour is not known."""
        shapes = [shape for shape in self._path if shape]
        state, boxes = self._state, list(map(_box_of, shapes))
        if operator in _FILLS and state.opacity > 0:
            opaque = state.opacity >= 1 and not state.blended
            framed = len(boxes) <= _MOST_FRAMED and any(_holds(box, other) for box, other in permutations(boxes, 2))
            for shape, box in zip(shapes, boxes, strict=True):
                plain = opaque and not framed and _surface(shape) >= _FILLED_BOX * _area(box)
                self._paint(box, state.fill if plain else None, opaque=plain)
        if operator in _STROKES and state.width * scale >= _LEAST_SIDE:
            half = state.width * scale / 2
            for left, bottom, right, top in boxes:
                self._paint((left - half, bottom - half, right + half, top + half), None, opaque=False)
        if self._clips and boxes:
            self._state = replace(state, clip=_common(_box_of([point for shape in shapes for point in shape]), state.clip))
        self._path, self._clips = [], False

    def _paint(self, box: Box, colour: Colour, *, opaque: bool) -> None:
        left, bottom, right, top = box = _common(_common(box, self.box), self._state.clip)
        if min(right - left, top - bottom) >= _LEAST_SIDE and self._boxes < _MOST_BOXES:
            self._boxes += 1
            for band in range(self._band(bottom), self._band(top) + 1):
                self._painted[band].append(_Painted(self._number, box, colour, opaque))

    def _band(self, y: float) -> int:
        """The band of the page in which a height lies."""
        bottom, height = self.box[1], max(self.box[3] - self.box[1], _TINY)
        return int(_BANDS * min(max((y - bottom) / height, 0.0), 1.0))


def _by_column(seen: Sequence[_Shown], reading: _Reading, read: Callable[[frozenset[int]], str]) -> str:
    """The text of a page column by column, where its two columns are written by turns; "" where it has none."""
    placed = [Placed(shown.number, shown.x, shown.y, shown.size, shown.letters) for shown in seen]
    columns = columns_of(placed, reading.box[0], reading.box[2])
    if columns is None:
        return ""
    numbers = frozenset(shown.number for shown in seen)
    above = read(numbers - columns.second - columns.below)
    second = read(columns.second)
    if not is_running(above) or not is_running(second):
        return ""
    return "\n".join(filter(None, (part.strip("\n") for part in (above, second, read(columns.below)))))


def _struck_again(texts: Sequence[_Shown]) -> Iterator[int]:
    """The texts that are struck again a hair's breadth beside themselves, which looks bold; the last one stays, for its width."""
    places: dict[bytes, list[_Shown]] = {}
    for shown in texts:
        if not shown.raw.strip() or not shown.moved:
            continue
        same, near = places.setdefault(shown.raw, []), _SHIFT * shown.size
        for other in same[-_MOST_STRUCK:]:
            if abs(other.x - shown.x) <= near and abs(other.y - shown.y) <= near:
                same.remove(other)
                yield other.number
        same.append(shown)


def _with_raised(pieces: Sequence[tuple[str, float, float]]) -> Iterator[str]:
    before, base, large = "", 0.0, 0.0
    for text, y, size in pieces:
        digits = text.strip()
        rises = _LOWEST_RISE * large < y - base < _HIGHEST_RISE * large and size < _SMALLER * large
        if rises and digits.isdecimal() and len(digits) <= _MOST_RAISED and before[-1:].strip():
            yield text.translate(_RAISED)
            continue
        yield text
        if text.strip():
            before, base, large = text, y, size


def _entry(entries: Any, name: str) -> Any:
    """An entry of a dictionary of the file; None where there is none."""
    if isinstance(entries, Mapping) and name in entries:
        return entries[name]
    return None


def _numbers(operands: Any) -> list[float]:
    return [float(value) for value in operands if isinstance(value, int | float)] if isinstance(operands, list | tuple) else []


def _colour(values: Sequence[float], components: int) -> Colour:
    if not components or len(values) != components:
        return None
    if components == 4:
        return tuple((1 - ink) * (1 - values[3]) for ink in values[:3])
    return tuple(values) if components == 3 else (values[0],) * 3


def _points(operator: bytes, values: Sequence[float]) -> list[tuple[float, float]]:
    if operator == b"re" and len(values) == 4:
        x, y, width, height = values
        return [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    return list(zip(values[::2], values[1::2], strict=False))


def _product(first: Matrix, second: Matrix) -> Matrix:
    a, b, c, d, e, f = first
    g, h, i, j, k, m = second
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)


def _at(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    return matrix[0] * x + matrix[2] * y + matrix[4], matrix[1] * x + matrix[3] * y + matrix[5]


def _scale(matrix: Matrix) -> float:
    return float(abs(matrix[0] * matrix[3] - matrix[1] * matrix[2]) ** 0.5)


def _box_of(points: Sequence[tuple[float, float]]) -> Box:
    across, along = [x for x, _ in points], [y for _, y in points]
    return min(across), min(along), max(across), max(along)


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _surface(points: Sequence[tuple[float, float]]) -> float:
    """The surface of a shape with these corners."""
    ring = zip(points, (*points[1:], points[0]), strict=True)
    return abs(sum(x * below - along * y for (x, y), (along, below) in ring)) / 2


def _holds(box: Box, other: Box) -> bool:
    return box[0] <= other[0] and box[1] <= other[1] and box[2] >= other[2] and box[3] >= other[3]


def _common(box: Box, other: Box | None) -> Box:
    """What two boxes have in common; its sides are not positive where that is nothing."""
    if other is None:
        return box
    return max(box[0], other[0]), max(box[1], other[1]), min(box[2], other[2]), min(box[3], other[3])
