"""Answers on their way out, and what became of them."""

from collections.abc import Iterator, Sequence

from areopage.ledger.gate_records import Exchange, ExchangeFilter, ExchangeSummary, GroundingLabel, Release
from areopage.ledger.store import Ledger


class Exchanges:
    """The tables `exchanges`, `exchange_reasons`, `grounding_labels`, `releases`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def add(self, exchanges: Sequence[Exchange]) -> None:
        """Append, in one transaction; those with the verdict human_review join the review queue (why: `held`) unless imported.

        An id that is there already stays as it is.
        """
        raise NotImplementedError

    def get(self, id: str) -> Exchange | None:
        """One of them by its id."""
        raise NotImplementedError

    def list(self, filter: ExchangeFilter, *, limit: int = 50, before: int | None = None) -> Sequence[Exchange]:
        """The newest first; `before` is the number of the last one of the page before."""
        raise NotImplementedError

    def each(self, filter: ExchangeFilter) -> Iterator[Exchange]:
        """All of them in the order they came, read in portions: memory does not grow with their number."""
        raise NotImplementedError

    def summary(self, filter: ExchangeFilter) -> ExchangeSummary:
        """Counts; cheap on a million rows."""
        raise NotImplementedError

    def label(self, label: GroundingLabel) -> None:
        """Append a label; the item in the review queue is done once enough people labelled it."""
        raise NotImplementedError

    def labels(self, exchange_ids: Sequence[str]) -> dict[str, Sequence[GroundingLabel]]:
        """The label of each rater that counts (his latest), by exchange."""
        raise NotImplementedError

    def settle(self, release: Release) -> bool:
        """Release or refuse a held-back answer; False where somebody settled it before (nothing changes then)."""
        raise NotImplementedError

    def release(self, exchange_id: str) -> Release | None:
        """How a held-back answer stands; `waiting` where nobody settled it; None: no such id, or it was not held back."""
        raise NotImplementedError

    def erase(self, exchange_id: str) -> bool:
        """Remove all texts of an exchange (and its labels' notes, its release), down to the bytes; its counts stay."""
        raise NotImplementedError

    def prune(self, days: int) -> int:
        """Erase the texts of exchanges that are older; returns how many."""
        raise NotImplementedError
