"""Progress of long commands and of runs: a live display on a terminal, else plain lines; the log of a run."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from areopage.bench.conversations.children import CHILD_SOURCE
from areopage.bench.execution.context import AskedModels, Observer
from areopage.bench.execution.phases import CHILD_PHASE, ROUND, TARGET_PHASE
from areopage.errors import StorageError, counted, name_list
from areopage.ledger.records import Answer, Judgment
from areopage.ledger.sent_batches import SentBatch
from areopage.models.batches import ENDED
from areopage.scoring.outcome import GIVEN_NAMES, NotApplicable, Scored, outcome_name

if TYPE_CHECKING:
    from areopage.rag.ingestion.ingest import IngestProgress

_GOOD = ("answered", *GIVEN_NAMES)
PLAIN_EVERY = 10.0
SILENT_AFTER = 30.0
TERMINAL_EVERY = 1.0


def gone_text(address: str, seconds: float) -> str:
    """What is said of a server that is gone, where calls wait for it, with the most seconds that they wait."""
    wait = f"the run waits up to {_span(seconds)} and goes on by itself"
    return f"server {address} does not answer: {wait}; Ctrl-C stops and keeps everything"


def back_text(address: str, seconds: float) -> str:
    """What is said of a server that answers again, with the seconds that it was gone."""
    return f"server {address} answers again after {_span(seconds)}: the run goes on"


def _span(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def stopped_text(names: Sequence[str], reason: str) -> str:
    """What is said of phases that cannot go on while others do."""
    return f"{name_list(names)} stopped: {' '.join(reason.split())}; the other phases go on"


def batch_text(batch: SentBatch) -> str:
    """What is said of a batch: its state and the provider's counts when it was last seen."""
    named = f"{batch.phase}: batch {batch.batch_id}" if batch.batch_id else f"{batch.phase}: a batch without an id"
    failed = f", {batch.failed:,} failed" if batch.failed else ""
    told = f" ({batch.message})" if batch.message else ""
    return f"{named} {batch.status}, {batch.completed:,} of {counted(batch.calls, 'call')} completed{failed}{told}"


class OutageLines:
    """Says when a server is gone, when it is back, and when phases stop."""

    def __init__(self, say: Callable[[str], object]) -> None:
        """Args:
        say: shows a line.
        """
        self._say = say

    def server_gone(self, address: str, seconds: float) -> None:
        """Say so."""
        self._say(gone_text(address, seconds))

    def server_back(self, address: str, seconds: float) -> None:
        """Say so."""
        self._say(back_text(address, seconds))

    def phases_stopped(self, names: Sequence[str], reason: str) -> None:
        """Say so."""
        self._say(stopped_text(names, reason))


class Pace:
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


class IngestDisplay:
    """Shows the progress of an ingestion; use as `with`."""

    def __init__(self, console: Console) -> None:
        self._bar = (
            Progress(
                TextColumn("ingesting"),
                BarColumn(bar_width=24),
                TaskProgressColumn(),
                TextColumn("{task.fields[rate]}", markup=False),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                console=console,
                refresh_per_second=4,
                transient=True,
            )
            if console.is_terminal
            else None
        )
        self._task = self._bar.add_task("", rate="") if self._bar else None
        self._open: AbstractContextManager[object] = self._bar or nullcontext()
        self._began = self._last = time.monotonic()

    def __enter__(self) -> "IngestDisplay":
        self._open.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Remove the bar."""
        self._open.__exit__(None, None, None)

    def show(self, progress: "IngestProgress") -> None:
        """Show the latest progress."""
        now = time.monotonic()
        elapsed = max(1e-6, now - self._began)
        rate = f"{progress.embedded} chunks, {progress.embedded / elapsed:.1f}/s"
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, total=progress.total, completed=progress.done, rate=rate)
        elif now - self._last >= PLAIN_EVERY and progress.done:
            self._last = now
            left = elapsed * (progress.total - progress.done) / progress.done
            share = progress.done / progress.total
            print(f"ingesting: {share:.0%} of the files, {rate}, {left:.0f} s left", file=sys.stderr, flush=True)


class Observers:
    """Several observers as one."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self.observers = observers

    def phase(self, name: str, total: int, kept: int) -> None:
        """Notify every observer."""
        for observer in self.observers:
            observer.phase(name, total, kept)

    def phases_stopped(self, names: Sequence[str], reason: str) -> None:
        """Notify every observer."""
        for observer in self.observers:
            observer.phases_stopped(names, reason)

    def answered(self, answer: Answer) -> None:
        """Notify every observer."""
        for observer in self.observers:
            observer.answered(answer)

    def judged(self, judgment: Judgment, cases: Sequence[str]) -> None:
        """Notify every observer."""
        for observer in self.observers:
            observer.judged(judgment, cases)

    def batch(self, batch: SentBatch) -> None:
        """Notify every observer."""
        for observer in self.observers:
            observer.batch(batch)

    def server_gone(self, address: str, seconds: float) -> None:
        """Notify every observer."""
        for observer in self.observers:
            observer.server_gone(address, seconds)

    def server_back(self, address: str, seconds: float) -> None:
        """Notify every observer."""
        for observer in self.observers:
            observer.server_back(address, seconds)


