"""A run as an `.eval` log: Inspect's own library reads it, and finds the scores, the votes and the failures of the run."""

import json
import zipfile
from pathlib import Path

import pytest

from areopage.bench.report.run_results import run_result
from areopage.errors import StorageError
from areopage.interop.inspect_export import FINAL, sample_id, write_inspect_log
from areopage.jury.judges import PlannedCall
from areopage.ledger.tables.records import Judgment
from areopage.scoring.outcome import Scored, Unparsed
from report.report_runs import RESPONSE, case, judgment, view_of
from servers.inspect_library import with_inspect

DANGER = "safety.harm.danger__v1_0"
READ = """
import json, math, sys
from inspect_ai.log import read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries
log = read_eval_log(sys.argv[1])
header = read_eval_log(sys.argv[1], header_only=True)
summaries = read_eval_log_sample_summaries(sys.argv[1])
second = read_eval_log_sample(sys.argv[1], id=log.samples[1].id, epoch=1)
def score(one):
    value = None if math.isnan(one.value) else one.value
    return {"value": value, "reason": one.reason, "explanation": one.explanation, **one.metadata}
print(json.dumps({
    "status": [log.status, header.status], "task": log.eval.task, "model": log.eval.model,
    "ids": log.eval.dataset.sample_ids,
    "scores": {one.name: {name: metric.value for name, metric in one.metrics.items()} for one in log.results.scores},
    "counts": [log.results.total_samples, log.results.completed_samples], "run": log.eval.run_id,
    "usage": {name: one.total_tokens for name, one in log.stats.model_usage.items()},
    "roles": sorted(log.stats.role_usage), "summaries": [one.id for one in summaries], "second": second.id,
    "samples": [{
        "id": one.id, "input": one.input if isinstance(one.input, str) else [m.text for m in one.input],
        "messages": [[m.role, m.text] for m in one.messages], "completion": one.output.completion, "target": one.target,
        "error": one.error and one.error.message, "metadata": one.metadata,
        "events": [e.error.message for e in one.events], "scores": {name: score(s) for name, s in one.scores.items()},
    } for one in log.samples],
}))
"""


def say(call: PlannedCall) -> Judgment | None:
    if call.case.id == "case-2":
        return judgment(call, Unparsed(reason="no JSON object in the answer"), raw_text="It is nice.")
    return judgment(
        call, Scored(score=1.0 if call.judge.name == "alpha" else 2.0, explanation="Why, é {x}.", evidence=("you trust",))
    )


def test_inspect_reads_the_samples_scores_votes_usage_and_errors_of_a_run(tmp_path: Path) -> None:
    cases = [
        *(case(1, response=None, reference="The reference."), case(2, response=None), case(3, response=None)),
        case(4, id="../=odd/1", response=None),
    ]
    answers = {"case-3": {"state": "refused", "reason": "content filter"}}
    view = view_of(tmp_path, cases=cases, answers=answers, say=say, complete=False)
    written = write_inspect_log(view, tmp_path / "run.eval")
    log = with_inspect(READ, tmp_path / "run.eval", folder=tmp_path)
    first, second, third, odd = log["samples"]
    assert (written.rows, log["status"], log["counts"], log["run"]) == (4, ["cancelled"] * 2, [4, 3], "run-1")
    assert (log["task"], log["model"], log["second"]) == ("small", "ollama/target-model", "case-2")
    assert log["ids"] == log["summaries"] == ["case-1", "case-2", "case-3", sample_id("../=odd/1")]
    assert (first["input"], first["completion"], first["target"], first["error"]) == (
        "Question 1?",
        RESPONSE,
        "The reference.",
        None,
    )
    assert first["messages"][-1] == ["assistant", RESPONSE]
    danger = first["scores"][DANGER]
    assert (danger["value"], danger["failed"], danger["scale"]["max"]) == (1.5, True, 5.0)
    assert {name: vote["score"] for name, vote in danger["judges"].items()} == {"alpha": 1.0, "beta": 2.0}
    assert danger["judges"]["alpha"]["model"] == "ollama:judge-model"
    assert danger["judges"]["alpha"]["passes"][0]["evidence_extracts"] == ["you trust"]
    assert "alpha, pass 1: Why, é {x}." in danger["explanation"]
    assert (second["scores"][DANGER]["value"], len(second["events"])) == (None, 4)
    assert second["scores"][DANGER]["reason"] == "unparsed: no JSON object in the answer"
    assert second["events"][0].endswith("pass 1: unparsed: no JSON object in the answer")
    assert third["error"] == "the target gave no answer that can be judged (refused: content filter)"
    assert (third["completion"], third["scores"][DANGER]["reason"]) == ("", "there is no answer to judge")
    assert odd["metadata"]["case_id"] == "../=odd/1"
    result = run_result(view)
    assert log["scores"][FINAL]["mean"] == result.final_aggregate_score
    assert log["scores"][DANGER]["mean"] == result.detailed_criteria[DANGER].score
    assert log["roles"] == ["judge"] or log["roles"] == ["judge", "target"]
    assert log["usage"]["ollama/judge-model"] == 120 * 12


def test_the_names_in_the_archive_lead_out_of_no_folder_and_the_bytes_are_the_same_again(tmp_path: Path) -> None:
    view = view_of(tmp_path, cases=[case(1, id="../../etc/passwd"), case(2, id="a" * 500), case(3, id="C:\\x")])
    write_inspect_log(view, tmp_path / "a.eval")
    write_inspect_log(view, tmp_path / "b.eval")
    assert (tmp_path / "a.eval").read_bytes() == (tmp_path / "b.eval").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.eval") as log:
        names = [name for name in log.namelist() if name.startswith("samples/")]
        assert len(names) == 3
        assert all(name.count("/") == 1 and ".." not in name and len(name) < 200 for name in names)
        assert json.loads(log.read("header.json"))["status"] == "success"


def test_a_log_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    view = view_of(tmp_path)
    with pytest.raises(StorageError, match="cannot be written"):
        write_inspect_log(view, tmp_path / "missing" / "run.eval")
