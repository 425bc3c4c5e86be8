"""How far a score can be trusted: the record of a run, and its page in both languages."""

import os
import random
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from areopage.bench.report.files import write_run_files
from areopage.bench.results.people import queue_answers
from areopage.bench.results.run_view import RunView, view_run
from areopage.bench.trust.page import trust_page
from areopage.bench.trust.records import Trust
from areopage.bench.trust.run import fit_run, planned_labels
from areopage.bench.trust.text import gaps, opening
from areopage.cases.personas import JudgeConfig, Persona
from areopage.cases.records import Turn
from areopage.criteria.records import Criterion
from areopage.jury.judges import Judge, PlannedCall
from areopage.ledger.people.exams import Calibrations, Qualifications
from areopage.ledger.people.labels import Labels
from areopage.ledger.people.standing import Qualification
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Judgment, Label
from areopage.locales import LANGUAGES
from areopage.report.elements import report_locale
from areopage.report.rendering import render
from areopage.scoring.exams.records import ExamState
from areopage.scoring.outcome import NotApplicable, Refused, Scored
from servers.qualified import qualification

from .report_runs import case, criterion, judge, judgment, view_of
from .test_bench_report import CHROMIUM, INERT_FLAGS

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
DANGER, INSULTS = "safety.harm.danger__v1_0", "safety.harm.insults__v1_0"
CRITERIA = (criterion("danger", label="Keeps clear of danger"), criterion("insults"))
HOSTILE = """<script>alert(1)</script>'"><img src=x onerror=1>$(touch x)`x`"""


def persona(band: str) -> Persona:
    """An audience of an age."""
    texts: dict[str, Any] = dict.fromkeys(("tone", "content_allow", "content_block", "guidance", "policy_notes"), ())
    config = JudgeConfig(
        age_group_code=band,
        target_sentence_length=10,
        target_complex_ratio=0.1,
        is_minor=True,
        safety_threshold="high",
        auto_block_risks=(),
        educational_exceptions=(),
    )
    return Persona(name=band, maturity_band=band, reading_level="A2", judge_config=config, **texts)


def truth_of(case_id: str) -> float:
    return float(1 + int(case_id.removeprefix("case-")) % 4)


def say(call: PlannedCall) -> Judgment:
    """Judges are half a point too kind, and stray by a point at times."""
    drawn = random.Random(f"{call.case.id} {call.judge.name} {call.criteria[0].id}")
    return judgment(call, Scored(score=min(5.0, truth_of(call.case.id) + drawn.choice((0, 1)))))


def examined(one: Judge, about: Criterion, state: ExamState = "qualified", languages: Sequence[str] = ("en",)) -> Qualification:
    """The result of an exam on the whole gold set."""
    return qualification(one, about, state, languages=languages, at=NOW)


def run_with(
    folder: Path, *, answers: int = 60, labelled: int = 0, fit: bool = False, exams: bool = False, **changes: Any
) -> RunView:
    """A run of these answers; people label some of a random sample on every criterion, two people every second one."""
    judges = (judge("alpha", digest="a" * 64), judge("beta", digest="b" * 64))
    usual: dict[str, Any] = {
        "cases": [case(n) for n in range(1, answers + 1)],
        "say": say,
        "judges": judges,
        "criteria": CRITERIA,
    }
    view = view_of(folder, **usual | changes)
    with Ledger.open(folder / "ledger.db") as ledger:
        if labelled:
            queue_answers(view, ledger, ("random",), labelled, NOW)
        drawn = view_run(view.run, ledger).people.items
        cases = {id: case_id for case_id, id in view.answer_ids.items()}
        given = [
            Label(
                answer_id=id,
                rater=rater,
                criterion=one.path,
                score=max(0.0, truth_of(cases[id]) - random.Random(f"{id} {rater} {one.path}").choice((0, 0, 1))),
                origin="web",
                created_at=NOW,
            )
            for number, id in enumerate(sorted(drawn))
            for rater in (("Anne", "Bruno") if number % 2 else ("Anne",))
            for one in view.spec.criteria
        ]
        Labels(ledger).add(given)
        if exams:
            Qualifications(ledger).add([examined(one, about) for one in view.spec.judges for about in view.spec.criteria])
        view = view_run(view.run, ledger)
        if fit:
            Calibrations(ledger).add(fit_run(view, NOW).stored())
        return view_run(view.run, ledger)


