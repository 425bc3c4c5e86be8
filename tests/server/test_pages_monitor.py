"""The live page over the real application: what each page says, in both languages, and what it must never show."""

import re
import shutil
from collections.abc import Iterator
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from msgspec import structs
from sqlalchemy import text

from areopage.ledger.people.access import ApiKeys, Audit
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Verdict
from areopage.ledger.write.alerts import Alerts
from areopage.ledger.write.evaluations import Evaluations
from areopage.monitor.alerts.rules import new_alert
from areopage.monitor.hook.spool import Spool
from areopage.monitor.hook.submission import submission_of
from areopage.monitor.intake import Intake
from areopage.monitor.worker import HookCarrier
from areopage.scoring.outcome import NotApplicable
from areopage.server.context import ServerContext
from areopage.server.pages.answers import CriterionView, JudgeRemark
from servers.judged_answers import judgments_of
from servers.quality_ledger import answered, filled

from .samples import SAMPLES, Sample
from .seeded import NOW, WEAK_ID, context_for, judged, local_client, run_of, seed

PAGES = ("/monitor", "/monitor/answers", "/monitor/alerts", "/monitor/queue", "/monitor/golden", "/trust")


class Page(HTMLParser):
    """What a browser makes of a page: its elements, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self._texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self._texts).replace("\u202f", " ").replace("\xa0", " ").split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [found for name, found in self.elements if name == tag]


@pytest.fixture(scope="module")
def ledgers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An empty ledger and a full one, for each test to copy."""
    made = {}
    for name in ("empty", "full"):
        made[name] = tmp_path_factory.mktemp(name) / "ledger.db"
        ledger = Ledger.open(made[name])
        if name == "full":
            seed(ledger)
        ledger.close()
    return made


@pytest.fixture
def context(tmp_path: Path, ledgers: dict[str, Path], request: pytest.FixtureRequest) -> Iterator[ServerContext]:
    """What a server shares; its ledger is the full one where the test asks for `seeded`."""
    shutil.copy(ledgers["full" if "seeded" in request.fixturenames else "empty"], tmp_path)
    made = context_for(tmp_path)
    yield made
    made.ledger.close()


@pytest.fixture
def seeded(context: ServerContext) -> list[str]:
    """The ids of the judged answers, oldest first."""
    return [f"answer-{day:02d}-{place:02d}" for day in range(9) for place in range(6)]


def page_at(context: ServerContext, path: str, *, status: int = 200, lang: str = "en") -> Page:
    answer = local_client(context).get(path, headers={"accept-language": lang, "accept": "text/html"})
    assert answer.status_code == status, answer.text
    return Page(answer.text)


def test_the_overview_names_the_criteria_that_the_mean_leaves_out(context: ServerContext, tmp_path: Path) -> None:
    assert "the mean leaves" not in page_at(context, "/monitor").text
    filled(tmp_path / "ledger.db", [answered(1, timestamp=NOW, evaluated_at=NOW)]).close()
    words = "no scores for Completeness, Sources cited: the mean leaves these criteria out"
    assert words in page_at(context, "/monitor").text


@pytest.mark.parametrize("lang", ["en", "fr"])
@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_there_empty_and_full_in_both_languages(
    context: ServerContext, ledgers: dict[str, Path], tmp_path: Path, path: str, lang: str
) -> None:
    empty = page_at(context, path, lang=lang)
    context.ledger.close()
    shutil.copy(ledgers["full"], tmp_path)
    filled = context_for(tmp_path)
    full = page_at(filled, path, lang=lang)
    filled.ledger.close()
    for page in (empty, full):
        assert page.all("html") == [{"lang": lang}]
        assert len(page.all("h1")) == 1
        assert page.all("main")[0]["id"] == "main"
        assert not re.search(r"\bNone\b(?!:| so)|Undefined|\$[a-z]", page.text)
    assert full.text != empty.text


@pytest.mark.parametrize("path", PAGES)
def test_a_page_holds_no_script_and_no_style_of_its_own(context: ServerContext, seeded: list[str], path: str) -> None:
    answer = local_client(context).get(path, headers={"accept": "text/html"})
    page = Page(answer.text)
    assert all(found.get("src", "").startswith("/static/") for found in page.all("script"))  # type: ignore[union-attr]
    assert not page.all("style")
    assert not [found for _, found in page.elements if "style" in found or any(name.startswith("on") for name in found)]
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "style-src 'self'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("path", PAGES)
def test_every_field_has_a_label_and_every_column_a_heading(context: ServerContext, seeded: list[str], path: str) -> None:
    page = page_at(context, path)
    labelled = {found["for"] for found in page.all("label")}
    for tag in ("input", "select"):
        for found in page.all(tag):
            assert found.get("type") == "hidden" or found["id"] in labelled
    assert all(found.get("scope") in ("col", "row") for found in page.all("th"))
    ids = [found["id"] for _, found in page.elements if "id" in found]
    assert len(ids) == len(set(ids))


