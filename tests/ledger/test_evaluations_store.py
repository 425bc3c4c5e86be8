"""Scores of answers: written once however often they come, and the days' counts are those of the rows."""

import math
import random
import secrets
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from sqlalchemy import delete, select, update

from areopage.criteria.records import Scale
from areopage.errors import StorageError
from areopage.ledger.read.days import Days
from areopage.ledger.read.lists import EvaluationLists
from areopage.ledger.read.queries import DayTotals, Filters, Period, Scope
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Answer, CriterionResult, Evaluation, Judgment, Run, Verdict
from areopage.ledger.tables.schema import days, score_days
from areopage.ledger.write.answers import Answers
from areopage.ledger.write.evaluations import Evaluations
from areopage.ledger.write.traces import Traces
from areopage.scoring.outcome import TimedOut
from servers.evaluated import evaluate, judged, submitted
from servers.made_traces import delivered_trace, held_trace, trace_id

MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
YEAR = Period(start=date(2026, 1, 1), end=date(2027, 1, 1))
Make = Callable[..., Answer]
MakeScore = Callable[..., Evaluation]
MakeJudgment = Callable[..., Judgment]


@pytest.fixture
def scores(monitored: Ledger) -> Evaluations:
    return Evaluations(monitored)


def test_an_evaluation_comes_back_as_it_was(scores: Evaluations, monitored: Ledger, scored: MakeScore) -> None:
    whole = scored(
        strengths=("clear", "short"),
        weaknesses=("no source",),
        suggestions=("cite",),
        feedback="Bien",
        reason="r",
        scored=4,
        planned=6,
        spread=1.5,
        prompt_tokens=900,
        completion_tokens=20,
        seconds=2.5,
        cost=0.01,
        currency="EUR",
        criteria=tuple(CriterionResult(criterion=f"q.a.{name}", score=1.0, grade="weak") for name in "zcxa"),
    )
    bare = scored("b", score_global=None, grade="unscored", criteria=())
    assert evaluate(monitored, whole) and evaluate(monitored, bare)
    for given_one in (whole, bare):
        found = scores.get(given_one.id)
        assert found is not None and found.number > 0
        assert replace(found, number=0) == replace(given_one, qualification="never examined")
    assert scores.get("c") is None


def test_the_latest_evaluation_of_each_answer_is_found_also_as_of_a_moment(
    scores: Evaluations, monitored: Ledger, scored: MakeScore
) -> None:
    again = Run(id="again", kind="monitor", suite="s", fingerprint="g", folder="", created_at=MOMENT, finished_at=None, spec="{}")
    monitored.put_panel(again)
    for id in ("a", "b"):
        assert evaluate(monitored, scored(id, score_global=4.0, evaluated_at=MOMENT))
    scores.put([scored("a", score_global=7.0, run_id="again", evaluated_at=MOMENT + timedelta(days=1))])
    scores.submit([submitted("c")])
    found = scores.latest(["a", "b", "c", "unknown"])
    assert {id: (one.score_global, one.state) for id, one in found.items()} == {
        "a": (7.0, "evaluated"),
        "b": (4.0, "evaluated"),
        "c": (None, "waiting"),
    }
    assert found["a"] == scores.get("a")
    earlier = scores.latest(["a", "b", "c"], MOMENT)
    assert {id: one.score_global for id, one in earlier.items()} == {"a": 4.0, "b": 4.0}
    assert scores.latest([]) == {}


def test_the_four_criteria_of_the_specification_have_columns(scores: Evaluations, monitored: Ledger, scored: MakeScore) -> None:
    named = {"exactitude": 1.0, "completude": 2.0, "format": None, "other": 4.0}
    results = tuple(CriterionResult(criterion=f"x.y.{name}", score=score, grade="weak") for name, score in named.items())
    evaluate(monitored, scored(criteria=results))
    with monitored.engine.connect() as connection:
        row = connection.exec_driver_sql("SELECT exactitude, completude, format, sources FROM quality_scores").one()
    assert tuple(row) == (1.0, 2.0, None, None)


def test_any_text_can_be_scored(scores: Evaluations, monitored: Ledger, scored: MakeScore) -> None:
    bad = "a\x00b\ud83dc"
    texts = dict.fromkeys(("id", "prompt", "response", "feedback", "source", "variant", "suite", "reason"), bad)
    result = CriterionResult(criterion=bad, score=1.0, grade="weak")
    whole = scored(**texts, strengths=(bad,), criteria=(result,))
    assert evaluate(monitored, whole, [judged(judge=bad, model=bad)])
    found = scores.get(bad)
    assert found is not None
    mended = "a\ufffdb\ufffdc"
    assert {getattr(found, name) for name in texts} == {mended}
    assert (found.strengths, found.criteria[0].criterion) == ((mended,), mended)


