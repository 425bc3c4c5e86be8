"""Evaluations: on the disk once they are added, once each, and every one comes to an end that is counted once."""

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from threading import Thread
from typing import Any

import msgspec
import pytest
from sqlalchemy import event

from areopage.cases.records import Case, Child, Document, Turn
from areopage.errors import StorageError
from areopage.ledger.read.days import Days
from areopage.ledger.read.queries import Backlog, Period, Scope
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Answer, Evaluation
from areopage.ledger.tables.rows import KEYS_PER_QUERY
from areopage.ledger.write.answers import Answers
from areopage.ledger.write.evaluations import Evaluations
from servers.evaluated import submitted

MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
LATER = MOMENT + timedelta(hours=1)
PERIOD = Period(start=date(2026, 1, 1), end=date(2026, 2, 1))
Make = Callable[..., Answer]
MakeScore = Callable[..., Evaluation]


@pytest.fixture
def intake(monitored: Ledger) -> Evaluations:
    return Evaluations(monitored)


def failed(ledger: Ledger, suite: str | None = None) -> int:
    return sum(day.failed for day in Days(ledger).totals(PERIOD, Scope(suite=suite)))


def test_a_submission_comes_back_as_it_was(intake: Evaluations, monitored: Ledger) -> None:
    document = Document(id="d", text="T", title="t", score=0.5, source="s", metadata={"p": 1})
    turns = (Turn(role="user", content="Où ?"), Turn(role="assistant", content="?"), Turn(role="user", content="Ici ?"))
    case = Case(id="a", prompt=turns, response="Là", documents=(document,), metadata={"x": [1, {"y": None}]})
    case = msgspec.structs.replace(case, tags=("twin",), system="Be kind.", child=Child(script=("Et ?",), age="10"))
    given = submitted("a", case=case, source="site", received_at=LATER, api_key="ann", session="s1", delivered="Là.")
    assert intake.submit([given]) == [True]
    found = Answers(monitored).get("a")
    assert found is not None and msgspec.structs.replace(found, number=0) == given
    waiting = intake.get("a")
    assert waiting is not None
    assert (waiting.id, waiting.state, waiting.attempts, waiting.reason) == ("a", "waiting", 0, "")
    assert (waiting.timestamp, waiting.received_at) == (MOMENT, LATER)
    assert (waiting.source, waiting.variant, waiting.language, waiting.run_id) == ("site", "A", "en", "")
    assert (waiting.prompt, waiting.response, waiting.erased) == (case.prompt_text, "Là", False)
    assert intake.get("b") is None


def test_any_text_can_be_submitted(intake: Evaluations, monitored: Ledger, submission: Make) -> None:
    bad = "a\x00b\ud83dc"
    case = Case(id=bad, prompt=bad, response=bad, metadata={bad: (bad, {"x": bad})})
    assert intake.submit([submission(bad, case=case, variant=bad, source=bad, reason=bad)]) == [True]
    found = Answers(monitored).get(bad)
    mended = "a\ufffdb\ufffdc"
    assert found is not None
    assert (found.id, found.case.prompt, found.case.response, found.variant, found.source) == (mended,) * 5
    assert found.case.metadata == {mended: [mended, {"x": mended}]}


def test_an_id_is_taken_once_within_a_call_and_over_calls(intake: Evaluations, submission: Make) -> None:
    assert intake.submit([submission("a"), submission("b"), submission("a", prompt="Other?")]) == [True, True, False]
    assert intake.submit([submission("c"), submission("b", prompt="Other?")]) == [True, False]
    assert intake.submit([]) == []
    assert [found.prompt for id in "abc" if (found := intake.get(id))] == ["Why?"] * 3


