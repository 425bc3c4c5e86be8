"""The scheduled jobs of alerts: check the windows each minute, send what is due every ten seconds."""

import asyncio
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from areopage.ledger import Alert, Evaluation, Ledger, Period, Scope
from areopage.monitor.alerts.deliver import (
    AlertMessage,
    MessageSeverity,
    SentAlert,
    next_attempt,
    send,
    unset,
)
from areopage.monitor.alerts.falls import FallWatch
from areopage.monitor.alerts.incidents import GROUPED_RULES, UNCHECKED, Incidents, digest
from areopage.monitor.alerts.rules import (
    ANSWER,
    DELIVERY,
    RECOVERED,
    Finding,
    addressed_alert,
    answer_alert,
    failing_of,
    gathered,
    hour_of,
    is_late,
    judge_finding,
    new_alert,
    notice_of,
    paced,
    queue_finding,
    silence_findings,
    together,
)
from areopage.monitor.alerts.texts import AlertLocale, monitor_locale
from areopage.monitor.alerts.windows import window_findings
from areopage.monitor.config import AlertsSection, MonitorConfig, MonitorThresholds
from areopage.scoring import DECIMALS
from areopage.suites import Suite
from areopage.work import ScheduledJob

EACH_MINUTE = "0 * * * * *"
EVERY_TEN_SECONDS = "*/10 * * * * *"
OPEN_FOR = timedelta(hours=24)
"""How long the alert of a single answer stays open: it has no condition that could end."""

ROWS_FOR_JUDGES = 2000
ONE_BY_ONE = 3
"""More single answers of a source and variant that are due at once share a message."""

GATHERED_AT_ONCE = 10_000
RESERVED_FOR = timedelta(minutes=5)

logger = logging.getLogger(__name__)

SendMessages = Callable[[Sequence[str], AlertMessage, Mapping[str, str]], Sequence[SentAlert]]


class Alerting(Struct, frozen=True, kw_only=True):
    """What the rules and the delivery of alerts need; `complaints`: the last logged fault of each address."""

    ledger: Ledger
    section: AlertsSection
    thresholds: MonitorThresholds
    floors: Mapping[str, float] = {}
    locale: AlertLocale
    complaints: dict[str, str] = {}

    @property
    def incidents(self) -> Incidents:
        """The incidents of its ledger."""
        return Incidents(self.ledger, self.locale, self.floors)


def open_alerting(ledger: Ledger, config: MonitorConfig, suite: Suite | None = None) -> Alerting:
    """The alerting of a monitor; its suite is loaded unless it is given.

    Raises:
        ConfigError: the suite cannot be loaded, or a threshold is not on its scale.
    """
    suite = suite or config.load_suite()
    return Alerting(
        ledger=ledger,
        section=config.section.alerts,
        thresholds=config.thresholds(suite.scale),
        floors=config.floors(suite),
        locale=monitor_locale(config, suite),
    )


def alert_jobs(ledger: Ledger, config: MonitorConfig) -> list[ScheduledJob]:
    """The scheduled jobs of alerts; none for delivery without addresses.

    Raises:
        ConfigError: the suite cannot be loaded, or a threshold is not on its scale.
    """
    alerting = open_alerting(ledger, config)
    for fault in unset(alerting.section.urls, os.environ):
        logger.warning("%s", fault)

    async def watch(due: datetime) -> None:
        await asyncio.to_thread(check_windows, alerting, due)

    async def deliver(due: datetime) -> None:
        await asyncio.to_thread(send_due, alerting, max(due, datetime.now(UTC)), dict(os.environ))

    jobs = [ScheduledJob(name="alert-windows", schedule=EACH_MINUTE, run=watch)]
    if config.section.alerts.urls:
        jobs.append(ScheduledJob(name="alert-delivery", schedule=EVERY_TEN_SECONDS, run=deliver))
    return jobs


