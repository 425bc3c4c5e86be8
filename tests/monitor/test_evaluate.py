"""Evaluations step by step, without a queue: one attempt at each answer that waits."""

import asyncio
import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from areopage.cases.loader import load_dataset
from areopage.errors import StorageError
from areopage.ledger.people.erasure import ERASED
from areopage.ledger.read.days import Days
from areopage.ledger.read.lists import EvaluationLists
from areopage.ledger.read.queries import Filters, Period, Scope
from areopage.ledger.store import Ledger
from areopage.ledger.write.alerts import Alerts
from areopage.ledger.write.answers import Answers
from areopage.ledger.write.evaluations import Evaluations
from areopage.monitor.alerts.jobs import check_windows, open_alerting
from areopage.monitor.evaluate import Evaluator, ProgressCounter, WorkerProgress
from areopage.monitor.figures import PeriodFigures
from areopage.monitor.hook.submission import submission_of
from areopage.monitor.intake import Intake
from areopage.monitor.quality_judge import QualityJudge
from areopage.report.export import export_answers, export_ledger
from areopage.work.handlers import Handler, Retry
from servers.searched import files_with, tables_with

if TYPE_CHECKING:
    from servers.monitored import Monitored


class Steps:
    """Makes one attempt at each answer that waits, as the engine does."""

    def __init__(self, monitored: "Monitored", ledger: Ledger, **fields: Any) -> None:
        self._config, self._ledger, self._counter = monitored.configure(**fields), ledger, ProgressCounter()
        self._failed: Counter[str] = Counter()

    def step(self) -> None:
        asyncio.run(self._step())

    async def _step(self) -> None:
        from servers.monitored import judge_of

        judge = judge_of(self._config)
        try:
            with ThreadPoolExecutor(1) as threads:
                await judge.check()
                self._ledger.put_panel(judge.run())
                evaluator = Evaluator(self._ledger, judge, self._config, threads, self._counter)
                await self._attempt(evaluator.handler(lambda: True, 0.0))
        finally:
            await judge.aclose()

    async def _attempt(self, handler: Handler) -> None:
        ids = [id for _, id in handler.pending(0, 100)]
        outcomes = await asyncio.gather(*(handler.run(id, self._failed[id]) for id in ids))
        for id, outcome in zip(ids, outcomes, strict=True):
            if isinstance(outcome, Retry):
                assert outcome.counted
                self._failed[id] += 1
                if self._failed[id] >= handler.attempts:
                    handler.gave_up(id, outcome.reason)

    @property
    def progress(self) -> WorkerProgress:
        return self._counter.now(Evaluations(self._ledger).backlog())


def test_a_judge_that_fails_is_asked_again_later_and_nothing_is_paid_twice(monitored: "Monitored", kept: Ledger) -> None:
    from servers.monitored import counted, evaluated

    monitored.server.faults.status = 500
    monitored.submit(kept, 3)
    steps = Steps(monitored, kept, judges=["rules:answer_quality", "openai:fake-a"])
    steps.step()
    steps.step()
    assert (steps.progress.again, evaluated(kept)) == (6, 0)
    always = Period(start=date.min, end=date.max)
    attempts = {one.judge: one.outcomes.get("unreachable", 0) for one in Days(kept).judges(always)}
    assert attempts == {"openai_fake-a": 3 * 2 * 4}  # answers, attempts, criteria
    monitored.server.faults.status = 0
    steps.step()
    assert (steps.progress.evaluated, evaluated(kept)) == (3, 3)
    rules = "SELECT count(*) FROM judgments WHERE judge LIKE 'rules%'"
    assert counted(kept, rules) == counted(kept, "SELECT count(DISTINCT key) FROM judgments WHERE judge LIKE 'rules%'")
    found = Evaluations(kept).get("a0")
    assert found is not None and found.attempts == 2 and found.state == "evaluated"


def test_after_the_last_attempt_an_answer_is_given_up_until_it_is_reopened(monitored: "Monitored", kept: Ledger) -> None:
    from servers.monitored import evaluated

    monitored.server.faults.status = 500
    monitored.submit(kept, 2)
    steps = Steps(monitored, kept, worker={"attempts": 2})
    steps.step()
    assert Evaluations(kept).backlog().failed == 0
    steps.step()
    assert (Evaluations(kept).backlog().failed, steps.progress.given_up) == (2, 2)
    found = Evaluations(kept).get("a0")
    assert found is not None and "500" in found.reason and found.attempts == 2
    monitored.server.faults.status = 0
    assert Evaluations(kept).reopen() == 2
    Steps(monitored, kept).step()
    assert evaluated(kept) == 2