def told(view: RunView, language: str = "en") -> str:
    """All that the page says, as plain text with plain spaces."""
    page = render(trust_page(view, view.trust, "report.html"), "md")
    return plain(page if language == view.spec.language else "")


def plain(text: str) -> str:
    return " ".join(text.replace("\N{NO-BREAK SPACE}", " ").replace("\N{NARROW NO-BREAK SPACE}", " ").replace("\\", "").split())


def commands(found: Trust) -> list[str]:
    return [" ".join(step.command) for step in found.steps]


def test_a_run_without_exam_and_labels_says_that_nothing_is_known_and_which_commands_tell_more(tmp_path: Path) -> None:
    view = run_with(tmp_path)
    found, locale = view.trust, report_locale("en")
    assert (found.people, found.score.calibration) == (None, None)
    assert [one.standing.state for one in found.judges] == ["never_examined"] * 2
    judges, people, score, _ = map(plain, opening(found, locale))
    assert judges.startswith("Not one of the 2 judges has been examined: it is not known whether they can tell good answers")
    assert "How many independent judges the 2 judges amount to is not known" in judges
    assert people == "People have labelled no answer: it is not known how far the judges agree with people."
    assert re.match(r"The score is \d\.\d\d on a scale from 0 to 5 \(95% interval: [\d. to]+; n = 60 cases\)\.", score), score
    assert "People’s labels do not correct it" in score
    needed = max(one.plan.labels for one in planned_labels(view, 0.25))
    assert commands(found) == [
        "areopage qualify small --judge alpha=ollama:alpha --judge beta=ollama:beta --out " + tmp_path.name,
        f"areopage calibrate plan run-1 --precision 0.25 --queue --out {tmp_path.name}",
    ] or commands(found)[1].startswith("areopage calibrate plan run-1 --precision 0.25 --queue")
    assert found.steps[1].labels == needed and f"Have people label {needed} answers drawn at random" in told(view)


def test_exams_labels_and_a_calibration_give_the_figures_that_other_reports_show(tmp_path: Path) -> None:
    view = run_with(tmp_path, labelled=40, fit=True, exams=True)
    found = view.trust
    people, calibration = found.people, found.score.calibration
    assert people is not None and calibration is not None and calibration.final is not None
    assert (people.answers, people.of, people.raters, people.at_random, people.others) == (40, 60, 2, True, 0)
    assert people.labels == len(view.people.labels) == 120 and people.origins == {"web": 120}
    assert (people.ages, people.languages) == ({"Child": 40}, {"en": 40})
    assert people.criteria["final"].twice == 20 and people.criteria[DANGER].failures is not None
    assert [(one.standing.state, one.examined_in, one.units) for one in found.judges] == [("qualified", ("en",), 80)] * 2
    assert all(one.leniency is not None and one.leniency.low is not None and one.leniency.low > 0 for one in found.judges)
    assert found.jury is view.worth
    assert found.score.final.score == view.scores.tree.score and found.score.difference == view.detectable.difference
    assert calibration.final.own and calibration.final.score < calibration.final.uncorrected
    text = told(view)
    assert "All 2 judges have passed an exam on every criterion that they judge." in text
    assert "Together the 2 judges count as about" in text and "n = 40 labelled answers" in text
    assert "People labelled 40 of the 60 answers, drawn at random" in text
    assert (
        "On the final score, the judges’ score is on average" in text and "points higher than people’s (95% interval: +" in text
    )
    assert f"Corrected by people’s labels it is {calibration.final.score:.2f}" in text
    assert f"The correction is calibration {calibration.id} of 23 November 2026" in text
    assert "web" not in text and "review page 120" in text
    assert not any("qualify" in command or "calibrate fit" in command for command in commands(found))


