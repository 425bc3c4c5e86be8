"""What a run holds in memory while it asks: the calls and the judgments of the blocks that are out, not those of all calls."""

import gc
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from areopage.bench.execution import blocks
from areopage.bench.execution.context import Silent
from areopage.bench.execution.start import run_benchmark
from areopage.bench.planning.prepare import RunWishes
from areopage.jury.judges import PlannedCall
from areopage.ledger.answers import Link
from areopage.ledger.records import Judgment
from servers.fake_llm import FakeServer
from servers.new_ledger import ledger_at
from servers.small_suite import CRITERIA, write_cases

CASES, PASSES, BLOCK = 60, 2, 8
MOST_HELD = 8 * BLOCK
"""Some blocks are asked at once, and some are written or planned meanwhile."""


class Counting(Silent):
    """Counts objects that are alive while judgments come in."""

    def __init__(self) -> None:
        self.judged_calls = 0
        self.most = dict.fromkeys((PlannedCall, Judgment, Link), 0)

    def judged(self, judgment: Judgment, cases: Sequence[str]) -> None:
        """Look now and then: each look goes through all objects."""
        self.judged_calls += 1
        if self.judged_calls % 120 == 0:
            gc.collect()
            alive = Counter[type](map(type, gc.get_objects()))
            for kind in self.most:
                self.most[kind] = max(self.most[kind], alive[kind])


def test_a_phase_holds_no_more_than_the_blocks_that_are_out(
    suite: Path, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    monkeypatch.setattr(blocks, "_LEAST_CALLS", BLOCK)
    monkeypatch.setattr(blocks, "_CALLS_IN_A_ROW", 1)
    rows = [{"id": f"c{n}", "prompt": f"Why {n}?", "response": f"So {n}.", "age": "10"} for n in range(CASES)]
    cases, counting = write_cases(suite / "many.csv", rows), Counting()
    with ledger_at(tmp_path / "ledger.db") as ledger:
        wishes = RunWishes(datasets=(cases,), judges=("alpha",))
        view = run_benchmark(str(suite), wishes, ledger=ledger, out=tmp_path, observer=counting)
    assert view.coverage.share == 1.0
    assert counting.judged_calls == CASES * PASSES * len(CRITERIA)
    assert 0 < counting.most[PlannedCall] <= MOST_HELD
    assert counting.most[Judgment] <= MOST_HELD
    assert counting.most[Link] <= MOST_HELD


def test_identical_cases_in_different_blocks_share_their_calls(
    suite: Path, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    monkeypatch.setattr(blocks, "_LEAST_CALLS", 2)
    monkeypatch.setattr(blocks, "_CALLS_IN_A_ROW", 1)
    rows = [{"id": f"c{n}", "prompt": f"Why {n % 5}?", "response": f"So {n % 5}.", "age": "10"} for n in range(20)]
    cases, counting = write_cases(suite / "alike.csv", rows), Counting()
    with ledger_at(tmp_path / "ledger.db") as ledger:
        wishes = RunWishes(datasets=(cases,), judges=("alpha",))
        view = run_benchmark(str(suite), wishes, ledger=ledger, out=tmp_path, observer=counting)
    assert len(server.verdict_calls) == counting.judged_calls == 5 * PASSES * len(CRITERIA)
    assert view.coverage.share == 1.0
    assert len(view.scores.records) == 20
