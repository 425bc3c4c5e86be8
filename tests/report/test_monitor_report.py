"""The quality report: what it must say, in both languages and three forms, and what it must never let through."""

import json
import os
import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from areopage.app.monitor import report_job, write_scheduled_reports
from areopage.ledger.read.queries import last_days
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Evaluation, JudgeUse
from areopage.ledger.write.evaluations import Evaluations
from areopage.locales import LANGUAGES, locale_for
from areopage.monitor.config import AlertsSection, MonitorConfig, ReportSection
from areopage.monitor.hook.submission import submission_of
from areopage.report.monitor.figures import QualityFigures, period_figures
from areopage.report.monitor.page import quality_report
from areopage.report.rendering import FORMS, ReportForm, item, plain_words, render, write_report
from areopage.scoring.agreement_with_people import Rating
from areopage.scoring.worth.worth import JuryWorth
from areopage.suites.config_file import StorageSection
from servers.configured import monitor_config
from servers.quality_ledger import TODAY, USE, answered, filled

CHROMIUM = Path("/usr/bin/chromium")
ATTACK = """<script>document.title='pwned'</script><img src=x onerror="document.title='pwned'">'"><svg onload=1>{{7919*7927}}"""
MARKED = (
    "a | b `c` **d** _e_ [f](http://evil.example) ![g](http://evil.example/i.png) <b>h</b> www.evil.example x@evil.example ~i~"
)
Make = Callable[..., QualityFigures]


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
        return spaced(" ".join(self.texts))


def spaced(text: str) -> str:
    return " ".join(text.replace("\u202f", " ").replace("\xa0", " ").split())


def form_of(report: QualityFigures, form: ReportForm) -> str:
    return render(quality_report(report), form)


def html_of(report: QualityFigures) -> str:
    return form_of(report, "html")


def markdown_of(report: QualityFigures) -> str:
    return form_of(report, "md")


def config(folder: Path, **sections: Any) -> MonitorConfig:
    return monitor_config(folder, **sections)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """The report over a week of these answers."""
    opened: list[Ledger] = []

    def run(scores: list[Evaluation], *uses: JudgeUse, language: str = "en", days: int = 7, **sections: Any) -> QualityFigures:
        opened.append(filled(tmp_path / f"{len(opened)}.db", scores, uses or (USE,)))
        period = last_days(days, TODAY.date())
        return period_figures(opened[-1], config(tmp_path, **sections), period, now=TODAY, language=language)

    yield run
    for ledger in opened:
        ledger.close()


def two_weeks(**fields: Any) -> list[Evaluation]:
    """Fourteen answers of about 7.5 after fourteen of about 6.5."""
    now = [answered(n, 7.0 + n % 2, days_ago=n % 7, **fields) for n in range(14)]
    return now + [answered(100 + n, 6.0 + n % 2, days_ago=7 + n % 7, **fields) for n in range(14)]


def hostile() -> list[Evaluation]:
    texts = dict.fromkeys(["id", "prompt", "response", "feedback", "source", "variant"], ATTACK)
    lists = dict.fromkeys(["strengths", "weaknesses", "suggestions"], (ATTACK,))
    other = {**texts, "id": "other", "variant": "b"}
    texts["qualification"] = f"unfit: a ({ATTACK})"
    return [answered(1, 2.0, **texts, **lists), answered(2, 9.0, **other, **lists)]  # type: ignore[arg-type]


def hostile_judge() -> JudgeUse:
    return JudgeUse(
        judge=ATTACK, model=ATTACK, calls=1, outcomes={"scored": 1}, seconds=1.0, prompt_tokens=1, completion_tokens=1,
        cost=1.0, currency="<b>€",
    )  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_from_outside_reaches_the_page_unescaped(make: Make, language: str) -> None:
    html = html_of(make(hostile(), hostile_judge(), language=language, storage=StorageSection(export_text="full")))
    page = Outline(html)
    assert ATTACK not in html
    assert html.count("&lt;script&gt;") > 8
    assert "62773913" not in page.text
    assert {tag for tag, _ in page.elements}.isdisjoint({"script", "img", "iframe", "link", "object", "form", "input"})
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on") or name == "style"]
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in html