def test_an_empty_ledger_says_so_and_shows_how_to_hand_over_a_first_answer(context: ServerContext) -> None:
    page = page_at(context, "/monitor")
    assert "No answer has been submitted" in page.text
    assert "Mean score" not in page.text
    shown = re.search(r"curl http://127\.0\.0\.1:8600(\S+) .* -d '(.*?)'", page.text)
    assert shown
    path, body = shown.groups()
    answer = local_client(context).post(path, content=body, headers={"content-type": "application/json"})
    assert answer.is_success, answer.text
    assert Evaluations(context.ledger).get("first")


def test_the_overview_tells_todays_figures_with_the_qualification_of_the_judges(
    context: ServerContext, seeded: list[str]
) -> None:
    page = page_at(context, "/monitor")
    assert "6 answers judged" in page.text
    assert "95% interval" in page.text
    assert "judges never examined" in page.text
    assert "oldest: 3 min" in page.text
    assert "1 alert could not be delivered" in page.text
    assert "1 without a heartbeat" in page.text
    assert "Accuracy" in page.text
    assert "EUR" in page.text


def test_no_mean_stands_without_the_qualification_of_the_judges(context: ServerContext, seeded: list[str]) -> None:
    page = page_at(context, "/monitor?period=7")
    for heading in ("Mean score", "By criterion", "Trend", "Distribution", "Variants compared", "Judge health"):
        after = page.text[page.text.index(heading) :]
        assert "never examined" in after[:400], heading
    html = local_client(context).get("/monitor?period=7&lang=en").text
    assert html.count('<span class="tag">judges never examined</span>') == 1  # in full once, a mark elsewhere


def test_an_unfit_judge_is_named_beside_the_figures_in_the_readers_language(context: ServerContext) -> None:
    at = NOW - timedelta(hours=1)
    reason = "a 135M model is too small to judge: its scores are not valid"
    context.ledger.create_run(run_of(NOW, unfit=reason), [])
    judged(context.ledger, "one", at, SAMPLES[0])
    english, french = page_at(context, "/monitor"), page_at(context, "/monitor", lang="fr")
    assert f"unfit judges: mistral ({reason})" in english.text
    assert "juges inaptes : mistral (un modèle de 135 millions de paramètres est trop petit pour juger" in french.text
    health = english.text[english.text.index("Judge health") :]
    assert health.index("controle") < health.index("never examined") < health.index("mistral") < health.index("unfit")


def test_a_poll_that_knows_the_figures_gets_nothing_and_another_one_gets_them(context: ServerContext, seeded: list[str]) -> None:
    client = local_client(context)
    page = Page(client.get("/monitor?period=7").text)
    poll = next(found["hx-get"] for found in page.all("div") if found.get("id") == "figures")
    assert poll
    assert client.get(poll).status_code == 204
    judged(context.ledger, "new", NOW - timedelta(minutes=1), SAMPLES[0])
    fresh = client.get(poll)
    assert fresh.status_code == 200
    assert 'hx-swap-oob="innerHTML"' in fresh.text
    assert "<html" not in fresh.text


@pytest.mark.parametrize(("query", "answers"), [("period=today", 6), ("period=7", 42), ("period=90", 54), ("period=nonsense", 6),
    ("from=2026-11-12&to=2026-11-13", 12), ("from=2026-11-19&to=bad", 12), ("from=2027-01-01&to=2026-01-01", 6),
    ("period=7&source=help-desk", 42), ("period=7&source=elsewhere", 0)])  # fmt: skip
def test_the_overview_covers_the_chosen_period_and_scope(
    context: ServerContext, seeded: list[str], query: str, answers: int
) -> None:
    assert f"{answers} answers judged" in page_at(context, f"/monitor?{query}").text


@pytest.mark.parametrize(("lang", "words"), [("en", "not sampled ("), ("fr", "hors échantillon (")])
def test_what_sampling_left_out_stands_beside_coverage(context: ServerContext, seeded: list[str], lang: str, words: str) -> None:
    assert words not in page_at(context, "/monitor", lang=lang).text
    given = [structs.replace(submission_of("Q ?", "A.", id=f"left-{number}"), answered_at=NOW) for number in range(4)]
    Intake(context.ledger, 0.0).submit(given)
    page = page_at(context, "/monitor", lang=lang)
    assert f"4 {words}" in page.text


