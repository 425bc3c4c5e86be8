"""Days, ends and reservations of alerts, on both databases."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from areopage.ledger.store import Ledger
from areopage.ledger.write.alerts import Alerts
from areopage.ledger.write.operations import Alert

MOMENT = datetime(2026, 3, 4, 14, 20, 0, 123456, tzinfo=UTC)
HOUR = timedelta(hours=1)


def opened(ledger: Ledger, subject: str, at: datetime, rule: str = "answer") -> Alert:
    alert = Alert(
        rule=rule,
        subject=subject,
        state="open",
        opened_at=at,
        last_seen_at=at,
        title="t",
        body="b",
        next_attempt_at=at,
    )
    assert Alerts(ledger).open(alert)
    return Alerts(ledger).list(limit=1)[0]


def test_only_the_newest_of_a_rule_are_counted(location: str, open_ledger: Callable[[str | Path], Ledger]) -> None:
    ledger = open_ledger(location)
    pacing = Alerts(ledger)
    assert pacing.opened_since("answer", MOMENT, 3) == 0
    for n in range(5):
        opened(ledger, f"a{n}", MOMENT + n * HOUR)
    opened(ledger, "m", MOMENT + 9 * HOUR, rule="mean")
    assert pacing.opened_since("answer", MOMENT + 3 * HOUR, 20) == 2
    assert pacing.opened_since("answer", MOMENT, 3) == 3


def test_old_alerts_of_one_rule_are_closed(location: str, open_ledger: Callable[[str | Path], Ledger]) -> None:
    ledger = open_ledger(location)
    opened(ledger, "old", MOMENT)
    opened(ledger, "old", MOMENT, rule="mean")
    opened(ledger, "new", MOMENT + HOUR)
    assert Alerts(ledger).close_before("answer", MOMENT + HOUR, MOMENT + 2 * HOUR) == 1
    assert Alerts(ledger).close_before("answer", MOMENT + HOUR, MOMENT + 2 * HOUR) == 0
    states = {(alert.rule, alert.subject): alert.state for alert in Alerts(ledger).list()}
    assert states == {("answer", "old"): "closed", ("mean", "old"): "open", ("answer", "new"): "open"}


def test_an_alert_is_reserved_by_one_only_and_due_again_later(location: str, open_ledger: Callable[[str | Path], Ledger]) -> None:
    ledger = open_ledger(location)
    alert = opened(ledger, "a", MOMENT)
    pacing = Alerts(ledger)
    assert pacing.reserve(alert, MOMENT + HOUR)
    assert not pacing.reserve(alert, MOMENT + HOUR)
    assert Alerts(ledger).undelivered(MOMENT + HOUR / 2) == []
    (due,) = Alerts(ledger).undelivered(MOMENT + HOUR)
    assert pacing.reserve(due, MOMENT + 2 * HOUR)
    Alerts(ledger).delivered(alert.number)
    assert not pacing.reserve(Alerts(ledger).list()[0], MOMENT + 3 * HOUR)
