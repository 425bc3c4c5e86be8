"""`bench plan SUITE`: what a run takes, before anything is paid; long cases are named, and the run does what the plan says."""

import re
from pathlib import Path
from typing import Any

from servers.command import Command, passes_of
from servers.fake_llm import FakeServer
from servers.small_suite import CONFIG, write_cases, write_config

PRICE = {"input_per_million": 10.0, "output_per_million": 100.0, "currency": "EUR"}


def small_windows(suite: Path, **options: Any) -> None:
    judges = {"alpha": {"model": "fake-a", "options": options}, "beta": {"model": "fake-b"}}
    system = {**CONFIG["judge_system"], "judges": judges}
    write_config(suite, judge_system={**system, "evaluation": {"n_passes": 1}}, paths={"datasets": {"en": ["cases.csv"]}})


def test_a_plan_says_calls_tokens_prefixes_loads_time_and_cost_and_asks_nothing(
    command: Command, server: FakeServer, suite: Path
) -> None:
    judges = {name: {**own, "price": PRICE} for name, own in CONFIG["judge_system"]["judges"].items()}
    write_config(suite, judge_system={**CONFIG["judge_system"], "judges": judges})
    plan = command("bench", "plan", suite)
    assert plan.code == 0, plan.err
    assert not server.calls and not command.outputs.exists()
    sizes = r"4 prefixes; about [\d,]+ prompt and 4,800 answer tokens; about \d\.\d+\sEUR"
    assert re.search(rf"alpha \(ollama:fake-a\): 40 calls, 2 passes; {sizes}$", plan.out, re.MULTILINE)
    assert "tokens of ollama:fake-target, ollama:fake-a, ollama:fake-b: assumed, 4 bytes each" in plan.out
    assert "time of ollama:fake-target, ollama:fake-a, ollama:fake-b: not known" in plan.out
    assert re.search(r"plan: 85 calls \(5 answers\), about .* answer tokens, about \d\.\d\d\sEUR, 3 model loads", plan.out)
    run = command("bench", "run", "--suite", suite, "--yes")
    assert run.code == 0, run.err
    assert plan.out.splitlines()[-1] in run.err  # the run shows the same plan before it asks
    calls = len(server.calls)
    again = command("bench", "plan", suite)
    assert re.search(r"tokens of ollama:fake-a: [34]\.\d\d bytes each, measured over \d+ earlier calls", again.out)
    assert re.search(r"3 model loads, (?:about \d+|under 1) s$", again.out, re.MULTILINE)
    assert len(server.calls) == calls


def test_a_plan_names_the_cases_that_do_not_fit_and_the_run_does_not_send_them(
    command: Command, server: FakeServer, suite: Path
) -> None:
    small_windows(suite, num_ctx=2048)
    rows = [{"id": f"c{n}", "prompt": "Why?", "response": "word " * (3_000 if n == 1 else 10), "age": "9-12"} for n in range(3)]
    write_cases(suite / "data" / "cases.csv", rows)
    told = "alpha: too long, and left without a judgment: 1 case (prompts of up to about "
    plan = command("bench", "plan", suite)
    assert told in plan.out and "and the window holds 2,048): c1" in plan.out
    run = command("bench", "run", "--suite", suite, "--yes")
    assert told in run.err
    assert not any("word " * 3_000 in text for call in server.calls if call.model == "fake-a" for _, text in call.messages)
    found = passes_of(command.results())
    missed = {key: one for key, one in found.items() if one["outcome"] == "unparsed"}
    assert {(key[0], key[2]) for key in missed} == {("c1", "alpha")} and len(missed) == 4
    assert all("the prompt has more than" in one["reason"] and "num_ctx is 2048" in one["reason"] for one in missed.values())
    assert run.code == 3 and "coverage" in run.err  # 20 of 24 passes


def test_documents_are_cut_first_so_that_a_long_case_is_judged(command: Command, server: FakeServer, suite: Path) -> None:
    small_windows(suite, num_ctx=4096)
    texts = {"documents": '["first %s", "second %s", "third %s"]' % (("word " * 1_200,) * 3)}
    write_cases(suite / "data" / "cases.csv", [{"id": "c0", "prompt": "Why?", "response": "x", "age": "9-12", **texts}])
    plan = command("bench", "plan", suite)
    assert "alpha: too long, so that documents at the end are left out: 1 case" in plan.out, plan.out
    run = command("bench", "run", "--suite", suite, "--yes")
    assert run.code == 0, run.err
    shown = {call.model: call.messages[1][1] for call in server.verdict_calls}
    assert "first" in shown["fake-a"] and "third" not in shown["fake-a"]
    assert "third" in shown["fake-b"]  # the window of the other judge is not known
    assert all(one["outcome"] == "scored" for one in passes_of(command.results()).values())
    remarks = " ".join(command.results()["run"]["metadata"]["remarks"])
    assert "judge alpha was not shown all documents of 1 case, since its window does not hold them: c0" in remarks
    calls = len(server.calls)
    shows = command("bench", "show", "latest")
    assert shows.code == 0 and "100" in shows.out
    assert command("bench", "run", "--suite", suite, "--yes").code == 0 and len(server.calls) == calls


def test_a_plan_of_several_targets_and_a_budget_is_checked_before_a_run(
    command: Command, server: FakeServer, suite: Path
) -> None:
    targets = ("--target", "ollama:fake-target", "--target", "ollama:fake-b")
    plan = command("bench", "plan", "--suite", suite, *targets, "--passes", "1", "--limit", "2")
    assert "2 judges for each target" in plan.out and "plan: 36 calls (4 answers)" in plan.out
    assert "--budget has nothing to limit" in command("bench", "plan", suite, "--budget", "5").refused()
    assert "--spread tells how far scores spread: add --precision" in command("bench", "plan", suite, "--spread", "1").refused()


def test_a_plan_is_made_where_no_server_answers_and_says_what_it_does_without(command: Command, suite: Path) -> None:
    command.environment["OLLAMA_HOST"] = "http://127.0.0.1:9"
    ended = command("bench", "plan", "--suite", suite, "--joint")
    assert ended.code == 0, ended.err
    assert "planned without what servers tell of windows and slots" in ended.err
    assert "plan: " in ended.out and "joint: one call asks a model about all criteria" in ended.out


def test_a_plan_counts_no_loads_of_servers_that_hold_any_number_of_models(
    command: Command, server: FakeServer, suite: Path
) -> None:
    (command.folder / "areopage.yml").write_text(
        f"endpoints:\n  lab: {{provider: openai, base_url: 'http://{server.address}/v1'}}\n", encoding="utf-8"
    )
    hosted = ("--target", "openai@lab:fake-target", "--judge", "alpha=openai@lab:fake-a")
    plan = command("bench", "plan", suite, *hosted)
    assert plan.out.splitlines()[-1].startswith("plan: ") and "model load" not in plan.out, plan.err
    assert ", 1 model load" in command("bench", "plan", suite, *hosted, "--judge", "beta").out
