"""Charts as SVG inside of a page: no script, no inline style, so that the strictest policy lets them stand.

They are coloured by the classes in `charts.css` (`STYLES`), which use the page's own variables: --ink, --soft, --rule, --accent,
--track, --paper, --sans. A series takes the colour of its class: `c0` to `c5`. Every text is escaped.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from markupsafe import Markup, escape
from msgspec import Struct

STYLES = Path(__file__).with_name("templates") / "charts.css"

WIDTH, HEIGHT = 720.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 40.0, 14.0, 14.0, 34.0
GRID_LINES = 5
DAY_LABELS = 7
LONG_LABEL = 8
DOTS_UP_TO = 62

_NICE_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


class Series(Struct, frozen=True, kw_only=True):
    """One line of a chart.

    Args:
        values: one per day, None on days without one (the line has a gap there).
        css: the class: c0 to c5.
        notes: what is said of each day beside its value; () says nothing.
        ranges: of each day a vertical line through its value, from one end to the other; () and None draw none.
    """

    label: str
    values: Sequence[float | None]
    css: str
    notes: Sequence[str] = ()
    ranges: Sequence[tuple[float, float] | None] = ()


class ChartLevel(Struct, frozen=True, kw_only=True):
    """A horizontal line that says where something begins, such as the threshold of alerts."""

    value: float
    label: str


def trend_chart(
    days: Sequence[str],
    series: Sequence[Series],
    *,
    low: float,
    high: float,
    title: str,
    levels: Sequence[ChartLevel] = (),
    number: Callable[[float], str] = "{:g}".format,
) -> Markup:
    """Draw a line per series over days, with a legend, as a <figure>; the first series lies over the others.

    Values beyond the ends of the vertical axis, `low` and `high`, are drawn at the end. Only some of the days are written below
    the chart. The title is read out instead of the picture.
    """
    parts = [_grid(low, high, number), *(_level(level, low, high) for level in levels), _day_labels(days)]
    parts += [_line(curve, days, low, high, number) for curve in reversed(series)]
    parts += [_text("level", WIDTH - RIGHT, _height(level.value, low, high) + 15, level.label) for level in levels]
    legend = Markup().join(
        Markup('<li class="{}"><svg viewBox="0 0 16 8" aria-hidden="true"><path class="line" d="M0 4H16"/></svg>{}</li>').format(
            curve.css, curve.label
        )
        for curve in series
    )
    caption = Markup('<figcaption><ul class="legend">{}</ul></figcaption>').format(legend) if len(series) > 1 else Markup()
    return Markup('<figure class="chart">{}{}</figure>').format(_picture(title, parts), caption)


def bar_chart(
    labels: Sequence[str],
    counts: Sequence[int],
    *,
    title: str,
    css: Sequence[str] = (),
    number: Callable[[int], str] = "{:d}".format,
) -> Markup:
    """A bar per label with its count above it, as a <figure>; of many labels small screens hide every other one.

    `css` has a class for each bar, such as its grade; none leaves all in the page's accent.
    """
    most = max([*counts, 1])
    space = (WIDTH - RIGHT - RIGHT) / max(len(labels), 1)
    floor, ceiling = HEIGHT - BOTTOM, TOP + 18.0
    parts: list[Markup] = [_path("axis", f"M{RIGHT:g} {floor:g}H{WIDTH - RIGHT:g}")]
    for place, (label, count) in enumerate(zip(labels, counts, strict=True)):
        height = (floor - ceiling) * count / most
        middle = RIGHT + space * (place + 0.5)
        bar = Markup('<rect class="column {}" x="{}" y="{}" width="{}" height="{}"><title>{}: {}</title></rect>').format(
            css[place] if css else "", _at(middle - space * 0.38), _at(floor - height), _at(space * 0.76), _at(height), label,
            number(count),
        )  # fmt: skip
        parts.append(bar if count else Markup())
        parts.append(_text("value" if count else "value zero", middle, floor - height - 6, number(count)))
        parts.append(_text("day minor" if place % 2 and len(labels) > DAY_LABELS else "day", middle, floor + 20, label))
    return Markup('<figure class="chart">{}</figure>').format(_picture(title, parts))


def interval_mark(share: float, low: float | None, high: float | None, ticks: Sequence[float]) -> Markup:
    """A point on an axis with its interval, for a cell of a table; a point without one is hollow. Places are from 0 to 1."""
    marks = Markup().join(_upright("tick", place, 0, 100) for place in ticks)
    ends = Markup()
    if low is not None and high is not None:
        ends = Markup('<line class="whisker" x1="{}" x2="{}" y1="50%" y2="50%"/>').format(_part(low), _part(high))
        ends += _upright("whisker", low, 22, 78) + _upright("whisker", high, 22, 78)
    dot = Markup('<circle class="{}" cx="{}" cy="50%" r="4"/>').format("dot" if ends else "dot hollow", _part(share))
    return Markup(
        '<svg class="point" aria-hidden="true"><line class="line" x1="0" x2="100%" y1="50%" y2="50%"/>{}{}{}</svg>'
    ).format(marks, ends, dot)


def interval_axis(labels: Sequence[tuple[float, str]]) -> Markup:
    """The labels of the axis that stands above marks."""
    texts = Markup().join(Markup('<text x="{}" y="11">{}</text>').format(_part(place), label) for place, label in labels)
    return Markup('<svg class="point axis" aria-hidden="true">{}</svg>').format(texts)


def _upright(css: str, place: float, top: int, bottom: int) -> Markup:
    return Markup('<line class="{0}" x1="{1}" x2="{1}" y1="{2}%" y2="{3}%"/>').format(css, _part(place), top, bottom)


def _part(share: float) -> str:
    return f"{share * 100:.2f}".rstrip("0").rstrip(".") + "%"


def _picture(title: str, parts: Sequence[Markup]) -> Markup:
    return Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        _at(WIDTH), _at(HEIGHT), title, Markup().join(parts)
    )


def _grid(low: float, high: float, number: Callable[[float], str]) -> Markup:
    step = _round_step((high - low) / GRID_LINES)
    first = -(-low // step)
    values = [step * (first + k) for k in range(GRID_LINES * 3) if step * (first + k) <= high + step * 1e-6]
    return Markup().join(
        _path("grid", f"M{LEFT:g} {_at(_height(value, low, high))}H{WIDTH - RIGHT:g}")
        + _text("number", LEFT - 8, _height(value, low, high) + 4, number(round(value, 9)))
        for value in values
    )


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 2.5, 5 times a power of ten that is not under `least` (> 0)."""
    power = 1.0
    while power > least:
        power /= 10.0
    while power * 10.0 <= least:
        power *= 10.0
    return next(power * nice for nice in _NICE_STEPS if power * nice >= least * (1 - 1e-9))


