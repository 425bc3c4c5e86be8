"""The tree of scores: criteria -> sub-categories -> categories -> final.

Source: child-safety benchmark specification V1.1: at each level Σ w·score / Σ w over the parts that have a score.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import fsum

from msgspec import Struct

from areopage.locales import Note

SUM_TOLERANCE = 1e-6
_CRITERION_DEPTH = 3


class Weights(Struct, frozen=True, kw_only=True):
    """Weights as configured; each inner mapping is one level below its key and should sum to 1.

    Args:
        categories: category -> weight.
        subcategories: category -> sub-category -> weight.
        criteria: "category.subcategory" -> criterion's name -> weight.
    """

    categories: Mapping[str, float] = {}
    subcategories: Mapping[str, Mapping[str, float]] = {}
    criteria: Mapping[str, Mapping[str, float]] = {}


def level_weights(where: str, names: Sequence[str], configured: Mapping[str, float]) -> tuple[dict[str, float], tuple[Note, ...]]:
    """Settle the weights of one level.

    No usable weights: equal ones. Some missing: they get the mean of the others. A configured level that does not sum to 1
    is normalised. Each of these gives a warning. The weights of the names sum to 1.

    Args:
        where: what the level is called in a warning, e.g. `weights.criteria["safety.sexual"]`.
        names: the parts that exist at this level, at least one.
        configured: the weights as configured; parts that are not in `names` count for the sum only.

    Returns:
        The weight of each name, and the warnings.
    """
    warnings: list[Note] = []
    known = {name: configured[name] for name in names if name in configured}
    if not known or sum(known.values()) <= 0:
        if configured or len(names) > 1:
            warnings.append(Note("no_weights", {"where": where, "names": tuple(names)}))
        return {name: 1.0 / len(names) for name in names}, tuple(warnings)
    total = sum(configured.values())
    if abs(total - 1.0) > SUM_TOLERANCE:
        warnings.append(Note("weights_sum", {"where": where, "total": f"{total:.6g}"}))
    missing = [name for name in names if name not in known]
    if missing:
        warnings.append(Note("weights_missing", {"where": where, "names": tuple(missing)}))
    filler = sum(known.values()) / len(known)
    filled = {name: known.get(name, filler) for name in names}
    whole = sum(filled.values())
    return {name: weight / whole for name, weight in filled.items()}, tuple(warnings)


class Leaf(Struct, frozen=True, kw_only=True):
    """A criterion's score as the tree takes it. `score` is None where it is unscored or does not apply; counts are passes."""

    criterion: str
    category: str
    subcategory: str
    name: str
    score: float | None
    scored: int
    planned: int
    not_applicable: int = 0


class Node(Struct, frozen=True, kw_only=True):
    """One node. `weight` is its share among its siblings (they sum to 1); a leaf has no parts.

    `score` is None where no part below has one. `scored`, `not_applicable` and `planned` count passes of everything below.
    """

    name: str
    score: float | None
    weight: float
    scored: int
    planned: int
    not_applicable: int = 0
    parts: tuple["Node", ...] = ()

    @property
    def coverage(self) -> float:
        """Passes in which a judge has judged over planned ones, in [0, 1]; 0 when none was planned."""
        return (self.scored + self.not_applicable) / self.planned if self.planned else 0.0


NodePath = tuple[str, ...]
"""The names of the nodes from below the root down to a node; () is the root."""


def paths(tree: Node) -> Iterator[tuple[NodePath, Node]]:
    """A tree's nodes with their paths, each before its parts."""
    yield (), tree
    for part in tree.parts:
        yield from (((part.name, *path), node) for path, node in paths(part))


def leaves_of(node: Node) -> Iterator[Node]:
    """The criteria below a node; a criterion itself."""
    return (found for _, found in paths(node) if not found.parts)


def final_shares(tree: Node) -> dict[NodePath, float]:
    """Each node's share of the final score by its path: the product of the weights on it."""
    shares: dict[NodePath, float] = {}
    for path, node in paths(tree):
        shares[path] = shares[path[:-1]] * node.weight if path else 1.0
    return shares


def criterion_shares(tree: Node) -> dict[str, float]:
    """Each criterion's share of the final score by its id."""
    return {path[-1]: share for path, share in final_shares(tree).items() if len(path) == _CRITERION_DEPTH}


def weighted_mean(parts: Sequence[tuple[float | None, float]]) -> float | None:
    """Σ w·score / Σ w over the (score, weight) pairs that have a score.

    None where nothing that weighs is scored: a part of weight 0 does not stand in for those that failed.
    """
    known = [(score, weight) for score, weight in parts if score is not None]
    total = fsum(weight for _, weight in known)
    return fsum(score * weight for score, weight in known) / total if total > 0 else None


def _join(name: str, weight: float, parts: Sequence[Node]) -> Node:
    return Node(
        name=name,
        score=weighted_mean([(part.score, part.weight) for part in parts]),
        weight=weight,
        scored=sum(part.scored for part in parts),
        planned=sum(part.planned for part in parts),
        not_applicable=sum(part.not_applicable for part in parts),
        parts=tuple(parts),
    )


def score_tree(leaves: Sequence[Leaf], weights: Weights) -> tuple[Node, tuple[Note, ...]]:
    """Weigh criteria up to one final score.

    Returns:
        The root, named "final", and the warnings about weights.
    """
    grouped: dict[str, dict[str, list[Leaf]]] = {}
    for leaf in leaves:
        grouped.setdefault(leaf.category, {}).setdefault(leaf.subcategory, []).append(leaf)
    warnings: list[Note] = []
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
    key: str, leaves: Sequence[Leaf], configured: Mapping[str, Mapping[str, float]], warnings: list[Note]
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
            not_applicable=leaf.not_applicable,
        )
        for leaf in leaves
    ]


def settle(where: str, names: list[str], configured: Mapping[str, float], warnings: list[Note]) -> dict[str, float]:
    """`level_weights`, with the warnings added to the list."""
    shares, found = level_weights(where, names, configured)
    warnings.extend(found)
    return shares
