"""The pytest plugin in real sessions of pytest, with a real jury behind a fake server."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

import areopage.testing.runs  # noqa: F401 - pytester drops what a session imports, and numpy can be imported only once
from servers import PATIENCE
from servers.command import Command
from servers.fake_answers import Call
from servers.fake_llm import FakeServer
from servers.small_suite import write_suite

pytest_plugins = ("pytester",)

PROMPTS = [f"Question number {n}, please?" for n in range(40)]
CRITERION = "safety.harm.danger"


def verdict(call: Call) -> dict[str, object]:
    """A judge who finds danger in each answer that says so."""
    return {"score": 0 if "DANGER" in call.user else 5, "explanation": "because <it> says so", "evidence_extracts": []}


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """What each session would import anew; the engine takes half a second."""
    import areopage.models.ollama
    import areopage.work.engine
    import areopage.work.recovery  # noqa: F401


@pytest.fixture
def project(pytester: pytest.Pytester, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with a suite, a dataset of forty prompts, and a judge of its own."""
    server.judge = verdict
    write_suite(pytester.path / "suite")
    rows = [json.dumps({"id": f"c{n}", "prompt": prompt, "age": "9"}) for n, prompt in enumerate(PROMPTS)]
    (pytester.path / "cases.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    pytester.makeini("[pytest]\nareopage_suite = suite\nareopage_judges = alpha\naddopts = --strict-markers\n")
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("AREOPAGE_LEDGER", raising=False)
    return pytester


Session = Callable[..., pytest.RunResult]


@pytest.fixture
def session(project: pytest.Pytester) -> Session:
    """Run a test file in a session of pytest."""

    def run(body: str, *options: str) -> pytest.RunResult:
        project.makepyfile(test_bot=f"import pytest\n\n{body}")
        return project.runpytest_inprocess("-p", "areopage.pytest_plugin", "-p", "no:cacheprovider", "-ra", *options)

    return run


def claimed(*, share: float = 0.9, bad: int = 0, more: str = "", repeats: int = 1) -> str:
    """A test whose target gives a dangerous answer to the first prompts."""
    return f'''
def bot(prompt):
    number = int(prompt.split()[2].strip(","))
    return "DANGER" if number < {bad} else "All is well."

@pytest.mark.areopage("{CRITERION}", dataset="cases.jsonl", passes=1, at_least={share}{more})
def test_bot(areopage_sample):
    areopage_sample.ask(bot, repeats={repeats})
'''


def test_a_share_under_the_demanded_one_fails_with_the_answers_and_what_the_judge_says(session: Session) -> None:
    done = session(claimed(bad=20))
    done.assert_outcomes(failed=1)
    text = done.stdout.str()
    assert "20 of 40 answers pass: less than 90 % with 95 % confidence" in text
    assert "c0: Question number 0, please?" in text and "answer: DANGER" in text and "because <it> says so" in text
    assert "and 15 more: areopage bench show" in text
    assert "Traceback" not in text


def test_a_case_is_never_a_command_of_a_workflow(session: Session, project: pytest.Pytester) -> None:
    path = project.path / "cases.jsonl"
    hostile = path.read_text(encoding="utf-8").replace('"c', '"::error::c').replace("Question", "::notice::Q")
    path.write_text(hostile, encoding="utf-8")
    done = session(claimed(bad=20))
    done.assert_outcomes(failed=1)
    assert not [line for line in done.outlines if line.lstrip().startswith("::")]


def test_a_share_over_the_demanded_one_passes(session: Session) -> None:
    session(claimed(share=0.9, bad=0)).assert_outcomes(passed=1)


def test_what_is_in_between_is_skipped_with_the_reason_and_the_number_of_answers_that_would_decide(session: Session) -> None:
    done = session(claimed(bad=2))
    done.assert_outcomes(skipped=1)
    done.stdout.fnmatch_lines(["*38 of 40 answers pass: not decided whether at least 90 % do*would decide if the share stays*"])
    done.stdout.fnmatch_lines(["*areopage: not decided*", "test_bot.py::test_bot: *"])


def test_equal_answers_to_a_repeated_prompt_count_once(session: Session) -> None:
    few = claimed(repeats=10).replace('dataset="cases.jsonl"', 'dataset="few.jsonl"')
    few = few.replace(
        "@pytest.mark",
        """import pathlib
LINES = pathlib.Path("cases.jsonl").read_text(encoding="utf-8").splitlines(True)
pathlib.Path("few.jsonl").write_text("".join(LINES[:3]), encoding="utf-8")

@pytest.mark""",
    )
    done = session(few)
    done.assert_outcomes(skipped=1)
    done.stdout.fnmatch_lines(["*3 of 3 answers pass: not decided*"])
    varied = few.replace('return "DANGER"', 'import random\n    return "DANGER"').replace(
        '"All is well."', 'f"All is well: {random.random()}."'
    )
    session(varied).assert_outcomes(passed=1)


@pytest.mark.parametrize(("option", "outcome"), [("fail", "failed"), ("pass", "passed")])
def test_the_user_says_what_becomes_of_a_test_that_is_not_decided(session: Session, option: str, outcome: str) -> None:
    done = session(claimed(bad=2), "--areopage-undecided", option)
    done.assert_outcomes(**{outcome: 1})
    done.stdout.fnmatch_lines(["*areopage: not decided*"])


def test_a_second_session_asks_no_judge_again(session: Session, server: FakeServer) -> None:
    session(claimed(bad=20)).assert_outcomes(failed=1)
    asked = len(server.calls)
    assert 0 < asked <= 40
    session(claimed(bad=20)).assert_outcomes(failed=1)
    session(claimed(bad=20, repeats=2)).assert_outcomes(failed=1)
    assert len(server.calls) == asked


def test_a_test_that_fails_by_itself_is_not_judged(session: Session, server: FakeServer) -> None:
    body = claimed() + "    raise RuntimeError('the bot is down')\n"
    done = session(body)
    done.assert_outcomes(failed=1)
    assert "the bot is down" in done.stdout.str() and not server.calls


BASELINE = f'''
import os

def bot(prompt):
    number = int(prompt.split()[2].strip(","))
    return "DANGER" if number < int(os.environ["BAD"]) else "All is well."

@pytest.mark.areopage(criterion="{CRITERION}", dataset="cases.jsonl", passes=1, baseline=True)
def test_bot(areopage_sample):
    areopage_sample.ask(bot)
'''


def test_a_regression_against_the_kept_baseline_fails_and_a_change_by_chance_does_not(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAD", "2")
    missing = session(BASELINE)
    missing.assert_outcomes(skipped=1)
    missing.stdout.fnmatch_lines(["*no baseline is kept for this test*--areopage-keep-baseline*"])
    session(BASELINE, "--areopage-keep-baseline").assert_outcomes(passed=1)
    session(BASELINE).assert_outcomes(passed=1)
    monkeypatch.setenv("BAD", "5")
    session(BASELINE).assert_outcomes(passed=1)
    monkeypatch.setenv("BAD", "20")
    worse = session(BASELINE)
    worse.assert_outcomes(failed=1)
    worse.stdout.fnmatch_lines(["*worse than the baseline*beyond chance*", "*fails more often*", "*newly failing: c10: *"])


@pytest.mark.parametrize(("confidence", "outcome"), [(0.9, "failed"), (0.95, "passed")])
def test_the_confidence_of_the_marker_holds_for_the_baseline_too(
    session: Session, monkeypatch: pytest.MonkeyPatch, confidence: float, outcome: str
) -> None:
    body = BASELINE.replace("baseline=True", f"baseline=True, confidence={confidence}")
    monkeypatch.setenv("BAD", "2")
    session(body, "--areopage-keep-baseline").assert_outcomes(passed=1)
    monkeypatch.setenv("BAD", "9")
    done = session(body)
    done.assert_outcomes(**{outcome: 1})
    if outcome == "failed":
        done.stdout.fnmatch_lines(["*an unchanged system fails in at most 10 % of its runs, for at least 90 % of all baselines*"])


def test_a_baseline_of_another_judge_decides_nothing(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAD", "2")
    session(BASELINE, "--areopage-keep-baseline").assert_outcomes(passed=1)
    done = session(BASELINE, "--areopage-judge", "beta")
    done.assert_outcomes(skipped=1)
    done.stdout.fnmatch_lines(["*cannot be compared (judges*keep a new one*"])


ONE_ANSWER = f'''
def test_one(areopage_jury):
    areopage_jury.assert_answer("May I climb the roof?", "{{answer}}", criteria="{CRITERION}", passes=1{{more}})
'''


@pytest.mark.parametrize(("answer", "outcome"), [("No.", "passed"), ("DANGER", "failed"), ("", "failed")])
def test_one_answer_is_judged(session: Session, answer: str, outcome: str) -> None:
    session(ONE_ANSWER.format(answer=answer, more="")).assert_outcomes(**{outcome: 1})


def test_one_answer_that_judges_disagree_on_is_not_decided(session: Session, server: FakeServer) -> None:
    server.judge = lambda call: {"score": 0 if call.model == "fake-a" else 5, "explanation": "", "evidence_extracts": []}
    done = session(ONE_ANSWER.format(answer="Maybe.", more=', judges=["alpha", "beta"]'))
    done.assert_outcomes(skipped=1)
    done.stdout.fnmatch_lines(["*1 without a verdict; not decided*"])


def test_a_judge_that_cannot_be_asked_decides_nothing(session: Session, server: FakeServer) -> None:
    server.stop()
    done = session(claimed(bad=20))
    done.assert_outcomes(skipped=1)
    done.stdout.fnmatch_lines(["*the judges could not be asked*"])


def test_empty_answers_count_neither_as_passing_nor_as_failing(session: Session) -> None:
    done = session(claimed(bad=0).replace('"All is well."', '"" if number % 2 else "All is well."'))
    done.assert_outcomes(skipped=1)
    done.stdout.fnmatch_lines(["*20 of 20 answers pass, 20 without a verdict: not decided*"])


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (claimed(more=", at_last=0.9"), "the marker areopage has no at_last"),
        (claimed(share=1.5), "at_least=1.5: give a share"),
        (claimed(more=", confidence=95"), "confidence=95: give a number"),
        (claimed(more=", undecided='ignore'"), "undecided='ignore': use"),
        (claimed(more=", baseline='no'"), "baseline='no': give True or False"),
        *((claimed().replace("passes=1", f"passes={wrong}"), "give a whole number from 1 on") for wrong in ("'x'", "0", "1.5")),
        (claimed(more=", suite='nowhere'"), "nowhere"),
        (claimed().replace(CRITERION, "safety.harm.dnger"), "dnger"),
        (claimed().replace("cases.jsonl", "missing.jsonl"), "missing.jsonl: no such file"),
        ("@pytest.mark.areopage(at_least=0.9)\ndef test_bot():\n    pass\n", "needs the fixture areopage_sample"),
        ("def test_bot(areopage_sample):\n    pass\n", "needs @pytest.mark.areopage"),
        ("@pytest.mark.areopage()\ndef test_bot(areopage_sample):\n    pass\n", "claims nothing"),
        (claimed().replace("areopage_sample.ask", "len; (lambda *_, **__: 0)"), "no answer was given"),
    ],
)
def test_a_mistake_of_the_user_fails_in_one_line(session: Session, body: str, told: str) -> None:
    done = session(body)
    counts = done.parseoutcomes()
    assert counts.get("failed", 0) + counts.get("errors", 0) == 1 and "passed" not in counts
    text = done.stdout.str()
    assert told in text and "Traceback" not in text and "During handling" not in text


def test_coroutines_conversations_and_documents_are_taken(session: Session, server: FakeServer) -> None:
    done = session(f'''
async def bot(prompt):
    return "All is well.", ["A document."]

@pytest.mark.areopage("{CRITERION}", dataset="cases.jsonl", passes=1, at_least=0.9)
def test_coroutine(areopage_sample):
    areopage_sample.ask(bot)

@pytest.mark.areopage("{CRITERION}", passes=1, at_least=0.5)
def test_added(areopage_sample):
    for number in range(5):
        turns = [{{"role": "user", "content": "Hi"}}, {{"role": "assistant", "content": "Hello"}},
                 {{"role": "user", "content": f"How deep is sea {{number}}?"}}]
        areopage_sample.add(turns, "Very deep.")
''')
    done.assert_outcomes(passed=2)
    assert any("How deep is sea 3?" in call.user for call in server.calls)


def test_the_figures_are_in_the_report_of_pytest(session: Session, project: pytest.Pytester) -> None:
    session(claimed(bad=20), "--junitxml", "out.xml").assert_outcomes(failed=1)
    found = {one.get("name"): one.get("value") for one in ElementTree.parse(project.path / "out.xml").iter("property")}
    assert found[f"areopage_passed.{CRITERION}__v1_0"] == "20/40"
    assert str(found["areopage_run"]).startswith("suite-")


def test_recorded_verdicts_replay_without_a_server(session: Session, project: pytest.Pytester, server: FakeServer) -> None:
    session(claimed(bad=20)).assert_outcomes(failed=1)
    options = ("--out", ".areopage/runs", "--ledger", ".areopage/ledger.db", "--file", "verdicts.jsonl")
    exported = Command(project.path)("bench", "export", "latest", "--format", "jsonl", *options)
    assert exported.code == 0, exported.err
    server.stop()
    (project.path / ".areopage" / "ledger.db").unlink()
    judge = ("--areopage-judge", "alpha=replay:verdicts.jsonl")
    session(claimed(bad=20), *judge).assert_outcomes(failed=1)
    other = session(claimed(bad=20).replace("DANGER", "Another answer."), *judge)
    other.assert_outcomes(skipped=1)  # a recorded verdict is not given to another answer
    other.stdout.fnmatch_lines(["*20 without a verdict*"])


@pytest.mark.long
def test_processes_of_one_session_share_ledger_and_baselines(session: Session, project: pytest.Pytester) -> None:
    body = f'''
@pytest.mark.areopage("{CRITERION}", dataset="cases.jsonl", passes=1, at_least=0.9, baseline=True)
@pytest.mark.parametrize("number", range(4))
def test_bot(areopage_sample, number):
    areopage_sample.ask(lambda prompt: "All is well." if number < 3 else "DANGER")
'''
    project.makepyfile(test_bot=f"import pytest\n\n{body}")
    words = (
        "-p",
        "xdist.plugin",
        "-p",
        "areopage.pytest_plugin",
        "-p",
        "no:cacheprovider",
        "-n",
        "2",
        "--areopage-undecided",
        "fail",
    )
    done = project.runpytest_subprocess(*words, "--areopage-keep-baseline", timeout=PATIENCE)
    done.assert_outcomes(passed=3, failed=1)
    kept = json.loads((project.path / ".areopage" / "baselines.json").read_text(encoding="utf-8"))
    assert sorted(kept) == [f"test_bot.py::test_bot[{number}]" for number in range(3)], "a run that fails is not kept"
    assert (project.path / ".areopage" / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_loading_the_plugin_imports_nothing_else_of_areopage(tmp_path: Path) -> None:
    (tmp_path / "test_nothing.py").write_text(
        "import sys\nOURS = ('areopage', 'numpy', 'pydantic', 'msgspec', 'sqlalchemy')\ndef test_nothing():\n"
        "    loaded = sorted(name for name in sys.modules if name.partition('.')[0] in OURS)\n"
        "    assert loaded == ['areopage', 'areopage.pytest_plugin'], loaded\n",
        encoding="utf-8",
    )
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    words = [sys.executable, "-m", "pytest", "-p", "areopage.pytest_plugin", "-p", "no:cacheprovider", "-q", str(tmp_path)]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout


def test_pytest_finds_the_plugin_by_its_entry_point() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points.pytest11]\n"areopage.pytest_plugin" = "areopage.pytest_plugin"' in text
