"""Scores of answers: written once however often they come, and the days' counts are those of the rows."""

import math
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

from areopage.cases.records import Case
from areopage.criteria.records import Scale
from areopage.errors import StorageError
from areopage.ledger.counts import Counts
from areopage.ledger.quality import QualityScores
from areopage.ledger.quality_lists import QualityLists
from areopage.ledger.quality_records import CriterionResult, DayTotals, Filters, JudgeUse, Period, QualityScore, Scope, Submission
from areopage.ledger.records import Judgment, Verdict
from areopage.ledger.store import Ledger
from areopage.ledger.submissions import Submissions
from areopage.scoring.counts import Tally
from areopage.scoring.outcome import TimedOut

MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
YEAR = Period(start=date(2026, 1, 1), end=date(2027, 1, 1))
Make = Callable[..., Submission]
MakeScore = Callable[..., QualityScore]
MakeJudgment = Callable[..., Judgment]


def use(**fields: Any) -> JudgeUse:
    known: dict[str, Any] = {
        "judge": "one",
        "model": "fake:m",
        "calls": 2,
        "outcomes": {"scored": 3, "unparsed": 1},
        "seconds": 1.5,
        "prompt_tokens": 10,
        "completion_tokens": 4,
        "cost": 0.25,
        "currency": "EUR",
    }
    return JudgeUse(**known | fields)


@pytest.fixture
def scores(monitored: Ledger) -> QualityScores:
    return QualityScores(monitored)


def test_a_score_comes_back_as_it_was(scores: QualityScores, scored: MakeScore) -> None:
    whole = scored(
        strengths=("clear", "short"),
        weaknesses=("no source",),
        suggestions=("cite",),
        feedback="Bien",
        reason="r",
        standing="not examined",
        scored=4,
        planned=6,
        spread=1.5,
        prompt_tokens=900,
        completion_tokens=20,
        seconds=2.5,
        cost=0.01,
        currency="EUR",
        criteria=tuple(CriterionResult(criterion=f"q.a.{name}", score=1.0, band="weak") for name in "zcxa"),
    )
    bare = scored("b", score_global=None, band="unscored", criteria=())
    assert scores.finish(whole, [], [], None) and scores.finish(bare, [], [], None)
    for given_one in (whole, bare):
        found = scores.get(given_one.id)
        assert found is not None and found.number > 0
        assert replace(found, number=0) == given_one
    assert scores.get("c") is None


def test_the_four_criteria_of_the_specification_have_columns(scores: QualityScores, monitored: Ledger, scored: MakeScore) -> None:
    named = {"exactitude": 1.0, "completude": 2.0, "format": None, "other": 4.0}
    results = tuple(CriterionResult(criterion=f"x.y.{name}", score=score, band="weak") for name, score in named.items())
    scores.finish(scored(criteria=results), [], [], None)
    with monitored.engine.connect() as connection:
        row = connection.exec_driver_sql("SELECT exactitude, completude, format, sources FROM quality_scores").one()
    assert tuple(row) == (1.0, 2.0, None, None)


def test_any_text_can_be_scored(scores: QualityScores, scored: MakeScore) -> None:
    bad = "a\x00b\ud83dc"
    texts = dict.fromkeys(("id", "question", "answer", "feedback", "source", "variant", "suite", "reason"), bad)
    result = CriterionResult(criterion=bad, score=1.0, band="weak")
    assert scores.finish(scored(**texts, strengths=(bad,), criteria=(result,)), [use(judge=bad, model=bad)], [], None)
    found = scores.get(bad)
    assert found is not None
    mended = "a\ufffdb\ufffdc"
    assert {getattr(found, name) for name in texts} == {mended}
    assert (found.strengths, found.criteria[0].criterion) == ((mended,), mended)


def test_a_second_finish_changes_and_counts_nothing(
    scores: QualityScores, monitored: Ledger, submission: Make, scored: MakeScore
) -> None:
    Submissions(monitored).add([submission("a")])
    assert scores.finish(scored(), [use()], ["k1"], None)
    assert not scores.finish(scored(score_global=1.0, feedback="later"), [use()], ["k2"], Case(id="a", prompt="later"))
    found = scores.get("a")
    assert found is not None and (found.score_global, found.feedback) == (7.0, "")
    (day,) = Counts(monitored).totals(YEAR, Scope())
    assert (day.scored, day.unscored) == (1, 0)
    assert [judge.calls for judge in Counts(monitored).judges(YEAR)] == [2]
    stored = Submissions(monitored).get("a")
    assert stored is not None and stored.case.prompt == "Why?"