def test_numbers_and_dates_have_the_readers_form(context: ServerContext, seeded: list[str]) -> None:
    english, french = page_at(context, "/monitor/answers"), page_at(context, "/monitor/answers", lang="fr")
    assert "20 Nov 2026, 14:10" in english.text
    assert "20 nov. 2026, 14:10" in french.text
    assert re.search(r"\d\.\d", english.text)
    assert not re.search(r"\d\.\d", french.text.replace("Areopage 0.1.0", ""))


def test_the_link_of_a_language_is_kept_in_a_cookie(context: ServerContext) -> None:
    client = local_client(context)
    assert '<html lang="fr">' in client.get("/monitor/answers?q=x&lang=fr", headers={"accept-language": "en"}).text
    page = client.get("/monitor/answers?q=x", headers={"accept-language": "en"}).text
    assert '<html lang="fr">' in page
    assert "/monitor/answers?q=x&amp;lang=en" in page
    assert '<html lang="en">' in client.get("/monitor?lang=en").text


def test_the_language_is_the_browsers_first_that_there_is(context: ServerContext) -> None:
    assert page_at(context, "/monitor", lang="de, fr;q=0.8, en;q=0.5").all("html") == [{"lang": "fr"}]
    assert page_at(context, "/monitor", lang="de;q=x, ja").all("html") == [{"lang": "en"}]
    assert page_at(context, "/monitor", lang="fr;q=0, en").all("html") == [{"lang": "en"}]


def rows_of(page: Page) -> list[str]:
    links = [found["href"] or "" for found in page.all("a") if found.get("href")]
    return [link for link in links if link.startswith("/monitor/answers/")]


def paths_of(page: Page) -> list[str]:
    """The answers of a list, without what their links keep of its filters."""
    return [link.partition("?")[0] for link in rows_of(page)]


def test_an_answer_leads_to_its_neighbours_in_the_list_that_it_was_opened_from(context: ServerContext, seeded: list[str]) -> None:
    page = page_at(context, "/monitor/answers?grade=weak&period=30")
    first, second, third = paths_of(page)[:3]
    opened = next(found["href"] or "" for found in page.all("a") if (found.get("href") or "").startswith(second))
    assert "grade=weak" in opened and "period=30" in opened
    found = page_at(context, opened).all("a")
    links = {link["rel"]: (link["href"] or "").partition("?") for link in found if link.get("rel") in ("prev", "next")}
    kept = opened.partition("?")[2]
    assert links == {"prev": (first, "?", kept), "next": (third, "?", kept)}


def test_the_weakest_answers_are_not_excellent_where_there_are_others(context: ServerContext) -> None:
    context.ledger.create_run(run_of(NOW), [])
    judged(context.ledger, "good", NOW, Sample("Q", "R", "D", (10.0, 10.0, 10.0, 10.0), "", ""))
    judged(context.ledger, "weak", NOW, Sample("Q", "R", "D", (1.0, 1.0, 1.0, 1.0), "", ""))
    links = page_at(context, "/monitor").all("a")
    assert [link["href"] for link in links if (link.get("id") or "").startswith("worst-")] == ["/monitor/answers/weak"]


@pytest.mark.parametrize(("query", "resets"), [("period=7", 0), ("variant=A", 1), ("from=2026-11-01", 1)])
def test_filters_of_the_overview_can_be_reset(context: ServerContext, seeded: list[str], query: str, resets: int) -> None:
    links = page_at(context, f"/monitor?{query}").all("a")
    assert sum(link.get("href") == "/monitor" and link.get("class") == "button" for link in links) == resets


def test_the_list_goes_page_by_page_from_the_newest_to_the_oldest(context: ServerContext, seeded: list[str]) -> None:
    first = page_at(context, "/monitor/answers")
    older = next(found["href"] for found in first.all("a") if found.get("id") == "older")
    assert older
    second = page_at(context, older)
    assert rows_of(first) + rows_of(second) == [f"/monitor/answers/{id}" for id in reversed(seeded)]
    assert "No older answers." in second.text


