"""Import an older system's logs: figures with their responses and snapshots.

Rows are joined by their question and the nearest time. Nothing is dropped in silence: lines that cannot be used are rejected,
each with its reason; fields that contradict each other are taken as they are, and listed. Importing again adds nothing twice.
"""

import tempfile
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, tzinfo
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import Struct

from areopage.cases import RejectedRow
from areopage.checking.old_logs import (
    Contradiction,
    Kind,
    LogFile,
    Piece,
    Progress,
    differences,
    find_logs,
    kind_of,
    metrics_line,
    moment_of,
    pieces,
    read_again,
    text_in,
    trace_of,
)
from areopage.ledger import Ledger, Trace

NEAR = 5.0
"""Seconds that lie at most between the lines of one answer; they were written one after another, within milliseconds."""

BATCH = 500
MOST_LISTED = 100_000

Reject = Callable[[RejectedRow], None]


class Imported(Struct, frozen=True, kw_only=True):
    """The counts of an import.

    Args:
        rows: rows of figures, responses and snapshots that were read.
        added, known: traces that are new, and that the ledger had already.
        verdicts: what became of the answers, those that were known as well.
        joined: traces with a response, and with a snapshot.
        contradictions: fields that do not follow from the others, by name; `differences` lists them, up to 100,000.
        rejected: lines that were not taken.
    """

    files: int
    rows: dict[str, int]
    added: int
    known: int
    verdicts: dict[str, int]
    joined: dict[str, int]
    contradictions: dict[str, int]
    differences: tuple[Contradiction, ...]
    rejected: int


class LogPosition(Struct, frozen=True, order=True):
    """The position of a response or snapshot; ordered by time."""

    at: float
    file: int
    start: int
    size: int
    line: int


class Shelf:
    """Rows of figures, responses or snapshots by question and time."""

    def __init__(self) -> None:
        self._entries: dict[bytes, list[LogPosition]] = {}

    def put(self, question: str, entry: LogPosition) -> None:
        """Add an entry."""
        insort(self._entries.setdefault(_key_of(question), []), entry)

    def nearest(self, question: str, moment: float) -> LogPosition | None:
        """A question's entry that is nearest to a moment."""
        entries = self._entries.get(_key_of(question), [])
        right = bisect_left(entries, moment, key=lambda entry: entry.at)
        return min(entries[max(0, right - 1) : right + 1], key=lambda entry: abs(entry.at - moment), default=None)

    def take(self, question: str, at: datetime, rows: "Shelf") -> LogPosition | None:
        """Remove and return a question's nearest entry, unless another row is nearer; each is used once."""
        best = self.nearest(question, at.timestamp())
        if best is None:
            return None
        row = rows.nearest(question, best.at)
        if abs(best.at - at.timestamp()) > min(NEAR, abs(row.at - best.at) if row else NEAR):
            return None
        self._entries[_key_of(question)].remove(best)
        return best

    def left(self) -> Iterator[LogPosition]:
        """The entries not taken, in file order."""
        yield from sorted(
            (entry for entries in self._entries.values() for entry in entries), key=lambda entry: (entry.file, entry.start)
        )


def _key_of(question: str) -> bytes:
    return sha256(question.encode("utf-8", "surrogatepass")).digest()[:16]


def import_logs(
    ledger: Ledger,
    places: Sequence[Path],
    *,
    zone: tzinfo,
    reject: Reject,
    progress: Progress = lambda _what, _done, _total: None,
) -> Imported:
    """Import logs into the ledger as traces of the channel `import`.

    Args:
        places: files, and folders that are searched.
        zone: that times are in which name none.
        reject: is given every line that is not taken.

    Raises:
        DatasetError: a place does not exist, or holds no logs.
        StorageError: the ledger cannot be written; what came before is in it.
    """
    with tempfile.TemporaryDirectory(prefix="areopage-") as workspace:
        files = find_logs(places, Path(workspace))
        return Import(ledger, files, zone, reject, progress).run()


