"""Reports on a terminal: the content of the page that is needed at once, in the language of the report.

A section says whether the console shows it. Charts, bars, entries and what a page hides behind a summary stay on the page. Texts
are untrusted: none is read as markup, and control characters are replaced.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import fill

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment, Segments
from rich.table import Table as Grid
from rich.text import Text

from areopage.locales import WIDE, Locale
from areopage.report.brief import short_report
from areopage.report.model import (
    Block,
    Cell,
    Column,
    Details,
    Facts,
    Filter,
    Heading,
    Headline,
    Line,
    Listing,
    Notice,
    Paragraph,
    Report,
    Row,
    Section,
    Span,
    Table,
)
from areopage.text import visible

SHORT_LINES = 24
"""Lines of the short form of a report, where one item of each list leaves room for that: with its plan a run has 30."""
UNSEEN_WIDTH = 200
"""Columns of output that is not a terminal."""

_MOST_ITEMS = 8
_LEAST_TEXT = 16  # columns that a text needs beside numbers
_LEAST_HEADING = 12
_GAP = 2
_WHOLE = 40  # a shorter fact of a row is never broken
_STYLES = {"strong": "bold", "mark": "bold", "failed": "bold red", "code": "cyan", "soft": "dim"}
_ROW_STYLES = {"l1": "bold", "alarm": "red"}
_INDENTS = {"l2": "  ", "l3": "    "}
_FAILING = frozenset(("h1", "h2", "h3"))
_WORD = re.compile("[^ ]+")
_LINE_END = re.compile(r"\s*\n\s*")


def text_console() -> Console:
    """A console for plain text, with words between colons as they are; output that is not a terminal is never cut at a width."""
    console = Console(highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = UNSEEN_WIDTH
    return console


def print_report(report: Report, *, short: bool = False) -> None:
    """Print a report: what it is about, notices, headline, then the sections that the console shows.

    Args:
        short: only what decides, with as many items of lists as `SHORT_LINES` lines hold, and which option shows the rest.
    """
    console = text_console()
    if not short:
        _print_parts(report, Printer(report.locale, console))
        return
    more = report.locale.say("console_more")
    for most in range(_MOST_ITEMS, 0, -1):
        brief = short_report(report, most)
        with console.capture() as output:
            _print_parts(brief, Printer(report.locale, console))
            Printer(report.locale, console).say(more, "dim")
        if output.get().count("\n") <= SHORT_LINES:
            break
    console.file.write(output.get())


def _print_parts(report: Report, printer: "Printer") -> None:
    printer.say(f"{report.kind} – {report.title}", "bold")
    printer.facts_in_a_row(report.facts)
    for notice in report.notices:
        printer.notice(notice)
    if report.headline:
        printer.headline(report.headline)
    for section in report.sections:
        if section.console:
            printer.section(section)


class Printer:
    """Prints the parts of reports on a console.

    Args:
        locale: of the texts.
    """

    def __init__(self, locale: Locale, console: Console | None = None) -> None:
        """Make one for the standard output."""
        self._console = console or text_console()
        self._colon = locale.say("pair", name="", value="").strip(" ")

    def say(self, text: str, style: str = "") -> None:
        """Print a line; nothing where it is empty."""
        if text:
            self._print(_text(text, style), hang=2)

    def notice(self, notice: Notice) -> None:
        """Print a warning with its blocks below it."""
        self._print(Text())
        self.say(notice.title, "bold red" if notice.alarm else "bold")
        self.blocks(notice.blocks, "  ")

    def headline(self, headline: Headline) -> None:
        """Print the most important figure, and the facts about it."""
        value = headline.missing or " ".join(filter(None, (headline.value, headline.unit)))
        text = Text.assemble(_text(f"{headline.label}{self._colon} {value}", "bold red" if headline.invalid else "bold"))
        if headline.badge:
            text.append_text(_text(f" ({headline.badge.text})", "bold red" if headline.badge.alarm else ""))
        if headline.missing:
            text.append_text(_text(f" – {headline.why}"))
        self._print(Text())
        self._print(text, hang=2)
        self._facts(headline.facts, "  ")

    def section(self, section: Section) -> None:
        """Print a section under its title; nothing where the console shows none of its blocks."""
        blocks = tuple(section.blocks)
        if not any(map(_is_shown, blocks)):
            return
        self._print(Text())
        badge = f" ({section.badge.text})" if section.badge else ""
        self.say(f"{section.title}{badge}", "bold")
        self.blocks(blocks)

    def blocks(self, blocks: Iterable[Block], indent: str = "") -> None:
        """Print the blocks that a console shows."""
        heading: Heading | None = None
        for block in blocks:
            if _is_shown(block):
                if heading:
                    self._print(_text(heading.text, "bold"), indent)
                self._block(block, indent)
            heading = block if isinstance(block, Heading) else None

    def _block(self, block: Block, indent: str) -> None:
        if isinstance(block, Paragraph):
            self._print(_line(block.text), indent, hang=2)
        elif isinstance(block, Listing):
            if block.title:
                self._print(_text(f"{block.title}{self._colon}", "bold"), indent)
            for item in block.items:
                self._print(Text.assemble("- ", _line(item)), indent, hang=2)
        elif isinstance(block, Facts):
            self._facts(block.items, indent)
        elif isinstance(block, Table | Filter):
            self.table(block if isinstance(block, Table) else block.table)
        elif isinstance(block, Details):
            self._print(_text(block.console), indent, hang=2)

    def facts_in_a_row(self, facts: Iterable[tuple[str, Line]]) -> None:
        """Print facts side by side; those that are links of a page are left out."""
        shown = [self._fact(name, value) for name, value in facts if not (isinstance(value, Span) and value.style == "link")]
        if shown:
            self._print(Text(" · ").join(shown), hang=2)

    def table(self, table: Table) -> None:
        """Print a table; where its numbers do not fit beside each other, each row is a block."""
        shown = [place for place, column in enumerate(table.columns) if column.console and column.kind != "bar"]
        columns = [table.columns[place] for place in shown]
        rows = [[_cell(row, row.cells[place], first=place == shown[0]) for place in shown] for row in table.rows[: table.console]]
        longest = [max((row[place].cell_len for row in rows), default=0) for place in range(len(columns))]
        whole = [visible(_LINE_END.sub(" ", column.heading)) for column in columns]
        # not much wider than the cells below
        broken = [
            fill(head, max(wide, _LEAST_HEADING), break_long_words=False) for head, wide in zip(whole, longest, strict=True)
        ]
        for heads in (whole, broken):
            if sum(map(_least, columns, heads, longest)) + _GAP * (len(columns) - 1) <= self._console.width:
                self._grid(columns, heads, rows)
                break
        else:
            for first, *others in rows:
                self._print(Text(first.plain.lstrip(), style="bold"), hang=2)
                named = zip(columns[1:], others, strict=True)
                texts = [self._fact(column.heading, cell) for column, cell in named if cell.plain]
                for fact in texts:
                    if len(fact) < _WHOLE:
                        fact.plain = fact.plain.replace(" ", WIDE)
                self._print(Text(" · ").join(texts), "  ", hang=2)
        if len(rows) < len(table.rows):
            self._print(Text(f"… (+{len(table.rows) - len(rows)})"))

    def _grid(self, columns: Sequence[Column], heads: Sequence[str], rows: Iterable[Sequence[Text]]) -> None:
        grid = Grid(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
        for column, head in zip(columns, heads, strict=True):
            if column.kind == "text":
                grid.add_column(Text(head), overflow="fold")
            else:
                grid.add_column(Text(head), justify="right", no_wrap=True)
        for cells in rows:
            grid.add_row(*cells)
        shown: list[Segment] = []
        for line in self._console.render_lines(grid, pad=False):
            while line and not line[-1].text.strip():
                line.pop()
            shown += line[:-1]
            shown += [Segment(last.text.rstrip(), last.style) for last in line[-1:]]
            shown.append(Segment.line())
        self._console.print(Segments(shown), end="")

    def _facts(self, facts: Iterable[tuple[str, Line]], indent: str) -> None:
        for name, value in facts:
            self._print(self._fact(name, value), indent, hang=2)

    def _fact(self, name: str, value: Line | Text) -> Text:
        head = _text(f"{name}{self._colon}" if name else "")
        return Text.assemble(head, " " if name else "", value if isinstance(value, Text) else _line(value))

    def _print(self, text: Text, indent: str = "", hang: int = 0) -> None:
        """Print a text; a terminal's lines are broken between words, at plain spaces only."""
        width = self._console.width if self._console.is_terminal else 0
        for number, part in enumerate(_broken(text, width - len(indent), hang)):
            before = indent + (" " * hang if number else "")
            part.plain = visible(part.plain)
            self._console.print(Text.assemble(before if part.plain else "", part), soft_wrap=True)


