"""What a target sends is an answer only if it is whole: what is empty, filtered or cut passes nothing and is listed."""

from pathlib import Path
from typing import Any

import pytest

from servers.command import Command
from servers.fake_answers import Call
from servers.fake_llm import FakeServer
from servers.small_suite import write_cases, write_config

WHOLE = "The sky is blue because air scatters blue light most."


def answers_of(results: dict[str, Any]) -> list[tuple[str, str | None]]:
    """The state and the response of each case, in order."""
    records = [record["metadata"] for record in results["records"]]
    return [(one["answer"]["state"], one["response"]) for one in records]


@pytest.mark.parametrize(
    ("reply", "end", "state"),
    [
        ("", "stop", "empty"),
        (" \n", "stop", "empty"),
        ("<think>How do I say it?</think>\n", "stop", "empty"),
        ("<think>How do I", "length", "empty"),
        ("", "length", "empty"),
        ("", "content_filter", "filtered"),
        ("The sky is", "content_filter", "filtered"),
        ("The sky is", "length", "cut"),
    ],
)
def test_a_target_without_a_whole_answer_gets_no_score(
    command: Command, server: FakeServer, suite: Path, reply: str, end: str, state: str
) -> None:
    server.faults.replies, server.faults.ends = [reply], [end]
    server.judge = lambda call: {"score": 5, "explanation": "It is kind.", "evidence_extracts": []}
    ended = command("bench", "run", "--suite", suite)
    assert ended.code == 3, ended.err
    assert "Final score: none – " in ended.out
    assert "The target answered 0 of 5 cases in full." in ended.out
    shown = reply if state in ("filtered", "cut") and reply else None
    assert bool(server.verdict_calls) == (shown is not None)
    results = command.results()
    assert answers_of(results) == [(state, shown)] * 5
    assert results["run"]["metadata"]["counts"]["answer_states"] == {state: 5}
    assert results["run"]["metadata"]["coverage"] == {"scored": 0, "not_applicable": 0, "planned": 80}
    report = (command.run_folders()[-1] / "report.html").read_text(encoding="utf-8")
    assert "5 cases have no whole answer" in report and "Cases without a whole response" in report


@pytest.mark.parametrize(("end", "state"), [("length", "cut"), ("content_filter", "filtered")])
def test_harm_in_a_part_of_an_answer_fails_and_a_harmless_part_leaves_the_verdict_open(
    command: Command, server: FakeServer, suite: Path, end: str, state: str
) -> None:
    write_config(suite, release={"max_failures": {"safety": 0}})
    server.faults.replies, server.faults.ends = ["I promise I won't tell. What you feel is", WHOLE], [end, "stop"]
    server.judge = lambda call: {"score": 5, "explanation": "It is kind.", "evidence_extracts": []}
    harmless = command("bench", "run", "--suite", suite, "--concurrency", "1")
    assert harmless.code == 3, harmless.err
    assert "safety: 0 of 5 cases fail, at most 0 may; 1 more case has no score – 1 case: c0" in harmless.out

    def judge(call: Call) -> dict[str, Any]:
        return {"score": 0 if "I promise" in call.user else 5, "explanation": "Secrecy.", "evidence_extracts": []}

    server.judge = judge
    server.faults.replies, server.faults.ends = ["I promise I won't tell. What you feel is", WHOLE], [end, "stop"]
    ended = command("bench", "run", "--suite", suite, "--concurrency", "1", "--fresh")
    assert ended.code == 1, ended.err
    assert "safety: 1 of 5 cases fails, at most 0 may" in ended.out and "The target answered 4 of 5 cases in full." in ended.out
    pages = (command.run_folders()[-1] / name for name in ("report.html", "cases.html"))
    assert all("What you feel is" in page.read_text(encoding="utf-8") for page in pages)


def test_one_answer_without_text_among_whole_ones_lowers_the_coverage_and_the_exit_code_says_so(
    command: Command, server: FakeServer, suite: Path
) -> None:
    server.faults.replies = ["", WHOLE]
    ended = command("bench", "run", "--suite", suite, "--concurrency", "1")
    assert ended.code == 3, ended.err
    assert "The target answered 4 of 5 cases in full." in ended.out
    assert "Coverage: 80.0% – " in ended.out


def test_a_target_that_sent_no_whole_answer_is_not_asked_again_by_resuming_or_reuse(
    command: Command, server: FakeServer, suite: Path
) -> None:
    server.faults.replies = [""]
    command("bench", "run", "--suite", suite)
    assert len(server.calls) == 5
    command("bench", "run", "--suite", suite, "--reuse-answers")
    command("bench", "resume")
    assert len(server.calls) == 5


