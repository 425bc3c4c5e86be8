"""What raters are asked: a suite's criteria on its scale, under any name that people give them."""

import math
import re

from msgspec import Struct

from areopage.cases.columns import fold_name
from areopage.criteria.prompt_file import load_criteria
from areopage.criteria.records import Criterion, Scale
from areopage.criteria.registry import RegistryEntry, select_criteria
from areopage.errors import CriteriaError, UserError, name_list
from areopage.scoring.tree import Leaf, Node, score_tree
from areopage.suites.loader import Suite

OVERALL = ""
OVERALL_SPELLINGS = ("overall", "overall score", "global", "score_global", "note globale", "score", "ensemble", "total")
OVERALL_NAMES = frozenset(fold_name(name) for name in OVERALL_SPELLINGS)

_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)", re.ASCII)


class Rubric(Struct, frozen=True, kw_only=True):
    """The criteria that a suite's answers are judged by, and what each weighs in the overall score (the shares sum to 1)."""

    suite: Suite
    entries: tuple[RegistryEntry, ...]
    shares: dict[str, float]

    @property
    def scale(self) -> Scale:
        """The scale of labels: the suite's."""
        return self.suite.scale

    @property
    def paths(self) -> tuple[str, ...]:
        """The criteria's paths in the suite's order."""
        return tuple(entry.path for entry in self.entries)

    def labels(self, language: str) -> dict[str, str]:
        """What people call each criterion: path -> name."""
        return {entry.path: self.suite.registry.label(entry.id, language) for entry in self.entries}

    def find(self, name: str) -> str:
        """The path of a criterion by its path, its id, its name or its label in any language; "" for the overall score.

        Raises:
            CriteriaError: there is none of that name, or several.
        """
        wanted = fold_name(name)
        found = [entry.path for entry in self.entries if wanted in _names_of(entry)]
        if len(found) == 1:
            return found[0]
        if not found and wanted in OVERALL_NAMES:
            return OVERALL
        allowed = name_list([*(entry.name for entry in self.entries), "global"], 20)
        fault = "is the name of several criteria: give category.subcategory.name" if found else "is no criterion"
        raise CriteriaError(f"{name!r} {fault} of the suite {self.suite.name}: use one of {allowed}")

    def score(self, text: str) -> float:
        """Read a score written with a point or a comma.

        Raises:
            UserError: it is no number, or not on the scale.
        """
        bare = text.strip()
        value = float(bare.replace(",", ".")) if _NUMBER.fullmatch(bare) else math.nan
        if not self.scale.contains(value):
            raise UserError(f"{bare[:40]!r} is not a score: give a number from {self.scale.min:g} to {self.scale.max:g}")
        return value

    def overall(self, scores: dict[str, float]) -> float | None:
        """A rater's overall score; None unless every weighted criterion has a score."""
        if not all(path in scores for path, share in self.shares.items() if share > 0):
            return None
        return math.fsum(share * scores[path] for path, share in self.shares.items() if share > 0)

    def guides(self, language: str) -> dict[str, Criterion]:
        """Each criterion as judges read it, in a language or the suite's own: path -> criterion.

        Raises:
            ConfigError: a prompt file is missing or wrong.
        """
        ids = tuple(entry.id for entry in self.entries)
        loaded = load_criteria(
            self.suite.registry, ids, self.suite.criteria_folder, language, self.suite.own_language, self.suite.scale
        )
        for fault in loaded.faults:
            raise fault
        return {criterion.path: criterion for criterion in loaded.criteria}


def rubric_of(suite: Suite) -> Rubric:
    """The rubric of a suite: the criteria of its default selection.

    Raises:
        CriteriaError: the selection names criteria that the suite does not have.
    """
    ids = select_criteria(suite.config.criteria.default_selection, suite.registry)
    entries = tuple(suite.registry.entries[key] for key in ids)
    leaves = [
        Leaf(
            criterion=entry.path,
            category=entry.category,
            subcategory=entry.subcategory,
            name=entry.name,
            score=None,
            scored=0,
            planned=0,
        )
        for entry in entries
    ]
    tree, _ = score_tree(leaves, suite.weights)
    return Rubric(suite=suite, entries=entries, shares=_shares_of(tree, 1.0))


def _shares_of(node: Node, share: float) -> dict[str, float]:
    if not node.parts:
        return {node.name: share}
    found: dict[str, float] = {}
    for part in node.parts:
        found |= _shares_of(part, share * part.weight)
    return found


def _names_of(entry: RegistryEntry) -> set[str]:
    return {fold_name(name) for name in (entry.id, entry.path, entry.name, *entry.label.texts.values())} - {""}
