"""The rule about the queue: how long the oldest answer has been waiting for its evaluation."""

from datetime import datetime

from areopage.ledger.queries import Backlog
from areopage.monitor.alerts.rules import QUEUE, Finding
from areopage.monitor.alerts.texts import AlertLocale, lines
from areopage.monitor.config import QueueRule

CAUGHT_UP = 0.5
"""The queue has caught up when its oldest answer waits less than this share of the limit."""


def queue_finding(backlog: Backlog, rule: QueueRule, now: datetime, locale: AlertLocale) -> Finding:
    """Bad above the limit; clear below half of it or without a queue."""
    waited = (now - backlog.oldest_at).total_seconds() / 60 if backlog.oldest_at else 0.0
    values = {
        "minutes": locale.whole(round(waited)),
        "limit": locale.short(rule.minutes),
        "waiting": locale.whole(backlog.waiting),
        "failed": locale.whole(backlog.failed),
    }
    return Finding(
        rule=QUEUE,
        bad=waited > rule.minutes,
        clear=waited < rule.minutes * CAUGHT_UP,
        title=locale.say("queue_title", **values),
        body=lines(locale.say("queue_text", **values), locale.page()),
        recovered=(locale.say("queue_recovered_title", **values), lines(locale.say("queue_recovered", **values), locale.page())),
    )
