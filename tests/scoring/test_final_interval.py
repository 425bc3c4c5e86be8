"""The interval of the final score weighs each resample as the tree weighs the run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.criteria.records import Scale
from areopage.scoring.fold import Interval, RecordScores, RunScores, consistency, score_intervals
from areopage.scoring.reduce import CriterionScore, JudgeScore
from areopage.scoring.tree import Leaf, Node, Weights, score_tree

CRITERIA = {"a": ("x", "s"), "b": ("x", "s"), "c": ("x", "t"), "d": ("y", "u")}
WEIGHTS = Weights(
    categories={"x": 0.5, "y": 0.5},
    subcategories={"x": {"s": 0.5, "t": 0.5}},
    criteria={"x.s": {"a": 0.25, "b": 0.75}},
)
Rows = list[dict[str, float | None]]


def scores_of(rows: Rows) -> list[CriterionScore]:
    return [
        CriterionScore(case_id=str(number), criterion=name, score=score, agreement=None, outliers=(), judges=())
        for number, row in enumerate(rows)
        for name, score in row.items()
    ]


def tree_of(rows: Rows, weights: Weights = WEIGHTS) -> Node:
    leaves: list[Leaf] = []
    for name in dict.fromkeys(name for row in rows for name in row):
        known = [score for row in rows if (score := row.get(name)) is not None]
        category, subcategory = CRITERIA[name]
        mean = sum(known) / len(known) if known else None
        leaves.append(
            Leaf(criterion=name, category=category, subcategory=subcategory, name=name, score=mean, scored=0, planned=0)
        )
    return score_tree(leaves, weights)[0]


def interval_of(rows: Rows, weights: Weights = WEIGHTS) -> Interval | None:
    return score_intervals(scores_of(rows), tree_of(rows, weights), resamples=200).get(())


def test_an_interval_contains_the_score_and_comes_out_the_same_twice() -> None:
    rows: Rows = [{"a": float(n % 6), "b": float((n * 7) % 6), "c": float((n * 5) % 4), "d": 3.0} for n in range(40)]
    found, score = interval_of(rows), tree_of(rows).score
    assert found is not None and score is not None
    assert found.low < score < found.high
    assert found.cases == 40
    assert found == interval_of(rows)


def test_under_five_scored_cases_there_is_no_interval() -> None:
    rows: Rows = [{"a": float(n)} for n in range(4)]
    assert interval_of(rows) is None
    assert interval_of([*rows, {"a": None}]) is None
    assert interval_of([*rows, {"a": 4.0}]) is not None


def test_a_criterion_that_nobody_scored_leaves_its_weight_to_its_siblings() -> None:
    # b failed everywhere: the tree gives its share to a (0 in all cases), not to d (5 in all cases)
    # x = (0.5·0 + 0.5·2) = 1, final (1 + 5)/2 = 3 in every resample
    rows: Rows = [{"a": 0.0, "b": None, "c": 2.0, "d": 5.0} for _ in range(8)]
    assert tree_of(rows).score == 3
    assert interval_of(rows) == Interval(low=3.0, high=3.0, cases=8)


def test_criteria_that_only_some_cases_have_are_averaged_over_those() -> None:
    rows: Rows = [{"a": 1.0} if n % 2 else {"d": 4.0} for n in range(30)]
    found = interval_of(rows)
    assert found is not None
    assert (found.low, found.high) == (2.5, 2.5)


def test_resamples_without_anything_that_weighs_are_left_out() -> None:
    weights = Weights(categories={"x": 1.0, "y": 0.0})
    rows: Rows = [{"a": 2.0, "d": 0.0}]
    rows += [{"d": 5.0} for _ in range(9)]
    assert interval_of(rows, weights) == Interval(low=2.0, high=2.0, cases=10)


def test_without_a_final_score_there_is_no_interval() -> None:
    weights = Weights(categories={"x": 1.0, "y": 0.0})
    rows: Rows = [{"a": None, "d": 5.0} for _ in range(9)]
    assert tree_of(rows, weights).score is None
    assert interval_of(rows, weights) is None


ROW = st.fixed_dictionaries({}, optional={name: st.one_of(st.none(), st.integers(0, 5).map(float)) for name in CRITERIA})


@given(st.lists(ROW, min_size=1, max_size=12))
def test_an_interval_lies_within_the_scale_and_does_not_know_criteria_order(rows: Rows) -> None:
    found = interval_of(rows)
    scored = sum(any(score is not None for score in row.values()) for row in rows)
    assert (found is None) == (scored < 5)
    if found is None:
        return
    scale = Scale(0, 5)
    assert scale.min - 1e-9 <= found.low <= found.high <= scale.max + 1e-9
    turned: Rows = [dict(reversed(list(row.items()))) for row in rows]
    again = interval_of(turned)
    assert again is not None
    assert (again.low, again.high) == pytest.approx((found.low, found.high))


def judged(rows: list[dict[str, float | None]]) -> list[CriterionScore]:
    """Scores of criterion `a`, a row of judges' scores for each case."""
    return [
        CriterionScore(
            case_id=str(number),
            criterion="a",
            score=sum(known) / len(known) if (known := [score for score in row.values() if score is not None]) else None,
            agreement=None,
            outliers=(),
            judges=tuple(
                JudgeScore(judge=judge, score=score, variance=0.0, scored=int(score is not None), planned=1)
                for judge, score in row.items()
            ),
        )
        for number, row in enumerate(rows)
    ]


