"""Calls that cost money: none begins before a budget allows it."""

from collections.abc import Sequence
from typing import Protocol

from areopage.cases.records import Case
from areopage.errors import CallTimedOut
from areopage.models.port import Completion, LanguageModel, Message, ModelStatus, Options, Schema
from areopage.models.rate_headers import Allowance
from areopage.models.reference import ModelReference
from areopage.models.retry import TellsAllowances


class CallBudget(Protocol):
    """What says whether a call may begin."""

    def is_paid(self, reference: ModelReference) -> bool:
        """Whether calls to a model cost money."""
        ...

    async def begin(self, reference: ModelReference, messages: Sequence[Message], options: Options) -> float:
        """Wait until a call may begin; return what is set aside for it.

        Raises:
            BudgetSpent: it would not be paid for, even when all open calls are done.
        """
        ...

    def end(self, reference: ModelReference, set_aside: float, completion: Completion | None) -> None:
        """Count what an ended call cost: all that was set aside where `completion` is None."""
        ...

    def cancel(self, set_aside: float) -> None:
        """Set nothing aside any more for a call that costs nothing."""
        ...


class Budgeted:
    """A `LanguageModel` whose calls begin as a budget allows it."""

    def __init__(self, model: LanguageModel, budget: CallBudget) -> None:
        """Wrap a model; it is closed with this one."""
        self._model, self._budget = model, budget

    @property
    def reference(self) -> ModelReference:
        """What the user called the model."""
        return self._model.reference

    @property
    def max_concurrency(self) -> int | None:
        """How many calls the model can take at once."""
        return self._model.max_concurrency

    def allowances(self) -> tuple[Allowance, ...]:
        """What the server said is left of its limits."""
        return self._model.allowances() if isinstance(self._model, TellsAllowances) else ()

    async def check(self) -> ModelStatus:
        """Check the model."""
        return await self._model.check()

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()

    async def generate(
        self, messages: Sequence[Message], options: Options, schema: Schema | None = None, *, case: Case | None = None
    ) -> Completion:
        """Ask once the budget allows it; see `LanguageModel.generate`.

        A call that timed out counts with all that was set aside for it, since the provider may charge it.

        Raises:
            BudgetSpent: the call is not made.
        """
        set_aside = await self._budget.begin(self.reference, messages, options)
        try:
            completion = await self._model.generate(messages, options, schema, case=case)
        except CallTimedOut:
            self._budget.end(self.reference, set_aside, None)
            raise
        except BaseException:
            self._budget.cancel(set_aside)
            raise
        self._budget.end(self.reference, set_aside, completion)
        return completion
