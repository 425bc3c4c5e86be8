"""Export of the trace files from the ledger.

Each log is its own cursor. Its lines are the ledger's traces in the ledger's order, so the last line whose id the ledger knows
says what is missing. A killed export leaves whole lines and at most a part of one, which the next export cuts off. A snapshot is
written before the line of figures of its trace. So the next export completes the files and writes nothing twice. Files that were
removed are written again.

`logs/.traces.json` spares work: where the last line is the one it names, traces behind it that have no line are not read again.
It also says which erased or reduced texts are already rewritten, and is replaced after all other files: to rewrite twice changes
nothing. One export runs at a time.
"""

import os
import re
import stat
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import msgspec
from filelock import FileLock
from msgspec import Struct, structs

from areopage.checking.config import RagConfig, TracesSection
from areopage.checking.log_lines import (
    METRICS,
    RESPONSES,
    SAFE_ID,
    SNAPSHOTS,
    MetricsLine,
    ResponseLine,
    Snapshot,
    has_metrics,
    has_response,
    has_snapshot,
)
from areopage.errors import StorageError
from areopage.ledger import Ledger, Trace, TraceFeed

LOCK = "logs/.traces.lock"
STATE = "logs/.traces.json"
TEMPORARY = ".tmp"
AT_ONCE = 500
TAIL = 65_536


class Exported(Struct, frozen=True, kw_only=True):
    """Counts of an export: lines appended and rewritten, snapshots written and removed."""

    lines: int = 0
    snapshots: int = 0
    rewritten: int = 0
    removed: int = 0


class _State(Struct, frozen=True, kw_only=True):
    """How far the files follow a ledger's changes and answers; `metrics` and `responses` are the answers of the last lines."""

    ledger: str
    change: int = 0
    answer: int = 0
    metrics: int = 0
    responses: int = 0


class _LineId(Struct):
    id: str = ""


class TraceExport:
    """Exports a ledger's traces to a folder; safe across threads and processes."""

    def __init__(self, ledger: Ledger, section: TracesSection, folder: Path) -> None:
        """Args:
        section: where it is not `enabled`, files that are there lose the texts that were erased, and get no lines.
        folder: gets `logs/` and `snapshots/`; the section's own `folder` as the configuration resolves it.
        """
        self.folder = folder
        self._ledger, self._feed, self._enabled = ledger, TraceFeed(ledger), section.enabled
        self._metrics = _Log(folder / METRICS, section, has_metrics, MetricsLine.of)
        self._responses = _Log(folder / RESPONSES, section, has_response, ResponseLine.of)

    @property
    def wanted(self) -> bool:
        """Whether anything is due for writing."""
        return self._enabled or self._snapshots.is_dir() or any(log.exists for log in (self._metrics, self._responses))

    def run(self) -> Exported:
        """Rewrite changed lines and append missing ones.

        It blocks, also while another export runs.

        Raises:
            StorageError: a file cannot be written, or the ledger cannot be read; the next export completes what this one left.
        """
        if not self.wanted:
            return Exported()
        try:
            (self.folder / LOCK).parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self.folder / LOCK, mode=0o660):
                return self._run()
        except OSError as fault:
            where, reason = fault.filename or self.folder, fault.strerror or fault
            raise StorageError(
                f"{where} cannot be written ({reason}), and may lack lines or hold erased texts: fix it, and export again"
            ) from None

    def _run(self) -> Exported:
        for log in (self._metrics, self._responses):
            log.recover()
        for forgotten in self._snapshots.glob(f".*{TEMPORARY}"):
            forgotten.unlink()
        end, state = self._feed.end(), self._state()
        changed = self._feed.changed(state.change, end.change) if state.change < end.change else set()
        changed_snapshots = [id for id in changed if SAFE_ID.fullmatch(id) and self._snapshot(id).is_file()]
        current = list(self._feed.current(changed_snapshots))
        gone = [trace for trace in current if not has_snapshot(trace)]
        for trace in gone:
            self._snapshot(trace.id).unlink()
        self._write_snapshots(current)
        if gone:
            _sync_folder(self._snapshots)
        rewritten = sum(log.rewrite(changed, self._feed) for log in (self._metrics, self._responses)) if changed else 0
        now = structs.replace(state, change=end.change)
        lines = snapshots = 0
        if self._enabled:
            metrics, responses = self._metrics.cursor(self._feed), self._responses.cursor(self._feed)
            after = state.answer if metrics == state.metrics else metrics
            after_responses = state.answer if responses == state.responses else responses
            for traces in self._feed.traces(min(after, after_responses), end.answer):
                snapshots += self._write_snapshots([trace for trace in traces if trace.answer.number > after])
                written = self._responses.append([trace for trace in traces if trace.answer.number > after_responses])
                responses = written[-1] if written else responses
                lines += len(written)
                written = self._metrics.append([trace for trace in traces if trace.answer.number > after])
                metrics = written[-1] if written else metrics
                lines += len(written)
            now = structs.replace(now, answer=end.answer, metrics=metrics, responses=responses)
        if now != state or not (self.folder / STATE).exists():
            _replace(self.folder / STATE, msgspec.json.encode(now))
            _sync_folder(self.folder / "logs")
        return Exported(lines=lines, snapshots=snapshots, rewritten=rewritten, removed=len(gone))

    @property
    def _snapshots(self) -> Path:
        return self.folder / SNAPSHOTS

    def _state(self) -> _State:
        """How far the files are; where that is not known, or they followed another ledger: not at all."""
        ledger = sha256(b"traces" + self._ledger.secret()).hexdigest()[:32]
        try:
            read = msgspec.json.decode((self.folder / STATE).read_bytes(), type=_State)
        except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
            return _State(ledger=ledger)
        return read if read.ledger == ledger else _State(ledger=ledger)

    def _write_snapshots(self, traces: Sequence[Trace]) -> int:
        """Write the snapshots of traces that have one; an id that could lead elsewhere is never a file's name."""
        having = [trace for trace in traces if has_snapshot(trace) and SAFE_ID.fullmatch(trace.id)]
        if having:
            self._snapshots.mkdir(parents=True, exist_ok=True)
            for trace in having:
                _replace(self._snapshot(trace.id), msgspec.json.encode(Snapshot.of(trace)) + b"\n")
            _sync_folder(self._snapshots)
        return len(having)

    def _snapshot(self, id: str) -> Path:
        return self._snapshots / f"{id}.json"


