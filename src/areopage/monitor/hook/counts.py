"""What hooks lost and what they recorded with a doubt: files of each process, which a worker carries into the ledger.

Each process writes files of its own, beside the answers of the spool: counts by hour, source and variant. A worker stores them
under the file's name, so that to store them twice changes nothing.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from areopage.ledger import NOT_PLANNED, Answer, HookCount
from areopage.monitor.hook.spool_files import REJECTED, rejected_files

if TYPE_CHECKING:
    from areopage.ledger import Ledger  # it imports the database

FOLDER = "losses"
MOST_ROWS = 200
"""Counts of one file, which is rewritten at each of them."""


class TallyFile(Struct, frozen=True, kw_only=True):
    """The counts of a file, the last reason of a loss, and where the last doubtful answer was recorded, with its id."""

    rows: list[HookCount] = []
    reason: str = ""
    doubt: str = ""
    doubtful: str = ""


class HookTally:
    """The file of a process."""

    def __init__(self, spool: Path, name: str) -> None:
        self.counts: Counter[HookCount] = Counter()
        self._file = spool / FOLDER / f"{name}.json"
        self._last = TallyFile()

    def add(self, why: str, reason: str, source: str, variant: str, recorded: str = "") -> None:
        """Count an answer, and write the file."""
        hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
        self.counts[HookCount(hour=hour, source=source, variant=variant, why=why, recorded=bool(recorded))] += 1
        last = {"doubt": reason, "doubtful": recorded} if recorded else {"reason": reason}
        rows = [msgspec.structs.replace(row, answers=count) for row, count in list(self.counts.items())]
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._last = msgspec.structs.replace(self._last, rows=rows, **last)
        self._file.write_bytes(msgspec.json.encode(self._last))


class Losses(Struct, frozen=True, kw_only=True):
    """What all hooks of a spool lost so far, by kind, and recorded with a doubt, by kind.

    Args:
        reason: of the last loss.
        doubt: the function or the path that recorded the last doubtful answer; `doubtful` is its id.
    """

    counts: dict[str, int] = {}
    reason: str = ""
    doubts: dict[str, int] = {}
    doubt: str = ""
    doubtful: str = ""

    @property
    def total(self) -> int:
        """The number of lost answers; what was not to be judged is none."""
        return sum(count for why, count in self.counts.items() if why not in NOT_PLANNED)

    @classmethod
    def of(cls, spool: Path) -> "Losses":
        """Sum the counts of all processes that write to a spool; a file that is just being written is passed over."""
        counts: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
        last = TallyFile()
        for file in tallies(spool):
            tally = read_tally(file)
            for row in tally.rows:
                counts[row.recorded][row.why] += row.answers
            last = TallyFile(
                reason=tally.reason or last.reason,
                doubt=tally.doubt or last.doubt,
                doubtful=tally.doubtful or last.doubtful,
            )
        return cls(
            counts=dict(counts[False]),
            reason=last.reason,
            doubts=dict(counts[True]),
            doubt=last.doubt,
            doubtful=last.doubtful,
        )


def tallies(spool: Path) -> list[Path]:
    """The files of a spool's hooks."""
    return sorted((spool / FOLDER).glob("*.json"))


def read_tally(file: Path) -> TallyFile:
    """The counts of a file; none while it is being written."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=TallyFile)
    except (OSError, msgspec.DecodeError):
        return TallyFile()


class HookCarrier:
    """Carries the counts of a spool's hooks into the ledger."""

    def __init__(self, spool: Path, ledger: "Ledger") -> None:
        self._spool, self._counts = spool, ledger.hook_counts
        self._stored: dict[str, tuple[int, int]] = {}

    def carry(self) -> None:
        """Store the counts of the files that have changed."""
        counted = [(file.stem, file) for file in tallies(self._spool)]
        rejected = [(f"{REJECTED}-{file.stem}", file) for file in rejected_files(self._spool)]
        for name, file in (*counted, *rejected):
            try:
                at = file.stat()
                if self._stored.get(name) == (at.st_mtime_ns, at.st_size):
                    continue
                counts = list(_rejected_rows(file)) if (name, file) in rejected else read_tally(file).rows
            except OSError:
                continue
            self._counts.put(name, counts)
            self._stored[name] = (at.st_mtime_ns, at.st_size)


def _rejected_rows(file: Path) -> Iterator[HookCount]:
    """The counts of lines that could not be submitted, by the hour of their answers or else of their file."""
    begun = datetime.fromtimestamp(int(file.stem.partition("-")[0]) / 1e9, UTC) if file.stem[:20].isdecimal() else None
    counts: Counter[HookCount] = Counter()
    for line in file.read_bytes().splitlines():
        moment, source, variant = begun or datetime.fromtimestamp(0, UTC), "", ""
        try:
            answer = msgspec.json.decode(msgspec.json.decode(line, type=dict[str, str])["line"], type=Answer)
            moment, source, variant = answer.answered_at, answer.source, answer.variant
        except (msgspec.DecodeError, KeyError, UnicodeError):
            pass
        hour = moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        counts[HookCount(hour=hour, source=source, variant=variant, why=REJECTED)] += 1
    for row, count in counts.items():
        yield msgspec.structs.replace(row, answers=count)