def due_answer_alert(alerting: Alerting, score: Evaluation, now: datetime, *, addressing: bool = False) -> Alert | None:
    """The alert to open about an answer, at the pace of `per_hour`.

    None where the answer is not weak, its alert is open, or it was given longer ago than an alert stays open.
    """
    if score.timestamp < now - OPEN_FOR:
        return None
    alert = answer_alert(score, alerting.thresholds.answer, alerting.section, now, alerting.locale, alerting.floors)
    if alert is None and addressing:
        alert = addressed_alert(score, alerting.section, now, alerting.locale)
    if alert is None or (alerts := alerting.ledger.alerts).is_open(ANSWER, alert.subject):
        return None
    limit = alerting.section.per_hour
    return paced(alert, alerts.opened_since(ANSWER, hour_of(now), limit), limit)


def check_windows(alerting: Alerting, now: datetime) -> None:
    """Check every rule except single answers, whose alerts close after a day."""
    findings = _findings(alerting, now)
    for finding in findings:
        settle(alerting, finding, now)
    alerting.incidents.merge(now)
    alerting.incidents.end_unchecked(
        {(finding.rule, finding.subject) for finding in findings if finding.enough}, now, alerting.section.delivery
    )
    alerting.ledger.alerts.close_before(ANSWER, now - OPEN_FOR, now)


def settle(alerting: Alerting, finding: Finding, now: datetime) -> None:
    """Open, count or close the alert of a finding; it opens as a part of the incident that it belongs to.

    The notice of recovery is sent with the last alert of an incident. It goes first: a notice sent twice is better than none.
    """
    alerts, incidents = alerting.ledger.alerts, alerting.incidents
    if finding.bad:
        alert = new_alert(
            finding.rule, finding.subject, finding.title, finding.body, now, alerting.section.delivery, details=finding.details
        )
        if finding.rule in GROUPED_RULES and not alerts.is_open(finding.rule, finding.subject):
            alert = incidents.joined(alert, finding, now)
        alerts.open(alert)
    elif finding.clear and alerts.is_open(finding.rule, finding.subject):
        incident, is_last = incidents.last_of(finding) or (None, True)
        if alerting.section.urls and is_last:
            notice = incidents.notice(finding, incident, now) if incident else notice_of(finding, now, alerting.section.delivery)
            alerts.open(notice)
        alerts.close(finding.rule, finding.subject, now)


def _findings(alerting: Alerting, now: datetime) -> list[Finding]:
    section, locale, lists = alerting.section, alerting.locale, alerting.ledger.lists
    findings = list(window_findings(alerting.ledger, section, alerting.thresholds, locale, now))
    if section.drop.enabled:
        findings += FallWatch(alerting.ledger, section.drop, alerting.thresholds, locale, now).findings()
    if section.judge.enabled:
        since = now - timedelta(hours=section.judge.hours)
        evaluations = alerting.ledger.evaluations
        failing = failing_of(
            lists.recent(since, Scope(), ROWS_FOR_JUDGES),
            evaluations.failing_since(since, ROWS_FOR_JUDGES),
            evaluations.latest_calls(since, ROWS_FOR_JUDGES),
            section.judge.minimum,
        )
        today = alerting.ledger.days.judges(Period(start=now.date(), end=now.date() + timedelta(days=1)))
        findings.append(judge_finding(failing, today, section.judge, locale))
    if section.queue.enabled:
        findings.append(queue_finding(alerting.ledger.evaluations.backlog(), section.queue, now, locale))
    if section.silence.enabled:
        findings.extend(silence_findings(alerting.ledger, section.silence, now, locale))
    return findings


def send_due(alerting: Alerting, now: datetime, environment: Mapping[str, str], send_all: SendMessages = send) -> int:
    """Send due alerts, one message each. Delayed alerts share a message: those of an incident, and other single answers.
    So do single answers of one source and variant of which more than `ONE_BY_ONE` are due.

    Where no address takes a message, the rest waits for the next run of the job: a dead service is asked once. An
    address that fails while another takes the message has an alert of its own, which is shown and not sent.
    """
    alerting.incidents.merge(now)
    due = alerting.ledger.alerts.undelivered(now, GATHERED_AT_ONCE)
    batches = _batches(alerting.ledger, [alert for alert in due if not is_late(alert)])
    late: dict[int, list[Alert]] = {}
    for alert in due:
        if is_late(alert):
            late.setdefault(alert.incident, []).append(alert)
    batches += late.values()
    arrived = 0
    for batch in batches:
        if not _send_batch(alerting, batch, now, environment, send_all):
            break
        arrived += 1
    return arrived


