"""The figures of a period, folded from the ledger's counts."""

import math
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest
from msgspec import structs

from areopage.criteria.records import Scale
from areopage.ledger.read.queries import Period, Scope
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import CriterionResult, Evaluation, JudgeUse, Run
from areopage.monitor.figures import PeriodFigures, criterion_labels, previous_of
from areopage.monitor.hook.submission import submission_of
from areopage.monitor.intake import Intake
from areopage.suites.loader import load_suite
from servers.monitored import opened
from servers.quality_ledger import SCALE, TODAY, USE, answered, filled

WEEK = Period(start=date(2026, 11, 15), end=date(2026, 11, 22))
LABELS = {"quality.answer.format": "Format", "quality.answer.exactitude": "Accuracy"}
Fold = Callable[..., PeriodFigures]


@pytest.fixture
def fold(tmp_path: Path) -> Iterator[Fold]:
    """Measure these answers."""
    opened: list[Ledger] = []

    def run(
        scores: list[Evaluation],
        *uses: JudgeUse,
        period: Period = WEEK,
        scale: Scale = SCALE,
        baseline: str | None = None,
        **scope: str,
    ) -> PeriodFigures:
        opened.append(filled(tmp_path / f"{len(opened)}.db", scores, uses or (USE,)))
        return PeriodFigures.of(opened[-1], period, Scope(suite="answer_quality", **scope), scale, LABELS, baseline=baseline)

    yield run
    for ledger in opened:
        ledger.close()


def test_means_grades_and_histogram_of_a_period(fold: Fold) -> None:
    figures = fold([answered(n, score) for n, score in enumerate([9.0, 8.0, 6.0, 3.0])])
    assert figures.overall.mean.mean == pytest.approx(6.5)
    assert figures.overall.mean.answers == 4
    assert figures.overall.mean.low is not None
    assert figures.overall.grades == (1, 2, 1)
    assert figures.overall.histogram == (0, 0, 0, 1, 0, 0, 1, 0, 1, 1)
    assert [(one.label, one.mean.mean) for one in figures.criteria] == [("Format", 8.0), ("Accuracy", 6.5)]


def test_an_answer_without_a_score_is_in_no_mean_and_lowers_coverage(fold: Fold) -> None:
    figures = fold([answered(1, 8.0), answered(2, 8.0), answered(3, 8.0), answered(4, None)])
    assert (figures.scored, figures.unscored, figures.coverage) == (3, 1, 0.75)
    assert figures.overall.mean.mean == 8.0
    assert sum(figures.overall.grades) == 3
    format_figures = figures.criteria[0]
    assert format_figures.mean.answers == 4


def test_the_period_before_is_just_as_long_and_ends_where_this_one_starts(fold: Fold) -> None:
    scores = [answered(n, 8.0 + n % 2, days_ago=n % 7) for n in range(14)]
    scores += [answered(100 + n, 5.0 + n % 2, days_ago=7 + n % 7) for n in range(14)]
    figures = fold([*scores, answered(999, 0.0, days_ago=14)])
    assert (figures.overall.mean.mean, figures.overall.previous.mean) == (8.5, 5.5)
    assert figures.overall.change.difference == 3.0
    assert figures.overall.change.p_value is not None
    assert figures.overall.change.p_value < 0.02


def test_without_answers_before_there_is_no_change(fold: Fold) -> None:
    figures = fold([answered(1), answered(2)])
    assert figures.overall.previous.answers == 0
    assert figures.overall.change.p_value is None


def test_every_day_is_there_and_days_without_answers_have_no_mean(fold: Fold) -> None:
    figures = fold([answered(1, 5.0), answered(2, 7.0), answered(3, 9.0, days_ago=2)])
    assert [day.day for day in figures.days] == [WEEK.start + timedelta(days=n) for n in range(7)]
    assert [day.means[""].mean if "" in day.means else None for day in figures.days] == [None] * 4 + [9.0, None, 6.0]
    assert [day.weak for day in figures.days] == [0] * 6 + [1]


def test_means_are_of_the_scores_as_they_were_given(fold: Fold) -> None:
    scores = [answered(1, 2.584, variant="a"), answered(2, 2.584, variant="a"), answered(3, 2.589, variant="b")]
    figures = fold(scores)
    assert figures.overall.mean.mean == pytest.approx(math.fsum([2.584, 2.584, 2.589]) / 3, abs=1e-12)
    assert figures.days[-1].means[""] == figures.overall.mean
    assert [side.overall.mean for side in figures.variants] == pytest.approx([2.584, 2.589], abs=1e-12)


def test_answers_that_all_have_one_score_differ_in_nothing_whatever_binary_fractions_add_up_to(fold: Fold) -> None:
    scores = [answered(n, 7.1) for n in range(7)] + [answered(100 + n, 7.1, days_ago=7) for n in range(3)]
    overall = fold(scores).overall
    assert overall.mean.mean and overall.mean.low and overall.mean.high
    assert overall.mean.mean == pytest.approx(7.1)
    assert overall.mean.low < 6.0 and 7.5 < overall.mean.high <= 10.0  # few answers: an unseen one may be at either end
    assert (overall.change.p_value, overall.change.difference) == (1.0, 0.0)


def test_variants_are_compared_with_the_one_that_is_chosen(fold: Fold) -> None:
    scores = [answered(n, 6.0 + n % 2, variant="a") for n in range(20)]
    scores += [answered(100 + n, 8.0 + n % 2, variant="b") for n in range(20)]
    chosen, unknown = fold(scores, baseline="b"), fold(scores, baseline="c")
    assert (chosen.baseline, chosen.variants[0].change.difference, chosen.variants[1].change.difference) == ("b", -2.0, None)
    assert (unknown.baseline, fold([]).baseline) == ("a", None)