def test_filters_combine(context: ServerContext, seeded: list[str]) -> None:
    weak = paths_of(page_at(context, "/monitor/answers?grade=weak"))
    assert 0 < len(weak) < 54
    words = paths_of(page_at(context, "/monitor/answers?grade=weak&q=rétractation"))
    assert 0 < len(words) <= len(weak)
    today = paths_of(page_at(context, "/monitor/answers?grade=weak&q=rétractation&period=today"))
    assert 0 < len(today) < len(words)
    assert set(today) < set(words) <= set(weak)
    by_format = paths_of(page_at(context, "/monitor/answers?grade=weak&criterion=quality.answer.format&period=7"))
    assert by_format
    assert len(by_format) > len(paths_of(page_at(context, "/monitor/answers?grade=weak&period=7")))
    both = [len(paths_of(page_at(context, f"/monitor/answers?variant={variant}&period=7"))) for variant in ("A", "B")]
    assert sum(both) == 42
    assert not paths_of(page_at(context, "/monitor/answers?source=elsewhere"))
    assert "No answer matches these filters" in page_at(context, "/monitor/answers?source=elsewhere").text


def test_the_variant_that_others_are_compared_with_is_chosen_on_the_page(context: ServerContext, seeded: list[str]) -> None:
    first = local_client(context).get("/monitor?period=7").text
    assert "Against B" in first and "baseline=A#variants" in first  # B has more answers
    chosen = local_client(context).get("/monitor?period=7&baseline=A").text
    assert "Against A" in chosen and 'name="baseline" value="A"' in chosen
    assert "Against B" in page_at(context, "/monitor?period=7&baseline=nobody").text


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_a_day_outside_of_the_calendar_of_answers_is_ignored(context: ServerContext, seeded: list[str], day: str) -> None:
    for name in ("from", "to"):
        shown = page_at(context, f"/monitor?from=2026-11-01&to=2026-11-20&{name}={day}")
        assert f"“{day}”" in shown.text


def test_nonsense_in_the_address_of_the_list_is_left_out(context: ServerContext, seeded: list[str]) -> None:
    for query in (
        "before=x",
        "before=-1",
        "before=" + "9" * 40,
        "grade=best",
        "q=%00%22*%29OR",
        "criterion=%F0%9F%98%80",
        "period=",
    ):
        page_at(context, f"/monitor/answers?{query}")


@pytest.mark.parametrize("path", ["/monitor", "/monitor/answers"])
@pytest.mark.parametrize(
    ("query", "english", "french"),
    [
        ("from=abc", "Ignored: “abc” is not a valid value of “From”.", "Ignoré : « abc » n’est pas une valeur valide de « Du »."),
        ("from=2026-11-01&to=soon", "“soon” is not a valid value of “To”.", "« soon » n’est pas une valeur valide de « Au »."),
        ("to=2026-11-01", "Ignored: “To” needs “From”.", "Ignoré : « Au » demande « Du »."),
        (
            "from=2027-01-01&to=2026-01-01",
            "Ignored: “To” is before “From”.",
            "Ignoré : « Au » précède « Du ».",
        ),
        ("days=30", "Ignored: this page has no filter “days”.", "Ignoré : cette page n’a pas de filtre « days »."),
        ("period=decade", "“decade” is not a valid value of “Period”.", "« decade » n’est pas une valeur valide de « Période »."),
        ("grade=best", "“best” is not a valid value of “Grade”.", "« best » n’est pas une valeur valide de « Niveau »."),
        (
            "criterion=%F0%9F%98%80",
            "“😀” is not a valid value of “Criterion”.",
            "« 😀 » n’est pas une valeur valide de « Critère ».",
        ),
        (
            "from=0001-01-01",
            "“0001-01-01” is not a valid value of “From”.",
            "« 0001-01-01 » n’est pas une valeur valide de « Du ».",
        ),
        (
            "from=1975-01-01&to=2026-11-20",
            "Ignored: a period has at most 3,660 days.",
            "Ignoré : une période compte au plus 3 660 jours.",
        ),
        ("before=x", "“x” is not a valid value of “Position in the list”.", "« x » n’est pas une valeur valide de « Position"),
        ("from=&to=&grade=&criterion=&period=7&source=*&variant=*&q=", "", ""),
    ],
)
def test_a_filter_that_is_ignored_is_named(
    context: ServerContext, seeded: list[str], path: str, query: str, english: str, french: str
) -> None:
    for lang, said in (("en", english), ("fr", french)):
        text = page_at(context, f"{path}?{query}", lang=lang).text.replace("\xa0", " ").replace("\u202f", " ")
        assert said in text
        assert (text.count("Ignored:") + text.count("Ignoré :")) == bool(said)


