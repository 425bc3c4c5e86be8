"""An event loop in a thread of its own, for callers that have none, or that stand inside one and cannot wait."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from areopage.errors import UserError

T = TypeVar("T")

PATIENCE = 5.0


def refuse_in_loop(call: str, instead: str) -> None:
    """Refuse a call that starts an event loop of its own, where one runs in this thread.

    Args:
        instead: the code that works there.

    Raises:
        UserError: an event loop runs.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise UserError(f"{call} cannot be called inside a running event loop, such as that of a notebook: write `{instead}`")


class OwnLoop:
    """A running event loop. The thread is a daemon: it never keeps the interpreter from ending."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def wait_for(self, work: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Carry a coroutine out and wait for what it gives; where the wait is broken off (Ctrl-C), so is the work."""
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result(timeout)
        except BaseException:
            future.cancel()
            raise

    def stop(self, closing: Callable[[], Awaitable[None]]) -> None:
        """End the loop and its thread.

        Args:
            closing: the last thing done in the loop, once all that ran there is cancelled.
        """
        if self.loop.is_closed():
            return
        self.wait_for(end(closing), PATIENCE)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(PATIENCE)
        self.loop.close()


async def end(closing: Callable[[], Awaitable[None]]) -> None:
    """Cancel every other task of the running loop, wait for their end, and do what is to be done last."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await closing()
