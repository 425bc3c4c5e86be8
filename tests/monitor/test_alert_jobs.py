"""Alerts over a ledger: opened once, closed past clear, sent until somebody got them, never in a storm."""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Evaluation
from areopage.ledger.write.alerts import Alerts
from areopage.ledger.write.operations import Alert
from areopage.monitor.alerts.deliver import AlertMessage, SentAlert
from areopage.monitor.alerts.jobs import Alerting, alert_jobs, check_windows, due_answer_alert, open_alerting, send_due
from areopage.monitor.config import MonitorConfig, MonitorSection
from areopage.work.handlers import ScheduledJob
from servers.quality import MOMENT, quality_score, store_scores

if TYPE_CHECKING:
    from servers.fake_bot import FakeBot

pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")

HERE = "json://127.0.0.1:9"


@pytest.fixture(name="receiver")
def running_receiver() -> Iterator["FakeBot"]:
    from servers.fake_bot import FakeBot

    with FakeBot(reply=lambda _: (200, {})) as running:
        yield running


def config_of(folder: Path, **alerts: object) -> MonitorConfig:
    section = MonitorSection.model_validate({"language": "en", "alerts": {"urls": [HERE], **alerts}})
    return MonitorConfig(section=section, folder=folder)


def alerting_of(ledger: Ledger, **alerts: object) -> Alerting:
    return open_alerting(ledger, config_of(Path(), **alerts))


def raise_answer_alert(alerting: Alerting, score: Evaluation, now: datetime) -> bool:
    """Open the alert that an evaluation brings; whether it is new."""
    alert = due_answer_alert(alerting, score, now)
    return alert is not None and Alerts(alerting.ledger).open(alert)


class Post:
    """Takes messages in place of Apprise; `failing` says how many first ones do not arrive."""

    def __init__(self, failing: int = 0) -> None:
        self.failing = failing
        self.messages: list[tuple[str, str]] = []

    def __call__(self, urls: Sequence[str], message: AlertMessage, environment: Mapping[str, str]) -> list[SentAlert]:
        if self.failing:
            self.failing -= 1
            return [SentAlert(place="url 1 (json://…)", error="refused") for _ in urls]
        self.messages.append((message.title, message.body))
        return [SentAlert(place="url 1 (json://…)") for _ in urls]


def by_rule(ledger: Ledger, rule: str) -> list[Alert]:
    return [alert for alert in Alerts(ledger).list(limit=1000) if alert.rule == rule]


def run_job(job: ScheduledJob, due: datetime) -> None:
    async def run() -> None:
        await job.run(due)

    asyncio.run(run())


def fill(ledger: Ledger, prefix: str, value: float | None, count: int, hours_ago: float = 0.5, **fields: str) -> None:
    moment = MOMENT - timedelta(hours=hours_ago)
    store_scores(
        ledger,
        [
            quality_score(
                value,
                id=f"{prefix}-{n}",
                timestamp=moment,
                evaluated_at=moment,
                scored=int(value is not None),
                planned=1,
                **fields,
            )
            for n in range(count)
        ],
    )


def test_an_alert_opens_once_is_counted_while_it_holds_and_closes_past_clear(ledger: Ledger) -> None:
    alerting = alerting_of(ledger, weak_share={"enabled": False, "threshold": 1, "clear": 1})
    fill(ledger, "low", 6.0, 20, hours_ago=20)
    check_windows(alerting, MOMENT)
    check_windows(alerting, MOMENT + timedelta(minutes=1))
    (alert,) = by_rule(ledger, "mean")
    assert (alert.state, alert.times, alert.subject) == ("open", 2, "all")
    fill(ledger, "between", 7.5, 20, hours_ago=0.5)
    check_windows(alerting, MOMENT + timedelta(minutes=2))
    assert by_rule(ledger, "mean")[0].state == "open"
    assert by_rule(ledger, "recovered") == []
    fill(ledger, "high", 9.0, 40, hours_ago=0.4)
    check_windows(alerting, MOMENT + timedelta(minutes=3))
    assert by_rule(ledger, "mean")[0].state == "closed"
    (notice,) = by_rule(ledger, "recovered")
    assert (notice.state, notice.delivery) == ("closed", "pending")
    assert notice.title == "The mean is at 7 or better: 7.88 of 10"
    check_windows(alerting, MOMENT + timedelta(minutes=4))
    assert len(by_rule(ledger, "recovered")) == 1


