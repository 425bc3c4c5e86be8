"""The figures of a period, as reports, pages and alerts take them. Scores are on the suite's scale."""

from datetime import date

from msgspec import Struct

from areopage.ledger.queries import JudgeDays, Period, Scope
from areopage.ledger.records import Evaluation


class Mean(Struct, frozen=True, kw_only=True):
    """A mean with its 95 % interval; None where there is nothing, the interval None under two answers."""

    answers: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None


class Change(Struct, frozen=True, kw_only=True):
    """A difference of two means (later minus earlier, or variant minus the other), its 95 % interval, and the two-sided p-value.

    `certain`: chance alone would make such a difference in less than one of twenty cases. All None where either side has under
    two answers.
    """

    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    certain: bool | None = None


class CriterionFigures(Struct, frozen=True, kw_only=True):
    """One criterion over a period; `criterion` "" is the global score.

    `grades` are counts (excellent, acceptable, weak). `histogram` counts answers in ten equal steps of the scale.
    `change` is against the period before, of the same length.
    """

    criterion: str
    label: str
    mean: Mean
    grades: tuple[int, int, int]
    histogram: tuple[int, ...]
    previous: Mean
    change: Change


class DayFigures(Struct, frozen=True, kw_only=True):
    """One day's mean per criterion ("" the global one); days without answers have no means."""

    day: date
    means: dict[str, Mean]
    weak: int


class VariantFigures(Struct, frozen=True, kw_only=True):
    """One side of an A/B test; `change` is its global mean minus that of the first variant by name (empty for that one)."""

    variant: str
    overall: Mean
    criteria: dict[str, Mean]
    weak: int
    change: Change


class JudgeFigures(Struct, frozen=True, kw_only=True):
    """What one judge did: `scored_share` is in [0, 1], `seconds_per_call` a mean, None without calls."""

    use: JudgeDays
    scored_share: float | None
    seconds_per_call: float | None


class PeriodFigures(Struct, frozen=True, kw_only=True):
    """Everything about a period.

    `coverage` is scored / (scored + unscored + failed + still waiting), None where there is none of them. Answers that
    sampling left out were not to be judged: they are `left_out`, and in no share. The counts of what waits are those of now,
    for any period. `cost` is by currency.
    """

    period: Period
    scope: Scope
    scored: int
    unscored: int
    failed: int
    waiting: int
    left_out: int
    coverage: float | None
    overall: CriterionFigures
    criteria: tuple[CriterionFigures, ...]
    days: tuple[DayFigures, ...]
    variants: tuple[VariantFigures, ...]
    judges: tuple[JudgeFigures, ...]
    worst: tuple[Evaluation, ...]
    seconds: float
    prompt_tokens: int
    completion_tokens: int
    cost: dict[str, float]
    qualification: str

    @property
    def planned(self) -> int:
        """The answers that were to be judged, which coverage is a share of."""
        return self.scored + self.unscored + self.failed + self.waiting

    @property
    def left_out_share(self) -> float:
        """The share of submitted answers that sampling left out, in [0, 1]."""
        return self.left_out / (self.planned + self.left_out) if self.left_out else 0.0