def _level(level: ChartLevel, low: float, high: float) -> Markup:
    return _path("level", f"M{LEFT:g} {_at(_height(level.value, low, high))}H{WIDTH - RIGHT:g}")


def _day_labels(days: Sequence[str]) -> Markup:
    """Labels of some days, evenly spaced, the last one always; small screens hide every other one by the class `minor`."""
    if not days:
        return Markup()
    every, height = max(1, -(-len(days) // DAY_LABELS)), HEIGHT - BOTTOM + 20
    *others, last = range((len(days) - 1) % every, len(days), every)
    # a long label would reach beyond the edge of a small screen
    final = _text("last", WIDTH, height, days[last]) if len(days[last]) > LONG_LABEL else None
    return Markup().join(
        _text("day minor" if place % 2 else "day", _across(index, len(days)), height, days[index])
        for place, index in enumerate([last, *reversed(others)])
        if place or final is None
    ) + (final or "")


def _line(series: Series, days: Sequence[str], low: float, high: float, number: Callable[[float], str]) -> Markup:
    """A series: a line with gaps, a dot per day where days are few, and a dot for each day that no line reaches.

    Dots and ranges say the day and its value where the reader points at them.
    """
    dots_at = [
        (index, _across(index, len(days)), _height(value, low, high), _title(series, index, days[index], number(value)))
        for index, value in enumerate(series.values)
        if value is not None
    ]
    path, before = "", -2
    for index, x, y, _ in dots_at:
        path += f"{'L' if index == before + 1 else 'M'}{_at(x)} {_at(y)}"
        before = index
    indices = {index for index, *_ in dots_at}
    dots = Markup().join(
        Markup('<circle class="dot" cx="{}" cy="{}" r="3">{}</circle>').format(_at(x), _at(y), title)
        for index, x, y, title in dots_at
        if len(days) <= DOTS_UP_TO or not {index - 1, index + 1} & indices
    )
    ranges = Markup().join(_range(series.ranges[index], x, low, high, title) for index, x, _, title in dots_at if series.ranges)
    return Markup('<g class="{}">{}{}{}</g>').format(series.css, ranges, _path("line", path) if path else Markup(), dots)


def _title(series: Series, index: int, day: str, value: str) -> Markup:
    said = f" ({series.notes[index]})" if series.notes else ""
    return Markup("<title>{} · {}: {}{}</title>").format(day, series.label, value, said)


def _range(ends: tuple[float, float] | None, x: float, low: float, high: float, title: Markup) -> Markup:
    if ends is None:
        return Markup()
    first, last = (_at(_height(end, low, high)) for end in ends)
    return Markup('<path class="range" d="M{} {}V{}">{}</path>').format(_at(x), first, last, title)


def _across(index: int, days: int) -> float:
    inset = 22.0  # room for half a label
    left, right = LEFT + inset, WIDTH - RIGHT - inset
    return (left + right) / 2 if days < 2 else left + (right - left) * index / (days - 1)


def _height(value: float, low: float, high: float) -> float:
    share = min(1.0, max(0.0, (value - low) / (high - low)))
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * share


def _path(css: str, d: str) -> Markup:
    return Markup('<path class="{}" d="{}"/>').format(css, d)


def _text(css: str, x: float, y: float, text: str) -> Markup:
    return Markup('<text class="{}" x="{}" y="{}">{}</text>').format(css, _at(x), _at(y), escape(text))


def _at(coordinate: float) -> str:
    return f"{coordinate:.1f}".removesuffix(".0")