def run_of(rows: list[dict[str, float | None]]) -> RunScores:
    scores = judged(rows)
    found: Rows = [{"a": score.score} for score in scores]
    records = tuple(
        RecordScores(case_id=score.case_id, tree=tree_of([row]), criteria=(score,), consistency=consistency([score]))
        for score, row in zip(scores, found, strict=True)
    )
    return RunScores(tree=tree_of(found), scale=Scale(0, 5), consistency=consistency(scores), records=records, warnings=())


def test_judges_who_always_contradict_each_other_give_a_wide_interval() -> None:
    found = run_of([{"p": 5.0, "q": 0.0, "r": 5.0, "s": 5.0} for _ in range(20)]).interval
    assert found is not None
    assert found.low < 2.6 and found.high == 5.0
    two = run_of([{"p": 5.0, "q": 0.0} for _ in range(20)]).interval
    assert two == Interval(low=0.0, high=5.0, cases=20)


def test_the_only_judge_of_a_criterion_is_never_drawn_away() -> None:
    scores = judged([{"p": float(n % 5)} for n in range(9)])
    assert () in score_intervals(scores, tree_of([{"a": score.score} for score in scores]))


def test_scores_that_are_all_equal_give_no_interval_instead_of_one_without_width() -> None:
    assert run_of([{"p": 5.0, "q": 5.0} for _ in range(20)]).interval is None


def test_missing_scores_are_bounded_by_both_ends_of_the_scale() -> None:
    rows: list[dict[str, float | None]] = [{"p": 4.0}, {"p": 4.0}, {"p": None}, {"p": None}]
    assert run_of(rows).if_missing == (2.0, 4.5)
    assert run_of([{"p": 4.0}]).if_missing is None


@given(st.lists(st.one_of(st.none(), st.integers(0, 5).map(float)), min_size=1, max_size=9))
def test_the_score_lies_between_its_bounds(values: list[float | None]) -> None:
    run = run_of([{"p": value} for value in values])
    if run.if_missing is not None and run.tree.score is not None:
        worst, best = run.if_missing
        assert worst - 1e-9 <= run.tree.score <= best + 1e-9


def test_a_criterion_and_a_category_have_intervals_of_their_own() -> None:
    rows: Rows = [{"a": float(n % 6), "b": 4.0} for n in range(40)]
    for number, row in enumerate(rows[:4]):
        row.update({"c": 2.0, "d": float(number % 2)})
    found = score_intervals(scores_of(rows), tree_of(rows), resamples=200)
    a, s = found["x", "s", "a"], found["x", "s"]
    assert a.low < 2.5 < a.high and a.cases == 40
    assert s.high - s.low == pytest.approx((a.high - a.low) / 4)  # a weighs a quarter, b never moves
    assert (found["x", "s", "b"].low, found["x", "s", "b"].high) == (4.0, 4.0)
    assert ("y",) not in found and ("x", "t", "c") not in found  # four cases only
