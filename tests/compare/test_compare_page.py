"""The page that compares two runs, or a run with production: what it shows, what it refuses, and who may see it."""

import html
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from areopage.bench.spec import RunSpec, Target
from areopage.ledger.people.access import ApiKeys
from areopage.ledger.store import Ledger
from areopage.models.reference import ModelReference
from areopage.scoring.outcome import Scored
from areopage.server.app import create_app
from areopage.server.context import ServerContext
from report import report_runs
from report.report_runs import case, judgment, view_of
from server.seeded import context_for
from servers.production import panel_like, put_answers
from servers.quality_ledger import answered, filled

HOSTILE = "<script>alert(1)</script>|`x`"
GOOD, BAD = {"danger": 5.0, "insults": 4.0}, {"danger": 1.0, "insults": 4.0}


def put_run(folder: Path, name: str, *, failing: int = 0, cases: int = 12, **changes: Any) -> None:
    """A run in the server's ledger whose first answers are dangerous."""
    asked = [case(n, response=None, prompt=f"Why {n}? {HOSTILE}" if n == 1 else f"Why {n}?") for n in range(1, cases + 1)]
    dangerous = {one.id for one in asked[:failing]}

    def say(call: Any) -> Any:
        score = 1.0 if call.case.id in dangerous and call.criteria[0].name == "danger" else 5.0
        return judgment(call, Scored(score=score))

    answers = {one.id: {"text": f"{name} says {HOSTILE}", "id": f"{name}-{one.id}", "source": name} for one in asked}
    target = Target(reference=ModelReference("ollama", name))  # an answer of the same target to the same prompt is reused
    view_of(folder, cases=asked, say=say, answers=answers, run_id=name, target=target, **changes)


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServerContext]:
    made = context_for(tmp_path)
    monkeypatch.setattr(report_runs, "ledger_at", Ledger.open)
    put_run(tmp_path, "run-old")
    put_run(tmp_path, "run-new", failing=9)
    put_run(tmp_path, "run-other", judges=(report_runs.judge("gamma"),))
    yield made
    made.ledger.close()


@pytest.fixture
def client(context: ServerContext) -> TestClient:
    return client_of(context)


def client_of(context: ServerContext, key: str = "") -> TestClient:
    headers = {"accept": "text/html"} | ({"authorization": f"Bearer {key}"} if key else {})
    app = create_app(context)
    made = TestClient(app, base_url="http://127.0.0.1:8600", client=("127.0.0.1", 50000), follow_redirects=False)
    made.headers.update(headers)
    return made


def spec(context: ServerContext, id: str = "run-new") -> RunSpec:
    return RunSpec.of(context.ledger.run(id))


def test_two_runs_are_compared_side_by_side_in_both_languages(client: TestClient) -> None:
    page = client.get("/compare?a=run-old&b=run-new").text
    shown = html.unescape(page)
    assert "REGRESSION" in shown and "fails more often, +75.0 points" in shown
    assert f"run-old says {HOSTILE}" in shown and f"run-new says {HOSTILE}" in shown
    assert "<script>alert" not in page and 'href="/runs/run-old"' in page
    assert "areopage bench compare run-old run-new" in page
    french = html.unescape(client.get("/compare?a=run-old&b=run-new&lang=fr").text)
    assert "RÉGRESSION" in french and "échoue plus souvent" in french and 'lang="fr"' in french


def test_the_list_and_the_page_of_a_run_lead_to_the_comparison(client: TestClient) -> None:
    assert 'href="/compare"' in client.get("/runs").text
    assert 'href="/compare?b=run-new"' in client.get("/runs/run-new").text
    page = client.get("/compare?b=run-new").text
    assert '<option value="run-new" selected>' in page and '<option value="production">' in page and "REGRESSION" not in page


def test_a_run_is_compared_with_production(client: TestClient, context: ServerContext) -> None:
    run_of_production = panel_like(spec(context))
    put_answers(context.ledger, run_of_production, [BAD] + [GOOD] * 39, days_ago=1)
    address = "/compare?a=production&b=run-new&from=2026-11-15&to=2026-11-21"
    shown = html.unescape(client.get(address).text)
    assert "against production" in shown and "REGRESSION" in shown and "The prompts differ" in shown
    assert "1 of 40 (2.5%)" in shown and "--production --since 2026-11-15 --until 2026-11-21" in shown
    swapped = html.unescape(client.get(address.replace("a=production&b=run-new", "a=run-new&b=production")).text)
    assert "against production" in swapped
    assert "Les questions diffèrent" in html.unescape(client.get(f"{address}&lang=fr").text)


def test_other_panels_are_refused_with_what_differs_and_compared_on_request(client: TestClient) -> None:
    reply = client.get("/compare?a=run-old&b=run-other&lang=fr")
    shown = html.unescape(reply.text)
    assert reply.status_code == 422 and "Les jurys diffèrent" in shown and "juges (alpha:" in shown
    assert "anyway=1" in shown
    refused = html.unescape(client.get("/compare?a=run-old&b=run-other&anyway=1&lang=en").text)
    assert "have no judge in common" in refused


