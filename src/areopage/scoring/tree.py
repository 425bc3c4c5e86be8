"""The tree of scores: criteria -> sub-categories -> categories -> final.

Source: child-safety benchmark specification V1.1: at each level Σ w·score / Σ w over the parts that have a score.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import fsum

from msgspec import Struct

from areopage.criteria import Criterion
from areopage.locales import Note
from areopage.scoring.records import CriterionScore
from areopage.scoring.weights import Weights, level_weights

_CRITERION_DEPTH = 3


NodePath = tuple[str, ...]
"""The names of the nodes from below the root down to a node; () is the root."""


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

    @classmethod
    def of(cls, criterion: Criterion, score: CriterionScore) -> "Leaf":
        """The leaf of a criterion's score of a case."""
        return cls.with_counts(criterion, score.score, score.scored, score.planned, score.not_applicable)

    @classmethod
    def with_counts(cls, criterion: Criterion, score: float | None, scored: int, planned: int, not_applicable: int) -> "Leaf":
        """The leaf of a criterion."""
        return cls(
            criterion=criterion.id,
            category=criterion.category,
            subcategory=criterion.subcategory,
            name=criterion.name,
            score=score,
            scored=scored,
            planned=planned,
            not_applicable=not_applicable,
        )


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

    @property
    def paths(self) -> Iterator[tuple[NodePath, "Node"]]:
        """This node and those below it with their paths from it, each before its parts."""
        yield (), self
        for part in self.parts:
            yield from (((part.name, *path), node) for path, node in part.paths)

    @property
    def leaves(self) -> Iterator["Node"]:
        """The criteria below the node; a criterion itself."""
        return (node for _, node in self.paths if not node.parts)

    @property
    def final_shares(self) -> dict[NodePath, float]:
        """The share of each node below a root in its score by the node's path: the product of the weights on it."""
        shares: dict[NodePath, float] = {}
        for path, node in self.paths:
            shares[path] = shares[path[:-1]] * node.weight if path else 1.0
        return shares

    @property
    def criterion_shares(self) -> dict[str, float]:
        """Each criterion's share of the final score by its id."""
        return {path[-1]: share for path, share in self.final_shares.items() if len(path) == _CRITERION_DEPTH}


def weighted_mean(parts: Sequence[tuple[float | None, float]]) -> float | None:
    """Σ w·score / Σ w over the (score, weight) pairs that have a score.

    None where nothing that weighs is scored: a part of weight 0 does not stand in for those that failed.
    """
    scored = [(score, weight) for score, weight in parts if score is not None]
    total = fsum(weight for _, weight in scored)
    return fsum(score * weight for score, weight in scored) / total if total > 0 else None


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

    def settled(where: str, names: list[str], configured: Mapping[str, float]) -> dict[str, float]:
        shares, notes = level_weights(where, names, configured)
        warnings.extend(notes)
        return shares

    def leaf_nodes(key: str, leaves: Sequence[Leaf]) -> list[Node]:
        """The criteria of a sub-category. Weights go by name: two versions of one criterion share its weight."""
        versions = Counter(leaf.name for leaf in leaves)
        shares = settled(f'weights.criteria."{key}"', list(versions), weights.criteria.get(key, {}))
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

    category_shares = settled("weights.categories", list(grouped), weights.categories)
    categories: list[Node] = []
    for category, subcategories in grouped.items():
        where = f"weights.subcategories.{category}"
        shares = settled(where, list(subcategories), weights.subcategories.get(category, {}))
        parts = [
            _join(subcategory, shares[subcategory], leaf_nodes(f"{category}.{subcategory}", below))
            for subcategory, below in subcategories.items()
        ]
        categories.append(_join(category, category_shares[category], parts))
    return _join("final", 1.0, categories), tuple(warnings)