def test_the_page_loads_nothing(make: Make) -> None:
    assert not re.search(r"<script|javascript:|https?://|url\(|@import|\bsrc=", html_of(make(two_weeks())))


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_runs_or_overflows_in_a_browser(make: Make, tmp_path: Path, language: str) -> None:
    if not CHROMIUM.exists() and "chromium" not in os.environ.get("AREOPAGE_REQUIRE", "").split(","):
        pytest.skip("there is no /usr/bin/chromium to open the report with")
    from playwright.sync_api import sync_playwright

    path = tmp_path / "report.html"
    report = make([*hostile(), *two_weeks()], hostile_judge(), language=language, storage=StorageSection(export_text="full"))
    write_report(quality_report(report), "html", path)
    asked: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 390, "height": 800})
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        title = page.title()
        built = page.evaluate("document.querySelectorAll('script, img, [onload], [onerror]').length")
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        bars = page.evaluate("[...document.querySelectorAll('.column')].map(one => one.getBoundingClientRect().width)")
        browser.close()
    assert "pwned" not in title
    assert built == 0
    assert asked == [path.as_uri()]
    assert overflow <= 0
    assert all(0 < width < 40 for width in bars), "the page's styles leave the bars of charts alone"


def rendered(markdown: str) -> str:
    """The HTML of a reader that lets everything through that it can."""
    return str(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown))


@pytest.mark.parametrize(
    "text", [MARKED, ATTACK, "# h", "- x", "+ x", "1. x", "2) x", "> q", "a\n\n# h\n---", "===", "\\", "`` ` ``"]
)
def test_markdown_shows_a_text_from_outside_as_it_is(text: str) -> None:
    for line in (f"- **Q**: {plain_words(text)}", f"- {item(plain_words(text))}", f"| a |\n| :-- |\n| {plain_words(text)} |"):
        html = rendered(line)
        outline = Outline(html)
        assert {tag for tag, _ in outline.elements} <= {"ul", "li", "p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
        assert sum(tag == "ul" for tag, _ in outline.elements) <= 1
        assert sum(tag == "td" for tag, _ in outline.elements) <= 1
        assert spaced(text) in outline.text


def test_markdown_breaks_addresses_that_readers_make_links_of() -> None:
    shown = plain_words("see HTTPS://evil.example, www.evil.example and mailto:x@evil.example")
    assert not re.search(r"https?://|www\.|@|mailto:", shown, re.IGNORECASE)


def test_no_control_character_reaches_a_terminal(make: Make) -> None:
    report = make([answered(1, 2.0, prompt="a\x1b[31mred\x07\u202egnp\u200b", id="x\x1b]0;t\x07")])
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e]", markdown_of(report))


def test_tables_and_lists_of_the_markdown_hold_whatever_answers_say(make: Make) -> None:
    texts = dict.fromkeys(["prompt", "response", "feedback", "source", "variant"], MARKED + "\n| x |\n\n# no")
    scores = [answered(n, 2.0 + n, **texts, weaknesses=(MARKED,), suggestions=("- x", "1. y")) for n in range(3)]  # type: ignore[arg-type]
    report = make([*scores, *two_weeks()], storage=StorageSection(export_text="full"))
    outline = Outline(rendered(markdown_of(report)))
    tags = [tag for tag, _ in outline.elements]
    assert {"a", "img", "b", "script"}.isdisjoint(tags)
    assert tags.count("table") == 7
    assert tags.count("h1") == 1
    assert "| x | # no" in outline.text


def test_the_report_says_all_that_it_must(make: Make) -> None:
    scores = [*two_weeks(), answered(50, None, reason="timed out"), answered(51, 1.5, weaknesses=("No source",))]
    for text in (Outline(html_of(make(scores))).text, spaced(markdown_of(make(scores)))):
        assert "15 scored, 1 without a score" in text
        assert "93.8%" in text
        assert "never examined" in text
        assert "7.10" in text, "the mean of fourteen answers of 7.5 and one of 1.5"
        assert "Accuracy" in text
        assert "Four-part structure" in text
        assert "Excellent (over 8)" in text
        assert "Weak (under 6)" in text
        assert "6.7%" in text
        assert "against the 7 days before" in text
        assert "15 Nov" in text
        assert "No source" in text
        assert "Réponse vague." in text
        assert "alpha" in text
        assert "0.0320 EUR" in text


