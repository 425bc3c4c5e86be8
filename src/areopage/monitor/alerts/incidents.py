"""Incidents: alerts of one cause and time are one incident, named by the first of them, and told in one message.

The alerts of `weak_share` and `mean` begin an incident. A further one joins it if it is about the same answers, or if its
answers outside the incidents are fine. A fall of the same part and time and single weak answers join, too. Which alerts belong
together is a function of the ledger, so that a worker that dies loses nothing.
"""

from collections.abc import Mapping, Sequence, Set
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct

from areopage.ledger import Alert, Ledger
from areopage.monitor.alerts.falls import Incident
from areopage.monitor.alerts.rules import (
    ANSWER,
    DROP,
    MEAN,
    RECOVERED,
    WEAK_SHARE,
    AnswerPlace,
    Finding,
    answer_list,
    at_floor,
    hour_after,
    new_alert,
    notice_of,
)
from areopage.monitor.alerts.texts import AlertLocale, lines, listed
from areopage.monitor.config import Delivery

WINDOW_RULES = (WEAK_SHARE, MEAN)
GROUPED_RULES = (*WINDOW_RULES, DROP)
SAME_TIME = timedelta(hours=24)
"""Alerts join an incident that began at most this long ago; single answers as long as it is open."""

SINGLES = 1000
UNCHECKED = "unchecked"
"""The details of the notice of an incident that ended without a check of all its parts."""


class OpenIncident(Struct, frozen=True):
    """An incident of which an alert is open."""

    alert: Alert
    place: AnswerPlace
    open: tuple[Alert, ...]


