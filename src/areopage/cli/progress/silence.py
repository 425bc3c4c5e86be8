"""A notice where no call of a run was finished for a while."""

import time
from collections.abc import Callable, Sequence
from threading import Event, Thread
from typing import Self

from areopage.bench import CHILD_SOURCE, TARGET_PHASE, AskedModels
from areopage.cli.progress.counts import PhaseCounts
from areopage.errors import name_list
from areopage.ledger import Answer, Judgment, SentBatch
from areopage.models import ENDED

SILENT_AFTER = 30.0


class SilenceNotice:
    """Says so where no call was finished for half a minute; use as `with`, as an observer."""

    def __init__(self, spec: AskedModels, say: Callable[[str], object], after: float = SILENT_AFTER) -> None:
        """Watch a run.

        Args:
            say: shows a line.
            after: seconds; after as many again the next line follows.
        """
        self._limit, self._say, self._after = spec.settings.timeouts.total, say, after
        self._phases, self._last = PhaseCounts(), time.monotonic()
        self._gone = False
        self._batches: set[str] = set()
        self._ended = Event()
        self._thread = Thread(target=self._watch, name="silence-notice", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Stop watching."""
        self._ended.set()
        self._thread.join()

    def phase(self, name: str, total: int, kept: int) -> None:
        """Begin a phase."""
        self._phases.note(name, total, kept)
        self._last = time.monotonic()

    def answered(self, answer: Answer) -> None:
        """Note that a call was finished."""
        if not answer.source.startswith(CHILD_SOURCE):
            self._finished(TARGET_PHASE)

    def judged(self, judgment: Judgment, cases: Sequence[str]) -> None:
        """Note that a call was finished."""
        self._finished(judgment.judge)

    def phases_stopped(self, names: Sequence[str], reason: str) -> None:
        """Be silent about phases that do not go on."""
        for name in names:
            self._phases.by_name.pop(name, None)

    def _finished(self, asked: str) -> None:
        self._last = time.monotonic()
        phase = self._phases.of(asked)
        if phase is not None:
            phase.done += 1

    def batch(self, batch: SentBatch) -> None:
        """Be silent while a batch is out."""
        (self._batches.discard if batch.status in ENDED else self._batches.add)(batch.token)
        self._last = time.monotonic()

    def server_gone(self, address: str, seconds: float) -> None:
        """Be silent about a server that is known to be gone."""
        self._gone = True

    def server_back(self, address: str, seconds: float) -> None:
        """Watch again."""
        self._gone, self._last = False, time.monotonic()

    def _watch(self) -> None:
        said = 0.0
        while not self._ended.wait(self._after / 10):
            silent = time.monotonic() - self._last
            said = said if silent > said else 0.0
            names = [name for name, phase in list(self._phases.by_name.items()) if phase.left]
            if names and not self._gone and not self._batches and silent >= said + self._after:
                said = silent
                self._say(
                    f"{name_list(names)}: no answer for {silent:.0f} s; a call is given up after {self._limit:g} s and one retry"
                )
