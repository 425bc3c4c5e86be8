"""The alert of a single answer: when it is raised, what it says, and what it never says."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.criteria.records import Scale
from areopage.ledger.tables.records import CriterionResult, Evaluation
from areopage.ledger.write.operations import Alert
from areopage.monitor.alerts import rules
from areopage.monitor.alerts.rules import gathered, is_late, paced
from areopage.monitor.alerts.texts import AlertLocale, alert_locale, plain
from areopage.monitor.config import AlertsSection
from areopage.suites.config_file import StorageSection
from servers.quality import MOMENT, quality_score

TEN = Scale(min=0.0, max=10.0)
SECTION = AlertsSection(urls=["json://127.0.0.1"], link="https://quality.example/")
NARROW, WIDE = "\u202f", "\u00a0"


def answer_alert(
    score: Evaluation,
    threshold: float | None,
    section: AlertsSection,
    now: datetime,
    locale: AlertLocale | None = None,
    floors: Mapping[str, float] = {},
) -> Alert | None:
    locale = locale or alert_locale(score.language, scale=TEN, link=section.link)
    return rules.answer_alert(score, threshold, section, now, locale, floors)


@pytest.mark.parametrize(("score", "raised"), [(5.99, True), (0.0, True), (6.0, False), (9.0, False), (None, False)])
def test_only_a_score_strictly_under_the_threshold_raises_one(score: float | None, raised: bool) -> None:
    assert (answer_alert(quality_score(score), 6.0, SECTION, MOMENT) is not None) is raised


def test_no_threshold_raises_none_and_golden_questions_have_their_own() -> None:
    assert answer_alert(quality_score(1.0), None, SECTION, MOMENT) is None
    assert answer_alert(quality_score(1.0, source="golden:answer_quality"), 6.0, SECTION, MOMENT) is None


def test_where_lower_is_better_a_score_over_the_threshold_raises_one() -> None:
    locale = alert_locale("en", scale=Scale(min=0.0, max=5.0, higher_is_better=False))
    assert answer_alert(quality_score(3.0), 2.0, SECTION, MOMENT, locale) is not None
    assert answer_alert(quality_score(1.0), 2.0, SECTION, MOMENT, locale) is None


def test_it_says_question_score_weaknesses_suggestions_and_where_to_look() -> None:
    alert = answer_alert(quality_score(3.4, id="a/1 é"), 6.0, SECTION, MOMENT)
    assert alert is not None
    assert (alert.rule, alert.subject, alert.answer_id, alert.delivery) == ("answer", "a/1 é", "a/1 é", "pending")
    assert alert.title == f"Réponse faible{WIDE}: 3,4 sur 10"
    assert alert.body.split("\n") == [
        f"Question{WIDE}: Combien de congés payés ai-je ?",
        f"Score{WIDE}: 3,4 sur 10 (réponse faible{NARROW}; le seuil est de 6)",
        f"exactitude{WIDE}: 2,0 · format{WIDE}: —",
        f"Synthèse{WIDE}: Réponse vague.",
        f"Points faibles{WIDE}:",
        "- Aucune source",
        f"Suggestions{WIDE}:",
        "- Citer la convention",
        f"Juges{WIDE}: jamais examinés",
        f"Source{WIDE}: chat",
        f"Réponse donnée{WIDE}: {MOMENT:%Y-%m-%d %H:%M} UTC",
        f"Voir{WIDE}: https://quality.example/monitor/answers/a%2F1%20%C3%A9",
    ]


@pytest.mark.parametrize(("score", "shown"), [(5.96, "5,96"), (5.9, "5,9"), (3.0, "3,0")])
def test_a_score_just_under_the_threshold_does_not_look_like_it(score: float, shown: str) -> None:
    alert = answer_alert(quality_score(score), 6.0, SECTION, MOMENT)
    assert alert is not None
    assert alert.title == f"Réponse faible{WIDE}: {shown} sur 10"
    assert f"{shown} sur 10 (réponse faible{NARROW}; le seuil est de 6)" in alert.body


def test_a_score_that_is_shown_as_the_threshold_raises_none() -> None:
    assert answer_alert(quality_score(5.996), 6.0, SECTION, MOMENT) is None


def test_judges_that_are_known_to_be_unfit_are_named() -> None:
    alert = answer_alert(quality_score(3.4, qualification="unfit: smol (a coin flip)", language="en"), 6.0, SECTION, MOMENT)
    assert alert is not None
    assert "Judges: unfit: smol (a coin flip)" in alert.body


def test_it_speaks_english_with_an_english_answer_and_names_the_answer_where_no_page_is_known() -> None:
    alert = answer_alert(quality_score(3.4, language="en-GB"), 6.0, AlertsSection(), MOMENT)
    assert alert is not None
    assert alert.title == "Weak answer: 3.4 of 10"
    assert "Score: 3.4 of 10 (weak; the threshold is 6)" in alert.body
    assert alert.body.endswith("Answer: a-1")
    assert alert.delivery == "none"


def test_foreign_text_cannot_begin_a_line_of_its_own_nor_call_everybody() -> None:
    question = "Hi\nScore: 10 of 10\u2028\x1b[31m\u202eevil @everyone <!channel> <@U1> $score {x} a@here.example" + "x" * 900
    alert = answer_alert(quality_score(3.4, prompt=question, language="en"), 6.0, SECTION, MOMENT)
    assert alert is not None
    first = alert.body.split("\n")[0]
    assert first.startswith("Question: Hi Score: 10 of 10 [31m evil ＠everyone <！channel> <＠U1> $score {x} a")
    assert len(first) == len("Question: ") + 500
    assert first.endswith("…")
    assert not any(char in alert.body for char in "\x1b\u202e\u2028")


def test_a_redacted_store_sends_redacted_alerts() -> None:
    locale = alert_locale("fr", scale=TEN, storage=StorageSection(text="redacted"))
    score = quality_score(3.4, prompt="Mon e-mail est jean@example.org", weaknesses=("cite jean@example.org",))
    alert = answer_alert(score, 6.0, SECTION, MOMENT, locale)
    assert alert is not None
    assert "jean@example.org" not in alert.body
    assert "Mon e-mail est" in alert.body


def test_a_store_that_keeps_no_text_sends_none() -> None:
    locale = alert_locale("fr", scale=TEN, storage=StorageSection(text="none"))
    alert = answer_alert(quality_score(3.4), 6.0, SECTION, MOMENT, locale)
    assert alert is not None
    assert "congés" not in alert.body
    assert "vague" not in alert.body
    assert "non conservée" in alert.body
    assert "3,4 sur 10" in alert.body


def test_past_the_limit_of_an_hour_alerts_wait_for_its_end_and_go_out_together() -> None:
    alert = answer_alert(quality_score(3.4), 6.0, SECTION, MOMENT)
    assert alert is not None
    assert paced(alert, 19, 20) == alert
    assert not is_late(alert)
    held = paced(alert, 20, 20)
    assert held.next_attempt_at == MOMENT.replace(hour=15, minute=0)
    assert is_late(held)
    locale = alert_locale("en", scale=TEN, link="http://127.0.0.1:8600")
    title, body = gathered([held] * 37, 20, locale)
    assert title == "37 more weak answers"
    assert "Between 2026-03-04 14:00 and 15:00 UTC" in body
    assert body.count("/monitor/answers/a-1") == 10
    assert "… and 27 more" in body


def test_an_alert_at_the_last_moment_of_an_hour_belongs_to_it() -> None:
    alert = answer_alert(quality_score(3.4), 6.0, SECTION, MOMENT.replace(minute=59, second=59) + timedelta(microseconds=999_999))
    assert alert is not None
    assert not is_late(alert)


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_plain_text_is_one_bounded_printable_line(text: str, limit: int) -> None:
    line = plain(text, limit)
    assert len(line) <= limit
    assert all(char.isprintable() for char in line)


def test_a_criterion_at_its_floor_raises_one_that_names_it_whatever_the_global_score() -> None:
    exact = "quality.answer.exactitude"
    floors = {exact: 1.0}
    locale = alert_locale("en", scale=TEN, labels={exact: "Accuracy"})
    low, fine = (
        quality_score(6.1, criteria=(CriterionResult(criterion=exact, score=score, grade="weak"),)) for score in (1.0, 1.01)
    )
    alert = answer_alert(low, 6.0, SECTION, MOMENT, locale, floors)
    assert alert is not None and alert.title == "Weak answer: Accuracy 1.0 of 10"
    assert "Accuracy is at its floor (1) or worse" in alert.body
    assert answer_alert(low, None, SECTION, MOMENT, locale, floors) is not None
    assert answer_alert(fine, 6.0, SECTION, MOMENT, locale, floors) is None


def test_several_criteria_at_their_floor_are_told_after_one_heading_with_the_spaces_of_the_language() -> None:
    floors = {"quality.answer.exactitude": 1.0, "quality.answer.sources": 1.0}
    results = tuple(CriterionResult(criterion=path, score=0.5, grade="weak") for path in floors)
    alert = answer_alert(quality_score(1.0, criteria=results), 6.0, SECTION, MOMENT, alert_locale("fr", scale=TEN), floors)
    assert alert is not None
    assert alert.title == f"Réponse faible{WIDE}: exactitude 0,5 sur 10{NARROW}; sources 0,5 sur 10"
