"""What the grey band's judge said goes with the trace that it is about; and whether a kept answer still stands."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import text

from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Evaluation, Judgment, Run, Verdict
from areopage.ledger.write.traces import Traces
from areopage.scoring.outcome import Scored
from servers.evaluated import evaluate
from servers.made_traces import NOW, delivered_trace, held_trace, trace_id

MakeJudgment = Callable[..., Judgment]
WORD = "Xylophage"


def with_run(ledger: Ledger) -> str:
    """The id of a run of the grey band's judge."""
    run = Run(id="g", kind="gate", suite="s", fingerprint="f", folder="", created_at=NOW, finished_at=None, spec="")
    ledger.put_panel(run)
    return run.id


def said(judgment: MakeJudgment, key: str, run: str, **fields: Any) -> Judgment:
    verdict = Verdict(criterion="q", outcome=Scored(score=1.0, explanation=WORD, evidence=(WORD,)))
    return judgment(key, run_id=run, raw_text=WORD, repair_text=WORD, verdicts=(verdict,), **fields)


def readable(ledger: Ledger) -> set[str]:
    """The keys of judgments that still hold what the judge wrote."""
    with ledger.engine.connect() as connection:
        return set(connection.execute(text("SELECT key FROM judgments WHERE raw_text != ''")).scalars())


def test_the_judges_words_go_with_the_answer_that_they_are_about(ledger: Ledger, judgment: MakeJudgment) -> None:
    run, store = with_run(ledger), Traces(ledger)
    ledger.append([said(judgment, key, run) for key in ("own", "own", "shared", "other")])
    store.append(
        [held_trace(1, panel=run, judgments=("own", "shared", "never-given")), held_trace(2, panel=run, judgments=("shared",))]
    )
    assert ledger.erasure.erase([trace_id(1)])
    assert readable(ledger) == {"shared", "other"}
    assert ledger.attempts(["own"]) == []
    assert ledger.erasure.erase([trace_id(2)])
    assert readable(ledger) == {"other"}


def test_not_a_byte_of_what_the_judge_said_stays(
    tmp_path: Path, open_ledger: Callable[[str | Path], Ledger], judgment: MakeJudgment
) -> None:
    ledger = open_ledger(tmp_path / "l.db")
    run = with_run(ledger)
    ledger.append([said(judgment, "k", run)])
    Traces(ledger).append([held_trace(1, panel=run, judgments=("k",))])
    assert any(WORD.encode() in path.read_bytes() for path in tmp_path.iterdir())
    ledger.erasure.erase([trace_id(1)])
    assert not any(WORD.encode() in path.read_bytes() for path in tmp_path.iterdir())


def test_an_answer_of_the_monitor_keeps_a_judgment_that_it_shares(
    ledger: Ledger, judgment: MakeJudgment, scored: Callable[..., Evaluation]
) -> None:
    run = with_run(ledger)
    evaluate(ledger, scored("a", run_id=run), [said(judgment, "k", run)])
    Traces(ledger).append([held_trace(1, panel=run, judgments=("k",)), held_trace(2, panel=run, judgments=("k",))])
    ledger.erasure.erase([trace_id(1)])
    ledger.erasure.erase([trace_id(2)])
    assert readable(ledger) == {"k"}
    Traces(ledger).append([held_trace(3, panel=run, judgments=("k",))])
    ledger.erasure.erase(["a"])
    assert readable(ledger) == {"k"}
    ledger.erasure.erase([trace_id(3)])
    assert readable(ledger) == set()
    assert ledger.attempts(["k"]) == []


def test_by_age_go_also_judgments_whose_trace_never_came(ledger: Ledger, judgment: MakeJudgment) -> None:
    run, old = with_run(ledger), NOW - timedelta(days=40)
    given = [("linked", run, old), ("old", run, old), ("of-a-bench", "r", old), ("new", run, NOW)]
    ledger.append([said(judgment, key, run_id, created_at=at) for key, run_id, at in given])
    store = Traces(ledger)
    store.append([delivered_trace(1, panel=run, judgments=("linked",)), delivered_trace(2, at=old)])
    assert ledger.erasure.erase_before(NOW - timedelta(days=30)) == 1
    assert {one.key for one in ledger.attempts([key for key, _, _ in given])} == {"linked", "of-a-bench", "new"}


def test_an_answer_has_texts_until_it_is_erased(ledger: Ledger) -> None:
    store = Traces(ledger)
    store.append([delivered_trace(1)])
    assert store.has_texts(trace_id(1))
    ledger.erasure.erase([trace_id(1)])
    assert not store.has_texts(trace_id(1))
    assert not store.has_texts("nobody")
