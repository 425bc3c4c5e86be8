"""What a run holds in memory while its results are computed, stored and written: columns, and the texts of its cases."""

import gc
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from areopage.bench.report.files import write_run_files
from areopage.bench.results import evaluations, run_texts
from areopage.bench.results.evaluations import store_evaluations
from areopage.bench.results.run_view import view_run
from areopage.cases.records import Case
from areopage.ledger.read import verdict_columns
from areopage.ledger.store import Ledger
from areopage.scoring import folding

from .report_runs import judge, view_of

FEW, MANY = 10, 90
JUDGMENTS = 2 * 2 * 6
"""Of a case: criteria, judges and passes."""
MOST_BYTES = 4_600
"""Of a case with short texts and its judgments."""


def stored_run(folder: Path, cases: int) -> Path:
    """Keep a run with so many cases."""
    folder.mkdir()
    asked = [Case(id=f"c{n}", prompt=f"Why {n}?", response=f"So {n}.", maturity="Teen") for n in range(cases)]
    view_of(folder, cases=asked, judges=tuple(judge(name, passes=6) for name in ("alpha", "beta")))
    return folder


def finish(folder: Path) -> int:
    """Do what a run does at its end; return how many judgments there are."""
    with Ledger.open(folder / "ledger.db") as ledger:
        view = view_run(ledger.run("run-1"), ledger, linked=False)
        store_evaluations(view, ledger)
        write_run_files(view, folder / "run")
        return len(view.judgments)


def test_the_results_of_a_run_hold_little_of_a_judgment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in (
        (run_texts, "HELD", 0),
        (folding, "HELD", 0),
        (run_texts, "AT_ONCE", 2),
        (evaluations, "_STORED_AT_ONCE", 5),
        (verdict_columns, "AT_ONCE", 50),
    ):
        monkeypatch.setattr(module, name, value)
    finish(stored_run(tmp_path / "first", FEW))  # modules are imported, and statements compiled
    with collecting_often():
        peaks = [peak_of(stored_run(tmp_path / str(cases), cases), cases) for cases in (FEW, MANY)]
    assert (peaks[1] - peaks[0]) / (MANY - FEW) < MOST_BYTES


@contextmanager
def collecting_often() -> Iterator[None]:
    """Collect garbage as often as in a process of its own, however much the tests before left behind."""
    thresholds = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(700, 10, 10)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def peak_of(folder: Path, cases: int) -> int:
    """The most memory that is held at the end of a run."""
    gc.collect()
    tracemalloc.start()
    try:
        assert finish(folder) == cases * JUDGMENTS
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
