"""The content of a report, independent of application and format.

Every text is plain: the HTML and Markdown renderers escape all of them. Shares lie in [0, 1]; numbers in texts are formatted in
the report's language.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from msgspec import Struct

from areopage.locales import Locale
from areopage.report.charts import ChartLevel, Series

Style = Literal["soft", "strong", "code", "mark", "failed", "link"]


class Span(Struct, frozen=True):
    """A part of a line that looks different; on a page it is a link where `href` is a relative address."""

    text: str
    style: Style
    href: str = ""


Line = str | Span | tuple[str | Span, ...]
"""A text, or parts of one that are joined without a space."""


def line(*parts: str | Span) -> tuple[str | Span, ...]:
    """A line of several parts with spaces between them; empty parts are left out."""
    joined: list[str | Span] = []
    for part in parts:
        if part if isinstance(part, str) else part.text:
            joined += [" ", part] if joined else [part]
    return tuple(joined)


class Bar(Struct, frozen=True, kw_only=True):
    """A horizontal bar; None has no bar. `low` and `high` are the ends of its interval."""

    share: float | None
    low: float | None = None
    high: float | None = None


class Point(Struct, frozen=True, kw_only=True):
    """A point on an axis with its interval, if it has one; None has no point. `ticks` are the places of the axis's marks."""

    share: float | None
    low: float | None = None
    high: float | None = None
    ticks: tuple[float, ...] = ()


class Badge(Struct, frozen=True, kw_only=True):
    """A short remark that stays beside a title or a name."""

    text: str
    alarm: bool = False


ColumnKind = Literal["text", "number", "bar"]


class Column(Struct, frozen=True, kw_only=True):
    """A column of a table; one of bars has no heading.

    Args:
        axis: the marks of an axis in its place, with their labels.
        console: whether the console shows it, where a line has less room; it shows no bars.
    """

    heading: str = ""
    kind: ColumnKind = "number"
    css: str = ""
    axis: tuple[tuple[float, str], ...] = ()
    console: bool = True


class Cell(Struct, frozen=True, kw_only=True):
    """A cell. `under` are short lines below its text, `key` the class of a coloured square before it."""

    text: Line = ""
    under: tuple[str | Badge, ...] = ()
    bar: Bar | Point | None = None
    title: str = ""
    key: str = ""
    css: str = ""


class Row(Struct, frozen=True, kw_only=True):
    """A row of a table; a string is a cell with this text."""

    cells: tuple[Cell | str, ...]
    css: str = ""


