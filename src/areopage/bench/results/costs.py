"""What a run cost, by model: the calls of this run to its target, and the judgments that its scores use."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from areopage.bench.conversations.children import CHILD_SOURCE
from areopage.bench.results.run_view import RunView


class ModelCost(Struct, frozen=True, kw_only=True):
    """What the calls to one model cost.

    Args:
        role: who was asked; `name` is the judge's, or the model's reference.
        cost: in `currency`; null where no price is known.
        listed: the day on which the provider's list price was noted, as YYYY-MM-DD; "" for a price of the configuration.
    """

    role: Literal["target", "child", "judge"]
    name: str
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    currency: str
    listed: str = ""


def run_costs(view: RunView) -> tuple[ModelCost, ...]:
    """What the target, the model that plays children and each judge that is a model cost."""
    found: list[ModelCost] = []
    for calls in view.calls:
        is_child = calls.source.startswith(CHILD_SOURCE)
        asked = view.spec.child if is_child else view.spec.target
        price = asked.price if asked is not None else None
        found.append(
            ModelCost(
                role="child" if is_child else "target",
                name=calls.source.removeprefix(CHILD_SOURCE),
                prompt_tokens=calls.prompt_tokens,
                completion_tokens=calls.completion_tokens,
                cost=price.of(calls.prompt_tokens, calls.completion_tokens) if price is not None else None,
                currency=price.currency if price is not None else "",
                listed=price.listed if price is not None else "",
            )
        )
    prices = {judge.name: judge.price for judge in view.spec.judges if judge.is_model}
    for health in view.health:
        if health.judge in prices:
            price = prices[health.judge]
            found.append(
                ModelCost(
                    role="judge",
                    name=health.judge,
                    prompt_tokens=health.prompt_tokens,
                    completion_tokens=health.completion_tokens,
                    cost=health.cost,
                    currency=health.currency,
                    listed=price.listed if price is not None else "",
                )
            )
    return tuple(found)


def totals(costs: Sequence[ModelCost]) -> dict[str, float]:
    """The known costs together, by currency."""
    found: dict[str, float] = {}
    for one in costs:
        if one.cost is not None and one.currency:
            found[one.currency] = found.get(one.currency, 0.0) + one.cost
    return found
