"""What the grey band's judge said goes with the trace that it is about; and whether a kept answer still stands."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from areopage.ledger.traces import Traces
from areopage.ledger.records import Grounded
from areopage.ledger.records import GATE_RUN, Label
from areopage.ledger.quality import QualityScores
from areopage.ledger.quality_records import QualityScore
from areopage.ledger.records import Judgment, Run, Verdict
from areopage.ledger.store import Ledger
from areopage.scoring.outcome import Scored
from servers.made_traces import NOW, delivered_trace, trace_id, held_trace

MakeJudgment = Callable[..., Judgment]
WORD = "Xylophage"


def with_run(ledger: Ledger) -> str:
    """The id of a run of the grey band's judge."""
    run = Run(id=f"{GATE_RUN}1", kind="monitor", suite="s", fingerprint="f", folder="", created_at=NOW, finished_at=None, spec="")
    ledger.put_monitor_run(run)
    return run.id


def said(judgment: MakeJudgment, key: str, run: str, **fields: Any) -> Judgment:
    verdict = Verdict(criterion="q", outcome=Scored(score=1.0, explanation=WORD, evidence=(WORD,)))
    return judgment(key, run_id=run, raw_text=WORD, repair_text=WORD, verdicts=(verdict,), **fields)


def label(number: int, grounded: Grounded) -> Label:
    return Label(answer_id=trace_id(number), rater="Anne", grounded=grounded, origin="web", created_at=NOW)


def test_the_judges_words_go_with_the_exchange_that_they_are_about(ledger: Ledger, judgment: MakeJudgment) -> None:
    run, store = with_run(ledger), Traces(ledger)
    ledger.append([said(judgment, key, run) for key in ("own", "own", "shared", "other")])
    store.append([held_trace(1, judgments=("own", "shared", "never-given")), held_trace(2, judgments=("shared",))])
    assert store.erase(trace_id(1))
    assert {one.answer.api_key for one in ledger.attempts(["own", "shared", "other"])} == {"shared", "other"}
    assert store.erase(trace_id(2))
    assert {one.answer.api_key for one in ledger.attempts(["own", "shared", "other"])} == {"other"}


def test_not_a_byte_of_what_the_judge_said_stays(
    tmp_path: Path, open_ledger: Callable[[str | Path], Ledger], judgment: MakeJudgment
) -> None:
    ledger = open_ledger(tmp_path / "l.db")
    ledger.append([said(judgment, "k", with_run(ledger))])
    Traces(ledger).append([held_trace(1, judgments=("k",))])
    assert any(WORD.encode() in path.read_bytes() for path in tmp_path.iterdir())
    Traces(ledger).erase(trace_id(1))
    assert not any(WORD.encode() in path.read_bytes() for path in tmp_path.iterdir())


def test_an_answer_of_the_monitor_keeps_a_judgment_that_it_shares(
    ledger: Ledger, judgment: MakeJudgment, scored: Callable[..., QualityScore]
) -> None:
    run = with_run(ledger)
    ledger.append([said(judgment, "k", run)])
    QualityScores(ledger).finish(scored("a", run_id=run), [], ["k"], None)
    Traces(ledger).append([held_trace(1, judgments=("k",)), held_trace(2, judgments=("k",))])
    Traces(ledger).erase(trace_id(1))
    Traces(ledger).erase(trace_id(2))
    assert len(ledger.attempts(["k"])) == 1
    Traces(ledger).append([held_trace(3, judgments=("k",))])
    QualityScores(ledger).erase(["a"])
    assert len(ledger.attempts(["k"])) == 1
    Traces(ledger).erase(trace_id(3))
    assert ledger.attempts(["k"]) == []


def test_by_age_go_also_judgments_whose_exchange_never_came(ledger: Ledger, judgment: MakeJudgment) -> None:
    run, old = with_run(ledger), NOW - timedelta(days=40)
    given = [("linked", run, old), ("old", run, old), ("of-a-bench", "r", old), ("new", run, NOW)]
    ledger.append([said(judgment, key, run_id, created_at=at) for key, run_id, at in given])
    store = Traces(ledger)
    store.append([delivered_trace(1, judgments=("linked",)), delivered_trace(2, at=old)])
    assert store.erase_before(NOW - timedelta(days=30)) == 1
    assert {one.answer.api_key for one in ledger.attempts([key for key, _, _ in given])} == {"linked", "of-a-bench", "new"}


def test_an_answer_stands_until_somebody_doubts_it_or_it_is_erased(ledger: Ledger) -> None:
    store = Traces(ledger)
    store.append([delivered_trace(1, mode="cached"), delivered_trace(2, prompt="Combien ?")])
    store.label(label(1, "no"))  # of an answer before this one
    before = store.latest_label()
    store.append([delivered_trace(3), delivered_trace(4, mode="cached"), delivered_trace(5, collection="contracts")])
    assert store.stands(trace_id(3), before)
    store.label(label(4, "yes"))
    store.label(label(2, "no"))
    store.label(label(5, "partly"))
    assert store.stands(trace_id(3), before)
    assert not store.stands(trace_id(5), before)
    store.label(label(4, "partly"))  # a repetition of it
    assert not store.stands(trace_id(3), before)
    assert store.stands(trace_id(3), store.latest_label())
    store.erase(trace_id(3))
    assert not store.stands(trace_id(3), store.latest_label())
    assert not store.stands("nobody", 0)
