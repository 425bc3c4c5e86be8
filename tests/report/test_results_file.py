"""`results.json`: the keys of V1.1, what null means, the schema, and files that are whole or absent."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from areopage.app.schemas import schema_text
from areopage.bench.report.files import write_results
from areopage.bench.report.records import SCHEMA_NAME, results_type
from areopage.bench.report.run_results import record_results, run_result
from areopage.criteria.records import Scale
from areopage.errors import StorageError
from areopage.jury.judges import PlannedCall
from areopage.jury.rescoring import Rescoring
from areopage.ledger.tables.records import Judgment
from areopage.locales import Note
from areopage.scoring.outcome import Scored, TimedOut, Unparsed

from .report_runs import RESPONSE, case, criterion, everyone_says, judge, judgment, view_of

V1_1_KEYS = {
    "final_aggregate_score",
    "category_scores",
    "subcategory_scores",
    "detailed_criteria",
    "consistency_metrics",
    "metadata",
}
DANGER = "safety.harm.danger__v1_0"


def written(folder: Path, **changes: Any) -> Any:
    write_results(view_of(folder, **changes), folder / "results.json")
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))


def test_the_run_and_every_record_carry_exactly_the_six_keys_of_v1_1(tmp_path: Path) -> None:
    results = written(tmp_path)
    assert results["schema"] == "areopage/results/1"
    assert set(results) == {"schema", "release", "people", "trust", "run", "records"}
    assert set(results["run"]) == V1_1_KEYS
    assert len(results["records"]) == 6
    assert all(set(record) == V1_1_KEYS for record in results["records"])


def test_a_written_file_holds_to_the_schema(tmp_path: Path) -> None:
    def say(call: PlannedCall) -> Judgment | None:
        if call.case.id == "case-2":
            return None
        if call.case.id == "case-3":
            return judgment(call, TimedOut(reason="no answer in 5 s"), prompt_tokens=None)
        return judgment(call, Scored(score=3.5, explanation="é", evidence=("you trust",)))

    results = written(tmp_path, say=say, complete=False, cases=[case(n, response=None) for n in range(1, 7)])
    jsonschema.validate(results, json.loads(schema_text("results")), format_checker=jsonschema.FormatChecker())
    results["run"]["final_aggregate_score"] = "3.5"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(results, json.loads(schema_text("results")))


def test_the_stream_says_the_same_as_the_whole(tmp_path: Path) -> None:
    view = view_of(tmp_path)
    write_results(view, tmp_path / "results.json")
    whole = {
        "schema": SCHEMA_NAME,
        "release": None,
        "people": None,
        "trust": view.trust,
        "run": run_result(view),
        "records": tuple(record_results(view)),
    }
    stream = (tmp_path / "results.json").read_bytes()
    file = results_type()
    assert msgspec.json.decode(stream, type=file) == msgspec.json.decode(msgspec.json.encode(whole), type=file)


def test_a_run_without_cases_that_can_be_judged_is_still_valid(tmp_path: Path) -> None:
    results = written(tmp_path, judges=(judge("alpha", criteria=("tone",)),))
    assert results["run"]["final_aggregate_score"] is None
    assert [record["final_aggregate_score"] for record in results["records"]] == [None] * 6
    jsonschema.validate(results, json.loads(schema_text("results")))


def test_scores_are_weighed_and_named_by_category_and_subcategory(tmp_path: Path) -> None:
    def say(call: PlannedCall) -> Judgment:
        return judgment(call, Scored(score=5.0 if call.criteria[0].name == "danger" else 1.0))

    run = written(tmp_path, say=say)["run"]
    assert run["final_aggregate_score"] == pytest.approx(0.75 * 5 + 0.25 * 1)
    assert run["category_scores"] == {"safety": pytest.approx(4.0)}
    assert run["subcategory_scores"] == {"safety.harm": pytest.approx(4.0)}
    danger = run["detailed_criteria"][DANGER]
    assert (danger["score"], danger["weight"], danger["final_share"]) == (5.0, 0.75, 0.75)
    assert (danger["cases_scored"], danger["cases"]) == (6, 6)
    assert danger["coverage"] == {"scored": 12, "not_applicable": 0, "planned": 12}


def test_what_is_unscored_is_null_and_never_zero(tmp_path: Path) -> None:
    def say(call: PlannedCall) -> Judgment:
        broken = judgment(call, Unparsed(reason="broken"), raw_text="well...")
        return judgment(call, Scored(score=3.0)) if call.case.id == "case-6" else broken

    results = written(tmp_path, say=say)
    record = results["records"][0]
    assert results["run"]["final_aggregate_score"] == 3.0
    assert record["final_aggregate_score"] is None
    assert record["category_scores"] == {"safety": None}
    one = record["detailed_criteria"][DANGER]["judges"]["alpha"]["passes"][0]
    assert (one["outcome"], one["score"], one["reason"], one["raw_response"]) == ("unparsed", None, "broken", "well...")


def test_a_pass_that_was_not_made_says_so(tmp_path: Path) -> None:
    def say(call: PlannedCall) -> Judgment | None:
        return None if call.case.id == "case-1" else judgment(call, Scored(score=3.0))

    detail = written(tmp_path, say=say, complete=False)["records"][0]["detailed_criteria"][DANGER]
    one = detail["judges"]["alpha"]["passes"][0]
    assert (one["outcome"], one["seconds"]) == ("not_run", None)
    assert detail["coverage"] == {"scored": 0, "not_applicable": 0, "planned": 2}


def test_explanations_are_joined_with_judge_and_pass_named(tmp_path: Path) -> None:
    view = written(tmp_path, judges=(judge("alpha", passes=2), judge("beta")), say=everyone_says(4, "Kind."))
    detail = view["records"][0]["detailed_criteria"][DANGER]
    assert detail["explanations"] == "alpha, pass 1: Kind.\n\nalpha, pass 2: Kind.\n\nbeta, pass 1: Kind."


def test_evidence_is_verbatim_when_only_white_space_differs(tmp_path: Path) -> None:
    say = everyone_says(4, "", ("adult you  trust", "adult they trust", "  "))
    evidence = written(tmp_path, say=say)["records"][0]["detailed_criteria"][DANGER]["evidence"]
    assert [one["verbatim"] for one in evidence[:3]] == [True, False, False]
    assert evidence[0] | {"judge": "alpha", "pass_index": 1, "text": "adult you  trust"} == evidence[0]


def test_a_score_on_another_scale_is_mapped_and_kept_as_given(tmp_path: Path) -> None:
    criteria = (criterion("danger", scale=Scale(0.0, 10.0, higher_is_better=False)),)
    results = written(tmp_path, criteria=criteria, say=everyone_says(2.0))
    one = results["records"][0]["detailed_criteria"][DANGER]["judges"]["alpha"]["passes"][0]
    assert (one["given_score"], one["score"]) == (2.0, 4.0)


def test_the_metadata_tell_how_the_run_came_about(tmp_path: Path) -> None:
    view = view_of(
        tmp_path,
        judges=(judge("alpha", unfit="too small"),),
        variant=Rescoring(reparse=True),
        remarks=(Note("config_key", {"told": "note"}),),
    )
    meta = run_result(view).metadata
    assert (meta.run_id, meta.suite, meta.mode, meta.complete) == ("run-1", "small", "attack", True)
    assert (meta.judges[0].qualification.reason, meta.judges[0].health.outcomes["scored"]) == ("too small", 12)
    assert (meta.variant, meta.remarks, meta.settled_weights) == (
        "raw texts parsed again",
        ("note",),
        {"safety": 1.0, "safety.harm": 1.0},
    )
    assert b'"created_at":"2026-11-21T14:05:00Z"' in msgspec.json.encode(meta)


def test_an_answer_that_never_came_is_told_with_its_reason(tmp_path: Path) -> None:
    answers = {"case-2": {"state": "timed_out", "text": "", "reason": "no answer in 5 s"}}
    results = written(tmp_path, cases=[case(n, response=None) for n in (1, 2)], answers=answers, complete=False)
    first, second = (record["metadata"] for record in results["records"])
    assert (first["response"], first["answer"]["state"]) == (RESPONSE, "answered")
    assert (second["response"], second["answer"]["reason"]) == (None, "no answer in 5 s")
    assert results["run"]["metadata"]["counts"] | {"cases": 2, "answered": 1, "scored": 1} == results["run"]["metadata"]["counts"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_one_line_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"^/dev/full cannot be written: No space left on device$"):
        write_results(view_of(tmp_path), Path("/dev/full"))


def test_a_folder_that_is_none_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"results\.json cannot be written"):
        write_results(view_of(tmp_path), tmp_path / "file" / "results.json")
