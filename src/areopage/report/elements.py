"""Elements of reports, made from figures in the words of a language."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

from areopage.criteria import Scale
from areopage.locales import MISSING, Locale, locale_for
from areopage.report.model import (
    Bar,
    BarChart,
    Cell,
    Column,
    ColumnKind,
    Excerpt,
    Facts,
    Line,
    Paragraph,
    Point,
    Row,
    Ruler,
    Section,
    Span,
)
from areopage.scoring import AppliedCalibration, CorrectedScore, Correlation, Estimate, Release, Share, Verdict
from areopage.text import Policy

_PACKAGE = Path(__file__).parents[1]
MESSAGE_FILES = (*sorted(Path(__file__).with_name("messages").glob("*.yml")), *sorted(_PACKAGE.glob("*/figures/*.yml")))
"""The words of all reports, and those beside the figures of a package."""


_MOST_TICKS = 10
LONGEST_TEXT = 20_000  # characters of one text: the page stays readable, the file small


def report_locale(language: str) -> Locale:
    """The messages of all reports in a language; English where it is not known."""
    return locale_for(language, *MESSAGE_FILES)


def audience(locale: Locale, maturity: str, years: str = "") -> str:
    """The name of an age, with its years if they are known."""
    key = f"maturity_{maturity}"
    name = locale.say(key) if key in locale.messages else maturity or locale.say("maturity_none")
    return f"{name} {years.replace('-', '–')}".rstrip()


def verdict_name(verdict: Verdict | Literal["NO_FLOORS"] | None, locale: Locale) -> str:
    """What a release verdict is called, with its reservations; None and NO_FLOORS: the suite sets no floors."""
    name = locale.say(f"release_{(verdict or 'NO_FLOORS').removesuffix(Release.UNREAD)}")
    return f"{name}{locale.say('release_unread')}" if verdict and verdict.endswith(Release.UNREAD) else name


def variant_name(name: str, locale: Locale) -> str:
    """A variant's name; answers may have none."""
    return name or locale.say("variant_none")


def columns(
    *headings: str | None,
    first: str = "",
    css: Mapping[int, str] | None = None,
    axis: tuple[tuple[float, str], ...] = (),
    texts: Collection[int] = (),
    page_only: Collection[int] = (),
) -> tuple[Column, ...]:
    """A column of text named `first`, then columns of numbers; None is a column of bars.

    Args:
        css: classes of columns by their place, 0 the first.
        axis: of the column of bars; see `axis_of`.
        texts: the places of further columns of text.
        page_only: the places of columns that the console leaves out.
    """
    classes = css or {}
    made = [Column(heading=first, kind="text", css=classes.get(0, ""))]
    for place, heading in enumerate(headings, 1):
        kind: ColumnKind = "bar" if heading is None else "text" if place in texts else "number"
        marks = axis if heading is None else ()
        shown = place not in page_only
        made.append(Column(heading=heading or "", kind=kind, css=classes.get(place, ""), axis=marks, console=shown))
    return tuple(made)


def rows(cells: Iterable[Sequence[Cell | str]]) -> tuple[Row, ...]:
    """Rows of cells."""
    return tuple(Row(cells=tuple(row)) for row in cells)


def histogram(
    title: str, counts: Sequence[int], locale: Locale, low: float = 0.0, high: float = 1.0, css: Sequence[str] = ()
) -> BarChart:
    """How many values lie in each of equal steps between two ends."""
    labels = locale.steps(low, high, len(counts)) if counts else []
    return BarChart(title=title, labels=tuple(labels), counts=tuple(counts), css=tuple(css))


def count_cell(locale: Locale, count: int) -> Cell:
    """A cell with a count; 0 is less conspicuous."""
    return Cell(text=locale.whole(count), css="" if count else "zero")


def excerpt(
    locale: Locale, title: str, text: str | Sequence[str | Span], missing: str, more: str = "left_out", limit: int = LONGEST_TEXT
) -> Excerpt:
    """A foreign text, cut to a length.

    Args:
        more: the message for how many characters are left out.
    """
    parts = [text] if isinstance(text, str) else text
    kept: list[str | Span] = []
    room = limit
    for part in parts:
        words = part if isinstance(part, str) else part.text
        if words[:room]:
            kept.append(words[:room] if isinstance(part, str) else Span(words[:room], part.style))
        room = max(0, room - len(words))
    cut = sum(len(part if isinstance(part, str) else part.text) for part in parts) - limit
    return Excerpt(title=title, text=tuple(kept), missing=missing, more=locale.count(more, cut) if cut > 0 else "")


def head_facts(heads: Sequence[str], locale: Locale) -> tuple[tuple[str, Line], ...]:
    """The heads of the ledger's hash chains, which `areopage verify --against` reads from a report."""
    return tuple((locale.say("ledger_head"), Span(head, "code")) for head in heads)


def method_section(
    locale: Locale, notes: Iterable[str], made_at: datetime, version: str, again: str = "", heads: Sequence[str] = ()
) -> Section:
    """How a report came about: notes on its figures, when and by what it was made, and the command that makes it again."""
    made: list[tuple[str, Line]] = [(locale.say("made"), locale.moment(made_at)), (locale.say("version"), version)]
    made += [(locale.say("again"), Span(again, "code"))] if again else []
    facts = Facts(items=(*made, *head_facts(heads, locale)), small=True)
    return Section(id="how", title=locale.say("how"), blocks=(*(Paragraph(text=note, look="small") for note in notes), facts))


def _place_on(score: float, scale: Scale) -> float:
    return min(1.0, max(0.0, (score - scale.min) / (scale.max - scale.min)))


