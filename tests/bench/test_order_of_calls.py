"""In which order judges are asked: a model server reads the constant part of a prompt once while it stays the same."""

import json
from itertools import groupby
from pathlib import Path

import pytest

from areopage.bench.execution import blocks
from servers.command import Command
from servers.fake_llm import FakeServer
from servers.small_suite import CRITERIA, write_cases

CASES, PASSES = 20, 2


def test_a_judge_is_asked_criterion_by_criterion_also_where_a_criterion_is_several_blocks(
    command: Command, suite: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "_LEAST_CALLS", 8)
    rows = [{"id": f"c{n}", "prompt": f"Why {n}?", "response": f"So {n}.", "age": "10"} for n in range(CASES)]
    cases = write_cases(suite / "many.csv", rows)
    done = command("bench", "run", "--suite", suite, "--dataset", cases, "--judge", "alpha", "--concurrency", "1")
    assert done.code == 0, done.err
    constant = [json.loads(call.body)["messages"][0]["content"] for call in server.verdict_calls]
    assert len(constant) == CASES * PASSES * len(CRITERIA)
    assert len(set(constant)) == len(CRITERIA)
    assert [len(list(calls)) for _, calls in groupby(constant)] == [CASES * PASSES] * len(CRITERIA)
