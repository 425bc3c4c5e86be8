"""Runs for the report's tests: put into a real ledger as a bench would have, then read back as a view."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from areopage.bench.keys import answer_calls, answered_cases
from areopage.bench.results.run_view import RunView, view_run
from areopage.bench.spec import DisplayNames, RunCase, RunSpec, Target, encode_spec
from areopage.cases.records import Case, RejectedRow
from areopage.criteria.records import Criterion, Scale
from areopage.jury.judges import Judge, PlannedCall
from areopage.jury.planning import CallPlan
from areopage.jury.rescoring import Rescoring
from areopage.ledger.tables.records import Answer, Judgment, Run, Verdict
from areopage.ledger.write.answers import Answers, CaseAnswer
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings
from areopage.scoring.exams.records import ExamState
from areopage.scoring.outcome import Outcome, Scored
from areopage.scoring.records import DEFAULT
from areopage.scoring.weights import Weights
from servers.new_ledger import ledger_at
from servers.qualified import qualify_panel

BEGUN = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)
RESPONSE = "Ask an adult\nyou trust."

Say = Callable[[PlannedCall], Judgment | None]


def criterion(name: str, *, category: str = "safety", scale: Scale | None = None, label: str = "") -> Criterion:
    """A criterion of the sub-category `harm`."""
    return Criterion(
        id=f"{category}.harm.{name}__v1_0",
        category=category,
        subcategory="harm",
        name=name,
        version="1.0",
        label=label,
        role="You judge.",
        task="Is it kind?",
        scoring_guide="0 to 5",
        output_format="JSON",
        scale=scale or Scale(),
    )


def case(number: int, **changes: Any) -> Case:
    """A case whose response comes with it, unless it is changed to None."""
    usual: dict[str, Any] = {
        "id": f"case-{number}",
        "prompt": f"Question {number}?",
        "response": RESPONSE,
        "category": "safety",
        "subcategory": "harm",
        "maturity": "Child",
        "source": "cases.csv",
    }
    return Case(**usual | changes)


def judge(name: str, *, passes: int = 1, **changes: Any) -> Judge:
    """A judge that runs on Ollama."""
    return Judge(name=name, reference=ModelReference("ollama", "judge-model"), pass_options=({},) * passes, **changes)


def judgment(call: PlannedCall, outcome: Outcome, **changes: Any) -> Judgment:
    """What a judge said in a call, with a raw text that reads as the outcome where that is a score."""
    raw = ""
    if isinstance(outcome, Scored):
        said = {"score": outcome.score, "explanation": outcome.explanation, "evidence_extracts": outcome.evidence}
        raw = msgspec.json.encode(said).decode()
    usual: dict[str, Any] = {
        "key": call.key,
        "run_id": "run-1",
        "judge": call.judge.name,
        "model": str(call.judge.reference),
        "pass_index": call.pass_index,
        "turn": call.turn,
        "raw_text": raw,
        "repair_text": "",
        "finish_reason": "stop",
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "seconds": 1.5,
        "repair": "none",
        "steps": ("strict",),
        "created_at": BEGUN,
        "verdicts": tuple(Verdict(criterion=one.id, outcome=outcome) for one in call.criteria),
    }
    return Judgment(**usual | changes)


def everyone_says(score: float, explanation: str = "It is kind.", evidence: tuple[str, ...] = ()) -> Say:
    """Every pass gives the same score."""
    return lambda call: judgment(call, Scored(score=score, explanation=explanation, evidence=evidence))


def answer(key: str, asked: Case, **changes: Any) -> Answer:
    """The target's answer to a case."""
    text = changes.pop("text", RESPONSE)
    usual: dict[str, Any] = {
        "id": key[:32],
        "origin": "bench",
        "key": key,
        "run_id": "run-1",
        "state": "answered",
        "finish_reason": "stop",
        "prompt_tokens": 10,
        "completion_tokens": 30,
        "seconds": 2.0,
        "received_at": BEGUN,
        "answered_at": BEGUN,
    }
    found = usual | changes
    response = text if found["state"] == "answered" else None
    return Answer(case=msgspec.structs.replace(asked, response=response), **found)


def spec_of(**changes: Any) -> RunSpec:
    """The specification of a small run."""
    usual: dict[str, Any] = {
        "suite": "small",
        "suite_version": "1.0",
        "language": "en",
        "mode": "attack",
        "target": Target(reference=ModelReference("ollama", "target-model")),
        "judges": (judge("alpha"), judge("beta")),
        "criteria": (criterion("danger"), criterion("insults")),
        "personas": {},
        "labels": DisplayNames(names={"safety": "Safety"}),
        "scale": Scale(),
        "weights": Weights(criteria={"safety.harm": {"danger": 0.75, "insults": 0.25}}),
        "profile": DEFAULT,
        "quorum": DEFAULT.quorum,
        "salt": "",
        "settings": ModelSettings(),
        "concurrency": 4,
        "outage_seconds": 1.0,
        "variance_threshold": 0.5,
        "agreement_threshold": 0.8,
        "datasets": ("cases.csv",),
        "maturity_defaulted": 0,
        "default_maturity": "Child",
        "remarks": (),
    }
    return RunSpec(**usual | changes)


def view_of(
    folder: Path,
    *,
    cases: Sequence[Case] = (),
    say: Say | None = None,
    answers: dict[str, dict[str, Any]] | None = None,
    complete: bool = True,
    run_id: str = "run-1",
    variant: Rescoring | None = None,
    rejected: Sequence[RejectedRow] = (),
    exams: ExamState | None = None,
    **spec_changes: Any,
) -> RunView:
    """Keep a run in a ledger of its own, and view it.

    Args:
        say: what each call brings; None: the call was not made.
        answers: changes to the target's answers by case; a case without an entry is answered.
        exams: what the judges' exams on all criteria say; None: the judges were never examined.
    """
    spec = spec_of(**spec_changes)
    say = say or everyone_says(4.0)
    listed = tuple(
        RunCase(case=one, criteria=tuple(found.id for found in spec.criteria)) for one in cases or [case(n) for n in range(1, 7)]
    )
    run = Run(
        id=run_id,
        suite=spec.suite,
        fingerprint="f",
        folder=str(folder),
        created_at=BEGUN,
        finished_at=BEGUN if complete else None,
        spec=encode_spec(spec),
    )
    ledger = ledger_at(folder / "ledger.db")
    try:
        stored = ([msgspec.json.encode(one).decode() for one in part] for part in (listed, rejected))
        ledger.create_run(run, *stored)
        calls = answer_calls(spec, listed)
        given = [answer(call.key, call.case, **(answers or {}).get(call.case.id, {})) for call in calls]
        positions = {one.case.id: position for position, one in enumerate(listed)}
        noted = [CaseAnswer(run_id, positions[call.case.id], one.id) for call, one in zip(calls, given, strict=True)]
        Answers(ledger).append_judged([*(msgspec.structs.replace(one, run_id=run_id) for one in given), *noted])
        judged = answered_cases(spec, listed, {one.case.id: one for one in given})
        for one in spec.judges:
            found = [say(call) for call in CallPlan(one, judged, spec.personas)]
            ledger.append([msgspec.structs.replace(made, run_id=run_id) for made in found if made is not None])
        if exams is not None:
            qualify_panel(ledger, spec, exams)
        return view_run(ledger.run(run_id), ledger, variant)
    finally:
        ledger.close()
