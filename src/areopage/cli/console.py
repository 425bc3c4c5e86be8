"""Texts and tables on the console."""

from collections.abc import Sequence

from rich.console import Console
from rich.segment import Segment, Segments
from rich.table import Table

UNSEEN_WIDTH = 200
"""Columns of output that is not a terminal."""


def text_console() -> Console:
    """A console for plain text, with words between colons as they are; output that is not a terminal is never cut at a width."""
    console = Console(highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = UNSEEN_WIDTH
    return console


def plain_table(*headings: str, figures: Sequence[str] = ()) -> Table:
    """A table without lines.

    Args:
        headings: of columns whose cells are broken where the console is narrow.
        figures: of further columns, on the right, whose cells are never broken.
    """
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for heading in figures:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def print_table(console: Console, table: Table) -> None:
    """Print a table without blanks at the ends of its lines; all lines at once, which takes less time."""
    shown: list[Segment] = []
    for line in console.render_lines(table, pad=False):
        while line and not line[-1].text.strip():
            line.pop()
        shown += line[:-1]
        shown += [Segment(one.text.rstrip(), one.style) for one in line[-1:]]
        shown.append(Segment.line())
    console.print(Segments(shown), end="")
