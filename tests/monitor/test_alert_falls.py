"""Falls of quality: an incident against the weeks before, which stays open until that level is back or accepted."""

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from areopage.errors import UserError
from areopage.ledger.people.access import Audit
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import CriterionResult, Evaluation
from areopage.ledger.write.alerts import Alerts
from areopage.ledger.write.operations import Alert
from areopage.monitor.alerts.falls import accept_level
from areopage.monitor.alerts.jobs import Alerting, check_windows, due_answer_alert, open_alerting
from areopage.monitor.config import MonitorConfig, MonitorSection
from servers.quality import MOMENT, quality_score, store_scores

START = MOMENT.replace(hour=0, minute=0) - timedelta(days=60)
EXACT = "quality.answer.exactitude"


def alerting_of(ledger: Ledger) -> Alerting:
    off = {"enabled": False}
    alerts = {"urls": ["json://127.0.0.1:9"], "mean": off, "weak_share": off, "judge": off, "queue": off, "threshold": None}
    section = MonitorSection.model_validate({"language": "en", "alerts": alerts})
    return open_alerting(ledger, MonitorConfig(section=section, folder=Path()))


def at(day: int) -> datetime:
    return START + timedelta(days=day, minutes=1)


def answer(day: int, number: int, score: float, exactitude: float, source: str, panel: str) -> Evaluation:
    moment = START + timedelta(days=day, hours=8, seconds=number)
    return quality_score(
        score,
        id=f"{source}-{day}-{number}",
        timestamp=moment,
        evaluated_at=moment,
        source=source,
        run_id=panel,
        scored=1,
        planned=1,
        criteria=(CriterionResult(criterion=EXACT, score=exactitude, grade="acceptable"),),
    )


def fill(
    ledger: Ledger, days: range, fall: float = 0.0, exact: float = 0.0, sources: tuple[str, ...] = ("a", "b"), panel: str = "one"
) -> None:
    rows = []
    for day in days:
        for source in sources:
            random = np.random.default_rng([day, ord(source)])
            for number in range(12):
                score, other = random.normal(8.0 - fall, 0.3), random.normal(8.0 - fall - exact, 0.4)
                rows.append(answer(day, number, round(float(score), 2), round(float(other), 2), source, panel))
    store_scores(ledger, rows)


def drops(ledger: Ledger, state: str | None = "open") -> list[Alert]:
    return list(Alerts(ledger).list(state=state, rule="drop"))


def watch(alerting: Alerting, days: range) -> None:
    for day in days:
        check_windows(alerting, at(day))


def test_a_lasting_fall_opens_one_incident_that_is_never_called_recovered_while_the_quality_is_bad(ledger: Ledger) -> None:
    alerting = alerting_of(ledger)
    fill(ledger, range(20))
    fill(ledger, range(20, 50), fall=1.0)
    watch(alerting, range(10, 50))
    (incident,) = drops(ledger)
    assert at(20) < incident.opened_at <= at(23)
    assert "all answers" in incident.title and "since about 20" in incident.body
    assert not Alerts(ledger).list(rule="recovered") and not drops(ledger, "closed")
    assert "not back" in incident.situation


def test_the_level_before_the_fall_closes_the_incident_and_its_notice_says_so(ledger: Ledger) -> None:
    alerting = alerting_of(ledger)
    fill(ledger, range(20))
    fill(ledger, range(20, 30), fall=1.0)
    fill(ledger, range(30, 45))
    watch(alerting, range(18, 45))
    (incident,) = drops(ledger, "closed")
    assert incident.closed_at and incident.closed_at > at(31)
    (notice,) = Alerts(ledger).list(rule="recovered")
    assert "The level before the fall is back" in notice.title
    assert not drops(ledger)


def test_half_of_the_fall_made_up_is_not_the_level_before(ledger: Ledger) -> None:
    alerting = alerting_of(ledger)
    fill(ledger, range(20))
    fill(ledger, range(20, 30), fall=2.0)
    fill(ledger, range(30, 50), fall=0.9)
    watch(alerting, range(18, 50))
    (incident,) = drops(ledger)
    assert "not back" in incident.situation and not Alerts(ledger).list(rule="recovered")


def test_the_days_of_an_earlier_incident_are_no_reference_for_the_end_of_the_next(ledger: Ledger) -> None:
    alerting = alerting_of(ledger)
    fill(ledger, range(20))
    fill(ledger, range(20, 34), fall=2.0)
    fill(ledger, range(34, 46))
    fill(ledger, range(46, 50), fall=2.5)
    fill(ledger, range(50, 60), fall=0.9)
    watch(alerting, range(18, 60))
    assert len(drops(ledger, "closed")) == 1
    (incident,) = drops(ledger)
    assert incident.opened_at > at(46)


