"""Read delimited text row by row, in memory that does not grow with the file."""

import csv
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from areopage.cases.rows import MAX_RECORD, BadRow, Row, clip
from areopage.cases.text_encoding import find_encoding, refuse_binary
from areopage.errors import DatasetError

_DELIMITERS = ",;\t"
# Spreadsheets write this first line to say which delimiter follows.
_DIRECTIVE = re.compile(r'"?sep=([,;\t])"?\s*', re.IGNORECASE)
# csv.field_size_limit belongs to the whole process: one thread at a time may lend it.
_FIELD_LIMIT = threading.Lock()


class _Lines:
    """Feed physical lines to the parser, and refuse a record before it becomes too long to hold."""

    def __init__(self, stream: TextIO, path: Path) -> None:
        self._stream, self._path = stream, path
        self._pending: str | None = None
        self._size = 0
        self.record: list[str] = []
        self.number = 0
        self.exhausted = False

    def start_record(self) -> None:
        """Forget the lines of the record before; `number` becomes that of the next one."""
        self.record.clear()
        self._size = 0
        self.number += 1

    def push_back(self, line: str) -> None:
        """Let the next read return `line`."""
        self._pending = line

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line, self._pending = self._pending or self._stream.readline(MAX_RECORD + 1), None
        if not line:
            self.exhausted = True
            raise StopIteration
        self._size += len(line)
        if self._size > MAX_RECORD:
            raise DatasetError(
                f"{self._path}: row {self.number} is longer than {MAX_RECORD:,} characters: "
                "line breaks are missing, or a quotation mark is not closed"
            )
        self.record.append(line)
        return line


def read_csv(path: Path) -> Iterator[Row | BadRow]:
    """Yield the rows below the header of a CSV or TSV file. Blank lines are counted and passed over.

    UTF-8 with or without a byte order mark, else Windows-1252. The delimiter (comma, semicolon or tab) is the one
    that the header line has most of outside quotes. A row is bad if it has more or fewer fields than the header.

    Raises:
        DatasetError: the file is not text, has no header, or holds a record longer than `MAX_RECORD`.
    """
    refuse_binary(path)
    with path.open(encoding=find_encoding(path), newline="") as stream:
        lines = _Lines(stream, path)
        delimiter = _find_delimiter(lines)
        records = _records(csv.reader(lines, delimiter=delimiter, strict=True), lines, path)
        header = next(records, None)
        if header is None:
            raise DatasetError(f"{path}: the file is empty")
        if isinstance(header, BadRow):
            raise DatasetError(f"{path}: the header cannot be read: {header.reason}")
        names = tuple(name.strip() for name in header)
        for fields in records:
            if isinstance(fields, BadRow):
                yield fields
            elif len(fields) != len(names):
                reason = f"the row has {len(fields)} fields where the header has {len(names)}"
                yield BadRow(lines.number, reason, clip("".join(lines.record)))
            else:
                yield Row(lines.number, names, tuple(fields))


def _records(reader: Iterator[list[str]], lines: _Lines, path: Path) -> Iterator[list[str] | BadRow]:
    """Yield the fields of each record that is not blank; `lines.number` is its row number meanwhile."""
    while True:
        lines.start_record()
        try:
            fields = _next_record(reader)
        except csv.Error as fault:
            if lines.exhausted:
                # Everything to the end of the file fell into one field: carrying on would lose those rows unseen.
                raise DatasetError(f"{path}: row {lines.number}: a quotation mark is not closed") from fault
            yield BadRow(lines.number, f"not valid CSV: {fault}", clip("".join(lines.record)))
            continue
        if fields is None:
            return
        if any(field.strip() for field in fields):
            yield fields


def _next_record(reader: Iterator[list[str]]) -> list[str] | None:
    """Parse one record with a field limit that lets `_Lines` alone decide what is too long."""
    with _FIELD_LIMIT:
        before = csv.field_size_limit(MAX_RECORD)
        try:
            return next(reader, None)
        finally:
            csv.field_size_limit(before)


def _find_delimiter(lines: _Lines) -> str:
    """Take the delimiter from the first line that is not blank; that line is read again as the header."""
    line = ""
    while not line.strip():
        lines.start_record()
        line = next(lines, "")
        if not line:
            return ","
    if directive := _DIRECTIVE.fullmatch(line):
        return directive[1]
    lines.push_back(line)
    lines.number -= 1
    bare = re.sub(r'"[^"]*"', "", line)
    return max(_DELIMITERS, key=bare.count)
