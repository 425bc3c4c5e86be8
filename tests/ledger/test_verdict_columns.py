"""Verdicts of a run as columns: which judgment of a key is valid, and what is read of it."""

import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from sqlalchemy import insert, select, text, update

from areopage.cases.records import Case
from areopage.digest import digest_of
from areopage.errors import DamagedRow, StorageError
from areopage.ledger.read import verdict_columns
from areopage.ledger.read.verdict_columns import NUMBERS, VerdictColumns
from areopage.ledger.store import Ledger
from areopage.ledger.tables.answer_tables import answer_judgments, judgments, run_cases, verdicts
from areopage.ledger.tables.records import Answer, Judgment, Run, Verdict
from areopage.ledger.write.answers import Answers, insert_answers
from areopage.scoring.outcome import NotApplicable, Outcome, Scored, TimedOut, Unparsed

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
FIRST, SECOND = "a" * 64, "b" * 64


@pytest.fixture
def ledger(location: str, open_ledger: Callable[[str | Path], Ledger]) -> Ledger:
    opened = open_ledger(location)
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


def test_the_latest_whole_judgment_of_a_key_counts_for_every_case_that_has_it(ledger: Ledger) -> None:
    late = TimedOut(reason="late")
    ledger.append([judgment(FIRST, "own", late, Scored(score=1)), judgment(FIRST, "own", Scored(score=2), Scored(score=3))])
    ledger.append([judgment(FIRST, "own", late, late)])
    found = ledger.verdicts.read("own", [(4, FIRST), (0, FIRST)])
    assert scores(found) == [(n, f"c {c}", "scored", score) for n in (0, 4) for c, score in enumerate((2.0, 3.0))]
    assert np.isnan(found.prompt_tokens).all() and set(found.completion_tokens.tolist()) == {7.0}
    assert found.is_first_of_judgment.sum() == 1


def test_of_two_runs_that_share_a_key_both_have_the_latest_whole_judgment(ledger: Ledger) -> None:
    ledger.append([judgment(FIRST, "own", TimedOut(reason="late")), judgment(SECOND, "own", Scored(score=1))])
    ledger.append([judgment(FIRST, "other", Scored(score=5)), judgment(SECOND, "other", Scored(score=4))])
    ledger.append([judgment(FIRST, "own", Unparsed(reason="no score")), judgment(SECOND, "other", TimedOut(reason="late"))])
    for run_id in ("own", "other"):
        found = ledger.verdicts.read(run_id, [(0, FIRST), (1, SECOND), (2, "c" * 64)])
        assert scores(found) == [(0, "c 0", "scored", 5.0), (1, "c 0", "scored", 4.0)]
        assert [verdict.outcome for one in ledger.judgments([FIRST, SECOND]).values() for verdict in one.verdicts] == [
            Scored(score=5),
            Scored(score=4),
        ]
        assert len(found.elsewhere) == (2 if run_id == "own" else 0)


def test_a_run_without_judgments_of_its_own_has_those_of_other_runs(ledger: Ledger) -> None:
    ledger.append([judgment(FIRST, "other", Scored(score=5)), judgment(SECOND, "other", TimedOut(reason="late"))])
    found = ledger.verdicts.read("own", [(1, FIRST), (0, SECOND), (2, "c" * 64)])
    assert scores(found)[1] == (1, "c 0", "scored", 5.0) and [one[2] for one in scores(found)] == ["timed_out", "scored"]
    assert len(found.elsewhere) == 2


@pytest.mark.parametrize("steps", ["", "{", "[1]", '"json"'])
def test_a_judgment_whose_steps_cannot_be_read_is_named(ledger: Ledger, steps: str) -> None:
    ledger.append([judgment(FIRST, "own", Scored(score=5)), judgment(SECOND, "own", Scored(score=4))])
    with ledger.writing() as connection:
        connection.execute(update(judgments).where(judgments.c.key == SECOND).values(steps=steps))
        number = connection.execute(select(judgments.c.id).where(judgments.c.key == SECOND)).scalar_one()
    with pytest.raises(DamagedRow, match=f"^the ledger is damaged: judgment {number}: steps cannot be read"):
        ledger.verdicts.read("own", [(0, FIRST), (1, SECOND)])


