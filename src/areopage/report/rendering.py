"""Rendering and writing of reports as HTML, Markdown and JSON.

A report's texts may come from outside, and all of them are escaped. The HTML page loads nothing, and its policy forbids scripts.
In Markdown every text is plain words on one line: it breaks no table, becomes no link, image or HTML, and holds no control
character.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from areopage.locales import Locale
from areopage.report.charts import bar_chart, interval_axis, interval_mark, trend_chart
from areopage.report.model import BarChart, Block, Cell, Entry, Excerpt, Line, Point, Report, Span, TrendChart
from areopage.report.tables import replacing
from areopage.version import __version__

ReportForm = Literal["html", "md", "json"]
FORMS: tuple[ReportForm, ...] = ("html", "md", "json")
SUFFIXES: dict[str, ReportForm] = {".html": "html", ".htm": "html", ".md": "md", ".json": "json"}

TEMPLATES = Path(__file__).with_name("templates")
LONGEST_WORDS, LONGEST_HEADING = 1_000, 120
_LANGUAGES_KEPT = 8
_BLANK_LINES = re.compile(r"\n{3,}")

# Controls, invisible signs, and those that turn the direction of what follows.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]")
_SIGNS = re.compile(r"[\\`*\[\]~$|]|(?<![^\W_])_|_(?![^\W_])")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"})
_ADDRESS = re.compile(r"\b(?:(?:https?|ftp|mailto|xmpp)(?=:)|www(?=\.))", re.IGNORECASE)
_BLOCK_SIGN = re.compile(r"^(?:[-+=#]|[0-9]{1,9}(?=[.)]))")
_BLANK = re.compile(r"\s++")


def form_of_file(path: str) -> ReportForm:
    """The form that a file's ending names, else Markdown."""
    return SUFFIXES.get(Path(path).suffix.lower(), "md")


def write_report(report: Report, form: ReportForm, path: Path) -> None:
    """Write a report, replacing an existing file atomically; a page is written block by block.

    Raises:
        StorageError: the file cannot be written.
    """
    with replacing(path) as place, place.open("w", encoding="utf-8", errors="replace") as stream:
        stream.writelines(_page_template(report.locale).generate(report=report) if form == "html" else [render(report, form)])


def render(report: Report, form: ReportForm) -> str:
    """Render a report in a format."""
    if form == "html":
        return _page_template(report.locale).render(report=report)
    if form == "md":
        text = _markdown_template(report.locale).render(report=report)
        return _BLANK_LINES.sub("\n\n", text).strip("\n") + "\n"
    # numbers are not rounded, null where there is none, times in ISO 8601, UTC
    return msgspec.json.format(msgspec.json.encode(report.figures), indent=2).decode() + "\n"


def environment(templates: Path | Sequence[Path], locale: Locale) -> Environment:
    """The template environment of a language; escapes all values, rejects unknown names."""
    made = Environment(
        loader=FileSystemLoader(templates), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.globals.update(
        lang=locale, say=locale.say, count=locale.count, version=__version__, spans=_spans, as_cell=_as_cell, kind_of=_kind_of,
        draw=lambda chart: draw(chart, locale), axis=interval_axis, point=_point,
    )  # fmt: skip
    names = ("number", "signed", "short", "whole", "percent", "money", "moment", "stamp", "span", "date", "short_date")
    made.filters.update({name: getattr(locale, name) for name in names}, points=_points)
    return made


@lru_cache(maxsize=_LANGUAGES_KEPT)
def _page_template(locale: Locale) -> Template:
    return environment(TEMPLATES, locale).get_template("report.html.j2")


@lru_cache(maxsize=_LANGUAGES_KEPT)
def _markdown_template(locale: Locale) -> Template:
    made = environment(TEMPLATES, locale)
    made.finalize = _as_words
    made.filters.update(heading=_heading, start=item)
    made.globals.update(code=_code, is_repeated=_is_repeated, colon=locale.say("pair", name="", value="").strip(" "))
    return made.get_template("report.md.j2")


def draw(chart: BarChart | TrendChart, locale: Locale) -> Markup:
    """A chart as SVG."""
    if isinstance(chart, BarChart):
        return bar_chart(chart.labels, chart.counts, title=chart.title, css=chart.css, number=locale.whole)
    return trend_chart(
        chart.days,
        chart.series,
        low=chart.low,
        high=chart.high,
        title=chart.title,
        levels=chart.levels,
        number=lambda value: locale.short(round(value, 2)),
    )


def _point(point: Point) -> Markup:
    return Markup() if point.share is None else interval_mark(point.share, point.low, point.high, point.ticks)


def _points(share: float) -> str:
    return f"{share * 100:.2f}"


def plain_words(text: str, longest: int = LONGEST_WORDS) -> str:
    """A text on one line, cut and escaped for Markdown.

    Signs with a meaning in Markdown are escaped, `<`, `>`, `&` and `@` become entities, and web addresses are broken so that no
    reader makes links of them.
    """
    line = _BLANK.sub(" ", _UNSEEN.sub(" ", text))
    if len(line) > longest:
        line = line[: longest - 1] + "…"
    line = _SIGNS.sub(r"\\\g<0>", line).translate(_ENTITIES)
    return _ADDRESS.sub(r"\g<0>\\", line)


def item(words: str) -> Markup:
    """Escaped words at the beginning of a line, where they open no list or heading of their own."""
    return _escaped(_BLOCK_SIGN.sub(lambda sign: f"{sign[0]}\\" if sign[0].isdigit() else f"\\{sign[0]}", words.strip()))


def _escaped(markdown: str) -> Markup:
    """Markdown in which every text is escaped, so that no template escapes it again."""
    return Markup(markdown)  # noqa: S704 - the callers escape


def _as_words(value: Any) -> Any:
    """What a Markdown template prints: escaped, unless a macro made it."""
    return value if isinstance(value, Markup) else _escaped(plain_words(str(value)))


def _heading(text: str) -> Markup:
    return _escaped(plain_words(text, LONGEST_HEADING).strip())


def _code(command: str) -> Markup:
    """A command, behind a fence that is longer than any run of backticks in it."""
    line = _UNSEEN.sub(" ", command)
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    return _escaped(f"{fence} {line} {fence}" if "`" in line else f"{fence}{line}{fence}")


def _is_repeated(block: Block, entry: Entry) -> bool:
    first = next((inner for inner in entry.blocks if isinstance(inner, Excerpt)), None)
    return isinstance(block, Excerpt) and block is first and bool(block.text) and _heading(block.plain) == _heading(entry.title)


def _spans(value: Line) -> tuple[str | Span, ...]:
    return value if isinstance(value, tuple) else (value,)


def _as_cell(value: Cell | str) -> Cell:
    return Cell(text=value) if isinstance(value, str) else value


def _kind_of(block: Block) -> str:
    return type(block).__name__
