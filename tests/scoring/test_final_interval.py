"""The interval of the final score weighs each resample as the tree weighs the run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.criteria.records import Scale
from areopage.scoring.folding import CaseRecords, Consistency, RunScores
from areopage.scoring.intervals.scores import CaseValues, Interval
from areopage.scoring.records import CriterionScore, JudgeScore
from areopage.scoring.tree import Leaf, Node, NodePath, score_tree
from areopage.scoring.weights import Weights
from scoring.made_columns import columns_of

CRITERIA = {"a": ("x", "s"), "b": ("x", "s"), "c": ("x", "t"), "d": ("y", "u")}
WEIGHTS = Weights(
    categories={"x": 0.5, "y": 0.5},
    subcategories={"x": {"s": 0.5, "t": 0.5}},
    criteria={"x.s": {"a": 0.25, "b": 0.75}},
)
Rows = list[dict[str, float | None]]
SCALE = Scale(0, 5)


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


def intervals_of(rows: Rows, weights: Weights = WEIGHTS, clusters: dict[str, str] | None = None) -> dict[NodePath, Interval]:
    return CaseValues.of(columns_of(scores_of(rows)), tree_of(rows, weights), SCALE, clusters or {}).intervals


def interval_of(rows: Rows, weights: Weights = WEIGHTS) -> Interval | None:
    return intervals_of(rows, weights).get(())


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
    found = interval_of(rows)
    assert found is not None and found.low < 3.0 < found.high
    mirrored = interval_of([{name: None if score is None else 5.0 - score for name, score in row.items()} for row in rows])
    assert mirrored is not None
    assert (5.0 - mirrored.high, 5.0 - mirrored.low) == pytest.approx((found.low, found.high))


def test_criteria_that_only_some_cases_have_are_averaged_over_those() -> None:
    rows: Rows = [{"a": 1.0} if n % 2 else {"d": 4.0} for n in range(30)]
    found = interval_of(rows)
    assert found is not None
    assert found.low < 2.5 < found.high and found.cases == 30


def test_cases_without_anything_that_weighs_do_not_count() -> None:
    weights = Weights(categories={"x": 1.0, "y": 0.0})
    rows: Rows = [{"a": 2.0, "d": 0.0} for _ in range(6)]
    rows += [{"d": 5.0} for _ in range(9)]
    found = interval_of(rows, weights)
    assert found is not None and found.cases == 6
    assert found == interval_of(rows[:6], weights)


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
    columns = columns_of(scores)
    return RunScores(
        tree=tree_of(found),
        scale=Scale(0, 5),
        consistency=Consistency.of(scores),
        criteria=columns,
        averaged=columns,
        records=CaseRecords(columns, {}, Weights()),
        warnings=(),
    )


def test_the_interval_speaks_of_other_cases_and_not_of_other_judges() -> None:
    alike = run_of([{"p": 2.0 + n % 2, "q": 2.0 + n % 2} for n in range(20)]).interval
    apart = run_of([{"p": 5.0, "q": float(2 * (n % 2)) - 1.0} for n in range(20)]).interval
    assert alike is not None and apart is not None
    assert (alike.low, alike.high) == pytest.approx((apart.low, apart.high))


def test_a_criterion_with_one_judge_has_an_interval() -> None:
    scores = judged([{"p": float(n % 5)} for n in range(9)])
    tree = tree_of([{"a": score.score} for score in scores])
    assert () in CaseValues.of(columns_of(scores), tree, SCALE, {}).intervals


@pytest.mark.parametrize(("cases", "low"), [(20, 4.15), (40, 4.56), (300, 4.94)])
def test_equal_scores_at_the_end_of_the_scale_leave_room_for_what_was_not_seen(cases: int, low: float) -> None:
    # a case of the score 0 in 1 − 0.025^(1/n) of all cases would be missed in 2.5 % of all runs
    found = run_of([{"p": 5.0, "q": 5.0} for _ in range(cases)]).interval
    assert found is not None
    assert found.low == pytest.approx(5.0 * 0.025 ** (1 / cases), abs=0.01) and found.low == pytest.approx(low, abs=0.01)
    assert found.high == 5.0


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
    found = intervals_of(rows)
    a, s = found["x", "s", "a"], found["x", "s"]
    assert a.low < 2.5 < a.high and a.cases == 40
    assert s.low < 3.625 < s.high and s.high - s.low < a.high - a.low  # a weighs a quarter, b is 4 in all cases
    assert ("y",) not in found and ("x", "t", "c") not in found  # four cases only


def test_cases_that_belong_together_count_as_one() -> None:
    rows: Rows = [{"a": float(n // 4 % 6), "b": float(n // 4 * 7 % 6)} for n in range(80)]
    clusters = {str(number): f"source {number // 4}" for number in range(80)}
    alone = intervals_of(rows)[()]
    together = intervals_of(rows, clusters=clusters)[()]
    every_fourth = intervals_of(rows[::4])[()]
    assert (alone.clusters, together.clusters, together.cases) == (80, 20, 80)
    assert together.high - together.low > 1.7 * (alone.high - alone.low)
    assert (together.low, together.high) == pytest.approx((every_fourth.low, every_fourth.high))


def test_a_criterion_of_few_cases_that_weighs_much_widens_the_interval_of_the_whole() -> None:
    # d is 5 in its five cases, and half of the score: what these hide counts for more than what the other forty hide
    rows: Rows = [{"a": 5.0, "d": 5.0 if n < 5 else None} for n in range(40)]
    found = intervals_of(rows)
    whole, part = found[()], found["y", "u", "d"]
    assert 5.0 - whole.low >= 0.5 * (5.0 - part.low)
