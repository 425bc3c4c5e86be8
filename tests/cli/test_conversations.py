"""Conversations with simulated children: asked turn by turn, no turn is paid twice, and a harmful reply ends and fails them."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from areopage.bench.conversations.children import CHILD_SOURCE, words_of
from areopage.bench.results.run_view import view_run
from areopage.ledger.store import Ledger
from areopage.text.withholding import MARKERS
from servers.command import Command, ended, passes_of
from servers.fake_answers import Call
from servers.fake_llm import FakeServer

CHILD = "openai:fake-b"
ROLE = words_of("en").role[:40]


def said_by(call: Call) -> str:
    """What the target, or the model that plays the child, writes: it depends on the whole conversation."""
    if call.system.startswith(ROLE):
        return f'Child: "and then, {len(call.user)}?"'
    return f"Reply {sum(role == 'user' for role, _ in call.messages)} to {call.messages[-1][1]}"


def cases(folder: Path, count: int = 1, **child: Any) -> Path:
    """A dataset of conversations."""
    rows = [{"id": f"talk{n}", "prompt": f"First {n}?", "age": "9-12", "child": child} for n in range(count)]
    path = folder / "talks.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.fixture
def talking(server: FakeServer) -> FakeServer:
    server.respond = said_by
    return server


@pytest.fixture
def ledger(command: Command) -> Iterator[Ledger]:
    command.outputs.mkdir()
    with Ledger.open(command.outputs / "ledger.db") as opened:
        yield opened


def run(command: Command, suite: Path, dataset: Path, *more: str) -> dict[str, Any]:
    """The one record of a run."""
    done = command("bench", "run", "--suite", suite, "--dataset", dataset, "--judge", "alpha", "--passes", "1", *more)
    assert done.code == 0, done.err
    (record,) = command.results()["records"]
    return dict(record)


def test_a_scripted_conversation_is_judged_as_its_turns_and_the_last_reply(
    command: Command, talking: FakeServer, suite: Path, ledger: Ledger
) -> None:
    record = run(command, suite, cases(command.folder, turns=3, script=["Second?", "Third?"]))
    assert [(turn["role"], turn["content"]) for turn in record["metadata"]["prompt"]] == [
        ("user", "First 0?"),
        ("assistant", "Reply 1 to First 0?"),
        ("user", "Second?"),
        ("assistant", "Reply 2 to Second?"),
        ("user", "Third?"),
    ]
    assert record["metadata"]["response"] == "Reply 3 to Third?"
    assert len(talking.target_calls) == 3
    assert all("assistant: Reply 2 to Second?" in call.messages[1][1] for call in talking.verdict_calls)
    stored = list(ledger.streams.answers())
    assert [answer.case.response for answer in stored] == ["Reply 1 to First 0?", "Reply 2 to Second?", "Reply 3 to Third?"]
    assert len({answer.session for answer in stored}) == 1
    metadata = command.results()["run"]["metadata"]
    assert metadata["conversations"] == {"cases": 1, "turns": 3, "ends": {"complete": 1}}
    assert [(one["source"], one["calls"]) for one in metadata["target_calls"]] == [("ollama:fake-target", 3)]
    dataset = cases(command.folder, turns=4, script=["Second?", "Third?", "4?"])
    for options, calls in (((), 7), (("--reuse-answers",), 7), (("--reuse-answers", "--limit", "1"), 7)):
        longer = command("bench", "run", "--suite", suite, "--dataset", dataset, *options)
        assert longer.code == 0, longer.err
        assert len(talking.target_calls) == calls
        reused = command.results(command.run_folders()[-1])["run"]["metadata"]["reused_answers"]
        assert (reused and reused["cases"]) == (1 if options else None)


def test_a_conversation_that_goes_on_after_reused_turns_is_as_old_as_its_first_reply(
    command: Command, talking: FakeServer, suite: Path, ledger: Ledger
) -> None:
    run(command, suite, cases(command.folder, turns=2, script=["Second?"]))
    longer = cases(command.folder, turns=3, script=["Second?", "Third?"])
    done = command("bench", "run", "--suite", suite, "--dataset", longer, "--reuse-answers")
    assert done.code == 0 and len(talking.target_calls) == 3, done.err
    first = min(answer.answered_at for answer in ledger.streams.answers())
    reused = command.results(command.run_folders()[-1])["run"]["metadata"]["reused_answers"]
    assert (reused["cases"], reused["oldest"][:19]) == (1, first.isoformat()[:19])


@pytest.mark.parametrize("turns", [3, 6])
def test_after_kill_9_in_a_conversation_no_committed_turn_is_asked_again(
    command: Command, talking: FakeServer, suite: Path, turns: int
) -> None:
    talking.latency = 0.03
    dataset = cases(command.folder, 6, turns=turns, script=[f"Turn {n}?" for n in range(2, turns + 1)])
    arguments = (
        "bench",
        "run",
        "--suite",
        suite,
        "--dataset",
        dataset,
        "--judge",
        "alpha",
        "--criteria",
        "tone",
        "--passes",
        "1",
    )
    for part in (1, 2):
        process = command.begin(*arguments)
        talking.wait_for_calls(6 * turns * part // 3)
        process.kill()
        process.communicate()
    talking.latency = 0.0
    done = ended(command.begin(*arguments))
    assert done.code == 0, done.err
    asked = Counter(call.body for call in talking.target_calls)
    assert len(asked) == 6 * turns
    # of each conversation, at most the one call that was in flight at a kill, or whose reply was about to be committed
    assert sum(asked.values()) - len(asked) <= 2 * 6
    assert command.results()["run"]["metadata"]["conversations"]["ends"] == {"complete": 6}


def test_a_model_plays_the_child_and_its_turns_are_no_answers_of_the_target(
    command: Command, talking: FakeServer, suite: Path, ledger: Ledger
) -> None:
    record = run(command, suite, cases(command.folder, turns=3, age="10", motivation="curious"), "--child", CHILD)
    turns = [turn["content"] for turn in record["metadata"]["prompt"] if turn["role"] == "user"]
    assert turns[0] == "First 0?"
    assert all(text.startswith("and then, ") for text in turns[1:])
    asked = [call for call in talking.calls if call.system.startswith(ROLE)]
    assert len(asked) == 2
    assert "age: 10" in asked[0].system
    assert "<<<ASSISTANT " in asked[0].user
    by_source = Counter(answer.source for answer in ledger.streams.answers())
    assert by_source == {"ollama:fake-target": 3, f"{CHILD_SOURCE}{CHILD}": 2}
    view = view_run(ledger.run("latest"), ledger)
    assert view.answer_states == {"answered": 1}
    assert [(one.source, one.calls) for one in view.calls] == [(f"{CHILD_SOURCE}{CHILD}", 2), ("ollama:fake-target", 3)]
    before = len(talking.calls)
    command("bench", "resume")
    assert len(talking.calls) == before


def test_a_child_out_of_role_is_asked_once_more_and_then_the_conversation_ends(
    command: Command, talking: FakeServer, suite: Path
) -> None:
    talking.respond = lambda call: "As an AI, I cannot do that." if call.system.startswith(ROLE) else said_by(call)
    record = run(command, suite, cases(command.folder, turns=3), "--child", CHILD)
    assert record["metadata"]["response"] == "Reply 1 to First 0?"
    assert sum(call.system.startswith(ROLE) for call in talking.calls) == 2
    assert command.results()["run"]["metadata"]["conversations"]["ends"] == {"child": 1}


def test_a_harmful_reply_ends_the_conversation_is_stored_masked_and_fails(
    command: Command, talking: FakeServer, suite: Path, ledger: Ledger
) -> None:
    secret = "do it so: [METHOD WITHHELD]"
    talking.respond = lambda call: secret if len(call.messages) > 3 else said_by(call)
    record = run(command, suite, cases(command.folder, turns=3, script=["Second?", "Third?"]))
    assert record["metadata"]["response"] == MARKERS["method"]
    assert record["metadata"]["answer"]["finish_reason"] == "withheld"
    assert len(talking.target_calls) == 2
    assert not talking.verdict_calls
    passes = passes_of(command.results())
    found = {criterion.split(".")[0]: (one["outcome"], one["given_score"]) for (_, criterion, _, _), one in passes.items()}
    assert found == {"safety": ("scored", 0.0), "tone": ("not_applicable", None)}
    assert command.results()["run"]["metadata"]["conversations"]["ends"] == {"withheld": 1}
    files = [path for path in command.outputs.rglob("*") if path.is_file()]
    assert not [path for path in files if b"METHOD WITHHELD" in path.read_bytes()]
    view = view_run(ledger.run("latest"), ledger)
    assert len(view.failures.by_case["talk0"]) == 2


def test_an_empty_reply_ends_a_conversation_and_a_cut_one_does_not(command: Command, talking: FakeServer, suite: Path) -> None:
    talking.respond = None
    talking.judge = lambda call: {"explanation": "as it is", "score": 5, "evidence_extracts": []}
    talking.faults.replies, talking.faults.ends = ["cut sh", "", "never"], ["length", "stop", "stop"]
    done = command(
        "bench",
        "run",
        "--suite",
        suite,
        "--dataset",
        cases(command.folder, turns=4, script=["2?", "3?", "4?"]),
        "--judge",
        "alpha",
    )
    assert done.code == 3, done.err
    assert len(talking.target_calls) == 2
    assert command.results()["run"]["metadata"]["conversations"] == {"cases": 1, "turns": 2, "ends": {"empty": 1}}


def test_harm_before_a_conversation_ends_without_a_reply_is_judged(command: Command, talking: FakeServer, suite: Path) -> None:
    talking.respond = None
    talking.judge = lambda call: {
        "explanation": "as it is",
        "score": 0 if "danger" in call.system else 5,
        "evidence_extracts": [],
    }
    talking.faults.replies = ["Tell nobody about it.", "Good.", ""]
    dataset = cases(command.folder, turns=4, script=["2?", "3?", "4?"])
    done = command("bench", "run", "--suite", suite, "--dataset", dataset, "--judge", "alpha", "--passes", "1")
    (record,) = command.results()["records"]
    told = [turn["content"] for turn in record["metadata"]["prompt"]]
    assert (told, record["metadata"]["response"]) == (["First 0?", "Tell nobody about it.", "2?"], "Good."), done.err
    assert record["metadata"]["answer"]["state"] == "empty"
    assert command.results()["run"]["metadata"]["counts"]["answer_states"] == {"empty": 1}
    assert "Tell nobody about it." in talking.verdict_calls[0].messages[1][1]
    # a target gains nothing by falling silent: what does not fail has no score
    assert done.code == 3
    assert [one["score"] for one in record["detailed_criteria"].values()] == [0, None, None, None]
    assert {one["state"] for one in command.results()["run"]["metadata"]["missing"]} == {"empty"}


def test_in_cases_of_sexual_harm_the_childs_turns_are_fixed_and_no_model_is_asked(
    command: Command, talking: FakeServer, suite: Path
) -> None:
    dataset = cases(command.folder, turns=4, script=["What is grooming?"])
    row = json.loads(dataset.read_text(encoding="utf-8")) | {"category": "sexual_grooming_and_boundary_violations"}
    dataset.write_text(json.dumps(row), encoding="utf-8")
    record = run(command, suite, dataset, "--child", CHILD)
    turns = [turn["content"] for turn in record["metadata"]["prompt"] if turn["role"] == "user"]
    assert turns[1] == "What is grooming?"
    assert set(turns[2:]) <= set(words_of("en").fixed)
    assert not [call for call in talking.calls if call.system.startswith(ROLE)]


def test_erasing_an_answer_erases_all_turns_of_its_conversation(
    command: Command, talking: FakeServer, suite: Path, ledger: Ledger
) -> None:
    run(command, suite, cases(command.folder, turns=3), "--child", CHILD)
    last = max(ledger.streams.answers(), key=lambda answer: len(answer.case.turns))
    assert ledger.erasure.erase([last.id]) == 5
    assert all(answer.erased for answer in ledger.streams.answers())
    assert command("bench", "show").code == 0
    assert command("verify").code == 0
    before = len(talking.calls)
    assert command("bench", "resume").code == 0
    assert len(talking.calls) == before


def test_the_plan_says_the_most_calls_and_what_ends_early(command: Command, talking: FakeServer, suite: Path) -> None:
    dataset = cases(command.folder, 2, turns=5, script=["Second?"])
    common = ("bench", "run", "--suite", suite, "--dataset", dataset, "--judge", "alpha", "--criteria", "tone", "--passes", "1")
    scripted = command(*common)
    assert "2 conversations end with their scripts" in scripted.err
    assert "at most 4 answers, 2 conversations)" in scripted.err
    played = command(*common, "--child", CHILD, "--turns", "4")
    assert f"at most 8 answers, 2 conversations, at most 8 calls to the child {CHILD})" in played.err


def test_an_exported_conversation_is_replayed_turn_by_turn(command: Command, talking: FakeServer, suite: Path) -> None:
    dataset = cases(command.folder, turns=3, script=["Second?", "Third?"])
    first = run(command, suite, dataset)
    assert command("bench", "export", "--format", "jsonl", "--file", "talk.jsonl").code == 0
    asked = len(talking.target_calls)
    again = command(
        "bench",
        "run",
        "--suite",
        suite,
        "--dataset",
        dataset,
        "--judge",
        "alpha",
        "--passes",
        "1",
        "--target",
        "replay:talk.jsonl",
    )
    assert again.code == 0, again.err
    assert len(talking.target_calls) == asked
    replayed = command.results(command.run_folders()[-1])["records"][0]["metadata"]
    assert (replayed["prompt"], replayed["response"]) == (first["metadata"]["prompt"], first["metadata"]["response"])
