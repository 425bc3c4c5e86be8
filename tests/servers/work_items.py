"""Items for a handler of the engine, as a ledger would hold them, and what became of them."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from areopage.work.handlers import Backoff, Finished, Handler, ItemOutcome, Pending

if TYPE_CHECKING:
    from areopage.work.engine import Engine


class Items:
    """A list of items to be done."""

    def __init__(self) -> None:
        self.todo: list[str] = []
        self.runs: list[tuple[str, int]] = []
        self.given_up: dict[str, str] = {}
        self.outcomes: dict[str, ItemOutcome] = {}
        self.fault: Exception | None = None
        self.most_at_once = 0
        self._at_once = 0
        self._go = threading.Event()
        self._go.set()

    def handler(self, name: str = "item", **fields: Any) -> Handler:
        known: dict[str, Any] = {"concurrency": 2, "backoff": Backoff(first=0.01, longest=0.02), "polling": 0.02}
        known["suspects_polling"] = 0.05
        return Handler(name=name, run=self.run, gave_up=self.gave_up, pending=self.pending, **known | fields)

    def hold(self) -> None:
        """Let runs begin, and not end."""
        self._go.clear()

    def release(self) -> None:
        """Let runs end."""
        self._go.set()

    async def run(self, item: str, attempt: int) -> ItemOutcome:
        self.runs.append((item, attempt))
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            while not self._go.is_set():  # noqa: ASYNC110 - it is set in another thread
                await asyncio.sleep(0.01)
        finally:
            self._at_once -= 1
        if self.fault is not None:
            raise self.fault
        outcome = self.outcomes.get(item, Finished())
        if isinstance(outcome, Finished) and item in self.todo:
            self.todo[self.todo.index(item)] = ""
        return outcome

    def gave_up(self, item: str, reason: str) -> None:
        self.given_up[item] = reason
        if item in self.todo:
            self.todo[self.todo.index(item)] = ""

    def pending(self, after: int, limit: int) -> Sequence[Pending]:
        waiting = [Pending(number, item) for number, item in enumerate(self.todo, 1) if item and number > after]
        return waiting[:limit]

    def ran(self, count: int) -> Callable[[], bool]:
        """Whether so many runs have begun."""
        return lambda: len(self.runs) >= count


def close(engine: "Engine", grace: float = 0.0) -> None:
    """Close an engine, if it is open."""
    if not engine.closed:
        asyncio.run_coroutine_threadsafe(engine.close(lambda: grace), engine.loop).result()
