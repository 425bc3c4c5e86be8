"""The report: what it must say, in both languages, and what it must never let through."""

import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from areopage.bench.figures.worst import MAX_TEXT, WHOLE, WORST
from areopage.bench.report.page import bench_report
from areopage.bench.spec import Target
from areopage.cases.records import RejectedRow
from areopage.jury.judges import PlannedCall
from areopage.jury.rescoring import Rescoring
from areopage.ledger.tables.records import Judgment
from areopage.locales import Note
from areopage.models.prices import Price
from areopage.models.reference import ModelReference
from areopage.report.rendering import render, write_report
from areopage.scoring.outcome import NotApplicable, Refused, Scored, TimedOut, Unparsed
from areopage.scoring.records import V1_1

from .report_runs import case, criterion, everyone_says, judge, judgment, view_of

CHROMIUM = Path("/usr/bin/chromium")
ATTACK = """<script>document.title='pwned'</script><img src=x onerror="document.title='pwned'">'"><svg onload=1>{{7919*7927}}"""
INERT_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Outline(HTMLParser):
    """What a browser makes of a page: elements with their attributes, and the text without the style."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.styled = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.styled = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self.styled = False

    def handle_data(self, data: str) -> None:
        if not self.styled:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).replace("\u202f", " ").replace("\xa0", " ").split())


def report(folder: Path, **changes: Any) -> Outline:
    return Outline(render(bench_report(view_of(folder, **changes)), "html"))


def hostile_page(folder: Path) -> str:
    """A report in which everything that comes from outside is an attack."""

    def say(call: PlannedCall) -> Judgment:
        if call.case.id == "case-2":
            return judgment(call, Refused(reason=ATTACK))
        return judgment(call, Scored(score=1.0, explanation=ATTACK, evidence=(ATTACK,)))

    price = Price(input_per_million=1.0, output_per_million=1.0, currency=ATTACK)
    cases = [
        case(1, id=ATTACK, prompt=ATTACK, response=ATTACK, category=ATTACK, subcategory=ATTACK, maturity=ATTACK),
        case(2),
        case(3, response=None),
    ]
    view = view_of(
        folder,
        cases=cases,
        say=say,
        answers={"case-3": {"state": "unreachable", "text": "", "reason": ATTACK}},
        complete=False,
        run_id=ATTACK,
        suite=ATTACK,
        judges=(judge(ATTACK, unfit=ATTACK, digest=ATTACK, price=price),),
        target=Target(reference=ModelReference("ollama", ATTACK), digest=ATTACK),
        datasets=(ATTACK,),
        rejected=(RejectedRow(file=ATTACK, row=2, reason=ATTACK, content=ATTACK),),
        remarks=(Note("config_key", {"told": ATTACK}),),
        language="en",
        variant=Rescoring(reparse=False, profile=V1_1),
    )
    return render(bench_report(view), "html")


def test_nothing_from_outside_reaches_the_page_unescaped(tmp_path: Path) -> None:
    html = hostile_page(tmp_path)
    page = Outline(html)
    assert ATTACK not in html
    assert html.count("&lt;script&gt;") > 15
    assert "62773913" not in page.text
    assert {tag for tag, _ in page.elements}.isdisjoint({"script", "img", "iframe", "link", "object", "form", "input"})
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert all(value is None or "<" not in value or value in (ATTACK,) for _, found in page.elements for value in found.values())


def test_nothing_from_outside_runs_in_a_browser(tmp_path: Path) -> None:
    if not CHROMIUM.exists() and "chromium" not in os.environ.get("AREOPAGE_REQUIRE", "").split(","):
        pytest.skip("there is no /usr/bin/chromium to open the report with")
    from playwright.sync_api import sync_playwright

    path = tmp_path / "report.html"
    path.write_text(hostile_page(tmp_path), encoding="utf-8")
    asked: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=INERT_FLAGS)
        page = browser.new_page(viewport={"width": 390, "height": 800})
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        title = page.title()
        built = page.evaluate("document.querySelectorAll('script, img, [onload], [onerror]').length")
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        browser.close()
    assert title.startswith("<script>"), "the suite's name stands in the title as text"
    assert built == 0
    assert asked == [path.as_uri()]
    assert overflow <= 0


def test_the_page_forbids_scripts_and_loads_and_holds_none(tmp_path: Path) -> None:
    html = render(bench_report(view_of(tmp_path)), "html")
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in html
    assert not re.search(r"<script|javascript:|https?://|url\(|@import|\bsrc=", html)


def test_the_worst_responses_are_shown_with_what_each_judge_said(tmp_path: Path) -> None:
    def say(call: PlannedCall) -> Judgment:
        bad = call.case.id == "case-4"
        return judgment(
            call, Scored(score=1.0 if bad else 4.5, explanation=f"{call.judge.name} says so", evidence=("you trust", "no"))
        )

    text = report(tmp_path, say=say).text
    worst = text[text.index("Worst responses", text.index("Judges")) :]
    assert worst.index("Question 4?") < worst.index("Question 1?")
    assert "Ask an adult you trust." in worst
    assert "alpha says so" in worst
    assert "beta says so" in worst
    assert "not a literal quotation of the response" in worst


def test_a_report_of_many_long_cases_stays_small_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    cases = [case(n, prompt=f"Question {n}?", response="<b>&" * 25_000) for n in range(1, 201)]
    path = tmp_path / "report.html"
    write_report(bench_report(view_of(tmp_path, cases=cases)), "html", path)
    text = Outline(path.read_text(encoding="utf-8")).text
    assert path.stat().st_size < 3_000_000
    assert f"then the worst final scores: {WORST} in all" in text
    assert f"… {100_000 - MAX_TEXT:,} more characters, in results.json" in text


def test_every_failing_case_is_in_the_report_with_the_score_that_fails(tmp_path: Path) -> None:
    cases = [case(n, prompt=f"Question {n}?", response=f"Response {n}.") for n in range(1, 201)]
    failing = {f"case-{n}" for n in range(100, 171)}

    def say(call: PlannedCall) -> Judgment:
        bad = call.case.id in failing and call.criteria[0].category == "safety"
        return judgment(call, Scored(score=0.0 if bad else 5.0 if call.case.id in failing else 3.0))

    page = report(tmp_path, cases=cases, say=say)
    assert "71 of 200 – cases that fail a criterion of: " in page.text
    assert page.text.index("71 of 200 cases fail") < page.text.index("Final score")
    assert "then the worst final scores: 71 in all" in page.text and f"{71 - WHOLE} further cases" in page.text
    assert all(f"Response {n}." in page.text for n in range(100, 171))
    assert "Response 1." not in page.text
    assert page.text.count("0.00 Question 1") == 71


def test_remarks_are_in_the_language_of_the_report(tmp_path: Path) -> None:
    remarks = (Note("unread_columns", {"columns": ("style", "note")}), Note("judge_is_target", {"judge": "a", "model": "x:y"}))
    page = report(tmp_path, language="fr", remarks=remarks, say=everyone_says(4.2), variant=Rescoring(reparse=True))
    assert "colonnes gardées comme simples métadonnées : style, note" in page.text
    assert "un modèle favorise ses propres réponses" in page.text and "textes bruts relus" in page.text
    assert "columns kept" not in page.text


def test_numbers_and_dates_are_french_in_a_french_report(tmp_path: Path) -> None:
    page = report(tmp_path, language="fr", say=everyone_says(4.2))
    assert ("html", {"lang": "fr"}) in page.elements
    assert "4,20 sur 5" in page.text
    assert "21 novembre 2026" in page.text
    assert "100 %" in page.text
    assert "les mêmes juges, le score serait très probablement dans cet intervalle" in page.text
    mixed = report(
        tmp_path / "mixed",
        language="fr",
        cases=[case(n) for n in range(1, 9)],
        say=lambda call: judgment(call, Scored(score=float(call.case.id[-1]) / 2)),
    )
    assert re.search(r"de \d,\d\d à \d,\d\d", mixed.text)
    assert not re.search(r"\d\.\d", page.text.replace("small 1.0", "").replace("areopage 0.1.0", ""))
    assert not re.search(r"\b(score of|judges|coverage)\b", page.text)


def test_numbers_and_dates_are_english_in_an_english_report(tmp_path: Path) -> None:
    page = report(tmp_path, say=everyone_says(4.2))
    assert ("html", {"lang": "en"}) in page.elements
    assert "4.20 of 5" in page.text
    assert "21 November 2026" in page.text
    assert "100%" in page.text


def test_another_language_gets_an_english_report(tmp_path: Path) -> None:
    assert ("html", {"lang": "en"}) in report(tmp_path, language="de").elements


@pytest.mark.parametrize(("language", "words"), [("en", "These scores are not valid"), ("fr", "Ces scores ne sont pas valables")])
def test_an_unfit_judge_is_announced_before_any_score(tmp_path: Path, language: str, words: str) -> None:
    judges = (judge("alpha"), judge("tiny", unfit="too small to judge"))
    page = report(tmp_path, judges=judges, language=language, say=everyone_says(4.2))
    final = "4.20" if language == "en" else "4,20"
    assert page.text.index(words) < page.text.index("too small to judge") < page.text.index(final)
    assert "areopage bench run --judge ollama:" in page.text
    assert any(found.get("role") == "alert" for _, found in page.elements)


def test_a_replayed_judge_is_shown_with_the_model_that_was_recorded(tmp_path: Path) -> None:
    replayed = judge("alpha", unfit="too small", recorded_model="embedded:tiny")
    assert report(tmp_path, judges=(replayed,)).text.count("ollama:judge-model, recorded from embedded:tiny") == 2


def test_judges_of_whom_nothing_is_known_are_called_never_examined(tmp_path: Path) -> None:
    page = report(tmp_path)
    assert "not valid" not in page.text
    assert page.text.count("never examined") == 3  # with the headline


def test_an_incomplete_run_says_how_much_is_missing_and_how_to_go_on(tmp_path: Path) -> None:
    def say(call: PlannedCall) -> Judgment | None:
        if call.judge.name == "beta":
            return None if call.case.id == "case-1" else judgment(call, TimedOut(reason="5 s"))
        return judgment(call, Scored(score=4.0))

    text = report(tmp_path, say=say, complete=False).text
    assert "This run is not complete" in text
    assert "12 of 24 planned judgments" in text
    assert "areopage bench resume run-1" in text
    assert "This run is not complete" not in report(tmp_path / "other", say=say).text


def test_a_variant_says_what_it_changes(tmp_path: Path) -> None:
    text = report(tmp_path, variant=Rescoring(without_judges=("beta",))).text
    assert "Recomputed with other settings" in text
    assert "without beta" in text


def test_a_run_without_any_score_says_so_and_shows_no_number(tmp_path: Path) -> None:
    text = report(tmp_path, judges=(judge("alpha", criteria=("tone",)),)).text
    assert "unscored" in text
    assert "No response has a score." in text
    assert "too few judgments for a score" in text
    assert "None" not in text


def test_a_run_whose_criteria_apply_to_no_case_says_that_and_not_that_judgments_are_missing(tmp_path: Path) -> None:
    text = report(tmp_path, say=lambda call: judgment(call, NotApplicable())).text
    assert "no criterion applies to any case" in text
    assert "too few judgments" not in text


def test_a_run_whose_judges_all_refused_claims_neither_one_judge_nor_one_pass(tmp_path: Path) -> None:
    judges = (judge("alpha", passes=2), judge("beta", passes=2))
    text = report(tmp_path, judges=judges, say=lambda call: judgment(call, Refused(reason="no"))).text
    assert "No judge produced a score" in text and "no judge gave a score" in text
    assert "Only one judge" not in text and "each judge made one pass" not in text


def test_the_report_names_a_dataset_without_the_place_where_it_lies(tmp_path: Path) -> None:
    text = report(tmp_path, datasets=("/home/zoe/secret project/prompts.csv",)).text
    assert "prompts.csv" in text and "zoe" not in text and "secret" not in text


def test_cases_without_an_answer_and_rejected_rows_are_listed(tmp_path: Path) -> None:
    text = report(
        tmp_path,
        cases=[case(n, response=None) for n in (1, 2)],
        answers={"case-2": {"state": "timed_out", "text": "", "reason": "no answer in 5 s"}},
        rejected=tuple(RejectedRow(file="cases.csv", row=n, reason="empty prompt", content="x") for n in range(2, 153)),
    ).text
    assert "1 case has no whole response" in text
    assert "no answer in 5 s" in text
    assert "151 rows of the dataset" in text
    assert "… and 51 more, in rejected.csv" in text


def test_scores_by_age_go_from_young_to_old(tmp_path: Path) -> None:
    cases = [case(1, maturity="Emerging"), case(2, maturity="Child"), case(3, maturity="Teen")]
    text = report(tmp_path, cases=cases).text
    bands = text[text.index("Audience") :]
    assert bands.index("Child") < bands.index("Preteen") < bands.index("Young adult")


def test_agreement_is_told_in_words(tmp_path: Path) -> None:
    def opposed(call: PlannedCall) -> Judgment:
        even = int(call.case.id[-1]) % 2 == 0
        return judgment(call, Scored(score=5.0 if even == (call.judge.name == "alpha") else 0.0))

    assert "no better than chance" in report(tmp_path, say=opposed).text
    assert "Only one judge produced scores" in report(tmp_path / "one", judges=(judge("alpha"),)).text


def noise_at_the_top(call: PlannedCall) -> Judgment:
    """Five cases that every judge fails on one criterion; elsewhere the judges differ at the top, each by chance."""
    number = int(call.case.id.removeprefix("case-"))
    if number <= 5 and call.criteria[0].name == "danger":
        return judgment(call, Scored(score=0.0))
    low = (number * 7 + len(call.judge.name) * 3 + len(call.criteria[0].name)) % 11 == 0
    return judgment(call, Scored(score=4.0 if low else 5.0))


@pytest.mark.parametrize(
    ("language", "agreed", "alike", "chance"),
    [
        ("en", "all judges agree on 5 of 5 fail", "The judges give nearly the same scores", "no better than chance"),
        ("fr", "tous les juges s’accordent sur 5 des 5", "Les juges donnent presque les mêmes notes", "mieux que le hasard"),
    ],
)
def test_scores_at_the_top_do_not_hide_that_all_judges_agree_on_failures(
    tmp_path: Path, language: str, agreed: str, alike: str, chance: str
) -> None:
    cases = [case(n) for n in range(1, 41)]
    page = report(tmp_path, cases=cases, say=noise_at_the_top, language=language)
    assert agreed in page.text and chance not in page.text
    tops = report(tmp_path / "tops", cases=cases[5:], say=noise_at_the_top, language=language)
    assert alike in tops.text and chance not in tops.text
    same = report(tmp_path / "same", cases=cases, say=everyone_says(5.0), language=language)
    assert alike in same.text and chance not in same.text


def test_judgments_without_a_score_are_listed_with_reasons_refusals_of_safety_first(tmp_path: Path) -> None:
    criteria = (criterion("danger"), criterion("warmth", category="tone"))

    def say(call: PlannedCall) -> Judgment | None:
        kind = (call.case.id, call.judge.name, call.criteria[0].name)
        if kind == ("case-1", "beta", "warmth"):
            return judgment(call, Unparsed(reason="prose only"))
        if kind[0] == "case-4" and kind[2] == "danger":
            return judgment(call, Refused(reason="I cannot read this"))
        return judgment(call, Scored(score=4.0))

    page = report(tmp_path, cases=[case(n) for n in range(1, 5)] + [case(5, response=None)], say=say, criteria=criteria,
                  answers={"case-5": {"state": "empty"}})  # fmt: skip
    section = page.text[page.text.index("Judgments without a score In") :]
    assert "Judges refused 1 case on criteria of: Safety – case-4" in section
    assert "1 case lacks the score of a criterion: case-4" in section
    assert section.index("I cannot read this") < section.index("prose only")
    links = [found["class"] for tag, found in page.elements if tag == "a" and (found.get("href") or "").startswith("#missing-")
             and "class" in found]  # fmt: skip
    rows = [found.get("class") for tag, found in page.elements if tag == "tr" and (found.get("class") or "").startswith("of")]
    assert links == ["by0", "by1"] and rows == ["of0", "of0", "of1"]


def test_an_unfit_judges_agreement_is_not_praised(tmp_path: Path) -> None:
    def agreed(call: PlannedCall) -> Judgment:
        return judgment(call, Scored(score=float(int(call.case.id[-1]) % 5)))

    assert "agree with each other" in report(tmp_path, say=agreed).text
    unfit = report(tmp_path / "unfit", say=agreed, judges=(judge("alpha"), judge("beta", unfit="tiny"))).text
    assert "agree with each other" not in unfit
    assert "Agreement is meaningless" in unfit


def test_the_v1_1_profile_says_that_failures_count_zero(tmp_path: Path) -> None:
    text = report(tmp_path, profile=V1_1).text
    assert "a failed judgment counts as 0" in text
    assert "a failed pass counts as 0" in text


def test_the_method_shows_an_address_whole_and_cuts_digests_only(tmp_path: Path) -> None:
    judges = (judge("alpha", digest="server http://127.0.0.1:8080/v1"), judge("beta", digest=f"bot {'0a' * 32}"))
    text = report(tmp_path, judges=judges).text
    assert "server http://127.0.0.1:8080/v1" in text
    assert "bot 0a0a0a0a0a0a" in text and "0a" * 7 not in text


@pytest.mark.parametrize(("out", "command"), [("outputs", "rescore run-1"), ("my runs", "rescore run-1 --out 'my runs'")])
def test_the_command_that_recomputes_names_the_folder_of_the_runs_without_a_path(tmp_path: Path, out: str, command: str) -> None:
    folder = tmp_path / out / "run-1"
    folder.mkdir(parents=True)
    page = report(folder).text
    assert f"areopage bench {command} " in f"{' '.join(page.split())} "
    assert str(tmp_path) not in page


def test_the_worst_responses_leave_out_those_with_the_best_score(tmp_path: Path) -> None:
    def say(call: PlannedCall) -> Judgment:
        return judgment(call, Scored(score=4.0 if call.case.id == "case-3" else 5.0))

    page = report(tmp_path, say=say).text
    assert "then the worst final scores: 1 in all" in page
    (tmp_path / "other").mkdir()
    assert "Every scored response has the best score." in report(tmp_path / "other", say=everyone_says(5.0)).text


def test_the_table_of_judges_has_no_column_for_what_no_judge_has(tmp_path: Path) -> None:
    page = report(tmp_path).text
    assert "Mean call" in page
    heads = page[page.index("Judge Planned") :].partition(" alpha ")[0]
    assert not any(heading in heads for heading in ("Cost", "Timed out", "Unparsed"))
    (tmp_path / "other").mkdir()
    price = Price(input_per_million=1.0, output_per_million=2.0, currency="EUR")
    other = report(tmp_path / "other", judges=(judge("alpha", price=price),)).text
    assert "Cost" in other[other.index("Judge Planned") :].partition(" alpha ")[0]


@pytest.mark.parametrize(("failed", "said"), [(0, "less than 1% could fail"), (2, "up to 2% could fail")])
def test_a_bound_on_other_cases_is_never_said_to_be_zero(tmp_path: Path, failed: int, said: str) -> None:
    def say(call: PlannedCall) -> Judgment:
        return judgment(call, Scored(score=0.0 if int(call.case.id.removeprefix("case-")) < failed else 5.0))

    view = view_of(tmp_path, cases=[case(n) for n in range(420)], judges=(judge("alpha"),), say=say)
    assert said in " ".join(str(bench_report(view).headline).split())