def test_an_answer_that_no_judge_can_read_gets_no_number(monitored: "Monitored", kept: Ledger) -> None:
    monitored.server.faults.texts, monitored.server.faults.kinds = 1.0, ("prose",)
    monitored.submit(kept, 2)
    steps = Steps(monitored, kept)
    steps.step()
    score = Evaluations(kept).get("a0")
    assert score is not None and score.score_global is None and score.grade == "unscored" and score.reason
    assert steps.progress.unscored == 2


def test_an_answer_without_a_score_can_be_judged_again_and_leaves_the_counts_meanwhile(
    monitored: "Monitored", kept: Ledger
) -> None:
    from servers.monitored import evaluated

    always = Period(start=date.min, end=date.max)
    monitored.server.faults.texts, monitored.server.faults.kinds = 1.0, ("prose",)
    monitored.submit(kept, 3)
    Steps(monitored, kept).step()
    assert sum(day.unscored for day in Days(kept).totals(always, Scope())) == 3
    monitored.server.faults.texts = 0.0
    assert Evaluations(kept).reopen_unscored(["a0"]) == 1 and Evaluations(kept).reopen_unscored() == 2
    assert Days(kept).totals(always, Scope()) == [] and Evaluations(kept).backlog().waiting == 3
    Steps(monitored, kept).step()
    assert [one.score_global is not None for one in Evaluations(kept).latest(["a0", "a1", "a2"]).values()] == [True] * 3
    assert evaluated(kept) == 3 and Evaluations(kept).reopen_unscored() == 0
    assert [(day.scored, day.unscored) for day in Days(kept).totals(always, Scope())] == [(3, 0)]
    before = Days(kept).totals(always, Scope()), Days(kept).judges(always)
    kept.caches.rebuild_days()
    after = Days(kept).totals(always, Scope()), Days(kept).judges(always)
    assert [one.calls for one in before[1]] == [one.calls for one in after[1]]
    assert [one.outcomes for one in before[1]] == [one.outcomes for one in after[1]]


def test_equal_answers_are_one_observation(monitored: "Monitored", kept: Ledger) -> None:
    given = [submission_of("Q ?", "The same.", id=f"same-{n}", variant="a") for n in range(4)]
    given += [submission_of(f"Q {n} ?", f"B {n}.", id=f"b-{n}", variant="b") for n in range(4)]
    Intake(kept).submit(given)
    Steps(monitored, kept).step()
    suite, day = monitored.config.load_suite(), datetime.now(UTC).date()
    period = Period(start=day - timedelta(days=1), end=day + timedelta(days=1))
    figures = PeriodFigures.of(kept, period, Scope(suite=suite.name), suite.scale, {})
    a, b = figures.variants
    assert (a.overall.answers, a.overall.low, b.overall.answers, b.change.certain) == (4, None, 4, None)
    assert b.overall.low is not None and b.overall.high is not None and b.overall.low < b.overall.high
    assert a.criteria["quality.answer.format"].low is None and figures.overall.mean.low is not None
    assert kept.caches.equal_differences() == []
    with kept.engine.begin() as connection:
        connection.execute(text("DELETE FROM equal_answers WHERE evaluation < 4"))
    assert len(kept.caches.equal_differences()) == 3 + 1  # the lowest number of what is left has changed, too
    kept.caches.rebuild_equals()
    assert kept.caches.equal_differences() == []
    assert PeriodFigures.of(kept, period, Scope(suite=suite.name), suite.scale, {}) == figures


def test_equal_answers_in_flight_are_one_call_and_all_get_its_scores(monitored: "Monitored", kept: Ledger) -> None:
    from servers.monitored import counted

    monitored.server.latency = 0.1
    Intake(kept).submit([submission_of("Q ?", "The same.", id=f"same-{n}") for n in range(8)])
    Steps(monitored, kept).step()
    assert len(monitored.server.verdict_calls) == counted(kept, "SELECT count(*) FROM judgments") == 1
    scores = Evaluations(kept).latest([f"same-{n}" for n in range(8)])
    assert len({one.score_global for one in scores.values()}) == 1 and len(scores) == 8
    assert all(one.score_global is not None for one in scores.values())