def bar_on(scale: Scale, score: float | None, low: float | None = None, high: float | None = None) -> Bar:
    """The bar of a score on a scale, with its interval."""
    if score is None:
        return Bar(share=None)
    ends = (None, None) if low is None or high is None else (_place_on(low, scale), _place_on(high, scale))
    return Bar(share=_place_on(score, scale), low=ends[0], high=ends[1])


def axis_of(scale: Scale, locale: Locale) -> tuple[tuple[float, str], ...]:
    """The places of a scale's whole points with their labels; of a short or a long scale those of its ends and its middle."""
    width = scale.max - scale.min
    steps = round(width) if float(width).is_integer() and 1 < width <= _MOST_TICKS else 2
    values = [scale.min + width * step / steps for step in range(steps + 1)]
    return tuple((_place_on(value, scale), locale.short(value)) for value in values)


def point_on(scale: Scale, score: float | None, interval: tuple[float, float] | None, ticks: Sequence[float]) -> Point:
    """The point of a score on a scale, with its interval."""
    low, high = (None, None) if interval is None else (_place_on(end, scale) for end in interval)
    share = None if score is None else _place_on(score, scale)
    return Point(share=share, low=low, high=high, ticks=tuple(ticks))


def ruler(locale: Locale, scale: Scale, score: float | None, interval: tuple[float, float] | None) -> Ruler:
    """A score with its interval between the ends of its scale."""
    low, high = locale.short(scale.min), locale.short(scale.max)
    worst, best = locale.say("worst_end"), locale.say("best_end")
    left, right = (worst, best) if scale.higher_is_better else (best, worst)
    direction = locale.say("scale_higher" if scale.higher_is_better else "scale_lower", min=low, max=high)
    return Ruler(
        spoken=f"{locale.number(score)}, {direction}",
        left=f"{low} {left}",
        right=f"{high} {right}",
        mark=None if score is None else _place_on(score, scale),
        interval=None if interval is None else (_place_on(interval[0], scale), _place_on(interval[1], scale)),
    )


def figure_text(locale: Locale, figure: Estimate | Correlation, *, sign: bool = False) -> str:
    """A figure with its interval: 0.87 (0.77 to 0.93); a dash if missing."""
    if figure.value is None:
        return MISSING
    value = locale.signed(figure.value) if sign else locale.number(figure.value)
    if figure.low is None or figure.high is None:
        return value
    return f"{value} ({range_text(locale, figure.low, figure.high, sign=sign)})"


def with_interval(locale: Locale, value: float | None, low: float | None, high: float | None) -> str:
    """A value with its interval, named as one where it is known."""
    number = locale.number(value)
    if low is None or high is None:
        return number
    return f"{number}, {locale.say('alpha_interval', low=locale.number(low), high=locale.number(high))}"


def range_text(locale: Locale, low: float, high: float, *, sign: bool = False, digits: int = 2) -> str:
    """An interval: 0.77 to 0.93."""
    ends = [locale.signed(end, digits) if sign else locale.number(end, digits) for end in (low, high)]
    return locale.say("people_range", low=ends[0], high=ends[1])


def share_text(share: Share, locale: Locale) -> str:
    """A share in percent; a dash where nothing was counted."""
    return MISSING if share.share is None else locale.percent(share.share)


def share_interval(share: Share, locale: Locale) -> str:
    """The interval of a share in percent; a dash where nothing was counted."""
    return MISSING if share.low is None or share.high is None else f"{locale.percent(share.low)} – {locale.percent(share.high)}"


def share_range(share: Share, locale: Locale, *, missed: bool = False) -> str:
    """The interval of a share, or of what it leaves, in whole percents; "" where it is not known."""
    if share.low is None or share.high is None:
        return ""
    low, high = (1 - share.high, 1 - share.low) if missed else (share.low, share.high)
    return locale.say("people_range", low=locale.percent(low, 0), high=locale.percent(high, 0))


def corrected_cell(score: CorrectedScore | None, locale: Locale) -> Cell | str:
    """A corrected mean, with the calibration's id as its title; "" where there is none."""
    return Cell(text=corrected_text(score, locale), title=score.calibration) if score else ""


def text_note(policy: Policy, locale: Locale) -> str:
    """Describe changes to the texts; "" for complete texts."""
    return "" if policy == "full" else locale.say(f"text_{policy}")


def corrected_text(score: CorrectedScore | None, locale: Locale) -> str:
    """A corrected mean with its interval; "" where there is none."""
    if score is None:
        return ""
    if score.low is None or score.high is None:
        return locale.number(score.score)
    around = locale.say("range", low=locale.number(score.low), high=locale.number(score.high))
    return locale.say("corrected_around", score=locale.number(score.score), range=around)


def correction_texts(
    calibration: AppliedCalibration, locale: Locale, *, elsewhere: str, details: Iterable[str], not_corrected: Sequence[str]
) -> Iterator[str]:
    """What corrected the scores and on what it rests, in lines of plain text.

    Args:
        elsewhere: what to say where the labels are of other answers.
        details: what else to say of the corrected scores.
        not_corrected: the names of criteria with too few labels.
    """
    answers = locale.count("corrected_answers", calibration.answers, raters=locale.count("people_raters", calibration.raters))
    yield locale.say("corrected_by", id=calibration.id, date=calibration.fitted[:10], answers=answers)
    if calibration.final is not None:
        yield locale.say("corrected_final", score=corrected_text(calibration.final, locale), id=calibration.id)
    if not all(score.own for score in calibration.scores):
        yield elsewhere
    yield from details
    if not_corrected:
        yield locale.say("corrected_not", criteria=", ".join(not_corrected))