@pytest.mark.parametrize(
    ("earlier", "words"), [(6.0, "significant: chance alone is unlikely"), (7.4, "not significant: chance alone can")]
)
def test_a_change_says_whether_it_is_certain(make: Make, earlier: float, words: str) -> None:
    scores = [answered(n, 7.0 + n % 2, days_ago=n % 7) for n in range(20)]
    scores += [answered(100 + n, earlier - 0.5 + n % 2, days_ago=7 + n % 7) for n in range(20)]
    for text in (Outline(html_of(make(scores))).text, spaced(markdown_of(make(scores)))):
        assert words in text


def test_numbers_dates_and_signs_are_french_in_a_french_report(make: Make) -> None:
    report = make(two_weeks(), language="fr")
    for text in (Outline(html_of(report)).text, spaced(markdown_of(report))):
        assert "7,50" in text
        assert "du 15 au 21 novembre 2026" in text.replace("Du 15", "du 15")
        assert "+1,00 par rapport aux 7 jours précédents" in text
        assert "jamais examinés" in text
        assert not re.search(r"\d\.\d", text.replace("answer_quality 1.0.0", "").replace("areopage 0.1.0", ""))
        assert not re.search(r"\b(score of|judges|coverage|days)\b", text.replace("--days", ""))
    assert ("html", {"lang": "fr"}) in Outline(html_of(report)).elements
    assert not re.search(r"[^\s\u202f][;?!]|[^\s\xa0]:(?!\d)(?!--)", body_words(markdown_of(report))), "spaces before high signs"


def body_words(markdown: str) -> str:
    """A report's own words: no rules of tables, no texts of answers, no commands."""
    lines = [line for line in markdown.splitlines() if not line.startswith(("| :--", "| --:", "- **", "### ", "  -"))]
    return re.sub(r"`[^`]*`|ollama:m", "", "\n".join(lines))


@pytest.mark.parametrize(
    ("first", "last", "french", "english"),
    [
        ((2026, 11, 15), (2026, 11, 22), "du 15 au 21 novembre 2026", "15–21 November 2026"),
        ((2026, 10, 28), (2026, 11, 4), "du 28 octobre au 3 novembre 2026", "28 October – 3 November 2026"),
        ((2026, 12, 28), (2027, 1, 2), "du 28 décembre 2026 au 1er janvier 2027", "28 December 2026 – 1 January 2027"),
        ((2027, 1, 1), (2027, 1, 2), "1er janvier 2027", "1 January 2027"),
    ],
)
def test_a_period_says_no_month_or_year_twice(first: Any, last: Any, french: str, english: str) -> None:
    from areopage.ledger.read.queries import Period

    period = Period(start=date(*first), end=date(*last))
    assert spaced(locale_for("fr").period(period.start, period.end - timedelta(days=1))) == french
    assert spaced(locale_for("en").period(period.start, period.end - timedelta(days=1))) == english


@pytest.mark.parametrize(("language", "words"), [("en", "These scores are not valid"), ("fr", "Ces scores ne sont pas valables")])
def test_unfit_judges_are_announced_before_any_score(make: Make, language: str, words: str) -> None:
    reason = "a 135M model is too small to judge: its scores are not valid"
    report = make(two_weeks(qualification=f"unfit: tiny ({reason})"), language=language)
    for text in (Outline(html_of(report)).text, spaced(markdown_of(report))):
        assert text.index(words) < text.index("7,50" if language == "fr" else "7.50")
        assert "tiny (" in text
        assert ("trop petit pour juger" if language == "fr" else "too small to judge") in text
    assert any(found.get("role") == "alert" for _, found in Outline(html_of(report)).elements)


@pytest.mark.parametrize(
    ("language", "words"), [("en", "No answer was scored in this period"), ("fr", "Aucune réponse n’a été notée")]
)
@pytest.mark.parametrize("form", ["html", "md"])
def test_without_rows_the_report_says_so_and_what_to_do(make: Make, language: str, words: str, form: Any) -> None:
    text = spaced(form_of(make([], language=language), form))
    assert words in text
    assert "areopage monitor report --days 30 --until 2026-11-21" in text
    assert "None" not in text


