"""What is asked of the ledger, and the counts that it gives: filters, periods and sums."""

from datetime import datetime

from msgspec import Struct

from areopage.gate.records import GateVerdict
from areopage.ledger.records import Channel


class TraceFilter(Struct, frozen=True, kw_only=True):
    """Which traces are wanted; None and () mean any. `since` and `until` are UTC, `until` is exclusive.

    `unlabelled`: only those that no rater has said of whether the documents support them.
    """

    since: datetime | None = None
    until: datetime | None = None
    channels: tuple[Channel, ...] = ()
    verdict: GateVerdict | None = None
    collection: str | None = None
    prompt: str | None = None
    unlabelled: bool = False


class TraceSummary(Struct, frozen=True, kw_only=True):
    """Counts of a period, formed by the database.

    Args:
        reasons: how many traces each reason decided, the most frequent first.
        confidences, p_unsupported: histograms of 20 equal bins over [0, 1].
        labelled: traces with labels of grounding; `ungrounded_delivered`: those of them that were delivered though people say
            that the documents do not support them, or partly.
    """

    traces: int
    verdicts: dict[str, int]
    modes: dict[str, int]
    reasons: dict[str, int]
    languages: dict[str, int]
    confidences: tuple[int, ...]
    p_unsupported: tuple[int, ...]
    labelled: int
    ungrounded_delivered: int
