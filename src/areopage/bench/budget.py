"""The budget of a run in money: no call begins whose cost, at worst, exceeds what is left.

Left is the budget less what is spent and what is set aside for open calls. A call that does not fit waits for open ones: they
mostly cost less than was set aside. Where it does not fit with no call open, the run stops.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple, Self

from areopage.errors import BudgetSpent, StorageError, UserError, name_list
from areopage.ledger import BudgetParts
from areopage.models import ASSUMED_MOST, Completion, Message, ModelReference, Options, Price, answer_limit

_ROUNDING = 1e-9


class PaidModel(NamedTuple):
    """A model that a budget pays; `costs` says whether it costs money even where no price is known."""

    name: str
    reference: ModelReference
    price: Price | None
    costs: bool


class Budget:
    """The budget of one command, consulted before each call; one event loop at a time."""

    def __init__(self, limit: float, currency: str, prices: Mapping[ModelReference, Price], spent: float = 0.0) -> None:
        """Begin with what earlier commands have spent on the same runs."""
        self.limit, self.currency = limit, currency
        self.prices, self._set_aside, self._open = dict(prices), 0.0, 0
        self._others, self._spent_here = spent, 0.0  # what is spent by others and before, and by this command
        self._most = limit - spent  # what this command may spend and set aside
        self._waiting: list[tuple[float, asyncio.Future[None]]] = []

    @classmethod
    def for_models(cls, limit: float, models: Iterable[PaidModel], spent: Mapping[str, float]) -> Self:
        """The budget of one command.

        Args:
            limit: of everything that the runs spend, what is spent already included.
            models: all that are asked.
            spent: what the runs have spent, by currency.

        Raises:
            UserError: a model that costs money has no price, or prices are in several currencies.
        """
        listed = list(models)
        unpriced = [model.name for model in listed if model.price is None and model.costs]
        if unpriced:
            raise UserError(
                f"--budget needs the price of every model that costs money, and none is known of {name_list(unpriced)}: state it "
                "under prices in areopage.yml"
            )
        prices: dict[ModelReference, Price] = {}
        for _, reference, price, _ in listed:
            if price is not None and not price.is_free:
                prices[reference] = _dearer(prices.get(reference), price)
        currencies = sorted({price.currency for price in prices.values()} | {name for name, amount in spent.items() if amount})
        if len(currencies) > 1:
            raise UserError(f"--budget needs prices in one currency, and these are in {name_list(currencies)}")
        if not currencies:
            raise UserError(
                "--budget has nothing to limit: no model of this run has a price; state it under prices in areopage.yml"
            )
        return cls(limit, currencies[0], prices, spent.get(currencies[0], 0.0))

    @property
    def spent(self) -> float:
        """What is spent so far."""
        return self._others + self._spent_here

    @property
    def costs(self) -> dict[str, float]:
        """What is spent so far, by currency."""
        return {self.currency: self.spent}

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Keep the budget together with the other processes of its runs while the block runs, if it is shared."""
        yield

    def is_paid(self, reference: ModelReference) -> bool:
        """Whether calls to a model cost money."""
        return reference in self.prices

    async def begin(self, reference: ModelReference, messages: Sequence[Message], options: Options) -> float:
        """Wait until a call may begin; return what is set aside for it.

        Raises:
            BudgetSpent: it does not fit into what is left, and no call is open.
        """
        worst = self.prices[reference].worst_of(messages, options)
        await self.wait_for(reference, worst, options)
        self.take(worst)
        return worst

    async def wait_for(self, reference: ModelReference, worst: float, options: Options) -> None:
        """Wait until a call fits into what is left.

        Raises:
            BudgetSpent: it does not, and no call is open.
        """
        while worst > self.left:
            if self._is_over():
                raise self._exhausted(reference, worst, options)
            done = asyncio.get_running_loop().create_future()
            self._waiting.append((worst, done))
            await done

    def _is_over(self) -> bool:
        """Whether a call that does not fit into what is left will not do so later."""
        return not self._open

    @property
    def left(self) -> float:
        """What is neither spent nor set aside."""
        return self._most - self._spent_here - self._set_aside + _ROUNDING

    def take(self, amount: float) -> None:
        """Set something aside for a call, or for calls that are sent together; `end`, `cancel` or `settle` ends it."""
        self._set_aside += amount
        self._open += 1

    def settle(self, set_aside: float, cost: float) -> None:
        """Count what calls cost that were sent together."""
        self._spent_here += cost
        self.cancel(set_aside)

    def end(self, reference: ModelReference, set_aside: float, completion: Completion | None) -> None:
        """Count what an ended call cost; all that was set aside where no tokens were counted, or `completion` is None."""
        cost = set_aside
        if completion is not None and completion.prompt_tokens is not None and completion.completion_tokens is not None:
            cost = self.prices[reference].of_completion(completion)
        self._spent_here += cost
        self.cancel(set_aside)

    def cancel(self, set_aside: float) -> None:
        """Set nothing aside any more for a call, and let waiting calls look again."""
        self._open -= 1
        self._set_aside = self._set_aside - set_aside if self._open else 0.0
        self._look_again()

    def _look_again(self) -> None:
        waiting, self._waiting = self._waiting, []
        for _, turn in waiting:
            if not turn.done():
                turn.set_result(None)

    def _exhausted(self, reference: ModelReference, worst: float, options: Options) -> BudgetSpent:
        budget = f"the budget of {self.limit:g} {self.currency}"
        message = f"{budget} is spent: {self.spent:.4f} {self.currency} so far, and"
        if not self.spent:
            message = f"{budget} is less than a call may cost:"
        unlimited = answer_limit(options) is None
        set_aside = f", with an answer of {ASSUMED_MOST:,} tokens, since no option limits it" if unlimited else ""
        return BudgetSpent(f"{message} the next call to {reference} may cost {worst:.4f}{set_aside}")