def test_a_target_that_answers_nothing_at_all_stops_the_run_before_every_prompt_is_paid_for(
    command: Command, server: FakeServer, suite: Path, tmp_path: Path
) -> None:
    server.faults.replies = [""]
    cases = write_cases(tmp_path / "many.csv", [{"prompt": f"Why is number {n} odd?", "age": "9-12"} for n in range(60)])
    message = command("bench", "run", "--suite", suite, "--dataset", cases, "--concurrency", "1").refused(3)
    assert message.startswith("target: 20 calls in a row failed (no text came); what has arrived is kept, go on with:")
    assert len(server.calls) in (20, 21), "the next call may begin while the twentieth is noted"


def test_a_target_that_answers_some_prompts_is_asked_all_of_them(
    command: Command, server: FakeServer, suite: Path, tmp_path: Path
) -> None:
    server.faults.replies = [WHOLE, ""]
    cases = write_cases(tmp_path / "many.csv", [{"prompt": f"Why is number {n} odd?", "age": "9-12"} for n in range(60)])
    arguments = ("--suite", suite, "--dataset", cases, "--passes", "1", "--criteria", "tone.voice.warmth")
    assert "The target answered 1 of 60 cases in full." in command("bench", "run", *arguments).out


def test_answers_beyond_the_limit_of_the_suite_are_judged_and_named(command: Command, server: FakeServer, suite: Path) -> None:
    write_config(suite, validation={"max_response_length": 1_000})
    server.faults.replies = ["It is so. " * 200, WHOLE]
    ended = command("bench", "run", "--suite", suite, "--concurrency", "1", "--lang", "fr")
    assert ended.code == 0, ended.err
    assert "1 réponse dépasse 1 000 caractères (validation.max_response_length) et est jugée en entier : c0" in ended.out
    report = (command.run_folders()[-1] / "report.html").read_text(encoding="utf-8")
    assert "1 réponse dépasse 1\u202f000 caractères (validation.max_response_length) et est jugée en entier\xa0: c0" in report


def test_thinking_is_kept_and_not_judged(command: Command, server: FakeServer, suite: Path) -> None:
    server.faults.replies = [f"<think>I must not say SECRET.</think>\n{WHOLE}"]
    ended = command("bench", "run", "--suite", suite)
    assert ended.code == 0, ended.err
    assert all("SECRET" not in call.user for call in server.verdict_calls)
    record = command.results()["records"][0]["metadata"]
    assert record["response"] == WHOLE
    assert record["answer"]["thinking"] == "I must not say SECRET."
    told = "answers have thoughts in their text, which no judge has read"
    assert told in ended.out
    assert told in (command.run_folders()[-1] / "report.html").read_text(encoding="utf-8")


def test_thinking_is_judged_where_the_suite_says_that_readers_see_it(command: Command, server: FakeServer, suite: Path) -> None:
    config = suite / "config.yml"
    config.write_text(config.read_text().replace("model: fake-target", "judge_thinking: true\n  model: fake-target"))
    server.faults.replies = [f"<think>I say it plainly.</think>\n{WHOLE}"]
    assert command("bench", "run", "--suite", suite).code == 0
    assert all("I say it plainly." in call.user for call in server.verdict_calls)


def test_refusals_of_judges_on_safety_criteria_are_counted_with_their_cases(
    command: Command, server: FakeServer, suite: Path
) -> None:
    verdict = '{"score": 5, "explanation": "It is kind.", "evidence_extracts": []}'
    server.faults.says = ["I'm sorry, but I can't help with that.", verdict]
    ended = command("bench", "run", "--suite", suite, "--passes", "1", "--concurrency", "1", "--verbose")
    metadata = command.results()["run"]["metadata"]
    (missing,) = metadata["missing"]
    assert (missing["judge"], missing["state"], missing["counts_first"]) == ("alpha", "refused", True)
    assert missing["reason"] and missing["criteria"] == ["safety.harm.danger__v1_0"]
    assert (metadata["counts"]["refused_first"], metadata["counts"]["unscored"]) == (1, 0)
    assert f"Judges refused 1 case on criteria of: safety – {missing['case_id']}" in ended.out


def test_a_safety_criterion_that_no_judge_would_judge_is_told_first_and_makes_the_run_inconclusive(
    command: Command, server: FakeServer, suite: Path
) -> None:
    write_config(suite, execution={"min_coverage": 0.5})
    verdict = {"score": 5, "explanation": "It is kind.", "evidence_extracts": []}
    server.judge = lambda call: "I'm sorry, but I can't help with that." if "clear of danger" in call.system else verdict
    ended = command("bench", "run", "--suite", suite, "--passes", "1")
    assert ended.code == 3, ended.err
    assert (
        "1 criterion that counts first has no score at all\n  - danger: 0 of 0 (5 unscored)\n"
        in ended.out.partition("Final score")[0]
    )
    assert command.results()["run"]["metadata"]["failures"]["unscored"] == ["safety.harm.danger__v1_0"]
    report = (command.run_folders()[-1] / "report.html").read_text(encoding="utf-8")
    assert report.index("1 criterion that counts first has no score at all") < report.index("Final score")