def test_answers_that_wait_or_failed_are_named_where_none_is_scored(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "ledger.db", [answered(1, None, format=None)])
    given = [replace(submission_of("q", "r", (), id=name, language="fr"), answered_at=TODAY) for name in ("w", "f")]
    Evaluations(ledger).submit(given)
    Evaluations(ledger).give_up("f", "no judge")
    report = period_figures(ledger, config(tmp_path), last_days(7, TODAY.date()), now=TODAY, language="en")
    ledger.close()
    text = spaced(markdown_of(report))
    assert "1 answer waits for a judge. Start a worker: `areopage monitor worker`" in text
    assert "The evaluation of 1 answer failed" in text
    assert "1 answer was judged but has no score" in text
    assert "0 scored, 1 without a score, 1 failed, 1 waiting now" in text


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "100% – 196 of 196 answers to be judged have a score, 204 not sampled (51.0%)"),
        ("fr", "100 % – sur 196 réponses à juger, 196 ont un score, 204 hors échantillon (51,0 %)"),
    ],
)
def test_what_sampling_left_out_stands_beside_coverage(make: Make, language: str, words: str) -> None:
    report = make([answered(1)], language=language)
    report = replace(report, figures=replace(report.figures, scored=196, left_out=204, planned=196, received=400, coverage=1.0))
    assert words in spaced(markdown_of(report))
    assert words in Outline(html_of(report)).text
    found = json.loads(form_of(report, "json"))
    assert (found["left_out"], found["planned"], found["received"], found["coverage"]) == (204, 196, 400, 1.0)


def test_where_sampling_left_out_all_the_report_says_so(make: Make) -> None:
    report = make([], days=1)
    report = replace(report, figures=replace(report.figures, left_out=3))
    assert "3 answers are not in the sample" in spaced(markdown_of(report))


def test_criteria_are_shown_where_no_answer_has_a_global_score(make: Make) -> None:
    scores = [answered(n, None, format=8.0) for n in range(3)]
    for text in (Outline(html_of(make(scores))).text, spaced(markdown_of(make(scores)))):
        assert "8.00" in text
        assert "No scores for:" in text
        assert "Accuracy" in text
        assert "None" not in text


def test_the_mean_names_the_criteria_that_it_leaves_out(make: Make) -> None:
    for language, words in (
        ("en", "no scores for Completeness, Sources cited: the mean leaves these criteria out"),
        ("fr", "sans score : Complétude, Sources ; la moyenne ne compte pas ces critères"),
    ):
        report = make(two_weeks(), language=language)
        for text in (Outline(html_of(report)).text, spaced(markdown_of(report))):
            assert spaced(words) in spaced(text)
    assert "the mean leaves" not in markdown_of(make([answered(1, None)]))


def test_variants_are_compared_in_the_report(make: Make) -> None:
    scores = [answered(n, 6.0 + n % 2, variant="a") for n in range(20)] + [answered(50 + n, 8.0 + n % 2) for n in range(20)]
    for text in (Outline(html_of(make(scores))).text, spaced(markdown_of(make(scores)))):
        assert "Variants compared" in text
        assert "(none)" in text
        assert "+2.00, significant" in text
    assert "Variants compared" not in markdown_of(make(two_weeks()))


@pytest.mark.parametrize(
    ("policy", "shown"), [("redacted", "M. [NAME] of [EMAIL]"), ("truncated", "M. Jean…"), ("none", "(not stored)")]
)
def test_texts_leave_by_the_policy_for_exports(make: Make, policy: Any, shown: str) -> None:
    text = "M. Jean Dupont of jean@exemple.fr"
    fields: Any = {**dict.fromkeys(["prompt", "response", "feedback"], text), "weaknesses": (text,), "suggestions": (text,)}
    report = make([answered(1, 2.0, **fields)], storage=StorageSection(export_text=policy, max_chars=8))
    assert shown in Outline(html_of(report)).text
    for form in FORMS:
        assert "Dupont" not in form_of(report, form)


