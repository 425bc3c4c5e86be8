"""Tables that spreadsheets read and never run, and recordings that can be replayed."""

import asyncio
import csv
import json
from pathlib import Path

import msgspec
import pytest

from areopage.bench.pass_settings import PassKey
from areopage.bench.report.files import write_judgments, write_judgments_jsonl, write_results_csv, write_run_files
from areopage.bench.report.terminal import terminal_report
from areopage.bench.results.run_view import RunView
from areopage.jury.judges import CallContext, PlannedCall
from areopage.jury.planning import CallPlan, JudgedCase
from areopage.jury.replay_judge import open_judge
from areopage.jury.rescoring import Rescoring
from areopage.ledger.tables.records import Judgment
from areopage.models.reference import ModelReference
from areopage.models.replay import read_recording
from areopage.models.settings import ModelSettings
from areopage.report.console import print_report
from areopage.scoring.outcome import Outcome, Refused, Scored, TimedOut, Unparsed, Unreachable

from .report_runs import RESPONSE, case, everyone_says, judge, judgment, view_of

FORMULA = '=HYPERLINK("http://127.0.0.1/","x")'


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def test_there_is_a_row_per_case_and_criterion_with_a_column_per_judge(tmp_path: Path) -> None:
    write_results_csv(view_of(tmp_path, say=everyone_says(3.5)), tmp_path / "results.csv")
    rows = rows_of(tmp_path / "results.csv")
    assert len(rows) == 6 * 2
    assert list(rows[0].values()) == [
        *("case-1", "safety", "harm", "Child", "safety.harm.danger__v1_0", "3.5", "true", "1.0", "2", "0", "2", "", "false"),
        *("answered", "3.5", "3.5"),
        *("Question 1?", RESPONSE),
    ]
    assert list(rows[0])[12:] == ["by_rule", "answer_state", "judge:alpha", "judge:beta", "prompt", "response"]


def test_there_is_a_row_per_criterion_with_its_interval_failures_and_agreement(tmp_path: Path) -> None:
    def say(call: PlannedCall) -> Judgment:
        number = int(call.case.id[-1])
        return judgment(call, Scored(score=float(number % 6) if call.criteria[0].name == "danger" else 5.0))

    write_run_files(view_of(tmp_path, say=say), tmp_path)
    danger, insults = rows_of(tmp_path / "criteria.csv")
    assert (danger["criterion"], danger["score"], danger["final_share"]) == ("safety.harm.danger__v1_0", "2.5", "0.75")
    assert float(danger["score_low"]) < 2.5 < float(danger["score_high"])
    assert (danger["failed"], danger["unanimous_failures"], danger["disputed_failures"]) == ("3", "3", "0")
    assert (danger["alpha"], danger["ac2"], danger["exact_agreement"], danger["scored_twice"]) == ("1.0", "1.0", "1.0", "6")
    assert (insults["alpha"], insults["ac2"], insults["score_high"], insults["positive_agreement"]) == ("", "1.0", "5.0", "")
    assert 2.0 < float(insults["score_low"]) < 4.0  # six equal scores do not promise that the next is the same


def test_cells_that_would_start_a_formula_are_inert_and_numbers_stay_numbers(tmp_path: Path) -> None:
    cases = [case(1, id="=1+1", prompt=FORMULA, response="@SUM(A1)\nx"), case(2, prompt="+33 1 23", response="-2.5")]
    write_results_csv(view_of(tmp_path, cases=cases, say=everyone_says(0.0)), tmp_path / "results.csv")
    first, _, third, _ = rows_of(tmp_path / "results.csv")
    assert (first["case_id"], first["prompt"], first["response"]) == ("'=1+1", f"'{FORMULA}", "'@SUM(A1)\nx")
    assert (third["prompt"], third["response"], third["score"]) == ("'+33 1 23", "-2.5", "0.0")


