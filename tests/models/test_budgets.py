"""What a call that brought no answer counts for in a budget."""

import asyncio
from collections.abc import Sequence

import pytest

from areopage.bench.budget import Budget
from areopage.errors import CallError, CallRejected, CallTimedOut, CallUnreachable
from areopage.models.port import Completion, Message, Options
from areopage.models.prices import Price
from areopage.models.reference import ModelReference
from areopage.models.retry import Calls, Retrying

MODEL = ModelReference.parse("openai:gpt")
MESSAGES = (Message("user", "x" * 2_000),)


class Failing:
    """A model whose calls all fail alike."""

    reference = MODEL

    def __init__(self, fault: CallError) -> None:
        self.fault = fault

    async def generate(self, messages: Sequence[Message], options: Options, schema: object = None, **more: object) -> Completion:
        raise self.fault


@pytest.mark.parametrize(
    ("fault", "is_counted"),
    [
        (CallTimedOut("no answer within 600 s"), True),
        (CallTimedOut("no connection within 5 s", silent=True), False),
        (CallUnreachable("429", retry_after=1.0), False),
        (CallUnreachable("refused", unconnected=True), False),
        (CallRejected("400", status=400), False),
    ],
)
def test_a_call_counts_in_the_budget_only_where_the_server_may_have_worked_on_it(fault: CallError, is_counted: bool) -> None:
    budget = Budget(10.0, "USD", {MODEL: Price(input_per_million=1.0, output_per_million=1.0, currency="USD")})
    guarded = Retrying(Failing(fault), Calls(attempts=1, patience=0.0, outage=0.0), budget=budget)  # type: ignore[arg-type]
    with pytest.raises(CallError):
        asyncio.run(guarded.generate(MESSAGES, {"max_tokens": 100}))
    assert (budget.spent > 0) == is_counted
    assert budget.left == pytest.approx(10.0 - budget.spent)
