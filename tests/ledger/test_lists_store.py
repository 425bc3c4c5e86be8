"""Lists of answers hold what passes the filters and nothing else, in pages without a gap, each through an index."""

import random
import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event

from areopage.ledger.read.days import Days
from areopage.ledger.read.lists import EvaluationLists
from areopage.ledger.read.queries import Filters, Period, Scope
from areopage.ledger.read.search import LONGEST_WORD, MOST_CHARACTERS, index_words, period_words, words_of
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import CriterionResult, Evaluation, Grade, is_golden
from areopage.ledger.write.evaluations import Evaluations
from servers.evaluated import evaluate, submitted

START = datetime(2026, 1, 30, 12, tzinfo=UTC)
YEAR = Period(start=date(2026, 1, 1), end=date(2027, 1, 1))
WORDS = ("congés", "Notaire", "œuvre", "l'État", "100", "pre", "prêt", "prêtre")
MakeScore = Callable[..., Evaluation]
Opener = Callable[..., Ledger]


def make_rows(scored: MakeScore, count: int, seed: int = 1) -> list[Evaluation]:
    """Answers of all kinds; several of one moment, some evaluated later than newer ones."""
    chance = random.Random(seed)
    rows = []
    for number in range(count):
        grade = chance.choice(("excellent", "acceptable", "weak", "unscored"))
        single: Grade = chance.choice(("acceptable", "weak"))
        rows.append(
            scored(
                f"a{number}",
                timestamp=START + timedelta(hours=6 * (number // 3) - chance.choice((0, 0, 50))),
                evaluated_at=START + timedelta(minutes=number),
                source=chance.choice(("site", "app", "golden:x")),
                variant=chance.choice(("A", "B", "")),
                prompt=" ".join(chance.sample(WORDS, 2)),
                response=chance.choice(WORDS),
                feedback=chance.choice(WORDS),
                score_global=None if grade == "unscored" else chance.choice((1.0, 5.5, 9.0)),
                grade=grade,
                spread=chance.choice((None, 0.0, 1.5, 3.0)),
                criteria=(CriterionResult(criterion="q.exactitude", score=5.0, grade=single),),
            )
        )
    return rows


def submit_others(store: Evaluations) -> None:
    """Answers that have no scores, and are in no list."""
    store.submit([submitted(id, source="site") for id in ("waiting", "failed")])
    store.submit([submitted("left-out", erased=True)])
    store.give_up("failed", "x")


@pytest.fixture(scope="module")
def full(shared: Ledger, scored: MakeScore) -> tuple[EvaluationLists, list[Evaluation]]:
    """A ledger of 90 answers, and those answers with their numbers; tests read it only."""
    return fill(shared, scored)


def fill(ledger: Ledger, scored: MakeScore) -> tuple[EvaluationLists, list[Evaluation]]:
    store = Evaluations(ledger)
    rows = make_rows(scored, 90)
    for row in rows:
        assert evaluate(ledger, row)
    submit_others(store)
    return EvaluationLists(ledger), [found for row in rows if (found := store.get(row.id))]


def passes(row: Evaluation, filters: Filters) -> bool:
    """What the filters say, said once more in Python."""
    typed = list(words_of(filters.text))
    words = [word for text in (row.prompt, row.response, row.feedback) for word in words_of(text)]
    grade = row.criteria[0].grade if filters.criterion else row.grade
    return (
        (filters.period is None or filters.period.start <= row.timestamp.date() < filters.period.end)
        and filters.grade in (None, grade)
        and (row.source == filters.source if filters.source else not is_golden(row.source))
        and filters.variant in (None, row.variant)
        and all(word in words for word in typed[:-1])
        and (not typed or any(word == typed[-1] or (len(typed[-1]) > 2 and word.startswith(typed[-1])) for word in words))
    )


FILTERS = st.builds(
    Filters,
    period=st.none() | st.builds(lambda first, days: Period(start=first, end=first + timedelta(days=days)),
                                 st.dates(date(2026, 1, 25), date(2026, 2, 10)), st.integers(0, 40)),
    grade=st.none() | st.sampled_from(["excellent", "acceptable", "weak", "unscored"]),
    criterion=st.sampled_from(["", "q.exactitude"]),
    source=st.none() | st.sampled_from(["site", "app", "golden:x", "nowhere"]),
    variant=st.none() | st.sampled_from(["A", "", "C"]),
    text=st.sampled_from(["", "", "CONGES", "notai", "pre", "pr", "oeuvre pre", "l'état", "10", "conges nulle", "pret notaire"]),
)  # fmt: skip


@given(FILTERS, st.sampled_from([1, 4, 50]))
def test_pages_and_streams_hold_what_passes_the_filters_in_order_without_a_gap(
    full: tuple[EvaluationLists, list[Evaluation]], filters: Filters, limit: int
) -> None:
    lists, rows = full
    if filters.criterion and filters.grade is None:
        filters = Filters(text=filters.text)
    found: list[Evaluation] = []
    while page := lists.page(filters, before=found[-1].number if found else None, limit=limit):
        assert len(page) <= limit
        found += page
    expected = [row for row in rows if passes(row, filters)]
    assert sorted(found, key=lambda row: row.number) == expected
    by_time = sorted(found, key=lambda row: (row.timestamp, row.number), reverse=True)
    assert found in (by_time, sorted(found, key=lambda row: row.number, reverse=True))
    assert list(lists.stream(filters)) == found[::-1]


@pytest.mark.parametrize("source", [None, "site", "golden:x"])
def test_scores_for_a_comparison_are_those_of_the_stream(
    full: tuple[EvaluationLists, list[Evaluation]], source: str | None
) -> None:
    lists, _ = full
    expected = list(lists.stream(Filters(period=YEAR, source=source)))
    scored = list(lists.scored(YEAR, Scope(source=source), prompts=True))
    assert expected and [(row.day, row.panel, row.variant, row.score_global, row.grade, row.prompt) for row in scored] == [
        (row.timestamp.date(), row.run_id, row.variant, row.score_global, row.grade, row.prompt) for row in expected
    ]
    assert [dict(row.scores) for row in scored] == [{one.criterion: one.score for one in row.criteria} for row in expected]
    assert {row.prompt for row in lists.scored(YEAR, Scope(source=source))} == {""}
    assert list(lists.scored(YEAR, Scope(suite="another"))) == []


SYNTAX = ['"', "'", "a\" OR \"b", "NEAR(a b)", "words:a", "* ", "^pre", "-notaire", "a AND", "(", "¤bgood", "a' & 'b", "\\",
          "\x00\ud83d", "%", "_", "!notaire", "notaire:*", "é" * 5000, "a " * 5000, "𞤀𞤁 ﬁ ǅ"]  # fmt: skip


def test_no_text_is_a_language_of_its_own(full: tuple[EvaluationLists, list[Evaluation]]) -> None:
    lists, rows = full
    for text in SYNTAX:
        filters = Filters(text=text)
        expected = [row.id for row in rows if list(words_of(text))[:32] and passes(row, filters)]
        assert sorted(row.id for row in lists.page(filters, limit=99)) == sorted(expected), text


TYPED = {
    "conges": ["a", "b"],
    "CONGÉS payes": ["a"],
    "payes cong": ["a"],
    "cœur": ["b"],
    "coeur": ["b"],
    "strasse": ["b"],
    "cong pay": [],
    "paye": ["a"],
    "pa": [],
    "3.5": ["b"],
    "東京": ["a"],
    "été": ["a", "b"],
    "e\u0301te\u0301": ["a", "b"],
    "source": ["b"],
}


def test_words_are_found_as_people_type_them(monitored: Ledger, scored: MakeScore) -> None:
    evaluate(monitored, scored("a", prompt="Quels congés payés cet été ?", response="東京"))
    evaluate(monitored, scored("b", prompt="CONGES ?", response="Cœur de l’été, Straße 3,5 %… 3.5", feedback="SOURCES"))
    lists = EvaluationLists(monitored)
    assert {text: sorted(row.id for row in lists.page(Filters(text=text))) for text in TYPED} == TYPED


def test_an_answer_of_any_length_and_of_endless_words_is_found_by_its_beginning(monitored: Ledger, scored: MakeScore) -> None:
    many = " ".join(f"word{number}" for number in range(60_000))
    endless = "x" * 100_000
    row = scored(prompt="Premier", response=f"{endless} {many}")
    assert sum(len(word) for word in index_words(row)) <= MOST_CHARACTERS + 1000
    evaluate(monitored, row)
    for text in ("premier", "word17 word5", endless, "x" * LONGEST_WORD):
        assert [found.id for found in EvaluationLists(monitored).page(Filters(text=text))] == ["a"]


@given(st.dates(date(2019, 11, 1), date(2024, 3, 5)), st.integers(0, 1000), st.dates(date(2019, 11, 1), date(2028, 3, 5)))
def test_the_words_of_a_period_are_those_of_its_days(start: date, days: int, day: date) -> None:
    period = Period(start=start, end=start + timedelta(days=days))
    own = {f"¤d{day:%Y%m%d}", f"¤m{day:%Y%m}", f"¤y{day:%Y}"}
    assert bool(own & set(period_words(period))) == (period.start <= day < period.end)
    assert len(period_words(period)) < 100


def test_an_erased_answer_stays_in_lists_without_its_words(monitored: Ledger, scored: MakeScore) -> None:
    lists, _ = fill(monitored, scored)
    for filters in (
        Filters(),
        Filters(grade="weak", period=YEAR),
        Filters(criterion="q.exactitude", grade="acceptable", variant="A"),
    ):
        first = lists.page(filters, limit=3)
        rest = lists.page(filters, before=first[-1].number)
        monitored.erasure.erase([first[-1].id])
        assert [one.id for one in lists.page(filters, limit=3)] == [one.id for one in first]
        assert [one.erased for one in lists.page(filters, limit=3)][-1]
        assert [one.id for one in lists.page(filters, before=first[-1].number)] == [one.id for one in rest]
    found = lists.page(Filters(text="notaire"), limit=3)
    monitored.erasure.erase([found[0].id])
    assert [one.id for one in lists.page(Filters(text="notaire"), limit=2)] == [one.id for one in found[1:]]


def test_the_worst_answers_are_the_lowest_scored_of_the_period_and_scope(full: tuple[EvaluationLists, list[Evaluation]]) -> None:
    lists, rows = full
    period = Period(start=date(2026, 1, 31), end=date(2026, 2, 3))
    for scope in (Scope(), Scope(source="app"), Scope(variant="B"), Scope(suite="other"), Scope(source="golden:x", suite="s")):
        kept = sorted(
            (row.score_global, row.timestamp)
            for row in rows
            if row.score_global is not None
            and passes(row, Filters(period=period, source=scope.source, variant=scope.variant))
            and scope.suite in (None, row.suite)
        )
        assert [(row.score_global, row.timestamp) for row in lists.worst(period, scope, 4)] == kept[:4]


def test_answers_on_which_judges_differ_most_come_first(full: tuple[EvaluationLists, list[Evaluation]]) -> None:
    lists, rows = full
    kept = sorted((row.spread for row in rows if row.spread is not None and passes(row, Filters())), reverse=True)
    assert [row.spread for row in lists.spread_most(YEAR, Scope(), 20)] == kept[:20]


def test_recent_answers_are_those_evaluated_since(full: tuple[EvaluationLists, list[Evaluation]]) -> None:
    lists, rows = full
    since = START + timedelta(minutes=70)
    kept = [row.id for row in rows if row.evaluated_at and row.evaluated_at >= since and passes(row, Filters(source="site"))]
    assert [row.id for row in lists.recent(since, Scope(source="site"), 50)] == kept[::-1]
    assert len(lists.recent(since, Scope(), 2)) == 2


def test_a_sample_is_the_same_for_the_same_seed_and_any_answer_may_be_in_it(
    full: tuple[EvaluationLists, list[Evaluation]],
) -> None:
    lists, rows = full
    drawn = {seed: [row.id for row in lists.sample(YEAR, Scope(), 10, seed)] for seed in range(60)}
    assert drawn[3] == [row.id for row in lists.sample(YEAR, Scope(), 10, 3)]
    assert len({tuple(ids) for ids in drawn.values()}) == 60
    assert {id for ids in drawn.values() for id in ids} == {row.id for row in rows if passes(row, Filters())}
    assert all(len(set(ids)) == 10 for ids in drawn.values())


def test_sources_and_variants_are_those_there_are(full: tuple[EvaluationLists, list[Evaluation]]) -> None:
    assert list(full[0].sources()) == ["app", "golden:x", "site"]
    assert list(full[0].variants()) == ["", "A", "B"]


@pytest.fixture
def plans(tmp_path_factory: pytest.TempPathFactory, open_ledger: Opener) -> Iterator[tuple[Ledger, list[str]]]:
    """An empty SQLite ledger with the monitor's tables, and how each of its queries is carried out."""
    ledger = open_ledger(tmp_path_factory.mktemp("plans") / "l.db")
    noted: list[str] = []

    @event.listens_for(ledger.engine, "before_cursor_execute")
    def note(connection: Any, _cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        if statement.startswith("SELECT") and ("evaluation" in statement or "days" in statement):
            driver: sqlite3.Connection = connection.connection.driver_connection
            noted.extend(row[3] for row in driver.execute(f"EXPLAIN QUERY PLAN {statement}", parameters))

    yield ledger, noted


@pytest.mark.parametrize("period", [None, YEAR])
@pytest.mark.parametrize("before", [None, 5])
@pytest.mark.parametrize("source", [None, "site"])
@pytest.mark.parametrize("grade", [None, "weak"])
def test_every_list_goes_through_an_index_and_sorts_nothing(
    plans: tuple[Ledger, list[str]], period: Period | None, before: int | None, source: str | None, grade: Any
) -> None:
    ledger, noted = plans
    lists = EvaluationLists(ledger)
    for text in ("", "word"):
        for criterion in ("", "q.x") if grade else ("",):
            for variant in (None, "A"):
                filters = Filters(period=period, grade=grade, criterion=criterion, source=source, variant=variant, text=text)
                lists.page(filters, before=before)
                list(lists.stream(filters))
    scope = Scope(source=source, variant="A", suite="s")
    for chosen in (Scope(), scope):
        lists.worst(YEAR, chosen)
        lists.spread_most(YEAR, chosen, 5)
        lists.recent(START, chosen, 5)
    assert noted
    walks = {plan for plan in noted if "SCAN evaluations" in plan and "INDEX ix_evaluations_timestamp" not in plan}
    assert walks == set()  # all answers in their order are a walk along that order's index, as far as the page goes
    assert [plan for plan in noted if "TEMP B-TREE" in plan] == []


def test_a_tally_reads_the_hours_that_it_is_about(plans: tuple[Ledger, list[str]]) -> None:
    ledger, noted = plans
    EvaluationLists(ledger).tallies(START, START + timedelta(hours=1), Scope())
    read = [plan for plan in noted if "evaluations" in plan]
    assert read and all("ix_evaluations_timestamp (timestamp>? AND timestamp<?)" in plan for plan in read)


def test_the_days_counts_are_summed_on_the_way_without_sorting(plans: tuple[Ledger, list[str]]) -> None:
    ledger, noted = plans
    Days(ledger).scores(YEAR, Scope())
    Days(ledger).totals(YEAR, Scope(source="site"))
    assert noted == [f"SEARCH {table} USING PRIMARY KEY (day>? AND day<?)" for table in ("score_days", "days")]


def test_the_queue_is_read_through_its_indexes(plans: tuple[Ledger, list[str]]) -> None:
    ledger, noted = plans
    store = Evaluations(ledger)
    store.pending(3, 5)
    store.backlog()
    assert noted and all(plan.startswith(("SEARCH ", "CORRELATED")) for plan in noted)
    assert [plan for plan in noted if "TEMP B-TREE" in plan] == []


def test_what_is_done_to_one_answer_goes_by_its_key_however_many_wait(
    tmp_path_factory: pytest.TempPathFactory, open_ledger: Opener
) -> None:
    ledger = open_ledger(tmp_path_factory.mktemp("plans") / "l.db")
    store, noted = Evaluations(ledger), list[str]()

    @event.listens_for(ledger.engine, "before_cursor_execute")
    def note(connection: Any, _cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        if statement.startswith(("SELECT", "UPDATE")) and "evaluations" in statement:
            driver: sqlite3.Connection = connection.connection.driver_connection
            noted.extend(row[3] for row in driver.execute(f"EXPLAIN QUERY PLAN {statement}", parameters))

    store.submit([submitted("a")])
    store.note_failure("a", "x")
    store.give_up("a", "x")
    store.reopen(["a"])
    store.get("a")
    ledger.erasure.erase(["a"])
    own = ("uq_evaluations_answer", "INTEGER PRIMARY KEY")
    assert noted and [plan for plan in noted if " evaluations " in plan and not any(name in plan for name in own)] == []