def test_the_filters_in_use_stand_in_their_fields(context: ServerContext, seeded: list[str]) -> None:
    page = page_at(context, '/monitor/answers?q="congés"&grade=acceptable&from=2026-11-12&to=2026-11-14')
    values = {found["id"]: found.get("value") for found in page.all("input") if "id" in found}
    assert values == {"q": '"congés"', "from": "2026-11-12", "to": "2026-11-14"}
    assert [found["value"] for found in page.all("option") if "selected" in found] == ["acceptable"]


def test_an_answers_page_shows_everything_that_is_known_of_it(context: ServerContext, seeded: list[str]) -> None:
    page = page_at(context, f"/monitor/answers/{WEAK_ID}")
    for expected in (
        "Quel est le délai de rétractation",
        "quelques jours",
        "dix jours pour se rétracter",  # the document
        "Réponse vague",  # feedback
        "Citer l’article.",
        "Le délai de dix jours",
        "never examined",
        "I think this is fine.",  # the raw text of the attempt that failed
        "no JSON in the answer",
        "attempt 2",
        "repaired by rules",
        "740 in, 106 out",
        "3.5 s",
        "Claire",
        "(replaced later)",
        "Weak answer: Accuracy 3.0 of 10; Sources cited 0.5 of 10",  # the alert is stored in French
        "not a literal quotation of the answer",
        "all judges: 0.5",
        "undeliverable",
        "Reviewed.",
        "8 of 8 produced a score",
    ):
        assert expected in page.text, expected
    assert f"/review/{WEAK_ID}" in [found.get("href") for found in page.all("a")]


def test_the_first_pass_of_a_judge_is_called_pass_1(context: ServerContext, seeded: list[str]) -> None:
    page = page_at(context, f"/monitor/answers/{seeded[-1]}").text
    assert "pass 1" in page and "pass 2" not in page


def test_reading_an_answer_is_noted(context: ServerContext, seeded: list[str]) -> None:
    page_at(context, f"/monitor/answers/{seeded[0]}")
    page_at(context, "/monitor/answers/unknown", status=404)
    assert [(entry.actor, entry.action, entry.subject) for entry in Audit(context.ledger).list()] == [
        ("local", "read", seeded[0])
    ]


@pytest.mark.parametrize(
    "id", ["a/b", "a b?c#d", "é — «x»", "..", ".", "a/../b", "100 %", "a&b=c+d", "x\\y", "'\"<script>", "//evil"]
)
def test_an_id_may_hold_any_printable_characters(context: ServerContext, id: str) -> None:
    context.ledger.create_run(run_of(NOW), [])
    judged(context.ledger, id, NOW, SAMPLES[0])
    client = local_client(context)
    link = rows_of(Page(client.get("/monitor/answers").text))[0]
    page = Page(client.get(link, headers={"accept": "text/html", "accept-language": "en"}).text)
    assert "2,5 jours ouvrables" in page.text
    other = next(found["href"] for found in page.all("a") if found.get("hreflang") == "fr")
    assert other
    assert "2,5 jours ouvrables" in client.get(other).text
    assert Audit(context.ledger).list()[0].subject == id


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_an_unknown_answer_is_not_found_and_an_erased_one_has_no_texts(
    context: ServerContext, seeded: list[str], lang: str
) -> None:
    words = "Answer not found" if lang == "en" else "Réponse introuvable"
    assert words in page_at(context, "/monitor/answers/unknown", status=404, lang=lang).text
    context.ledger.erasure.erase([seeded[0], "waiting-1"])
    for id in (seeded[0], "waiting-1"):
        page = page_at(context, f"/monitor/answers/{id}", lang=lang)
        assert ("texts erased" if lang == "en" else "textes effacés") in page.text
        assert "indivision" not in page.text
    page_at(context, "/monitor/answers/%ED%A0%80%00", status=404)


def test_an_answer_that_is_not_judged_shows_how_far_it_is(context: ServerContext, seeded: list[str]) -> None:
    waiting = page_at(context, "/monitor/answers/waiting-1")
    assert "waits for a worker" in waiting.text
    failed = page_at(context, "/monitor/answers/failed-1")
    assert "failed" in failed.text
    assert "no answer in 60 s" in failed.text


def test_an_answer_without_a_score_says_why_and_shows_no_number(context: ServerContext, seeded: list[str]) -> None:
    score = Evaluations(context.ledger).get(seeded[0])
    assert score
    unscored = msgspec.structs.replace(
        score,
        id="waiting-1",
        score_global=None,
        grade="unscored",
        reason="format: no judge gave a score",
        criteria=tuple(msgspec.structs.replace(one, score=None, grade="unscored", agreement=None) for one in score.criteria),
    )
    Evaluations(context.ledger).finish(unscored, [])
    page = page_at(context, "/monitor/answers/waiting-1")
    assert "no judge gave a score" in page.text
    assert "unscored" in page.text
    assert not re.search(r"(?<![\d.])0\.0\b", page.text)


