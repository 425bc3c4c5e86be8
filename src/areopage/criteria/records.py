"""The records of what is asked of a response."""

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from areopage.criteria.scopes import SINGLE, Scope
from areopage.digest import digest_of

Severity = Literal["critical", "serious", "minor"]
"""How grave it is that a case fails a criterion."""
SEVERITIES: tuple[Severity, ...] = ("critical", "serious", "minor")

GRAVE: tuple[Severity, ...] = ("critical", "serious")
"""A criterion of these is put to judges for every case: no rule takes it off one."""


class Scale(Struct, frozen=True):
    """The scale a judge answers on. `min` < `max`; where lower is better the score is flipped when mapped."""

    min: float = 0.0
    max: float = 5.0
    higher_is_better: bool = True

    def contains(self, score: float) -> bool:
        """Whether a score lies on the scale, ends included."""
        return self.min <= score <= self.max

    def reaches(self, score: float, limit: float) -> bool:
        """Whether a score lies between the worst end and a limit, ends included."""
        return score <= limit if self.higher_is_better else score >= limit

    def map_to(self, score: float, target: "Scale") -> float:
        """Map a score on this scale linearly to `target`, flipped where the two disagree on what is better."""
        share = (score - self.min) / (self.max - self.min)
        if self.higher_is_better != target.higher_is_better:
            share = 1.0 - share
        return target.min + share * (target.max - target.min)


class Criterion(Struct, frozen=True, kw_only=True):
    """One question to a judge. `id` is `category.subcategory.name__vX_Y`; texts are those of one language.

    `may_not_apply`: the judge may say that the criterion does not apply to a case.
    `scope`: what is judged, the response of a case, the whole conversation, or each reply within it.
    `severity`: of a failure; None where the registry states none.
    `critical_limit`: a score from the worst end of the run's scale to this one is a critical failure, whatever the severity.
    """

    id: str
    category: str
    subcategory: str
    name: str
    version: str
    language: str = "en"
    label: str = ""
    description: str = ""
    role: str
    task: str
    age_context: str = ""
    scoring_guide: str
    examples: str = ""
    output_format: str
    scale: Scale = Scale()
    may_not_apply: bool = False
    scope: Scope = "response"
    severity: Severity | None = None
    critical_limit: float | None = None

    def is_among(self, names: Sequence[str]) -> bool:
        """Whether one of some names means it: its id, its path, its sub-category or its category; all criteria without names."""
        levels = (self.id, self.path, f"{self.category}.{self.subcategory}", self.category)
        return not names or any(name in names for name in levels)

    @property
    def gravity(self) -> int:
        """Where it stands by its severity: 0 for a critical one; last without a severity."""
        return SEVERITIES.index(self.severity) if self.severity else len(SEVERITIES)

    @property
    def title(self) -> str:
        """The name that people read."""
        return self.label or self.name.replace("_", " ")

    @property
    def path(self) -> str:
        """`category.subcategory.name`, without the version."""
        return f"{self.category}.{self.subcategory}.{self.name}"

    def content(self) -> dict[str, Any]:
        """The parts that a judge is told; a judgment's key depends on them, and not on labels."""
        return {
            "id": self.id,
            "language": self.language,
            "scale": [self.scale.min, self.scale.max, self.scale.higher_is_better],
            "texts": [
                self.role,
                self.task,
                self.age_context,
                self.scoring_guide,
                self.examples,
                self.output_format,
            ],
            "may_not_apply": self.may_not_apply,
            **({"scope": self.scope} if self.scope not in SINGLE else {}),
        }


CheckType = Literal[
    "equals",
    "contains",
    "icontains",
    "contains-any",
    "contains-all",
    "icontains-any",
    "icontains-all",
    "starts-with",
    "is-json",
    "is-refusal",
]


class Check(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One exact check; `negated`: the response must not have what the check looks for."""

    type: CheckType
    values: tuple[str, ...] = ()
    negated: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError for a check without what it looks for, which every response would pass."""
        if not self.values and self.type not in ("is-json", "is-refusal"):
            raise ValueError(f"the check {self.type} needs values: write at least one")


def prompt_digest(prompt: str) -> str:
    """The key of a prompt's checks."""
    return digest_of(prompt)[:16]
