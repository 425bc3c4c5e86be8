"""The rate and the time left of a phase are those of its own calls, not of its wait for other phases."""

import re
import time
from pathlib import Path

import pytest

from areopage.cli.progress.run_display import PhaseCount
from servers.command import Command
from servers.fake_llm import FakeServer


def test_a_phase_that_waited_states_no_time_left_before_its_second_call_and_then_its_own_rate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    phase = PhaseCount("judge-b")
    phase.total = 100
    now[0] = 1000.0
    phase.add("scored")
    assert (phase.rate, phase.pace()) == (0.0, "")
    for number in range(1, 21):
        now[0] = 1000.0 + number / 2
        phase.add("scored")
    assert phase.rate == pytest.approx(2.0)
    assert phase.pace() == "2.0/s, 40 s left"


def test_a_burst_of_answers_in_the_first_second_gives_no_rate_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 5.0)
    phase = PhaseCount("judge-b")
    phase.total = 100
    for _ in range(64):
        phase.add("scored")
    assert phase.pace() == ""
    assert phase.left == 36


def test_calls_that_the_ledger_held_are_named_beside_those_that_went_well() -> None:
    phase = PhaseCount("target")
    phase.total, phase.kept = 3, 1
    phase.add("answered")
    phase.add("unreachable")
    assert phase.health() == "1 already in the ledger, 1 ok, 1 unreachable"


def test_tokens_and_cost_are_said_to_be_those_of_all_phases(command: Command, server: FakeServer, suite: Path) -> None:
    ended = command("bench", "run", "--suite", suite)
    lines = [line for line in ended.err.splitlines() if " ok, " in line]
    assert len(lines) == 3
    assert all(re.search(r" ok, in all [\d,]+ tokens$", line) for line in lines), lines