def test_without_addresses_nothing_is_to_be_delivered(ledger: Ledger) -> None:
    alerting = alerting_of(ledger, urls=[])
    fill(ledger, "low", 5.0, 30)
    check_windows(alerting, MOMENT)
    assert {alert.delivery for alert in Alerts(ledger).list()} == {"none"}
    assert {alert.rule for alert in Alerts(ledger).list()} == {"mean", "weak_share"}
    assert Alerts(ledger).undelivered(MOMENT) == []
    assert [job.name for job in alert_jobs(ledger, config_of(Path(), urls=[]))] == ["alert-windows"]


def test_a_bad_source_opens_its_own_alert_where_all_answers_together_are_fine(ledger: Ledger) -> None:
    alerting = alerting_of(ledger)
    fill(ledger, "good", 9.0, 100, source="site")
    fill(ledger, "bad", 4.0, 20, source="phone")
    check_windows(alerting, MOMENT)
    (alert,) = by_rule(ledger, "mean")
    assert (alert.subject, alert.title) == ("source:phone", "The mean is poor: 4.0 of 10 (Source: phone)")
    assert [one.subject for one in by_rule(ledger, "weak_share")] == ["source:phone"]
    fill(ledger, "better", 9.0, 200, source="phone")
    check_windows(alerting, MOMENT + timedelta(minutes=1))
    assert by_rule(ledger, "mean")[0].state == "closed"


def test_the_alert_about_all_answers_names_where_they_are_worst_and_belongs_to_the_part_that_explains_it(ledger: Ledger) -> None:
    alerting = alerting_of(ledger)
    fill(ledger, "before", 9.0, 40, hours_ago=30, source="site", variant="a")
    fill(ledger, "before-b", 8.0, 40, hours_ago=30, source="phone", variant="b")
    for number in range(6):
        fill(ledger, f"bad-{number}", 2.0 + number % 2, 20, source=f"phone-{number}", variant="b")
    fill(ledger, "after", 8.5, 20, source="site", variant="a")
    check_windows(alerting, MOMENT)
    mean, part = by_rule(ledger, "mean")
    (head,) = [one for one in by_rule(ledger, "weak_share") if not one.incident]
    assert (head.subject, part.subject) == ("variant:b", "variant:b") and {mean.incident, part.incident} == {head.number}
    assert mean.subject == "all" and "Where it is worst:" in mean.body
    assert "- Source: phone-0: mean 2.0 of 10 over 20 answers" in mean.body and "Criterion: Accuracy" in mean.body
    assert by_rule(ledger, "drop") == []  # two days are no reference


def test_unscored_answers_open_the_rule_about_judges_and_no_other(ledger: Ledger) -> None:
    alerting = alerting_of(ledger)
    fill(ledger, "none", None, 10)
    fill(ledger, "good", 9.0, 30)
    check_windows(alerting, MOMENT)
    assert {alert.rule for alert in Alerts(ledger).list()} == {"judge"}


def test_golden_answers_count_in_no_window(ledger: Ledger) -> None:
    store_scores(ledger, [quality_score(1.0, id=f"g-{n}", source="golden:answer_quality") for n in range(40)])
    check_windows(alerting_of(ledger), MOMENT + timedelta(minutes=1))
    assert Alerts(ledger).list() == []


def test_a_rule_that_is_switched_off_is_silent(ledger: Ledger) -> None:
    off = {"enabled": False, "threshold": 1, "clear": 1}
    alerting = alerting_of(
        ledger, mean=off, weak_share=off, judge={"enabled": False}, drop={"enabled": False}, queue={"enabled": False}
    )
    fill(ledger, "low", 1.0, 40)
    check_windows(alerting, MOMENT)
    assert Alerts(ledger).list() == []