def test_both_exports_are_data_sets_with_the_documents_and_metadata_of_the_answers(
    monitored: "Monitored", kept: Ledger, tmp_path: Path
) -> None:
    document = {"id": "d1", "title": "Article 45", "text": "Thirty days a year.", "page": 3}
    turns = [{"role": "user", "content": "Q ?"}, {"role": "assistant", "content": "A."}, {"role": "user", "content": "And?"}]
    Intake(kept).submit(
        [
            submission_of("How many?", "Thirty.", [document], id="one", source="bot", variant="b", metadata={"user": "u1"}),
            submission_of(turns, "Yes.", id="two", source="bot"),
        ]
    )
    Steps(monitored, kept).step()
    scores, answers = EvaluationLists(kept).stream(Filters()), Answers(kept).by_id
    export_answers(scores, "jsonl", tmp_path / "monitor.jsonl", [], "full", 1000, answers)
    export_ledger(kept, tmp_path / "ledger", "jsonl")
    for file in ("monitor.jsonl", "ledger/answers.jsonl"):
        dataset = load_dataset([tmp_path / file], default_maturity="")
        assert not dataset.rejected and [case.id for case in dataset.cases] == ["one", "two"], file
        one = dataset.cases[0]
        assert (one.prompt, one.response, one.source) == ("How many?", "Thirty.", "bot")
        assert [(found.title, found.text, found.metadata) for found in one.documents] == [
            ("Article 45", "Thirty days a year.", {"page": 3})
        ]
        assert one.metadata["metadata"] == {"user": "u1"}
        assert [turn.content for turn in dataset.cases[1].turns] == ["Q ?", "A.", "And?"]


def test_an_outage_opens_the_rule_about_judges_while_answers_are_tried_again(monitored: "Monitored", kept: Ledger) -> None:
    monitored.server.faults.status = 500
    monitored.submit(kept, 5)
    rule = {"judge": {"minimum": 4}, "queue": {"enabled": False}}
    steps = Steps(monitored, kept, alerts=rule, language="en")
    steps.step()
    alerting = open_alerting(kept, monitored.config)
    check_windows(alerting, datetime.now(UTC))
    (alert,) = Alerts(kept).list()
    assert (alert.rule, alert.state, alert.title) == ("judge", "open", "Judges fail: 100%")
    assert "5 of them" in alert.body
    check_windows(alerting, datetime.now(UTC) + timedelta(hours=2))  # what failed long ago says nothing of now
    assert [one.times for one in Alerts(kept).list()] == [1]
    monitored.server.faults.status = 0
    steps.step()
    check_windows(alerting, datetime.now(UTC))
    assert not Alerts(kept).is_open("judge", "all")


def test_a_weak_answer_raises_one_alert(monitored: "Monitored", kept: Ledger) -> None:
    from servers.monitored import counted

    monitored.submit(kept, 6)
    steps = Steps(monitored, kept, alerts={"threshold": 10.0})
    steps.step()
    weak = counted(kept, "SELECT count(*) FROM quality_scores WHERE score_global < 10")
    assert counted(kept, "SELECT count(DISTINCT subject) FROM alerts") == counted(kept, "SELECT count(*) FROM alerts") == weak > 0