def _broken(text: Text, width: int, hang: int) -> Iterator[Text]:
    """The lines of a text; one line where the width is not positive."""
    breaks: list[int] = []
    start, room = 0, width
    for word in _WORD.finditer(text.plain):
        if width > 0 and word.start() > start and cell_len(text.plain[start : word.end()]) > room:
            breaks.append(word.start())
            start, room = word.start(), width - hang
    for part in text.divide(breaks):
        part.rstrip()
        yield part


def _least(column: Column, head: str, longest: int) -> int:
    """The columns of the terminal that a column needs at least."""
    if column.kind == "text":
        return min(max(longest, len(head)), _LEAST_TEXT)
    return max(longest, *map(len, head.split("\n")))


def _cell(row: Row, cell: Cell | str, *, first: bool) -> Text:
    shown = Cell(text=cell) if isinstance(cell, str) else cell
    looks = (*row.css.split(), *shown.css.split())
    style = next((_ROW_STYLES[look] for look in looks if look in _ROW_STYLES), "")
    if _FAILING.intersection(looks):
        style = "red"
    text = _line(shown.text)
    if under := [part if isinstance(part, str) else part.text for part in shown.under if part]:
        note = " · ".join(under)
        text.append_text(_text(f" ({note})" if text.plain else note))
    text.plain = visible(text.plain)
    text.stylize_before(style)
    indent = next((_INDENTS[look] for look in looks if look in _INDENTS), "") if first else ""
    return Text.assemble(indent, text)


def _line(value: Line) -> Text:
    return Text.assemble(*map(_part, value if isinstance(value, tuple) else (value,)))


def _part(part: str | Span) -> Text:
    """A part of a line; a command is never broken, so that it can be copied."""
    if isinstance(part, str):
        return _text(part)
    return _text(part.text.replace(" ", WIDE) if part.style == "code" else part.text, _STYLES.get(part.style, ""))


def _is_shown(block: Block) -> bool:
    """Whether the console shows a block; a heading is shown with what follows it."""
    if isinstance(block, Paragraph):
        return block.is_on_console
    return isinstance(block, Listing | Facts | Table | Filter) or (isinstance(block, Details) and bool(block.console))


def _text(text: str, style: str = "") -> Text:
    return Text(_LINE_END.sub(" ", visible(text, keep_spaces=True)), style=style)
