"""Every way on which texts of answers leave the ledger: which policy holds there, and whether the audit log notes it."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import click
import pytest
from fastapi.routing import APIRoute

from areopage.app.monitor import write_scheduled_reports
from areopage.cases.records import Case
from areopage.cli.main import LazyGroup
from areopage.cli.main import app as command_tree
from areopage.ledger.people.access import ApiKeys, Audit
from areopage.ledger.people.labels import Labels, ReviewQueue
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Answer, Label, ReviewItem
from areopage.ledger.write.alerts import Alerts
from areopage.ledger.write.evaluations import Evaluations
from areopage.ledger.write.traces import Traces
from areopage.monitor.alerts.deliver import AlertMessage, SentAlert
from areopage.monitor.alerts.jobs import due_answer_alert, open_alerting, send_due
from areopage.review.label import Given, Settlement, review_answer
from areopage.server.app import routers
from areopage.server.context import ServerContext
from servers import gate_answers
from servers.command import Command
from servers.configured import monitor_config, write_config

from .samples import Sample
from .seeded import NOW, context_for, judged, local_client, run_of

WORD, IBAN, MAIL = "Xylophage", "FR76 3000 6000 0112 3456 7890 189", "jean.dupont@exemple.fr"
SAID = f"{WORD} {IBAN} {MAIL}"
HELD, RELEASED = f"{1:032x}", f"{2:032x}"

WHOLE = {
    "/v1/evaluations": "",
    "/v1/evaluations/{id:path}": "weak",
    "/v1/traces": "",
    "/v1/traces/{id}": HELD,
    "/v1/debug/latest": f"?question={SAID} ?",
    "/v1/chat/held/{id}": RELEASED,
    "/monitor/answers": "",
    "/monitor/answers/{id:path}": "weak",
    "/monitor/queue": "",
    "/review": "",
    "/review/": "?id=weak",
    "/disagreements": "",
    "/v1/review/disagreements": "",
    "/review/{id:path}": "weak",
    "/gate": "?period=all",
    "/gate/{id}": HELD,
    "/chat/held/{id}": RELEASED,
}
"""Lists and single answers: what the ledger holds. The values say what is asked for."""
REDUCED = {
    "/v1/figures": "",
    "/v1/alerts": "",
    "/v1/agreement": "?sample_only=false",
    "/monitor": "?period=7",
    "/monitor/figures": "?period=7",
    "/monitor/alerts": "",
    "/agreement": "?only=all",
}
"""Figures and alerts: `export_text`."""
WITHOUT = {
    "/v1/review/progress",
    "/",
    "/login",
    "/healthz",
    "/readyz",
    "/metrics",
    "/monitor/charts.css",
    "/monitor/golden",
    "/monitor/variants",
    "/chat",
    "/compare",
    "/compare/report.css",
    "/runs",
    "/runs/{id:path}",
    "/runs/{id:path}/progress",
    "/runs/{id:path}/trust",
    "/trust",
}
OWN = {
    *("POST /v1/evaluations", "POST /v1/gate/check", "POST /v1/chat", "POST /v1/labels", "POST /v1/traces/{id}/verdict"),
    *("DELETE /v1/evaluations/{id:path}", "DELETE /v1/traces/{id}", "POST /login", "POST /logout", "POST /chat"),
    *(
        "POST /monitor/queue/retry",
        "POST /monitor/alerts/accept",
        "POST /gate/{id}",
        "POST /review/{id:path}",
        "POST /review/",
        "POST /labels/undo",
        "POST /v1/labels/undo",
        "POST /v1/review/disagreements",
        "POST /runs/{id:path}",
    ),
}
"""Routes that answer with what the caller has sent, or with the page of an answer, as GET does."""

COMMANDS_WITH_TEXTS: dict[str, tuple[str, ...]] = {
    "monitor report": ("--until", NOW.date().isoformat()),
    "monitor export": ("--format", "jsonl", "--out", "-"),
    "agreement": ("--format", "json", "--all"),
    "gate report": ("--since", "2026-01-01", "--format", "json"),
    "gate dataset export": ("--output", "-"),
    "review list": (),
    "review show": ("weak",),
    "review disagreements": ("--json",),
}
WHOLE_COMMANDS = {"review list", "review show", "review disagreements"}
OTHER_COMMANDS = {
    # benchmark, suites and models: datasets of the user, no answers in production
    *(f"bench {name}" for name in ("run", "plan", "resume", "reassess", "list", "show", "rescore", "league", "trend", "export")),
    *(f"bench {name}" for name in ("review", "sign", "report", "compare", "follow", "stop", "batches")),
    *(f"{group} {name}" for group in ("criteria", "suites") for name in ("list", "show", "validate", "new")),
    *(f"suites import {form}" for form in ("kora", "inspect", "promptfoo", "deepeval")),
    *("cases convert", "schema"),
    *("suites try", "qualify", "audit"),
    *("models list", "models check", "models pull", "demo gate", "demo tour", "init", "serve"),
    # figures, states and keys
    *(
        "worker",
        "monitor worker",
        "monitor alerts accept",
        "monitor submit",
        "monitor status",
        "monitor retry",
        "monitor rescore",
        "monitor erase",
        "monitor compare",
    ),
    *("monitor alerts list", "monitor alerts test", "monitor golden run", "monitor golden list"),
    *("keys create", "keys list", "keys revoke", "gate tune", "gate import", "gate rescore", "review label", "review fill"),
    *("review undo", "review adjudicate", "review progress"),
    *("review import", "verify", "ledger check", "ledger rebuild", "ledger compact", "ledger audit"),
    # figures, ids of answers and names of raters; no text of an answer
    *(f"calibrate {name}" for name in ("plan", "fit", "monitored", "list", "show")),
    # what the user gives, and texts of the user's documents
    *("gate check", "gate qualify", "gate replay", "rag ask", "rag ingest", "rag search", "rag collections"),
    # copies of the ledger as it is: texts by `storage.text`
    *("rag export-traces", "ledger export"),
}


def fill(ledger: Ledger, folder: Path, **sections: Any) -> None:
    """Answers of every kind whose texts hold a name, an IBAN and an address; a label, an alert, and places in the queue."""
    ledger.create_run(run_of(NOW), [])
    sample = Sample(f"{SAID} ?", SAID, SAID, (3.0, 2.0, 1.0, 1.0), SAID, SAID)
    at = NOW - timedelta(hours=1)
    judged(ledger, "weak", at, sample, raw=SAID)
    case = Case(id="failed", prompt=f"{SAID} ?", response=SAID)
    Evaluations(ledger).submit([Answer(id="failed", origin="monitor", case=case, received_at=at, answered_at=at)])
    Evaluations(ledger).give_up("failed", SAID)
    Traces(ledger).append([gate_answers.trace(number, f"{gate_answers.BAD} {SAID}.", prompt=f"{SAID} ?") for number in (1, 2)])
    for id in ("weak", HELD, RELEASED):
        Labels(ledger).add([Label(answer_id=id, rater="Anne", criterion="", score=9.0, note=SAID, origin="web", created_at=at)])
    Labels(ledger).add(
        [Label(answer_id=RELEASED, rater="Bruno", criterion="", score=2.0, note=SAID, origin="web", created_at=at)]
    )
    ReviewQueue(ledger).add([ReviewItem(answer_id="weak", why="alert", created_at=at, wanted=2)])
    evaluation = Evaluations(ledger).get("weak")
    alert = due_answer_alert(open_alerting(ledger, monitor_config(folder, **sections)), evaluation, NOW) if evaluation else None
    assert alert is not None
    Alerts(ledger).open(alert)
    review_answer(ledger, RELEASED, "Anne", Given(settlement=Settlement(state="released", text=SAID)), origin="cli", now=NOW)


def sections_of(policy: str) -> dict[str, Any]:
    return {"storage": {"export_text": policy}, "alerts": {"threshold": 8.0, "urls": ["json://localhost"]}}


@pytest.fixture
def context(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[ServerContext]:
    sections = sections_of(getattr(request, "param", "redacted"))
    made = context_for(tmp_path, **sections)
    fill(made.ledger, tmp_path, **sections)
    yield made
    made.ledger.close()


def readings(ledger: Ledger) -> int:
    return sum(entry.action in ("read", "export") for entry in Audit(ledger).list(limit=1000))


def shown_in(text: str) -> set[str]:
    """Which of the three stand in a text, however it is written."""
    plain = html.unescape(text)
    return {one for one in (WORD, IBAN, MAIL) if one in plain}


def test_every_route_has_its_policy() -> None:
    routes = [route for router in routers() for route in router.routes if isinstance(route, APIRoute)]
    known = {f"{method} {route.path}" for route in routes for method in route.methods or ()}
    assert known == {f"GET {path}" for path in {*WHOLE, *REDUCED, *WITHOUT}} | OWN


@pytest.mark.parametrize("context", ["redacted", "none"], indirect=True)
def test_routes_show_texts_by_their_policy_and_the_audit_log_notes_it(context: ServerContext) -> None:
    client, policy = local_client(context, follow_redirects=False), context.config.section.storage.export_text
    headers = {"Authorization": f"Bearer {ApiKeys(context.ledger).create('Bruno', 'admin')[1]}"}
    for path, asked in {**WHOLE, **REDUCED, **dict.fromkeys(WITHOUT, "")}.items():
        before = readings(context.ledger)
        answered = client.get(re.sub(r"\{.*\}", "", path) + asked, headers=headers)
        assert answered.status_code in (200, 303), path
        whole, reduced = {WORD, IBAN, MAIL}, {WORD} if policy == "redacted" else set[str]()
        expected = whole if path in WHOLE else reduced if path in REDUCED else set[str]()
        assert shown_in(answered.text) == expected, path
        if path != "/monitor/figures":  # the live part of the page before
            assert readings(context.ledger) > before or not expected, path
            assert readings(context.ledger) == before or path not in WITHOUT, path


def test_the_live_part_of_a_page_is_noted_once_for_the_same_answers(context: ServerContext) -> None:
    def noted() -> int:
        entries = Audit(context.ledger).list(limit=1000)
        return sum(entry.action == "read" and entry.detail.startswith("figures") for entry in entries)

    client, before = local_client(context, follow_redirects=False), noted()
    for _ in range(3):
        assert WORD in client.get("/monitor/figures?period=7").text
    assert noted() == before + 1
    judged(context.ledger, "weaker", NOW, Sample("Q", "R", "D", (1.0, 1.0, 1.0, 1.0), "", ""))
    client.get("/monitor/figures?period=7")
    assert noted() == before + 2


@pytest.mark.parametrize("context", ["redacted", "none"], indirect=True)
def test_alerts_are_stored_and_sent_by_the_policy_of_exports(context: ServerContext) -> None:
    sent: list[str] = []

    def record(_urls: Sequence[str], message: AlertMessage, _environment: Mapping[str, str]) -> list[SentAlert]:
        sent.append(message.title + message.body)
        return [SentAlert(place="url 1")]

    alerting = open_alerting(context.ledger, context.config.monitor)
    assert send_due(alerting, NOW, {}, record) == 1
    expected = {WORD} if context.config.section.storage.export_text == "redacted" else set[str]()
    assert shown_in("".join(sent)) == expected
    assert shown_in("".join(alert.title + alert.body for alert in Alerts(context.ledger).list())) == expected


def test_scheduled_reports_follow_the_policy_of_exports(context: ServerContext) -> None:
    before = readings(context.ledger)
    write_scheduled_reports(context.ledger, context.config.monitor, NOW + timedelta(days=1))
    (report,) = context.config.folder.rglob("quality-report-*.html")
    assert shown_in(report.read_text(encoding="utf-8")) == {WORD}
    assert readings(context.ledger) == before + 1


def commands_of(group: click.Group, name: str = "") -> Iterator[str]:
    assert isinstance(group, LazyGroup)
    yield from (f"{name}{one}" for one in group.places)
    for one, below in group.groups.items():
        yield from commands_of(below, f"{name}{one} ")


def test_every_command_has_its_policy() -> None:
    assert set(commands_of(command_tree)) == {*COMMANDS_WITH_TEXTS, *OTHER_COMMANDS}


@pytest.mark.parametrize("name", COMMANDS_WITH_TEXTS)
def test_commands_show_texts_by_their_policy_and_the_audit_log_notes_it(command: Command, name: str) -> None:
    place = command.folder / "ledger.db"
    write_config(command.folder, ledger=str(place), **sections_of("redacted"))
    with Ledger.open(place) as ledger:
        fill(ledger, command.folder, **sections_of("redacted"))
        before = readings(ledger)
        ended = command(*name.split(), *COMMANDS_WITH_TEXTS[name])
        assert ended.code == 0, ended.err
        assert shown_in(ended.out) == ({WORD, IBAN, MAIL} if name in WHOLE_COMMANDS else {WORD})
        assert readings(ledger) > before
