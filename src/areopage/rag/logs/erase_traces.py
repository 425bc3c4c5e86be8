"""Take the texts of answers out of the files beside the ledger; see `traces` for what lies there.

A snapshot is removed. Of a line the figures stay, its texts become empty. A log is rewritten under the lock of those who append
to it: they open it anew for each line, so none of them writes into the file that was replaced. The lock is given back between
two files. Whoever is killed leaves each file either as it was or rewritten.
"""

import os
import stat
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from areopage.errors import StorageError
from areopage.rag.logs.append_file import locked, rotated, sync_folder
from areopage.rag.logs.traces import METRICS, RESPONSES, SAFE_ID, SNAPSHOTS, json_line, remove_forgotten

TEXTS: dict[str, Any] = {"question": "", "generation_trunc": "", "detected_ids": [], "unknown_ids": []}
"""What becomes of the fields that hold words of people, documents or models."""

Line = dict[str, Any]
Wanted = Callable[[bytes], Line | None]
"""What is to become of a line; None where it stays as it is."""


class ErasedTraces(Struct, frozen=True, kw_only=True):
    """How many lines were emptied, and how many snapshots removed."""

    lines: int = 0
    snapshots: int = 0


def erase_traces(folder: Path, ids: Collection[str]) -> ErasedTraces:
    """Erase answers by their ids.

    Args:
        folder: holds `logs/` and `snapshots/`, or neither.

    Raises:
        StorageError: a file cannot be rewritten or removed, and may still hold them.
    """
    marks = [f'"{id}"'.encode() for id in ids]

    def wanted(line: bytes) -> Line | None:
        if not any(mark in line for mark in marks):
            return None
        read = read_line(line)
        return emptied(read) if read is not None and read.get("id") in ids else None

    safe = [id for id in ids if SAFE_ID.fullmatch(id)]
    places = (place for id in safe for name in (f"{id}.json", f".{id}.*.tmp") for place in (folder / SNAPSHOTS).glob(name))
    return erase(folder, wanted, places)


def erase_traces_before(folder: Path, moment: datetime) -> ErasedTraces:
    """Erase all answers before a moment. Lines of other systems, which have no id of ours, stay as they are.

    Raises:
        StorageError: see `erase_traces`.
    """

    def wanted(line: bytes) -> Line | None:
        read = read_line(line)
        if read is None or not is_before(read, moment):
            return None
        left = emptied(read)
        return None if left == read else left

    def old() -> Iterator[Path]:
        remove_forgotten(folder / SNAPSHOTS)
        for place in (folder / SNAPSHOTS).glob("*.json"):
            read = read_line(place.read_bytes()) if SAFE_ID.fullmatch(place.stem) else None
            if read is not None and is_before(read, moment):
                yield place

    return erase(folder, wanted, old())


def erase(folder: Path, wanted: Wanted, snapshots: Iterator[Path]) -> ErasedTraces:
    """Remove snapshots, and empty lines.

    Raises:
        StorageError: a file cannot be rewritten or removed.
    """
    removed, lines = 0, 0
    try:
        for place in snapshots:
            place.unlink(missing_ok=True)
            removed += place.suffix == ".json"
        if removed:
            sync_folder(folder / SNAPSHOTS)
        for log in (METRICS, RESPONSES):
            lines += erase_lines(folder / log, wanted)
    except OSError as fault:
        where = fault.filename or folder
        raise StorageError(
            f"{where} may still hold what is to be erased ({fault.strerror}): mend that, and erase again"
        ) from None
    return ErasedTraces(lines=lines, snapshots=removed)


def erase_lines(path: Path, wanted: Wanted) -> int:
    """Empty lines of a log and of those that were put aside; returns how many.

    What is put aside while this goes on has a higher number, and is found in the next round; the log itself comes last.

    Raises:
        OSError: a file cannot be rewritten.
    """
    if not path.is_file() and not rotated(path):
        return 0
    changed, done = 0, set[int]()
    while True:
        with locked(path.with_name(path.name + ".lock")):
            left = next(((number, one) for number, one in rotated(path) if number not in done), None)
            changed += rewrite(left[1] if left else path, wanted)
        if left is None:
            return changed
        done.add(left[0])


def rewrite(path: Path, wanted: Wanted) -> int:
    """Rewrite a file if any of its lines is wanted; returns how many were. Its lock must be held.

    Half a line at its end is cut off with that, as whoever appends next would do.

    Raises:
        OSError: it cannot be written; it is as it was then.
    """
    temporary = path.with_name(f".{path.name}.erasing")  # its name is always the same: the next one overwrites what was left
    temporary.unlink(missing_ok=True)
    try:
        if not path.is_file() or not any(wanted(line) is not None for line in whole_lines(path)):
            return 0
        changed = write_without(path, temporary, wanted)
        keep_owner(path, temporary)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)
    return changed


def write_without(path: Path, temporary: Path, wanted: Wanted) -> int:
    """Write a file's lines into another one, wanted ones without their texts; returns how many these were."""
    changed = 0
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    with os.fdopen(os.open(temporary, flags, 0o640), "wb") as file:
        for line in whole_lines(path):
            left = wanted(line)
            changed += left is not None
            file.write(line if left is None else json_line(left))
        file.flush()
        os.fsync(file.fileno())
    return changed


def keep_owner(path: Path, temporary: Path) -> None:
    """Give a file the owner and the rights of the one that it replaces: whoever appends to that must be able to go on.

    Raises:
        OSError: it is somebody else's.
    """
    before, now = path.stat(), temporary.stat()
    if sys.platform != "win32" and (before.st_uid, before.st_gid) != (now.st_uid, now.st_gid):
        os.chown(temporary, before.st_uid, before.st_gid)
    temporary.chmod(stat.S_IMODE(before.st_mode))


def whole_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file that have an end."""
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield line


def read_line(line: bytes) -> Line | None:
    """A line as an object; None where it is none."""
    try:
        read = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return None
    return read if isinstance(read, dict) else None


def is_before(read: Line, moment: datetime) -> bool:
    """Whether a line or snapshot is ours, and of an answer before a moment."""
    id, at = read.get("id"), read.get("timestamp")
    if not isinstance(id, str) or not SAFE_ID.fullmatch(id) or not isinstance(at, str):
        return False
    try:
        return datetime.fromisoformat(at) < moment
    except (ValueError, TypeError):  # no time, or one without a zone
        return False


def emptied(read: Line) -> Line:
    """A line without its texts."""
    return read | {name: empty for name, empty in TEXTS.items() if name in read}
