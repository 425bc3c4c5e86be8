"""The tree of scores: criteria -> sub-categories -> categories -> final.

Source: child-safety benchmark specification V1.1: at each level Σ w·score / Σ w over the parts that have a score.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum

from msgspec import Struct

from areopage.scoring.weights import Weights, level_weights


class Leaf(Struct, frozen=True, kw_only=True):
    """A criterion's score as the tree takes it. `score` is None where it is unscored; counts are passes."""

    criterion: str
    category: str
    subcategory: str
    name: str
    score: float | None
    scored: int
    planned: int


class Node(Struct, frozen=True, kw_only=True):
    """One node. `weight` is its share among its siblings (they sum to 1); a leaf has no parts.

    `score` is None where no part below has one. `scored`/`planned` count passes of everything below.
    """

    name: str
    score: float | None
    weight: float
    scored: int
    planned: int
    parts: tuple["Node", ...] = ()

    @property
    def coverage(self) -> float:
        """Scored passes over planned ones, in [0, 1]; 0 when none was planned."""
        return self.scored / self.planned if self.planned else 0.0


def _weighted_mean(parts: Sequence[tuple[float | None, float]]) -> float | None:
    """Σ w·score / Σ w over the (score, weight) pairs that have a score.

    None where nothing that weighs is scored: a part of weight 0 does not stand in for those that failed.
    """
    known = [(score, weight) for score, weight in parts if score is not None]
    total = fsum(weight for _, weight in known)
    return fsum(score * weight for score, weight in known) / total if total > 0 else None


def _join(name: str, weight: float, parts: Sequence[Node]) -> Node:
    """A node over its parts."""
    return Node(
        name=name,
        score=_weighted_mean([(part.score, part.weight) for part in parts]),
        weight=weight,
        scored=sum(part.scored for part in parts),
        planned=sum(part.planned for part in parts),
        parts=tuple(parts),
    )


def score_tree(leaves: Sequence[Leaf], weights: Weights) -> tuple[Node, tuple[str, ...]]:
    """Weigh criteria up to one final score.

    Args:
        leaves: one leaf per criterion, in any order; the score does not depend on it.
        weights: the configured weights of the three levels.

    Returns:
        The root, named "final", and the warnings about weights.
    """
    grouped: dict[str, dict[str, list[Leaf]]] = {}
    for leaf in leaves:
        grouped.setdefault(leaf.category, {}).setdefault(leaf.subcategory, []).append(leaf)
    warnings: list[str] = []
    if not grouped:
        return Node(name="final", score=None, weight=1.0, scored=0, planned=0), ()
    category_shares = settle("weights.categories", list(grouped), weights.categories, warnings)
    categories: list[Node] = []
    for category, subcategories in grouped.items():
        where = f"weights.subcategories.{category}"
        shares = settle(where, list(subcategories), weights.subcategories.get(category, {}), warnings)
        parts = [
            _join(subcategory, shares[subcategory], _leaf_nodes(f"{category}.{subcategory}", found, weights.criteria, warnings))
            for subcategory, found in subcategories.items()
        ]
        categories.append(_join(category, category_shares[category], parts))
    return _join("final", 1.0, categories), tuple(warnings)


def _leaf_nodes(
    key: str, leaves: Sequence[Leaf], configured: Mapping[str, Mapping[str, float]], warnings: list[str]
) -> list[Node]:
    """The nodes of one sub-category's criteria; warnings are added to the list.

    Weights go by name: two versions of one criterion share its weight.
    """
    versions = Counter(leaf.name for leaf in leaves)
    shares = settle(f'weights.criteria."{key}"', list(versions), configured.get(key, {}), warnings)
    return [
        Node(
            name=leaf.criterion,
            score=leaf.score,
            weight=shares[leaf.name] / versions[leaf.name],
            scored=leaf.scored,
            planned=leaf.planned,
        )
        for leaf in leaves
    ]


def settle(where: str, names: list[str], configured: Mapping[str, float], warnings: list[str]) -> dict[str, float]:
    """`level_weights`, with the warnings added to the list."""
    shares, found = level_weights(where, names, configured)
    warnings.extend(found)
    return shares
