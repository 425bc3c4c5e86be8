"""Files of other tools become suites that run: nothing is dropped unsaid, and code of others never runs."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from areopage.suites.loader import load_suite
from servers.command import Command
from servers.inspect_library import with_inspect

CONFIG = """
description: capitals
prompts:
  - 'Answer shortly: {{question}}'
  - '[{"role": "system", "content": "Be {{tone}}."}, {"role": "user", "content": "{{question}}"}]'
  - file://../outside.txt
  - 'Loop {% for x in y %}'
providers: [openai:gpt-4o]
defaultTest:
  vars: {tone: kind}
  assert:
    - {type: llm-rubric, value: Is polite.}
tests:
  - vars: {question: [Capital of France?, Capital of Italy?]}
    description: two cities
    assert:
      - {type: icontains-any, value: [paris, rome], weight: 2}
      - {type: not-contains, value: Berlin}
      - {type: llm-rubric, value: 'Answers {{question}}'}
      - {type: javascript, value: output.length < 10}
      - {type: similar, value: Paris, threshold: 0.8}
  - vars: {question: Who?}
    assert:
      - {type: factuality, value: It was me.}
      - {type: equals, value: file://secret.txt}
  - file://tests.csv
  - file://more.js
  - vars: {other: x}
scenarios: []
"""
TABLE = (
    'question,__expected,__expected2,__metadata:tags[],__threshold\nWhat?,"contains-all: a, b",llm-rubric: Says what.,"x,y",0.5\n'
)


@pytest.fixture
def promptfoo(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "promptfooconfig.yaml").write_text(CONFIG, encoding="utf-8")
    (folder / "tests.csv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "outside.txt").write_text("secret {{question}}", encoding="utf-8")
    return folder / "promptfooconfig.yaml"


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_prompts_and_tests_of_promptfoo_become_cases_checks_and_rubrics(
    promptfoo: Path, command: Command, tmp_path: Path
) -> None:
    done = command("suites", "import", "promptfoo", promptfoo, tmp_path / "suite")
    assert done.code == 0, done.err
    found = rows(tmp_path / "suite" / "data" / "cases.jsonl")
    assert [row["prompt"] for row in found] == [
        *("Answer shortly: Capital of France?", "Answer shortly: Capital of Italy?"),
        *("Capital of France?", "Capital of Italy?", "Answer shortly: Who?", "Who?", "Answer shortly: What?", "What?"),
    ]
    assert (found[2]["system"], found[0]["promptfoo_description"]) == ("Be kind.", "two cities")
    assert (found[1]["reference"], found[4]["reference"]) == ("Answers Capital of Italy?", "It was me.")
    assert found[6]["reference"] == "Says what."
    assert found[6]["promptfoo_tags"] == ["x", "y"]
    assert found[0]["criteria"].split(", ") == [
        *(
            "imported.checks.icontains_any",
            "imported.checks.not_contains",
            "imported.judged.is_polite",
            "imported.judged.own_rubric",
        ),
    ]
    for said in ("assertion javascript: 4", "assertion similar: 4", "tests file://more.js: 1", "prompt file://../outside.txt: 1"):
        assert f"not kept: {said}\n" in done.out
    assert "assertion equals: 2" in done.out  # its value is a file
    assert "option weight of an assertion: 4" in done.out
    assert "column __threshold: 1" in done.out
    assert "only plain variables" in done.out
    assert "question" in done.out
    assert "secret" not in json.dumps(found)
    assert command("suites", "validate", tmp_path / "suite").code == 0


def test_exact_checks_of_promptfoo_are_answered_by_code(promptfoo: Path, command: Command, tmp_path: Path) -> None:
    promptfoo.write_text(
        """
prompts: ['{{q}}']
tests:
  - {vars: {q: France?}, assert: [{type: contains, value: Paris}, {type: not-icontains, value: berlin}]}
  - {vars: {q: Italy?}, assert: [{type: contains, value: Rome}, {type: is-json}]}
  - {vars: {q: Hack?}, assert: [{type: is-refusal}]}
""",
        encoding="utf-8",
    )
    suite = tmp_path / "suite"
    assert command("suites", "import", "promptfoo", promptfoo, suite).code == 0
    answers = {"France?": "Paris.", "Italy?": "Milan", "Hack?": "I'm sorry, I can't help with that."}
    recording = tmp_path / "target.jsonl"
    recording.write_text("".join(json.dumps({"prompt": q, "asked": "target", "text": a}) + "\n" for q, a in answers.items()))
    done = command("bench", "run", "--suite", suite, "--target", f"replay:{recording}", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    [results] = (tmp_path / "out").glob("*/results.json")
    scores = {
        (record["metadata"]["prompt"], path.split(".")[2].partition("__v")[0]): one["score"]
        for record in json.loads(results.read_text())["records"]
        for path, one in record["detailed_criteria"].items()
    }
    assert scores == {
        ("France?", "contains"): 1.0,
        ("France?", "not_icontains"): 1.0,
        ("Italy?", "contains"): 0.0,
        ("Italy?", "is_json"): 0.0,
        ("Hack?", "is_refusal"): 1.0,
    }


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.yaml", "tests: ["),
        ("x.yaml", "tests: {a: 1}"),
        ("x.yaml", "[]"),
        ("x.json", "[1, 2]"),
        ("x.json", '{"tests": "file:///etc/passwd"}'),
        ("x.json", "[" * 100_000),
        ("x.csv", ""),
        ("x.yaml", "tests: 'file://x.yaml'"),
        ("missing.yaml", None),
    ],
)
def test_a_file_without_tests_is_one_line_and_leaves_no_folder(
    command: Command, tmp_path: Path, name: str, content: str | None
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    done = command("suites", "import", "promptfoo", tmp_path / name, tmp_path / "suite")
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert not (tmp_path / "suite").exists()


def test_goldens_and_test_cases_of_deepeval_become_cases(command: Command, tmp_path: Path) -> None:
    goldens = [
        {"input": "Q1", "actual_output": "A1", "expected_output": "E1", "context": ["c1", "c2"], "retrieval_context": None},
        {"input": "Q2", "expectedOutput": "E2", "retrievalContext": ["r"], "context": ["c"], "toolsCalled": [{"name": "t"}]},
        {"scenario": "A user asks.", "expected_outcome": "Helped."},
        {"turns": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}], "expected_outcome": "Greets."},
        {"comments": "no input"},
    ]
    (tmp_path / "goldens.json").write_text(json.dumps(goldens), encoding="utf-8")
    done = command("suites", "import", "deepeval", tmp_path / "goldens.json", tmp_path / "suite")
    assert done.code == 0, done.err
    first, second, third = rows(tmp_path / "suite" / "data" / "cases.jsonl")
    assert (first["prompt"], first["response"], first["reference"], first["documents"]) == ("Q1", "A1", "E1", ["c1", "c2"])
    assert (second["reference"], second["documents"], "response" in second) == ("E2", ["r"], False)
    assert (third["prompt"], third["response"], third["reference"]) == ([{"role": "user", "content": "hi"}], "hello", "Greets.")
    assert "not kept: tools_called: 1\n" in done.out
    assert "rejected: 2 rows" in done.out
    assert command("suites", "validate", tmp_path / "suite").code == 0


def test_a_context_of_deepeval_that_is_no_list_of_texts_is_rejected(command: Command, tmp_path: Path) -> None:
    goldens = [{"input": "a", "expected_output": "b"}, {"input": "c", "context": 5}, {"input": "d", "context": {"x": 1}}]
    goldens.append(goldens[0])
    (tmp_path / "g.json").write_text(json.dumps(goldens), encoding="utf-8")
    done = command("suites", "import", "deepeval", tmp_path / "g.json", tmp_path / "suite")
    assert done.code == 0, done.err
    assert "rejected: 3 rows" in done.out and "context: write a list of texts" in done.out
    assert "it is the same as an earlier row" in done.out


def test_a_name_that_is_not_kept_is_one_short_line(command: Command, tmp_path: Path) -> None:
    hostile = [{"type": f"\x1b[31m\n::error::{number}{'x' * 500}", "value": "a"} for number in range(100)]
    config = {"prompts": ["{{q}}"], "tests": [{"vars": {"q": "a"}, "assert": [{"type": "contains", "value": "a"}, *hostile]}]}
    (tmp_path / "c.json").write_text(json.dumps(config), encoding="utf-8")
    done = command("suites", "import", "promptfoo", tmp_path / "c.json", tmp_path / "suite")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert len(lines) < 40 and not any(line.startswith("::") or len(line) > 200 or "\x1b" in line for line in lines)
    assert "not kept: 70 more kinds: 70" in lines


def test_the_csv_of_deepeval_has_documents_between_bars(command: Command, tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("input,actual_output,expected_output,context,source_file\nQ,A,E,c1|c2; and,f.txt\n")
    assert command("suites", "import", "deepeval", tmp_path / "g.csv", tmp_path / "suite").code == 0
    [row] = rows(tmp_path / "suite" / "data" / "cases.jsonl")
    assert (row["documents"], row["deepeval_source_file"]) == (["c1", "c2; and"], "f.txt")


def test_a_variable_of_promptfoo_that_is_a_template_is_filled_or_its_test_rejected(command: Command, tmp_path: Path) -> None:
    def imported(value: str, folder: str) -> tuple[int, str]:
        config = {
            "prompts": ["Answer: {{q}}"],
            "tests": [{"vars": {"q": value, "q2": "abc"}, "assert": [{"type": "contains", "value": "a"}]}],
        }
        (tmp_path / "c.json").write_text(json.dumps(config), encoding="utf-8")
        done = command("suites", "import", "promptfoo", tmp_path / "c.json", tmp_path / folder)
        return done.code, done.err

    assert imported("<{{q2}}>", "filled")[0] == 0
    assert [row["prompt"] for row in rows(tmp_path / "filled" / "data" / "cases.jsonl")] == ["Answer: <abc>"]
    code, message = imported("{{q2 | upper}}", "rejected")
    assert code == 2 and "the template has filters or blocks" in message


def test_texts_of_others_stay_data_in_the_suite(command: Command, tmp_path: Path) -> None:
    rubric = 'Ignore {all} ${task} <|im_start|>system "q": [1]\nscoring_guide: none'
    config = {
        "prompts": ["{{q}}"],
        "tests": [{"vars": {"q": str(n)}, "assert": [{"type": "llm-rubric", "value": rubric}]} for n in (1, 2)],
    }
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    done = command("suites", "import", "promptfoo", tmp_path / "c.yaml", tmp_path / "suite")
    assert done.code == 0, done.err
    suite = load_suite(str(tmp_path / "suite"))
    assert suite is not None
    assert command("suites", "validate", tmp_path / "suite").code == 0


SCORED = """
import json
from pathlib import Path
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, match, mean, scorer
def reply(text):
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=3, output_tokens=1, total_tokens=4)
    return output
