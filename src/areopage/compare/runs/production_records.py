"""Records of a comparison of a run with production."""

from msgspec import Struct

from areopage.bench import PartDifference
from areopage.compare.runs.records import ComparedRun, Outcome
from areopage.compare.statistics.unpaired_levels import UnpairedLevel, UnpairedOutcomes
from areopage.ledger import Period


class ProductionSide(Struct, frozen=True, kw_only=True):
    """The answers of production that are compared.

    Args:
        panel: the id of the panel that judged them.
        answers: how many; `other_panels` were judged by other panels in the period, and are left out.
        not_sampled: answers of the period that sampling left out; where days were sampled unequally, `weighted` says so.
        source: only answers of this source; None: any but golden questions.
    """

    period: Period
    suite: str
    source: str | None
    panel: str
    answers: int
    other_panels: int
    not_sampled: int
    weighted: bool


class MixValue(Struct, frozen=True, kw_only=True):
    """How many cases of the run, and how many answers of production, have a value in a column; "" stands for none."""

    value: str
    run: int
    production: int


class Mix(Struct, frozen=True, kw_only=True):
    """The values of a column on both sides, the commonest in production first."""

    column: str
    values: tuple[MixValue, ...]

    @property
    def totals(self) -> tuple[int, int]:
        """How many cases and answers there are."""
        return sum(one.run for one in self.values), sum(one.production for one in self.values)


class Standardised(Struct, frozen=True, kw_only=True):
    """Both sides standardised to production's mix of a column: means of the means of its values.

    Args:
        values: those with enough cases on both sides.
        covered: production's share of these values, in [0, 1]; the other answers are left out of both sides.
    """

    column: str
    values: tuple[str, ...]
    covered: float
    difference: UnpairedOutcomes


class ProductionSlice(Struct, frozen=True, kw_only=True):
    """The cases and the answers with one value in a column."""

    column: str
    value: str
    cases: tuple[int, int]
    difference: UnpairedOutcomes


class ProductionComparison(Struct, frozen=True, kw_only=True):
    """A run against production; all differences are the run − production.

    Args:
        cases: of the run that are compared; `criteria`: that both have.
        left_out: the ids of the criteria that are not compared.
        differs: in what the panels differ, where this was allowed; empty where they are the same.
        levels: the nodes of the tree, the whole run first.
        missing: the columns that production's answers do not have.
    """

    run: ComparedRun
    production: ProductionSide
    cases: int
    criteria: int
    left_out: tuple[str, ...]
    differs: tuple[PartDifference, ...]
    outcome: Outcome
    levels: tuple[UnpairedLevel, ...]
    mixes: tuple[Mix, ...]
    standardised: tuple[Standardised, ...]
    slices: tuple[ProductionSlice, ...]
    missing: tuple[str, ...]

    def found(self, direction: str) -> tuple[UnpairedLevel, ...]:
        """The nodes whose failures or scores are worse, or better, beyond the corrected level."""
        return tuple(one for one in self.levels if direction in one.difference.directions)