def test_a_run_without_judgments_has_no_verdicts(ledger: Ledger) -> None:
    assert scores(ledger.verdicts.read("own", [])) == []


CASE = Case(id="", prompt="p")
OUTCOMES: tuple[Outcome, ...] = (
    Scored(score=1 / 3, mass=0.1 + 0.2, written=1.0),
    Scored(score=0.1),
    Scored(score=5),
    NotApplicable(),
    TimedOut(reason="late"),
    Unparsed(reason="no score"),
)


def made_judgments(chance: random.Random, keys: Sequence[str], count: int, runs: Sequence[str]) -> list[Judgment]:
    """Judgments of some runs, with all that differs between judgments."""
    return [
        structs.replace(
            judgment(chance.choice(keys), chance.choice(runs), *chance.choices(OUTCOMES, k=chance.randint(1, 3))),
            judge=chance.choice(("a judge", "juge n° 2, « prudent »", "?%s'")),
            pass_index=chance.randint(1, 4),
            turn=chance.choice((0, 0, 7)),
            repair=chance.choice(("none", "heuristic", "model")),
            steps=chance.choice(((), ("json",), ("json", "cut_100%?"))),
            seconds=chance.choice((chance.random(), 9.25, 10 ** chance.uniform(-9, 5))),
            prompt_tokens=chance.choice((None, 12, 3_000_000_000 // 2)),
            cost=chance.choice((None, chance.random())),
        )
        for _ in range(count)
    ]


def valid(stored: Sequence[Judgment], key: str) -> Judgment | None:
    """The latest whole judgment of a key, or the latest one where none is whole."""
    some = [one for one in stored if one.key == key]
    return next(iter([one for one in reversed(some) if one.is_whole] or reversed(some)), None)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("portion", [3, 500])
@pytest.mark.parametrize("others", [0, 1, 4])
def test_columns_hold_what_records_hold(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, seed: int, portion: int, others: int
) -> None:
    """Among none, some or many judgments of other runs."""
    monkeypatch.setattr(verdict_columns, "AT_ONCE", portion)
    chance = random.Random(seed)
    keys = [*(digest_of(n) for n in range(12)), f"erased-{'0' * 32}", f"erased-{'1' * 32}"]
    stored = made_judgments(chance, keys, 60, ("own", "own", *["other"] * others))
    ledger.append(stored)
    places = sorted((chance.randint(0, 9), key) for key in [*keys, *keys[:3]])
    found = ledger.verdicts.read("own", places)
    expected = [
        (position, one, said) for position, key in places if (one := valid(stored, key)) is not None for said in one.verdicts
    ]
    assert len(expected) > 10
    assert found.position.tolist() == [position for position, _, _ in expected]
    for row, (_, one, said) in enumerate(expected):
        kind = (said.outcome.name, said.criterion, one.pass_index, one.turn, one.repair, one.judge, one.steps)
        assert structs.astuple(found.kinds[found.kind[row]]) == kind
        scored = said.outcome if isinstance(said.outcome, Scored) else Scored(score=np.nan)
        exact = (scored.score, scored.mass, scored.written, one.seconds, one.prompt_tokens, one.completion_tokens, one.cost)
        columns = (getattr(found, name)[row] for name in NUMBERS)
        for value, wanted_value in zip(columns, exact, strict=True):
            assert np.isnan(value) if wanted_value is None or wanted_value != wanted_value else value == wanted_value


def test_numbers_are_read_to_the_last_digit(ledger: Ledger) -> None:
    """Among them are some that SQLite itself reads wrongly from the text that it writes of them."""
    chance = random.Random(7)
    told = [0.0, 5e-324, 1.7976931348623157e308, 2.0**53 + 2, 1e22, 8.774233438561719, 0.11958340790038299, 895096502.1849279]
    told += [10 ** chance.uniform(-30, 30) for _ in range(400)] + [chance.uniform(0, 100) for _ in range(400)]
    given = [judgment(f"{n:064}", "own", Scored(score=value, mass=value, written=value)) for n, value in enumerate(told)]
    ledger.append([structs.replace(one, seconds=value, cost=value) for one, value in zip(given, told, strict=True)])
    found = ledger.verdicts.read("own", [(n, one.key) for n, one in enumerate(given)])
    for column in (found.score, found.mass, found.written, found.seconds, found.cost):
        assert column.tolist() == told


def test_an_altered_score_changes_what_is_read(ledger: Ledger) -> None:
    ledger.append([judgment(FIRST, "own", Scored(score=2))])
    with ledger.engine.begin() as connection:
        connection.execute(update(verdicts).values(score=4.0))
    assert scores(ledger.verdicts.read("own", [(0, FIRST)])) == [(0, "c 0", "scored", 4.0)]


def test_a_text_in_place_of_a_number_is_refused(ledger: Ledger) -> None:
    if ledger.engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL stores numbers alone in a column of numbers")
    ledger.append([judgment(FIRST, "own", Scored(score=2))])
    with ledger.engine.begin() as connection:
        connection.execute(text("UPDATE verdicts SET score = 'five'"))
    with pytest.raises(StorageError, match="a text in place of a number"):
        ledger.verdicts.read("own", [(0, FIRST)])


def test_an_unknown_outcome_is_refused(ledger: Ledger) -> None:
    ledger.append([judgment(FIRST, "own", Scored(score=2))])
    with ledger.engine.begin() as connection:
        connection.execute(update(verdicts).values(outcome="perfect"))
    with pytest.raises(StorageError, match="unknown outcome 'perfect'"):
        ledger.verdicts.read("own", [(0, FIRST)])


def test_overlong_answers_are_found_without_their_texts(ledger: Ledger) -> None:
    for run_id in ("long", "elsewhere"):
        run = Run(id=run_id, suite="s", fingerprint=run_id, folder="", created_at=MOMENT, finished_at=None, spec="{}")
        ledger.create_run(run, ["{}"] * 4)
        with ledger.engine.begin() as connection:
            for position, response in enumerate(("é" * 10, "é" * 11, None)):
                asked = structs.replace(CASE, response=response)
                given = Answer(id=f"{run_id}{position}", origin="bench", case=asked, received_at=MOMENT, answered_at=MOMENT)
                number = insert_answers(connection, [given])[given.id]
                place = (run_cases.c.run_id == run_id, run_cases.c.position == position)
                connection.execute(update(run_cases).where(*place).values(answer=number))
    assert Answers(ledger).longer_than("long", 10) == {1}


def test_linked_keys_are_those_of_the_cases_answers(ledger: Ledger) -> None:
    run = Run(id="linked", suite="s", fingerprint="l", folder="", created_at=MOMENT, finished_at=None, spec="{}")
    ledger.create_run(run, ["{}"] * 3)
    links = {0: [FIRST, SECOND], 2: [f"erased-{'0' * 32}"]}
    with ledger.engine.begin() as connection:
        for position, keys in links.items():
            given = Answer(id=f"a{position}", origin="bench", case=CASE, received_at=MOMENT, answered_at=MOMENT)
            answer = insert_answers(connection, [given])[given.id]
            place = (run_cases.c.run_id == "linked", run_cases.c.position == position)
            connection.execute(update(run_cases).where(*place).values(answer=answer))
            connection.execute(insert(answer_judgments), [{"answer": answer, "run_id": "linked", "key": key} for key in keys])
    assert list(ledger.verdicts.linked_keys("linked")) == [(position, key) for position, keys in links.items() for key in keys]
    assert list(ledger.verdicts.linked_keys("own")) == []


def test_a_ledger_whose_tables_are_gone_is_named_in_one_line(ledger: Ledger) -> None:
    with ledger.engine.begin() as connection:
        connection.execute(text("ALTER TABLE judgments RENAME TO elsewhere"))
    with pytest.raises(StorageError, match=r"judgments") as caught:
        ledger.verdicts.read("own", [(0, FIRST)])
    assert "\n" not in str(caught.value)
    if ledger.engine.dialect.name == "sqlite":
        assert "its tables are gone" in str(caught.value)
