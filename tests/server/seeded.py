"""A small ledger of a monitor, stored through the real stores: some days of judged answers, with all that a page shows."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from areopage.cases.records import Case, Document
from areopage.ledger.alerts import Alerts
from areopage.ledger.golden import GoldenRuns
from areopage.ledger.people import Labels, ReviewQueue
from areopage.ledger.quality import QualityScores
from areopage.ledger.quality_records import (
    Alert,
    CriterionResult,
    GoldenRun,
    JudgeUse,
    Label,
    QualityScore,
    ReviewItem,
    Submission,
    Worker,
)
from areopage.ledger.records import Judgment, Run, Verdict
from areopage.ledger.store import Ledger
from areopage.ledger.submissions import Submissions
from areopage.ledger.workers import Workers
from areopage.monitor.config import MonitorConfig, MonitorSection
from areopage.scoring.counts import band_of
from areopage.scoring.outcome import Outcome, Scored, Unparsed
from areopage.server.context import ServerContext
from areopage.suites.gate import load_gate
from areopage.suites.loader import load_suite
from servers.new_ledger import ledger_at

from .samples import SAMPLES as SAMPLES  # noqa: PLC0414 - other tests take it from here
from .samples import WEAK, Sample

NOW = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)
"""The clock of a seeded server."""

RUN = "monitor-seeded"
SUITE = load_suite("answer_quality")
GATE = load_gate()
WEIGHTS = {"exactitude": 0.40, "completude": 0.30, "format": 0.15, "sources": 0.15}


WEAK_ID = "answer-08-04"


def context_for(
    folder: Path, *, now: Callable[[], datetime] = lambda: NOW, section: MonitorSection | None = None
) -> ServerContext:
    """What a server over a new, empty ledger shares."""
    ledger = ledger_at(folder / "ledger.db")
    config = MonitorConfig(section=section or MonitorSection(), folder=folder)
    return ServerContext(ledger=ledger, config=config, suite=SUITE, submit=Submissions(ledger).add, now=now, gate=GATE)


SEEDED_IDS = [f"answer-{day:02d}-{place:02d}" for day in range(9) for place in range(6)]
"""The judged answers of `seed` with its defaults, oldest first."""


def seeded_context(folder: Path, *, now: Callable[[], datetime] = lambda: NOW) -> ServerContext:
    """What a server over a new ledger shares that holds what `seed` puts into it."""
    (folder / "ledger.db").write_bytes(_seeded_ledger())
    return context_for(folder, now=now)


@cache
def _seeded_ledger() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        ledger = ledger_at(path)
        seed(ledger)
        ledger.close()
        return path.read_bytes()


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


def run_of(now: datetime) -> Run:
    """The configuration that judged."""
    return Run(id=RUN, kind="monitor", suite=SUITE.name, fingerprint=RUN, folder="", created_at=now, finished_at=None, spec="{}")


def judged(
    ledger: Ledger,
    id: str,
    at: datetime,
    sample: Sample,
    *,
    drift: float = 0.0,
    source: str = "help-desk",
    standing: str = "never examined",
    raw: str = "I think this is fine.",
) -> str:
    """Hand over an answer and store its judgments and its score, as a worker does; returns its id."""
    variant = "B" if int(hashlib.sha256(id.encode()).hexdigest(), 16) % 2 else "A"
    case = Case(
        id=id,
        prompt=sample.question,
        response=sample.answer,
        documents=(Document(id="d1", title="Document 1", text=sample.document, score=0.87),),
        source=source,
    )
    Submissions(ledger).add([Submission(case=case, received_at=at, answered_at=at, language="fr", variant=variant)])
    names = [f"quality.answer.{name}" for name in WEIGHTS]
    scores = [max(0.0, min(10.0, score - drift)) for score in sample.scores]
    results = tuple(
        CriterionResult(criterion=name, score=score, band=band_of(score, SUITE.scale), agreement=0.9)
        for name, score in zip(names, scores, strict=True)
    )
    overall = round(sum(weight * score for weight, score in zip(WEIGHTS.values(), scores, strict=True)), 2)
    judgments = judgments_of(id, at, dict(zip(names, scores, strict=True)), sample, raw)
    ledger.append(judgments)
    score = QualityScore(
        id=id,
        run_id=RUN,
        timestamp=at,
        evaluated_at=at + timedelta(seconds=8),
        suite=SUITE.name,
        suite_version="1.0.0",
        language="fr",
        source=source,
        variant=variant,
        question=sample.question,
        answer=sample.answer,
        score_global=overall,
        band=band_of(overall, SUITE.scale),
        criteria=results,
        feedback=sample.feedback,
        strengths=("La question est comprise.",),
        weaknesses=(sample.weakness,) if sample.weakness else (),
        suggestions=("Citer l’article.",) if sample.weakness else (),
        standing=standing,
        scored=8,
        planned=8,
        spread=1.0,
        prompt_tokens=1480,
        completion_tokens=212,
        seconds=7.4,
        cost=0.0021,
        currency="EUR",
    )
    QualityScores(ledger).finish(score, uses_of(judgments), [one.key for one in judgments], None)
    return id


def judgments_of(id: str, at: datetime, scores: dict[str, float], sample: Sample, raw: str) -> list[Judgment]:
    """A joint verdict of one judge at the second attempt, and one of another."""
    first = hashlib.sha256(f"{id}:mistral".encode()).hexdigest()
    second = hashlib.sha256(f"{id}:controle".encode()).hexdigest()
    evidence = (sample.document[:60],)
    found: list[tuple[str, str, str, str, Callable[[float], Outcome]]] = [
        (first, "mistral", "ollama:mistral-small", raw, lambda _: Unparsed(reason="no JSON in the answer")),
        (
            first,
            "mistral",
            "ollama:mistral-small",
            '{"exactitude": {"score": 9, "explanation": "…"}, "completude": {"score": 8}}',
            lambda score: Scored(score=score, explanation=sample.feedback, evidence=evidence),
        ),
        (second, "controle", "rules:answer_quality", "", lambda score: Scored(score=score, explanation="Sections : 4 sur 4.")),
    ]
    return [
        Judgment(
            key=key,
            run_id=RUN,
            judge=judge,
            model=model,
            pass_index=0,
            raw_text=written,
            repair_text="",
            finish_reason="stop",
            prompt_tokens=740 if model.startswith("ollama") else None,
            completion_tokens=106 if model.startswith("ollama") else None,
            seconds=3.5,
            repair="heuristic" if number == 1 else "none",
            steps=("json",),
            created_at=at + timedelta(seconds=2 * number + 1),
            verdicts=tuple(Verdict(criterion=f"{name}__v1_0", outcome=say(score)) for name, score in scores.items()),
        )
        for number, (key, judge, model, written, say) in enumerate(found)
    ]


def uses_of(judgments: list[Judgment]) -> list[JudgeUse]:
    """What each judge did."""
    uses = []
    for judge in dict.fromkeys(one.judge for one in judgments):
        own = [one for one in judgments if one.judge == judge]
        verdicts = [verdict for one in own for verdict in one.verdicts]
        scored = sum(isinstance(verdict.outcome, Scored) for verdict in verdicts)
        outcomes = {"scored": scored, "unparsed": len(verdicts) - scored}
        uses.append(
            JudgeUse(
                judge=judge,
                model=own[0].model,
                calls=len(own),
                outcomes={name: count for name, count in outcomes.items() if count},
                seconds=sum(one.seconds for one in own),
                prompt_tokens=sum(one.prompt_tokens or 0 for one in own),
                completion_tokens=sum(one.completion_tokens or 0 for one in own),
                cost=0.0021 if own[0].prompt_tokens else 0.0,
                currency="EUR" if own[0].prompt_tokens else "",
            )
        )
    return uses


def seed_queue(ledger: Ledger, now: datetime) -> None:
    """An answer that waits, one that was given up, and two workers of which one says nothing any more."""
    for id in ("waiting-1", "failed-1"):
        case = Case(id=id, prompt="Peut-on vendre un bien en indivision ?", response="Oui.", source="help-desk")
        at = now - timedelta(minutes=3)
        Submissions(ledger).add([Submission(case=case, received_at=at, answered_at=at, language="fr")])
    Submissions(ledger).give_up("failed-1", "mistral: no answer in 60 s")
    for name, seconds in (("worker-1", 4), ("worker-2", 4000)):
        seen = now - timedelta(seconds=seconds)
        worker = Worker(
            executor=name, host="judge-1", process=4711, started_at=now - timedelta(hours=5), seen_at=seen, state="alive"
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
                submission_id=submission,
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
    ReviewQueue(ledger).add([ReviewItem(submission_id=id, why="alert", created_at=now)])
    for minutes, score in ((30, 4.0), (10, 3.0)):
        at = now - timedelta(minutes=minutes)
        label = Label(
            submission_id=id,
            rater="Claire",
            criterion="quality.answer.exactitude",
            score=score,
            note="Délai absent.",
            origin="web",
            created_at=at,
        )
        Labels(ledger).add([label])