class Table(Struct, frozen=True, kw_only=True):
    """A table. `css` names its layout; a stacked one shows each row as a block on small screens.

    `caption` says what it is about, for readers who hear the page; the heading above says so to all others. The console shows the
    first `console` rows; None: all. The short one shows fewer of them, unless the table is
    `never_cut`.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    css: str = ""
    stacked: bool = True
    caption: str = ""
    console: int | None = None
    never_cut: bool = False


class Paragraph(Struct, frozen=True, kw_only=True):
    """A paragraph: usual, the answer in short (`lead`), soft, a note below a table or chart, or a small one.

    Args:
        console: whether the console shows it; by default unless it only explains (soft, note, small).
    """

    text: Line
    look: Literal["usual", "lead", "soft", "note", "small"] = "usual"
    console: bool | None = None

    @property
    def is_on_console(self) -> bool:
        """Whether the console shows it."""
        return self.look in ("usual", "lead") if self.console is None else self.console


class Listing(Struct, frozen=True, kw_only=True):
    """Points of a list, with or without a title; `steps` have their commands on lines of their own.

    Args:
        more: how many points are left out, as the last item says; 0: none.
        never_cut: the short console shows every point.
    """

    items: tuple[Line, ...]
    title: str = ""
    more: int = 0
    never_cut: bool = False
    css: Literal["", "steps"] = ""


class Facts(Struct, frozen=True, kw_only=True):
    """Names with their values. `small` ones are about the report itself."""

    items: tuple[tuple[str, Line], ...]
    small: bool = False


class Excerpt(Struct, frozen=True, kw_only=True):
    """A foreign text over several lines. `missing` is shown instead of an empty one, `more` says how much was cut."""

    title: str
    text: tuple[str | Span, ...]
    missing: str
    more: str = ""

    @property
    def plain(self) -> str:
        """The text without styles."""
        return "".join(part if isinstance(part, str) else part.text for part in self.text)


class ScoreMarks(Struct, frozen=True, kw_only=True):
    """Scores of one answer: name, bar, number."""

    items: tuple[tuple[str, Bar, str], ...]


class Quote(Struct, frozen=True, kw_only=True):
    """An extract that a judge quotes. `remark` says what is wrong with it."""

    text: str
    more: str = ""
    remark: str = ""


class Remark(Struct, frozen=True, kw_only=True):
    """The comment of one judge in one pass. `failure` replaces a missing text."""

    name: str
    score: str
    text: str = ""
    more: str = ""
    failure: str = ""
    quotes: tuple[Quote, ...] = ()


class Assessment(Struct, frozen=True, kw_only=True):
    """One criterion of a response with all that the judges said."""

    label: str
    key: str
    note: str
    bar: Bar
    score: str
    remarks: tuple[Remark, ...]
    is_open: bool


class Heading(Struct, frozen=True, kw_only=True):
    """A heading inside of a section."""

    text: str


class BarChart(Struct, frozen=True, kw_only=True):
    """Counts of steps; `css` is a class per bar, or empty."""

    title: str
    labels: tuple[str, ...]
    counts: tuple[int, ...]
    css: tuple[str, ...] = ()


class TrendChart(Struct, frozen=True, kw_only=True):
    """Lines over days; a table says the same in forms without pictures."""

    title: str
    days: tuple[str, ...]
    series: tuple[Series, ...]
    low: float
    high: float
    levels: tuple[ChartLevel, ...] = ()


class Stripe(Struct, frozen=True, kw_only=True):
    """Parts of a whole side by side: class and share of each. A table says the same."""

    parts: tuple[tuple[str, float], ...]


class Details(Struct, frozen=True, kw_only=True):
    """Blocks that a page hides behind a summary; the console shows a text in their place, or nothing."""

    summary: str
    blocks: tuple["Block", ...]
    console: str = ""


class Filter(Struct, frozen=True, kw_only=True):
    """A table with links that show only some of its rows.

    Args:
        name: of the links, unique in a report.
        every, total: the link for all rows, and their number.
        choices: the other links with their numbers; rows of the class `of0` belong to the first, and so on, up to eight.
    """

    name: str
    every: str
    total: str
    choices: tuple[tuple[str, str], ...]
    table: Table


class Entry(Struct, frozen=True, kw_only=True):
    """One answer of a list: its score, the beginning of its question, facts, and the rest.

    Args:
        anchor: what links lead to; unique in a page.
        css: the classes by which choices find it.
    """

    score: str
    title: str
    facts: tuple[str, ...]
    blocks: tuple["Block", ...]
    alarm: bool = False
    anchor: str = ""
    css: str = ""


class Entries(Struct, frozen=True, kw_only=True):
    """Answers to look at, the most important first."""

    items: tuple[Entry, ...]


class Choice(Struct, frozen=True, kw_only=True):
    """One choice among entries: those of a class, or all where it is ""."""

    label: str
    css: str = ""


class Choices(Struct, frozen=True, kw_only=True):
    """Buttons above single entries of a page, which show only some of them; one of each group is chosen at a time.

    Args:
        groups: the name of each group with its choices; the first one shows all.
        links: anchors that show only the entries with all of the classes in their name, joined by "-", and what is then said.
        every: the link that shows all again.
    """

    groups: tuple[tuple[str, tuple[Choice, ...]], ...]
    links: tuple[tuple[str, str], ...]
    every: str

    @property
    def rules(self) -> str:
        """The style that hides entries."""
        chosen = [choice.css for _, group in self.groups for choice in group if choice.css]
        by_choice = (f"main:has(#by-{css}:checked) .entry:not(.{css}, :target)" for css in chosen)
        by_link = (f"main:has(#only-{name}:target) .entry:not(.{name.replace('-', '.')})" for name, _ in self.links)
        selectors = ", ".join([*by_choice, *by_link])
        return f"{selectors} {{ display: none; }}" if selectors else ""


class Blanks(Struct, frozen=True, kw_only=True):
    """Lines to fill in by hand on paper; other forms leave them out."""

    lines: tuple[tuple[str, ...], ...]


Block = (
    Paragraph
    | Listing
    | Facts
    | Table
    | BarChart
    | TrendChart
    | Stripe
    | Details
    | Filter
    | Entries
    | Entry
    | Choices
    | Blanks
    | Excerpt
    | ScoreMarks
    | Assessment
    | Heading
)


class Section(Struct, frozen=True, kw_only=True):
    """A section with the name of its anchor.

    Args:
        blocks: may be made one by one while the page is written.
        place: where it is left out: on paper, or on the screen.
        console: whether the console shows it.
        brief: whether the short console shows it, too.
    """

    id: str
    title: str
    blocks: Iterable[Block]
    badge: Badge | None = None
    place: Literal["everywhere", "screen", "paper"] = "everywhere"
    console: bool = False
    brief: bool = False


class Notice(Struct, frozen=True, kw_only=True):
    """A warning above all figures; on paper, `cases` keep a line each."""

    title: str
    blocks: tuple[Paragraph | Listing, ...]
    alarm: bool = False
    css: Literal["", "cases"] = ""


class Ruler(Struct, frozen=True, kw_only=True):
    """Where a score lies on its scale. `spoken` says it in words."""

    spoken: str
    left: str
    right: str
    mark: float | None
    interval: tuple[float, float] | None


class Headline(Struct, frozen=True, kw_only=True):
    """The most important figure; without a value, `missing` and `why` say so. The short console shows the facts named `brief`."""

    label: str
    value: str
    unit: str = ""
    missing: str = ""
    why: str = ""
    badge: Badge | None = None
    invalid: bool = False
    css: str = ""
    ruler: Ruler | None = None
    facts: tuple[tuple[str, Line], ...] = ()
    brief: tuple[str, ...] = ()


class Report(Struct, frozen=True, kw_only=True):
    """A whole report.

    Args:
        kind: what sort of report it is; `title` is what this one is about.
        window: the title of the browser's window.
        figures: what the JSON form says.
    """

    locale: Locale
    kind: str
    title: str
    window: str
    facts: tuple[tuple[str, Line], ...]
    notices: tuple[Notice, ...] = ()
    headline: Headline | None = None
    sections: tuple[Section, ...]
    footer: tuple[str, ...]
    figures: Mapping[str, Any] = {}