def test_a_very_long_answer_is_cut_and_says_so(make: Make, tmp_path: Path) -> None:
    report = make([answered(n, 2.0, response="<b>&" * 50_000) for n in range(5)], storage=StorageSection(export_text="full"))
    write_report(quality_report(report), "html", tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_size < 1_500_000
    assert "… 180,000 more characters" in Outline((tmp_path / "r.html").read_text(encoding="utf-8")).text


def test_a_threshold_that_is_switched_off_is_not_drawn(make: Make) -> None:
    assert "alert below 6" in html_of(make(two_weeks()))
    assert "alert below" not in html_of(make(two_weeks(), alerts=AlertsSection(threshold=None)))


def test_a_single_day_has_no_trend(make: Make) -> None:
    assert 'id="trend"' not in html_of(make([answered(1), answered(2)], days=1))
    assert "Daily trend" not in markdown_of(make([answered(1), answered(2)], days=1))


def test_the_json_holds_every_figure_as_a_number(make: Make) -> None:
    found = json.loads(form_of(make([*two_weeks(), answered(50, None)]), "json"))
    assert found["schema"] == "areopage/quality-report/1"
    assert found["period"] == {"start": "2026-11-15", "end": "2026-11-22"}
    counts = {"scored": 14, "unscored": 1, "failed": 0, "waiting": 0, "left_out": 0, "received": 15, "planned": 15}
    assert {name: found[name] for name in (*counts, "coverage")} == {**counts, "coverage": 14 / 15}
    assert found["overall"]["mean"]["mean"] == 7.5
    assert found["overall"]["grades"] == [0, 14, 0]
    assert found["overall"]["change"]["difference"] == 1.0
    assert found["overall"]["change"]["certain"] is False  # fourteen answers may hide a bad one
    assert {one["criterion"]: one["label"] for one in found["criteria"]}["quality.answer.format"] == "Four-part structure"
    assert len(found["days"]) == 7
    assert len(found["worst"]) == 5
    assert found["judges"][0]["seconds_per_call"] == 1.5
    assert found["qualification"] == "never examined"


def test_the_json_of_nothing_has_nulls(make: Make) -> None:
    found = json.loads(form_of(make([]), "json"))
    assert (found["overall"]["mean"]["mean"], found["overall"]["change"]["certain"], found["coverage"]) == (None, None, None)
    assert set(found["overall"]["change"].values()) == {None}


def test_the_job_writes_the_last_whole_days_in_every_configured_form(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "ledger.db", two_weeks())
    section = ReportSection(formats=["html", "md", "json"], folder="weekly", days=3)
    write_scheduled_reports(ledger, config(tmp_path, report=section, language="fr"), TODAY)
    ledger.close()
    names = [f"quality-report-2026-11-20.{form}" for form in FORMS]
    assert sorted(path.name for path in (tmp_path / "weekly").iterdir()) == sorted(names)
    found = json.loads((tmp_path / "weekly" / names[2]).read_text(encoding="utf-8"))
    assert found["period"] == {"start": "2026-11-18", "end": "2026-11-21"}
    assert "Rapport sur la qualité" in (tmp_path / "weekly" / names[1]).read_text(encoding="utf-8")


def test_the_job_follows_the_configuration(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "ledger.db", [])
    job = report_job(ledger, config(tmp_path))
    assert job is not None
    assert job.schedule == "0 6 * * *"
    assert report_job(ledger, config(tmp_path, report=ReportSection(enabled=False))) is None
    ledger.close()


@pytest.mark.parametrize(("language", "told"), [("en", "one judge –"), ("fr", "un seul juge –")])
def test_the_worth_of_the_jury_is_told_where_people_labelled_answers(make: Make, language: str, told: str) -> None:
    report = make(two_weeks(), language=language)
    assert report.worth is None
    assert "jury_worth" in form_of(report, "json")
    assert "Worth of the jury" not in html_of(report)
    report = replace(report, worth=planted_worth())
    assert told in Outline(html_of(report)).text
    assert '"leniency"' in form_of(report, "json")


def planted_worth() -> JuryWorth:
    """One judge, half a point too lenient on 30 answers that one person labelled."""
    scores = {f"a{number}": 5.0 + number % 3 for number in range(30)}
    ratings = [
        Rating(item=id, rater="Anne", criterion="c", score=score - (0.5 + 0.1 * (number % 2)))
        for number, (id, score) in enumerate(scores.items())
    ]
    return JuryWorth.of({"juge": {"c": scores}}, ratings, ratings, 10.0)
