"""Progress of a run in plain lines, and what it has in common with the live display of a terminal."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from threading import Event, Thread
from types import MappingProxyType
from typing import Self

from areopage.bench import CHILD_PHASE, CHILD_SOURCE, ROUND, TARGET_PHASE, AskedModels
from areopage.cli.progress.lines import RunLines, batch_text
from areopage.cli.progress.pace import PLAIN_EVERY
from areopage.errors import counted, name_list
from areopage.ledger import Answer, Judgment, SentBatch
from areopage.models import ENDED, NOT_SENT
from areopage.scoring import GIVEN_NAMES

RATE_AFTER = 1.0  # seconds
SILENT_AFTER = 30.0  # seconds

_GOOD = ("answered", *GIVEN_NAMES)


class PhaseCount:
    """The calls of a phase: how many there are, how many the ledger held at its begin, and what became of those made since."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.total = self.kept = self.done = 0
        self.is_stopped = False
        self.first_at = self.told_at = time.monotonic()
        self.outcomes: Counter[str] = Counter()

    @property
    def left(self) -> int:
        """The calls that are not finished."""
        return max(0, self.total - self.kept - self.done)

    @property
    def rate(self) -> float:
        """Finished calls in a second since the first one, which may have waited for other phases; 0 where it is not known yet."""
        since = time.monotonic() - self.first_at
        return (self.done - 1) / since if self.done > 1 and since >= RATE_AFTER else 0.0

    def pace(self) -> str:
        """The rate and the time left, where they are known."""
        return f"{self.rate:.1f}/s, {self.left / self.rate:.0f} s left" if self.rate else ""

    def add(self, outcome: str) -> None:
        """Count a finished call."""
        if not self.done:
            self.first_at = self.told_at = time.monotonic()
        self.done += 1
        self.outcomes[outcome] += 1

    def health(self) -> str:
        """What the ledger held, and the outcomes of the calls since, failures by name."""
        kept = [f"{self.kept} already in the ledger"] if self.kept else []
        good = sum(self.outcomes[name] for name in _GOOD)
        failed = [f"{count} {name}" for name, count in sorted(self.outcomes.items()) if name not in _GOOD]
        return ", ".join([*kept, f"{good} ok", *failed])


