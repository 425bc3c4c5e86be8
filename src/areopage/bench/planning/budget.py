"""The budget of runs in money: what they have spent, and what every model that they ask costs."""

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from areopage.bench.budget import Budget, PaidModel, SharedBudget
from areopage.bench.conversations.children import CHILD_SOURCE
from areopage.bench.execution.context import AskedModels
from areopage.bench.spec import RunSpec
from areopage.ledger import Ledger, Run
from areopage.models import may_cost
from areopage.work import is_on_this_machine


def budget_of(limit: float, specs: Sequence[RunSpec], ledger: Ledger | None, runs: Sequence[Run] = ()) -> Budget:
    """The budget of some runs together; what they have spent before is part of it, and what other processes spend on them.

    Args:
        ledger: of the runs; None where they have not begun.
        runs: in the order of `specs`; empty where they have not begun.

    Raises:
        UserError: a model that costs money has no price, or prices are in several currencies.
    """
    models = [model for spec in specs for model in _asked_models(spec, os.environ)]
    if ledger is None or not runs:
        return Budget.for_models(limit, models, {})
    from areopage.ledger import BudgetParts  # most runs have no budget

    def spent() -> dict[str, float]:
        costs = defaultdict[str, float](float)
        for spec, run in zip(specs, runs, strict=True):
            for currency, amount in spent_by(run, spec, ledger).items():
                costs[currency] += amount
        return costs

    whole = Budget.for_models(limit, models, spent())
    return SharedBudget(whole, BudgetParts(ledger, [run.id for run in runs], lambda: spent().get(whole.currency, 0.0)))


def spent_by(run: Run, spec: RunSpec, ledger: Ledger) -> dict[str, float]:
    """What the calls of a run have cost, by currency: all its answers and judgments, failed ones included."""
    spent = defaultdict[str, float](float, ledger.spending.judge_costs(run.id))
    for calls in ledger.answers.calls_of(run.id):
        asked = spec.child if calls.source.startswith(CHILD_SOURCE) else spec.target
        if asked is not None and asked.price is not None:
            spent[asked.price.currency] += asked.price.of(calls.prompt_tokens, calls.completion_tokens)
    return dict(spent)


def paid_models(spec: AskedModels, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The target and the judges that cost money: they have a price, or a key is sent to a server on another machine."""
    return tuple(model.name for model in _asked_models(spec, environment) if model.costs)


def _asked_models(spec: AskedModels, environment: Mapping[str, str]) -> Iterator[PaidModel]:
    asked = [(str(model.reference), model.reference, model.price) for model in (spec.target, spec.child) if model is not None]
    asked += [(judge.name, judge.reference, judge.price) for judge in spec.judges if judge.is_model]
    settings = structs.replace(spec.settings, environment=environment)
    for name, reference, price in asked:
        has_price = price is not None and not price.is_free and not price.listed  # a list price is that of a server with a key
        contact = settings.contact(reference) if may_cost(reference.provider) else None
        has_key = contact is not None and not is_on_this_machine(contact.address) and bool(contact.sent(environment))
        yield PaidModel(name, reference, price, has_price or has_key)