SECRET = "Xylophage"
MOMENTS = ("waits", "begun", "first judge asked", "every judge asked", "judged", "about to be stored", "stored")


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_erasure_at_any_moment_of_a_judgment_leaves_no_text_and_raises_no_alert(
    monitored: "Monitored", kept: Ledger, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    given = submission_of(f"{SECRET} ?", f"Oui, {SECRET}.", [f"Un {SECRET}."], id="a0", source="bot", metadata={"who": SECRET})
    assert Intake(kept).submit([given]) == [True]
    steps = Steps(monitored, kept, judges=["openai:fake-a", "openai:fake-b"], alerts={"threshold": 10.0}, language="en")
    quoted = {"explanation": f"It says {SECRET}.", "evidence_extracts": [f"Oui, {SECRET}."]}
    paths = ("exactitude", "completude", "format", "sources")
    joint = {path: {"score": 2, **quoted} for path in paths}
    monitored.server.faults.says = [json.dumps(joint), json.dumps({"score": 2, **quoted})]
    erased: list[int] = []

    def erase_now() -> None:
        erased.append(kept.erasure.erase(["a0"]))

    def erasing(owner: type, name: str, *, after: bool) -> None:
        call = getattr(owner, name)

        def around(*args: Any, **named: Any) -> Any:
            if not after:
                erase_now()
            found = call(*args, **named)
            if after:
                erase_now()
            return found

        monkeypatch.setattr(owner, name, around)

    if moment == "waits":
        erase_now()
    if moment == "begun":
        erasing(Evaluations, "link", after=True)
    if moment == "judged":
        erasing(Evaluator, "_stored_evaluation", after=False)
    if moment == "about to be stored":
        erasing(Evaluations, "finish", after=False)
    if moment in ("first judge asked", "every judge asked"):
        monitored.server.faults.hold = True
        with ThreadPoolExecutor(1) as thread:
            stepping = thread.submit(steps.step)
            monitored.server.wait_for_calls(1 if moment == "first judge asked" else 2)
            erase_now()
            monitored.server.faults.hold = False
            stepping.result()
    else:
        steps.step()
    if moment == "stored":
        assert [alert.answer_id for alert in Alerts(kept).list()] == ["a0"]
        erase_now()
    assert erased[0] == 1
    told = [(alert.title, alert.body, alert.delivery) for alert in Alerts(kept).list()]
    assert told == ([(ERASED, ERASED, "none")] if moment == "stored" else [])
    assert tables_with(kept, SECRET) == []
    assert files_with(kept, SECRET) == []
    found = Evaluations(kept).get("a0")
    assert found is not None and found.erased


def test_judgments_that_a_dead_worker_left_of_an_erased_answer_lose_their_texts(
    monitored: "Monitored", kept: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monitored.submit(kept, 1)
    steps = Steps(monitored, kept)
    with monkeypatch.context() as dying:

        def die(*_: Any) -> bool:
            kept.erasure.erase(["a0"])
            raise StorageError("the worker ends here")

        dying.setattr(Evaluations, "finish", die)
        with pytest.raises(StorageError):
            steps.step()
    monkeypatch.setattr(Evaluations, "pending", lambda *_: [(1, "a0")])  # another worker takes its work over
    steps.step()
    assert [one.raw_text for one in Evaluations(kept).judgments("a0")] == [""]


def test_the_storage_policy_holds_for_all_that_stays(monitored: "Monitored", kept: Ledger) -> None:
    monitored.submit(kept, 1)
    Steps(monitored, kept, storage={"text": "none"}).step()
    score, answer = Evaluations(kept).get("a0"), Answers(kept).get("a0")
    assert score is not None and (score.prompt, score.response, score.feedback) == ("", "", "")
    assert answer is not None and answer.case.documents == () and not answer.case.response
    assert [one.raw_text for one in Evaluations(kept).judgments("a0")] == [""]


def test_a_bug_in_an_evaluation_counts_as_an_attempt(
    monitored: "Monitored", kept: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: QualityJudge, *given: Any, **named: Any) -> Any:
        raise KeyError("bug")

    monkeypatch.setattr(QualityJudge, "evaluate_case", broken)
    monitored.submit(kept, 1)
    steps = Steps(monitored, kept, worker={"attempts": 3})
    for _ in range(3):
        steps.step()
    found = Evaluations(kept).get("a0")
    assert found is not None and (found.state, found.attempts) == ("failed", 3) and "KeyError" in found.reason


PERSONAL = ("FR76 3000 6000 0112 3456 7890 189", "jean.dupont@exemple.fr")


@pytest.mark.parametrize("policy", ["none", "redacted", "truncated"])
def test_the_storage_policy_holds_for_an_answer_that_is_given_up_and_for_why(
    monitored: "Monitored", kept: Ledger, policy: str
) -> None:
    iban, mail = PERSONAL
    monitored.server.faults.status, monitored.server.faults.message = 500, f"cannot judge {mail} {iban}"
    text = f"{SECRET}, {iban}, {mail}. " + "Le délai est de trente jours. " * 10 + iban
    given = submission_of(text, text, [text], id="a0", source="bot", metadata={"who": mail})
    assert Intake(kept).submit([given]) == [True]
    storage = {"text": policy, "max_chars": 12}
    steps = Steps(monitored, kept, judges=["openai:fake-a"], worker={"attempts": 2}, storage=storage)
    steps.step()
    waiting = Evaluations(kept).get("a0")
    assert waiting is not None and waiting.state == "waiting" and iban not in waiting.reason
    steps.step()
    found, answer = Evaluations(kept).get("a0"), Answers(kept).get("a0")
    assert found is not None and (found.state, found.erased) == ("failed", False) and "openai_fake" in found.reason
    assert answer is not None and (policy == "none") is not bool(answer.case.response)
    for word in (iban, mail, "trente jours" if policy != "redacted" else iban, SECRET if policy == "none" else iban):
        assert tables_with(kept, word) == []


def test_what_keeps_no_text_is_not_judged_again(monitored: "Monitored", kept: Ledger) -> None:
    monitored.server.faults.status = 500
    monitored.submit(kept, 1)
    Steps(monitored, kept, worker={"attempts": 1}, storage={"text": "none"}).step()
    assert (Evaluations(kept).backlog().failed, Evaluations(kept).reopen(), Evaluations(kept).reopen(["a0"])) == (1, 0, 0)
    assert Evaluations(kept).backlog().failed == 1
