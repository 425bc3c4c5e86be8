"""Fill the review queue: what was alerted on, addresses the judge, is weak or disputed, and a random sample."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta

from msgspec import Struct

from areopage.ledger import HELD, SAMPLE, Evaluation, Filters, Ledger, Period, ReviewItem, Scope, is_golden
from areopage.scoring import DECIMALS

DAYS_BACK = 3
"""Answers may be judged days after they were given, and a worker may have been away."""

MOST_ALERTS = 1000


class FillSettings(Struct, frozen=True, kw_only=True):
    """What goes to the queue.

    Args:
        threshold: answers with a global score on its bad side are weak, on the suite's scale; None takes none.
        higher_is_better: whether the bad side is under it.
        spread: the smallest difference of judges on a criterion, in points.
        sample: how many answers of each day are drawn at random.
        raters: how many should label each answer.
        most: the most answers of each day for each reason, the worst first.
    """

    threshold: float | None
    higher_is_better: bool
    spread: float
    sample: int = 5
    raters: int = 1
    most: int = 20


def fill_queue(ledger: Ledger, settings: FillSettings, now: datetime) -> Counter[str]:
    """Queue answers of the last days; returns how many were new, by reason. Existing items are kept.

    Alerts and answers that address the judge count up to now, everything else by whole days. The sample comes first: an answer
    that was drawn at random counts as such even where it is weak too, or was queued for an alert before its day ended, or else
    figures over the sample would leave out the weak ones. Its seed is the day. Golden answers are left out.
    """
    today = now.astimezone(UTC).date()
    days = [today - timedelta(days=back) for back in range(DAYS_BACK, -1, -1)]
    queue, lists, most = ledger.review_queue, ledger.lists, settings.most

    def sampled(day: date) -> list[Evaluation]:  # the same in every process
        return lists.sample(day_of(day), Scope(), settings.sample, seed=day.toordinal()) if settings.sample else []

    def disputed(day: date) -> list[Evaluation]:
        evaluations = lists.spread_most(day_of(day), Scope(), most)
        return [
            evaluation for evaluation in evaluations if evaluation.spread is not None and evaluation.spread >= settings.spread
        ]

    chosen = {
        "sample": _without_golden(evaluation for day in days[:-1] for evaluation in sampled(day)),
        "alert": _alerted(ledger, days[0], most * len(days)),
        "addressed": _without_golden(evaluation for day in days for evaluation in lists.addressing(day_of(day), Scope(), most)),
        "low_score": [id for day in days[:-1] for id in weak(ledger, day, settings)],
        "disagreement": _without_golden(evaluation for day in days[:-1] for evaluation in disputed(day)),
        "unscored": _without_golden(
            evaluation
            for day in days[:-1]
            for evaluation in lists.page(Filters(period=day_of(day), grade="unscored"), limit=most)
        ),
    }
    reasons: dict[str, str] = {}
    for reason, ids in chosen.items():
        for id in ids:
            reasons.setdefault(id, reason)
    queued = queue.items(list(reasons))
    new = [id for id in shuffled(reasons) if id not in queued]
    queue.add([ReviewItem(answer_id=id, why=reasons[id], created_at=now, wanted=settings.raters) for id in new])
    late = [id for id in chosen["sample"] if id in queued and queued[id].why not in (SAMPLE, HELD)]
    queue.draw([ReviewItem(answer_id=id, why=SAMPLE, created_at=now, wanted=settings.raters) for id in late])
    return Counter(reasons[id] for id in new)


def shuffled(ids: Iterable[str]) -> list[str]:
    """Ids in an order that tells nothing of why they are there."""
    return sorted(ids, key=lambda id: hashlib.sha256(id.encode("utf-8", "replace")).digest())


def _alerted(ledger: Ledger, since: date, most: int) -> list[str]:
    start = datetime(since.year, since.month, since.day, tzinfo=UTC)
    alerts = ledger.alerts.list(limit=MOST_ALERTS)
    ids = dict.fromkeys(alert.answer_id for alert in alerts if alert.answer_id and alert.opened_at >= start)
    scores = [ledger.evaluations.get(id) for id in list(ids)[:most]]
    return _without_golden([score for score in scores if score is not None])


def weak(ledger: Ledger, day: date, settings: FillSettings) -> list[str]:
    """A day's answers that are worse than the threshold, the worst first."""
    threshold = settings.threshold
    if threshold is None:
        return []
    good = settings.higher_is_better
    evaluations = ledger.lists.worst(day_of(day), Scope(), settings.most, higher_is_better=good)
    side = 1.0 if good else -1.0
    shown = [(score, round(score.score_global, DECIMALS)) for score in evaluations if score.score_global is not None]
    return _without_golden([score for score, value in shown if side * (value - threshold) < 0.0])


def _without_golden(scores: Iterable[Evaluation]) -> list[str]:
    return [score.id for score in scores if not is_golden(score.source)]


def day_of(day: date) -> Period:
    """One day."""
    return Period(start=day, end=day + timedelta(days=1))
