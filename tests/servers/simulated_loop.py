"""An event loop whose clock jumps: tests of pauses take no time."""

import asyncio
import heapq


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next moment at which something is due."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        scheduled = self._scheduled  # type: ignore[attr-defined]
        while scheduled and scheduled[0].cancelled():
            heapq.heappop(scheduled)._scheduled = False
        if not self._ready and scheduled:  # type: ignore[attr-defined]
            self.now = max(self.now, scheduled[0].when())
        super()._run_once()  # type: ignore[misc]