def test_a_single_answer_is_alerted_on_once_and_closed_after_a_day(ledger: Ledger) -> None:
    alerting = alerting_of(ledger, floor=1.0)
    assert raise_answer_alert(alerting, quality_score(3.0), MOMENT)
    assert not raise_answer_alert(alerting, quality_score(3.0), MOMENT)
    assert not raise_answer_alert(alerting, quality_score(8.0, id="a-2"), MOMENT)
    check_windows(alerting, MOMENT + timedelta(hours=23))
    assert [alert.state for alert in by_rule(ledger, "answer")] == ["open"]
    check_windows(alerting, MOMENT + timedelta(hours=25))
    assert [alert.state for alert in by_rule(ledger, "answer")] == ["closed"]


def test_a_storm_of_weak_answers_is_sent_one_by_one_up_to_the_limit_and_then_in_one_message(ledger: Ledger) -> None:
    alerting, post = alerting_of(ledger, per_hour=3, floor=1.0), Post()
    for n in range(10):
        raise_answer_alert(alerting, quality_score(3.0, id=f"a-{n}"), MOMENT + timedelta(seconds=n))
    assert send_due(alerting, MOMENT + timedelta(minutes=1), {}, post) == 3
    assert send_due(alerting, MOMENT + timedelta(minutes=39), {}, post) == 0
    assert len(by_rule(ledger, "answer")) == 10
    assert send_due(alerting, MOMENT.replace(hour=15, minute=0), {}, post) == 1
    assert [title for title, _ in post.messages] == ["Weak answer: 3.0 of 10"] * 3 + ["7 more weak answers"]
    assert all(f"a-{n}" in post.messages[-1][1] for n in range(3, 10))
    assert {alert.delivery for alert in by_rule(ledger, "answer")} == {"sent"}
    raise_answer_alert(alerting, quality_score(3.0, id="next"), MOMENT + timedelta(hours=1))
    assert send_due(alerting, MOMENT + timedelta(hours=1), {}, post) == 1


def test_a_delivery_that_fails_twice_arrives_at_the_third_attempt(ledger: Ledger) -> None:
    alerting, post = alerting_of(ledger), Post(failing=2)
    raise_answer_alert(alerting, quality_score(3.0), MOMENT)
    assert send_due(alerting, MOMENT, {}, post) == 0
    (alert,) = by_rule(ledger, "answer")
    assert (alert.delivery, alert.attempts, alert.delivery_error) == ("pending", 1, "url 1 (json://…): refused")
    assert send_due(alerting, MOMENT + timedelta(seconds=59), {}, post) == 0
    assert send_due(alerting, MOMENT + timedelta(seconds=60), {}, post) == 0
    assert send_due(alerting, MOMENT + timedelta(seconds=181), {}, post) == 1
    assert len(post.messages) == 1
    (alert,) = by_rule(ledger, "answer")
    assert (alert.delivery, alert.delivery_error) == ("sent", "")


def test_an_alert_that_nobody_takes_is_given_up_after_hours_and_stays_visible(ledger: Ledger) -> None:
    alerting, post = alerting_of(ledger), Post(failing=1000)
    raise_answer_alert(alerting, quality_score(3.0), MOMENT)
    now = MOMENT
    while now < MOMENT + timedelta(hours=12):
        send_due(alerting, now, {}, post)
        now += timedelta(minutes=1)
    (alert,) = by_rule(ledger, "answer")
    assert (alert.delivery, alert.attempts, alert.delivery_error) == ("given_up", 12, "url 1 (json://…): refused")
    (place,) = by_rule(ledger, "delivery")
    assert (place.state, place.delivery, place.times) == ("open", "none", 12)


def test_a_dead_receiver_is_tried_by_one_alert_at_a_time(ledger: Ledger) -> None:
    alerting, post = alerting_of(ledger), Post(failing=1000)
    for n in range(5):
        raise_answer_alert(alerting, quality_score(3.0, id=f"a-{n}"), MOMENT)
    send_due(alerting, MOMENT, {}, post)
    assert post.failing == 999
    send_due(alerting, MOMENT + timedelta(seconds=10), {}, post)
    assert post.failing == 998