class _Log:
    """A file of lines, with those that were rotated: `NAME.000001.jsonl`, `NAME.000002.jsonl` and so on, the newest last.

    Its methods want the lock of the export.
    """

    def __init__(
        self, path: Path, section: TracesSection, has: Callable[[Trace], bool], line_of: Callable[[Trace], Struct]
    ) -> None:
        self._path, self._has, self._line_of = path, has, line_of
        self._max_bytes, self._keep = section.max_bytes, section.keep

    @property
    def exists(self) -> bool:
        """Whether the log or a rotated log exists."""
        return self._path.is_file() or bool(self._rotated())

    def recover(self) -> None:
        """Remove a partial last line and leftovers of an unfinished rewrite."""
        for path in self._files():
            path.with_name(f".{path.name}{TEMPORARY}").unlink(missing_ok=True)
        if not self._path.is_file():
            return
        with self._path.open("rb+") as file:
            size = file.seek(0, os.SEEK_END)
            whole = size - len(next(_parts_from_end(file), b""))
            if whole < size:
                file.truncate(whole)
                os.fsync(file.fileno())

    def cursor(self, feed: TraceFeed) -> int:
        """The last line's number in the ledger; 0 without such a line."""
        for path in reversed(self._files()):
            if not path.is_file():
                continue
            with path.open("rb") as file:
                lines = _parts_from_end(file)
                while part := list(islice(lines, AT_ONCE)):
                    ids = [id for line in part if (id := _id_of(line))]
                    numbers = feed.numbers(ids)
                    if numbers:
                        return next(numbers[id] for id in ids if id in numbers)
        return 0

    def append(self, traces: Sequence[Trace]) -> list[int]:
        """Append lines of traces, rotating a large log; return the answers' numbers once all is on disk."""
        having = [trace for trace in traces if self._has(trace)]
        size = self._path.stat().st_size if self._path.is_file() else 0
        waiting: list[bytes] = []
        for line in (self._encoded(trace) for trace in having):
            if size and size + len(line) > self._max_bytes:
                self._write(waiting)
                number = max((number for number, _ in self._rotated()), default=0) + 1
                self._path.rename(self._path.with_name(f"{self._path.stem}.{number:06d}{self._path.suffix}"))
                _sync_folder(self._path.parent)
                waiting, size = [], 0
            waiting.append(line)
            size += len(line)
        self._write(waiting)
        # Too many rotated files go once the log itself has a line that says how far it goes.
        rotated = self._rotated()
        if len(rotated) > self._keep and self._path.is_file():
            for _, path in rotated[: len(rotated) - self._keep]:
                path.unlink()
            _sync_folder(self._path.parent)
        return [trace.answer.number for trace in having]

    def rewrite(self, changed: Collection[str], feed: TraceFeed) -> int:
        """Replace the lines of changed traces, each file atomically; return how many."""
        count = 0
        for path in filter(Path.is_file, self._files()):
            with path.open("rb") as file:
                ids = {id for line in file if (id := _id_of(line)) in changed}
            if not ids:
                continue
            temporary = path.with_name(f".{path.name}{TEMPORARY}")
            with path.open("rb") as file, _new_file(temporary) as written:
                while part := list(islice(file, AT_ONCE)):
                    here = [_id_of(line) for line in part]
                    new = {trace.id: self._encoded(trace) for trace in feed.current([id for id in here if id in ids])}
                    lines = [new.get(id, line) for id, line in zip(here, part, strict=True)]
                    count += sum(line is not other for line, other in zip(lines, part, strict=True))
                    written.writelines(lines)
                _flush(written)
            _keep_owner(path, temporary)
            temporary.replace(path)
            _sync_folder(path.parent)
        return count

    def _encoded(self, trace: Trace) -> bytes:
        return msgspec.json.encode(self._line_of(trace)) + b"\n"

    def _write(self, lines: Sequence[bytes]) -> None:
        if not lines:
            return
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(self._path, flags, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            try:
                _write_whole(descriptor, b"".join(lines))
            except OSError as fault:
                os.ftruncate(descriptor, size)
                raise OSError(fault.errno, fault.strerror, str(self._path)) from None
        finally:
            os.close(descriptor)
        if not size:
            _sync_folder(self._path.parent)

    def _rotated(self) -> list[tuple[int, Path]]:
        name = re.compile(rf"{re.escape(self._path.stem)}\.(\d{{6,}}){re.escape(self._path.suffix)}")
        matched = [
            (name.fullmatch(path.name), path) for path in self._path.parent.glob(f"{self._path.stem}.*{self._path.suffix}")
        ]
        return sorted((int(match[1]), path) for match, path in matched if match)

    def _files(self) -> list[Path]:
        return [*(path for _, path in self._rotated()), self._path]


def _parts_from_end(file: BinaryIO) -> Iterator[bytes]:
    """What line feeds separate in a file, the last first; that is what has no end yet, b"" where all lines are whole."""
    start, rest, size = file.seek(0, os.SEEK_END), b"", TAIL
    while start:
        end, start = start, max(0, start - size)
        file.seek(start)
        rest, *parts = (file.read(end - start) + rest).split(b"\n")
        yield from reversed(parts)
        size *= 2  # a long line is not read over and over
    yield rest


def _id_of(line: bytes) -> str:
    try:
        return msgspec.json.decode(line, type=_LineId).id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""


def _replace(place: Path, content: bytes) -> None:
    temporary = place.with_name(f".{place.stem}{TEMPORARY}")
    with _new_file(temporary) as file:
        file.write(content)
        _flush(file)
    temporary.replace(place)


def _new_file(path: Path) -> BinaryIO:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    return os.fdopen(os.open(path, flags, 0o600), "wb")


def _write_whole(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.fsync(descriptor)


def _flush(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _keep_owner(path: Path, temporary: Path) -> None:
    before, now = path.stat(), temporary.stat()
    if sys.platform != "win32" and (before.st_uid, before.st_gid) != (now.st_uid, now.st_gid):
        os.chown(temporary, before.st_uid, before.st_gid)
    temporary.chmod(stat.S_IMODE(before.st_mode))


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def trace_export(config: RagConfig, ledger: Ledger) -> TraceExport:
    """The export of traces to this computer's trace files."""
    traces = config.section.traces
    return TraceExport(ledger, traces, config.path(traces.folder))
