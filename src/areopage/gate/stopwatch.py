"""What each signal takes, by a clock that the caller hands over."""

from collections.abc import Callable, Sequence

from areopage.gate.records import Place, Signal, SignalName


class Stopwatch:
    """Collects signals, each with the seconds since the one before it; None without a clock."""

    def __init__(self, clock: Callable[[], float] | None) -> None:
        """Begin to count."""
        self._clock = clock
        self._last = clock() if clock else 0.0
        self.signals: list[Signal] = []

    def note(self, name: SignalName, value: float | None, places: Sequence[Place] = ()) -> None:
        """Keep a signal, with the time since the last one."""
        seconds = None
        if self._clock:
            now = self._clock()
            seconds, self._last = now - self._last, now
        self.signals.append(Signal(name=name, value=value, places=tuple(places), seconds=seconds))
