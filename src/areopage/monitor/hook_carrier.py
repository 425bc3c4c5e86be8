"""Carry what hooks counted, and the answers of a spool that could not be submitted, into the ledger."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from areopage.ledger import Answer, HookCount, Ledger
from areopage.monitor.hook.counts import read_tally, tallies
from areopage.monitor.hook.spool_files import REJECTED, rejected_files


class HookCarrier:
    """Carries the counts of a spool's hooks into the ledger."""

    def __init__(self, spool: Path, ledger: Ledger) -> None:
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
