"""The rule about sources that have fallen silent: no answer has come for longer than the source ever paused before."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise

from msgspec import structs

from areopage.ledger import Ledger, Period
from areopage.monitor.alerts.rules import SILENCE, Finding, finding_of
from areopage.monitor.alerts.texts import AlertLocale, plain
from areopage.monitor.config import SilenceRule

SOURCE_LENGTH = 128


def silence_findings(ledger: Ledger, rule: SilenceRule, now: datetime, locale: AlertLocale) -> Iterator[Finding]:
    """A finding for each source: clear where an answer came within `hours`, bad where none came for longer than it may pause.

    A source may pause for `hours` and for as many whole days as it ever did in the weeks before. One with few days of answers
    is not expected to go on. An open alert of a source that stays silent stays open.
    """
    activity = ledger.lists
    since = now - timedelta(hours=rule.hours)
    active = activity.received_since(since)
    for source in active:
        yield _finding(source, now, rule.hours, locale, bad=False)
    period = Period(start=now.date() - timedelta(days=rule.days), end=now.date() + timedelta(days=1))
    for source, days in activity.active_days(period).items():
        if source in active or len(days) < rule.minimum_days:
            continue
        last = activity.last_received(source)
        hours = rule.hours + 24 * _longest_pause(days)
        if last is not None and last < now - timedelta(hours=hours):
            yield _finding(source, last, hours, locale, bad=True)


def _longest_pause(days: Sequence[date]) -> int:
    """The most days in a row without an answer, between days with one."""
    return max(((later - earlier).days - 1 for earlier, later in pairwise(days)), default=0)


def _finding(source: str, last: datetime, hours: float, locale: AlertLocale, *, bad: bool) -> Finding:
    values = {
        "source": plain(source, SOURCE_LENGTH) or "—",
        "since": f"{last:%Y-%m-%d %H:%M} UTC",
        "hours": locale.hours(hours),
    }
    return structs.replace(finding_of(SILENCE, values, locale, bad=bad, clear=not bad), subject=source)
