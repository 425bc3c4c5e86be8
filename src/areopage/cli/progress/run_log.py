"""The log of a run, `run.log`."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from areopage.cli.progress.lines import RunLines
from areopage.errors import StorageError, counted, name_list, writing
from areopage.ledger import Answer, Judgment
from areopage.scoring import Given, NotApplicable, Scored


class RunLog(RunLines):
    """The run's log, `run.log`: one line per event, times in UTC; use as `with`."""

    LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")

    def __init__(self, path: Path, level: str = "INFO") -> None:
        self.path = path
        self.least = self.LEVELS.index(level)
        self._phases: set[str] = set()
        with writing(path):
            # Unbuffered: a line that a full disk refused must not be retried, and fail again, when the file is closed.
            self.stream = path.open("ab", buffering=0)

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
        """Write one line; line breaks become spaces, so that untrusted text cannot forge a line."""
        if self.LEVELS.index(level) < self.least:
            return
        moment = datetime.now(UTC).isoformat(timespec="milliseconds")
        with writing(self.path):
            self.stream.write(f"{moment} {level} {' '.join(message.split())}\n".encode(errors="backslashreplace"))

    def phase(self, name: str, total: int, kept: int) -> None:
        """Log the beginning of a phase, and with all details each change of its numbers."""
        level = "DEBUG" if name in self._phases else "INFO"
        self._phases.add(name)
        self.write(level, f"phase {name}: {counted(total, 'call')}, {kept} already in the ledger")

    def answered(self, answer: Answer) -> None:
        """Log a response of the target."""
        good = answer.state == "answered" and not answer.reason
        self.write("DEBUG" if good else "WARNING", f"target {answer.case.id}: {answer.state} {answer.reason}")

    def judged(self, judgment: Judgment, cases: Sequence[str]) -> None:
        """Log a judgment."""
        for verdict in judgment.verdicts:
            if self.least and judgment.repair == "none" and isinstance(verdict.outcome, Given):
                continue  # a detail, and no text is made of it
            turn = f"reply {judgment.turn}, " if judgment.turn else ""
            about = f"case {name_list(cases)}, {turn}pass {judgment.pass_index}, {verdict.criterion}"
            where = f"judge {judgment.judge}, {about}, key {judgment.key[:12]}"
            if isinstance(verdict.outcome, Scored):
                level = "DEBUG" if judgment.repair == "none" else "INFO"
                self.write(level, f"{where}: {verdict.outcome.score:g}, repair {judgment.repair}")
            elif isinstance(verdict.outcome, NotApplicable):
                self.write("DEBUG", f"{where}: not applicable")
            else:
                self.write("WARNING", f"{where}: {verdict.outcome.name}: {verdict.outcome.reason}")
