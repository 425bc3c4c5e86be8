"""A run against the answers that the monitor evaluated: what is compared, what is refused, and what the mix of users does."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import pytest

from areopage.bench.results.run_view import RunView
from areopage.compare.runs.production import ProductionComparison, compare_production
from areopage.compare.runs.production_answers import WantedAnswers
from areopage.errors import UserError
from areopage.jury.panel import ContextBudget
from areopage.ledger.read.queries import Period
from areopage.ledger.store import Ledger
from areopage.ledger.write.evaluations import Evaluations
from areopage.scoring.outcome import Scored
from report.report_runs import case, criterion, judge, judgment, spec_of, view_of
from servers.evaluated import submitted
from servers.production import TODAY, panel_like, put_answers

DAYS = Period(start=date(2026, 11, 15), end=date(2026, 11, 22))
WANTED = WantedAnswers(period=DAYS, suite="small")
GOOD, BAD = {"danger": 5.0, "insults": 4.0}, {"danger": 1.0, "insults": 4.0}
SPEC = spec_of()


def run_of(folder: Path, *, failing: int = 0, cases: int = 30, french: int = 0, **changes: Any) -> RunView:
    """A run whose first cases are dangerous answers, and whose first cases are French."""
    asked = [
        case(n, metadata={"language": "fr" if n <= french else "en", "topic": "law" if n % 2 else "tax"})
        for n in range(1, cases + 1)
    ]
    dangerous = {one.id for one in asked[:failing]}

    def say(call: Any) -> Any:
        score = (1.0 if call.case.id in dangerous else 5.0) if call.criteria[0].name == "danger" else 4.0
        return judgment(call, Scored(score=score))

    return view_of(folder, cases=asked, say=say, **changes)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    run_of(tmp_path, failing=2)
    with Ledger.open(tmp_path / "ledger.db") as opened:
        yield opened


def compared(ledger: Ledger, wanted: WantedAnswers = WANTED, **how: Any) -> ProductionComparison:
    return compare_production(ledger, ledger.run("run-1"), wanted, **how)


def test_a_run_like_production_is_no_regression(ledger: Ledger) -> None:
    put_answers(ledger, panel_like(SPEC), [BAD] * 4 + [GOOD] * 60)
    found = compared(ledger)
    whole = found.levels[0].difference
    assert (found.outcome, found.cases, found.production.answers, found.differs) == ("no_difference", 30, 64, ())
    assert whole.failed == (2, 4) and whole.score.cases == (30, 64)
    assert whole.failures is not None and whole.failures.means == pytest.approx((2 / 30, 4 / 64))
    assert whole.score.means[0] == pytest.approx((28 * 4.75 + 2 * 1.75) / 30), "by the weights of the run's tree"


def test_a_run_that_fails_much_more_often_is_a_regression(tmp_path: Path) -> None:
    run_of(tmp_path, failing=12)
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        put_answers(ledger, panel_like(SPEC), [BAD] * 1 + [GOOD] * 50)
        found = compared(ledger)
        assert found.outcome == "regression"
        assert {one.level for one in found.levels if "worse" in one.difference.directions} >= {"final", "criterion"}
        insults = next(one for one in found.levels if one.path[-1:] == ("safety.harm.insults__v1_0",))
        assert insults.difference.directions == ("unclear", "unclear")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"joint": True}, "prompts (one call for each criterion / all criteria in one call)"),
        ({"judges": (judge("alpha"), judge("beta", digest="new"))}, "judges"),
        ({"criteria": (criterion("danger"),)}, "criteria (2 / 1)"),
    ],
)
def test_another_panel_is_refused_unless_it_is_allowed(ledger: Ledger, changes: dict[str, Any], told: str) -> None:
    put_answers(ledger, panel_like(SPEC, **changes), [GOOD] * 20)
    with pytest.raises(UserError) as refused:
        compared(ledger)
    assert told in str(refused.value) and "--anyway" in str(refused.value) and "\n" not in str(refused.value)
    found = compared(ledger, anyway=True)
    assert len(found.differs) == 1 and found.production.answers == 20
    assert found.left_out == (() if "criteria" not in changes else ("safety.harm.insults__v1_0",))


def test_the_name_of_a_judge_and_a_budget_that_cuts_nothing_are_no_difference(ledger: Ledger) -> None:
    panel = panel_like(SPEC, judges=(judge("one"), judge("two")), context=ContextBudget(), suite_version="2")
    put_answers(ledger, panel, [GOOD] * 20)
    assert compared(ledger).differs == ()


def test_answers_of_another_panel_are_left_out_and_counted(ledger: Ledger) -> None:
    put_answers(ledger, panel_like(SPEC), [GOOD] * 20)
    put_answers(ledger, panel_like(SPEC, joint=True), [BAD] * 40, prefix="q")
    found = compared(ledger)
    assert (found.production.answers, found.production.other_panels) == (20, 40)
    assert found.levels[0].difference.failed == (2, 0)


def test_a_mix_of_other_languages_explains_a_difference(tmp_path: Path) -> None:
    """French is hard for both sides alike; the run is French, most users write English."""
    run_of(tmp_path, failing=20, french=40, cases=60)
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        put_answers(ledger, panel_like(SPEC), [BAD] * 10 + [GOOD] * 150, language=lambda number: "fr-CA" if number < 20 else "en")
        found = compared(ledger)
        assert found.outcome == "regression"
        (mix,) = (one for one in found.mixes if one.column == "language")
        assert [(one.value, one.run, one.production) for one in mix.values] == [("en", 20, 140), ("fr", 40, 20)]
        (fair,) = (one for one in found.standardised if one.column == "language")
        assert fair.covered == 1.0 and not fair.difference.is_telling
        assert fair.difference.score.difference == pytest.approx(0.0)
        assert {(one.value, one.cases) for one in found.slices} == {("en", (20, 140)), ("fr", (40, 20))}


def test_columns_of_the_metadata_are_slices_and_an_unknown_one_is_refused(ledger: Ledger) -> None:
    put_answers(
        ledger, panel_like(SPEC), [GOOD] * 40, metadata=lambda number: {"Topic": "law" if number % 2 else "tax", "âge": "7"}
    )
    found = compared(ledger, by=["topic"])
    assert {one.value for one in found.slices if one.column == "topic"} == {"law", "tax"}
    assert [one.column for one in found.mixes] == ["maturity", "language", "topic"] and found.missing == ("category",)
    assert {one.value for one in found.mixes[0].values if one.production} == {"Child"}
    with pytest.raises(UserError, match="no column 'colour'"):
        compared(ledger, by=["colour"])


def test_equal_prompts_and_one_conversation_are_one_observation(ledger: Ledger) -> None:
    put_answers(ledger, panel_like(SPEC), [GOOD] * 12, prompt=lambda number: f"Question {number % 6}?")
    put_answers(ledger, panel_like(SPEC), [GOOD] * 12, prefix="q", session=lambda number: f"s{number % 3}")
    assert compared(ledger).levels[0].difference.score.clusters == (30, 9)


def test_days_that_were_sampled_less_weigh_more(ledger: Ledger) -> None:
    put_answers(ledger, panel_like(SPEC), [GOOD] * 10, days_ago=1)
    put_answers(ledger, panel_like(SPEC), [BAD] * 10, prefix="q")
    even = compared(ledger)
    put_left_out(ledger, 90)
    found = compared(ledger)
    assert (even.production.weighted, found.production.weighted, found.production.not_sampled) == (False, True, 90)
    assert found.levels[0].difference.failures is not None
    assert found.levels[0].difference.failures.means[1] == pytest.approx(100 / 110)


def put_left_out(ledger: Ledger, number: int) -> None:
    """Answers of today that sampling left out."""
    answers = [submitted(f"left-{place}", received_at=TODAY, answered_at=TODAY) for place in range(number)]
    Evaluations(ledger).submit([msgspec.structs.replace(one, erased=True, reason="not in the sample") for one in answers])


def test_other_suites_sources_and_days_are_not_production(ledger: Ledger) -> None:
    put_answers(ledger, panel_like(SPEC, suite="other"), [BAD] * 9, prefix="o")
    put_answers(ledger, panel_like(SPEC), [BAD] * 9, prefix="g", source="golden:small")
    put_answers(ledger, panel_like(SPEC), [BAD] * 9, prefix="d", days_ago=30)
    with pytest.raises(UserError, match="no answer was evaluated with the suite 'small' from 2026-11-15"):
        compared(ledger)
    put_answers(ledger, panel_like(SPEC), [GOOD] * 9, source=lambda number: "ab"[number % 2])
    assert compared(ledger).production.answers == 9
    assert compared(ledger, WantedAnswers(period=DAYS, suite="small", source="a")).production.answers == 5
    with pytest.raises(UserError, match="more than 5"):
        compared(ledger, WantedAnswers(period=DAYS, suite="small", most=5))


def test_few_answers_prove_little(ledger: Ledger) -> None:
    put_answers(ledger, panel_like(SPEC), [GOOD] * 5)
    assert compared(ledger).outcome == "too_little"


def test_an_unfinished_run_proves_little_unless_it_is_worse(tmp_path: Path) -> None:
    run_of(tmp_path, complete=False)
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        put_answers(ledger, panel_like(SPEC), [GOOD] * 40)
        assert compared(ledger).outcome == "too_little"
