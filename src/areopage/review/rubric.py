"""What raters are asked: the criteria of a suite or of a benchmark run on its scale, under any name that people give them."""

import math
import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from areopage.cases import fold_name
from areopage.criteria import Criterion, LocalText, RegistryEntry, Scale, load_criteria
from areopage.errors import CriteriaError, UserError, name_list
from areopage.jury import Panel
from areopage.ledger import Ledger
from areopage.scoring import Leaf, Profile, Weights, score_tree
from areopage.suites import Suite

OVERALL = ""
OVERALL_SPELLINGS = ("overall", "overall score", "global", "score_global", "note globale", "score", "ensemble", "total")
OVERALL_NAMES = frozenset(fold_name(name) for name in OVERALL_SPELLINGS)

_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)", re.ASCII)


class Rubric(Struct, frozen=True, kw_only=True):
    """The criteria that answers are judged by, and what each weighs in the overall score (the shares sum to 1).

    Args:
        suite: its name.
        language: of the criteria that name none.
        scale: of labels: the suite's.
        guides: each criterion as judges read it, in a language or the suite's own: path -> criterion.
        run_id: the benchmark run whose panel this is; "" for a suite.
    """

    suite: str
    language: str
    scale: Scale
    profile: Profile
    entries: tuple[RegistryEntry, ...]
    shares: dict[str, float]
    guides: Callable[[str], Mapping[str, Criterion]]
    run_id: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        """The criteria's paths in the suite's order."""
        return tuple(entry.path for entry in self.entries)

    def labels(self, language: str) -> dict[str, str]:
        """What people call each criterion: path -> name."""
        return {entry.path: entry.label.get(language) or entry.name.replace("_", " ") for entry in self.entries}

    def find(self, name: str) -> str:
        """The path of a criterion by its path, its id, its name or its label in any language; "" for the overall score.

        Raises:
            CriteriaError: there is none of that name, or several.
        """
        wanted = fold_name(name)
        names = {entry.path: (entry.id, entry.path, entry.name, *entry.label.texts.values()) for entry in self.entries}
        paths = [path for path, spellings in names.items() if wanted and wanted in map(fold_name, spellings)]
        if len(paths) == 1:
            return paths[0]
        if not paths and wanted in OVERALL_NAMES:
            return OVERALL
        allowed = name_list([*(entry.name for entry in self.entries), "global"], 20)
        fault = "is the name of several criteria: give category.subcategory.name" if paths else "is no criterion"
        raise CriteriaError(f"{name!r} {fault} of the suite {self.suite}: use one of {allowed}")

    def score(self, text: str) -> float:
        """Read a score written with a point or a comma; a user error where it is no number, or not on the scale."""
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

    @classmethod
    def of_suite(cls, suite: Suite) -> "Rubric":
        """The rubric of a suite: the criteria of its default selection."""
        ids = suite.registry.select(suite.config.criteria.default_selection)
        entries = tuple(suite.registry.entries[key] for key in ids)

        def guides(language: str) -> dict[str, Criterion]:
            loaded = load_criteria(suite.registry, ids, suite.criteria_folder, language, suite.own_language, suite.scale)
            for fault in loaded.faults:
                raise fault
            return {criterion.path: criterion for criterion in loaded.criteria}

        return cls(
            suite=suite.name,
            language=suite.own_language,
            scale=suite.scale,
            profile=Profile.named(suite.config.scoring.profile),
            entries=entries,
            shares=_shares(entries, suite.weights),
            guides=guides,
        )

    @classmethod
    def of_panel(cls, panel: Panel, run_id: str = "") -> "Rubric":
        """The rubric of a panel: its criteria with the texts that its judges read."""
        by_path = {criterion.path: criterion for criterion in panel.criteria}
        entries = tuple(
            RegistryEntry(
                id=criterion.id,
                version=criterion.version,
                category=criterion.category,
                subcategory=criterion.subcategory,
                name=criterion.name,
                label=LocalText({"": criterion.label} if criterion.label else {}),
                description=LocalText(),
                file="",
            )
            for criterion in by_path.values()
        )
        return cls(
            suite=panel.suite,
            language=panel.language,
            scale=panel.scale,
            profile=panel.profile,
            entries=entries,
            shares=_shares(entries, panel.weights),
            guides=lambda _: by_path,
            run_id=run_id,
        )

    @staticmethod
    def for_answer(ledger: Ledger, answer_id: str, suite: Suite) -> "Rubric":
        """The rubric of an answer: that of its benchmark run, else that of a suite."""
        panel = answer_panel(ledger, answer_id)
        return Rubric.of_panel(*panel) if panel else Rubric.of_suite(suite)


def answer_panel(ledger: Ledger, answer_id: str) -> tuple[Panel, str] | None:
    """The panel of the benchmark run that an answer is reviewed for, with the run's id; None for answers of no run."""
    item, evaluation = ledger.review_queue.item(answer_id), ledger.evaluations.get(answer_id)
    judged = evaluation.run_id if evaluation is not None and evaluation.origin == "bench" else ""
    run_id = (item.run_id if item else "") or judged
    run = ledger.panel(run_id, "bench") if run_id else None
    return (Panel.of(run), run.id) if run else None


def _shares(entries: tuple[RegistryEntry, ...], weights: Weights) -> dict[str, float]:
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
    return score_tree(leaves, weights)[0].criterion_shares