class Import:
    """An import in two passes: index responses and snapshots, then import rows."""

    def __init__(self, ledger: Ledger, files: Sequence[LogFile], zone: tzinfo, reject: Reject, progress: Progress) -> None:
        self._traces = ledger.traces
        self._files, self._zone, self._reject, self._progress = files, zone, reject, progress
        self._bytes = sum(file.size for file in files)
        self._with_rows: set[int] = set()
        self._lines, self._responses, self._snapshots = Shelf(), Shelf(), Shelf()
        self._batch: list[Trace] = []
        self._rows, self._verdicts, self._joined, self._contradictions = (Counter[str]() for _ in range(4))
        self._differences: list[Contradiction] = []
        self._added = self._given = self._rejected = 0

    def run(self) -> Imported:
        """Run the import."""
        done = 0
        for number, file in enumerate(self._files):
            for piece in pieces(file):
                self._note(number, piece, kind_of(piece.record) if piece.record is not None else None)
                done += piece.size
                self._progress("bytes", done, self._bytes)
        done = 0
        for piece in (piece for number in sorted(self._with_rows) for piece in pieces(self._files[number])):
            if piece.record is not None and kind_of(piece.record) == "metrics":
                self._take(piece.record, piece.file, piece.line)
                done += 1
                self._progress("rows", done, self._rows["metrics"])
        for entry in list(self._snapshots.left()):  # their row of figures is in no log: they hold it themselves
            file = self._files[entry.file]
            snapshot = read_again(file, entry.start, entry.size)
            record = {"question": snapshot.get("question"), "timestamp": snapshot.get("timestamp")} | snapshot["metrics"]
            self._take(record, file, entry.line, entry)
        self._flush()
        for entry in self._responses.left():
            question = text_in(self._record(entry), "question")
            self._refuse(self._files[entry.file], entry.line, "no row of figures belongs to this response", question)
        return Imported(
            files=len(self._files),
            rows=dict(self._rows),
            added=self._added,
            known=self._given - self._added,
            verdicts=dict(self._verdicts),
            joined=dict(self._joined),
            contradictions=dict(self._contradictions),
            differences=tuple(self._differences),
            rejected=self._rejected,
        )

    def _note(self, number: int, piece: Piece, kind: Kind | None) -> None:
        if piece.record is None or kind is None:
            reason = piece.reason or "neither a row of figures, nor a response, nor a snapshot"
            self._refuse(piece.file, piece.line, reason, piece.content or str(piece.record))
            return
        self._rows[kind] += 1
        if kind == "metrics":
            self._with_rows.add(number)
            with suppress(ValueError):  # a row that cannot be used is rejected when its turn comes
                at = moment_of(piece.record.get("timestamp"), self._zone)
                entry = LogPosition(at.timestamp(), number, piece.start, piece.size, piece.line)
                self._lines.put(str(piece.record.get("question")), entry)
            return
        inner = piece.record if kind == "response" else piece.record["metrics"]
        try:
            if not isinstance(inner, dict):
                raise ValueError("metrics: not an object")
            question, at = (
                piece.record.get("question"),
                moment_of(inner.get("timestamp", piece.record.get("timestamp")), self._zone),
            )
            if not isinstance(question, str):
                raise ValueError("question: missing, or not a text")
        except ValueError as fault:
            self._refuse(piece.file, piece.line, str(fault), str(piece.record))
            return
        shelf = self._responses if kind == "response" else self._snapshots
        shelf.put(question, LogPosition(at.timestamp(), number, piece.start, piece.size, piece.line))

    def _take(self, record: dict[str, Any], file: LogFile, number: int, snapshot: LogPosition | None = None) -> None:
        """Make a trace of a row of figures; `snapshot` is the one that the row stands in."""
        try:
            line, at = metrics_line(record), moment_of(record.get("timestamp"), self._zone)
        except ValueError as fault:
            reason, content = (f"metrics: {fault}", text_in(record, "question")) if snapshot else (str(fault), str(record))
            self._refuse(file, number, reason, content)
            return
        response = self._responses.take(line.question, at, self._lines)
        snapshot = snapshot or self._snapshots.take(line.question, at, self._lines)
        contradictions = differences(line, str(file.named), number)
        self._contradictions.update(difference.field for difference in contradictions)
        self._differences += contradictions[: max(0, MOST_LISTED - len(self._differences))]
        trace = trace_of(line, at, self._record(response), self._record(snapshot))
        self._verdicts[trace.verdict] += 1
        self._joined.update({"response": response is not None, "snapshot": snapshot is not None})
        self._batch.append(trace)
        if len(self._batch) == BATCH:
            self._flush()

    def _flush(self) -> None:
        self._added += self._traces.append(self._batch)
        self._given += len(self._batch)
        self._batch.clear()

    def _record(self, entry: LogPosition | None) -> dict[str, Any] | None:
        return None if entry is None else read_again(self._files[entry.file], entry.start, entry.size)

    def _refuse(self, file: LogFile, line: int, reason: str, content: str) -> None:
        self._rejected += 1
        self._reject(RejectedRow(file=str(file.named), row=line, reason=reason, content=content[:500]))
