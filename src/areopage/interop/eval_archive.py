"""Open an `.eval` archive of Inspect: a zip of JSON, compressed with Deflate or Zstandard, read entry by entry in memory.

Nothing is extracted to the disk. An archive may be hostile: its directory, each entry and all entries together have limits, which
hold for the bytes that come out, not for those that the archive states.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from areopage.errors import DatasetError, MissingExtra

MAX_ENTRY = 64 * 1024 * 1024
MAX_DIRECTORY = 64 * 1024 * 1024
MAX_ENTRIES = 250_000
MAX_RATIO = 250
"""How many times its own size an archive may unpack to, above `MAX_LEAST`."""
MAX_LEAST = 256 * 1024 * 1024
ZSTANDARD = 93
"""The compression method of a zip."""

_END, _END_SIZE = b"PK\x05\x06", 22
_LOCATOR, _LOCATOR_SIZE = b"PK\x06\x07", 20
_END_64 = b"PK\x06\x06"
_LOCAL, _LOCAL_SIZE = b"PK\x03\x04", 30
_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError, struct.error)


class TooLarge(Exception):
    """An entry is longer than `MAX_ENTRY`."""


class EvalArchive:
    """The entries of an archive by their names; of several with one name the last, as other readers of zips take it."""

    def __init__(self, path: Path) -> None:
        """Read the directory of the archive."""
        self._path, self._left = path, max(MAX_LEAST, MAX_RATIO * path.stat().st_size)
        try:
            _refuse_large_directory(path)
            self._zip = zipfile.ZipFile(path)
        except _FAULTS as fault:
            raise self._damaged(fault) from fault
        self.entries = {entry.filename: entry for entry in self._zip.infolist()}

    def __enter__(self) -> "EvalArchive":
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self._zip.close()

    def samples(self) -> Iterator[str]:
        """The names of the entries that hold samples, in the order of the archive."""
        return (name for name in self.entries if name.startswith("samples/") and name.endswith(".json"))

    def read(self, name: str) -> bytes:
        """The content of an entry."""
        try:
            entry, most = self.entries[name], min(MAX_ENTRY, self._left) + 1
            if entry.compress_type == ZSTANDARD:
                content = self._unpacked(entry, most)
            else:
                with self._zip.open(entry) as stream:
                    content = stream.read(most)
        except _FAULTS as fault:
            raise self._damaged(fault) from fault
        self._left -= len(content)
        if self._left < 0:
            raise DatasetError(f"{self._path}: the archive unpacks to more than {MAX_RATIO} times its size")
        if len(content) > MAX_ENTRY:
            raise TooLarge
        return content

    def _unpacked(self, entry: zipfile.ZipInfo, most: int) -> bytes:
        """The content of an entry in Zstandard, up to a number of bytes; the archive's parser refuses the method."""
        try:
            from compression import zstd  # Python 3.14
        except ImportError:
            try:
                from backports import zstd
            except ImportError as fault:
                raise MissingExtra("reading a log that is compressed with Zstandard", "inspect") from fault
        file = self._zip.fp
        if file is None or entry.flag_bits & 1 or entry.compress_size > self._path.stat().st_size:
            raise zipfile.BadZipFile("an entry is encrypted, or longer than the file")
        if entry.compress_size > MAX_ENTRY:
            raise TooLarge
        file.seek(entry.header_offset)
        head = file.read(_LOCAL_SIZE)
        if not head.startswith(_LOCAL):
            raise zipfile.BadZipFile("an entry does not begin where the directory says")
        file.seek(sum(struct.unpack("<HH", head[26:30])), io.SEEK_CUR)
        packed, content = file.read(entry.compress_size), b""
        while packed and len(content) < most:  # frame by frame
            frame = zstd.ZstdDecompressor()
            try:
                content += frame.decompress(packed, most - len(content))
            except zstd.ZstdError as fault:
                raise zipfile.BadZipFile(str(fault)) from fault
            if len(content) < most and not frame.eof:
                raise zipfile.BadZipFile("an entry is cut")
            packed = frame.unused_data
        if len(content) < most and zlib.crc32(content) != entry.CRC:
            raise zipfile.BadZipFile("the checksum of an entry is wrong")
        return content

    def _damaged(self, fault: Exception) -> DatasetError:
        reason = str(fault).partition("\n")[0] or type(fault).__name__
        return DatasetError(f"{self._path}: the log is damaged or not a log of Inspect: {reason}")


def _refuse_large_directory(path: Path) -> None:
    """Measure the directory before it is read: each of its entries takes memory."""
    size = path.stat().st_size
    with path.open("rb") as file:
        start = max(0, size - 0xFFFF - _END_SIZE - _LOCATOR_SIZE)
        file.seek(start)
        tail = file.read()
        at = tail.rfind(_END)
        if at < 0 or len(tail) - at < _END_SIZE:
            raise zipfile.BadZipFile("it is no zip archive, or its end is missing")
        entries, length = struct.unpack("<HI", tail[at + 10 : at + 16])
        locator = tail[at - _LOCATOR_SIZE : at] if at >= _LOCATOR_SIZE else b""
        if locator.startswith(_LOCATOR):
            file.seek(min(struct.unpack("<Q", locator[8:16])[0], size))
            record = file.read(56)
            if not record.startswith(_END_64):
                raise zipfile.BadZipFile("its end is damaged")
            entries, length = struct.unpack("<QQ", record[32:48])
    if entries > MAX_ENTRIES or length > MAX_DIRECTORY:
        raise DatasetError(f"{path}: the archive has more than {MAX_ENTRIES:,} entries: split the log")
