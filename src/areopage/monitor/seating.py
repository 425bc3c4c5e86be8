"""A jury that has taken its seats: models open in one event loop, checked once, each asked no more at once than it can take."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

from areopage.errors import CallError, ModelError
from areopage.jury.call import CallContext, ask_judge, judgment_without_answer
from areopage.jury.joint import JointCall, ask_jointly
from areopage.jury.judges import Judge
from areopage.jury.opening import open_retrying
from areopage.ledger.records import Judgment
from areopage.models.port import LanguageModel, ModelStatus
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings
from areopage.monitor.terms import Call, asked
from areopage.scoring.outcome import Unreachable

# answers that come in while a server is down do not all knock at its door
CHECK_PAUSE = 5.0


class Seating:
    """The models of a jury for one event loop; judges of one model share it."""

    def __init__(self, judges: Sequence[Judge], settings: ModelSettings, outage_seconds: float) -> None:
        self._models: dict[ModelReference, LanguageModel] = {}
        for judge in judges:
            if judge.reference not in self._models:
                self._models[judge.reference] = open_retrying(judge.reference, settings, outage_seconds)
        self._failed: tuple[float, ModelError] | None = None
        self.enter_loop()

    def enter_loop(self) -> None:
        """Make the parts that belong to an event loop anew: the one before was closed. The models notice by themselves."""
        self.turn = asyncio.Lock()
        self._gates = {
            reference: asyncio.Semaphore(model.max_concurrency)
            for reference, model in self._models.items()
            if model.max_concurrency is not None
        }

    async def check(self) -> Mapping[ModelReference, ModelStatus]:
        """Make sure that every model can be called, and hear what it says of itself.

        Raises:
            ServerDown, ModelMissing, ModelError, MissingExtra: one cannot be used.
        """
        if self._failed is not None and time.monotonic() - self._failed[0] < CHECK_PAUSE:
            raise type(self._failed[1])(str(self._failed[1]))
        try:
            return {reference: await model.check() for reference, model in self._models.items()}
        except ModelError as fault:
            self._failed = (time.monotonic(), fault)
            raise

    async def ask(self, call: Call, context: CallContext) -> Judgment:
        """Carry one call out; whatever fails is an outcome.

        A fault that no call can escape (nobody listens, a wrong key, a missing model) is one that people mend: the judge could
        not be reached.
        """
        model = self._models[call.judge.reference]
        try:
            async with AsyncExitStack() as stack:
                gate = self._gates.get(call.judge.reference)
                if gate is not None:
                    await stack.enter_async_context(gate)
                if isinstance(call, JointCall):
                    return await ask_jointly(call, model, context)
                return await ask_judge(call, model, context)
        except CallError as fault:
            ids = [criterion.id for criterion in asked(call)]
            return judgment_without_answer(call, context, ids, Unreachable(reason=str(fault)))

    async def aclose(self) -> None:
        """Close every model; the next call opens it again."""
        for model in self._models.values():
            await model.aclose()
