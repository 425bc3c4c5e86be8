"""Fault injection on the monitor's stores: processes that are killed, and processes that finish the same answers at once."""

import signal
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime

import pytest
from sqlalchemy import select, text

from areopage.ledger.read.days import Days
from areopage.ledger.read.lists import EvaluationLists
from areopage.ledger.read.queries import Filters, Period, Scope
from areopage.ledger.store import Ledger
from areopage.ledger.tables.answer_tables import answer_judgments, evaluation_scores, evaluations
from areopage.ledger.tables.records import Answer
from areopage.ledger.write.evaluations import Evaluations
from servers import PATIENCE
from servers.forked import Forked

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
YEAR = Period(start=date(2026, 1, 1), end=date(2027, 1, 1))
PRELUDE = """
import random, sys
from datetime import UTC, datetime, timedelta
from areopage.cases.records import Case
from areopage.ledger.write.evaluations import Evaluations
from areopage.ledger.tables.records import Answer, CriterionResult, Evaluation, Judgment, Verdict
from areopage.ledger.store import Ledger
from areopage.scoring.outcome import Scored

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
location, name = sys.argv[1:3]
ledger = Ledger.open(location)
scores = Evaluations(ledger)

def submission(id, number=0):
    return Answer(id=id, origin="monitor", case=Case(id=id, prompt="Quelle question ?", response="Une reponse"), language="en",
        received_at=MOMENT, answered_at=MOMENT + timedelta(hours=7 * (number % 5)))

def judgment(key, judge):
    return Judgment(key=key, run_id="m", judge=judge, model="m", pass_index=1, raw_text="", repair_text="", finish_reason="stop",
        prompt_tokens=1, completion_tokens=1, seconds=0.5, repair="none", steps=(), created_at=MOMENT,
        verdicts=tuple(Verdict(criterion=one, outcome=Scored(score=1.0)) for one in "xyz"))

def finish(id, number):
    score = Evaluation(id=id, run_id="m", timestamp=MOMENT + timedelta(hours=7 * (number % 5)), evaluated_at=MOMENT, suite="s",
        suite_version="1", language="en", source=f"s{number % 3}", variant="AB"[number % 2], prompt="Quelle question ?",
        response="Une reponse", score_global=float(number % 11), grade="acceptable",
        criteria=tuple(CriterionResult(criterion=f"q.{one}", score=float(number % 7), grade="acceptable") for one in "zyx"))
    ledger.append([judgment(f"{id}-{judge}", judge) for judge in random.sample(["a", "b"], 2)])
    return scores.finish(score, [f"{id}-{key}" for key in "ba"])
"""
FOREVER = (
    PRELUDE
    + """
for number in range(1_000_000):
    ids = [f"{name}-{number}-{part}" for part in range(3)]
    scores.submit([submission(id) for id in ids])
    print(*[f"added {id}" for id in ids], sep="\\n", flush=True)
    for part, id in enumerate(ids):
        finish(id, number + part)
        print(f"finished {id}", flush=True)
"""
)
OVERLAPPING = (
    PRELUDE
    + """
numbers = list(range(int(sys.argv[3])))
scores.submit([submission(f"a{number}", number) for number in numbers])
random.Random(name).shuffle(numbers)
print(sum(finish(f"a{number}", number) for number in numbers), flush=True)
"""
)


def wait_for_quiet(ledger: Ledger) -> None:
    """Wait until PostgreSQL has noticed that its client is dead; it may be carrying out that one's last words."""
    others = text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
    while ledger.engine.dialect.name == "postgresql":
        ledger.engine.dispose()
        with ledger.engine.connect() as connection:
            if not connection.execute(others).scalar():
                return


def assert_counts_equal_rows(ledger: Ledger) -> int:
    """The days' counts are what a recount of the rows gives; returns how many rows there are."""
    with ledger.engine.connect() as connection:
        rows = connection.execute(select(evaluations).where(evaluations.c.state == "evaluated")).all()
        parts = connection.execute(select(evaluation_scores)).all()
        links = Counter(connection.execute(select(answer_judgments.c.answer)).scalars())
    expected = Counter((row.timestamp.date(), row.variant, "", row.score_global) for row in rows)
    by_number = {row.number: row for row in rows}
    for part in parts:
        row = by_number[part.evaluation]
        expected[row.timestamp.date(), row.variant, part.criterion, part.score] += 1
    found = {one[:4]: one.answers for one in Days(ledger).scores(YEAR, Scope())}
    assert found == expected
    assert sum(day.scored for day in Days(ledger).totals(YEAR, Scope())) == len(rows)
    worked = [(judge.calls, judge.outcomes["scored"]) for judge in Days(ledger).judges(YEAR)]
    assert worked == ([(len(rows), 3 * len(rows))] * 2 if rows else [])
    assert links == {row.answer: 2 for row in rows}
    assert len(list(EvaluationLists(ledger).stream(Filters(text="reponse")))) == len(rows)
    return len(rows)


@pytest.mark.parametrize("lines", [1, 40, 150])
def test_what_was_added_and_finished_survives_kill_9_and_the_counts_are_those_of_the_rows(
    monitored: Ledger, location: str, lines: int
) -> None:
    process = Forked(FOREVER, location, "p")
    printed = [process.stdout.readline().split() for _ in range(lines)]
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate()
    wait_for_quiet(monitored)
    # the last line may be cut by the kill
    printed += [words for line in rest.splitlines() if len(words := line.split()) == 2 and words[1].count("-") == 2]
    assert len(printed) >= lines
    states = {(verb, id): found.state for verb, id in printed if (found := Evaluations(monitored).get(id))}
    assert len(states) >= len(printed) - 1
    assert {state for (verb, _), state in states.items() if verb == "finished"} <= {"evaluated"}
    assert_counts_equal_rows(monitored)


def test_processes_that_finish_the_same_answers_at_once_write_each_once(
    monitored: Ledger, location: str, submission: Callable[..., Answer]
) -> None:
    answers = 60
    Evaluations(monitored).submit([submission(f"a{number}") for number in range(answers)])
    processes = [Forked(OVERLAPPING, location, name, str(answers)) for name in "abc"]
    ended = [process.communicate(timeout=PATIENCE) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], ended
    assert sum(int(said) for said, _ in ended) == answers
    assert assert_counts_equal_rows(monitored) == answers
    assert {found.state for number in range(answers) if (found := Evaluations(monitored).get(f"a{number}"))} == {"evaluated"}
