"""Records of a run beside another one of the same target and suite."""

from datetime import datetime

from msgspec import Struct

from areopage.bench.panels import PartDifference
from areopage.bench.target_prompts import PromptMode
from areopage.scoring import FailureCount, Interval, PairedDifference, PairedFailures, Verdict


class OtherRun(Struct, frozen=True, kw_only=True):
    """A run that another one is compared with."""

    run_id: str
    created_at: datetime
    mode: PromptMode


class RunOutcome(Struct, frozen=True, kw_only=True):
    """What came of a run.

    Args:
        verdict: by the floors of its own suite; None where that sets none.
        coverage: the share of judged passes.
        first, by_criterion: its failures, as in `Failures`.
    """

    verdict: Verdict | None
    score: float | None
    interval: Interval | None
    coverage: float
    first: FailureCount
    by_criterion: dict[str, FailureCount]


class RunComparison(Struct, frozen=True, kw_only=True):
    """A run beside another one.

    Args:
        differs: what keeps them from being compared; then all below is None or empty.
        target_changes: what else is known of the target is not the same: `digest`, `options`, `system_prompt`.
        outcome: of the other run.
        failures: of the cases on criteria that count first: this run is the first side, the other one the second.
        score: the difference of the cases' final scores, this run minus the other one.
        new, mended: the criteria that a case fails here and not there, and there and not here, by the case's id; both runs have
            a score for each.
    """

    other: OtherRun
    differs: tuple[PartDifference, ...] = ()
    target_changes: tuple[str, ...] = ()
    outcome: RunOutcome | None = None
    failures: PairedFailures | None = None
    score: PairedDifference | None = None
    new: dict[str, tuple[str, ...]] = {}
    mended: dict[str, tuple[str, ...]] = {}


class RunHistory(Struct, frozen=True, kw_only=True):
    """What a run is compared with.

    Args:
        earlier: the last complete run before it, in the same mode; None where there is none.
        other_mode: the newest complete run in the other mode that it can be compared with.
    """

    earlier: RunComparison | None
    other_mode: RunComparison | None