class Tally:
    """Cost of a run so far."""

    def __init__(self, spec: AskedModels, spent: Mapping[str, float] = MappingProxyType({})) -> None:
        """Args:
        spent: before, by currency.
        """
        self.prices = {judge.name: judge.price for judge in spec.judges if judge.price is not None}
        for name, asked in ((TARGET_PHASE, spec.target), (CHILD_PHASE, spec.child)):
            if asked is not None and asked.price is not None:
                self.prices[name] = asked.price
        self.tokens = 0
        self.costs = {price.currency: spent.get(price.currency, 0.0) for price in self.prices.values()}

    def spend(self, name: str, record: Answer | Judgment) -> None:
        """Count what a call took."""
        self.tokens += (record.prompt_tokens or 0) + (record.completion_tokens or 0)
        if name in self.prices:
            price, cost = self.prices[name], record.cost if isinstance(record, Judgment) else None
            self.costs[price.currency] += price.of(record.prompt_tokens, record.completion_tokens) if cost is None else cost

    def spent(self) -> str:
        """The tokens of this command, and the cost of the run so far where prices are known."""
        costs = (f", {cost:.4f} {currency}" for currency, cost in sorted(self.costs.items()) if currency)
        return f"{self.tokens:,} tokens{''.join(costs)}"


class PhaseCount:
    """The calls of a phase: how many there are, how many the ledger held at its begin, and what became of those made since."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.total = self.kept = self.done = 0
        self.began = self.told_at = time.monotonic()
        self.outcomes: Counter[str] = Counter()

    @property
    def left(self) -> int:
        """The calls that are not finished."""
        return max(0, self.total - self.kept - self.done)

    @property
    def rate(self) -> float:
        """Finished calls in a second."""
        return self.done / max(1e-6, time.monotonic() - self.began)

    def add(self, outcome: str) -> None:
        """Count a finished call."""
        self.done += 1
        self.outcomes[outcome] += 1

    def health(self) -> str:
        """The outcomes of the calls, failures by name."""
        good = sum(self.outcomes[name] for name in _GOOD)
        failed = [f"{count} {name}" for name, count in sorted(self.outcomes.items()) if name not in _GOOD]
        return ", ".join([f"{good} ok", *failed])


class PhaseCounts:
    """The phases of a run, several at once; those of a judge that is asked in rounds follow each other."""

    def __init__(self) -> None:
        self.by_name: dict[str, PhaseCount] = {}
        self._asked: dict[str, PhaseCount] = {}
        self._newest: PhaseCount | None = None

    def note(self, name: str, total: int, kept: int) -> PhaseCount:
        """Note how many calls a phase has, and how many of them the ledger holds."""
        found = self.by_name.setdefault(name, PhaseCount(name))
        found.total, found.kept = total, kept
        self._asked[name.partition(ROUND)[0]] = self._newest = found
        return found

    def of(self, asked: str) -> PhaseCount | None:
        """The present phase of the target or a judge, by its name; the newest where no phase has this name."""
        return self._asked.get(asked, self._newest)


class _Counting(OutageLines):
    def __init__(self, spec: AskedModels, say: Callable[[str], object], spent: Mapping[str, float]) -> None:
        super().__init__(say)
        self.tally = Tally(spec, spent)
        self.phases = PhaseCounts()
        self._batches: dict[str, tuple[str, float]] = {}  # what was said of them, and when

    def answered(self, answer: Answer) -> None:
        """Count a finished call. The texts of the child's model cost something, and are no answers."""
        if answer.source.startswith(CHILD_SOURCE):
            self.tally.spend(CHILD_PHASE, answer)
        else:
            self.advance(TARGET_PHASE, answer.state, answer)

    def judged(self, judgment: Judgment, cases: Sequence[str]) -> None:
        """Count a finished call."""
        self.advance(judgment.judge, outcome_name(judgment.verdicts[0].outcome), judgment)

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


class LiveProgress(_Counting):
    """One bar per phase, with rate, time left, health and cost so far; use as `with`."""

    def __init__(self, spec: AskedModels, console: Console, spent: Mapping[str, float] = MappingProxyType({})) -> None:
        super().__init__(spec, lambda line: console.print(line, markup=False, highlight=False, soft_wrap=True), spent)
        self.bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}", markup=False),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[health]}", markup=False),
            console=console,
            refresh_per_second=4,
        )
        self.tasks: dict[str, TaskID] = {}

    def __enter__(self) -> "LiveProgress":
        self.bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Stop the bars and leave them on the screen."""
        self.bars.stop()

    def phase(self, name: str, total: int, kept: int) -> None:
        """Begin a bar, or correct it."""
        phase = self.phases.note(name, total, kept)
        health = f"{kept} already in the ledger" if kept else ""
        if name not in self.tasks:
            self.tasks[name] = self.bars.add_task(name, total=total, completed=kept, rate="", health=health)
        else:
            self.bars.update(self.tasks[name], total=total, completed=kept + phase.done)

    def show(self, phase: PhaseCount) -> None:
        """Advance the phase's bar."""
        health = f"{phase.health()} | {self.tally.spent()}"
        self.bars.update(self.tasks[phase.name], completed=phase.kept + phase.done, rate=f"{phase.rate:.1f}/s", health=health)


