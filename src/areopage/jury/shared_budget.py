"""A budget that several processes keep together: each has a part of it in the ledger, which it renews about once a second.

See `areopage.ledger.write.shares`. While a part is renewed, no call begins by it that the old part does not pay for.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from areopage.errors import StorageError
from areopage.jury.budget import Budget
from areopage.ledger import BudgetParts

LOG = logging.getLogger(__name__)
RENEWED_EVERY = 1.0
SOON = 0.05
"""Seconds between two renewals where a call waits."""


class SharedBudget(Budget):
    """This process's part of a budget; calls begin inside of `kept` alone."""

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
        spent, set_aside = self._own, self._set_aside
        self._most, self._idle = spent + set_aside, True
        renewed = await asyncio.to_thread(self._parts.renew, limit=self.limit, spent=spent, set_aside=set_aside, wanted=wanted)
        if renewed.is_new:
            self._own -= spent
            spent = 0.0
        self._others, self._most, self._spent_out = renewed.others, spent + set_aside + renewed.free, renewed.is_over
        self._look_again()