def test_one_criterion_of_one_source_is_named_and_the_other_source_has_no_part_in_it(ledger: Ledger) -> None:
    alerting = alerting_of(ledger)
    fill(ledger, range(20))
    fill(ledger, range(20, 26), exact=1.0, sources=("a",))
    fill(ledger, range(20, 26), sources=("b",))
    watch(alerting, range(18, 26))
    (incident,) = drops(ledger)
    assert incident.subject == "source:a" and "Accuracy" in incident.body and "Global" not in incident.body


def test_a_source_that_falls_silent_keeps_its_incident_open(ledger: Ledger) -> None:
    alerting = alerting_of(ledger)
    fill(ledger, range(30), sources=("b",))
    fill(ledger, range(20), sources=("a",))
    fill(ledger, range(20, 24), fall=1.0, sources=("a",))
    watch(alerting, range(18, 30))
    (incident,) = drops(ledger)
    assert incident.subject == "source:a" and "Too few answers" in incident.situation


def test_scores_of_other_judges_are_neither_a_fall_nor_a_recovery(ledger: Ledger) -> None:
    alerting = alerting_of(ledger)
    fill(ledger, range(20))
    fill(ledger, range(20, 30), fall=1.0, panel="two")
    watch(alerting, range(18, 30))
    assert not drops(ledger, None)
    fill(ledger, range(30, 34), fall=2.0, panel="two")
    fill(ledger, range(34, 44), panel="three")
    watch(alerting, range(30, 44))
    (incident,) = drops(ledger)
    assert "judges" in incident.situation and not Alerts(ledger).list(rule="recovered")


def test_an_accepted_level_is_the_reference_of_the_next_fall(ledger: Ledger) -> None:
    alerting = alerting_of(ledger)
    fill(ledger, range(20))
    fill(ledger, range(20, 40), fall=1.0)
    watch(alerting, range(18, 32))
    (incident,) = drops(ledger)
    assert Alerts(ledger).accept(incident.number, "Ada", "another model, cheaper", at(32))
    watch(alerting, range(32, 40))
    assert not drops(ledger) and not Alerts(ledger).list(rule="recovered")
    fill(ledger, range(40, 44), fall=2.0)
    watch(alerting, range(40, 44))
    (second,) = drops(ledger)
    assert second.number != incident.number


def test_a_killed_worker_and_many_looks_change_nothing(ledger: Ledger) -> None:
    fill(ledger, range(20))
    fill(ledger, range(20, 25), fall=1.0)
    for day in range(18, 25):
        for _ in range(2):
            check_windows(alerting_of(ledger), at(day))
    (incident,) = drops(ledger, None)
    assert incident.times == 1


def test_accepting_needs_a_name_a_note_and_an_open_incident_and_is_in_the_audit_log(ledger: Ledger) -> None:
    with pytest.raises(UserError, match="no open incident 7"):
        accept_level(ledger, 7, "Ada", "reason", at(0))
    fill(ledger, range(20))
    fill(ledger, range(20, 23), fall=2.0)
    watch(alerting_of(ledger), range(20, 24))
    (incident,) = drops(ledger)
    with pytest.raises(UserError, match="a note"):
        accept_level(ledger, incident.number, "Ada", " ", at(24))
    accept_level(ledger, incident.number, "Ada", "cheaper model", at(24))
    (closed,) = drops(ledger, "closed")
    assert (closed.accepted_by, closed.accepted_note) == ("Ada", "cheaper model")
    assert any("cheaper model" in entry.detail and entry.actor == "Ada" for entry in Audit(ledger).list())
    with pytest.raises(UserError, match="no open incident"):
        accept_level(ledger, incident.number, "Ada", "again", at(24))


def test_an_answer_older_than_its_alert_would_stay_open_opens_none(ledger: Ledger) -> None:
    section = MonitorSection.model_validate({"language": "en"})
    alerting = open_alerting(ledger, MonitorConfig(section=section, folder=Path()))
    weak = quality_score(2.0, timestamp=MOMENT - timedelta(days=25))
    assert due_answer_alert(alerting, weak, MOMENT) is None
    assert due_answer_alert(alerting, quality_score(2.0, timestamp=MOMENT - timedelta(hours=23)), MOMENT) is not None


def test_an_inexact_answer_in_good_form_is_at_the_floor_of_the_bundled_suite(ledger: Ledger) -> None:
    section = MonitorSection.model_validate({"language": "en"})
    alerting = open_alerting(ledger, MonitorConfig(section=section, folder=Path()))
    assert alerting.floors[EXACT] == 3.0 and alerting.floors["quality.answer.format"] == 1.0
    wrong = quality_score(6.9, criteria=(CriterionResult(criterion=EXACT, score=3.0, grade="weak"),))
    alert = due_answer_alert(alerting, wrong, MOMENT)
    assert alert is not None and "Accuracy 3.0" in alert.title