class PlainProgress(_Counting):
    """A line every ten seconds and one at the end of each phase, for logs and pipes."""

    def __init__(self, spec: AskedModels, spent: Mapping[str, float] = MappingProxyType({})) -> None:
        super().__init__(spec, lambda line: print(line, file=sys.stderr, flush=True), spent)

    def phase(self, name: str, total: int, kept: int) -> None:
        """Print the beginning of a phase."""
        is_new = name not in self.phases.by_name
        self.phases.note(name, total, kept)
        if is_new:
            held = f", {kept} already in the ledger" if kept else ""
            print(f"{name}: {total} calls{held}", file=sys.stderr, flush=True)

    def show(self, phase: PhaseCount) -> None:
        """Print a line where the last one of the phase is long ago, or it is finished."""
        now = time.monotonic()
        if not phase.left or now - phase.told_at >= PLAIN_EVERY:
            phase.told_at = now
            done = f"{phase.name}: {phase.kept + phase.done}/{phase.total}, {phase.rate:.1f}/s"
            line = f"{done}, {phase.left / phase.rate:.0f} s left, {phase.health()}, {self.tally.spent()}"
            print(line, file=sys.stderr, flush=True)


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


class RunLog:
    """The run's log, `run.log`: one line per event, times in UTC; use as `with`."""

    LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")

    def __init__(self, path: Path, level: str = "INFO") -> None:
        self.path = path
        self.least = self.LEVELS.index(level)
        self._phases: set[str] = set()
        try:
            # Unbuffered: a line that a full disk refused must not be retried, and fail again, when the file is closed.
            self.stream = path.open("ab", buffering=0)
        except OSError as error:
            raise StorageError(f"{path} cannot be written: {error.strerror}") from None

    def __enter__(self) -> "RunLog":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Log the error that stopped the run, if any, and close."""
        with self.stream:
            if kind is not None:
                # The error that stopped the run must reach the user, not an error of the log.
                with suppress(StorageError):
                    self.write("ERROR", f"stopped: {kind.__name__}: {error}")

    def write(self, level: str, message: str) -> None:
        """Write one line; line breaks become spaces, so that untrusted text cannot forge a line.

        Raises:
            StorageError: it cannot be written.
        """
        if self.LEVELS.index(level) < self.least:
            return
        moment = datetime.now(UTC).isoformat(timespec="milliseconds")
        try:
            self.stream.write(f"{moment} {level} {' '.join(message.split())}\n".encode(errors="backslashreplace"))
        except OSError as error:
            raise StorageError(f"{self.path} cannot be written: {error.strerror}") from None

    def server_gone(self, address: str, seconds: float) -> None:
        """Log that calls wait for a server."""
        self.write("WARNING", gone_text(address, seconds))

    def server_back(self, address: str, seconds: float) -> None:
        """Log that a server answers again."""
        self.write("WARNING", back_text(address, seconds))

    def phases_stopped(self, names: Sequence[str], reason: str) -> None:
        """Log that phases stop while others go on."""
        self.write("ERROR", stopped_text(names, reason))

    def batch(self, batch: SentBatch) -> None:
        """Log the state of a batch."""
        self.write("INFO", batch_text(batch))

    def phase(self, name: str, total: int, kept: int) -> None:
        """Log the beginning of a phase, and with all details each change of its numbers."""
        level = "DEBUG" if name in self._phases else "INFO"
        self._phases.add(name)
        self.write(level, f"phase {name}: {total} calls, {kept} already in the ledger")

    def answered(self, answer: Answer) -> None:
        """Log a response of the target."""
        good = answer.state == "answered" and not answer.reason
        self.write("DEBUG" if good else "WARNING", f"target {answer.case.id}: {answer.state} {answer.reason}")

    def judged(self, judgment: Judgment, cases: Sequence[str]) -> None:
        """Log a judgment."""
        for verdict in judgment.verdicts:
            turn = f"reply {judgment.turn}, " if judgment.turn else ""
            about = f"case {name_list(cases)}, {turn}pass {judgment.pass_index}, {verdict.criterion}"
            where = f"judge {judgment.judge}, {about}, key {judgment.key[:12]}"
            if isinstance(verdict.outcome, Scored):
                level = "DEBUG" if judgment.repair == "none" else "INFO"
                self.write(level, f"{where}: {verdict.outcome.score:g}, repair {judgment.repair}")
            elif isinstance(verdict.outcome, NotApplicable):
                self.write("DEBUG", f"{where}: not applicable")
            else:
                self.write("WARNING", f"{where}: {outcome_name(verdict.outcome)}: {verdict.outcome.reason}")