def test_an_address_that_fails_beside_one_that_works_is_seen_on_the_page_and_closes_when_it_works(ledger: Ledger) -> None:
    alerting = alerting_of(ledger, urls=[HERE, "json://127.0.0.1:8"])
    errors = ["refused", ""]

    def post(urls: Sequence[str], message: AlertMessage, environment: Mapping[str, str]) -> list[SentAlert]:
        return [SentAlert(place="url 1 (json://…)"), SentAlert(place="url 2 (json://…)", error=errors.pop(0))]

    for n in range(2):
        raise_answer_alert(alerting, quality_score(3.0, id=f"a-{n}"), MOMENT)
    assert send_due(alerting, MOMENT, {}, post) == 2
    (place,) = by_rule(ledger, "delivery")
    assert (place.subject, place.state, place.delivery) == ("url 2 (json://…)", "closed", "none")
    assert "url 2 (json://…) failed: refused" in place.body


def test_two_senders_at_once_send_an_alert_once(ledger: Ledger) -> None:
    alerting, post = alerting_of(ledger), Post()
    raise_answer_alert(alerting, quality_score(3.0), MOMENT)
    (due,) = Alerts(ledger).undelivered(MOMENT)

    def other(urls: Sequence[str], message: AlertMessage, environment: Mapping[str, str]) -> list[SentAlert]:
        assert send_due(alerting, MOMENT, {}, post) == 0
        assert not Alerts(ledger).reserve(due, MOMENT + timedelta(hours=1))
        return [SentAlert(place="url 1 (json://…)")]

    assert send_due(alerting, MOMENT, {}, other) == 1
    assert post.messages == []


def test_who_dies_while_sending_leaves_the_alert_due_again(ledger: Ledger) -> None:
    alerting, post = alerting_of(ledger), Post()
    raise_answer_alert(alerting, quality_score(3.0), MOMENT)

    def dies(urls: Sequence[str], message: AlertMessage, environment: Mapping[str, str]) -> list[SentAlert]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        send_due(alerting, MOMENT, {}, dies)
    assert send_due(alerting, MOMENT + timedelta(minutes=1), {}, post) == 0
    assert send_due(alerting, MOMENT + timedelta(minutes=5), {}, post) == 1


def test_an_alert_whose_texts_were_erased_is_not_sent(ledger: Ledger) -> None:

    alerting, post = alerting_of(ledger), Post()
    store_scores(ledger, [quality_score(3.0)])
    raise_answer_alert(alerting, quality_score(3.0), MOMENT)
    ledger.erasure.erase(["a-1"])
    send_due(alerting, MOMENT, {}, post)
    assert post.messages == []
    assert Alerts(ledger).undelivered(MOMENT + timedelta(days=1)) == []


def test_an_alert_of_an_erased_answer_is_closed(ledger: Ledger) -> None:

    alerting = alerting_of(ledger)
    store_scores(ledger, [quality_score(3.0), quality_score(3.0, id="stays")])
    for id in ("a-1", "stays"):
        raise_answer_alert(alerting, quality_score(3.0, id=id), MOMENT)
    ledger.erasure.erase(["a-1"])
    states = {alert.subject: (alert.state, alert.closed_at is not None) for alert in by_rule(ledger, "answer")}
    assert states == {"a-1": ("closed", True), "stays": ("open", False)}


def test_the_jobs_watch_and_send_to_a_real_receiver(ledger: Ledger, receiver: "FakeBot", tmp_path: Path) -> None:
    config = config_of(tmp_path, urls=[receiver.url.replace("http://", "json://")], link="http://127.0.0.1:8600")
    fill(ledger, "low", 4.0, 30)
    watch, deliver = alert_jobs(ledger, config)
    assert (watch.name, watch.schedule) == ("alert-windows", "0 * * * * *")
    assert (deliver.name, deliver.schedule) == ("alert-delivery", "*/10 * * * * *")
    run_job(watch, MOMENT)
    run_job(deliver, MOMENT)
    run_job(deliver, MOMENT.replace(hour=15, minute=0))
    assert receiver.asked[0].body["title"] == "Many weak answers: 100%"
    assert "The mean is poor: 4.0 of 10" in [asked.body for asked in receiver.asked][-1]["message"]
    assert "See: http://127.0.0.1:8600/monitor" in receiver.asked[0].body["message"]


