"""The budget of a run in money: what is set aside for a call, when calls wait, and when the run stops."""

import asyncio

import pytest

from areopage.bench.budget import Budget, PaidModel
from areopage.errors import BudgetSpent, UserError
from areopage.models.port import Completion, Message
from areopage.models.prices import ASSUMED_MOST, Price
from areopage.models.reference import ModelReference

MODEL = ModelReference.parse("openai:paid")
PRICE = Price(input_per_million=0.0, output_per_million=1_000_000.0, currency="USD")  # a token of an answer costs 1
PROMPT = (Message("user", "x"),)
TEN = {"max_tokens": 10}


def answered(tokens: int | None) -> Completion:
    return Completion(text="x", prompt_tokens=1, completion_tokens=tokens)


def test_a_call_costs_at_worst_the_longest_answer_that_its_options_allow() -> None:
    assert PRICE.worst_of(PROMPT, TEN) == 10
    assert PRICE.worst_of(PROMPT, {"num_predict": 7, "max_tokens": 9}) == 7
    assert PRICE.worst_of(PROMPT, {"num_predict": -1}) == ASSUMED_MOST
    prompts = Price(input_per_million=1_000_000.0, output_per_million=0.0, currency="USD")
    assert prompts.worst_of((Message("user", "é" * 50),), {}) == 50  # 100 bytes, two for each token


def test_a_call_that_does_not_fit_waits_for_open_ones_and_begins_when_they_cost_less() -> None:
    async def story() -> list[str]:
        budget, told = Budget(15.0, "USD", {MODEL: PRICE}), list[str]()

        async def later() -> None:
            await budget.begin(MODEL, PROMPT, TEN)
            told.append("second began")

        first = await budget.begin(MODEL, PROMPT, TEN)
        waiting = asyncio.create_task(later())
        await asyncio.sleep(0)
        told.append("first ends")
        budget.end(MODEL, first, answered(4))
        await waiting
        assert budget.spent == 4
        return told

    assert asyncio.run(story()) == ["first ends", "second began"]


def test_a_call_that_does_not_fit_with_no_call_open_stops_the_run_and_says_what_is_spent() -> None:
    async def story() -> None:
        budget = Budget(15.0, "USD", {MODEL: PRICE}, spent=2.0)
        budget.end(MODEL, await budget.begin(MODEL, PROMPT, TEN), answered(8))
        with pytest.raises(BudgetSpent, match=r"the budget of 15 USD is spent: 10.0000 USD so far, and the next call .* 10.0000"):
            await budget.begin(MODEL, PROMPT, TEN)
        budget.end(MODEL, await budget.begin(MODEL, PROMPT, {"max_tokens": 5}), answered(5))
        assert budget.spent == 15

    asyncio.run(story())


def test_a_call_whose_tokens_are_not_counted_counts_with_all_that_was_set_aside() -> None:
    async def story() -> Budget:
        budget = Budget(100.0, "USD", {MODEL: PRICE})
        budget.end(MODEL, await budget.begin(MODEL, PROMPT, TEN), answered(None))
        budget.end(MODEL, await budget.begin(MODEL, PROMPT, TEN), None)
        budget.cancel(await budget.begin(MODEL, PROMPT, TEN))
        return budget

    assert asyncio.run(story()).spent == 20


def test_a_budget_needs_the_price_of_every_paid_model_in_one_currency() -> None:
    euros = Price(input_per_million=1.0, output_per_million=1.0, currency="EUR")
    other = ModelReference.parse("openai:other")
    with pytest.raises(UserError, match="--budget needs the price of every model that costs money, and none is known of beta"):
        Budget.for_models(5.0, [PaidModel("alpha", MODEL, PRICE, True), PaidModel("beta", other, None, True)], {})
    with pytest.raises(UserError, match="prices in one currency, and these are in EUR, USD"):
        Budget.for_models(5.0, [PaidModel("alpha", MODEL, PRICE, True), PaidModel("beta", other, euros, True)], {})
    with pytest.raises(UserError, match="nothing to limit"):
        Budget.for_models(5.0, [PaidModel("alpha", MODEL, None, False)], {})
    budget = Budget.for_models(
        5.0, [PaidModel("alpha", MODEL, PRICE, True), PaidModel("local", other, None, False)], {"USD": 1.5}
    )
    assert (budget.currency, budget.spent) == ("USD", 1.5)
    assert budget.is_paid(MODEL) and not budget.is_paid(other)