@pytest.mark.parametrize(
    ("lang", "words", "count"), [("en", "not applicable", "1 not applicable"), ("fr", "sans objet", "1 sans objet")]
)
def test_a_criterion_that_does_not_apply_is_told_with_the_judges_reason(
    context: ServerContext, seeded: list[str], lang: str, words: str, count: str
) -> None:
    evaluations = Evaluations(context.ledger)
    score = evaluations.get(seeded[0])
    assert score
    first = msgspec.structs.replace(score.criteria[0], score=None, grade="not_applicable", agreement=None)
    found = msgspec.structs.replace(score, id="waiting-1", criteria=(first, *score.criteria[1:]), scored=7, not_applicable=1)
    said = Verdict(criterion=f"{first.criterion}__v1_0", outcome=NotApplicable(explanation="Nobody asks for a source."))
    judgment = judgments_of("waiting-1", NOW, {first.criterion: 1.0}, SAMPLES[0], "{}")[-1]
    context.ledger.append([msgspec.structs.replace(judgment, verdicts=(said,))])
    evaluations.finish(found, [judgment.key])
    page = page_at(context, "/monitor/answers/waiting-1", lang=lang)
    assert page.text.count(words) >= 3 and count in page.text
    assert "Nobody asks for a source." in page.text
    stored = evaluations.get("waiting-1")
    assert stored and (stored.criteria[0].grade, stored.not_applicable) == ("not_applicable", 1)


def test_alerts_are_in_the_readers_language_whatever_language_they_are_stored_in(
    context: ServerContext, seeded: list[str]
) -> None:
    english, french = page_at(context, "/monitor/alerts").text, page_at(context, "/monitor/alerts", lang="fr").text
    joined = " ".join(english.split())
    assert "Weak answer: Accuracy" in joined and "Sources cited 0.5 of 10 Question: Quel est le délai" in joined
    assert "Réponse faible" not in english and "Réponse faible : 2,10" in french
    mean = english[english.index("Mean") :]
    assert mean.index("Stored in French") < mean.index("Score moyen sous le seuil")  # its figures are not stored
    assert "Texte conservé" not in french


@pytest.mark.parametrize(
    ("scores", "shown"), [((1.0, 0.0, 0.0), ((0.0, 1.0), 0.0)), ((2.0, 2.0), ((2.0, 2.0), None)), ((1.0,), (None, None))]
)
def test_the_agreement_of_judges_is_shown_with_their_scores(scores: tuple[float, ...], shown: tuple[Any, Any]) -> None:
    said = tuple(JudgeRemark(judge="a", outcome="scored", score=one, explanation="", evidence=(), reason="") for one in scores)
    view = CriterionView(criterion="x", label="X", score=0.0, grade="weak", agreement=0.0, said=said)
    assert (view.judges_range, view.shown_agreement) == shown


def test_an_undeliverable_alert_stands_out_with_its_error(context: ServerContext, seeded: list[str]) -> None:
    page = page_at(context, "/monitor/alerts")
    assert any(found.get("role") == "alert" for found in page.all("div"))
    assert "mailto: connection refused" in page.text
    assert "2 open alerts" in page.text
    past = page.text[page.text.index("Past alerts") :]
    assert "La file prend du retard" in past
    assert "delivered" in past


@pytest.fixture
def storm(context: ServerContext) -> ServerContext:
    """One alert of the mean, then 230 of single answers."""
    alerts = Alerts(context.ledger)
    alerts.open(new_alert("mean", "all", "The mean is poor", "", NOW, "none"))
    for number in range(230):
        alerts.open(new_alert("answer", f"a{number}", f"Weak {number}", f"Question: Why {number}?", NOW, "none", answer_id="x"))
    return context


def test_a_row_of_a_single_answer_shows_its_source_and_when_it_was_given(context: ServerContext, seeded: list[str]) -> None:
    assert re.search(r"Source: .{1,40} · answered on \d+ \w+ \d{4}", page_at(context, "/monitor/alerts").text)


def test_every_place_counts_the_same_open_alerts(storm: ServerContext) -> None:
    assert "231 open alerts" in page_at(storm, "/monitor/alerts").text
    Intake(storm.ledger).submit([submission_of("Why?", "So.", id="w1", source="bot")])
    assert "231 open alerts" in page_at(storm, "/monitor").text
    found = local_client(storm).get("/v1/alerts?limit=5").json()
    assert found["open"] == {"answer": 230, "mean": 1} and len(found["items"]) == 5
    older = local_client(storm).get(f"/v1/alerts?limit=5&before={found['next']}").json()["items"]
    assert older[0]["number"] == found["items"][-1]["number"] - 1