class Incidents:
    """The incidents of a ledger."""

    def __init__(self, ledger: Ledger, locale: AlertLocale, floors: Mapping[str, float]) -> None:
        self._ledger, self._alerts, self._locale, self._floors = ledger, ledger.alerts, locale, floors

    def open(self) -> list[OpenIncident]:
        """The open incidents, the oldest first."""
        by_head: dict[int, list[Alert]] = {}
        for rule in GROUPED_RULES:
            for alert in self._alerts.list(state="open", rule=rule, limit=SINGLES):
                by_head.setdefault(alert.incident or alert.number, []).append(alert)
        incidents = []
        for number, members in sorted(by_head.items()):
            head = self._alerts.get(number)
            if head is not None and head.rule in WINDOW_RULES and head.details:
                place = msgspec.json.decode(head.details, type=AnswerPlace)
                incidents.append(OpenIncident(head, place, tuple(members)))
        return incidents

    def joined(self, alert: Alert, finding: Finding, now: datetime) -> Alert:
        """A new alert as a part of the incident that it belongs to, due at the end of the hour; unchanged where it begins one."""
        recent = [incident for incident in self.open() if incident.alert.opened_at >= now - SAME_TIME]
        head = _same_fall(finding, recent) if finding.rule == DROP else _same_cause(finding, recent)
        if head is None:
            return alert
        return msgspec.structs.replace(alert, incident=head.alert.number, next_attempt_at=hour_after(now))

    def merge(self, now: datetime) -> None:
        """Put what belongs to an open incident into it: narrower incidents of the same time, and single weak answers."""
        incidents = self.open()
        for wide in incidents:
            for narrow in incidents:
                apart = abs(wide.alert.opened_at - narrow.alert.opened_at)
                if wide.place.covers(narrow.place) and not narrow.place.covers(wide.place) and apart <= SAME_TIME:
                    self._alerts.join([narrow.alert.number], wide.alert.number, hour_after(now))
        if incidents:
            self._add_answers(self.open(), now)

    def _add_answers(self, incidents: Sequence[OpenIncident], now: datetime) -> None:
        """Add single weak answers, unless a criterion is at its floor that the incident's message does not name."""
        single = self._alerts.list(state="open", rule=ANSWER, incident=0, limit=SINGLES)
        scores = self._ledger.evaluations.latest([alert.answer_id for alert in single]) if single else {}
        for incident in incidents:
            numbers = []
            for alert in single:
                score = scores.get(alert.answer_id)
                if (
                    score is None
                    or score.score_global is None
                    or not incident.place.covers(AnswerPlace(score.source, score.variant))
                ):
                    continue
                low = {criterion.criterion for criterion in at_floor(score, self._floors, self._locale.scale)}
                if low <= set(incident.place.criteria):
                    numbers.append(alert.number)
            if numbers:
                self._alerts.join(numbers, incident.alert.number, hour_after(now))

    def last_of(self, finding: Finding) -> tuple[OpenIncident, bool] | None:
        """The open incident of a finding's alert, and whether no other alert of it is open; None where it belongs to none."""
        for incident in self.open():
            mine = [alert for alert in incident.open if (alert.rule, alert.subject) == (finding.rule, finding.subject)]
            if mine:
                return incident, len(incident.open) == 1
        return None

    def notice(self, finding: Finding, incident: OpenIncident, now: datetime) -> Alert:
        """The notice of recovery of an incident whose last alert closes."""
        locale, head = self._locale, incident.alert
        notice = notice_of(finding, now, "pending")
        members = self._alerts.of_incident(head.number, GROUPED_RULES)
        answers = self._alerts.members([head.number]).get(head.number, {}).get(ANSWER, 0)
        counted = locale.say("incident_answers", n=locale.whole(answers)) if answers else ""
        if len(members) == 1:
            return msgspec.structs.replace(notice, body=lines(notice.body, counted))
        return msgspec.structs.replace(
            notice,
            subject=f"{head.rule}:{head.subject}",
            title=locale.say("incident_over_title", title=head.title),
            body=lines(
                listed(locale.say("incident_over", n=locale.whole(len(members))), [member.title for member in members]),
                notice.title,
                finding.recovered[1],
                counted,
            ),
        )

    def end_unchecked(self, checked: Set[tuple[str, str]], now: datetime, delivery: Delivery) -> None:
        """Say which open alerts have too few answers to close, and end the incidents of which only such alerts are left.

        An incident ends so only where the alert that names it has been checked and is closed; its notice claims no recovery.
        """
        too_few = self._locale.messages["too_few"]
        for incident in self.open():
            missing = [alert for alert in incident.open if alert.rule != DROP and (alert.rule, alert.subject) not in checked]
            for alert in incident.open:
                if (alert in missing) != (alert.situation == too_few) and alert.rule != DROP:
                    self._alerts.describe(alert.number, too_few if alert in missing else "")
            if len(missing) < len(incident.open) or incident.alert.state == "open":
                continue
            if delivery == "pending":
                head, locale, left = incident.alert, self._locale, {alert.number for alert in incident.open}
                members = [member for member in self._alerts.of_incident(head.number, GROUPED_RULES) if member.number not in left]
                body = lines(
                    listed(locale.say("incident_over", n=locale.whole(len(members))), [member.title for member in members]),
                    listed(locale.messages["incident_unchecked"], [alert.title for alert in incident.open]),
                    locale.page("/alerts"),
                )
                title, subject = locale.say("incident_closed_title", title=head.title), f"{head.rule}:{head.subject}"
                notice = new_alert(RECOVERED, subject, title, body, now, delivery, details=UNCHECKED)
                self._alerts.open(msgspec.structs.replace(notice, state="closed", closed_at=now))
            for alert in missing:
                self._alerts.close(alert.rule, alert.subject, now)


def _same_cause(finding: Finding, recent: Sequence[OpenIncident]) -> OpenIncident | None:
    place = finding.place
    if place is None or finding.is_fine_outside is None:
        return None
    inside = [incident for incident in recent if incident.place.covers(place)]
    meeting = [incident for incident in recent if incident.place.meets(place)]
    if not inside and meeting and finding.is_fine_outside([incident.place for incident in meeting]):
        inside = meeting
    return inside[0] if inside else None


def _same_fall(finding: Finding, recent: Sequence[OpenIncident]) -> OpenIncident | None:
    began = msgspec.json.decode(finding.details, type=Incident).began
    for incident in recent:
        if any(
            alert.subject == finding.subject for alert in incident.open
        ) and began >= incident.alert.opened_at.date() - timedelta(days=1):
            return incident
    return None


def digest(head: Alert, members: Sequence[Alert], locale: AlertLocale) -> tuple[str, str]:
    """Title and body of one message for further alerts of an incident: the rules by title, single answers by number."""
    rules = [member for member in members if member.rule != ANSWER]
    answers = [member for member in members if member.rule == ANSWER]
    return locale.say("digest_title", n=locale.whole(len(members)), title=head.title), lines(
        locale.say("digest_text", number=str(head.number), answers=locale.whole(len(answers)), rules=locale.whole(len(rules))),
        *(f"- {rule.title}" for rule in rules),
        answer_list(answers, locale),
        locale.page("/alerts"),
    )
