"""The league table: who is ranked where and why, what is said of ties, and that nothing from outside runs in its files."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from areopage.bench.panels import part_differences
from areopage.bench.spec import Target
from areopage.compare.league.page import league_report, write_league
from areopage.compare.league.table import Absent, LeagueEntry, entry_of, league_of
from areopage.compare.league.text import beside
from areopage.compare.league.trend import Trend, trend_groups
from areopage.compare.league.trend_page import write_trend
from areopage.jury.judges import PlannedCall
from areopage.ledger.tables.records import Judgment
from areopage.models.prices import Price
from areopage.models.reference import ModelReference
from areopage.report.model import Listing
from areopage.scoring.outcome import Scored
from areopage.scoring.release_floors import ReleaseFloors
from report.report_runs import BEGUN, case, judgment, spec_of, view_of

CASES = 12
FLOORS = ReleaseFloors(max_failures={"safety": 1})
HOSTILE = "<script>alert(1)</script>"


def entry(
    folder: Path, target: str, bad: int = 0, *, score: float = 4.0, by: tuple[str, ...] = (), **changes: Any
) -> LeagueEntry:
    """A run in which the first `bad` cases fail."""
    cases = changes.pop("cases", None) or [
        case(n, response=None, prompt=f"Question {n}?", metadata={"topic": "=1+1" if n % 2 else HOSTILE})
        for n in range(1, CASES + 1)
    ]

    def say(call: PlannedCall) -> Judgment:
        failing = int(call.case.id.removeprefix("case-")) <= bad
        return judgment(call, Scored(score=0.0 if failing else score, explanation="so", evidence=()))

    folder.mkdir(exist_ok=True)
    price = Price(input_per_million=1.0, output_per_million=10.0, currency="EUR")
    tested = Target(reference=ModelReference("ollama", target), price=price)
    name = f"run-{folder.name}"
    view = view_of(folder, cases=cases, say=changes.pop("say", say), run_id=name, target=tested, **changes)
    return entry_of(view, by)


def test_the_verdict_ranks_before_failures_and_failures_before_the_score(tmp_path: Path) -> None:
    entries = [
        entry(tmp_path / "a", "best-mean", 2, score=5.0, release=FLOORS, exams="qualified"),
        entry(tmp_path / "b", "one-failure", 1, score=5.0, release=FLOORS, exams="qualified"),
        entry(tmp_path / "c", "none", score=3.0, release=FLOORS, exams="qualified"),
        entry(tmp_path / "d", "open", score=5.0, release=FLOORS, complete=False, exams="qualified"),
    ]
    league = league_of(entries)
    ranked = [(one.spec.target and one.spec.target.reference.model, one.standing) for one in league.entries]
    assert ranked == [("none", "PASS"), ("one-failure", "PASS"), ("open", "INCONCLUSIVE"), ("best-mean", "FAIL")]
    assert league.standing == "FAIL"


def test_few_scored_cases_without_a_failure_rank_behind_many_with_one(tmp_path: Path) -> None:
    silent = {f"case-{n}": {"state": "empty"} for n in range(3, CASES + 1)}
    few, many = entry(tmp_path / "a", "few", answers=silent), entry(tmp_path / "b", "many", 1)
    assert [one.failures.failed for one in league_of([few, many]).entries] == [1, 0]
    assert few.answer_states == {"answered": 2, "empty": 10}


def test_a_target_that_says_nothing_has_no_rank(tmp_path: Path) -> None:
    silent = {f"case-{n}": {"state": "empty"} for n in range(1, CASES + 1)}
    league = league_of([entry(tmp_path / "a", "silent", answers=silent), entry(tmp_path / "b", "bad", 12)])
    assert [one.is_ranked for one in league.entries] == [True, False]
    assert league.entries[1].standing == "INCONCLUSIVE"
    (pair,) = league.pairs
    assert (pair.failures.p_value, pair.score.difference, pair.better) == (None, None, "")
    assert len(pair.score.only_first) == CASES


def test_what_tells_two_targets_apart_is_said_and_what_does_not_too(tmp_path: Path) -> None:
    good, alike, bad = entry(tmp_path / "a", "good"), entry(tmp_path / "b", "alike", 1), entry(tmp_path / "c", "bad", 9)
    league = league_of([bad, alike, good])
    told = {(pair.first, pair.second): (pair.better, pair.by) for pair in league.pairs}
    assert told == {
        (good.run.id, alike.run.id): ("", ""),
        (good.run.id, bad.run.id): (good.run.id, "failures"),
        (alike.run.id, bad.run.id): (alike.run.id, "failures"),
    }
    assert (league.level_with(good), league.level_with(bad)) == ((alike.run.id,), ())


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "ollama:good and ollama:worse; their release verdicts differ: PASS, FAIL"),
        ("fr", "ollama:good et ollama:worse ; leurs verdicts de mise en service diffèrent : "),
    ],
)
def test_targets_that_no_test_tells_apart_are_named_with_their_verdicts(tmp_path: Path, language: str, told: str) -> None:
    pair = [
        entry(tmp_path / name, name, bad, release=FLOORS, exams="qualified", language=language)
        for name, bad in (("good", 1), ("worse", 2))
    ]
    notices = league_report(league_of(pair), {}).notices
    (ties,) = (notice for notice in notices if notice.title.startswith(("Neither", "Ni ")))
    (block,) = ties.blocks
    assert isinstance(block, Listing) and [
        str(item).replace("\u202f", " ").replace("\xa0", " ")[: len(told)] for item in block.items
    ] == [told]
    same = [entry(tmp_path / f"same-{bad}", f"same-{bad}", bad, release=FLOORS, exams="qualified") for bad in (0, 1)]
    assert "verdicts" not in str([notice.blocks for notice in league_report(league_of(same), {}).notices])


def test_cost_time_and_tokens_are_those_of_the_targets_answers(tmp_path: Path) -> None:
    use = entry(tmp_path / "a", "good").target_use
    assert (use.calls, use.seconds, use.prompt_tokens, use.completion_tokens) == (CASES, 24.0, 120, 360)
    assert use.costs == {"EUR": pytest.approx((120 * 1 + 360 * 10) / 1e6)}


@pytest.mark.parametrize("language", ["en", "fr"])
def test_nothing_from_outside_becomes_markup_or_a_formula(tmp_path: Path, language: str) -> None:
    entries = [
        entry(tmp_path / name, f"{HOSTILE}{name}", bad, by=("topic", "age"), language=language)
        for name, bad in (("a", 0), ("b", 2))
    ]
    league = league_of(entries, absent=[Absent(target=f"=cmd{HOSTILE}", reason=HOSTILE)])
    link = beside(tmp_path / f"javascript:{HOSTILE}" / "report.html", tmp_path / "league")
    written = write_league(league, tmp_path / "league", {one.run.id: link for one in entries})
    page, *tables = [path.read_text(encoding="utf-8-sig") for path in written]
    assert HOSTILE not in page and page.count("&lt;script&gt;") > 8
    assert 'href="javascript' not in page and 'href="../javascript%3A%3Cscript%3E' in page
    assert "default-src 'none'" in page
    assert not [line for text in tables for line in text.splitlines() if line.startswith(("=", "+", "@")) or ",=" in line]
    assert "'=1+1" in tables[-1]
    assert set(league.entries[0].groups["age"]) == {"Child"}


def test_only_what_the_target_does_not_determine_sets_runs_apart(tmp_path: Path) -> None:
    one, other = entry(tmp_path / "a", "one"), entry(tmp_path / "b", "other", 3)
    assert part_differences(one.parts, other.parts) == ()
    strict = entry(tmp_path / "c", "one", release=FLOORS)
    assert [found.part for found in part_differences(one.parts, strict.parts)] == ["floors"]
    fewer = [case(n, response=None) for n in range(1, 6)]
    assert [found.part for found in part_differences(one.parts, entry(tmp_path / "d", "one", cases=fewer).parts)] == ["cases"]
    judges = (spec_of().judges[0],)
    alone = entry(tmp_path / "e", "one", judges=judges, mode="defensive")
    assert [found.part for found in part_differences(one.parts, alone.parts)] == ["mode", "judges"]


def test_runs_of_other_panels_are_groups_of_their_own_in_a_trend(tmp_path: Path) -> None:
    made = [
        entry(tmp_path / "a", "one"),
        entry(tmp_path / "b", "one", release=FLOORS),
        entry(tmp_path / "c", "one", 2),
        entry(tmp_path / "d", "one", release=FLOORS, mode="defensive"),
    ]
    later = [
        msgspec.structs.replace(one, run=msgspec.structs.replace(one.run, created_at=BEGUN + timedelta(days=day)))
        for day, one in enumerate(made)
    ]
    groups = trend_groups(later)
    assert [[one.run.id for one in group.entries] for group in groups] == [["run-a", "run-c"], ["run-b"], ["run-d"]]
    assert [(group.nearest, group.differs) for group in groups] == [(None, ()), (0, ("floors",)), (1, ("mode",))]
    page, table = write_trend(Trend(target=HOSTILE, groups=groups), tmp_path / "trend", {}, "fr")
    html = page.read_text(encoding="utf-8")
    assert HOSTILE not in html and html.count("<svg viewBox=") == 2
    assert "Non comparable au groupe 2. Diffèrent\u00a0: mode." in html
    assert len(table.read_text(encoding="utf-8-sig").splitlines()) == 5
