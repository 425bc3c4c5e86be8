"""Scores of answers as tests need them."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import CriterionResult, Evaluation, Run
from areopage.ledger.write.evaluations import Evaluations
from servers.evaluated import answer_of

MOMENT = datetime(2026, 3, 4, 14, 20, tzinfo=UTC)


def quality_score(score: float | None = 3.4, **fields: Any) -> Evaluation:
    """A score of a French answer, with the fields that a test cares about."""
    known: dict[str, Any] = {
        "id": "a-1",
        "run_id": "monitor-1",
        "state": "evaluated",
        "timestamp": MOMENT,
        "evaluated_at": MOMENT,
        "suite": "answer_quality",
        "suite_version": "1.0",
        "language": "fr",
        "source": "chat",
        "variant": "",
        "prompt": "Combien de congés payés ai-je ?",
        "response": "Je ne sais pas.",
        "score_global": score,
        "grade": "unscored" if score is None else "weak" if score < 6 else "acceptable" if score <= 8 else "excellent",
        "criteria": (
            CriterionResult(criterion="quality.answer.exactitude", score=2.0, grade="weak"),
            CriterionResult(criterion="quality.answer.format", score=None, grade="unscored"),
        ),
        "feedback": "Réponse vague.",
        "weaknesses": ("Aucune source",),
        "suggestions": ("Citer la convention",),
        "qualification": "never examined",
        "scored": 2,
        "planned": 2,
    }
    return Evaluation(**(known | fields))


def store_scores(ledger: Ledger, scores: Iterable[Evaluation]) -> None:
    """Write scores with their submissions into a ledger, and the runs that judged them."""
    scores = list(scores)
    for run_id, suite in {score.run_id: score.suite for score in scores}.items():
        ledger.put_panel(
            Run(
                id=run_id,
                suite=suite,
                fingerprint=run_id,
                folder="",
                created_at=MOMENT,
                finished_at=None,
                spec="{}",
                kind="monitor",
            )
        )
    evaluations = Evaluations(ledger)
    evaluations.submit([answer_of(score) for score in scores])
    for score in scores:
        evaluations.finish(score, [])
