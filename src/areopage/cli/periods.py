"""Periods that the options --since and --until name."""

from datetime import date, datetime, timedelta

from areopage.cli.options import day_of
from areopage.errors import UserError
from areopage.ledger import Period


def last_day(until: str | None, now: datetime) -> date:
    """The last day of a period: that of --until, else today, in UTC.

    Raises:
        UserError: the text is not a day.
    """
    return day_of("--until", until) if until else now.date()


def period_since(since: str, last: date) -> Period:
    """The days from that of --since to the last one.

    Raises:
        UserError: the text is not a day, or the day is after the last one.
    """
    first = day_of("--since", since)
    if first > last:
        raise UserError(f"--since {first} is after the last day, {last}")
    return Period(start=first, end=last + timedelta(days=1))
