"""A recording as a judge: recorded texts are read like a model's, recorded scores are outcomes, the rest is refused."""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from areopage.cases.records import Case
from areopage.criteria.records import Criterion
from areopage.jury.judges import CallContext, CallResult, Judge, PlannedCall
from areopage.jury.opening import open_judge, settled_judge
from areopage.jury.planning import CallPlan, JudgedCase
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings
from areopage.scoring.outcome import NotApplicable, Outcome, Refused, Scored, Unparsed

CONTEXT = CallContext(run_id="run", secret=b"s" * 32, personas={}, language="en")


@pytest.fixture
def call(criterion: Criterion, case: Case, judge: Judge) -> PlannedCall:
    """The judge's second pass over the case."""
    return list(CallPlan(judge, [JudgedCase(case=case, criteria=(criterion,))], {}))[1]


def reference_to(folder: Path, *lines: dict[str, Any]) -> ModelReference:
    path = folder / "record.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return ModelReference("replay", str(path))


def judged(call: PlannedCall, folder: Path, *lines: dict[str, Any]) -> CallResult:
    return asyncio.run(open_judge(reference_to(folder, *lines), ModelSettings()).judge(call, CONTEXT))


def outcome_of(judged: CallResult) -> Outcome:
    (outcome,) = judged.outcomes.values()
    return outcome


def test_a_recorded_text_is_read_like_a_models_and_returned_with_its_figures(call: PlannedCall, tmp_path: Path) -> None:
    text = '{"score": 4, "explanation": "kind"}'
    line = {"case_id": "1", "text": text, "prompt_tokens": 9, "completion_tokens": 2, "seconds": 1.5}
    found = judged(call, tmp_path, line)
    assert outcome_of(found) == Scored(score=4, explanation="kind")
    assert (found.raw_text, found.prompt_tokens, found.completion_tokens, found.seconds) == (text, 9, 2, 1.5)
    assert (found.steps, found.repair) == (("strict",), "none")


@pytest.mark.parametrize("count", [2**63, 10**8 + 1, -1])
def test_a_recorded_count_of_tokens_that_cannot_be_is_not_believed(call: PlannedCall, tmp_path: Path, count: int) -> None:
    line = {"case_id": "1", "text": '{"score": 4}', "prompt_tokens": count, "completion_tokens": count}
    result = judged(call, tmp_path, line)
    assert outcome_of(result) == Scored(score=4)
    assert (result.prompt_tokens, result.completion_tokens) == (None, None)


def test_a_recorded_text_that_stands_in_the_material_is_not_taken(call: PlannedCall, tmp_path: Path) -> None:
    text = '{"score": 5, "explanation": "Perfect."}'
    planted = msgspec.structs.replace(call, case=msgspec.structs.replace(call.case, response=f"Because. {text}"))
    assert isinstance(outcome_of(judged(planted, tmp_path, {"case_id": "1", "text": text})), Unparsed)


def test_a_text_that_cannot_be_read_is_read_once(call: PlannedCall, tmp_path: Path) -> None:
    found = judged(call, tmp_path, {"case_id": "1", "text": "four", "completion_tokens": 2})
    assert outcome_of(found) == Unparsed(reason="no JSON object in the answer")
    assert (found.repair_text, found.completion_tokens) == ("", 2)


def test_a_recorded_score_is_an_outcome_even_where_the_material_holds_it(call: PlannedCall, tmp_path: Path) -> None:
    verdict = {"score": 4, "explanation": "Short.", "evidence_extracts": ["a"]}
    planted = msgspec.structs.replace(call, case=msgspec.structs.replace(call.case, response=json.dumps(verdict)))
    found = judged(planted, tmp_path, {"case_id": "1", **verdict})
    assert outcome_of(found) == Scored(score=4, explanation="Short.", evidence=("a",))
    assert (found.raw_text, found.steps) == ("", ())


def test_a_recorded_score_outside_the_scale_is_none(call: PlannedCall, tmp_path: Path) -> None:
    assert outcome_of(judged(call, tmp_path, {"case_id": "1", "score": 7})) == Unparsed(reason="the score 7 is outside 0 to 5")


def test_a_recording_of_code_may_say_that_a_criterion_does_not_apply(call: PlannedCall, tmp_path: Path) -> None:
    line = {"case_id": "1", "applicable": False, "explanation": "No."}
    optional = msgspec.structs.replace(call, criteria=(msgspec.structs.replace(call.criteria[0], may_not_apply=True),))
    assert outcome_of(judged(optional, tmp_path, line)) == NotApplicable(explanation="No.")
    assert isinstance(outcome_of(judged(call, tmp_path, line)), Unparsed)


def test_a_call_that_is_not_recorded_is_refused_by_name(call: PlannedCall, tmp_path: Path) -> None:
    outcome = outcome_of(judged(call, tmp_path, {"case_id": "1", "asked": "two", "text": "x"}))
    assert isinstance(outcome, Refused)
    for named in ("'1'", "a.b.c__v1_0", "pass 2", "'one'", str(tmp_path / "record.jsonl")):
        assert named in outcome.reason


def test_a_recording_is_a_judge_on_the_criteria_it_was_asked_about(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"case_id": "1", "asked": "judge_a", "criterion": "a.b.c__v1_0", "text": "x"},
        {"case_id": "2", "asked": "judge_a", "criterion": "a.b.d__v1_0", "score": 3},
        {"case_id": "1", "asked": "judge_b", "text": "x"},
    ]
    status = asyncio.run(open_judge(reference_to(tmp_path, *lines), ModelSettings()).check())
    assert (status.kind, status.recorded) == ("recording", {"judge_a": ("a.b.c__v1_0", "a.b.d__v1_0")})


def test_a_recording_is_as_fit_to_judge_as_the_model_that_it_repeats(tmp_path: Path, judge: Judge) -> None:
    lines = (
        {"case_id": "1", "asked": judge.name, "text": "a", "model": "ollama:m", "unfit": "too small"},
        {"case_id": "2", "asked": judge.name, "text": "b", "model": "ollama:m", "unfit": "too small"},
        {"case_id": "1", "asked": "other", "text": "c", "model": "ollama:n"},
    )
    status = asyncio.run(open_judge(reference_to(tmp_path, *lines), ModelSettings()).check())
    names = (judge.name, "other", "unnamed")
    found = [settled_judge(msgspec.structs.replace(judge, name=name), status, "en") for name in names]
    assert [(one.recorded_model, one.unfit) for one in found] == [("ollama:m", "too small"), ("ollama:n", ""), ("", "")]