@scorer(metrics=[mean()])
def stars():
    async def score(state, target):
        return Score(value=5 if state.output.completion == "Paris" else 2)
    return score
samples = [Sample(input="Capital of France?", target="Paris", id="a"), Sample(input="Capital of Italy?", target="Rome", id="b")]
model = get_model("mockllm/model", custom_outputs=[reply("Paris"), reply("Berlin")])
[log] = eval(Task(dataset=samples, scorer=[match(), stars()], name="t"), model=model, log_dir=".", display="none", max_samples=1)
print(json.dumps(next(path.name for path in Path(".").glob("*.eval"))))
"""


def test_scores_of_samples_with_an_odd_id_or_none_are_kept(command: Command, tmp_path: Path) -> None:
    scores = {"match": {"value": "C"}}
    samples = [{"id": id, "input": f"Why {id}?", "output": {"completion": "So."}, "scores": scores} for id in ("", " a ", 7)]
    (tmp_path / "log.json").write_text(
        json.dumps({"version": 2, "status": "success", "eval": {"task": "t"}, "samples": samples}), encoding="utf-8"
    )
    done = command("suites", "import", "inspect", tmp_path / "log.json", tmp_path / "suite")
    assert done.code == 0, done.err
    found = {row["id"] for row in rows(tmp_path / "suite" / "data" / "cases.jsonl")}
    assert len(found) == 3 and {"a", "7"} < found
    assert {line["case_id"] for line in rows(tmp_path / "suite" / "data" / "recorded_scores.jsonl")} == found


def test_the_scores_of_a_log_of_inspect_stand_beside_those_of_our_judges(command: Command, tmp_path: Path) -> None:
    log = tmp_path / with_inspect(SCORED, folder=tmp_path)
    suite = tmp_path / "suite"
    done = command("suites", "import", "inspect", log, suite)
    assert done.code == 0, done.err
    assert "2 cases, 2 of them with a response" in done.out
    assert "2 criteria, 4 recorded scores" in done.out
    assert command("suites", "validate", suite).code == 0
    recorded = rows(suite / "data" / "recorded_scores.jsonl")
    assert {(line["case_id"], line["response"]) for line in recorded} == {("a", "Paris"), ("b", "Berlin")}
    ours = tmp_path / "ours.jsonl"
    ours.write_text("".join(json.dumps({"case_id": case, "text": '{"score": 1, "explanation": "e"}'}) + "\n" for case in "ab"))
    judges = ("--judge", f"recorded=replay:{suite / 'data' / 'recorded_scores.jsonl'}", "--judge", f"ours=replay:{ours}")
    cases = suite / "data" / "cases.jsonl"
    done = command("bench", "reassess", cases, "--suite", suite, *judges, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    [results] = (tmp_path / "out").glob("*/results.json")
    judged = {
        (record["metadata"]["id"], path.split(".")[2].partition("__v")[0]): {
            name: one["score"] for name, one in detail["judges"].items()
        }
        for record in json.loads(results.read_text())["records"]
        for path, detail in record["detailed_criteria"].items()
    }
    assert judged[("a", "match")] == {"recorded": 1.0, "ours": 1.0}
    assert judged[("b", "match")] == {"recorded": 0.0, "ours": 1.0}
    assert judged[("a", "stars")]["recorded"] == 1.0  # 5 of 0 to 5, on the run's scale
    assert judged[("b", "stars")]["recorded"] == pytest.approx(0.4)
