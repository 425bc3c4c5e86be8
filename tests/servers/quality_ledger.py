"""Ledgers that hold scores of answers, as the monitor would have written them."""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec

from areopage.criteria.records import Scale
from areopage.ledger.people.standing import UNFIT
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import CriterionResult, Evaluation, JudgeUse, Run
from areopage.scoring.grades import grade_of
from servers.evaluated import evaluate, judged_by
from servers.new_ledger import ledger_file
from servers.quality import quality_score

SCALE = Scale(min=0.0, max=10.0)
TODAY = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
USE = JudgeUse(
    judge="alpha",
    model="ollama:m",
    calls=1,
    outcomes={"scored": 4},
    seconds=1.5,
    prompt_tokens=1000,
    completion_tokens=100,
    cost=0.002,
    currency="EUR",
)


def answered(
    number: int, score: float | None = 7.0, *, days_ago: int = 0, format: float | None = 8.0, **fields: Any
) -> Evaluation:
    """The score of an answer given some days before `TODAY`; its criteria are accuracy (with the global score) and format."""
    moment = TODAY - timedelta(days=days_ago)
    criteria = tuple(
        CriterionResult(criterion=f"quality.answer.{name}", score=value, grade=grade_of(value, SCALE))
        for name, value in (("exactitude", score), ("format", format))
    )
    known = {
        "id": f"a-{number}",
        "timestamp": moment,
        "evaluated_at": moment,
        "grade": grade_of(score, SCALE),
        "criteria": criteria,
    }
    return quality_score(score, **known | fields)


def filled(location: str | Path, scores: Iterable[Evaluation], uses: Sequence[JudgeUse] = (USE,)) -> Ledger:
    """An open ledger with these scores; each was judged by the same judges."""
    if "://" in str(location) or Path(location).exists():
        ledger = Ledger.open(location)
        _fill(ledger, scores, uses)
        return ledger
    return Ledger.open(ledger_file(Path(location), _filling(msgspec.json.encode((list(scores), list(uses))))))


@cache
def _filling(content: bytes) -> Callable[[Ledger], None]:
    scores, uses = msgspec.json.decode(content, type=tuple[list[Evaluation], list[JudgeUse]])
    return partial(_fill, scores=scores, uses=uses)


def _fill(ledger: Ledger, scores: Iterable[Evaluation], uses: Sequence[JudgeUse]) -> None:
    given = list(scores)
    run = {"id": "monitor-1", "kind": "monitor", "suite": "answer_quality", "fingerprint": "f" * 64, "folder": ""}
    ledger.create_run(Run(**run, spec=_spec(given), created_at=TODAY, finished_at=None), [])  # type: ignore[arg-type]
    for score in given:
        evaluate(ledger, score, [judged_by(use, f"{score.id}-{at}", "monitor-1") for at, use in enumerate(uses)])


def _spec(scores: Sequence[Evaluation]) -> str:
    """The panel, with the judge that an evaluation says to be unfit: `unfit: NAME (REASON)`."""
    told = next((one.qualification for one in scores if one.qualification.startswith(UNFIT)), "")
    if not told:
        return "{}"
    name, _, reason = told.removeprefix(UNFIT)[:-1].partition(" (")
    judge = {"name": name, "reference": {"provider": "p", "model": "m"}, "unfit": reason}
    return json.dumps({"judges": [judge], "criteria": []})
