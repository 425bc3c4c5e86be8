"""The GitHub Action and the GitLab template: valid files whose scripts run, step by step, on a recorded jury."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from servers import PATIENCE
from servers.command import SOURCE
from servers.small_suite import write_suite
from servers.stand_in import stand_in

INTEGRATIONS = Path(__file__).parents[2] / "integrations"
ACTION, TEMPLATE = INTEGRATIONS / "github" / "action.yml", INTEGRATIONS / "gitlab" / "areopage.yml"
PACKAGE = find_spec("check_jsonschema")
assert PACKAGE is not None and PACKAGE.origin
SCHEMAS = Path(PACKAGE.origin).parent / "builtin_schemas" / "vendor"
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
CASES = 30


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("path", "schema"), [(ACTION, "github-actions.json"), (TEMPLATE, "gitlab-ci.json")])
def test_the_files_are_valid(path: Path, schema: str) -> None:
    found = json.loads((SCHEMAS / schema).read_text(encoding="utf-8"))
    jsonschema.validators.validator_for(found)(found).validate(read(path))


def test_the_workflows_of_the_page_are_valid() -> None:
    text = (INTEGRATIONS.parent / "docs" / "ci.md").read_text(encoding="utf-8")
    workflow, job = (yaml.load(one, yaml.BaseLoader) for one in re.findall("^```yaml\n(.*?)^```", text, re.S | re.M))
    for found, schema in ((workflow, "github-workflows.json"), (job, "gitlab-ci.json")):
        rules = json.loads((SCHEMAS / schema).read_text(encoding="utf-8"))
        jsonschema.validators.validator_for(rules)(rules).validate(found)
    steps = workflow["jobs"]["answers"]["steps"]
    used = next(step for step in steps if step.get("uses") == "./.github/actions/areopage")
    assert set(used["with"]) <= set(read(ACTION)["inputs"])
    assert set(job["answers"]["variables"]) <= set(read(TEMPLATE)[".areopage"]["variables"])


def test_no_script_of_the_action_holds_an_expression() -> None:
    """What stands in an input would be run as a part of the script."""
    scripts = [step["run"] for step in read(ACTION)["runs"]["steps"] if "run" in step]
    assert len(scripts) == 5 and not any(EXPRESSION.search(script) for script in scripts)


@dataclass
class Runner:
    """A machine of CI in a folder: what it runs are the scripts of the files, one after the other, in a shell."""

    folder: Path
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    used: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        python = self.folder / "bin" / "python"
        python.write_text('#!/bin/sh\necho "$@" >> "$PIP_LOG"\n', encoding="utf-8")
        python.chmod(0o755)

    @property
    def summary(self) -> str:
        return (self.folder / "summary").read_text(encoding="utf-8")

    def shell(self, script: str, environment: dict[str, str], *words: str) -> int:
        bare = {name: value for name, value in os.environ.items() if not name.startswith("AREOPAGE")}
        own = {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(SOURCE)}
        own |= {"PIP_LOG": str(self.folder / "pip.log")}
        done = subprocess.run(
            [*words, "-c", script],
            cwd=self.folder / "work",
            env=bare | own | environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert "Traceback" not in done.stderr, done.stderr
        self.said = done.stdout + done.stderr
        return done.returncode

    def action(self, **inputs: str) -> int:
        """Run the action; the exit code of the step that fails, else 0."""
        action = read(ACTION)
        given = {name: str(one.get("default", "")) for name, one in action["inputs"].items()}
        given |= {name.replace("_", "-"): value for name, value in inputs.items()}
        self.outputs, self.used = {}, []
        (self.folder / "summary").write_text("", encoding="utf-8")
        for number, step in enumerate(action["runs"]["steps"]):
            if step.get("if") and not self._holds(step["if"], given):
                continue
            if "uses" in step:
                self.used.append(step["uses"])
                continue
            place = self.folder / f"output-{number}"
            place.write_text("", encoding="utf-8")
            environment = {name: self._value(text, given) for name, text in step.get("env", {}).items()}
            environment |= {"GITHUB_OUTPUT": str(place), "GITHUB_STEP_SUMMARY": str(self.folder / "summary")}
            code = self.shell(step["run"], environment, "bash", "--noprofile", "--norc", "-eo", "pipefail")
            self.told[step.get("id", f"{number}")] = self.said
            lines = place.read_text(encoding="utf-8").splitlines()
            self.outputs[step.get("id", f"{number}")] = dict(line.split("=", 1) for line in lines)
            if code:
                return code
        return 0

    def job(self, **variables: str) -> int:
        """Run the template's job."""
        template = read(TEMPLATE)[".areopage"]
        environment = {**template["variables"], **variables}
        script = "\n".join([*template["before_script"], *template["script"]])
        return self.shell(script, environment, "sh", "-e")

    def _value(self, text: str, given: dict[str, str]) -> str:
        return EXPRESSION.sub(lambda found: self._looked_up(found[1], given), text)

    def _looked_up(self, name: str, given: dict[str, str]) -> str:
        kind, _, rest = name.partition(".")
        if kind == "inputs":
            return given[rest]
        step, _, output = rest.partition(".outputs.")
        assert kind == "steps", name
        return self.outputs.get(step, {}).get(output, "")

    def _holds(self, condition: str, given: dict[str, str]) -> bool:
        left, right = EXPRESSION.fullmatch(condition.strip())[1].split("==")  # type: ignore[index]
        return self._looked_up(left.strip(), given) == right.strip().strip("'")


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    """A runner with a project: a suite, a recorded judge, and answers of which none is bad."""
    work = tmp_path / "work"
    write_suite(work / "suite", release={"max_failures": {"safety": 10}, "unexamined": "accept"})
    lines: list[dict[str, Any]] = []
    for number in range(CASES):
        asked = {"prompt": f"Question {number}?", "asked": "alpha"}
        lines.append({**asked, "score": 5})
        lines.append({**asked, "criterion": "safety.harm.danger", "response": "DANGER", "score": 0})
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (work / "verdicts.jsonl").write_text(text, encoding="utf-8")
    write_answers(work, bad=0)
    (tmp_path / "bin").mkdir()
    with stand_in(tmp_path / "bin" / "areopage"):
        yield Runner(tmp_path)


