"""Rules over figures: where they open, where they close, and when they say nothing."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.criteria.records import Scale
from areopage.ledger.read.queries import Backlog, JudgeDays
from areopage.ledger.tables.records import Evaluation
from areopage.monitor.alerts.rules import (
    Finding,
    failing_of,
    judge_finding,
    queue_finding,
)
from areopage.monitor.alerts.texts import alert_locale
from areopage.monitor.alerts.windows import mean_finding, weak_share_finding
from areopage.monitor.config import JudgeRule, MeanRule, MonitorSection, QueueRule, WeakShareRule
from areopage.scoring.grades import ScoreTally
from servers.quality import MOMENT, quality_score

VOICE = alert_locale("en", scale=Scale(min=0.0, max=10.0))
FRENCH = alert_locale("fr", scale=Scale(min=0.0, max=10.0))
MEAN, WEAK = MeanRule(), WeakShareRule()
TEN = MonitorSection().thresholds(VOICE.scale)


def state(finding: Finding) -> str:
    return "bad" if finding.bad else "clear" if finding.clear else "between"


@pytest.mark.parametrize(
    ("score", "expected"), [(6.49, "bad"), (6.5, "between"), (6.99, "between"), (7.0, "clear"), (9.0, "clear")]
)
def test_a_mean_opens_under_the_threshold_and_closes_only_from_clear_on(score: float, expected: str) -> None:
    assert state(mean_finding(ScoreTally({score: 20}), MEAN, TEN, VOICE)) == expected


def test_too_few_answers_say_nothing_good_or_bad() -> None:
    assert state(mean_finding(ScoreTally({1.0: 19}), MEAN, TEN, VOICE)) == "between"
    assert state(mean_finding(ScoreTally({9.0: 19}), MEAN, TEN, VOICE)) == "between"
    assert state(mean_finding(ScoreTally({}), MEAN, TEN, VOICE)) == "between"
    assert state(weak_share_finding(ScoreTally({1.0: 19}), WEAK, VOICE)) == "between"
    assert state(weak_share_finding(ScoreTally({}), WEAK, VOICE)) == "between"


@pytest.mark.parametrize(("weak", "expected"), [(26, "bad"), (25, "between"), (16, "between"), (15, "clear"), (0, "clear")])
def test_a_share_of_weak_answers_opens_over_the_threshold_and_closes_at_clear(weak: int, expected: str) -> None:
    assert state(weak_share_finding(ScoreTally({5.0: weak, 8.0: 100 - weak}), WEAK, VOICE)) == expected


def test_where_lower_is_better_a_high_mean_is_the_poor_one() -> None:
    locale = alert_locale("en", scale=Scale(min=0.0, max=5.0, higher_is_better=False))
    limits = MonitorSection().thresholds(locale.scale)
    assert state(mean_finding(ScoreTally({3.0: 50}), MEAN, limits, locale)) == "bad"
    assert state(mean_finding(ScoreTally({1.75: 50}), MEAN, limits, locale)) == "between"
    assert state(mean_finding(ScoreTally({1.5: 50}), MEAN, limits, locale)) == "clear"


@given(st.dictionaries(st.floats(0, 10), st.integers(1, 100)))
def test_no_figures_are_bad_and_clear_at_once(one: dict[float, int]) -> None:
    found = [
        mean_finding(ScoreTally(one), MEAN, TEN, VOICE),
        weak_share_finding(ScoreTally(one), WEAK, VOICE),
    ]
    assert not any(finding.bad and finding.clear for finding in found)


def test_windows_say_figures_and_counts_in_both_languages() -> None:
    english = mean_finding(ScoreTally({6.0: 1200}), MEAN, TEN, VOICE)
    assert english.title == "The mean is poor: 6.0 of 10"
    assert (
        "the 1,200 answers of the last 24 h is 6.0 of 10; the alert opens where it is worse than 6.5 and closes" in english.body
    )
    french = weak_share_finding(ScoreTally({5.0: 300, 8.0: 900}), WeakShareRule(threshold=0.2), FRENCH)
    assert french.title == "Beaucoup de réponses faibles\u00a0: 25\u00a0%"
    assert "300 réponses sur 1\u202f200 sont faibles" in french.body


def test_missing_verdicts_are_the_judges_failure_and_no_answers_weakness() -> None:
    rows = [quality_score(None, scored=0, planned=1)] * 5 + [quality_score(8.0, scored=1, planned=1)] * 15
    finding = judge_finding(failing_of(rows), (), JudgeRule(), VOICE)
    assert state(finding) == "bad"
    assert "5 have no score; 5 of 20 judgments are missing" in finding.body


def test_an_outage_is_seen_behind_the_many_answers_that_were_judged_before_it() -> None:
    judged = [Evaluation(id=str(n), timestamp=MOMENT, score_global=8.0, scored=4, planned=4) for n in range(2000)]
    down = failing_of(judged, 60, {"a": [False] * 57 + [True] * 2000, "b": [True] * 2000}, 20)
    assert (down.latest, down.share) == (1.0, 1.0)
    back = failing_of(judged, 0, {"a": [True] * 20 + [False] * 57}, 20)
    assert back.share == 0.0 and failing_of(judged, 1, {"a": [False]}, 20).share < 0.01


def test_one_judge_of_several_that_fails_is_seen_though_no_answer_loses_its_score() -> None:
    rows = [quality_score(8.0, scored=2, planned=3)] * 20
    today = JudgeDays(
        judge="gemma",
        model="ollama:gemma",
        calls=20,
        outcomes={"unparsed": 20, "scored": 0},
        seconds=1.0,
        prompt_tokens=1,
        completion_tokens=1,
        cost={},
    )
    finding = judge_finding(failing_of(rows), (today,), JudgeRule(), VOICE)
    assert state(finding) == "bad"
    assert "- gemma: 20 unparsed" in finding.body


@pytest.mark.parametrize(("unscored", "expected"), [(5, "bad"), (4, "between"), (3, "between"), (2, "clear"), (0, "clear")])
def test_the_rule_about_judges_has_hysteresis(unscored: int, expected: str) -> None:
    rows = [quality_score(None, scored=0, planned=1)] * unscored + [quality_score(8.0, scored=1, planned=1)] * (20 - unscored)
    assert state(judge_finding(failing_of(rows), (), JudgeRule(), VOICE)) == expected
    assert state(judge_finding(failing_of(rows[:19]), (), JudgeRule(), VOICE)) == "between"


@pytest.mark.parametrize(
    ("minutes", "expected"), [(15.1, "bad"), (15.0, "between"), (7.5, "between"), (7.4, "clear"), (None, "clear"), (-2880, "bad")]
)
def test_the_queue_falls_behind_and_catches_up(minutes: float | None, expected: str) -> None:
    oldest = None if minutes is None else MOMENT - timedelta(minutes=minutes)
    finding = queue_finding(Backlog(waiting=3, failed=1, oldest_at=oldest), QueueRule(), MOMENT, VOICE)
    assert state(finding) == expected
    if minutes == 15.1:
        assert "waiting for its evaluation for 15 min (the limit is 15 min); 3 answers wait, 1 failed" in finding.body