def _batches(ledger: Ledger, due: Sequence[Alert]) -> list[list[Alert]]:
    """The messages of alerts that are due at once: one each, or one for all single answers of a source and variant."""
    single = [alert for alert in due if alert.rule == ANSWER and not alert.attempts]
    if len(single) <= ONE_BY_ONE:
        return [[alert] for alert in due]
    scores, places = ledger.evaluations.latest([alert.answer_id for alert in single]), dict[tuple[str, str], list[Alert]]()
    for alert in single:
        if (score := scores.get(alert.answer_id)) is not None:
            places.setdefault((score.source, score.variant), []).append(alert)
    gathered_ones = [batch for batch in places.values() if len(batch) > ONE_BY_ONE]
    numbers = {alert.number for batch in gathered_ones for alert in batch}
    return [*gathered_ones, *([alert] for alert in due if alert.number not in numbers)]


def _send_batch(
    alerting: Alerting, batch: Sequence[Alert], now: datetime, environment: Mapping[str, str], send_all: SendMessages
) -> bool:
    alerts = alerting.ledger.alerts
    mine = [alert for alert in batch if alerts.reserve(alert, now + RESERVED_FOR)]
    if not mine:
        return True
    results = send_all(alerting.section.urls, _message_of(alerting, mine), environment)
    _note_places(alerting, results, now)
    if any(not result.error for result in results):
        for alert in mine:
            alerts.delivered(alert.number)
        return True
    error = "; ".join(f"{result.place}: {result.error}" for result in results)
    logger.debug("an alert was not delivered: %s", error)
    for alert in mine:
        again = next_attempt(alert.attempts + 1, now)
        alerts.not_delivered(alert.number, error, again)
        if again is None:
            logger.warning("alert %d is not sent any more, after %d attempts: %s", alert.number, alert.attempts + 1, error)
    return False


def _message_of(alerting: Alerting, alerts: Sequence[Alert]) -> AlertMessage:
    """The message of one alert, of several single answers, or of an incident's further alerts."""
    first = alerts[0]
    rule, _, subject = first.subject.partition(":") if first.rule == RECOVERED else (first.rule, "", first.subject)
    severity: MessageSeverity = (
        "info"
        if first.details == UNCHECKED
        else "success"
        if first.rule == RECOVERED
        else "warning"
        if rule == ANSWER
        else "failure"
    )
    head = alerting.ledger.alerts.get(first.incident) if first.incident else None
    if head is not None:
        title, body = digest(head, alerts, alerting.locale)
        return AlertMessage(title=title, body=body, severity="warning", rule=head.rule, key=f"{head.rule}:{head.subject}")
    evaluation = alerting.ledger.evaluations.get(first.answer_id) if first.answer_id else None
    if len(alerts) > 1:
        if is_late(first):
            title, body = gathered(alerts, alerting.section.per_hour, alerting.locale)
        else:
            source, variant = (evaluation.source, evaluation.variant) if evaluation else ("", "")
            title, body = together(alerts, source, variant, alerting.locale)
        return AlertMessage(title=title, body=body, severity=severity, rule=rule)
    score = evaluation.score_global if evaluation else None
    return AlertMessage(
        title=first.title,
        body=first.body,
        severity=severity,
        rule=rule,
        key=f"{rule}:{subject}",
        answer_id=first.answer_id,
        score=None if score is None else round(score, DECIMALS),
    )


def _note_places(alerting: Alerting, results: Sequence[SentAlert], now: datetime) -> None:
    """Open an alert for each address that fails, and close it when it works again; these are seen, not sent."""
    alerts, complaints = alerting.ledger.alerts, alerting.complaints
    for result in results:
        if result.error:
            if complaints.get(result.place) != result.error:
                logger.warning("alerts do not arrive at %s: %s", result.place, result.error)
            complaints[result.place] = result.error
            title = alerting.locale.say("delivery_title", place=result.place)
            body = alerting.locale.say("delivery_text", place=result.place, why=result.error)
            alerts.open(new_alert(DELIVERY, result.place, title, body, now, "none"))
        else:
            complaints.pop(result.place, None)
            if alerts.is_open(DELIVERY, result.place):
                alerts.close(DELIVERY, result.place, now)
