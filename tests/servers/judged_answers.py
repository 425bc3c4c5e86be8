"""Answers of a monitor, judged by a panel of two judges, stored as a worker stores them."""

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from areopage.cases.records import Case, Document
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Answer, CriterionResult, Evaluation, Judgment, Run, Verdict
from areopage.ledger.write.evaluations import Evaluations
from areopage.scoring.grades import grade_of
from areopage.scoring.outcome import Outcome, Scored, Unparsed
from areopage.suites.loader import load_suite
from server.samples import Sample

NOW = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)
"""The clock of a seeded server."""

RUN = "monitor-seeded"
SUITE = load_suite("answer_quality")
WEIGHTS = {"exactitude": 0.40, "completude": 0.30, "format": 0.15, "sources": 0.15}


def run_of(now: datetime, unfit: str = "") -> Run:
    """The configuration that judged.

    Args:
        unfit: why mistral is unfit to judge.
    """
    mistral = {"name": "mistral", "reference": {"provider": "ollama", "model": "mistral-small"}, "unfit": unfit}
    controle = {"name": "controle", "reference": {"provider": "rules", "model": "answer_quality"}}
    spec = json.dumps({"judges": [mistral, controle], "criteria": []})
    return Run(id=RUN, kind="monitor", suite=SUITE.name, fingerprint=RUN, folder="", created_at=now, finished_at=None, spec=spec)


def judged(
    ledger: Ledger,
    id: str,
    at: datetime,
    sample: Sample,
    *,
    drift: float = 0.0,
    source: str = "help-desk",
    raw: str = "I think this is fine.",
    signs: tuple[str, ...] = (),
) -> str:
    """Hand over an answer and store its judgments and its score, as a worker does; returns its id."""
    variant = "B" if int(hashlib.sha256(id.encode()).hexdigest(), 16) % 2 else "A"
    case = Case(
        id=id,
        prompt=sample.question,
        response=sample.answer,
        documents=(Document(id="d1", title="Document 1", text=sample.document, score=0.87),),
    )
    answer = Answer(
        id=id, origin="monitor", case=case, source=source, variant=variant, language="fr", received_at=at, answered_at=at
    )
    Evaluations(ledger).submit([answer])
    names = [f"quality.answer.{name}" for name in WEIGHTS]
    scores = [max(0.0, min(10.0, score - drift)) for score in sample.scores]
    results = tuple(
        CriterionResult(criterion=name, score=score, grade=grade_of(score, SUITE.scale), agreement=0.9)
        for name, score in zip(names, scores, strict=True)
    )
    overall = round(sum(weight * score for weight, score in zip(WEIGHTS.values(), scores, strict=True)), 2)
    judgments = judgments_of(id, at, dict(zip(names, scores, strict=True)), sample, raw, signs)
    ledger.append(judgments)
    evaluation = Evaluation(
        id=id,
        run_id=RUN,
        timestamp=at,
        evaluated_at=at + timedelta(seconds=8),
        suite=SUITE.name,
        suite_version="1.0.0",
        language="fr",
        source=source,
        variant=variant,
        prompt=sample.question,
        response=sample.answer,
        score_global=overall,
        grade=grade_of(overall, SUITE.scale),
        criteria=results,
        feedback=sample.feedback,
        strengths=("La question est comprise.",),
        weaknesses=(sample.weakness,) if sample.weakness else (),
        suggestions=("Citer l’article.",) if sample.weakness else (),
        scored=8,
        planned=8,
        spread=1.0,
        prompt_tokens=1480,
        completion_tokens=212,
        seconds=7.4,
        cost=0.0021,
        currency="EUR",
    )
    Evaluations(ledger).finish(evaluation, [one.key for one in judgments])
    return id


def judgments_of(
    id: str, at: datetime, scores: dict[str, float], sample: Sample, raw: str, signs: tuple[str, ...] = ()
) -> list[Judgment]:
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
            pass_index=1,
            raw_text=written,
            repair_text="",
            finish_reason="stop",
            prompt_tokens=740 if model.startswith("ollama") else None,
            completion_tokens=106 if model.startswith("ollama") else None,
            seconds=3.5,
            repair="heuristic" if number == 1 else "none",
            steps=("json", *signs),
            cost=0.0021 if model.startswith("ollama") and number == 1 else None,
            currency="EUR" if model.startswith("ollama") and number == 1 else "",
            created_at=at + timedelta(seconds=2 * number + 1),
            verdicts=tuple(Verdict(criterion=f"{name}__v1_0", outcome=say(score)) for name, score in scores.items()),
        )
        for number, (key, judge, model, written, say) in enumerate(found)
    ]