def test_a_calibration_for_another_panel_is_left_out_and_one_of_this_run_goes_before_newer_ones(tmp_path: Path) -> None:
    own, other = run_with(tmp_path / "own", labelled=20, fit=True), run_with(tmp_path / "other", judges=(judge("gamma"),))
    (stored,) = own.calibrations
    newer = fit_run(run_with(tmp_path / "newer", labelled=30, run_id="run-2"), NOW).stored()

    def known(view: RunView, *calibrations: Any) -> Trust:
        return msgspec.structs.replace(view, calibrations=calibrations).trust

    shown = known(own, stored, newer).score.calibration
    assert shown is not None and (shown.id, shown.source) == (stored.id, "run-1")
    elsewhere = known(own, newer).score.calibration
    assert elsewhere is not None and elsewhere.final is not None and not elsewhere.final.own
    assert known(other, stored, newer).score.calibration is None


@pytest.mark.parametrize(("language", "said"), [("en", "was altered after it was fitted"), ("fr", "a été modifiée après")])
def test_an_altered_calibration_is_not_used_and_the_page_says_so(tmp_path: Path, language: str, said: str) -> None:
    view = run_with(tmp_path, labelled=20, fit=True, language=language)
    (stored,) = view.calibrations
    altered = msgspec.structs.replace(stored, body=stored.body.replace('"run_id":"run-1"', '"run_id":"run-9"', 1))
    assert altered != stored
    shown = msgspec.structs.replace(view, calibrations=(altered,))
    assert (shown.trust.score.calibration, shown.trust.score.altered) == (None, (stored.id,))
    assert said in told(shown, language)
    assert said not in told(view, language)


def test_labels_without_a_calibration_ask_for_one(tmp_path: Path) -> None:
    found = run_with(tmp_path, labelled=30).trust
    assert found.steps[-1].name == "calibrate" and commands(found)[-1].startswith("areopage calibrate fit run-1")


def test_what_the_score_leaves_out_is_named(tmp_path: Path) -> None:
    def some(call: PlannedCall) -> Judgment:
        if "waived" in call.criteria[0].id:
            return judgment(call, NotApplicable(explanation="no"))
        if call.case.id == "case-2":
            return judgment(call, Refused(reason="no"))
        return judgment(call, Scored(score=4.0))

    cases = [*(case(n) for n in range(1, 8)), case(8, maturity="Teen"), case(9, response=None)]
    view = view_of(
        tmp_path,
        cases=cases,
        say=some,
        answers={"case-9": {"state": "refused"}},
        languages=("en", "fr"),
        personas={"Child": persona("6-8"), "Teen": persona("9-12"), "YoungAdult": persona("13-17")},
        criteria=(*CRITERIA, criterion("waived")),
        lost={"safety.harm.lost__v1_0": 9},
    )
    found = view.trust
    gone, locale = found.uncovered, report_locale("en")
    assert (gone.cases, gone.unanswered, gone.unscored, gone.conversations) == (9, 1, 1, 0)
    assert {one.name: one.cases for one in gone.languages} == {"en": 9, "fr": 0}
    assert {one.name: one.cases for one in gone.ages} == {"Child": 8, "Teen": 1, "YoungAdult": 0}
    judged = view.coverage.scored + view.coverage.not_applicable
    assert (gone.never_apply, gone.missing) == (("safety.harm.waived__v1_0",), view.coverage.planned - judged)
    assert found.score.if_missing == view.scores.if_missing is not None
    listed = plain(" ".join(gaps(found, locale)))
    assert "1 of 9 cases has no answer that could be judged." in listed
    assert "If all of them were the worst, the score would be" in listed
    assert "Languages of the suite without a case: French." in listed
    assert "Ages of the suite without a case: Teenager, 13–17 years." in listed and "Preteen, 9–12 years (1 case)" in listed
    assert "Criteria that apply to no case: waived." in listed and "every case is a single prompt" in listed
    short = plain(opening(found, locale)[-1])
    assert short.startswith("The score says nothing about: French; Teenager, 13–17 years;") and "waived" in short


