"""The gate's report: what it must say, in both languages and three forms, and what it must never let through."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from areopage.ledger.read.queries import TraceFilter
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Label
from areopage.ledger.tables.trace_records import Trace
from areopage.ledger.write.traces import Traces
from areopage.locales import LANGUAGES
from areopage.report.elements import report_locale
from areopage.report.gate.figures import MOST_NAMES, OTHERS, AnswerPart, GateCounts, GateOverview, gate_figures, outward
from areopage.report.gate.page import gate_report
from areopage.report.rendering import FORMS, TEMPLATES, ReportForm, render, write_report
from servers.gate_answers import BAD, DOCUMENT, GOOD, NOON, filled, imported, label, trace

ATTACK = """<script>document.title='pwned'</script><img src=x onerror="document.title='pwned'">'"><svg onload=1>{{7919*7927}}"""
Make = Callable[..., GateOverview]


class Outline(HTMLParser):
    """Elements with their attributes, the marked words, and the text without the style."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.marked: list[str] = []
        self.within = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.within = tag

    def handle_endtag(self, tag: str) -> None:
        self.within = ""

    def handle_data(self, data: str) -> None:
        if self.within == "mark":
            self.marked.append(data)
        if self.within != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return spaced(" ".join(self.texts))


def spaced(text: str) -> str:
    return " ".join(text.replace("\u202f", " ").replace("\xa0", " ").split())


def form_of(report: GateOverview, form: ReportForm) -> str:
    return render(gate_report(report), form)


def html_of(report: GateOverview) -> str:
    return form_of(report, "html")


def markdown_of(report: GateOverview) -> str:
    return form_of(report, "md")


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """The report over these answers."""
    opened: list[Ledger] = []

    def run(answers: Sequence[Trace], labels: Sequence[Label] = (), **fields: Any) -> GateOverview:
        opened.append(filled(tmp_path / f"ledger-{len(opened)}.db", answers, labels))
        known: dict[str, Any] = {"language": "en", "policy": "full", "max_chars": 200, "now": NOON}
        return gate_figures(opened[-1], fields.pop("scope", TraceFilter()), **{**known, **fields})

    yield run
    for ledger in opened:
        ledger.close()


@pytest.fixture
def usual(make: Make) -> GateOverview:
    """Forty answers: ten that invent an amount, one of them seen by people, and some imported ones."""
    good = [trace(number, collection="droit" if number % 3 else "fiscal") for number in range(1, 31)]
    bad = [trace(number, BAD) for number in range(31, 41)]
    old = [imported(number, collection="") for number in range(41, 46)]
    labels = [label(good[0], "no"), label(good[1], "yes"), label(bad[0], "no"), label(bad[1], "yes")]
    return make([*good, *bad, *old], labels)


def test_rates_reasons_and_labels_are_counted(usual: GateOverview) -> None:
    figures = usual.figures
    assert (figures.answers, figures.verdicts) == (45, {"deliver": 35, "fallback": 0, "human_review": 10})
    assert figures.reasons["unsupported_figure"] == 10
    share = figures.shares["deliver"]
    assert share.low is not None
    assert share.high is not None
    assert share.share == pytest.approx(35 / 45)
    assert share.low < 35 / 45 < share.high
    labels = figures.labels
    assert (labels.labelled, labels.ungrounded, labels.delivered) == (4, 2, 2)
    assert (labels.precision.hits, labels.precision.of) == (1, 2)
    assert (labels.recall.hits, labels.recall.of) == (1, 2)
    assert (labels.escapes.hits, labels.escapes.of) == (1, 2)
    assert figures.without_p == 5
    assert sum(figures.p_unsupported) == 40
    assert {part.name: part.answers for part in figures.collections} == {"droit": 30, "fiscal": 10, "": 5}
    assert [part.name for part in figures.sources] == ["guide"]
    assert dict(usual.warned) == {"gate_warn_no_p": 5, "gate_warn_few_labels": 4}


def test_counts_are_those_of_the_database(make: Make, tmp_path: Path) -> None:
    answers = [trace(1), trace(2, BAD), imported(3, verdict="fallback")]
    ledger = filled(tmp_path / "same.db", answers, [label(answers[0], "no")])
    summary, figures = Traces(ledger).summary(TraceFilter()), make(answers, [label(answers[0], "no")]).figures
    ledger.close()
    assert {name: count for name, count in figures.verdicts.items() if count} == summary.verdicts
    assert figures.reasons == summary.reasons
    assert figures.labels.labelled == summary.labelled
    assert figures.labels.escapes.hits == summary.ungrounded_delivered


def test_an_answer_that_went_out_ungrounded_comes_first(usual: GateOverview) -> None:
    first = usual.worst[0]
    assert first.escaped
    assert first.label == "no"
    assert len(usual.worst) == 10
    others = [one.p_unsupported or 0.0 for one in usual.worst[1:]]
    assert others == sorted(others, reverse=True)


def test_what_the_gate_doubts_is_marked(make: Make) -> None:
    outline = Outline(html_of(make([trace(1, BAD)])))
    assert any("250 €" in text for text in outline.marked)
    assert GOOD not in "".join(outline.marked)
    assert "250 €" in outline.text


def test_a_sentence_that_the_gate_does_not_doubt_is_not_marked(make: Make) -> None:
    outline = Outline(html_of(make([trace(1, GOOD)])))
    assert "14 jours" in outline.text
    assert outline.marked == []


def test_a_reason_that_holds_twice_in_a_sentence_is_told_once(make: Make) -> None:
    (worst,) = make([trace(1, f"{GOOD} Une prime de 250 € est due, et la prime de 250 € est versée en mai.")]).worst
    assert any("250 €" in reason for reason in worst.reasons)
    assert len(set(worst.reasons)) == len(worst.reasons)


def test_the_period_and_the_collection_narrow_the_report(make: Make) -> None:
    answers = [trace(number, collection="a" if number < 3 else "b") for number in range(1, 6)]
    scope = TraceFilter(since=NOON.replace(hour=0), until=NOON.replace(hour=0, day=17), collection="b")
    report = make(answers, scope=scope)
    assert report.figures.answers == 3
    text = spaced(markdown_of(report))
    assert "16 November 2026" in text
    assert "--since 2026-11-16 --until 2026-11-16 --collection b" in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_form_says_the_same_in_both_languages(make: Make, language: str) -> None:
    report = make([trace(1), trace(2, BAD)], language=language)
    words = report_locale(language).messages
    html, markdown = Outline(html_of(report)).text, spaced(markdown_of(report))
    for key in ("gate_report", "gate_verdicts_heading", "gate_reasons", "gate_labels_none", "gate_slices", "gate_worst"):
        assert spaced(words[key]) in html
        assert spaced(words[key]) in markdown
    assert spaced(words["gate_reason_names"]["unsupported_figure"]) in html
    for text in (html, markdown):
        assert "$" not in re.sub(r"\$[0-9]", "", text)


def test_the_json_holds_numbers_that_are_not_rounded(usual: GateOverview) -> None:
    found = json.loads(form_of(usual, "json"))
    assert found["schema"] == "areopage/gate-report/1"
    assert found["verdicts"]["human_review"] == 10
    assert found["shares"]["deliver"]["share"] == 35 / 45
    assert found["warnings"] == ["no_p", "few_labels"]
    assert len(found["worst"]) == 10


def test_no_text_from_outside_becomes_an_element(make: Make) -> None:
    report = make([trace(1, f"{BAD} {ATTACK}", prompt=ATTACK, collection=ATTACK)])
    page = html_of(report)
    outline = Outline(page)
    assert not [tag for tag, _ in outline.elements if tag in ("script", "img", "iframe", "object")]
    assert not [name for _, attributes in outline.elements for name in attributes if name.startswith("on")]
    assert "{{7919*7927}}" in page
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown_of(report))
    assert not re.search(r"<(script|img|svg)", html)


def test_a_page_asks_nobody_for_anything(usual: GateOverview) -> None:
    page = html_of(usual)
    assert "default-src 'none'" in page
    assert not [value for _, attributes in Outline(page).elements for value in attributes.values() if value and "//" in value]


@pytest.mark.parametrize("policy", ["redacted", "none", "truncated"])
def test_texts_leave_by_the_policy(make: Make, policy: str) -> None:
    bad = f"{BAD} N'écrivez pas à jean.martin@exemple.fr pour le virement."
    question = f"{'Bonjour ' * 60}: jean.martin@exemple.fr ?"
    report = make([trace(1, bad, prompt=question)], policy=policy, max_chars=150)
    for form in FORMS:
        assert "jean.martin" not in form_of(report, form)
    if policy == "truncated":
        assert sum(len(piece.text) for piece in report.worst[0].answer) <= 150
    if policy == "none":
        assert report.worst[0].answer == ()


def test_a_cut_answer_ends_where_its_whole_length_is_reached() -> None:
    parts = [AnswerPart("abc", marked=False), AnswerPart("defg", marked=True), AnswerPart("hij", marked=False)]
    assert outward(parts, "truncated", 5) == (AnswerPart("abc", marked=False), AnswerPart("d…", marked=True))
    assert outward(parts, "truncated", 10) == tuple(parts)


def test_an_erased_answer_is_counted_and_not_shown(make: Make, tmp_path: Path) -> None:
    ledger = filled(tmp_path / "erased.db", [trace(1, BAD), trace(2, BAD)])
    ledger.erasure.erase([f"{1:032x}"])
    report = gate_figures(ledger, TraceFilter(), language="fr", policy="full", max_chars=100, now=NOON)
    ledger.close()
    assert report.figures.answers == 2
    assert [one.id for one in report.worst] == [f"{2:032x}"]
    assert ("gate_warn_erased", 1) in report.warned


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_to_report_is_said_with_what_to_do(make: Make, language: str) -> None:
    report = make([], language=language)
    words = report_locale(language).messages
    for text in (Outline(html_of(report)).text, spaced(markdown_of(report))):
        assert spaced(words["gate_nothing"]) in text
    assert json.loads(form_of(report, "json"))["answers"] == 0


def test_imported_rows_alone_make_a_report(make: Make) -> None:
    report = make([imported(1), imported(2, verdict="fallback", metrics={"confidence": None})])
    assert report.figures.without_confidence == 1
    assert report.worst == ()
    for form in FORMS:
        assert form_of(report, form)


def test_an_answer_whose_confidence_rests_on_no_score_counts_for_no_threshold(make: Make) -> None:
    scoreless = replace(DOCUMENT, score=None)
    report = make([trace(1), *(trace(number, documents=(scoreless,)) for number in range(2, 5))])
    figures = report.figures
    assert (figures.without_confidence, sum(figures.confidences)) == (3, 1)
    assert (figures.passed_spec.of, figures.confident_spec.of) == (1, 1)
    assert "Thresholds of the documented rules (profile v1_1)" in markdown_of(report)
    assert "v1_1" not in spaced(markdown_of(make([trace(1, documents=(scoreless,))]))).partition("## ")[0]


def test_what_is_counted_apart_is_bounded() -> None:
    counts = GateCounts()
    one = trace(1)
    for number in range(MOST_NAMES + 5):
        counts.take(replace(one, collection=f"c{number}"))
    names = [part.name for part in counts.figures().collections]
    assert len(names) == MOST_NAMES + 1
    assert names[0] == OTHERS
    assert counts.figures().collections[0].answers == 5


def test_quantiles_of_the_time_are_right_to_two_percent() -> None:
    counts = GateCounts()
    one = trace(1)
    for number in range(1, 1001):
        counts.take(replace(one, gate_seconds=number / 1000))
    latency = counts.figures().latency
    for found, expected in ((latency.p50, 0.5), (latency.p90, 0.9), (latency.p99, 0.99)):
        assert found == pytest.approx(expected, rel=0.025)


@pytest.mark.parametrize("form", ["html", "md"])
def test_a_template_holds_no_words_of_its_own(form: str) -> None:
    template = (TEMPLATES / f"report.{form}.j2").read_text(encoding="utf-8")
    bare = re.sub(r"\{[%{#].*?[%}#]\}", "", re.sub(r"<[^>]*>", "", template), flags=re.DOTALL)
    assert not re.findall(r"[A-Za-zé]{4,}", bare.replace("areopage", ""))


def test_a_report_replaces_what_stood_there(usual: GateOverview, tmp_path: Path) -> None:
    place = tmp_path / "r.html"
    place.write_text("old", encoding="utf-8")
    write_report(gate_report(usual), "html", place)
    assert "old" not in place.read_text(encoding="utf-8")[:50]
    assert DOCUMENT.source in place.read_text(encoding="utf-8")
