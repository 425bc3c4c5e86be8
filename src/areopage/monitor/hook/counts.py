"""What hooks lost and what they recorded with a doubt: files of each process, which a worker carries into the ledger.

Each process writes files of its own, beside the answers of the spool: counts by hour, source and variant. A worker stores them
under the file's name, so that to store them twice changes nothing.
"""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from areopage.ledger import NOT_PLANNED, HookCount

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
        reason = doubt = doubtful = ""
        for tally in map(read_tally, tallies(spool)):
            for row in tally.rows:
                counts[row.recorded][row.why] += row.answers
            reason, doubt, doubtful = tally.reason or reason, tally.doubt or doubt, tally.doubtful or doubtful
        return cls(counts=dict(counts[False]), reason=reason, doubts=dict(counts[True]), doubt=doubt, doubtful=doubtful)


def tallies(spool: Path) -> list[Path]:
    """The files of a spool's hooks."""
    return sorted((spool / FOLDER).glob("*.json"))


def read_tally(file: Path) -> TallyFile:
    """The counts of a file; none while it is being written."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=TallyFile)
    except (OSError, msgspec.DecodeError):
        return TallyFile()
