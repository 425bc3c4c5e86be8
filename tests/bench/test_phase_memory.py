"""What a run holds in memory while it asks: the calls and the judgments of the blocks that are out, not those of all calls."""

import gc
import tracemalloc
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import event

from areopage.bench.execution import blocks
from areopage.bench.execution.context import Observers
from areopage.bench.execution.start import carry_on, run_benchmark, run_folder
from areopage.bench.options import RunOptions
from areopage.bench.spec import RunSpec
from areopage.jury.judges import PlannedCall
from areopage.ledger.tables.records import Judgment
from areopage.ledger.write.answers import Link
from servers.fake_llm import FakeServer
from servers.new_ledger import ledger_at
from servers.small_suite import CRITERIA, write_cases

CASES, PASSES, BLOCK = 60, 2, 8
MOST_HELD = 8 * BLOCK
"""Some blocks are asked at once, and some are written or planned meanwhile."""
MOST_BYTES = 1_050
"""Of a case with short texts, which are a quarter of it."""


class Counting(Observers):
    """Counts objects that are alive while judgments come in."""

    def __init__(self) -> None:
        super().__init__()
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
        wishes = RunOptions(datasets=(cases,), judges=("alpha",))
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
        wishes = RunOptions(datasets=(cases,), judges=("alpha",))
        view = run_benchmark(str(suite), wishes, ledger=ledger, out=tmp_path, observer=counting)
    assert len(server.verdict_calls) == counting.judged_calls == 5 * PASSES * len(CRITERIA)
    assert view.coverage.share == 1.0
    assert len(view.scores.records) == 20


class Weighing(Observers):
    """Measures what is allocated when a number of judgments have come."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._left, self.bytes = after, 0

    def judged(self, judgment: Judgment, cases: Sequence[str]) -> None:
        """Measure once."""
        self._left -= 1
        if not self._left:
            gc.collect()
            self.bytes = tracemalloc.get_traced_memory()[0]


def test_a_run_holds_little_of_a_case_beside_its_texts(
    suite: Path, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    monkeypatch.setattr(blocks, "_LEAST_CALLS", 8 * BLOCK)  # a block costs a row of the queue
    monkeypatch.setattr(blocks, "_CALLS_IN_A_ROW", 1)
    few, many = 100, 700
    bytes_held: list[int] = []
    for count in (few, few, many):  # the first time, modules are imported and statements compiled
        place = tmp_path / f"{len(bytes_held)}"
        rows = [{"id": f"c{n}", "prompt": f"Why {n}?", "response": f"So {n}.", "age": "10"} for n in range(count)]
        cases, weighing = write_cases(suite / f"{place.name}.csv", rows), Weighing(few // 2)
        tracemalloc.start()
        try:
            with ledger_at(tmp_path / f"{place.name}.db") as ledger:
                wishes = RunOptions(datasets=(cases,), judges=("alpha",), criteria=CRITERIA[0], passes=1, limit=-1)
                run_benchmark(str(suite), wishes, ledger=ledger, out=place, observer=weighing)
        finally:
            tracemalloc.stop()
        bytes_held.append(weighing.bytes)
    assert (bytes_held[2] - bytes_held[1]) / (many - few) < MOST_BYTES


def test_what_is_judged_is_looked_up_without_its_texts_by_one_query_for_a_block(
    suite: Path, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    monkeypatch.setattr(blocks, "_LEAST_CALLS", BLOCK)
    monkeypatch.setattr(blocks, "_CALLS_IN_A_ROW", 1)
    rows = [{"id": f"c{n}", "prompt": f"Why {n}?", "response": f"So {n}.", "age": "10"} for n in range(CASES)]
    cases = write_cases(suite / "many.csv", rows)
    said: list[str] = []
    with ledger_at(tmp_path / "ledger.db") as ledger:
        run = run_benchmark(str(suite), RunOptions(datasets=(cases,), judges=("alpha",)), ledger=ledger, out=tmp_path).run
        asked = len(server.verdict_calls)
        event.listen(ledger.engine, "before_cursor_execute", lambda *call: said.append(call[2]))
        folder = run_folder(run, tmp_path)
        assert carry_on(run, RunSpec.of(run), ledger, Observers(), folder) == 0
    assert len(server.verdict_calls) == asked
    looks = [statement for statement in said if "FROM judgments" in statement and " IN (" in statement]
    assert len(looks) == CASES * PASSES // BLOCK * len(CRITERIA)
    assert not any("judgments.raw_text" in statement for statement in said)
    assert len(said) - len(looks) < CASES // 2
