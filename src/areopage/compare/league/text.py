"""What a league table says of targets and of their differences, in the words of a language."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import get_args
from urllib.parse import quote

from areopage.bench import DisplayNames
from areopage.cases import field_named
from areopage.compare.league.table import League, LeagueEntry
from areopage.compare.statistics.tested import Measured
from areopage.ledger import AnswerState
from areopage.locales import MISSING, Locale, sentence_case
from areopage.report import Badge, Cell, Span, verdict_name
from areopage.scoring import FailureCount

ANSWER_STATES = (*get_args(AnswerState), "erased", "not_run")
"""The states that answers are counted by, whole ones first."""

_TINY = 0.001


def target_names(league: League, locale: Locale) -> dict[str, str]:
    """What each run is called, by its id; see `distinct_names`."""
    return distinct_names({entry.run.id: entry.target for entry in league.entries}, locale)


def distinct_names(targets: Mapping[str, str], locale: Locale) -> dict[str, str]:
    """What runs are called by their ids: the target, with the id where several runs have the same."""
    names = {id: target or locale.say("given_responses") for id, target in targets.items()}
    alike = list(names.values())
    return {id: f"{name} ({id})" if alike.count(name) > 1 else name for id, name in names.items()}


def standing_cell(entry: LeagueEntry, locale: Locale) -> Cell:
    """The verdict of a run, with why it settles nothing."""
    verdict = verdict_name(entry.standing, locale)
    doubt: tuple[str, ...] = (locale.say(f"doubt_{entry.doubt}"),) if entry.doubt else ()
    if entry.reused:
        doubt += (locale.say("reused_since", oldest=locale.date(entry.reused.oldest)),)
    if entry.standing == "FAIL":
        return Cell(text="", under=(Badge(text=verdict, alarm=True), *doubt))
    return Cell(text=Span(verdict, "strong"), under=doubt)


def refusal_notes(entry: LeagueEntry, locale: Locale) -> Iterator[str]:
    """The harmless questions that a target refuses; where none is marked, that most of its answers refuse."""
    refusals, asked = entry.refusals, sum(entry.answer_states.get(state, 0) for state in ("answered", "refused"))
    if refusals is not None and refusals.refused:
        refused, known = locale.whole(refusals.refused), locale.whole(refusals.known)
        yield locale.say("twins_refused", refused=refused, known=known)
    elif refusals is None and 2 * entry.refusing > asked:
        yield locale.say("league_refusing", refused=locale.whole(entry.refusing), asked=locale.whole(asked))


def failed_text(count: FailureCount, locale: Locale) -> str:
    """How many cases fail, of those with a score."""
    return locale.say("failures_of", failed=locale.whole(count.failed), scored=locale.whole(count.scored))


def uncounted(count: FailureCount, locale: Locale) -> Iterator[str]:
    """The cases that a count leaves out."""
    if count.scored < count.cases:
        unscored = locale.whole(count.cases - count.scored)
        yield locale.say("pair", name=sentence_case(locale.say("unscored")), value=unscored)
    if count.not_applicable:
        yield locale.say("pair", name=sentence_case(locale.say("said_not_applicable")), value=locale.whole(count.not_applicable))


def percent_difference(measured: Measured, locale: Locale) -> str:
    """A difference of shares in points of a hundred, with its interval."""
    if measured.difference is None or measured.low is None or measured.high is None:
        return MISSING
    low, high = (locale.signed(end * 100, 1) for end in (measured.low, measured.high))
    around = locale.say("interval_text", low=low, high=high)
    return locale.say("points_difference", n=locale.signed(measured.difference * 100, 1), around=around)


def score_difference(measured: Measured, locale: Locale) -> str:
    """A difference of scores with its interval."""
    if measured.difference is None or measured.low is None or measured.high is None:
        return MISSING
    return f"{locale.signed(measured.difference)} ({locale.interval(measured.low, measured.high, sign=True)})"


def p_text(value: float, locale: Locale) -> str:
    """A p-value; a tiny one as a bound."""
    if value < _TINY:
        return locale.say("p_value_under", p=locale.number(_TINY, 3))
    return locale.say("p_value", p=locale.number(value, 3))


def count_notes(count: FailureCount, locale: Locale) -> tuple[str, ...]:
    """The upper bound of a count, and what it leaves out."""
    high = [] if count.high is None else [locale.say("slice_up_to", high=locale.percent(count.high, 0))]
    return (*high, *uncounted(count, locale))


def interval_notes(entry: LeagueEntry, locale: Locale) -> tuple[str, ...]:
    """The interval of a run's score."""
    return (locale.interval(entry.interval.low, entry.interval.high),) if entry.interval else ()


def beside(path: Path, folder: Path) -> str:
    """The address of a report beside a folder; "" for one elsewhere, so that no path of a machine is shown."""
    beside, whole = folder.resolve().parent, path.resolve()
    return quote(f"../{whole.relative_to(beside).as_posix()}") if whole.is_relative_to(beside) else ""


def slice_value(column: str, value: str, labels: DisplayNames, locale: Locale) -> str:
    """What people call a value of a column."""
    field = field_named(column)
    if field == "maturity" and f"maturity_{value}" in locale.messages:
        return locale.say(f"maturity_{value}")
    if field in ("category", "subcategory"):
        value = labels.names.get(value, value)
    return value or locale.say("no_value")


def column_name(column: str, locale: Locale) -> str:
    """What people call a column."""
    key = f"column_{field_named(column) or column}"
    return locale.say(key) if key in locale.messages else column