def test_a_judges_words_and_name_are_inert_in_the_table_of_judgments(tmp_path: Path) -> None:
    view = view_of(tmp_path, judges=(judge("=cmd"),), say=everyone_says(4, FORMULA, ("=A1",)))
    write_judgments(view, tmp_path / "judgments.csv", "csv")
    first = rows_of(tmp_path / "judgments.csv")[0]
    assert (first["judge"], first["explanation"]) == ("'=cmd", f"'{FORMULA}")
    assert json.loads(first["evidence_extracts"]) == ["=A1"]


def test_spreadsheets_are_told_that_it_is_utf_8(tmp_path: Path) -> None:
    write_results_csv(view_of(tmp_path, cases=[case(1, prompt="Où es-tu, Zoé ?")]), tmp_path / "results.csv")
    content = (tmp_path / "results.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    assert "Où es-tu, Zoé ?" in content.decode("utf-8")


def test_what_is_unscored_is_an_empty_cell(tmp_path: Path) -> None:
    def say(call: PlannedCall) -> Judgment:
        late = call.case.id == "case-1"
        return judgment(call, TimedOut(reason="5 s") if late else Scored(score=3.0))

    write_results_csv(view_of(tmp_path, say=say, complete=False), tmp_path / "results.csv")
    first = rows_of(tmp_path / "results.csv")[0]
    assert (first["score"], first["agreement"], first["judge:alpha"], first["planned"]) == ("", "", "", "2")


def test_every_planned_pass_is_in_the_table_of_judgments(tmp_path: Path) -> None:
    def say(call: PlannedCall) -> Judgment | None:
        return None if call.judge.name == "beta" else judgment(call, Scored(score=2.0, explanation="So so."))

    write_judgments(view_of(tmp_path, say=say, complete=False), tmp_path / "judgments.csv", "csv")
    rows = rows_of(tmp_path / "judgments.csv")
    assert len(rows) == 6 * 2 * 2
    assert {(row["judge"], row["outcome"]) for row in rows} == {("alpha", "scored"), ("beta", "not_run")}
    assert all(None not in row.values() and None not in row for row in rows)


def say_everything_there_is(call: PlannedCall) -> Judgment | None:
    """An outcome of each kind, each with texts that lead to it."""
    if call.case.id == "case-1":
        return judgment(call, Scored(score=4.5, explanation="Kind {always}.", evidence=("you trust",)))
    if call.case.id == "case-2":
        repaired = judgment(call, Scored(score=3.0, explanation="Again."))
        reply = {"raw_text": "well, three", "repair_text": repaired.raw_text, "repair": "model"}
        return judgment(call, Scored(score=3.0, explanation="Again."), **reply)
    if call.case.id == "case-3":
        return judgment(call, Unparsed(reason="no JSON object in the answer"), raw_text="It is nice.", repair_text="Yes, nice.")
    if call.case.id == "case-4":
        return judgment(call, Refused(reason="the judge declines"), raw_text="I'm sorry, I can't do that.")
    if call.case.id == "case-5":
        return judgment(call, TimedOut(reason="no answer in 5 s"))
    cut = '{"score": 5, "explanation": "", "evidence_extracts": []}'
    return judgment(call, Unparsed(reason="the server cut the prompt: raise num_ctx"), raw_text=cut, steps=("prompt_cut",))


def replayed(view: RunView, path: Path) -> dict[PassKey, Outcome]:
    """The outcomes of all calls of a run when a recording answers them."""
    recording = open_judge(ModelReference("replay", str(path)), ModelSettings())
    context = CallContext(run_id="again", secret=b"secret", personas={}, language="en")
    judged = [JudgedCase(case=one, criteria=view.spec.criteria) for one in view.cases if one.response is not None]
    found: dict[PassKey, Outcome] = {}
    for one in view.spec.judges:
        for call in CallPlan(one, judged, {}):
            ((criterion, outcome),) = asyncio.run(recording.judge(call, context)).outcomes.items()
            found[call.case.id, criterion, one.name, call.pass_index, call.turn] = outcome
    return found


def test_an_exported_run_replays_to_the_same_verdicts(tmp_path: Path) -> None:
    cases = [case(n, response=None) for n in range(1, 7)]
    view = view_of(tmp_path, cases=cases, judges=(judge("alpha", passes=2), judge("beta")), say=say_everything_there_is)
    path = tmp_path / "judgments.jsonl"
    write_judgments_jsonl(view, path)
    again = replayed(view, path)
    assert len(again) == 6 * 2 * 3
    for place, made in view.judgments.items():
        before = made.verdicts[0].outcome
        if isinstance(before, TimedOut | Unreachable) or "prompt_cut" in made.steps:
            assert not isinstance(again[place], Scored)
        elif isinstance(before, Scored):
            assert again[place] == before
        else:
            assert again[place].name == before.name


@pytest.mark.parametrize("response", [None, RESPONSE])
def test_a_recorded_verdict_is_given_to_no_other_answer(tmp_path: Path, response: str | None) -> None:
    view = view_of(tmp_path, cases=[case(1, response=response)], say=everyone_says(4.0))
    path = tmp_path / "judgments.jsonl"
    write_judgments_jsonl(view, path)
    recording, (judged,) = read_recording(path), view.cases
    (criterion, *_) = view.spec.criteria
    other = msgspec.structs.replace(judged, response="Quite another answer.")
    assert recording.find(judged, "alpha", criterion.id) is not None
    assert recording.find(other, "alpha", criterion.id) is None


def test_the_targets_answers_are_part_of_the_recording(tmp_path: Path) -> None:
    answers = {"case-2": {"state": "unreachable", "text": "", "reason": "500"}}
    view = view_of(tmp_path, cases=[case(n, response=None) for n in (1, 2)], answers=answers, complete=False)
    write_judgments_jsonl(view, tmp_path / "judgments.jsonl")
    lines = read_recording(tmp_path / "judgments.jsonl").lines.values()
    assert [(line.case_id, line.text, line.seconds) for line in lines if line.asked == "target"] == [("case-1", RESPONSE, 2.0)]


def test_a_judge_in_code_has_no_text_and_keeps_its_outcomes(tmp_path: Path) -> None:
    def say(call: PlannedCall) -> Judgment:
        return judgment(call, Scored(score=4.0, explanation=f"About {call.case.id}."), raw_text="", steps=())

    cases = [case(n, response='{"score": 4, "explanation": "About case-1."}') for n in (1, 2)]
    view = view_of(tmp_path, cases=cases, judges=(judge("alpha", kind="code"),), say=say, variant=Rescoring(reparse=True))
    path = tmp_path / "judgments.jsonl"
    write_judgments_jsonl(view, path)
    assert all("text" not in json.loads(line) for line in path.read_bytes().splitlines())
    again = replayed(view, path)
    assert again == {place: made.verdicts[0].outcome for place, made in view.judgments.items()}
    assert {type(outcome) for outcome in again.values()} == {Scored}


def test_an_export_names_the_model_of_each_line_and_why_it_is_unfit_through_any_number_of_replays(tmp_path: Path) -> None:
    replayed = judge("gamma", kind="recording", unfit="too small", recorded_model="ollama:tiny")
    path = tmp_path / "judgments.jsonl"
    judges = (judge("alpha"), judge("beta", unfit="too small"), replayed)
    write_judgments_jsonl(view_of(tmp_path, cases=[case(1, response=None)], judges=judges), path)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {(one["asked"], one["model"], one.get("unfit")) for one in lines} == {
        ("target", "ollama:target-model", None),
        ("alpha", "ollama:judge-model", None),
        ("beta", "ollama:judge-model", "too small"),
        ("gamma", "ollama:tiny", "too small"),
    }


def test_the_console_names_the_failing_criteria_with_their_cases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def say(call: PlannedCall) -> Judgment:
        return judgment(call, Scored(score=0.0 if call.criteria[0].name == "danger" else 5.0))

    print_report(terminal_report(view_of(tmp_path, say=say), tmp_path))
    said = capsys.readouterr().out.partition("Final score")[0]
    assert "6 of 6 cases fail a criterion\n" in said
    assert [line.split(" · ")[:2] for line in said.splitlines() if "case-" in line] == [
        [f"  - case-{n}", "danger"] for n in range(1, 7)
    ]
    assert "insults" not in said
