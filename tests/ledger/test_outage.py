"""A ledger that is gone for a while is told of once, waited for with growing pauses, and given up after the patience."""

from itertools import pairwise

import pytest

from areopage.errors import StorageError
from areopage.ledger.write.outage import LONGEST_PAUSE, LedgerOutage

GONE = StorageError("postgresql://db/areopage: connection refused")


def test_an_outage_is_told_once_and_so_is_its_end() -> None:
    told: list[str] = []
    outage = LedgerOutage(told.append)
    outage.over()
    assert not told
    pauses = [outage.met(GONE) for _ in range(10)]
    assert all(before < after or after == LONGEST_PAUSE for before, after in pairwise(pauses))
    outage.over()
    outage.over()
    assert told == [f"{GONE}: trying again until the ledger can be used", "the ledger can be used again"]


def test_each_outage_begins_with_a_short_pause_and_a_patience_of_its_own() -> None:
    now = 0.0
    outage = LedgerOutage(lambda _: None, patience=60.0, clock=lambda: now)
    first = outage.met(GONE)
    now = 59.0
    outage.met(GONE)
    outage.over()
    now = 61.0
    assert outage.met(GONE) == first
    now = 121.0
    with pytest.raises(StorageError, match="connection refused"):
        outage.met(GONE)
