"""A budget of several processes: together they never spend more, use it whole, and stop when no call fits any more."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import update

from areopage.bench.budget import Budget, SharedBudget
from areopage.errors import BudgetSpent
from areopage.ledger.store import Ledger
from areopage.ledger.tables.schema import budget_parts
from areopage.ledger.write.shares import BudgetPart, BudgetParts, free_part
from areopage.models.port import Completion, Message
from areopage.models.prices import Price
from areopage.models.reference import ModelReference
from servers.new_ledger import ledger_at

MODEL = ModelReference.parse("openai:paid")
PRICE = Price(input_per_million=0.0, output_per_million=1_000_000.0, currency="USD")  # a token of an answer costs 1
PROMPT = (Message("user", "x"),)
TEN = {"max_tokens": 10}
LIMIT = 200.0


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    if request.param == "sqlite":
        opened = ledger_at(tmp_path / "ledger.db")
    else:
        opened = Ledger.open(request.getfixturevalue("postgres_ledger"))
    yield opened
    opened.close()


def shared(ledger: Ledger, spent: float = 0.0, limit: float = LIMIT) -> SharedBudget:
    """The budget as one process has it."""
    return SharedBudget(Budget(limit, "USD", {MODEL: PRICE}), BudgetParts(ledger, ["run"], lambda: spent))


async def spend(budget: SharedBudget, tokens: int, calls: list[int]) -> None:
    """Make calls one after the other until the budget is spent."""
    while True:
        try:
            set_aside = await budget.begin(MODEL, PROMPT, TEN)
        except BudgetSpent:
            return
        await asyncio.sleep(0.001)
        budget.end(MODEL, set_aside, Completion(text="x", prompt_tokens=1, completion_tokens=tokens))
        calls.append(tokens)


@given(
    st.integers(10, 100),
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 30), st.integers(0, 30), st.booleans()), max_size=60),
)
def test_processes_never_set_aside_more_than_is_left_in_any_order_of_renewals(
    limit: int, steps: list[tuple[str, int, int, bool]]
) -> None:
    told: dict[str, BudgetPart] = {}
    held: dict[str, tuple[float, float]] = {}  # what each has really spent and set aside
    for holder, begun, ended, wants in steps:
        spent, aside = held.get(holder, (0.0, 0.0))
        most = told[holder].free + told[holder].set_aside + told[holder].spent if holder in told else 0.0
        aside += min(begun, max(0.0, most - spent - aside))
        cost = min(ended, aside)
        spent, aside = spent + cost / 2, aside - cost
        held[holder] = spent, aside
        assert sum(map(sum, held.values())) <= limit + 1e-9
        others = [one for name, one in told.items() if name != holder]
        left = limit - spent - sum(one.spent for one in others)
        mine = BudgetPart(holder=holder, spent=spent, set_aside=aside, wants=wants)
        free = free_part(mine, others, left=left, wanted=float(begun))
        told[holder] = BudgetPart(holder=holder, spent=spent, set_aside=aside, free=free, wants=wants)


def test_several_processes_together_spend_the_budget_and_no_more(ledger: Ledger) -> None:
    async def process(tokens: int, calls: list[int]) -> float:
        budget = shared(ledger, spent=20.0)
        async with budget.kept():
            await asyncio.gather(*(spend(budget, tokens, calls) for _ in range(3)))
        return budget.spent

    async def story() -> tuple[list[int], list[float]]:
        calls = list[int]()
        return calls, list(await asyncio.gather(process(7, calls), process(9, calls), process(4, calls)))

    calls, told = asyncio.run(story())
    assert LIMIT - 10 < 20 + sum(calls) <= LIMIT
    assert max(told) == 20 + sum(calls)


def test_a_process_that_makes_no_calls_leaves_the_budget_to_the_others(ledger: Ledger) -> None:
    async def story() -> int:
        busy, idle, calls = shared(ledger), shared(ledger), list[int]()
        async with idle.kept(), busy.kept():
            await spend(busy, 10, calls)
        return sum(calls)

    assert asyncio.run(story()) == LIMIT


def test_a_call_waits_for_one_of_another_process_that_may_cost_less(ledger: Ledger) -> None:
    async def story() -> list[str]:
        one, other, told = shared(ledger, limit=15.0), shared(ledger, limit=15.0), list[str]()

        async def later() -> None:
            await other.begin(MODEL, PROMPT, TEN)
            told.append("second began")

        async with one.kept(), other.kept():
            first = await one.begin(MODEL, PROMPT, TEN)
            waiting = asyncio.create_task(later())
            await asyncio.sleep(0.3)
            told.append("first ends")
            one.end(MODEL, first, Completion(text="x", prompt_tokens=1, completion_tokens=5))
            await waiting
        return told

    assert asyncio.run(story()) == ["first ends", "second began"]


def test_what_is_not_in_the_ledger_counts_in_all_parts_of_a_command(ledger: Ledger) -> None:
    async def part(budget: SharedBudget) -> None:
        async with budget.kept():
            budget.end(MODEL, await budget.begin(MODEL, PROMPT, TEN), None)  # it timed out

    budget = shared(ledger, spent=20.0)
    for spent in (30, 40):
        asyncio.run(part(budget))
        assert budget.spent == spent


def test_what_a_killed_process_has_spent_counts_and_its_part_returns(ledger: Ledger) -> None:
    def parts() -> BudgetParts:
        return BudgetParts(ledger, ["run"], lambda: 20.0)

    def silence() -> None:
        with ledger.engine.begin() as connection:
            connection.execute(update(budget_parts).values(seen_at=0.0))

    dead, alive = parts(), parts()
    assert dead.renew(limit=LIMIT, spent=0.0, set_aside=0.0, wanted=10.0).free == LIMIT - 20
    assert alive.renew(limit=LIMIT, spent=0.0, set_aside=0.0, wanted=10.0).free == 0
    dead.renew(limit=LIMIT, spent=30.0, set_aside=40.0, wanted=10.0)
    assert alive.renew(limit=LIMIT, spent=0.0, set_aside=0.0, wanted=10.0).free == (LIMIT - 90) / 2
    silence()
    third = parts()
    assert third.renew(limit=LIMIT, spent=0.0, set_aside=0.0, wanted=10.0).free == LIMIT - 20  # the ledger tells again
    again = alive.renew(limit=LIMIT, spent=5.0, set_aside=0.0, wanted=10.0)
    assert (again.is_new, again.others) == (True, 20.0)
    third.renew(limit=LIMIT, spent=30.0, set_aside=40.0, wanted=10.0)
    with ledger.engine.begin() as connection:
        connection.execute(update(budget_parts).where(budget_parts.c.spent == 30.0).values(seen_at=0.0))
    renewed = alive.renew(limit=LIMIT, spent=0.0, set_aside=0.0, wanted=10.0)
    assert (renewed.others, renewed.free) == (50.0, LIMIT - 50)
