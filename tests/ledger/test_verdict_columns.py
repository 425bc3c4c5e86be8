"""Verdicts of a run as columns: which judgment of a key is valid, and what is read of it."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from areopage.ledger.records import Judgment, Run, Verdict
from areopage.ledger.store import Ledger
from areopage.ledger.verdict_columns import CaseKeys, VerdictColumns, key_column, read_verdicts
from areopage.scoring.outcome import Outcome, Scored, TimedOut

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
FIRST, SECOND = "a" * 64, "b" * 64


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    opened = Ledger.open(tmp_path / "ledger.db")
    for id in ("own", "other"):
        run = Run(id=id, suite="s", fingerprint=id, folder="", created_at=MOMENT, finished_at=None, spec="{}")
        opened.create_run(run, [])
    return opened


def judgment(key: str, run_id: str, *outcomes: Outcome) -> Judgment:
    verdicts = tuple(Verdict(criterion=f"c {n}", outcome=one) for n, one in enumerate(outcomes))
    return Judgment(
        key=key,
        run_id=run_id,
        judge="a judge",
        model="m",
        pass_index=1,
        raw_text="",
        repair_text="",
        finish_reason="stop",
        prompt_tokens=None,
        completion_tokens=7,
        seconds=1.5,
        repair="none",
        steps=("json",),
        created_at=MOMENT,
        verdicts=verdicts,
    )


def scores(found: VerdictColumns) -> list[tuple[int, str, str, float]]:
    kinds = [found.kinds[number] for number in found.kind.tolist()]
    rows = zip(found.position.tolist(), kinds, found.score.tolist(), strict=True)
    return [(position, kind.criterion, kind.outcome, score) for position, kind, score in rows]


def wanted(*places: tuple[int, str]) -> CaseKeys:
    return CaseKeys(
        position=np.array([position for position, _ in places], dtype=np.int64), key=key_column([key for _, key in places])
    )


def test_the_latest_whole_judgment_of_a_key_counts_for_every_case_that_has_it(ledger: Ledger) -> None:
    late = TimedOut(reason="late")
    ledger.append([judgment(FIRST, "own", late, Scored(score=1)), judgment(FIRST, "own", Scored(score=2), Scored(score=3))])
    ledger.append([judgment(FIRST, "own", late, late)])
    found = read_verdicts(ledger, "own", wanted((4, FIRST), (0, FIRST)))
    assert scores(found) == [(n, f"c {c}", "scored", score) for n in (0, 4) for c, score in enumerate((2.0, 3.0))]
    assert np.isnan(found.prompt_tokens).all() and set(found.completion_tokens.tolist()) == {7.0}
    assert found.is_first_of_judgment.sum() == 1


def test_judgments_of_other_runs_count_where_the_run_has_no_whole_one(ledger: Ledger) -> None:
    ledger.append([judgment(FIRST, "own", TimedOut(reason="late")), judgment(SECOND, "own", Scored(score=1))])
    ledger.append([judgment(FIRST, "other", Scored(score=5)), judgment(SECOND, "other", Scored(score=4))])
    found = read_verdicts(ledger, "own", wanted((0, FIRST), (1, SECOND), (2, "c" * 64)))
    assert scores(found) == [(0, "c 0", "scored", 5.0), (1, "c 0", "scored", 1.0)]


def test_a_run_without_judgments_has_no_verdicts(ledger: Ledger) -> None:
    assert scores(read_verdicts(ledger, "own", wanted())) == []
