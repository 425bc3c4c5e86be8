"""What reports and pages say of a judge that moved, in both languages."""

from datetime import UTC, datetime

import pytest

from areopage.ledger.people.standing import CriterionStanding, JudgeStanding, standing_text
from areopage.report.elements import report_locale
from areopage.report.judges.qualification import drift_lines, exam_text, is_alarming, judge_text, moved_text, panel_text
from areopage.scoring.exams.records import Shift

MOVED = JudgeStanding(
    judge="alpha",
    model="ollama:a",
    state="drifted",
    drifted=1,
    qualified=2,
    examined_at=datetime(2026, 3, 1, tzinfo=UTC),
    drifted_at=datetime(2026, 3, 4, tzinfo=UTC),
    criteria=(
        CriterionStanding(
            criterion="tone.voice.warmth__v1_0",
            state="drifted",
            drifted_at=datetime(2026, 3, 4, tzinfo=UTC),
            drift_round=3,
            shift=Shift(value=-0.5, low=-0.9, high=-0.1, apart=0.5, rows=12),
        ),
    ),
)


@pytest.mark.parametrize(
    ("language", "word", "panel", "when", "line"),
    [
        (
            "en",
            "drifted",
            "judges drifted: alpha",
            "its scores moved since its exam on",
            "alpha, warmth: found on 4 March 2026, round 3: −0.50 points [−0.90 to −0.10] over 12 rows",
        ),
        (
            "fr",
            "a dérivé",
            "juges ayant dérivé : alpha",
            "ses notes ont dérivé depuis son examen du",
            "alpha, warmth : constaté le 4 mars 2026, passage 3 : −0,50 point [−0,90 à −0,10] sur 12 lignes",
        ),
    ],
)
def test_a_drift_is_told_in_the_readers_language(language: str, word: str, panel: str, when: str, line: str) -> None:
    locale, short = report_locale(language), standing_text([MOVED])
    assert (judge_text(locale, MOVED), is_alarming(short)) == (word, True)
    assert plain(panel_text(locale, short)) == panel
    assert when in exam_text(locale, MOVED)
    assert [plain(one) for one in drift_lines(locale, [MOVED], {"tone.voice.warmth__v1_0": "warmth"})] == [line]


def test_moves_in_both_directions_and_lost_verdicts_are_told() -> None:
    both = Shift(value=0.0, low=-0.4, high=0.4, apart=1.5, rows=8, unscored=0.5, unscored_before=0.0)
    told = plain(moved_text(report_locale("en"), both))
    assert told.endswith("over 8 rows, 1.50 points per row in both directions, calls without a score 0% before, 50% now")
    assert moved_text(report_locale("en"), Shift()) == "no score to compare"


def plain(text: str) -> str:
    return text.replace("\u00a0", " ").replace("\u202f", " ")