def _dearer(price: Price | None, other: Price) -> Price:
    """The higher of two prices of one model, for prompts and for answers."""
    if price is None or price.currency != other.currency:
        return other
    return Price(
        input_per_million=max(price.input_per_million, other.input_per_million),
        output_per_million=max(price.output_per_million, other.output_per_million),
        currency=price.currency,
        listed=price.listed or other.listed,
    )


LOG = logging.getLogger(__name__)
RENEWED_EVERY = 1.0
SOON = 0.05
"""Seconds between two renewals where a call waits."""


class SharedBudget(Budget):
    """This process's part, in the ledger, of a budget that several processes keep together; calls begin inside of `kept` alone.

    The part is renewed about once a second; meanwhile no call begins by it that the old part does not pay for.
    """

    def __init__(self, whole: Budget, parts: BudgetParts) -> None:
        """Share a budget of which nothing is spent or set aside by this process yet."""
        super().__init__(whole.limit, whole.currency, whole.prices, whole.spent)
        self._parts, self._most = parts, 0.0
        self._spent_out, self._idle = False, False
        self._wake = asyncio.Event()

    def take(self, amount: float) -> None:
        """Set something aside; see `Budget.take`."""
        self._idle = False
        super().take(amount)

    def _is_over(self) -> bool:
        self._wake.set()
        return self._spent_out

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Renew the part while the block runs, and return it then."""
        self._wake, self._idle = asyncio.Event(), False
        await self._renew()
        task = asyncio.create_task(self._keep())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            try:
                await asyncio.to_thread(self._parts.leave)
            except StorageError as fault:
                LOG.warning("the part of the budget is returned after %g s: %s", self._parts.silence, fault)

    async def _keep(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), RENEWED_EVERY)
            self._wake.clear()
            try:
                await self._renew()
            except StorageError as fault:
                LOG.error("no call that costs money begins: the budget cannot be shared: %s", fault)
                await asyncio.sleep(RENEWED_EVERY)
            await asyncio.sleep(SOON)

    async def _renew(self) -> None:
        waiting = [worst for worst, turn in self._waiting if not turn.done()]
        wanted = None if self._idle and not self._open and not waiting else min(waiting, default=0.0)
        spent, set_aside = self._spent_here, self._set_aside
        self._most, self._idle = spent + set_aside, True
        renewed = await asyncio.to_thread(self._parts.renew, limit=self.limit, spent=spent, set_aside=set_aside, wanted=wanted)
        if renewed.is_new:
            self._spent_here -= spent
            spent = 0.0
        self._others, self._most, self._spent_out = renewed.others, spent + set_aside + renewed.free, renewed.is_over
        self._look_again()
