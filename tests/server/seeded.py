"""A small ledger of a monitor, stored through the real stores: some days of judged answers, with all that a page shows."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from areopage.app.gate_rules import load_gate
from areopage.cases.records import Case
from areopage.ledger.people.labels import Labels, ReviewQueue
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Answer, Label, ReviewItem
from areopage.ledger.write.alerts import Alerts
from areopage.ledger.write.evaluations import Evaluations
from areopage.ledger.write.operations import Alert, GoldenRun, GoldenRuns, Heartbeat, Workers
from areopage.monitor.intake import Intake
from areopage.server.app import create_app
from areopage.server.context import ServerContext
from servers.configured import app_config
from servers.judged_answers import NOW as NOW  # noqa: PLC0414 - other tests take these from here
from servers.judged_answers import SUITE as SUITE  # noqa: PLC0414
from servers.judged_answers import judged as judged  # noqa: PLC0414
from servers.judged_answers import run_of as run_of  # noqa: PLC0414
from servers.new_ledger import ledger_at, ledger_file

from .samples import SAMPLES as SAMPLES  # noqa: PLC0414
from .samples import WEAK

GATE = load_gate()
WEAK_ID = "answer-08-04"


def context_for(folder: Path, *, now: Callable[[], datetime] = lambda: NOW, **sections: Any) -> ServerContext:
    """What a server over a new, empty ledger shares."""
    ledger = ledger_at(folder / "ledger.db")
    config = app_config(folder, **sections)
    return ServerContext(ledger=ledger, config=config, suite=SUITE, submit=Intake(ledger).submit_async, now=now, gate=GATE)


SEEDED_IDS = [f"answer-{day:02d}-{place:02d}" for day in range(9) for place in range(6)]
"""The judged answers of `seed` with its defaults, oldest first."""


def seeded_context(folder: Path, *, now: Callable[[], datetime] = lambda: NOW) -> ServerContext:
    """What a server over a new ledger shares that holds what `seed` puts into it."""
    ledger_file(folder / "ledger.db", seed)
    return context_for(folder, now=now)


def seed(ledger: Ledger, *, now: datetime = NOW, days: int = 9, per_day: int = 6) -> list[str]:
    """Fill a ledger; returns the ids of the judged answers, oldest first.

    Besides them there are: `waiting-1` and `failed-1`, a live and a silent worker, an open, a closed and an undeliverable alert,
    rounds of golden questions, two labels and a review item of the last weak answer (`WEAK_ID` with the defaults).
    """
    ledger.create_run(run_of(now), [])
    ids, weak = [], ""
    for day in range(days):
        for place in range(per_day):
            at = now - timedelta(days=days - 1 - day, minutes=20 * (per_day - place))
            sample = SAMPLES[(day + place) % len(SAMPLES)]
            ids.append(judged(ledger, f"answer-{day:02d}-{place:02d}", at, sample, drift=day % 4 * 0.2))
            weak = ids[-1] if sample is WEAK else weak
    seed_queue(ledger, now)
    seed_alerts(ledger, now, weak)
    seed_golden(ledger, now)
    seed_people(ledger, now, weak)
    return ids


def seed_queue(ledger: Ledger, now: datetime) -> None:
    """An answer that waits, one that was given up, and two workers of which one says nothing any more."""
    for id in ("waiting-1", "failed-1"):
        case = Case(id=id, prompt="Peut-on vendre un bien en indivision ?", response="Oui.")
        at = now - timedelta(minutes=3)
        answer = Answer(id=id, origin="monitor", case=case, source="help-desk", language="fr", received_at=at, answered_at=at)
        Evaluations(ledger).submit([answer])
    Evaluations(ledger).give_up("failed-1", "mistral: no answer in 60 s")
    for name, seconds in (("worker-1", 4), ("worker-2", 4000)):
        seen = now - timedelta(seconds=seconds)
        worker = Heartbeat(
            id=name, host="judge-1", process=4711, started_at=now - timedelta(hours=5), seen_at=seen, state="alive"
        )
        Workers(ledger).beat(worker)


def seed_alerts(ledger: Ledger, now: datetime, weak: str) -> None:
    """An open alert that was sent, an open one that cannot be delivered, and a closed one."""
    alerts = Alerts(ledger)
    for number, (rule, title, submission) in enumerate(
        (
            ("mean", "Score moyen sous le seuil : 6,31", ""),
            ("answer", "Réponse faible : 2,10", weak),
            ("queue", "La file prend du retard", ""),
        )
    ):
        at = now - timedelta(hours=3 - number)
        alerts.open(
            Alert(
                rule=rule,
                subject=submission or rule,
                state="open",
                opened_at=at,
                last_seen_at=at,
                title=title,
                body=f"{title}\nQuestion : Quel est le délai de rétractation ?",
                answer_id=submission,
                next_attempt_at=at,
            )
        )
    numbers = {alert.rule: alert.number for alert in alerts.list()}
    alerts.delivered(numbers["mean"])
    alerts.not_delivered(numbers["answer"], "mailto: connection refused", None)
    alerts.delivered(numbers["queue"])
    alerts.close("queue", "queue", now - timedelta(minutes=30))


def seed_golden(ledger: Ledger, now: datetime) -> None:
    """Five rounds of golden questions; the last one is a drop."""
    means = (8.1, 8.05, 8.2, 8.12, 7.3)
    for number, mean in enumerate(means):
        at = now - timedelta(days=len(means) - number, hours=9)
        GoldenRuns(ledger).save(
            GoldenRun(
                id=f"round-{number}",
                suite=SUITE.name,
                started_at=at,
                finished_at=at + timedelta(minutes=4),
                asked=20,
                answered=20,
                scored=20,
                mean=mean,
                compared_to=f"round-{number - 1}" if number else "",
                change=mean - means[number - 1] if number else None,
                verdict="first" if not number else "drop" if mean < 7.5 else "good",
                reason="0.82 points under the last good round" if mean < 7.5 else "",
            )
        )


def seed_people(ledger: Ledger, now: datetime, id: str) -> None:
    """A person's label that she changed later, and a review item."""
    ReviewQueue(ledger).add([ReviewItem(answer_id=id, why="alert", created_at=now)])
    for minutes, score in ((30, 4.0), (10, 3.0)):
        at = now - timedelta(minutes=minutes)
        label = Label(
            answer_id=id,
            rater="Claire",
            criterion="quality.answer.exactitude",
            score=score,
            note="Délai absent.",
            origin="web",
            created_at=at,
        )
        Labels(ledger).add([label])


def local_client(context: ServerContext, *, follow_redirects: bool = True) -> TestClient:
    """A browser on the same computer, without keys."""
    address = ("127.0.0.1", 50000)
    return TestClient(create_app(context), base_url="http://127.0.0.1:8600", client=address, follow_redirects=follow_redirects)
