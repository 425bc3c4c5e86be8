"""A source that has fallen silent opens an alert, which an answer closes."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import structs

from areopage.ledger.store import Ledger
from areopage.ledger.write.alerts import Alerts
from areopage.monitor.alerts.jobs import check_windows, open_alerting
from areopage.monitor.config import MonitorConfig, MonitorSection
from areopage.monitor.hook.submission import submission_of
from areopage.monitor.intake import Intake
from servers.quality import quality_score, store_scores

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)  # a Thursday
OFF = {"queue": {"enabled": False}, "drop": {"enabled": False}, "mean": {"enabled": False}}


def answers(ledger: Ledger, source: str, *days_ago: int) -> None:
    """An evaluated answer on each of these days."""
    for number in days_ago:
        at = NOW - timedelta(days=number)
        fields = {"id": f"{source}-{number}", "source": source, "timestamp": at, "received_at": at}
        store_scores(ledger, [quality_score(9.0, **fields)])


def open_alerts(ledger: Ledger, now: datetime, language: str = "en") -> list[tuple[str, str]]:
    section = MonitorSection.model_validate({"language": language, "alerts": OFF})
    check_windows(open_alerting(ledger, MonitorConfig(section=section, folder=Path())), now)
    return [(one.subject, one.title) for one in Alerts(ledger).list(state="open", rule="silence")]


def test_a_source_without_answers_is_named_until_one_comes(ledger: Ledger) -> None:
    answers(ledger, "bot", *range(2, 16))
    answers(ledger, "busy", *range(16))
    answers(ledger, "tried once", 4)
    assert open_alerts(ledger, NOW) == [("bot", "No answers from bot since 2026-11-24 12:00 UTC")]
    later = NOW + timedelta(hours=1)
    Intake(ledger).submit([structs.replace(submission_of("Q ?", "A.", source="bot"), received_at=later)])
    assert open_alerts(ledger, later) == []


def test_a_pause_as_long_as_earlier_ones_is_no_silence(ledger: Ledger) -> None:
    weekdays = [number for number in range(3, 24) if (NOW - timedelta(days=number)).weekday() < 5]
    answers(ledger, "office", *weekdays)
    assert open_alerts(ledger, NOW - timedelta(hours=2)) == []
    assert [subject for subject, _ in open_alerts(ledger, NOW + timedelta(hours=2))] == ["office"]


def test_an_alert_of_a_source_that_never_comes_back_stays_open(ledger: Ledger) -> None:
    answers(ledger, "bot", *range(2, 16))
    assert open_alerts(ledger, NOW) and open_alerts(ledger, NOW + timedelta(days=60))
    assert open_alerts(ledger, NOW, "fr")
