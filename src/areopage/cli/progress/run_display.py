"""Progress of a run in plain lines, and what it has in common with the live display of a terminal."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from areopage.bench import CHILD_PHASE, CHILD_SOURCE, TARGET_PHASE, AskedModels
from areopage.cli.progress.counts import PhaseCount, PhaseCounts, Tally
from areopage.cli.progress.lines import OutageLines, batch_text
from areopage.cli.progress.pace import PLAIN_EVERY
from areopage.errors import counted
from areopage.ledger import Answer, Judgment, SentBatch
from areopage.models import NOT_SENT


class Counting(OutageLines):
    """Counts the calls of a run, and says what happens to its servers and batches."""

    def __init__(self, spec: AskedModels, say: Callable[[str], object], spent: Mapping[str, float]) -> None:
        super().__init__(say)
        self.tally = Tally(spec, spent)
        self.phases = PhaseCounts()
        self._batches: dict[str, tuple[str, float]] = {}  # what was said of them, and when
        self._unsent = set[tuple[str, str]]()  # judges and steps of which it was said

    def answered(self, answer: Answer) -> None:
        """Count a finished call. The texts of the child's model cost something, and are no answers."""
        if answer.source.startswith(CHILD_SOURCE):
            self.tally.spend(CHILD_PHASE, answer)
        else:
            self.advance(TARGET_PHASE, answer.state, answer)

    def judged(self, judgment: Judgment, cases: Sequence[str]) -> None:
        """Count a finished call, and say once of a judge which option it is not sent."""
        for step in judgment.steps:
            if step.startswith(NOT_SENT) and (judgment.judge, step) not in self._unsent:
                self._unsent.add((judgment.judge, step))
                option = step.removeprefix(NOT_SENT)
                self._say(f"note: {judgment.judge} does not take the option {option}: it is not sent, and its judgments say so")
        self.advance(judgment.judge, judgment.verdicts[0].outcome.name, judgment)

    def batch(self, batch: SentBatch) -> None:
        """Say that a batch has another state, or at most every ten seconds that its counts changed."""
        now, (status, at) = time.monotonic(), self._batches.get(batch.token, ("", 0.0))
        if batch.status != status or now - at >= PLAIN_EVERY:
            self._batches[batch.token] = (batch.status, now)
            self._say(batch_text(batch))

    def advance(self, name: str, outcome: str, record: Answer | Judgment) -> None:
        """Count a finished call."""
        self.tally.spend(name, record)
        phase = self.phases.of(name)
        if phase is not None:
            phase.add(outcome)
            self.show(phase)

    def show(self, phase: PhaseCount) -> None:
        """Show how far a phase is."""


class PlainProgress(Counting):
    """A line every ten seconds and one at the end of each phase, for logs and pipes."""

    def __init__(self, spec: AskedModels, spent: Mapping[str, float] = MappingProxyType({})) -> None:
        super().__init__(spec, lambda line: print(line, file=sys.stderr, flush=True), spent)

    def phase(self, name: str, total: int, kept: int) -> None:
        """Print the beginning of a phase."""
        is_new = name not in self.phases.by_name
        self.phases.note(name, total, kept)
        if is_new:
            held = f", {kept} already in the ledger" if kept else ""
            print(f"{name}: {counted(total, 'call')}{held}", file=sys.stderr, flush=True)

    def show(self, phase: PhaseCount) -> None:
        """Print a line where the last one of the phase is long ago, or it is finished."""
        now = time.monotonic()
        if not phase.left or now - phase.told_at >= PLAIN_EVERY:
            phase.told_at = now
            done = f"{phase.name}: {phase.kept + phase.done}/{phase.total}"
            print(", ".join(filter(None, (done, phase.pace(), phase.health(), self.tally.spent()))), file=sys.stderr, flush=True)
