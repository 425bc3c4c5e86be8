"""What is checked before a call is sent: that its prompt fits into the model's window, and that the budget pays for it."""

from collections.abc import Sequence
from typing import Protocol

from areopage.cases.records import Case
from areopage.errors import CallTimedOut, PromptTooLong
from areopage.models.port import Completion, LanguageModel, Message, Options, Schema
from areopage.models.rate_headers import Allowance
from areopage.models.reference import ModelReference
from areopage.models.retry import Wrapping
from areopage.models.window import Gauge
from areopage.text.sizes import byte_length


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


class Guarded(Wrapping):
    """A `LanguageModel` that is sent prompts that fit alone, as a budget allows it."""

    def __init__(self, model: LanguageModel, gauge: Gauge | None = None, budget: CallBudget | None = None) -> None:
        """Wrap a model.

        Args:
            gauge: tells what fits into the model's window.
            budget: says when a call may begin.
        """
        super().__init__(model)
        self._gauge, self._budget = gauge, budget

    def allowances(self) -> tuple[Allowance, ...]:
        """What the server said is left of its limits."""
        return self._allowances()

    async def generate(
        self, messages: Sequence[Message], options: Options, schema: Schema | None = None, *, case: Case | None = None
    ) -> Completion:
        """Ask once the budget allows it; see `LanguageModel.generate`.

        With a budget, a call that was sent and timed out counts with all that was set aside for it: the provider may charge it.

        Raises:
            PromptTooLong: the prompt does not fit, and is not sent.
            BudgetSpent: the call is not made.
        """
        if self._gauge is not None:
            size = sum(byte_length(message.content) for message in messages)
            if told := self._gauge.refusal(size, options):
                raise PromptTooLong(f"{self.reference}: {told}")
        if self._budget is None:
            return await self._model.generate(messages, options, schema, case=case)
        set_aside = await self._budget.begin(self.reference, messages, options)
        try:
            completion = await self._model.generate(messages, options, schema, case=case)
        except CallTimedOut as fault:
            if fault.silent:
                self._budget.cancel(set_aside)
            else:
                self._budget.end(self.reference, set_aside, None)
            raise
        except BaseException:
            self._budget.cancel(set_aside)
            raise
        self._budget.end(self.reference, set_aside, completion)
        return completion