def test_a_storm_of_weak_answers_hides_no_other_alert(storm: ServerContext) -> None:
    first = page_at(storm, "/monitor/alerts").text
    assert first.index("The mean is poor") < first.index("Weak 229") and "Question: Why 229?" in first
    assert "Page 1 of 3" in first and "Weak 0" in page_at(storm, "/monitor/alerts?page=3").text
    only = page_at(storm, "/monitor/alerts?rule=mean").text
    assert "The mean is poor" in only and "Weak 229" not in only
    assert [one["rule"] for one in local_client(storm).get("/v1/alerts?rule=mean").json()["items"]] == ["mean"]
    assert local_client(storm).get("/v1/alerts?rule=none").status_code == 422
    assert "none" in page_at(storm, "/monitor/alerts?rule=none").text


def test_the_page_lists_an_incident_under_its_alert_and_counts_all_of_it(storm: ServerContext) -> None:
    alerts = Alerts(storm.ledger)
    (head,) = alerts.list(state="open", rule="mean")
    single = alerts.list(state="open", rule="answer", limit=200)
    alerts.join([one.number for one in single], head.number, NOW)
    page = page_at(storm, "/monitor/alerts").text
    assert "231 open alerts" in page and "200 further alerts of this incident" in page and "Page 1 of 1" not in page
    assert "Weak answers 200" in page and f"Weak {single[0].subject[1:]}?" not in page
    assert "Page 1 of 3" in page_at(storm, f"/monitor/alerts?incident={head.number}").text
    assert "200 autres alertes de cet incident" in page_at(storm, "/monitor/alerts", lang="fr").text
    items = local_client(storm).get(f"/v1/alerts?incident={head.number}&limit=1000").json()["items"]
    assert len(items) == 201 and {one["incident"] for one in items} == {0, head.number}


def test_the_page_says_where_nobody_is_told_of_alerts(context: ServerContext) -> None:
    assert "No recipient for alerts" in page_at(context, "/monitor/alerts").text


def test_an_answer_that_was_given_up_can_be_tried_again(context: ServerContext, seeded: list[str]) -> None:
    client = local_client(context)
    page = Page(client.get("/monitor/queue").text)
    assert "no answer in 60 s" in page.text
    fields = {found["name"] or "": found.get("value") or "" for found in page.all("input")}
    answer = client.post("/monitor/queue/retry", data=fields, follow_redirects=False)
    assert answer.status_code == 303
    assert Evaluations(context.ledger).backlog().failed == 0
    again = Evaluations(context.ledger).get("failed-1")
    assert again
    assert again.state == "waiting"
    assert client.post("/monitor/queue/retry", data={"id": "failed-1"}).status_code == 403, "without the page's token"


def test_the_queue_says_what_waits_and_why(context: ServerContext, seeded: list[str]) -> None:
    Evaluations(context.ledger).note_failure("waiting-1", "mistral: HTTP 500: boom")
    page = page_at(context, "/monitor/queue")
    assert "HTTP 500: boom" in page.text and any(link.get("href") == "/monitor/answers/waiting-1" for link in page.all("a"))


def test_losses_of_hooks_are_on_the_queue_page_and_in_the_metrics(context: ServerContext) -> None:
    Spool(context.config.monitor.spool).lose("bot: the answer is not found", "not_found")
    assert "A hook could not submit 1 answer" in page_at(context, "/monitor/queue").text
    assert 'areopage_hook_lost{why="not_found"} 1.0' in local_client(context).get("/metrics").text


def test_losses_and_doubts_of_hooks_stand_beside_coverage_and_on_the_queue_page(
    context: ServerContext, seeded: list[str]
) -> None:
    before = page_at(context, "/monitor").text
    hook = Spool(context.config.monitor.spool)
    for _ in range(30):
        hook.lose("reply: it raised ValueError", "failed", "help-desk")
    hook.doubt("placeholder", "reply", "answer-1", "help-desk")
    HookCarrier(context.config.monitor.spool, context.ledger).carry()
    with context.ledger.engine.begin() as connection:
        connection.execute(text("UPDATE hook_counts SET hour = :hour"), {"hour": NOW.replace(tzinfo=None).isoformat(" ")})
    page = page_at(context, "/monitor")
    assert "30 answers lost by hooks" in page.text and "1 doubt about what hooks recorded" in page.text
    assert "lost by hooks" not in before
    assert "30 réponses perdues par les connecteurs" in page_at(context, "/monitor", lang="fr").text
    queue = page_at(context, "/monitor/queue")
    assert "the bot failed (30)" in queue.text and "a placeholder such as [message] (1)" in queue.text
    assert any(link.get("href") == "/monitor/answers/answer-1" for link in queue.all("a"))


