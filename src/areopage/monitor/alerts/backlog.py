"""The rule about the queue: how long the oldest answer has been waiting for its evaluation."""

from datetime import datetime

from areopage.ledger.queries import Backlog
from areopage.monitor.alerts.rules import QUEUE, Finding
from areopage.monitor.alerts.texts import Voice, lines
from areopage.monitor.config import QueueRule

CAUGHT_UP = 0.5
"""The queue has caught up when its oldest answer waits less than this share of the limit."""


def queue_finding(backlog: Backlog, rule: QueueRule, now: datetime, voice: Voice) -> Finding:
    """Bad strictly over the limit, clear under half of it or when nothing waits."""
    waited = (now - backlog.oldest_at).total_seconds() / 60 if backlog.oldest_at else 0.0
    values = {
        "minutes": voice.whole(round(waited)),
        "limit": voice.short(rule.minutes),
        "waiting": voice.whole(backlog.waiting),
        "queued": voice.whole(backlog.queued),
        "failed": voice.whole(backlog.failed),
    }
    return Finding(
        rule=QUEUE,
        bad=waited > rule.minutes,
        clear=waited < rule.minutes * CAUGHT_UP,
        title=voice.say("queue_title", **values),
        body=lines(voice.say("queue_text", **values), voice.page()),
        recovered=(voice.say("queue_recovered_title", **values), lines(voice.say("queue_recovered", **values), voice.page())),
    )
