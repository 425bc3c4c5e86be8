"""What every rule comes to, and how alerts open and close by it."""

from datetime import datetime, timedelta
from typing import Literal

import msgspec
from msgspec import Struct

from areopage.ledger.operations import Alert

Delivery = Literal["pending", "none"]

ANSWER, MEAN, WEAK_SHARE, DROP = "answer", "mean", "weak_share", "drop"
JUDGE, QUEUE, GOLDEN, DELIVERY, RECOVERED = "judge", "queue", "golden", "delivery", "recovered"

EVERYTHING = "all"


class Finding(Struct, frozen=True, kw_only=True):
    """What a rule found. Between `bad` and `clear` an alert stays as it is: neither holds there, nor where too little is known.

    Args:
        bad: the alert opens, or is seen once more.
        clear: an open alert closes.
        title, body: what is said when it opens.
        recovered: title and body of the notice when it closes.
    """

    rule: str
    subject: str = EVERYTHING
    bad: bool
    clear: bool
    title: str
    body: str
    recovered: tuple[str, str]


def alert_of(finding: Finding, now: datetime, delivery: Delivery) -> Alert:
    """The alert of a finding that is bad."""
    return new_alert(finding.rule, finding.subject, finding.title, finding.body, now, delivery)


def notice_of(finding: Finding, now: datetime, delivery: Delivery) -> Alert:
    """The notice that an alert has closed; it is over as soon as it is written."""
    title, body = finding.recovered
    notice = new_alert(RECOVERED, f"{finding.rule}:{finding.subject}", title, body, now, delivery)
    return msgspec.structs.replace(notice, state="closed", closed_at=now)


def new_alert(rule: str, subject: str, title: str, body: str, now: datetime, delivery: Delivery, *, answer_id: str = "") -> Alert:
    """An alert that is to be sent at once."""
    return Alert(
        rule=rule,
        subject=subject,
        state="open",
        opened_at=now,
        last_seen_at=now,
        title=title,
        body=body,
        answer_id=answer_id,
        delivery=delivery,
        next_attempt_at=now,
    )


def hour_of(moment: datetime) -> datetime:
    """When the hour of a moment began."""
    return moment.replace(minute=0, second=0, microsecond=0)


def hour_after(moment: datetime) -> datetime:
    """When the hour of a moment ends."""
    return hour_of(moment) + timedelta(hours=1)