def test_who_may_only_read_is_shown_no_button_and_refused(context: ServerContext, seeded: list[str]) -> None:
    _, key = ApiKeys(context.ledger).create("reader", "read")
    client = local_client(context)
    page = Page(client.get("/monitor/queue", headers={"authorization": f"Bearer {key}"}).text)
    assert "no answer in 60 s" in page.text
    assert "Retry" not in page.text
    refused = client.post("/monitor/queue/retry", data={"id": "failed-1"}, headers={"authorization": f"Bearer {key}"})
    assert refused.status_code == 403
    assert Evaluations(context.ledger).backlog().failed == 1


@pytest.mark.parametrize("path", [*PAGES, "/monitor/figures", "/monitor/answers/answer-00-00"])
def test_without_a_key_nothing_is_shown_where_there_are_keys(context: ServerContext, seeded: list[str], path: str) -> None:
    ApiKeys(context.ledger).create("reader", "read")
    answer = local_client(context).get(path, headers={"accept": "text/html"}, follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/login?next={quote(path, safe='')}"


def test_rounds_of_golden_questions_show_their_means_and_verdicts(context: ServerContext, seeded: list[str]) -> None:
    page = page_at(context, "/monitor/golden", lang="fr")
    assert "8,10" in page.text
    assert "baisse" in page.text
    assert "−0,82" in page.text
    assert "Aucune question étalon n’est configurée" in page.text
    assert any(found.get("role") == "img" for found in page.all("svg"))


@pytest.mark.parametrize(
    ("language", "title", "short"),
    [
        ("en", "How far can you trust these scores?", "The mean score is 6.32 on a scale from 0 to 10"),
        ("fr", "Jusqu’où pouvez-vous vous fier à ces scores ?", "Le score moyen est de 6,32 sur une échelle de 0 à 10"),
    ],
)
def test_the_overview_leads_to_how_far_its_scores_can_be_trusted(
    context: ServerContext, seeded: list[str], language: str, title: str, short: str
) -> None:
    overview = page_at(context, "/monitor?period=7", lang=language)
    (address,) = [found["href"] for found in overview.all("a") if (found.get("href") or "").startswith("/trust?")]
    assert address is not None and title in overview.text
    page = page_at(context, address, lang=language)
    assert title in page.text and short in page.text and "areopage review fill" in page.text
    assert f"areopage qualify {context.suite.name} --judge mistral=ollama:mistral-small" in page.text
    mean = local_client(context).get("/v1/figures?days=7").json()["overall"]["mean"]
    assert round(mean["mean"], 2) == 6.32 and f"n = {mean['answers']} " in page.text


def test_the_button_accepts_a_new_level_with_a_note_and_only_with_the_token_of_the_page(context: ServerContext) -> None:
    Alerts(context.ledger).open(new_alert("drop", "*", "Quality fell", "since Monday", NOW, "none"))
    client = local_client(context)
    page = Page(client.get("/monitor/alerts", headers={"accept-language": "en"}).text)
    assert "Accept the new level" in page.text
    assert "Accepter le nouveau niveau" in Page(client.get("/monitor/alerts", headers={"accept-language": "fr"}).text).text
    fields = {str(field["name"]): str(field.get("value", "")) for field in page.all("input") if field.get("name")}

    def send(**changed: str) -> int:
        origin = {"origin": "http://127.0.0.1:8600"}
        reply = client.post("/monitor/alerts/accept", data=fields | changed, headers=origin, follow_redirects=False)
        return reply.status_code

    assert send(note="cheaper model", csrf="x") == 403
    assert send(note=" ") == 422
    assert Alerts(context.ledger).list(state="open", rule="drop")
    assert send(note="cheaper model") == 303
    (closed,) = Alerts(context.ledger).list(state="closed", rule="drop")
    assert closed.accepted_note == "cheaper model" and closed.accepted_by
    assert any("cheaper model" in entry.detail for entry in Audit(context.ledger).list())
    assert "Accept the new level" not in client.get("/monitor/alerts", headers={"accept-language": "en"}).text
    assert send(note="again") == 409