def test_threads_that_finish_the_same_answer_write_it_once(scores: QualityScores, monitored: Ledger, scored: MakeScore) -> None:
    ids = [f"a{number}" for number in range(30)]
    told: list[bool] = []

    def finish(order: list[str]) -> None:
        told.extend(scores.finish(scored(id), [use()], [id], None) for id in order)

    threads = [Thread(target=finish, args=(order,)) for order in (ids, ids[::-1], ids)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told.count(True) == 30
    (day,) = Counts(monitored).totals(YEAR, Scope())
    assert day.scored == 30


def test_finishing_sets_the_submission_evaluated_and_keeps_what_is_to_stay_of_it(
    scores: QualityScores, monitored: Ledger, submission: Make, scored: MakeScore
) -> None:
    intake = Submissions(monitored)
    intake.add([submission("a"), submission("b")])
    scores.finish(scored("a"), [], [], None)
    scores.finish(scored("b"), [], [], Case(id="b", prompt="[cut]"))
    found = [(one.state, one.case.prompt) for id in "ab" if (one := intake.get(id))]
    assert found == [("evaluated", "Why?"), ("evaluated", "[cut]")]


def test_a_submission_whose_score_is_there_does_not_wait_for_ever(
    scores: QualityScores, monitored: Ledger, submission: Make, scored: MakeScore
) -> None:
    scores.finish(scored("a"), [], [], None)
    intake = Submissions(monitored)
    intake.add([submission("a")])
    assert not scores.finish(scored("a"), [], [], None)
    assert intake.backlog().waiting == 0


def test_a_score_that_cannot_be_written_leaves_nothing(
    scores: QualityScores, monitored: Ledger, submission: Make, scored: MakeScore
) -> None:
    Submissions(monitored).add([submission("a")])
    with pytest.raises(StorageError):
        scores.finish(scored(run_id="nobody's"), [use()], ["k"], None)
    assert scores.get("a") is None
    assert Counts(monitored).totals(YEAR, Scope()) == []
    assert scores.finish(scored(), [use()], ["k"], None)


def test_an_answers_judgments_are_shown_with_it_failed_ones_first_when_they_came_first(
    scores: QualityScores, monitored: Ledger, scored: MakeScore, judgment: MakeJudgment
) -> None:
    late = Verdict(criterion="q", outcome=TimedOut(reason="slow"))
    first = judgment("k2", run_id="m", verdicts=(late,))
    second = judgment("k1", run_id="m", created_at=MOMENT + timedelta(seconds=1))
    third = judgment("k2", run_id="m", created_at=MOMENT + timedelta(seconds=2))
    monitored.append([first, second, third, judgment("k3", run_id="m")])
    scores.link("a", ["k2"])
    assert scores.judgments("a") == [first, third]
    scores.finish(scored(), [], ["k1", "k2", "k1"], None)
    assert scores.judgments("a") == [first, second, third]
    assert scores.judgments("b") == []


def test_the_day_of_an_answer_is_its_day_in_utc(scores: QualityScores, monitored: Ledger, scored: MakeScore) -> None:
    evening = datetime(2026, 1, 2, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
    scores.finish(scored(timestamp=evening), [use()], [], None)
    for found in (Counts(monitored).sums(YEAR, Scope(), SCALE), Counts(monitored).totals(YEAR, Scope())):
        assert {one.day for one in found} == {date(2026, 1, 3)}
    assert Counts(monitored).judges(Period(start=date(2026, 1, 3), end=date(2026, 1, 4))) != []
    assert Counts(monitored).judges(Period(start=date(2026, 1, 2), end=date(2026, 1, 3))) == []


def test_golden_answers_are_counted_only_where_their_source_is_named(
    scores: QualityScores, monitored: Ledger, scored: MakeScore
) -> None:
    scores.finish(scored("a"), [], [], None)
    scores.finish(scored("g", source="golden:notary", score_global=1.0, band="weak"), [use()], [], None)
    counts, lists = Counts(monitored), QualityLists(monitored)
    for source, ids, total in ((None, ["a"], {7.0: 1}), ("golden:notary", ["g"], {1.0: 1}), ("site", ["a"], {7.0: 1})):
        scope = Scope(source=source)
        assert [tallies[""] for tallies in counts.variants(YEAR, scope).values()] == [total]
        assert [day.scored for day in counts.totals(YEAR, scope)] == [1]
        assert lists.tally(MOMENT, MOMENT + timedelta(1), scope)[""] == total
        found = [lists.page(Filters(source=source)), lists.page(Filters(source=source, text="why")), lists.worst(YEAR, scope)]
        found += [lists.recent(MOMENT, scope, 9), lists.sample(YEAR, scope, 9, 1), list(lists.stream(Filters(source=source)))]
        assert [[one.id for one in scores] for scores in found] == [ids] * 6
    assert [judge.calls for judge in counts.judges(YEAR)] == [2]


def test_a_judges_work_is_summed_over_days_by_outcome_and_currency(
    scores: QualityScores, monitored: Ledger, scored: MakeScore
) -> None:
    day = timedelta(days=1)
    scores.finish(scored("a"), [use(), use(judge="two", outcomes={}, calls=1)], [], None)
    scores.finish(scored("b", timestamp=MOMENT + day), [use(currency="USD"), use(outcomes={"timed_out": 2}, cost=0.5)], [], None)
    one, two = Counts(monitored).judges(YEAR)
    assert (one.calls, one.outcomes) == (6, {"scored": 6, "unparsed": 2, "timed_out": 2})
    assert (one.seconds, one.prompt_tokens, one.completion_tokens) == (4.5, 30, 12)
    assert one.cost == {"EUR": 0.75, "USD": 0.25}
    assert (two.judge, two.calls, two.outcomes) == ("two", 1, {})


def test_totals_say_what_was_done_each_day(scores: QualityScores, monitored: Ledger, scored: MakeScore) -> None:
    scores.finish(scored("a", seconds=1.5, prompt_tokens=10, completion_tokens=None), [], [], None)
    scores.finish(scored("b", score_global=None, band="unscored", variant="B", seconds=2.0, prompt_tokens=5), [], [], None)
    work = {"seconds": 3.5, "prompt_tokens": 15, "completion_tokens": 0}
    expected = DayTotals(day=MOMENT.date(), scored=1, unscored=1, failed=0, left_out=0, **work)  # type: ignore[arg-type]
    assert Counts(monitored).totals(YEAR, Scope(suite="s")) == [expected]
    assert Counts(monitored).totals(YEAR, Scope(suite="t")) == []
    assert [day.unscored for day in Counts(monitored).totals(YEAR, Scope(variant="B"))] == [1]


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
    scores: QualityScores, monitored: Ledger, scored: MakeScore, given_ones: list[tuple[int, int, str, str, Any, Any]]
) -> None:
    suite = secrets.token_hex(8)  # of this example alone: the ledger is shared by all
    rows: dict[str, QualityScore] = {}
    for number, day, variant, source, overall, single in given_ones:
        score = scored(
            f"{suite}-{number}",
            suite=suite,
            timestamp=MOMENT + timedelta(days=day),
            variant=variant,
            source=source,
            score_global=overall,
            band="unscored" if overall is None else "good",
            criteria=(CriterionResult(criterion="q.x", score=single, band="weak"),),
        )
        assert scores.finish(score, [], [], None) is (score.id not in rows)
        rows.setdefault(score.id, score)
    for named in (None, "app", "golden:x"):
        kept = [row for row in rows.values() if row.source == named or (named is None and not row.source.startswith("golden:"))]
        expected = Counter(
            (row.timestamp.date(), row.variant, criterion, round(value, 2))
            for row in kept
            for criterion, value in (("", row.score_global), ("q.x", row.criteria[0].score))
            if value is not None
        )
        found = {
            (day, variant, criterion, score): answers
            for day in (MOMENT.date() + timedelta(days=number) for number in range(4))
            for variant, tallies in Counts(monitored).variants(one_day(day), Scope(suite=suite, source=named)).items()
            for criterion, tally in tallies.items()
            for score, answers in tally.items()
        }
        assert found == expected
        for sums in Counts(monitored).sums(YEAR, Scope(suite=suite, source=named), SCALE):
            values = {key[3]: count for key, count in expected.items() if key[:3] == (sums.day, sums.variant, sums.criterion)}
            tally_of_day = Tally(values)
            assert sums.answers == tally_of_day.answers
            assert sums.weak == tally_of_day.bands(SCALE)[2]
            given_scores = [
                value
                for row in kept
                for criterion, value in (("", row.score_global), ("q.x", row.criteria[0].score))
                if value is not None
                and (row.timestamp.date(), row.variant, criterion) == (sums.day, sums.variant, sums.criterion)
            ]
            assert sums.total == pytest.approx(math.fsum(given_scores), abs=1e-9)
            assert sums.squares == pytest.approx(math.fsum(value * value for value in given_scores), abs=1e-9)
        tally = QualityLists(monitored).tally(MOMENT, MOMENT + timedelta(days=9), Scope(suite=suite, source=named))
        by_score: dict[str, Counter[float]] = {}
        for (_, _, criterion, value), answers in expected.items():
            by_score.setdefault(criterion, Counter())[value] += answers
        assert tally == by_score
        totals = Counts(monitored).totals(YEAR, Scope(suite=suite, source=named))
        assert sum(day.scored for day in totals) == sum(row.score_global is not None for row in kept)
        assert sum(day.unscored for day in totals) == sum(row.score_global is None for row in kept)
