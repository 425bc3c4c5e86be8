"""Progress of a long command: done of all, rate, time left."""

import sys
import time

PLAIN_EVERY = 10.0
TERMINAL_EVERY = 1.0


class PaceLine:
    """Prints progress with rate and time left."""

    def __init__(self, name: str, total: int) -> None:
        self._name, self._total = name, total
        self._began = self._last = time.monotonic()
        self._live = sys.stderr.isatty()
        self._every = TERMINAL_EVERY if self._live else PLAIN_EVERY
        self._shown = 0

    def moved(self, done: int) -> None:
        """Report that `done` items are complete."""
        now = time.monotonic()
        if now - self._last < self._every:
            return
        self._last = now
        rate = done / max(1e-6, now - self._began)
        left = max(0, self._total - done) / max(1e-6, rate)
        line = f"{self._name}: {done:,} of {self._total:,}, {rate:,.0f}/s, {left:,.0f} s left"
        end = "" if self._live else "\n"
        print(("\r" if self._live else "") + line.ljust(self._shown if self._live else 0), end=end, file=sys.stderr, flush=True)
        self._shown = len(line)

    def finish(self) -> None:
        """Clear the terminal's line."""
        if self._live and self._shown:
            print("\r" + " " * self._shown + "\r", end="", file=sys.stderr, flush=True)
            self._shown = 0
