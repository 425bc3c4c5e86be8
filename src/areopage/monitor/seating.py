"""The judges of a jury, open in one event loop and checked once; each is asked no more at once than it can take."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

from areopage.errors import CallError, ModelError
from areopage.jury.judges import CallContext, Judge, JudgeBackend, JudgeStatus, PlannedCall, judgment_of, without_answer
from areopage.jury.opening import open_judge
from areopage.ledger.records import Judgment
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings
from areopage.scoring.outcome import Unreachable

# answers that come in while a server is down do not all knock at its door
CHECK_PAUSE = 5.0


class Seating:
    """The open judges of a jury for one event loop; judges of one reference share them."""

    def __init__(self, judges: Sequence[Judge], settings: ModelSettings, outage_seconds: float) -> None:
        self._judges: dict[ModelReference, JudgeBackend] = {}
        for judge in judges:
            if judge.reference not in self._judges:
                self._judges[judge.reference] = open_judge(judge.reference, settings, outage_seconds)
        self._failed: tuple[float, ModelError] | None = None
        self.enter_loop()

    def enter_loop(self) -> None:
        """Make the parts that belong to an event loop anew: the one before was closed. The models notice by themselves."""
        self.turn = asyncio.Lock()
        self._gates = {
            reference: asyncio.Semaphore(judge.max_concurrency)
            for reference, judge in self._judges.items()
            if judge.max_concurrency is not None
        }

    async def check(self) -> Mapping[ModelReference, JudgeStatus]:
        """Make sure that every judge can be asked.

        Raises:
            ServerDown, ModelMissing, ModelError, MissingExtra: one cannot be used.
        """
        if self._failed is not None and time.monotonic() - self._failed[0] < CHECK_PAUSE:
            raise type(self._failed[1])(str(self._failed[1]))
        try:
            return {reference: await judge.check() for reference, judge in self._judges.items()}
        except ModelError as fault:
            self._failed = (time.monotonic(), fault)
            raise

    async def ask(self, call: PlannedCall, context: CallContext) -> Judgment:
        """Carry one call out; whatever fails is an outcome.

        A fault that no call can escape (nobody listens, a wrong key, a missing model) is one that people mend: the judge could
        not be reached.
        """
        judge = self._judges[call.judge.reference]
        try:
            async with AsyncExitStack() as stack:
                gate = self._gates.get(call.judge.reference)
                if gate is not None:
                    await stack.enter_async_context(gate)
                judged = await judge.judge(call, context)
        except CallError as fault:
            judged = without_answer(call, Unreachable(reason=str(fault)))
        return judgment_of(call, context.run_id, judged)

    async def aclose(self) -> None:
        """Close every judge; the next call opens it again."""
        for judge in self._judges.values():
            await judge.aclose()
