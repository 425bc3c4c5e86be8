"""All processes together stay within a server's limits, and use them whole."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.ledger.store import Ledger
from areopage.ledger.write.shares import EndpointShare, EndpointShares, share_of

LIMITS = st.integers(1, 40)
STEPS = st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 30)), max_size=60)


@given(LIMITS, STEPS)
def test_parts_never_exceed_the_limit_in_any_order_of_renewals(limit: int, steps: list[tuple[str, int]]) -> None:
    held: dict[str, EndpointShare] = {}
    for holder, wanted in steps:
        others = [one for name, one in held.items() if name != holder]
        share = share_of(holder, others, limit=limit, wanted=wanted)
        in_use = min(wanted, held[holder].slots) if holder in held else 0  # calls that are open go on
        held[holder] = EndpointShare(holder=holder, slots=max(share.slots, in_use), rate=share.rate, wanted=wanted)
        assert sum(one.slots for one in held.values()) <= limit
        assert sum(one.rate for one in held.values()) <= 1.0 + 1e-9


@given(LIMITS, st.integers(1, 6))
def test_processes_that_want_much_come_to_equal_parts_of_the_whole_limit(limit: int, count: int) -> None:
    held = {str(number): EndpointShare(holder=str(number), wanted=100) for number in range(count)}
    for _ in range(2):
        for name in held:
            others = [one for other, one in held.items() if other != name]
            held[name] = share_of(name, others, limit=limit, wanted=100)
    slots = [one.slots for one in held.values()]
    assert sum(slots) == limit
    assert max(slots) - min(slots) <= 1
    assert sum(one.rate for one in held.values()) == pytest.approx(1.0)


def test_a_process_without_demand_holds_nothing_and_leaves_all_to_others() -> None:
    idle = share_of("idle", [], limit=8, wanted=0)
    assert (idle.slots, idle.rate) == (0, 0.0)
    assert share_of("busy", [idle], limit=8, wanted=20).slots == 8
    modest = EndpointShare(holder="modest", slots=2, rate=0.5, wanted=2)
    assert share_of("busy", [modest], limit=8, wanted=20).slots == 6


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    from servers.new_ledger import ledger_at

    if request.param == "sqlite":
        opened = ledger_at(tmp_path / "ledger.db")
    else:
        opened = Ledger.open(request.getfixturevalue("postgres_ledger"))
    yield opened
    opened.close()


def test_the_part_of_a_silent_process_returns_after_a_while(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    shares = EndpointShares(ledger)
    assert shares.renew("lab http://lab", "dead", limit=4, wanted=9, in_use=0).slots == 4
    assert shares.renew("lab http://lab", "alive", limit=4, wanted=9, in_use=0).slots == 0
    assert shares.renew("other http://other", "alive", limit=4, wanted=9, in_use=0).slots == 4
    monkeypatch.setattr(EndpointShares, "silence", -1.0)
    assert shares.renew("lab http://lab", "alive", limit=4, wanted=9, in_use=0).slots == 4
    shares.leave("alive")
    assert shares.renew("lab http://lab", "third", limit=4, wanted=1, in_use=0).slots == 4
