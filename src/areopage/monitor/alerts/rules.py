"""Findings of rules, and the alerts they open and close."""

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
    """A rule's finding.

    Between `bad` and `clear` an alert is kept unchanged: neither holds there, nor with too little data.

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
    """Build the alert of a bad finding."""
    return new_alert(finding.rule, finding.subject, finding.title, finding.body, now, delivery)


def notice_of(finding: Finding, now: datetime, delivery: Delivery) -> Alert:
    """Build the notice of a closed alert; it is closed itself."""
    title, body = finding.recovered
    notice = new_alert(RECOVERED, f"{finding.rule}:{finding.subject}", title, body, now, delivery)
    return msgspec.structs.replace(notice, state="closed", closed_at=now)


def new_alert(rule: str, subject: str, title: str, body: str, now: datetime, delivery: Delivery, *, answer_id: str = "") -> Alert:
    """Build an alert to send at once."""
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
    """The start of a moment's hour."""
    return moment.replace(minute=0, second=0, microsecond=0)


def hour_after(moment: datetime) -> datetime:
    """The end of a moment's hour."""
    return hour_of(moment) + timedelta(hours=1)