def test_webhooks_tell_incident_single_answer_and_recovery_apart(ledger: Ledger, receiver: "FakeBot") -> None:
    alerting = alerting_of(ledger, urls=[receiver.url.replace("http://", "json://")], per_hour=1, weak_share={"enabled": False})
    scores = [quality_score(3.456, id=f"weak-{n}") for n in range(3)]
    store_scores(ledger, scores)
    for score in scores:
        raise_answer_alert(alerting, score, MOMENT)
    send_due(alerting, MOMENT, {})
    fill(ledger, "low", 4.0, 30)
    check_windows(alerting, MOMENT)
    fill(ledger, "high", 9.5, 300)
    check_windows(alerting, MOMENT)
    send_due(alerting, MOMENT, {})
    send_due(alerting, MOMENT + timedelta(hours=1), {})
    bodies = [asked.body for asked in receiver.asked]
    assert [(one["type"], one["rule"], one["key"], one["id"], one["score"]) for one in bodies] == [
        ("warning", "answer", "answer:weak-0", "weak-0", 3.46),
        ("failure", "mean", "mean:all", None, None),
        ("success", "mean", "mean:all", None, None),
        ("warning", "mean", "mean:all", None, None),  # the further answers of that incident
    ]


def test_a_real_receiver_that_fails_twice_gets_the_message_once(ledger: Ledger, receiver: "FakeBot") -> None:
    alerting = alerting_of(ledger, urls=[receiver.url.replace("http://", "json://")])
    statuses = [503, 503, 200]
    receiver.reply = lambda _: (statuses.pop(0), {})
    raise_answer_alert(alerting, quality_score(3.0), MOMENT)
    arrived = [send_due(alerting, MOMENT + timedelta(minutes=minute), {}) for minute in (0, 1, 3, 4)]
    assert arrived == [0, 0, 1, 0]
    assert len(receiver.asked) == 3
    assert by_rule(ledger, "answer")[0].delivery == "sent"


def test_a_dead_real_receiver_leaves_its_error_in_sight(ledger: Ledger) -> None:
    alerting = alerting_of(ledger)
    raise_answer_alert(alerting, quality_score(3.0), MOMENT)
    assert send_due(alerting, MOMENT, {}) == 0
    (alert,) = by_rule(ledger, "answer")
    assert alert.delivery == "pending"
    assert alert.delivery_error.startswith("url 1 (json://…): ")


def test_a_dead_address_is_complained_of_once_until_it_is_something_else(
    ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    alerting, errors = alerting_of(ledger), ["refused", "refused", "refused", "too slow", "too slow", "", "too slow"]

    def post(urls: Sequence[str], message: AlertMessage, environment: Mapping[str, str]) -> list[SentAlert]:
        return [SentAlert(place="url 1 (json://…)", error=errors.pop(0))]

    for n in range(7):
        raise_answer_alert(alerting, quality_score(3.0, id=f"a-{n}"), MOMENT)
    for n in range(5):
        send_due(alerting, MOMENT + timedelta(seconds=10 * n), {}, post)
    send_due(alerting, MOMENT + timedelta(seconds=50), {}, post)
    warned = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    place = "alerts do not arrive at url 1 (json://…): "
    assert warned == [f"{place}refused", f"{place}too slow", f"{place}too slow"]


def test_an_alert_that_is_given_up_is_said_so_in_the_log(ledger: Ledger, caplog: pytest.LogCaptureFixture) -> None:
    alerting, post = alerting_of(ledger), Post(failing=1000)
    raise_answer_alert(alerting, quality_score(3.0), MOMENT)
    for hour in range(24):
        send_due(alerting, MOMENT + timedelta(hours=hour), {}, post)
    first, last = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert first == "alerts do not arrive at url 1 (json://…): refused"
    assert last == "alert 1 is not sent any more, after 12 attempts: url 1 (json://…): refused"


def test_an_address_whose_variable_is_not_set_is_named_at_the_start(
    ledger: Ledger, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AREOPAGE_TEST_HERE", HERE)
    monkeypatch.delenv("AREOPAGE_TEST_NOPE", raising=False)
    alert_jobs(ledger, config_of(tmp_path, urls=["env:AREOPAGE_TEST_HERE", "env:AREOPAGE_TEST_NOPE", HERE]))
    (said,) = caplog.messages
    assert "url 2 (env:AREOPAGE_TEST_NOPE)" in said and "is not set" in said
