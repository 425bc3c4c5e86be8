"""What drives a change: the parts by case, criterion and judge each add up to the whole difference, whatever is missing."""

from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.compare.statistics.contributions import ONE_SIDED, effective_shares, failure_drivers, score_drivers
from compare.made_runs import CRITERIA, JUDGES, Given, made

CELLS = [(one.path, judge) for one in CRITERIA for judge in JUDGES]
GIVEN = st.one_of(st.sampled_from([0.0, 1.0, 2.5, 5.0]), st.floats(0.0, 5.0), st.none(), st.just("n/a"))
CASE = st.fixed_dictionaries(dict.fromkeys(CELLS, GIVEN))
RUN = st.fixed_dictionaries({f"c{number}": CASE for number in range(4)})


def whole(score: float) -> dict[tuple[str, str], Given]:
    return dict.fromkeys(CELLS, score)


@given(first=RUN, second=RUN)
def test_the_parts_add_up_to_the_difference_exactly(
    first: dict[str, dict[tuple[str, str], Given]], second: dict[str, dict[tuple[str, str], Given]]
) -> None:
    here, there = made(first), made(second)
    for side in (here, there):
        for record in side.values():
            shares = effective_shares(record.tree) if record.tree.score is not None else {}
            scores = {score.criterion: score.score for score in record.criteria}
            assert sum(share * (scores[name] or 0.0) for name, share in shares.items()) == pytest.approx(record.tree.score or 0.0)
    ids = [id for id, record in here.items() if record.tree.score is not None and there[id].tree.score is not None]
    if not ids:
        return
    found = score_drivers(here, there, ids)
    means = [fsum(side[id].tree.score or 0.0 for id in ids) / len(ids) for side in (here, there)]
    assert found.difference == pytest.approx(means[0] - means[1], abs=1e-12)
    for parts in (found.cases, found.criteria, found.judges):
        assert fsum(one.amount for one in parts) == pytest.approx(found.difference, abs=1e-12)
        if abs(found.difference) > 1e-6:
            assert fsum(one.share or 0.0 for one in parts) == pytest.approx(1.0, abs=1e-6)


def test_a_judge_who_alone_changes_contributes_all_of_it_and_so_does_its_criterion() -> None:
    first, second = whole(3.0), whole(3.0)
    first["safety.harm.danger", "alpha"] = 5.0
    found = score_drivers(made({"a": first, "b": whole(3.0)}), made({"a": second, "b": whole(3.0)}), ["a", "b"])
    assert found.difference == pytest.approx(0.7 * 0.5 * 0.8 * 1.0 / 2)  # category, sub-category, criterion, mean of two judges
    assert {one.name: one.share for one in found.judges if one.amount} == pytest.approx({"alpha": 1.0})
    assert {one.name: one.share for one in found.criteria if one.amount} == pytest.approx({"safety.harm.danger__v1_0": 1.0})
    assert found.cases[0].name == "a" and found.cases[1].amount == 0.0


def test_what_only_one_side_has_is_a_part_of_its_own() -> None:
    first, second = whole(4.0), whole(4.0)
    first |= {(path, judge): 0.0 if path.startswith("care") else 4.0 for path, judge in CELLS}
    second |= {(path, judge): None if path.startswith("care") else 4.0 for path, judge in CELLS}
    found = score_drivers(made({"a": first}), made({"a": second}), ["a"])
    assert found.difference == pytest.approx(-0.3 * 4.0)
    assert found.criteria[0].name == found.judges[0].name == ONE_SIDED
    assert found.criteria[0].share == pytest.approx(1.0)


@given(
    st.dictionaries(st.integers(0, 9).map(str), st.lists(st.sampled_from("pqr"), min_size=1, unique=True), max_size=6),
    st.dictionaries(st.integers(10, 19).map(str), st.lists(st.sampled_from("pqr"), min_size=1, unique=True), max_size=6),
)
def test_failures_are_divided_among_the_criteria_that_a_case_fails(
    new: dict[str, list[str]], mended: dict[str, list[str]]
) -> None:
    found = failure_drivers(new, mended)
    assert fsum(one.amount for one in found) == pytest.approx(len(new) - len(mended), abs=1e-12)
    assert [one.share is None for one in found] == [len(new) == len(mended)] * len(found)
