"""The places where a jury sits: one for each event loop that asks it, and a loop of its own for callers that have none."""

import asyncio
import threading
import weakref
from typing import Any

from msgspec import Struct

from areopage.errors import ModelError
from areopage.ledger.records import Run
from areopage.models.own_loop import OwnLoop
from areopage.models.settings import ModelSettings
from areopage.monitor.seating import Seating
from areopage.monitor.terms import Terms, run_of, settled_terms


class Settled(Struct, frozen=True, kw_only=True):
    """The terms once every model has said who it is, and the run they make."""

    terms: Terms
    run: Run


class Seatings:
    """The seatings of one jury, by event loop. What the models say of themselves is asked once, whatever the loop."""

    def __init__(self, terms: Terms, settings: ModelSettings, outage_seconds: float) -> None:
        self._terms = terms
        self._settings = settings
        self._outage_seconds = outage_seconds
        self._settled: Settled | None = None
        self._guard = threading.Lock()
        self._by_loop: dict[asyncio.AbstractEventLoop, Seating] = {}
        self._own_loop: OwnLoop | None = None
        self._stopper: weakref.finalize[Any, Any] | None = None

    @property
    def terms(self) -> Terms:
        """The terms, with what the models said of themselves once they were asked."""
        return self._settled.terms if self._settled else self._terms

    def settled(self) -> Settled:
        """The settled terms.

        Raises:
            ModelError: the judges were not checked yet, so that their versions are not known.
        """
        if self._settled is None:
            raise ModelError("the judges were not checked yet: await check() first")
        return self._settled

    async def settle(self) -> Settled:
        """Check the models, once.

        Raises:
            ServerDown, ModelMissing, ModelError, MissingExtra, CriteriaError: see `Seating.check` and `settled_terms`.
        """
        if self._settled is None:
            seating = self.here()
            async with seating.turn:
                if self._settled is None:
                    terms = settled_terms(self._terms, await seating.check())
                    self._settled = Settled(terms=terms, run=run_of(terms))
        return self._settled

    def here(self) -> Seating:
        """The open models of the running event loop; those of a loop that is closed go over to it."""
        loop = asyncio.get_running_loop()
        with self._guard:
            found = self._by_loop.get(loop)
            if found is not None:
                return found
            left = next((other for other in self._by_loop if other.is_closed()), None)
            if left is not None:
                found = self._by_loop.pop(left)
                found.enter_loop()
            else:
                found = Seating(self._terms.judges, self._settings, self._outage_seconds)
            self._by_loop[loop] = found
            return found

    def own_loop(self) -> OwnLoop:
        """The event loop in a thread of its own."""
        with self._guard:
            if self._own_loop is None:
                self._own_loop = OwnLoop("quality-judge")
                self._stopper = weakref.finalize(self, stop_loop, self._own_loop, self._by_loop)
            return self._own_loop

    async def aclose(self) -> None:
        """Close the models of the running event loop, and the loop of its own; a later call opens them again."""
        found = self._by_loop.pop(asyncio.get_running_loop(), None)
        if found is not None:
            await found.aclose()
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """Close the loop of its own; also done by itself at the interpreter's end."""
        with self._guard:
            stopper, self._stopper, self._own_loop = self._stopper, None, None
        if stopper is not None:
            stopper()


def stop_loop(own: OwnLoop, seatings: dict[asyncio.AbstractEventLoop, Seating]) -> None:
    """End a loop after the models that are open in it."""

    async def closing() -> None:
        found = seatings.pop(own.loop, None)
        if found is not None:
            await found.aclose()

    own.stop(closing)
