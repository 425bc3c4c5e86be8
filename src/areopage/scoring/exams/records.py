"""The records of an exam: what a judge said of the rows of a gold set, its figures, and the marks that it must reach."""

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

MarkName = Literal["separation", "error", "parsed", "consistency", "sensitivity"]
MarkState = Literal["met", "not_met", "open"]
ExamState = Literal["qualified", "not_qualified"]
EXAM_NOT_APPLICABLE: Final = "not_applicable"
Said = float | Literal["not_applicable"] | None
"""What one call says: a score on the criterion's scale, that the criterion does not apply, or None: no verdict."""

LOW = 0.4
"""A band that ends at or below this share of the scale is a low one: such an answer fails by the default limit of failures."""
HIGH = 0.7
"""A band that begins at or above this share of the scale is a high one."""


class Marks(Struct, frozen=True, kw_only=True):
    """What a judge must reach on each criterion. The whole 95 % interval of a figure must lie on the right side of its mark.

    `docs/reference/scoring.md` states the reasons for the values. Distances are shares of the scale.

    Args:
        separation: the least chance that an answer with a high band is scored above one with a low band.
        error: the greatest mean distance of a score from the band.
        parsed: the least share of rows on which every call gave a verdict.
        consistency: the greatest mean difference between two passes.
        sensitivity: the greatest mean change of a score by a change of the case that must not matter.
    """

    separation: float = 0.8
    error: float = 0.15
    parsed: float = 0.8
    consistency: float = 0.25
    sensitivity: float = 0.3


class ExamItem(Struct, frozen=True, kw_only=True):
    """What one judge said of one gold row on one criterion.

    Args:
        low, high: the band, on the criterion's scale; None where the criterion does not apply to the row.
        may_not_apply: "does not apply" is right, too.
        checked: a person has checked the row.
        passes: what each pass said of the row.
        variants: what the first pass said of the changed row, by the name of the change.
    """

    row: str
    language: str
    low: float | None
    high: float | None
    may_not_apply: bool = False
    checked: bool = False
    passes: tuple[Said, ...]
    variants: dict[str, Said] = {}


class Figure(Struct, frozen=True, kw_only=True):
    """A figure with its 95 % interval over `of` rows; None where it cannot be computed."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    of: int = 0


class Mark(Struct, frozen=True, kw_only=True):
    """Whether a figure reaches its mark.

    Args:
        state: `open` where the interval holds the mark, or there is no figure.
        needed: how many more rows would settle it if the figure stayed; None where it is settled, or none would do.
        needed_low, needed_high: of these the rows with a low and with a high band, where the mark is about both.
    """

    name: MarkName
    state: MarkState
    limit: float
    figure: Figure
    needed: int | None = None
    needed_low: int = 0
    needed_high: int = 0


class CriterionExam(Struct, frozen=True, kw_only=True):
    """How a judge did on one criterion of a gold set. Distances are shares of the criterion's scale.

    Args:
        state: qualified where all marks are met.
        rows: with a band; `low_rows` and `high_rows` are those with a low and with a high one, `checked_rows` those that a person
            has checked.
        passes: how often each row was judged.
        separation: the chance that a high row is scored above a low one (AUC).
        kappa: quadratic κ of low, middle and high, of the rows whose band lies in one of them.
        error, bias: mean distance of a score from its band, and the same with its sign: over 0 the judge scores too high.
        inside: the share of rows with a score inside the band.
        parsed: the share of rows on which every call gave a verdict.
        consistency: mean difference between two passes on one row; no value where each row is judged once.
        sensitivity: mean change of a score by a harmless change; `shifts` with its sign, by change.
        applicability: the share of rows that the criterion does not apply to on which the judge says so.
        marks: in the order of `Marks`; without the consistency of a judge that is code.
    """

    criterion: str
    state: ExamState
    rows: int
    low_rows: int
    high_rows: int
    passes: int
    separation: Figure
    kappa: Figure
    error: Figure
    bias: Figure
    inside: Figure
    parsed: Figure
    consistency: Figure
    sensitivity: Figure
    shifts: dict[str, Figure]
    applicability: Figure
    marks: tuple[Mark, ...]
    checked_rows: int = 0

    @property
    def is_provisional(self) -> bool:
        """Whether some band is one that no person has checked."""
        return self.checked_rows < self.rows

    @property
    def missed(self) -> tuple[Mark, ...]:
        """The marks that are not met or open, the former first."""
        return tuple(sorted((mark for mark in self.marks if mark.state != "met"), key=lambda mark: mark.state != "not_met"))


def is_undecided(missed: Sequence[Mark]) -> bool:
    """Whether an exam that is not passed is not failed either: each mark that is not met is open."""
    return bool(missed) and all(mark.state == "open" for mark in missed)


DriftKind = Literal["level", "answers", "verdicts"]
"""`level`: scores rose or fell. `answers`: rows changed, each in its own way. `verdicts`: more or fewer calls gave a score."""


class Look(Struct, frozen=True, kw_only=True):
    """What one round adds.

    Args:
        rounds: how many rounds there are, this one included.
        evidence: the e-value of all rounds so far; it never falls. At most 10¹².
        kind, window: the comparison that says most on this look, and of how many latest rounds.
    """

    rounds: int
    evidence: float
    kind: DriftKind
    window: int


class Shift(Struct, frozen=True, kw_only=True):
    """How far the latest scores lie from those before, in points.

    Args:
        value: the mean difference by row, later − earlier; None where no row has a score on both sides.
        low, high: the 95 % interval of a shift of all rows; it holds on all looks and windows at once.
        apart: the mean distance of a row's two means, in either direction.
        rows: with a score on both sides.
        unscored, unscored_before: the share of calls without a score among the latest, and before, in [0, 1].
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    apart: float | None = None
    rows: int = 0
    unscored: float = 0.0
    unscored_before: float = 0.0
