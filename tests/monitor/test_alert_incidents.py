"""One storm is one incident: its alerts share a message and a notice of recovery, and nothing of it is hidden."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec import structs

from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import CriterionResult, Evaluation, HookCount
from areopage.ledger.write.alerts import Alerts
from areopage.ledger.write.operations import Alert, HookCounts
from areopage.monitor.alerts.deliver import AlertMessage, SentAlert
from areopage.monitor.alerts.jobs import Alerting, check_windows, due_answer_alert, open_alerting, send_due
from areopage.monitor.config import MonitorConfig, MonitorSection
from servers.quality import MOMENT, quality_score, store_scores

HERE = "json://127.0.0.1:9"
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


def alerting_of(ledger: Ledger, language: str = "en") -> Alerting:
    section = MonitorSection.model_validate({"language": language, "alerts": {"urls": [HERE]}})
    return open_alerting(ledger, MonitorConfig(section=section, folder=Path()))


class Post:
    """Takes messages in place of Apprise."""

    def __init__(self) -> None:
        self.messages: list[AlertMessage] = []

    def __call__(self, urls: Sequence[str], message: AlertMessage, environment: Mapping[str, str]) -> list[SentAlert]:
        self.messages.append(message)
        return [SentAlert(place="url 1 (json://…)")]

    @property
    def titles(self) -> list[str]:
        return [message.title for message in self.messages]


def answer(id: str, score: float, at: timedelta, **fields: object) -> Evaluation:
    criteria = (
        CriterionResult(criterion="quality.answer.exactitude", score=score, grade="weak" if score < 6 else "excellent"),
        CriterionResult(criterion="quality.answer.format", score=9.0, grade="excellent"),
    )
    moment = MOMENT + at
    return quality_score(score, id=id, timestamp=moment, evaluated_at=moment, criteria=criteria, scored=2, planned=2, **fields)


def quiet_day(ledger: Ledger) -> None:
    for source, variant in (("notaires", "a"), ("notaires", "b"), ("banque", "a"), ("banque", "b"), ("site", "a"), ("site", "b")):
        store_scores(
            ledger,
            [answer(f"{source}-{variant}-{n}", 9.0, -timedelta(hours=20), source=source, variant=variant) for n in range(20)],
        )


def arrive(alerting: Alerting, scores: Sequence[Evaluation]) -> None:
    """Store answers and open the alerts of the weak ones, as the worker does."""
    for score in scores:
        alert = due_answer_alert(alerting, score, score.timestamp)
        store_scores(alerting.ledger, [score])
        if alert is not None:
            Alerts(alerting.ledger).open(alert)


def storm(alerting: Alerting, post: Post, count: int = 200, **fields: object) -> None:
    """Weak answers of a source and variant within a minute, with the jobs that run meanwhile."""
    for step in range(6):
        each = range(step * count // 6, (step + 1) * count // 6)
        arrive(alerting, [answer(f"weak-{fields['source']}-{n}", 2.0, n * MINUTE / count, **fields) for n in each])
        if step == 3:
            check_windows(alerting, MOMENT + 40 * SECOND)
        send_due(alerting, MOMENT + (step + 1) * 10 * SECOND, {}, post)
    check_windows(alerting, MOMENT + MINUTE)
    send_due(alerting, MOMENT + MINUTE, {}, post)


def alerts_of(ledger: Ledger, *rules: str, state: str | None = None) -> list[Alert]:
    return [one for one in Alerts(ledger).list(state=state, limit=1000) if one.rule in rules]


def test_a_storm_of_one_source_and_variant_is_one_incident_from_its_first_message_to_its_recovery(ledger: Ledger) -> None:
    alerting, post = alerting_of(ledger), Post()
    quiet_day(ledger)
    storm(alerting, post, source="notaires", variant="b")
    assert post.titles == [
        "20 weak answers (Source: notaires, Variant: b)",
        "Many weak answers: 76.9% (Source: notaires, above all Variant: b)",
    ]
    body = post.messages[-1].body
    assert "Source: notaires, Variant: b: 133 of 153 answers are weak" in body
    assert "Criterion: Accuracy" in body and "Example: Answer: weak-notaires-" in body
    rules = alerts_of(ledger, "weak_share", "mean")
    (head,) = [one for one in rules if not one.incident]
    assert {one.incident for one in rules} == {0, head.number} and len(rules) >= 3
    single = alerts_of(ledger, "answer")
    assert len(single) == 200 and {one.incident for one in single} == {head.number}
    send_due(alerting, MOMENT.replace(hour=15, minute=0), {}, post)
    (digest,) = post.messages[2:]
    assert digest.title.startswith(f"Further alerts ({180 + len(rules) - 1}): Many weak answers")
    assert f"single answers: 180; rules: {len(rules) - 1}" in digest.body
    assert digest.key == "weak_share:source:notaires"
    later = MOMENT + 25 * HOUR
    store_scores(ledger, [answer(f"good-{n}", 9.0, 25 * HOUR - MINUTE, source="notaires", variant="b") for n in range(30)])
    store_scores(ledger, [answer(f"else-{n}", 9.0, 25 * HOUR - MINUTE, source="banque", variant="a") for n in range(30)])
    for minute in range(3):
        check_windows(alerting, later + minute * MINUTE)
        send_due(alerting, later + minute * MINUTE, {}, post)
    assert [message.severity for message in post.messages[3:]] == ["success"]
    assert post.messages[3].title.startswith("Over: Many weak answers")
    assert "Alerts of single answers in this incident: 200." in post.messages[3].body
    assert Alerts(ledger).counts() == {}


def test_two_sources_that_fail_at_once_are_two_incidents(ledger: Ledger) -> None:
    alerting, post = alerting_of(ledger), Post()
    quiet_day(ledger)
    for name in ("notaires", "banque"):
        arrive(alerting, [answer(f"{name}-{n}", 2.0, n * SECOND / 10, source=name, variant="a") for n in range(100)])
    check_windows(alerting, MOMENT + MINUTE)
    send_due(alerting, MOMENT + MINUTE, {}, post)
    heads = [one for one in alerts_of(ledger, "weak_share", "mean") if not one.incident]
    assert sorted(one.subject for one in heads) == ["source:banque", "source:notaires"]
    assert len(post.titles) == 2 and all(title.startswith("Many weak answers") for title in post.titles)
    members = Alerts(ledger).members([one.number for one in heads])
    assert [members[one.number]["answer"] for one in heads] == [100, 100]


def test_the_failure_of_all_answers_is_one_incident_that_names_no_single_source(ledger: Ledger) -> None:
    alerting, post = alerting_of(ledger), Post()
    for number in range(4):
        arrive(alerting, [answer(f"{number}-{n}", 2.0, n * SECOND, source=f"s{number}", variant="a") for n in range(20)])
    check_windows(alerting, MOMENT + MINUTE)
    send_due(alerting, MOMENT + MINUTE, {}, post)
    assert post.titles == ["Many weak answers: 100%"]


def test_a_single_weak_answer_is_one_message(ledger: Ledger) -> None:
    alerting, post = alerting_of(ledger), Post()
    quiet_day(ledger)
    arrive(alerting, [answer("alone", 2.0, SECOND, source="notaires", variant="b")])
    check_windows(alerting, MOMENT + MINUTE)
    send_due(alerting, MOMENT + MINUTE, {}, post)
    assert [(one.title, one.answer_id) for one in post.messages] == [("Weak answer: Accuracy 2.0 of 10", "alone")]


def test_an_answer_with_a_floor_that_the_incident_does_not_name_or_of_another_source_is_sent_at_once(ledger: Ledger) -> None:
    alerting, post = alerting_of(ledger), Post()
    quiet_day(ledger)
    storm(alerting, post, source="notaires", variant="b")
    sent = len(post.messages)
    severe = answer("severe", 3.5, 2 * MINUTE, source="notaires", variant="b")
    floored = (CriterionResult(criterion="quality.answer.format", score=0.0, grade="weak"),)
    other = answer("other", 2.0, 2 * MINUTE, source="banque", variant="a")
    arrive(
        alerting,
        [Evaluation(**{name: getattr(severe, name) for name in severe.__struct_fields__} | {"criteria": floored}), other],
    )
    send_due(alerting, MOMENT + 2 * MINUTE, {}, post)
    assert sorted(one.answer_id for one in post.messages[sent:]) == ["other", "severe"]


def test_a_worker_that_dies_between_opening_and_grouping_changes_nothing(ledger: Ledger) -> None:
    alerting, post = alerting_of(ledger), Post()
    quiet_day(ledger)
    arrive(alerting, [answer(f"weak-{n}", 2.0, n * SECOND / 4, source="notaires", variant="b") for n in range(100)])
    check_windows(alerting, MOMENT + MINUTE)
    before = {one.number: one.incident for one in Alerts(ledger).list(limit=1000)}
    for _ in range(3):  # another worker starts from the ledger
        check_windows(alerting_of(ledger), MOMENT + MINUTE)
    assert {one.number: one.incident for one in Alerts(ledger).list(limit=1000)} == before
    send_due(alerting_of(ledger), MOMENT + MINUTE, {}, post)
    assert len(post.messages) == 1


def test_a_part_without_answers_closes_with_its_incident_and_is_not_called_recovered(ledger: Ledger) -> None:
    alerting, post = alerting_of(ledger), Post()
    quiet_day(ledger)
    arrive(alerting, [answer(f"weak-{n}", 2.0, n * SECOND, source="notaires", variant="c") for n in range(30)])
    check_windows(alerting, MOMENT + MINUTE)
    assert {"source:notaires", "variant:c"} <= {one.subject for one in alerts_of(ledger, "weak_share", state="open")}
    store_scores(ledger, [answer(f"good-{n}", 9.0, 25 * HOUR - MINUTE, source="notaires", variant="a") for n in range(30)])
    check_windows(alerting, MOMENT + 25 * HOUR)
    assert alerts_of(ledger, "weak_share", "mean", state="open") == []
    send_due(alerting, MOMENT + 25 * HOUR, {}, post)
    assert {one.severity for one in post.messages} == {"failure", "info", "warning"}
    (notice,) = [one for one in post.messages if one.severity == "info"]
    assert notice.title.startswith("Closed, not checked everywhere: Many weak answers")
    assert "too few answers to check them:\n- Many weak answers: 100% (Source: notaires, Variant: c)" in notice.body


def test_an_incident_whose_own_part_has_too_few_answers_stays_open_and_says_so(ledger: Ledger) -> None:
    alerting = alerting_of(ledger)
    quiet_day(ledger)
    arrive(alerting, [answer(f"weak-{n}", 2.0, n * SECOND, source="notaires", variant="b") for n in range(60)])
    check_windows(alerting, MOMENT + MINUTE)
    check_windows(alerting, MOMENT + 26 * HOUR)
    left = alerts_of(ledger, "weak_share", "mean", state="open")
    assert left and {one.situation for one in left} == {"Too few answers in the window to check: the alert stays open."}
    assert alerts_of(ledger, "recovered") == []


def test_the_command_lists_an_incident_under_its_alert(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from areopage.cli.monitor.commands import list_alerts

    quiet_day(ledger)
    storm(alerting_of(ledger), Post(), source="notaires", variant="b")
    total = sum(Alerts(ledger).counts().values())
    (tmp_path / "areopage.yml").write_text("ledger: ledger.db\n", encoding="utf-8")
    list_alerts(tmp_path / "areopage.yml")
    assert f"{total - 1} further alerts of this incident: answer 200" in capsys.readouterr().out
    (head,) = Alerts(ledger).list(state="open", folded=True)
    list_alerts(tmp_path / "areopage.yml", incident=head.number, limit=1000)
    assert len([line for line in capsys.readouterr().out.splitlines() if " open " in line]) == total
    assert len(Alerts(ledger).list(incident=head.number, limit=1000)) == total


def test_the_message_of_an_incident_speaks_french(ledger: Ledger) -> None:
    alerting, post = alerting_of(ledger, "fr"), Post()
    quiet_day(ledger)
    storm(alerting, post, source="notaires", variant="b")
    assert (
        post.titles[-1] == "Beaucoup de réponses faibles\u00a0: 76,9\u00a0% (Source\u00a0: notaires, surtout Variante\u00a0: b)"
    )
    send_due(alerting, MOMENT.replace(hour=15, minute=0), {}, post)
    assert post.titles[-1].startswith("Autres alertes (18")


def test_an_alert_and_its_recovery_say_how_many_answers_hooks_lost(ledger: Ledger) -> None:
    alerting, hour = alerting_of(ledger), MOMENT.replace(minute=0)
    lost = HookCount(hour=hour, source="notaires", variant="", why="not_json", recorded=False, answers=7)
    HookCounts(ledger).put("bot-1", [lost, structs.replace(lost, why="skipped", answers=9)])
    arrive(alerting, [answer(f"weak-{n}", 2.0, n * SECOND, source="notaires") for n in range(30)])
    check_windows(alerting, MOMENT + MINUTE)
    store_scores(ledger, [answer(f"good-{n}", 9.5, MINUTE, source="notaires") for n in range(400)])
    check_windows(alerting, MOMENT + 2 * MINUTE)
    texts = [one.body for one in alerts_of(ledger, "weak_share", "mean", "recovered")]
    assert len(texts) == 3 and all("Hooks lost 7 more answers in these hours" in text for text in texts)