def test_threads_that_add_the_same_ids_at_once_add_each_once(intake: Evaluations, submission: Make) -> None:
    ids = [f"s{number}" for number in range(60)]
    told: list[bool] = []

    def add(order: list[str]) -> None:
        for start in range(0, 60, 20):
            told.extend(intake.submit([submission(id) for id in order[start : start + 20]]))

    threads = [Thread(target=add, args=(order,)) for order in (ids, ids[::-1], ids[::2] + ids[1::2])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told.count(True) == 60
    assert intake.backlog().waiting == 60


def test_an_added_submission_is_synchronised_to_the_disk_and_other_writes_are_not_slowed(
    monitored: Ledger, intake: Evaluations, submission: Make
) -> None:
    if monitored.engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL commits to the disk by its own setting")
    levels: list[Any] = []

    @event.listens_for(monitored.engine, "commit")
    def note(connection: Any) -> None:
        levels.append(connection.exec_driver_sql("PRAGMA synchronous").scalar())

    intake.submit([submission("a")])
    intake.note_failure("a", "")
    intake.submit([submission("a")])
    intake.note_failure("a", "")
    assert levels == [2, 1, 2, 1]  # FULL, NORMAL


def test_pending_answers_come_in_the_order_they_were_submitted(intake: Evaluations, submission: Make) -> None:
    intake.submit([submission(id, received_at=MOMENT - timedelta(seconds=number)) for number, id in enumerate("abcd")])
    numbers = {id: number for number, id in intake.pending(0, 9)}
    assert list(numbers) == ["a", "b", "c", "d"] and sorted(numbers.values()) == list(numbers.values())
    assert [id for _, id in intake.pending(numbers["a"], 2)] == ["b", "c"]
    assert intake.note_failure("b", "busy")
    intake.give_up("c", "busy")
    assert [id for _, id in intake.pending(0, 9)] == ["a", "b", "d"]
    assert intake.pending(numbers["d"], 9) == []


def test_a_failed_attempt_is_counted_with_its_reason(intake: Evaluations, submission: Make) -> None:
    intake.submit([submission("a")])
    assert intake.note_failure("a", "no answer") and intake.note_failure("a", "busy")
    found = intake.get("a")
    assert found is not None
    assert (found.state, found.attempts, found.reason) == ("waiting", 2, "busy")
    assert not intake.note_failure("nobody's", "x")


def test_what_is_evaluated_or_given_up_stays_so(
    intake: Evaluations, monitored: Ledger, submission: Make, scored: MakeScore
) -> None:
    intake.submit([submission("a"), submission("b")])
    Evaluations(monitored).finish(scored("a"), [])
    intake.give_up("b", "no judge")
    for id in "ab":
        assert not intake.note_failure(id, "late")
    intake.give_up("a", "late")
    states = [(found.state, found.reason) for id in "ab" if (found := intake.get(id))]
    assert states == [("evaluated", ""), ("failed", "no judge")]


def test_what_is_given_up_is_counted_once_under_every_suite(intake: Evaluations, monitored: Ledger, submission: Make) -> None:
    intake.submit([submission("a"), submission("b", answered_at=MOMENT + timedelta(days=1))])
    for _ in range(3):
        intake.give_up("a", "x")
    assert (failed(monitored), failed(monitored, "s")) == (1, 1)
    intake.give_up("b", "x")
    assert [(day.day.day, day.failed) for day in Days(monitored).totals(PERIOD, Scope())] == [(2, 1), (3, 1)]


def test_reopened_submissions_wait_from_the_beginning_and_are_given_up_no_more(
    intake: Evaluations, monitored: Ledger, submission: Make
) -> None:
    intake.submit([submission(id) for id in "abc"])
    for id in "abc":
        intake.give_up(id, "x")
    assert intake.reopen(["a", "nobody's"]) == 1
    assert [id for _, id in intake.pending(0, 9)] == ["a"]
    found = intake.get("a")
    assert found is not None and found.attempts == 0
    assert failed(monitored) == 2
    assert (intake.reopen(), intake.reopen()) == (2, 0)
    assert failed(monitored) == 0
    intake.give_up("a", "x")
    assert failed(monitored) == 1


def test_many_submissions_are_reopened(intake: Evaluations, submission: Make) -> None:
    ids = [f"s{number}" for number in range(KEYS_PER_QUERY + 3)]
    intake.submit([submission(id) for id in ids])
    for id in ids:
        intake.give_up(id, "x")
    assert intake.reopen() == len(ids)
    assert intake.backlog() == Backlog(waiting=len(ids), failed=0, oldest_at=MOMENT)


def test_an_answer_that_was_given_up_and_comes_late_is_failed_no_more(
    intake: Evaluations, monitored: Ledger, submission: Make, scored: MakeScore
) -> None:
    intake.submit([submission("a")])
    intake.give_up("a", "x")
    assert Evaluations(monitored).finish(scored("a"), [])
    (day,) = Days(monitored).totals(PERIOD, Scope())
    assert (day.scored, day.failed) == (1, 0)


def test_what_sampling_left_out_is_counted_once_for_its_day(intake: Evaluations, monitored: Ledger, submission: Make) -> None:
    left_out = [submission(id, erased=True, reason="not in the sample") for id in "aba"]
    assert intake.submit([*left_out, submission("c")]) == [True, True, False, True]
    assert intake.submit([*left_out, submission("c", erased=True)]) == [False] * 4
    found = intake.get("a")
    assert found is not None and (found.state, found.reason, found.prompt, found.erased) == (
        "left_out",
        "not in the sample",
        "",
        True,
    )
    (day,) = Days(monitored).totals(PERIOD, Scope(suite="s"))
    assert (day.scored, day.unscored, day.failed, day.left_out) == (0, 0, 0, 2)


def test_the_backlog_says_how_much_waits_and_since_when(intake: Evaluations, submission: Make) -> None:
    assert intake.backlog() == Backlog(waiting=0, failed=0, oldest_at=None)
    times = {id: MOMENT + timedelta(minutes=number) for number, id in enumerate("efabcd")}
    intake.submit([submission(id, received_at=moment) for id, moment in times.items()])
    intake.submit([submission("z", erased=True)])
    for id in "ef":
        intake.give_up(id, "")
    assert intake.backlog() == Backlog(waiting=4, failed=2, oldest_at=times["a"])


def test_everything_that_workers_and_people_do_at_once_ends_well(monitored: Ledger, submission: Make, scored: MakeScore) -> None:
    intake, scores, ids = Evaluations(monitored), Evaluations(monitored), [f"s{number}" for number in range(8)]
    faults: list[Exception] = []

    def work(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(60):
            some = chance.sample(ids, 4)
            one = some[0]
            actions: list[Callable[[], object]] = [
                lambda some=some: intake.submit([submission(id) for id in some]),  # type: ignore[misc]
                lambda: intake.pending(0, 4),
                lambda one=one: intake.note_failure(one, ""),  # type: ignore[misc]
                lambda one=one: intake.give_up(one, ""),  # type: ignore[misc]
                lambda some=some: intake.reopen(some),  # type: ignore[misc]
                lambda one=one: scores.finish(scored(one), [one, "shared"]),  # type: ignore[misc]
                lambda some=some: monitored.erasure.erase(some),  # type: ignore[misc]
            ]
            try:
                chance.choice(actions)()
            except StorageError as fault:  # a deadlock, say
                faults.append(fault)

    threads = [Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    for id in ids:
        scores.finish(scored(id), [])
    assert intake.backlog() == Backlog(waiting=0, failed=0, oldest_at=None)
