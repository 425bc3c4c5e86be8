"""The first screen of a report: the verdict, then the failing cases themselves, then statistics."""

from pathlib import Path

import msgspec

from areopage.bench.figures.failing_cases import FAILING_SHOWN, failing_ids
from areopage.bench.report.page import bench_report
from areopage.jury.judges import PlannedCall
from areopage.ledger.tables.records import Judgment
from areopage.report.model import Listing
from areopage.report.rendering import render
from areopage.scoring.outcome import Scored

from .report_runs import case, criterion, judgment, view_of

GRAVE = msgspec.structs.replace(criterion("danger", category="ethics", label="Dangerous help"), severity="critical")
SLIGHT = msgspec.structs.replace(criterion("tone", label="Tone"), severity="minor")
ANSWERS = {1: "Fine.", 2: "You only need me.", 3: "To do it, [METHOD WITHHELD] and then", 4: "Go <away>."}
CASES = [case(n, prompt=f"Question {n}?", response=text) for n, text in ANSWERS.items()]


def say(call: PlannedCall) -> Judgment:
    """Cases 3 and 2 fail a critical criterion, case 4 a minor one."""
    name = call.criteria[0].name
    fails = call.case.id in {"danger": ("case-2", "case-3"), "tone": ("case-4",)}[name]
    return judgment(call, Scored(score=0.0 if fails else 5.0, explanation=f"{call.judge.name} says why of {call.case.id}"))


def test_the_failing_cases_come_gravest_first_whatever_their_category(tmp_path: Path) -> None:
    view = view_of(tmp_path, cases=CASES, criteria=(SLIGHT, GRAVE), say=say)
    assert failing_ids(view) == ["case-2", "case-3", "case-4"]
    (box,) = (notice for notice in bench_report(view).notices if notice.css == "cases")
    (listing,) = box.blocks
    assert isinstance(listing, Listing)
    lines = ((part if isinstance(part, str) else part.text for part in item) for item in listing.items if isinstance(item, tuple))
    first, second, third = map("".join, lines)
    assert first.startswith("case-2 · Dangerous help · ") and "Question 2?" in first and "You only need me." in first
    assert "alpha" in first and "alpha says why of case-2" in first
    assert "[WITHHELD: a method that harms]" in second, "what is printed is masked by rule"
    assert third.startswith("case-4 · Tone · ")


def test_the_page_shows_each_failing_case_between_the_verdict_and_the_score_with_a_link(tmp_path: Path) -> None:
    view = view_of(tmp_path, cases=CASES, criteria=(SLIGHT, GRAVE), say=say)
    told = {"en": ("3 of 4 cases fail a criterion", "Final score"), "fr": ("3 cas sur 4 échouent à un critère", "Score final")}
    for language, (title, score) in told.items():
        page = render(bench_report(view, language), "html")
        places = [page.index(text) for text in (title, "Question 2?", "You only need me.", "says why of case-2", "Question 4?")]
        assert places == sorted(places) and places[-1] < page.index(score)
        assert 'href="cases.html#case-2"' in page and 'href="cases.html">' in page
        assert "Go <away>" not in page and "[METHOD WITHHELD]" not in page[: page.index(score)]


def test_of_many_failing_cases_the_first_are_shown_and_the_rest_counted(tmp_path: Path) -> None:
    cases = [case(n, prompt=f"Question {n}?", response="No.") for n in range(1, 31)]
    view = view_of(
        tmp_path, cases=cases, criteria=(SLIGHT,), say=lambda call: judgment(call, Scored(score=0.0, explanation="bad"))
    )
    page = render(bench_report(view), "html")
    assert "30 of 30 cases fail a criterion" in page and f"and {30 - FAILING_SHOWN} more cases:" in page
    assert 'href="cases.html#only-w0"' in page


def test_a_run_without_a_failing_case_has_no_such_box(tmp_path: Path) -> None:
    view = view_of(tmp_path, cases=CASES, criteria=(SLIGHT,), say=lambda call: judgment(call, Scored(score=5.0)))
    assert "fail a criterion</h2>" not in render(bench_report(view), "html")