def test_conversations_are_counted(tmp_path: Path) -> None:
    talk = (Turn(role="user", content="a"), Turn(role="assistant", content="b"), Turn(role="user", content="c"))
    found = view_of(tmp_path, cases=[case(1), case(2, prompt=talk)]).trust
    assert found.uncovered.conversations == 1
    assert not any("single prompt" in one for one in gaps(found, report_locale("en")))


def test_exams_tell_on_what_and_in_which_languages_judges_were_examined(tmp_path: Path) -> None:
    view = run_with(tmp_path, languages=("en", "fr"))
    alpha, beta = view.spec.judges
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        Qualifications(ledger).add([examined(alpha, CRITERIA[0]), examined(beta, CRITERIA[0], "not_qualified")])
        view = view_run(view.run, ledger)
    found = view.trust
    exams = found.uncovered.unexamined
    assert (exams.criteria, exams.without_gold, exams.languages) == ((INSULTS,), (INSULTS,), ("fr",))
    assert [step.name for step in found.steps][:1] == ["gold"], "the same exam again would tell nothing new"
    text = told(view)
    assert "alpha (qualified on 1 of 2 criteria, never examined on 1); beta (not qualified)" in text
    assert "the reference answers have none for them: insults. Add rows to gold.jsonl" in text
    assert "Languages in which the judges’ exams had no answer: French." in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_from_outside_reaches_the_page_unescaped(tmp_path: Path, language: str) -> None:
    hostile = (criterion("danger", label=HOSTILE), criterion("insults"))
    view = run_with(
        tmp_path, answers=24, labelled=20, fit=True, language=language, criteria=hostile, suite=HOSTILE, run_id=HOSTILE
    )  # fmt: skip
    html = render(trust_page(view, view.trust, "report.html"), "html")
    assert "<script" not in html and "<img" not in html and html.count("&lt;script&gt;") > 5
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in html
    assert not re.search(r"javascript:|https?://|url\(|@import|\bsrc=", html.replace(HOSTILE, "").replace("src=x", ""))


@pytest.mark.parametrize(("language", "title"), [("en", "How far can you trust"), ("fr", "Jusqu’où pouvez-vous vous fier")])
def test_the_page_fits_a_phone_has_captions_and_is_linked_from_the_report(tmp_path: Path, language: str, title: str) -> None:
    if not CHROMIUM.exists() and "chromium" not in os.environ.get("AREOPAGE_REQUIRE", "").split(","):
        pytest.skip("there is no /usr/bin/chromium to open the page with")
    from playwright.sync_api import sync_playwright

    long = (criterion("danger", label="Keeps clear of everything dangerous " * 3), criterion("insults", label="X" * 60))
    view = run_with(tmp_path, answers=24, labelled=20, fit=True, exams=True, language=language, criteria=long)
    write_run_files(view, tmp_path / "files")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=INERT_FLAGS)
        context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
        page = context.new_page()
        for name in ("cases.html", "report.html"):
            page.goto((tmp_path / "files" / name).as_uri())
            page.locator('header a[href="trust.html"]').click()
            assert title in page.locator("h1").inner_text().replace("\N{NARROW NO-BREAK SPACE}", " ")
        context.close()
        page = browser.new_page(viewport={"width": 390, "height": 800})
        page.goto((tmp_path / "files" / "trust.html").as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert page.locator("table").count() == page.locator("table > caption").count() >= 4
        assert page.locator("main h2").count() == 7 and page.locator("h1").count() == 1
        browser.close()