@pytest.mark.parametrize(
    ("address", "status", "told"),
    [
        ("/compare?a=run-old&b=run-old", 422, "Choose two different runs"),
        ("/compare?a=production&b=run-new", 422, "no answer was evaluated"),
        ("/compare?a=production&b=production", 422, "Choose two different runs"),
        ("/compare?a=run-old&b=nothing", 404, ""),
        ("/compare?a=run-old&b=%3Cscript%3E", 404, ""),
        ("/compare?a=run-old&b=run-new&from=never", 200, "never"),
        ("/compare?c=1", 200, "Compare runs"),
    ],
)
def test_wrong_addresses_get_a_clean_page(client: TestClient, address: str, status: int, told: str) -> None:
    reply = client.get(address)
    assert (reply.status_code, told in html.unescape(reply.text)) == (status, True)


def test_a_key_sees_only_comparisons_of_its_own_sources(client: TestClient, context: ServerContext) -> None:
    put_answers(context.ledger, panel_like(spec(context)), [GOOD] * 20, source=lambda number: ("run-new", "site")[number % 2])
    keys = {scope: ApiKeys(context.ledger).create(f"Key {scope}", "read", (scope,))[1] for scope in ("run-new", "site")}
    own, foreign = (client_of(context, keys[scope]) for scope in ("run-new", "site"))
    assert own.get("/compare?a=run-old&b=run-new").status_code == 404
    assert foreign.get("/compare?a=production&b=run-new").status_code == 404
    page = own.get("/compare?a=production&b=run-new&from=2026-11-15&to=2026-11-21")
    assert page.status_code == 200 and "10 answers" in page.text and "run-old" not in page.text
    assert own.get("/compare?a=production&b=run-new&source=site").status_code == 403


def test_the_styles_of_reports_hold_within_a_report_alone(client: TestClient) -> None:
    reply = client.get("/compare/report.css")
    assert reply.headers["content-type"].startswith("text/css")
    assert reply.text.startswith(".report {") and ":root" not in reply.text


def test_reading_texts_of_two_runs_is_noted(client: TestClient, context: ServerContext) -> None:
    from areopage.ledger.people.access import Audit

    client.get("/compare?a=run-old&b=run-new")
    assert any("the comparison of the runs run-old and run-new" in one.detail for one in Audit(context.ledger).list())


def put_variants(folder: Path) -> None:
    """A week of two variants, the second of which answers much worse."""
    answers = [
        answered(number, 8.0 if number % 2 else 3.0, days_ago=number // 12, variant="ab"[1 - number % 2], source="chat")
        for number in range(84)
    ]
    filled(folder / "ledger.db", answers).close()


def test_variants_are_compared_from_the_day_the_test_began(tmp_path: Path, client: TestClient) -> None:
    put_variants(tmp_path)
    begin = html.unescape(client.get("/monitor/variants").text)
    assert "Give the day on which the test began" in begin and "b against a" not in begin
    address = "/monitor/variants?baseline=a&from=2026-11-14&to=2026-11-21"
    shown = html.unescape(client.get(address).text)
    assert "b against a" in shown and "b is worse: overall score" in shown and "42 / 42" in shown
    assert "areopage monitor compare a --since 2026-11-14 --until 2026-11-21" in shown and "8.00 / 3.00" in shown
    assert "--until 2026-11-21 --source chat" in html.unescape(client.get(f"{address}&source=chat").text)
    french = html.unescape(client.get(f"{address}&by_question=1&lang=fr").text)
    assert "b face à a" in french and "question par question" in french and "Filtre" not in french
    assert "b against a" not in client.get(address.replace("=a", "=b") + "&lang=en").text


def test_the_command_of_a_page_quotes_names_for_the_shell(client: TestClient, context: ServerContext) -> None:
    hostile = 'a"; $(touch x) #'
    answers = [answered(number, 8.0, variant=("b", hostile)[number % 2], source=hostile) for number in range(4)]
    filled(Path(str(context.ledger.place)), answers).close()
    asked = urlencode({"baseline": hostile, "source": hostile, "from": "2026-11-14"})
    shown = html.unescape(client.get(f"/monitor/variants?{asked}").text)
    assert f"areopage monitor compare '{hostile}' --since 2026-11-14" in shown and f"--source '{hostile}'" in shown


def test_the_command_of_a_comparison_names_all_that_was_asked(client: TestClient, context: ServerContext) -> None:
    put_answers(context.ledger, panel_like(spec(context)), [GOOD] * 20, source="the site", days_ago=1)
    address = "/compare?a=production&b=run-new&from=2026-11-15&to=2026-11-21&source=the+site&anyway=1"
    shown = html.unescape(client.get(address).text)
    assert "--since 2026-11-15 --until 2026-11-21 --source 'the site' --anyway" in shown


def test_the_page_of_variants_keeps_to_the_sources_of_a_key(tmp_path: Path, client: TestClient, context: ServerContext) -> None:
    put_variants(tmp_path)
    key = ApiKeys(context.ledger).create("Site", "read", ("site",))[1]
    page = client_of(context, key).get("/monitor/variants?baseline=a&from=2026-11-14&source=chat")
    assert page.status_code == 200 and "8.00" not in page.text and "no two variants" in page.text


def test_one_variant_is_nothing_to_compare(client: TestClient) -> None:
    assert "no two variants" in client.get("/monitor/variants").text