def test_a_second_finish_changes_and_counts_nothing(
    scores: Evaluations, monitored: Ledger, submission: Make, scored: MakeScore
) -> None:
    scores.submit([submission("a")])
    assert evaluate(monitored, scored(), [judged("k1")])
    assert not evaluate(monitored, scored(score_global=1.0, feedback="later"), [judged("k2")], submission(prompt="later"))
    found = scores.get("a")
    assert found is not None and (found.score_global, found.feedback) == (7.0, "")
    (day,) = Days(monitored).totals(YEAR, Scope())
    assert (day.scored, day.unscored) == (1, 0)
    assert [judge.calls for judge in Days(monitored).judges(YEAR)] == [2]
    stored = Answers(monitored).get("a")
    assert stored is not None and stored.case.prompt == "Why?"


def test_threads_that_finish_the_same_answer_write_it_once(scores: Evaluations, monitored: Ledger, scored: MakeScore) -> None:
    ids = [f"a{number}" for number in range(30)]
    scores.submit([submitted(id) for id in ids])
    monitored.append([judged(id) for id in ids])
    told: list[bool] = []

    def finish(order: list[str]) -> None:
        told.extend(scores.finish(scored(id), [id]) for id in order)

    threads = [Thread(target=finish, args=(order,)) for order in (ids, ids[::-1], ids)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told.count(True) == 30
    (day,) = Days(monitored).totals(YEAR, Scope())
    assert day.scored == 30
    assert [judge.calls for judge in Days(monitored).judges(YEAR)] == [60]


def test_finishing_sets_the_state_and_keeps_what_is_to_stay_of_the_answer(
    scores: Evaluations, monitored: Ledger, submission: Make, scored: MakeScore
) -> None:
    scores.submit([submission("a"), submission("b")])
    scores.finish(scored("a"), [])
    scores.finish(scored("b"), [], submission("b", prompt="[cut]"))
    found = [(one.state, answer.case.prompt) for id in "ab" if (one := scores.get(id)) and (answer := Answers(monitored).get(id))]
    assert found == [("evaluated", "Why?"), ("evaluated", "[cut]")]


def test_an_answer_that_the_gate_has_seen_is_evaluated_once_it_is_submitted_and_keeps_its_texts(
    scores: Evaluations, monitored: Ledger, submission: Make, scored: MakeScore
) -> None:
    trace = held_trace()
    Traces(monitored).append([trace])
    assert scores.get(trace.id) is None
    assert scores.submit([submission(trace.id)]) == [True]
    assert scores.submit([submission(trace.id)]) == [False]
    assert [id for _, id in scores.pending(0, 9)] == [trace.id]
    assert scores.finish(scored(trace.id), [], submission(trace.id, prompt="", response=""))
    kept = Traces(monitored).get(trace.id)
    assert kept is not None
    assert (kept.prompt, kept.response) == (trace.prompt, trace.response)  # it still waits for a person


def test_an_erased_answer_of_the_gate_is_not_evaluated(scores: Evaluations, monitored: Ledger, submission: Make) -> None:
    trace = held_trace()
    Traces(monitored).append([trace])
    monitored.erasure.erase([trace.id])
    assert scores.submit([submission(trace.id)]) == [False]


def test_what_was_never_submitted_cannot_be_finished(scores: Evaluations, monitored: Ledger, scored: MakeScore) -> None:
    assert not scores.finish(scored("a"), [])
    assert scores.get("a") is None
    assert Days(monitored).totals(YEAR, Scope()) == []


def test_a_score_that_cannot_be_written_leaves_nothing(
    scores: Evaluations, monitored: Ledger, submission: Make, scored: MakeScore
) -> None:
    scores.submit([submission("a")])
    with pytest.raises(StorageError):
        evaluate(monitored, scored(run_id="nobody's"), [judged()])
    found = scores.get("a")
    assert found is not None and (found.state, found.score_global, found.criteria) == ("waiting", None, ())
    assert Days(monitored).totals(YEAR, Scope()) == []
    assert scores.finish(scored(), ["k"])


def test_an_answers_judgments_are_shown_with_it_failed_ones_first_when_they_came_first(
    scores: Evaluations, monitored: Ledger, scored: MakeScore, judgment: MakeJudgment
) -> None:
    late = Verdict(criterion="q", outcome=TimedOut(reason="slow"))
    first = judgment("k2", run_id="m", verdicts=(late,))
    second = judgment("k1", run_id="m", created_at=MOMENT + timedelta(seconds=1))
    third = judgment("k2", run_id="m", created_at=MOMENT + timedelta(seconds=2))
    monitored.append([first, second, third, judgment("k3", run_id="m")])
    scores.submit([submitted("a")])
    scores.link("a", "m", ["k2"])
    assert scores.judgments("a") == [first, third]
    scores.finish(scored(), ["k1", "k2", "k1"])
    assert scores.judgments("a") == [first, second, third]
    assert scores.judgments("b") == []


def test_each_panels_judgments_of_an_answer_are_found_by_the_panel(
    scores: Evaluations, monitored: Ledger, scored: MakeScore, judgment: MakeJudgment
) -> None:
    panel = Run(id="n", kind="monitor", suite="s", fingerprint="n", folder="", created_at=MOMENT, finished_at=None, spec="{}")
    monitored.put_panel(panel)
    own, shared, other = (judgment(key, run_id="m") for key in ("k1", "k2", "k3"))
    monitored.append([own, shared, other])
    scores.submit([submitted("a")])
    scores.link("a", "n", ["k2", "k3"])
    assert scores.finish(scored(), ["k1", "k2"])
    assert scores.judgments("a", "m") == [own, shared]
    assert scores.judgments("a", "n") == [shared, other]
    assert scores.judgments("a") == [own, shared, other]
    assert [judge.calls for judge in Days(monitored).judges(YEAR)] == [2]  # those of the other panel are not its own


def test_the_day_of_an_answer_is_its_day_in_utc(scores: Evaluations, monitored: Ledger, scored: MakeScore) -> None:
    evening = datetime(2026, 1, 2, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
    evaluate(monitored, scored(timestamp=evening), [judged()])
    for found in (Days(monitored).scores(YEAR, Scope()), Days(monitored).totals(YEAR, Scope())):
        assert {one.day for one in found} == {date(2026, 1, 3)}
    assert Days(monitored).judges(Period(start=date(2026, 1, 3), end=date(2026, 1, 4))) != []
    assert Days(monitored).judges(Period(start=date(2026, 1, 2), end=date(2026, 1, 3))) == []


def test_golden_answers_are_counted_only_where_their_source_is_named(
    scores: Evaluations, monitored: Ledger, scored: MakeScore
) -> None:
    evaluate(monitored, scored("a"))
    evaluate(monitored, scored("g", source="golden:notary", score_global=1.0, grade="weak"), [judged()])
    counts, lists = Days(monitored), EvaluationLists(monitored)
    for source, ids, total in ((None, ["a"], {7.0: 1}), ("golden:notary", ["g"], {1.0: 1}), ("site", ["a"], {7.0: 1})):
        scope = Scope(source=source)
        assert [{one.score: one.answers} for one in counts.scores(YEAR, scope) if one.criterion == ""] == [total]
        assert [day.scored for day in counts.totals(YEAR, scope)] == [1]
        assert [tally[""] for tally in lists.tallies(MOMENT, MOMENT + timedelta(1), scope).values()] == [total]
        found = [lists.page(Filters(source=source)), lists.page(Filters(source=source, text="why")), lists.worst(YEAR, scope)]
        found += [lists.recent(MOMENT, scope, 9), lists.sample(YEAR, scope, 9, 1), list(lists.stream(Filters(source=source)))]
        assert [[one.id for one in scores] for scores in found] == [ids] * 6
    assert [judge.calls for judge in counts.judges(YEAR)] == [2]


def test_a_judges_work_is_summed_over_days_by_outcome_and_currency(
    scores: Evaluations, monitored: Ledger, scored: MakeScore
) -> None:
    day = timedelta(days=1)
    evaluate(monitored, scored("a"), [judged("a1"), judged("a2", judge="two", outcomes={}, calls=1)])
    late = judged("b2", outcomes={"timed_out": 2}, cost=0.5)
    evaluate(monitored, scored("b", timestamp=MOMENT + day), [judged("b1", currency="USD"), late])
    one, two = Days(monitored).judges(YEAR)
    assert (one.calls, one.outcomes) == (6, {"scored": 6, "unparsed": 2, "timed_out": 2})
    assert (one.seconds, one.prompt_tokens, one.completion_tokens) == (4.5, 30, 12)
    assert one.cost == {"EUR": 0.75, "USD": 0.25}
    assert (two.judge, two.calls, two.outcomes) == ("two", 1, {})


def test_the_tokens_of_a_day_may_be_more_than_two_thousand_million(
    scores: Evaluations, monitored: Ledger, scored: MakeScore
) -> None:
    for number in range(30):
        judgment = judged(f"j{number}", prompt_tokens=100_000_000, completion_tokens=100_000_000)
        evaluate(monitored, scored(f"a{number}", prompt_tokens=100_000_000), [judgment])
    [use] = Days(monitored).judges(YEAR)
    [totals] = Days(monitored).totals(YEAR, Scope(suite="s"))
    assert (use.prompt_tokens, use.completion_tokens, totals.prompt_tokens) == (3_000_000_000,) * 3


def test_totals_say_what_was_done_each_day(scores: Evaluations, monitored: Ledger, scored: MakeScore) -> None:
    evaluate(monitored, scored("a", seconds=1.5, prompt_tokens=10, completion_tokens=None))
    evaluate(monitored, scored("b", score_global=None, grade="unscored", variant="B", seconds=2.0, prompt_tokens=5))
    work = {"seconds": 3.5, "prompt_tokens": 15, "completion_tokens": 0}
    expected = DayTotals(day=MOMENT.date(), scored=1, unscored=1, failed=0, left_out=0, **work)  # type: ignore[arg-type]
    assert Days(monitored).totals(YEAR, Scope(suite="s")) == [expected]
    assert Days(monitored).totals(YEAR, Scope(suite="t")) == []
    assert [day.unscored for day in Days(monitored).totals(YEAR, Scope(variant="B"))] == [1]


SCALE = Scale(0, 10)


def one_day(day: date) -> Period:
    """A period of one day."""
    return Period(start=day, end=day + timedelta(days=1))


SCORE = st.none() | st.floats(0, 10) | st.sampled_from([0.0, -0.0, 7.125, 2.675, 10.0])
FINISHED = st.tuples(
    st.integers(0, 6), st.integers(0, 3), st.sampled_from("AB"), st.sampled_from(["site", "app", "golden:x"]), SCORE, SCORE
)


@given(st.lists(FINISHED, max_size=12))
def test_whatever_is_finished_the_counts_are_those_of_the_rows(
    scores: Evaluations, monitored: Ledger, scored: MakeScore, given_ones: list[tuple[int, int, str, str, Any, Any]]
) -> None:
    suite = secrets.token_hex(8)  # of this example alone: the ledger is shared by all
    rows: dict[str, Evaluation] = {}
    for number, day, variant, source, overall, single in given_ones:
        score = scored(
            f"{suite}-{number}",
            suite=suite,
            timestamp=MOMENT + timedelta(days=day),
            variant=variant,
            source=source,
            score_global=overall,
            grade="unscored" if overall is None else "acceptable",
            criteria=(CriterionResult(criterion="q.x", score=single, grade="weak"),),
        )
        assert evaluate(monitored, score) is (score.id not in rows)
        rows.setdefault(score.id, score)
    for named in (None, "app", "golden:x"):
        kept = [row for row in rows.values() if row.source == named or (named is None and not row.source.startswith("golden:"))]
        expected = Counter(
            (row.timestamp.date(), row.variant, criterion, round(value, 2))
            for row in kept
            for criterion, value in (("", row.score_global), ("q.x", row.criteria[0].score))
            if value is not None
        )
        found = Days(monitored).scores(YEAR, Scope(suite=suite, source=named))
        assert {one[:4]: one.answers for one in found} == expected
        for one in found:
            given_scores = [
                value
                for row in kept
                for criterion, value in (("", row.score_global), ("q.x", row.criteria[0].score))
                if value is not None and (row.timestamp.date(), row.variant, criterion, round(value, 2)) == one[:4]
            ]
            assert one.total == pytest.approx(math.fsum(given_scores), abs=1e-9)
        tally: dict[str, Counter[float]] = {}
        tallies = EvaluationLists(monitored).tallies(MOMENT, MOMENT + timedelta(days=9), Scope(suite=suite, source=named))
        for by_criterion in tallies.values():
            for criterion, counts in by_criterion.items():
                tally.setdefault(criterion, Counter()).update(counts)
        by_score: dict[str, Counter[float]] = {}
        for (_, _, criterion, value), answers in expected.items():
            by_score.setdefault(criterion, Counter())[value] += answers
        assert tally == by_score
        totals = Days(monitored).totals(YEAR, Scope(suite=suite, source=named))
        assert sum(day.scored for day in totals) == sum(row.score_global is not None for row in kept)
        assert sum(day.unscored for day in totals) == sum(row.score_global is None for row in kept)


# --- what is counted can be counted anew


def counted(ledger: Ledger) -> list[list[tuple[Any, ...]]]:
    """All counts by day; sums of fractions to nine places, since their order may differ."""
    with ledger.engine.connect() as connection:
        rows = [connection.execute(select(table)).all() for table in (days, score_days)]
    return [sorted(tuple(round(one, 9) if isinstance(one, float) else one for one in row) for row in table) for table in rows]


def test_counts_formed_anew_are_those_there_were(
    scores: Evaluations, monitored: Ledger, submission: Make, scored: MakeScore
) -> None:
    chance = random.Random(3)
    for number in range(40):
        id, moment = f"a{number}", MOMENT + timedelta(hours=5 * number)
        tried = [judged(f"k{number}", {"timed_out": 2}), judged(f"k{number}", seconds=0.1 * number, currency="USD")]
        given = chance.choice((0.1, 2.0, 9.5, None))
        results = (CriterionResult(criterion="q.x", score=chance.random() * 10, grade="acceptable"),)
        place = {"source": chance.choice(("site", "golden:x")), "variant": chance.choice("AB")}
        evaluate(monitored, scored(id, timestamp=moment, score_global=given, criteria=results, seconds=0.3, **place), tried)
    scores.submit([submission(f"f{number}") for number in range(5)])
    scores.submit([submission(f"l{number}", erased=True, reason="not in the sample") for number in range(3)])
    for number in range(5):
        scores.give_up(f"f{number}", "no judge")
    scores.reopen(["f1"])
    evaluate(monitored, scored("f2"), [judged("late")])
    Traces(monitored).append([held_trace(1), delivered_trace(2), held_trace(3, mode="shadow")])
    monitored.erasure.erase(["a1", "a2", "f3", "nobody's", trace_id(1), trace_id(2)])
    before = counted(monitored)
    with monitored.engine.begin() as connection:
        connection.execute(delete(days))
        connection.execute(update(score_days).values(answers=7))
    monitored.caches.rebuild_days()
    assert counted(monitored) == before


def test_a_judgment_that_the_gate_asked_for_is_not_counted_as_the_monitors(
    scores: Evaluations, monitored: Ledger, scored: MakeScore
) -> None:
    gate = Run(id="g", kind="gate", suite="", fingerprint="g", folder="", created_at=MOMENT, finished_at=None, spec="{}")
    monitored.put_panel(gate)
    scores.submit([submitted("a")])
    monitored.append([judged("k2", run_id="g")])
    scores.link("a", "g", ["k2"])
    assert evaluate(monitored, scored(), [judged("k1")])
    assert [judge.calls for judge in Days(monitored).judges(YEAR)] == [2]


# --- runs of the benchmark


def test_evaluations_of_a_run_are_replaced_by_those_that_are_saved_later_and_counted_by_no_day(
    scores: Evaluations, monitored: Ledger, scored: MakeScore
) -> None:
    run = Run(id="r", suite="s", fingerprint="f", folder="/x", created_at=MOMENT, finished_at=None, spec="{}")
    monitored.create_run(run, [])
    Answers(monitored).append([replace(submitted(id), origin="bench", run_id="r") for id in "ab"])
    of_run = [scored(id, run_id="r", origin="bench") for id in "ab"]
    scores.put(of_run)
    scores.put([replace(of_run[0], score_global=3.0, criteria=of_run[0].criteria[:1])])
    found = [scores.get(id, "r") for id in "ab"]
    assert [(one.score_global, len(one.criteria)) for one in found if one] == [(3.0, 1), (7.0, 2)]
    assert scores.get("a", "m") is None
    assert Days(monitored).totals(YEAR, Scope()) == []
    assert EvaluationLists(monitored).page(Filters()) == []
    assert counted(monitored) == [[], []]
    monitored.caches.rebuild_days()
    assert counted(monitored) == [[], []]
