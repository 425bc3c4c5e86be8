"""What a run cost: by the target and each judge, and in all."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from areopage.bench.conversations.children import CHILD_SOURCE
from areopage.bench.figures.figure import Figure, Page
from areopage.bench.results.run_data import RunData
from areopage.locales import MISSING, Locale
from areopage.records import record_from
from areopage.report import Block, Cell, Paragraph, Section, Span, Table, columns, rows


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


def _costs(view: RunData) -> tuple[ModelCost, ...]:
    """The costs by model: of the target and the model that plays children, those of `target_calls`; of judges, those of the
    judgments that the scores use, whichever run asked for them."""
    costs: list[ModelCost] = []
    for calls in view.calls:
        is_child = calls.source.startswith(CHILD_SOURCE)
        asked = view.spec.child if is_child else view.spec.target
        price = asked.price if asked is not None else None
        costs.append(
            record_from(
                ModelCost,
                calls,
                role="child" if is_child else "target",
                name=calls.source.removeprefix(CHILD_SOURCE),
                cost=price.of(calls.prompt_tokens, calls.completion_tokens) if price is not None else None,
                currency=price.currency if price is not None else "",
                listed=price.listed if price is not None else "",
            )
        )
    prices = {judge.name: judge.price for judge in view.spec.judges if judge.is_model}
    for health in view.health:
        if health.judge in prices:
            price = prices[health.judge]
            listed = price.listed if price is not None else ""
            costs.append(record_from(ModelCost, health, role="judge", name=health.judge, listed=listed))
    return tuple(costs)


def totals(costs: Sequence[ModelCost]) -> dict[str, float]:
    """The known costs together, by currency."""
    total: dict[str, float] = {}
    for cost in costs:
        if cost.cost is not None and cost.currency:
            total[cost.currency] = total.get(cost.currency, 0.0) + cost.cost
    return total


def _section(view: RunData, page: Page) -> Section | None:
    costs, locale = COSTS.of(view), page.locale
    if not costs:
        return None
    heads = columns(locale.say("tokens"), locale.say("cost"), first=locale.say("cost_of"))
    whole = locale.costs(totals(costs)) or MISSING
    last = (Cell(text=Span(locale.say("cost_whole"), "strong")), "", Cell(text=Span(whole, "strong")))
    table = [*(_row(cost, locale) for cost in costs), last]
    blocks: list[Block] = [Paragraph(text=locale.say("costs_lead"), look="soft"), Table(columns=heads, rows=rows(table))]
    if days := sorted({cost.listed for cost in costs if cost.listed}):
        blocks.append(Paragraph(text=locale.say("cost_listed", days=", ".join(days)), look="note"))
    if any(cost.cost is None for cost in costs):
        blocks.append(Paragraph(text=locale.say("cost_unstated"), look="note", console=True))
    return Section(id="costs", title=locale.say("costs"), blocks=tuple(blocks), console=True)


def _row(cost: ModelCost, locale: Locale) -> tuple[Cell | str, ...]:
    name = Cell(text=cost.name, under=(locale.say(f"cost_role_{cost.role}"),))
    tokens = f"{locale.whole(cost.prompt_tokens)} / {locale.whole(cost.completion_tokens)}"
    return (name, tokens, MISSING if cost.cost is None else locale.money(cost.cost, cost.currency))


COSTS: Figure[tuple[ModelCost, ...]] = Figure(id="costs", compute=_costs, stored="metadata", section=_section)
