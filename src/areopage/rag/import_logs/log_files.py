"""Find and read an older system's logs: JSON Lines, archives and snapshots."""

import gzip
import os
import shutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from areopage.cases.readers import MAX_RECORD, clip, is_deep
from areopage.errors import DatasetError

LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
WHOLE = (".json", ".json.gz")

Progress = Callable[[str, int, int], None]
"""Told what is counted (`bytes` while files are read, then `rows` as they go into the ledger), how far it is, and the whole."""


class LogFile(Struct, frozen=True, kw_only=True):
    """A log file: its name, its unpacked path, and whether it is one record."""

    named: Path
    path: Path
    whole: bool

    @property
    def size(self) -> int:
        """The unpacked size in bytes."""
        return self.path.stat().st_size


class Piece(Struct, frozen=True, kw_only=True):
    """A record with its position, or the reason for its absence. `line` is 1-based."""

    file: LogFile
    line: int
    start: int
    size: int
    record: dict[str, Any] | None = None
    reason: str = ""
    content: str = ""


def find_logs(places: Sequence[Path], workspace: Path) -> list[LogFile]:
    """Find log files in order; archives are unpacked into a workspace.

    Raises:
        DatasetError: a place does not exist, no file is found, or one cannot be unpacked.
    """
    found: list[LogFile] = []
    for place in places:
        if not place.exists():
            raise DatasetError(f"{place}: no such file or folder")
        named = _files_in(place) if place.is_dir() else [place]
        for path in named:
            name = path.name.lower()
            if not name.endswith((*LINES, *WHOLE)):
                raise DatasetError(f"{path}: the logs are .jsonl or .json files, maybe packed (.gz)")
            if not path.is_file():  # what is read twice can be no pipe
                raise DatasetError(f"{path}: not a regular file: write the log into one")
            unpacked = _unpack(path, workspace / str(len(found))) if name.endswith(".gz") else path
            found.append(LogFile(named=path, path=unpacked, whole=name.endswith(WHOLE)))
    if not found:
        raise DatasetError(f"{', '.join(map(str, places))}: no .jsonl or .json file is in there")
    return found


def _files_in(folder: Path) -> list[Path]:
    found = []
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        logs = [name for name in sorted(names) if not name.startswith(".") and name.lower().endswith((*LINES, *WHOLE))]
        found += [Path(root, name) for name in logs]
    return found


def _unpack(path: Path, place: Path) -> Path:
    """Unpack a file."""
    try:
        with gzip.open(path, "rb") as packed, place.open("wb") as unpacked:
            shutil.copyfileobj(packed, unpacked)
    except (gzip.BadGzipFile, EOFError, zlib.error) as fault:
        raise DatasetError(f"{path}: not a whole packed file ({fault}): copy it again, or unpack it yourself") from None
    return place


def pieces(file: LogFile) -> Iterator[Piece]:
    """Iterate over a file's records and invalid lines."""
    if file.whole:
        if file.size > MAX_RECORD:
            yield too_long(file, 1, 0, file.size)
            return
        yield _read_piece(file, 1, 0, file.path.read_bytes())
        return
    start, line = 0, 0
    with file.path.open("rb") as stream:
        while content := stream.readline(MAX_RECORD + 1):
            line, size = line + 1, len(content)
            if size > MAX_RECORD:
                while (rest := stream.readline(MAX_RECORD)) and not rest.endswith(b"\n"):
                    size += len(rest)
                size += len(rest)
                yield too_long(file, line, start, size)
            elif content.strip():
                yield _read_piece(file, line, start, content)
            start += size


def too_long(file: LogFile, line: int, start: int, size: int) -> Piece:
    """A line that exceeds the size limit."""
    return Piece(file=file, line=line, start=start, size=size, reason=f"longer than {MAX_RECORD:,} bytes")


def _read_piece(file: LogFile, line: int, start: int, content: bytes) -> Piece:
    place: dict[str, Any] = {"file": file, "line": line, "start": start, "size": len(content)}
    try:
        value = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        reason = f"not valid JSON: {fault}"
    except RecursionError:
        reason = "the JSON is nested too deeply"
    else:
        if isinstance(value, dict) and not is_deep(value):
            return Piece(**place, record=value)
        reason = "not a JSON object, or nested too deeply"
    return Piece(**place, reason=reason, content=clip(content.decode("utf-8", "replace").strip()))


def read_again(file: LogFile, start: int, size: int) -> dict[str, Any]:
    """Read a record again by its position."""
    with file.path.open("rb") as stream:
        stream.seek(start)
        piece = _read_piece(file, 1, start, stream.read(size))
    return piece.record or {}