def test_what_sampling_left_out_is_named_and_lowers_no_coverage(fold: Fold, tmp_path: Path) -> None:
    fold([answered(1, 8.0), answered(2, None)])
    with opened(str(tmp_path / "0.db")) as ledger:
        given = [structs.replace(submission_of("Q ?", "A.", id=f"n{number}"), answered_at=TODAY) for number in range(6)]
        Intake(ledger, 0.0).submit(given)
        figures = PeriodFigures.of(ledger, WEEK, Scope(suite="answer_quality"), SCALE, LABELS)
        before = PeriodFigures.of(ledger, previous_of(WEEK), Scope(suite="answer_quality"), SCALE, LABELS)
    assert (figures.planned, figures.left_out, figures.left_out_share) == (2, 6, 0.75)
    assert figures.coverage == 0.5
    assert (before.left_out, before.left_out_share) == (0, 0.0)


def test_answers_without_a_variant_are_no_baseline(fold: Fold) -> None:
    scores = [answered(n, 6.0 + n % 2, variant="a") for n in range(20)]
    scores += [answered(100 + n, 8.0 + n % 2, variant="b") for n in range(20)]
    scores += [answered(200 + n, 3.0, variant="") for n in range(6)]
    first, second, none = fold(scores).variants
    assert (first.variant, second.variant, none.variant) == ("a", "b", "")
    assert second.change.difference == 2.0 and first.change.difference is None


def test_variants_are_compared_with_the_first(fold: Fold) -> None:
    scores = [answered(n, 6.0 + n % 2, variant="a") for n in range(20)]
    scores += [answered(100 + n, 8.0 + n % 2, variant="b") for n in range(20)]
    first, second = fold(scores).variants
    assert (first.variant, first.overall.mean, first.change.p_value) == ("a", 6.5, None)
    assert (second.variant, second.overall.mean, second.change.difference) == ("b", 8.5, 2.0)
    assert second.criteria["quality.answer.format"].mean == 8.0


def test_a_scope_narrows_every_figure(fold: Fold) -> None:
    scores = [answered(1, 4.0, variant="a", source="mail"), answered(2, 9.0, variant="b", source="chat")]
    assert fold(scores, variant="a").overall.mean.mean == 4.0
    assert fold(scores, source="chat").overall.mean.mean == 9.0
    assert [one.id for one in fold(scores, source="chat").worst] == ["a-2"]


def test_golden_questions_count_only_where_they_are_named(fold: Fold) -> None:
    scores = [answered(1, 9.0), answered(2, 1.0, source="golden:bot")]
    assert fold(scores).overall.mean.mean == 9.0
    assert [one.id for one in fold(scores).worst] == ["a-1"]
    assert fold(scores, source="golden:bot").overall.mean.mean == 1.0


def test_the_five_worst_come_worst_first(fold: Fold) -> None:
    figures = fold([answered(n, float(n)) for n in range(10)] + [answered(99, None)])
    assert [one.score_global for one in figures.worst] == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_judges_tell_their_failures_time_and_cost(fold: Fold) -> None:
    failing = JudgeUse(
        judge="beta", model="m", calls=2, outcomes={"scored": 1, "timed_out": 3}, seconds=9.0,
        prompt_tokens=5, completion_tokens=1, cost=1.0, currency="USD",
    )  # fmt: skip
    figures = fold([answered(1), answered(2)], USE, failing)
    alpha, beta = figures.judges
    assert (alpha.scored_share, alpha.seconds_per_call) == (1.0, 1.5)
    assert (beta.scored_share, beta.seconds_per_call, beta.use.outcomes["timed_out"]) == (0.25, 4.5, 6)
    assert figures.cost == pytest.approx({"EUR": 0.004, "USD": 2.0})


def test_the_qualification_is_that_of_the_judges_of_the_newest_answer(tmp_path: Path) -> None:
    place, scope = tmp_path / "ledger.db", Scope(suite="answer_quality")
    judge = '{"name": "x", "reference": {"provider": "p", "model": "m"}, "unfit": "y"}'
    spec = f'{{"judges": [{judge}], "criteria": []}}'
    panel = Run(
        id="u", kind="monitor", suite="s", fingerprint="u", folder="", created_at=TODAY, finished_at=None, spec=spec
    )  # fmt: skip
    with Ledger.open(place) as ledger:
        ledger.put_panel(panel)
    with filled(place, [answered(1), answered(2, days_ago=3, run_id="u")]) as ledger:
        newest = PeriodFigures.of(ledger, WEEK, scope, SCALE, LABELS)
        before = PeriodFigures.of(ledger, Period(start=WEEK.start, end=WEEK.end - timedelta(days=2)), scope, SCALE, LABELS)
    assert (newest.qualification, before.qualification) == ("never examined", "unfit: x (y)")


def test_nothing_received_has_no_coverage(fold: Fold) -> None:
    figures = fold([])
    assert (figures.coverage, figures.overall.mean.mean, figures.worst, figures.variants, figures.qualification) == (
        None,
        None,
        (),
        (),
        "",
    )
    assert sum(figures.overall.histogram) == 0


def test_a_criterion_that_the_suite_does_not_know_comes_last_by_its_own_name(fold: Fold) -> None:
    strange = (CriterionResult(criterion="other.part.new_name", score=3.0, grade="weak"),)
    figures = fold([answered(1), answered(2, criteria=strange)])
    assert [one.label for one in figures.criteria] == ["Format", "Accuracy", "new name"]


def test_labels_come_from_the_registry_in_its_order() -> None:
    assert list(criterion_labels(load_suite("answer_quality"), "fr").items())[:2] == [
        ("quality.answer.exactitude", "Exactitude"),
        ("quality.answer.completude", "Complétude"),
    ]