def write_answers(work: Path, bad: int) -> None:
    answers = ["DANGER"] * bad + ["Fine."] * (CASES - bad)
    rows = [{"id": f"c{n}", "prompt": f"Question {n}?", "age": "9", "response": one} for n, one in enumerate(answers)]
    (work / "answers.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


INPUTS = {"suite": "suite", "dataset": "answers.jsonl", "judge": "alpha=replay:verdicts.jsonl", "options": "--passes 1"}
VARIABLES = {
    "AREOPAGE_SUITE": "suite",
    "AREOPAGE_DATASET": "answers.jsonl",
    "AREOPAGE_JUDGE": "alpha=replay:verdicts.jsonl",
}
REPORTS = ["junit.xml", "results.sarif", "summary.md"]


@pytest.mark.long
def test_the_action_keeps_a_baseline_and_fails_a_regression(runner: Runner) -> None:
    reports = runner.folder / "work" / "areopage-reports"
    assert runner.action(**INPUTS, keep_baseline="true", language="fr") == 0, runner.said
    assert sorted(path.name for path in reports.iterdir()) == REPORTS
    assert "ACCEPTÉ" in runner.summary and runner.outputs["run"]["code"] == "0"
    assert [name.partition("@")[0] for name in runner.used] == ["actions/cache", "actions/upload-artifact"]
    assert (runner.folder / "pip.log").read_text(encoding="utf-8") == "-m pip install --quiet areopage\n"
    assert runner.action(**INPUTS) == 0, runner.said
    assert runner.outputs["compare"]["code"] == "0" and "no difference beyond chance" in runner.summary
    write_answers(runner.folder / "work", bad=9)
    assert runner.action(**INPUTS, upload_sarif="true") == 1, runner.said
    assert (runner.outputs["run"]["code"], runner.outputs["compare"]["code"]) == ("0", "1")
    assert "REGRESSION" in runner.summary and "github/codeql-action/upload-sarif@v3" in runner.used
    assert len(json.loads((reports / "results.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]) == 9


@pytest.mark.long
def test_the_main_branch_compares_before_it_keeps_and_a_fail_is_a_baseline(runner: Runner) -> None:
    work, baseline = runner.folder / "work", runner.folder / "work" / ".areopage" / "baseline"
    write_suite(work / "suite", release={"max_failures": {"safety": 0}})
    write_answers(work, bad=1)
    assert runner.action(**INPUTS, keep_baseline="true") == 1, runner.said
    first = runner.outputs["run"]["run"]
    assert baseline.read_text(encoding="utf-8").strip() == first, "a product with a known failure is compared, too"
    write_answers(work, bad=12)
    assert runner.action(**INPUTS, keep_baseline="true") == 1, runner.said
    assert runner.outputs["compare"]["code"] == "1" and "REGRESSION" in runner.summary
    assert baseline.read_text(encoding="utf-8").strip() == first, "a worse run is not what later ones are compared with"
    assert runner.action(**INPUTS, keep_baseline="accept") == 1
    assert baseline.read_text(encoding="utf-8").strip() == runner.outputs["run"]["run"]
    assert runner.action(**INPUTS, keep_baseline="true") == 1
    assert runner.outputs["compare"]["code"] == "0"
    write_answers(work, bad=1)
    assert runner.job(**VARIABLES, AREOPAGE_KEEP="true") == 1, runner.said
    assert (work / "areopage-reports" / "comparison.md").is_file()


def test_the_action_says_what_is_inconclusive_and_stops_at_a_mistake(runner: Runner) -> None:
    few = INPUTS | {"options": "--passes 1 --criteria tone"}
    assert runner.action(**few) == 3 and runner.outputs["run"]["code"] == "3", runner.said
    assert runner.action(**few, fail_on_inconclusive="false") == 0, runner.said
    assert runner.action(**INPUTS | {"dataset": "missing.jsonl"}) == 2
    assert "no such file" in runner.said and "report" not in runner.outputs, "an earlier run is not reported in its place"


def test_the_judges_are_examined_first_where_the_workflow_wants_it(runner: Runner) -> None:
    assert runner.action(**INPUTS | {"examine": "true"}) == 2, "the suite has no gold set"
    assert "gold.jsonl" in runner.said and "run" not in runner.outputs.get("run", {})
    assert runner.job(**VARIABLES | {"AREOPAGE_EXAMINE": "true"}) == 2 and "gold.jsonl" in runner.said


def test_what_cases_say_is_no_command_of_the_workflow(runner: Runner) -> None:
    assert runner.action(**INPUTS, keep_baseline="true") == 0
    dataset = runner.folder / "work" / "answers.jsonl"
    row = {"id": "::error::x", "prompt": "Question 0?", "age": "9", "response": "DANGER", "maturity": "::warning::y"}
    dataset.write_text(dataset.read_text(encoding="utf-8") + json.dumps(row) + "\n", encoding="utf-8")
    assert runner.action(**INPUTS) in (0, 1, 3)
    for step in ("run", "compare"):
        found = re.search(r"^::stop-commands::([0-9a-f]{32})\n(.*)\n::\1::\n", runner.told[step], re.S | re.M)
        assert found, runner.told[step]
        outside = runner.told[step].replace(found[0], "")
        assert not re.search(r"^\s*::", outside, re.M), outside


def test_hostile_inputs_are_words_and_no_commands(runner: Runner) -> None:
    for text in ('"; touch hacked; $(touch hacked)', "`touch hacked`"):
        assert runner.action(**INPUTS | {"dataset": text, "judge": text, "options": text}) == 2
    assert not list((runner.folder / "work").glob("hacked"))


@pytest.mark.long
def test_the_job_of_gitlab_does_the_same(runner: Runner) -> None:
    reports = runner.folder / "work" / "areopage-reports"
    assert runner.job(**VARIABLES, AREOPAGE_KEEP="true") == 0, runner.said
    assert sorted(path.name for path in reports.iterdir()) == REPORTS
    write_answers(runner.folder / "work", bad=9)
    assert runner.job(**VARIABLES) == 1, runner.said
    assert "REGRESSION" in (reports / "comparison.md").read_text(encoding="utf-8")
    assert runner.job(**VARIABLES | {"AREOPAGE_DATASET": "missing.jsonl"}) == 2


def test_the_job_of_gitlab_lets_an_inconclusive_run_pass_where_it_is_told_to(runner: Runner) -> None:
    unjudged = [{"id": f"n{n}", "prompt": f"New {n}?", "age": "9", "response": "Fine."} for n in range(CASES)]
    with (runner.folder / "work" / "answers.jsonl").open("a", encoding="utf-8") as dataset:
        dataset.writelines(f"{json.dumps(row)}\n" for row in unjudged)
    assert runner.job(**VARIABLES) == 3, runner.said
    lenient = VARIABLES | {"AREOPAGE_FAIL_ON_INCONCLUSIVE": "false"}
    assert runner.job(**lenient) == 0, runner.said
    assert "inconclusive: not counted as a failure" in runner.said
    assert runner.job(**lenient | {"AREOPAGE_DATASET": "missing.jsonl"}) == 2, runner.said
