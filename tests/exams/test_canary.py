"""Canaries: rounds over a ledger with a judge on loopback; a judge that moved is named, and its later scores say so."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from areopage.bench.execution.context import Observers
from areopage.errors import ConfigError, ModelError, ServerDown
from areopage.exams.canary import (
    Canary,
    CanaryResult,
    exams_after_drift,
    is_due,
    plan_canaries,
    require_references,
    run_canary,
)
from areopage.exams.exam import run_exam
from areopage.exams.exam_plan import (
    Exam,
    ExamWishes,
    prepare_exam,
)
from areopage.ledger.people.exams import CanaryRounds, Qualifications, panel_standings
from areopage.ledger.people.standing import JudgeStanding, standing_text
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Judgment
from areopage.suites.loader import Suite, load_suite
from servers.drifting import DANGER, WARMTH, DriftingJudge, write_examined_suite
from servers.fake_llm import FakeServer

DAY = timedelta(days=1)
START = datetime(2026, 3, 1, tzinfo=UTC)


class Watching(Observers):
    """Counts calls; stops after some of them."""

    def __init__(self, most: int | None = None) -> None:
        super().__init__()
        self.calls, self._most = 0, most

    def judged(self, judgment: Judgment, cases: Any) -> None:
        self.calls += 1
        if self._most is not None and self.calls >= self._most:
            raise KeyboardInterrupt


@pytest.fixture(name="suite")
def examined_suite(tmp_path: Path, server: FakeServer, drifting: DriftingJudge) -> Suite:
    return load_suite(str(write_examined_suite(tmp_path / "small", server.port)))


def exam_of(suite: Suite, **wishes: Any) -> Exam:
    return prepare_exam(suite, ExamWishes(judges=("alpha",), **wishes)).checked()


def planned(suite: Suite, ledger: Ledger) -> Canary:
    (one,) = plan_canaries(suite, exam_of(suite), ledger)
    return one


def round_of(suite: Suite, ledger: Ledger, at: datetime = START, watching: Watching | None = None) -> CanaryResult:
    return asyncio.run(run_canary(planned(suite, ledger), ledger, watching or Watching(), at))


def standing(suite: Suite, ledger: Ledger, at: datetime | None = None) -> JudgeStanding:
    panel = exam_of(suite).parts[0].panel
    (found,) = Qualifications(ledger).standings(panel.judges, panel.criteria, {} if at is None else {"alpha": at})
    return found


def test_a_judge_that_moves_by_a_point_is_named_and_its_later_scores_show_it(
    suite: Suite, ledger: Ledger, drifting: DriftingJudge
) -> None:
    run_exam(exam_of(suite), ledger, Watching())
    assert standing(suite, ledger).state == "qualified"
    start = datetime.now(UTC)
    for day in range(1, 4):
        assert round_of(suite, ledger, start + day * DAY).moved == ()
    drifting.by = {DANGER: 1.0}
    (found,) = round_of(suite, ledger, start + 4 * DAY).moved
    assert (found.criterion, found.sequence, found.look.window, found.moved) == (DANGER, 4, 1, True)
    assert found.shift.value == pytest.approx(1.0)
    assert found.shift.low is not None and found.shift.low > 0.0
    now = standing(suite, ledger)
    assert (now.state, now.drifted, now.qualified, now.drifted_at) == ("drifted", 1, 1, start + 4 * DAY)
    assert [one.state for one in now.criteria] == ["drifted", "qualified"]
    assert (now.criteria[0].drift_round, now.criteria[0].shift) == (4, found.shift)
    assert standing_text([now]) == "drifted: alpha"
    assert standing(suite, ledger, start + 3 * DAY).state == "qualified"  # scores from before keep their exam
    assert standing(suite, ledger, start + 5 * DAY).state == "drifted"
    panel = exam_of(suite).parts[0].panel
    with pytest.raises(ModelError, match=rf"judge alpha \(ollama:fake-a\) moved since its exam on {DANGER}"):
        ledger.qualifications.require(suite.name, panel.judges, panel.criteria)
    run = panel.as_run("monitor")
    ledger.put_panel(run)
    with ledger.engine.connect() as connection:  # as lists and pages of evaluations ask
        times = [(run.id, start + 3 * DAY), (run.id, start + 5 * DAY), (run.id, None)]
        told = panel_standings(connection, times)
    assert [[one.state for one in told[place]] for place in times] == [["qualified"], ["drifted"], ["drifted"]]
    (again,) = round_of(suite, ledger, start + 5 * DAY).moved
    assert (again.sequence, again.look.evidence >= found.look.evidence) == (5, True)


def test_a_new_exam_with_the_new_scores_ends_the_drift_for_scores_after_it(
    suite: Suite, ledger: Ledger, drifting: DriftingJudge
) -> None:
    run_exam(exam_of(suite), ledger, Watching())
    examined = datetime.now(UTC)
    drifting.by = {DANGER: 1.0}
    round_of(suite, ledger, datetime.now(UTC))
    (found,) = round_of(suite, ledger, datetime.now(UTC)).moved
    (exam,) = exams_after_drift(exam_of(suite), ledger)
    anew = Watching()
    result = run_exam(exam, ledger, anew)
    states = [qualification.state for qualification in result.qualifications]
    assert (states, anew.calls) == (["qualified", "qualified"], 144)  # every row is asked about anew
    assert standing(suite, ledger).state == "qualified"
    assert [standing(suite, ledger, at).criteria[0].exam == result.exam for at in (examined, found.at)] == [False, True]
    assert run_exam(exams_after_drift(exam_of(suite), ledger)[0], ledger, Watching()) == result  # not asked a third time
    assert round_of(suite, ledger, datetime.now(UTC)).rounds[0].sequence == 1  # compared with the new exam
    assert round_of(suite, ledger, datetime.now(UTC)).moved == ()


def test_an_unchanged_judge_is_not_named_and_each_round_asks_anew(suite: Suite, ledger: Ledger, server: FakeServer) -> None:
    run_exam(exam_of(suite), ledger, Watching())
    for number in range(1, 6):
        before = len(server.calls)
        watching = Watching()
        result = round_of(suite, ledger, START + number * DAY, watching)
        assert (result.moved, result.open_calls, watching.calls) == ((), 0, 16)  # eight rows of two criteria
        assert len(server.calls) - before == 16
    rounds = CanaryRounds(ledger).list()
    assert [(one.criterion, one.sequence) for one in rounds[-2:]] == [(DANGER, 5), (WARMTH, 5)]
    assert {len(one.items) for one in rounds} == {8}
    assert Qualifications(ledger).list(suite=suite.name)[-1].whole  # rounds are no exams


def test_a_round_that_was_stopped_pays_nothing_twice(suite: Suite, ledger: Ledger, server: FakeServer) -> None:
    run_exam(exam_of(suite), ledger, Watching())
    before, first = len(server.calls), planned(suite, ledger)
    (part,) = first.exam.parts
    one_by_one = structs.replace(part, asking=structs.replace(part.asking, concurrency=1))
    slow = structs.replace(first, exam=structs.replace(first.exam, parts=(one_by_one,)))
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(run_canary(slow, ledger, Watching(5), START))
    assert CanaryRounds(ledger).list() == []
    assert planned(suite, ledger).id == first.id
    result = round_of(suite, ledger)
    assert (len(server.calls) - before, result.rounds[0].round) == (16, first.id)
    assert (
        asyncio.run(run_canary(first, ledger, Watching(), START + DAY)).rounds == result.rounds
    )  # a second process stores nothing
    assert (planned(suite, ledger).round, len(CanaryRounds(ledger).list())) == (2, 2)  # a second process stores nothing


def test_a_server_that_is_down_leaves_the_round_open(suite: Suite, ledger: Ledger, server: FakeServer) -> None:
    run_exam(exam_of(suite), ledger, Watching())
    canary = planned(suite, ledger)
    server.stop()
    with pytest.raises(ServerDown):
        asyncio.run(run_canary(canary, ledger, Watching(), START))
    assert CanaryRounds(ledger).list() == []
    server.start()
    assert round_of(suite, ledger).rounds[0].round == canary.id


def test_a_canary_needs_an_exam_of_this_version_with_these_rows_and_options(
    suite: Suite, ledger: Ledger, server: FakeServer, tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match=r"judge alpha \(ollama:fake-a\) has no exam to compare a canary with: it was never"):
        require_references(plan_canaries(suite, exam_of(suite), ledger))
    run_exam(exam_of(suite, criteria=DANGER), ledger, Watching())
    canary = planned(suite, ledger)
    assert ([one.criterion.id for one in canary.references], list(canary.left_out)) == ([DANGER], [WARMTH])
    assert canary.exam.size.by_judge == {"alpha": 8}
    gold = suite.folder / "gold.jsonl"
    gold.write_text(gold.read_text(encoding="utf-8").replace("Answer", "Reply"), encoding="utf-8")
    with pytest.raises(ModelError, match=r"its rows, or the judge's name or options, changed since its exam on 20"):
        require_references(plan_canaries(suite, exam_of(suite), ledger))


def test_the_rows_are_the_same_each_time_and_as_many_low_as_high(suite: Suite, ledger: Ledger) -> None:
    run_exam(exam_of(suite), ledger, Watching())
    first, second = planned(suite, ledger), planned(suite, ledger)
    for one, other in zip(first.references, second.references, strict=True):
        assert one.asked == other.asked
        high = sum(passes[0] == 4 for passes in one.asked.values())
        assert (len(one.asked), high) == (8, 4)


def test_a_round_is_due_once_in_each_period() -> None:
    assert is_due(None, DAY, START)
    assert not is_due(START + timedelta(hours=1), DAY, START + timedelta(hours=23))
    assert is_due(START + timedelta(hours=23), DAY, START + timedelta(hours=25))
    assert is_due(START, timedelta(hours=12), START + timedelta(hours=12))


@pytest.mark.parametrize(
    ("canary", "told"),
    [
        ({"every": "daily"}, "must be a number of hours or days, such as 12h or 1d, or never"),
        ({"rows": 2}, "greater than or equal to 4"),
        ({"passes": 3}, "canary.passes is 3, but the exam asks 2 times"),
        ({"row": 12}, "row"),
    ],
)
def test_a_wrong_section_is_refused_with_its_key(tmp_path: Path, canary: dict[str, Any], told: str) -> None:
    folder = write_examined_suite(tmp_path / "small", 9, canary=canary)
    with pytest.raises(ConfigError) as refused:
        load_suite(str(folder))
    assert told in str(refused.value)
    assert "config.yml" in str(refused.value)
