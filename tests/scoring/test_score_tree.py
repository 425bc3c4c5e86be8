"""Properties of the tree of scores and of its weights."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from areopage.scoring.tree import Leaf, Node, score_tree
from areopage.scoring.weights import Weights, level_weights

CATEGORIES, SUBCATEGORIES, NAMES = ("x", "y"), ("s", "t"), ("a", "b", "c")


def leaf(place: tuple[str, str, str], score: float | None, planned: int = 3, scored: int = 3, version: int = 0) -> Leaf:
    category, subcategory, name = place
    return Leaf(
        criterion=f"{category}.{subcategory}.{name}__v1_{version}",
        category=category,
        subcategory=subcategory,
        name=name,
        score=score,
        scored=scored,
        planned=planned,
    )


PLACES = st.tuples(st.sampled_from(CATEGORIES), st.sampled_from(SUBCATEGORIES), st.sampled_from(NAMES))
SCORE = st.one_of(st.none(), st.integers(0, 50).map(lambda tenth: tenth / 10))
LEAVES = st.dictionaries(PLACES, SCORE, min_size=1).map(lambda found: [leaf(place, score) for place, score in found.items()])
SHARE = st.integers(0, 10).map(lambda tenth: tenth / 10)


def level(names: tuple[str, ...]) -> st.SearchStrategy[dict[str, float]]:
    return st.dictionaries(st.sampled_from(names), SHARE)


WEIGHTS = st.builds(
    Weights,
    categories=level(CATEGORIES),
    subcategories=st.dictionaries(st.sampled_from(CATEGORIES), level(SUBCATEGORIES)),
    criteria=st.dictionaries(st.sampled_from([f"{c}.{s}" for c in CATEGORIES for s in SUBCATEGORIES]), level(NAMES)),
)
FULL = Weights(
    categories={"x": 0.6, "y": 0.4},
    subcategories={"x": {"s": 0.3, "t": 0.7}, "y": {"s": 0.5, "t": 0.5}},
    criteria={f"{c}.{s}": {"a": 0.2, "b": 0.8, "c": 0.0} for c in CATEGORIES for s in SUBCATEGORIES},
)


def nodes(tree: Node) -> list[Node]:
    return [tree, *(below for part in tree.parts for below in nodes(part))]


@given(LEAVES, WEIGHTS)
def test_every_node_lies_between_its_parts_and_its_weights_sum_to_one(leaves: list[Leaf], weights: Weights) -> None:
    tree, _ = score_tree(leaves, weights)
    for one in nodes(tree):
        assert 0 <= one.coverage <= 1
        if not one.parts:
            continue
        assert sum(part.weight for part in one.parts) == pytest.approx(1)
        known = [part.score for part in one.parts if part.score is not None]
        if one.score is not None:
            assert min(known) - 1e-9 <= one.score <= max(known) + 1e-9
        else:
            assert all(part.score is None or part.weight == 0 for part in one.parts)


@given(LEAVES.flatmap(lambda leaves: st.tuples(st.just(leaves), st.permutations(leaves))), WEIGHTS)
def test_the_order_of_criteria_does_not_matter(orders: tuple[list[Leaf], list[Leaf]], weights: Weights) -> None:
    first, second = (score_tree(leaves, weights)[0].score for leaves in orders)
    assert first == pytest.approx(second) if first is not None else second is None


@given(LEAVES, st.sampled_from([f"{c}.{s}" for c in CATEGORIES for s in SUBCATEGORIES]), SCORE)
def test_a_criterion_of_weight_zero_changes_nothing(leaves: list[Leaf], place: str, score: float | None) -> None:
    category, subcategory = place.split(".")
    kept = [one for one in leaves if one.name != "c"]
    assume(any((one.category, one.subcategory) == (category, subcategory) for one in kept))
    before = score_tree(kept, FULL)[0].score
    after = score_tree([*kept, leaf((category, subcategory, "c"), score)], FULL)[0].score
    assert before == pytest.approx(after) if before is not None else after is None


@given(LEAVES, WEIGHTS, st.sampled_from([0.01, 0.5, 3.0, 100.0]))
def test_scaling_all_weights_of_a_level_changes_nothing(leaves: list[Leaf], weights: Weights, factor: float) -> None:
    scaled = Weights(
        categories={name: value * factor for name, value in weights.categories.items()},
        subcategories=weights.subcategories,
        criteria={key: {name: value * factor for name, value in below.items()} for key, below in weights.criteria.items()},
    )
    before, after = score_tree(leaves, weights)[0].score, score_tree(leaves, scaled)[0].score
    assert before == pytest.approx(after) if before is not None else after is None


@given(LEAVES)
def test_without_weights_every_level_is_a_plain_mean(leaves: list[Leaf]) -> None:
    tree, warnings = score_tree(leaves, Weights())
    for one in nodes(tree):
        known = [part.score for part in one.parts if part.score is not None]
        if one.parts:
            assert one.score == pytest.approx(sum(known) / len(known)) if known else one.score is None
    assert len(warnings) == sum(len(one.parts) > 1 for one in nodes(tree))


def test_a_missing_part_leaves_its_weight_to_the_others() -> None:
    leaves = [leaf(("x", "s", "a"), 5.0), leaf(("x", "s", "b"), None, scored=0), leaf(("y", "s", "a"), 1.0)]
    tree, _ = score_tree(leaves, FULL)
    # x.s has only a: 5; final 0.6·5 + 0.4·1 = 3.4
    assert tree.score == pytest.approx(3.4)
    assert tree.coverage == pytest.approx(6 / 9)


def test_what_weighs_nothing_does_not_stand_in_for_what_failed() -> None:
    leaves = [leaf(("x", "s", "a"), None), leaf(("x", "s", "b"), None), leaf(("x", "s", "c"), 5.0)]
    assert score_tree(leaves, FULL)[0].score is None
    assert score_tree(leaves[2:], FULL)[0].score == 5.0


def test_two_versions_of_one_criterion_share_its_weight() -> None:
    weights = Weights(criteria={"x.s": {"a": 0.2, "b": 0.8}})
    leaves = [leaf(("x", "s", "a"), 0.0), leaf(("x", "s", "b"), 5.0), leaf(("x", "s", "b"), 3.0, version=1)]
    tree, _ = score_tree(leaves, weights)
    # 0.2·0 + 0.4·5 + 0.4·3
    assert tree.score == pytest.approx(3.2)
    assert sum(part.weight for part in tree.parts[0].parts[0].parts) == pytest.approx(1)


@pytest.mark.parametrize(
    ("configured", "expected", "warning"),
    [
        ({"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.5}, None),
        ({"a": 0.3, "b": 0.7, "elsewhere": 0.0}, {"a": 0.3, "b": 0.7}, None),
        ({}, {"a": 0.5, "b": 0.5}, "no weights for a, b: equal weights"),
        ({"a": 0.0, "b": 0.0}, {"a": 0.5, "b": 0.5}, "the weights of a, b are 0: equal weights"),
        ({"a": 1.0}, {"a": 0.5, "b": 0.5}, "no weight for b: the mean of the others"),
        ({"a": 3.0, "b": 1.0}, {"a": 0.75, "b": 0.25}, "the weights sum to 4, not 1"),
    ],
)
def test_weights_of_a_level(configured: dict[str, float], expected: dict[str, float], warning: str | None) -> None:
    found, warnings = level_weights("here", ["a", "b"], configured)
    assert found == pytest.approx(expected)
    assert len(warnings) == (warning is not None)
    assert warning is None or str(warnings[0]).startswith(f"here: {warning}")


def test_a_selection_of_part_of_a_level_is_no_fault_of_its_weights() -> None:
    assert level_weights("here", ["a"], {"a": 0.4, "b": 0.6}) == ({"a": 1.0}, ())
    assert level_weights("here", ["a"], {}) == ({"a": 1.0}, ())
