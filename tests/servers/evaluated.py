"""Answers that were submitted and evaluated, for tests that need them in a ledger."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from areopage.cases.records import Case
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Answer, Evaluation, JudgeUse, Judgment, Verdict
from areopage.ledger.write.evaluations import Evaluations
from areopage.scoring.outcome import Outcome, Refused, Scored, TimedOut, Unparsed, Unreachable

MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
OUTCOMES: dict[str, Outcome] = {
    "scored": Scored(score=7.0),
    "unparsed": Unparsed(reason="?"),
    "refused": Refused(reason="no"),
    "timed_out": TimedOut(reason="slow"),
    "unreachable": Unreachable(reason="down"),
}


def submitted(id: str = "a", **fields: Any) -> Answer:
    """A submitted answer, with the fields that a test cares about."""
    case = Case(id=id, prompt=fields.pop("prompt", "Why?"), response=fields.pop("response", "So."))
    known: dict[str, Any] = {"id": id, "origin": "monitor", "case": case, "received_at": MOMENT, "answered_at": MOMENT}
    known |= {"language": "en", "source": "site", "variant": "A"}
    return Answer(**known | fields)


def answer_of(evaluation: Evaluation) -> Answer:
    """The answer that an evaluation is about."""
    return Answer(
        id=evaluation.id,
        origin="monitor",
        case=Case(id=evaluation.id, prompt=evaluation.prompt, response=evaluation.response),
        source=evaluation.source,
        variant=evaluation.variant,
        language=evaluation.language,
        received_at=evaluation.received_at or evaluation.timestamp,
        answered_at=evaluation.timestamp,
    )


def evaluate(ledger: Ledger, evaluation: Evaluation, judgments: Sequence[Judgment] = (), stored: Answer | None = None) -> bool:
    """Submit an answer where it is not there yet, append its judgments, and finish its evaluation."""
    evaluations = Evaluations(ledger)
    evaluations.submit([answer_of(evaluation)])
    ledger.append(judgments)
    return evaluations.finish(evaluation, [one.key for one in judgments], stored)


def evaluate_all(ledger: Ledger, found: Iterable[Evaluation]) -> None:
    """Evaluate answers without judgments."""
    for one in found:
        evaluate(ledger, one)


def judged(key: str = "k", outcomes: dict[str, int] | None = None, **fields: Any) -> Judgment:
    """A judgment of the panel `m` with so many verdicts of each outcome."""
    counts = {"scored": 3, "unparsed": 1} if outcomes is None else outcomes
    given = [OUTCOMES[name] for name, count in counts.items() for _ in range(count)]
    known: dict[str, Any] = {
        "key": key,
        "run_id": "m",
        "judge": "one",
        "model": "fake:m",
        "pass_index": 1,
        "raw_text": "{}",
        "repair_text": "",
        "finish_reason": "stop",
        "prompt_tokens": 10,
        "completion_tokens": 4,
        "seconds": 1.5,
        "repair": "none",
        "steps": (),
        "calls": 2,
        "cost": 0.25,
        "currency": "EUR",
        "created_at": MOMENT,
        "verdicts": tuple(Verdict(criterion=f"c{number}", outcome=outcome) for number, outcome in enumerate(given)),
    }
    return Judgment(**known | fields)


def judged_by(use: JudgeUse, key: str, run_id: str = "m") -> Judgment:
    """The judgment with which a judge did all that it did for an answer."""
    names = ("judge", "model", "calls", "seconds", "prompt_tokens", "completion_tokens", "cost", "currency")
    return judged(key, use.outcomes, run_id=run_id, **{name: getattr(use, name) for name in names})