class Counting(RunLines):
    """Counts the calls of a run by phase, its tokens and its cost, and says what happens to its servers and batches.

    Use as `with`: then a notice says where no call was finished for half a minute.
    """

    def __init__(
        self, spec: AskedModels, say: Callable[[str], object], spent: Mapping[str, float], after: float = SILENT_AFTER
    ) -> None:
        """Watch a run.

        Args:
            say: shows a line.
            spent: before, by currency.
            after: seconds of silence before a notice; after as many again the next one follows.
        """
        self._say, self._limit, self._after = say, spec.settings.timeouts.total, after
        self._prices = {judge.name: judge.price for judge in spec.judges if judge.price is not None}
        for name, asked in ((TARGET_PHASE, spec.target), (CHILD_PHASE, spec.child)):
            if asked is not None and asked.price is not None:
                self._prices[name] = asked.price
        self._tokens = 0
        self._costs = {price.currency: spent.get(price.currency, 0.0) for price in self._prices.values()}
        self.phases: dict[str, PhaseCount] = {}
        self._asked: dict[str, PhaseCount] = {}  # the present phase of the target and of each judge
        self._newest: PhaseCount | None = None
        self._batches: dict[str, tuple[str, float]] = {}  # what was said of them, and when
        self._unsent = set[tuple[str, str]]()  # judges and steps of which it was said
        self._last, self._gone = time.monotonic(), False
        self._ended = Event()
        self._thread = Thread(target=self._watch, name="silence-notice", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def write(self, level: str, message: str) -> None:
        """Show a line of any level."""
        self._say(message)

    def phase(self, name: str, total: int, kept: int) -> None:
        """Note how many calls a phase has, and how many of them the ledger holds; rounds of a judge follow each other."""
        phase = self.phases.setdefault(name, PhaseCount(name))
        phase.total, phase.kept = total, kept
        self._asked[name.partition(ROUND)[0]] = self._newest = phase
        self._last = time.monotonic()

    def phases_stopped(self, names: Sequence[str], reason: str) -> None:
        """Say so, and be silent about phases that do not go on."""
        super().phases_stopped(names, reason)
        for name in names:
            if name in self.phases:
                self.phases[name].is_stopped = True

    def server_gone(self, address: str, seconds: float) -> None:
        """Say so once, and be silent about a server that is known to be gone."""
        super().server_gone(address, seconds)
        self._gone = True

    def server_back(self, address: str, seconds: float) -> None:
        """Say so, and watch again."""
        super().server_back(address, seconds)
        self._gone, self._last = False, time.monotonic()

    def answered(self, answer: Answer) -> None:
        """Count a finished call. The texts of the child's model cost something, and are no answers."""
        if answer.source.startswith(CHILD_SOURCE):
            self._spend(CHILD_PHASE, answer)
        else:
            self._advance(TARGET_PHASE, answer.state, answer)

    def judged(self, judgment: Judgment, cases: Sequence[str]) -> None:
        """Count a finished call, and say once of a judge which option it is not sent."""
        for step in judgment.steps:
            if step.startswith(NOT_SENT) and (judgment.judge, step) not in self._unsent:
                self._unsent.add((judgment.judge, step))
                option = step.removeprefix(NOT_SENT)
                self._say(f"note: {judgment.judge} does not take the option {option}: it is not sent, and its judgments say so")
        self._advance(judgment.judge, judgment.verdicts[0].outcome.name, judgment)

    def batch(self, batch: SentBatch) -> None:
        """Say that a batch has another state, or at most every ten seconds that its counts changed."""
        self._last = now = time.monotonic()
        status, at = self._batches.get(batch.token, ("", 0.0))
        if batch.status != status or now - at >= PLAIN_EVERY:
            self._batches[batch.token] = (batch.status, now)
            self._say(batch_text(batch))

    def spent(self) -> str:
        """The tokens of this command, and the cost of the run so far where prices are known."""
        costs = (f", {cost:.4f} {currency}" for currency, cost in sorted(self._costs.items()) if currency)
        return f"in all {self._tokens:,} tokens{''.join(costs)}"

    def show(self, phase: PhaseCount) -> None:
        """Show how far a phase is."""

    def _spend(self, name: str, record: Answer | Judgment) -> None:
        self._tokens += (record.prompt_tokens or 0) + (record.completion_tokens or 0)
        if name in self._prices:
            price, cost = self._prices[name], record.cost if isinstance(record, Judgment) else None
            self._costs[price.currency] += price.of(record.prompt_tokens, record.completion_tokens) if cost is None else cost

    def _advance(self, name: str, outcome: str, record: Answer | Judgment) -> None:
        """Count a finished call in the present phase of the target or a judge; in the newest where none has its name."""
        self._last = time.monotonic()
        self._spend(name, record)
        phase = self._asked.get(name, self._newest)
        if phase is not None:
            phase.add(outcome)
            self.show(phase)

    def _watch(self) -> None:
        said = 0.0
        while not self._ended.wait(self._after / 10):
            silent = time.monotonic() - self._last
            said = said if silent > said else 0.0
            names = [phase.name for phase in list(self.phases.values()) if phase.left and not phase.is_stopped]
            is_quiet = self._gone or any(status not in ENDED for status, _ in list(self._batches.values()))
            if names and not is_quiet and silent >= said + self._after:
                said = silent
                self._say(
                    f"{name_list(names)}: no answer for {silent:.0f} s; a call is given up after {self._limit:g} s and one retry"
                )


class PlainProgress(Counting):
    """A line every ten seconds and one at the end of each phase, for logs and pipes; what a plan says is not said again."""

    def __init__(self, spec: AskedModels, spent: Mapping[str, float] = MappingProxyType({})) -> None:
        super().__init__(spec, lambda line: print(line, file=sys.stderr, flush=True), spent)

    def phase(self, name: str, total: int, kept: int) -> None:
        """Print of how many calls the ledger holds some."""
        is_new = name not in self.phases
        super().phase(name, total, kept)
        if is_new and kept:
            print(f"{name}: {counted(total, 'call')}, {kept} already in the ledger", file=sys.stderr, flush=True)

    def show(self, phase: PhaseCount) -> None:
        """Print a line where the last one of the phase is long ago, or it is finished."""
        now = time.monotonic()
        if not phase.left or now - phase.told_at >= PLAIN_EVERY:
            phase.told_at = now
            done = f"{phase.name}: {phase.kept + phase.done}/{phase.total}"
            print(", ".join(filter(None, (done, phase.pace(), phase.health(), self.spent()))), file=sys.stderr, flush=True)
