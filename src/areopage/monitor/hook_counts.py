"""What hooks lost and what they recorded with a doubt: files of each process, which a worker carries into the ledger.

Each process writes files of its own, beside the answers of the spool: counts by hour, source and variant. A worker stores them
under the file's name, so that to store them twice changes nothing.
"""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from areopage.ledger.records import NOT_PLANNED, HookCount

FOLDER = "losses"
MOST_ROWS = 200
"""Counts of one file, which is rewritten at each of them."""


class TallyFile(Struct, frozen=True, kw_only=True):
    """The counts of a file, and the last reasons of a loss and of a doubt."""

    rows: list[HookCount] = []
    reason: str = ""
    doubt: str = ""


class HookTally:
    """The file of a process."""

    def __init__(self, spool: Path, name: str) -> None:
        self.counts: Counter[HookCount] = Counter()
        self._file = spool / FOLDER / f"{name}.json"
        self._reason = self._doubt = ""

    def add(self, why: str, reason: str, source: str, variant: str, *, recorded: bool) -> None:
        """Count an answer, and write the file.

        Raises:
            OSError: it cannot be written.
        """
        hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
        self.counts[HookCount(hour=hour, source=source, variant=variant, why=why, recorded=recorded)] += 1
        if recorded:
            self._doubt = reason
        else:
            self._reason = reason
        rows = [msgspec.structs.replace(row, answers=count) for row, count in self.counts.items()]
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_bytes(msgspec.json.encode(TallyFile(rows=rows, reason=self._reason, doubt=self._doubt)))


class Losses(Struct, frozen=True, kw_only=True):
    """What all hooks of a spool lost so far, by kind, and recorded with a doubt, by kind, each with the last reason."""

    counts: dict[str, int] = {}
    reason: str = ""
    doubts: dict[str, int] = {}
    doubt: str = ""

    @property
    def total(self) -> int:
        """The number of lost answers; what was not to be judged is none."""
        return sum(count for why, count in self.counts.items() if why not in NOT_PLANNED)


def read_losses(spool: Path) -> Losses:
    """Sum the counts of all processes that write to a spool; a file that is just being written is passed over."""
    counts: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    reason = doubt = ""
    for file in tallies(spool):
        found = read_tally(file)
        for row in found.rows:
            counts[row.recorded][row.why] += row.answers
        reason, doubt = found.reason or reason, found.doubt or doubt
    return Losses(counts=dict(counts[False]), reason=reason, doubts=dict(counts[True]), doubt=doubt)


def tallies(spool: Path) -> list[Path]:
    """The files of a spool's hooks."""
    return sorted((spool / FOLDER).glob("*.json"))


def read_tally(file: Path) -> TallyFile:
    """The counts of a file; none while it is being written."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=TallyFile)
    except (OSError, msgspec.DecodeError):
        return TallyFile()
