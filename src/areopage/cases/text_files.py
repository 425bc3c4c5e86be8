"""Text files of datasets: read CSV, TSV, JSON Lines and JSON arrays; write cells that a spreadsheet shows and never runs."""

import codecs
import csv
import io
import logging
import math
import re
import string
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TextIO

import msgspec

from areopage.cases.columns import LATE_HEADER, is_export, is_later_header
from areopage.cases.rows import MAX_CONTENT, MAX_RECORD, BadRow, Row, clip, is_deep
from areopage.errors import DatasetError
from areopage.extensions import required
from areopage.text import decode_any

logger = logging.getLogger(__name__)

MAX_ARRAY = 8 * 1024 * 1024
"""The largest JSON array that is read, in bytes: many short entries take 30 times as much memory."""

_BLOCK = 1024 * 1024
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# The five bytes that Windows-1252 gives no character to: a file with one of them is something else.
_NOT_CP1252 = b"\x81\x8d\x8f\x90\x9d"
_BINARY = bytes({*range(32), 127} - set(b"\t\n\v\f\r\x1a\x1b"))
_DELIMITERS = ",;\t|"
_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "|"}
_CSV_HEAD = 64 * 1024  # the characters by which the delimiter is found
# Spreadsheets write this first line to say which delimiter follows.
_DIRECTIVE = re.compile(r'"?sep=([,;\t])"?\s*', re.IGNORECASE)
# csv.field_size_limit belongs to the whole process: one thread at a time may lend it.
_FIELD_LIMIT = threading.Lock()
_HEAD = 4096
_BLANK = f"{string.whitespace}\u00a0\ufeff"  # around the name of a column
# The fields of an Inspect log have an order: the library writes them so, and reads a log's beginning by it.
_INSPECT_LOG = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"\w+"\s*,\s*"eval"\s*:')
_ARRAY = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*(?:\{|\Z)")
_DECODER = msgspec.json.Decoder()
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_NO_NUMBER = re.compile(rb"[:,\[]\s*(?:NaN|-?Infinity)\b")  # as Python and pandas write it, against the standard
_ARRAY_DECODER = msgspec.json.Decoder(list[msgspec.Raw])
# Full-width signs too: some spreadsheets level them to the plain ones before they look for a formula.
_FORMULA = re.compile(r"[\s\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]*+[=+@|＝＋－＠｜-]")
_CONTROL = ("\t", "\r", "\n")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)


def refuse_binary(path: Path) -> None:
    """Look at the first block of a file that should be text.

    Raises:
        DatasetError: it is UTF-16, or holds NUL bytes as spreadsheets, archives and pictures do, and damaged texts.
    """
    with path.open("rb") as stream:
        head = stream.read(_BLOCK)
    at = head.find(b"\0")
    unmarked = 0 <= at < 2 and 4 * head.count(b"\0") > len(head) and _is_text(head[at ^ 1 :: 2])
    if head.startswith(_UTF_16) or unmarked:
        raise DatasetError(f"{path}: the text is UTF-16: save the file as UTF-8")
    if at < 0:
        return
    if _is_text(head.replace(b"\0", b"")):
        line = head.count(b"\n", 0, at) + 1
        raise DatasetError(f"{path}: line {line} holds a NUL character, which no text has: remove it, or export the file again")
    raise DatasetError(f"{path}: this is not a text file: export it as UTF-8 text")


def _is_text(content: bytes) -> bool:
    """Whether bytes hold nothing that only binary files hold."""
    return bool(content) and len(content.translate(None, _BINARY)) == len(content)


def find_encoding(path: Path) -> str:
    """Say with which codec a whole file can be decoded: `utf-8-sig`, else `cp1252` with a logged warning.

    The file is read once to its end: an answer from the first rows alone would change in the middle of a dataset.

    Raises:
        DatasetError: the file is neither.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    utf8 = cp1252 = True
    with path.open("rb") as stream:
        while utf8 or cp1252:
            block = stream.read(_BLOCK)
            if utf8:
                try:
                    decoder.decode(block, final=not block)
                except UnicodeDecodeError:
                    utf8 = False
            cp1252 = cp1252 and len(block.translate(None, _NOT_CP1252)) == len(block)
            if not block:
                break
    if utf8:
        return "utf-8-sig"
    if not cp1252:
        raise DatasetError(f"{path}: the text is neither UTF-8 nor Windows-1252: save the file as UTF-8")
    logger.warning("%s is not UTF-8 and was read as Windows-1252: save it as UTF-8 if letters look wrong", path)
    return "cp1252"


class _LineTooLong(csv.Error):
    """A line is longer than a record may be; those after it can be read."""


class _Lines:
    """Feed physical lines to the parser, and refuse a record before it becomes too long to hold."""

    def __init__(self, stream: TextIO, path: Path) -> None:
        self._stream, self._path = stream, path
        self._pending: str | None = None
        self._size = 0
        self.record: list[str] = []
        self.number = 0
        self.first_line, self._lines_read = 0, 0
        self.exhausted = False

    def start_record(self) -> None:
        """Forget the lines of the record before; `number` becomes that of the next one."""
        self.record.clear()
        self._size = 0
        self.number += 1
        self.first_line = self._lines_read + 1

    def push_back(self, line: str) -> None:
        self._pending = line
        self._lines_read -= 1

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line, self._pending = self._pending or self._stream.readline(MAX_RECORD + 1), None
        if not line:
            self.exhausted = True
            raise StopIteration
        self._size += len(line)
        self._lines_read += 1
        if self._size > MAX_RECORD:
            if not self.record and self._skipped(line):
                self.record.append(clip(line))
                raise _LineTooLong(f"the row is longer than {MAX_RECORD:,} characters")
            raise DatasetError(
                f"{self._path}: row {self.number} is longer than {MAX_RECORD:,} characters: "
                "line breaks are missing, or a quotation mark is not closed"
            )
        self.record.append(line)
        return line

    def _skipped(self, line: str) -> bool:
        """Skip the rest of a line; whether it ends before the file does, with every quotation mark closed."""
        quotes = line.count('"')
        while line and not line.endswith(("\n", "\r")):
            line = self._stream.readline(MAX_RECORD)
            quotes += line.count('"')
        return bool(line) and quotes % 2 == 0


def read_csv(path: Path) -> Iterator[Row | BadRow]:
    """Yield the rows below the header of a CSV or TSV file. Blank lines are counted and passed over.

    UTF-8 with or without a byte order mark, else Windows-1252. The delimiter (comma, semicolon, tab or |) is the one of the
    header by which most of the first rows have as many fields as it; of several, the one that it has most of outside quotes.
    A row is bad if it has more or fewer fields than the header, or is one line longer than `MAX_RECORD`. In an export of
    areopage the apostrophe that keeps a cell from being a formula is taken away.
    """
    refuse_binary(path)
    with path.open(encoding=find_encoding(path), newline="") as stream:
        head = stream.read(_CSV_HEAD)
        stream.seek(0)
        lines = _Lines(stream, path)
        delimiter = _find_delimiter(lines, head)
        records = _records(csv.reader(lines, delimiter=delimiter, strict=True), lines, path)
        header = next(records, None)
        if header is None:
            raise DatasetError(f"{path}: the file is empty")
        if isinstance(header, BadRow):
            raise DatasetError(f"{path}: the header cannot be read: {header.reason}")
        names = tuple(name.strip(_BLANK) for name in header)
        guarded = is_export(names)
        for fields in records:
            if isinstance(fields, BadRow):
                yield fields
            elif len(fields) != len(names):
                reason = f"the row has {len(fields)} fields where the header has {len(names)} (delimiter: {_NAMES[delimiter]})"
                reason += f"; it {LATE_HEADER}" if is_later_header(fields, names) else ""
                yield BadRow(lines.number, reason, clip("".join(lines.record)))
            else:
                yield Row(lines.number, names, tuple(map(bare_cell, fields) if guarded else fields), lines.first_line)


def _records(reader: Iterator[list[str]], lines: _Lines, path: Path) -> Iterator[list[str] | BadRow]:
    """Yield the fields of each record that is not blank; `lines.number` is its row number meanwhile."""
    while True:
        lines.start_record()
        try:
            fields = _next_record(reader)
        except _LineTooLong as fault:
            yield BadRow(lines.number, str(fault), lines.record[0])
            continue
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


def _find_delimiter(lines: _Lines, head: str) -> str:
    """Take the delimiter from the first line that is not blank, which is read again as the header, and from the first rows."""
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
    candidates = sorted(filter(bare.count, _DELIMITERS), key=bare.count, reverse=True)
    if len(candidates) > 1:
        candidates.sort(key=lambda delimiter: _fitting_rows(head, delimiter), reverse=True)
    return candidates[0] if candidates else ","


def _fitting_rows(head: str, delimiter: str) -> int:
    """How many of the rows at the beginning of a file have as many fields as its header."""
    sizes: list[int] = []
    with suppress(csv.Error):
        sizes.extend(len(fields) for fields in csv.reader(io.StringIO(head, newline=""), delimiter=delimiter) if any(fields))
    return sizes[1:].count(sizes[0]) if sizes else 0


def read_jsonl(path: Path) -> Iterator[Row | BadRow]:
    """Yield one row per line; a row's number is its line's. Blank lines are passed over.

    A file that is one JSON array in spite of its name is read as such: a row's number is its entry's.

    Raises:
        DatasetError: the file is not text, or its last line is longer than `MAX_RECORD` bytes and has no end.
    """
    refuse_binary(path)
    if (entries := _only_array(path)) is not None:
        yield from _read_entries(entries)
        return
    number = 0
    with path.open("rb") as stream:
        while line := stream.readline(MAX_RECORD + 1):
            number += 1
            if len(line) > MAX_RECORD:
                start = line[: 4 * MAX_CONTENT]
                while line and not line.endswith(b"\n"):
                    line = stream.readline(MAX_RECORD)
                if not line:
                    raise DatasetError(f"{path}: line {number} is longer than {MAX_RECORD:,} bytes: write one object per line")
                yield _too_long(number, start, "line")
                continue
            line = line.removeprefix(codecs.BOM_UTF8)  # of a file that others were appended to, too
            if line.strip():
                yield _read_object(number, line)


def read_json(path: Path) -> Iterator[Row | BadRow]:
    """Yield one row per object of a JSON array, numbered from 1, or per sample of a log of Inspect."""
    refuse_binary(path)
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
    if _INSPECT_LOG.match(head):
        yield from required("datasets", "log", "reading a log of Inspect")(path)
        return
    if path.stat().st_size > MAX_ARRAY:
        raise DatasetError(f"{path}: larger than {MAX_ARRAY // 1024**2} MB: write one object per line (.jsonl)")
    try:
        entries = _ARRAY_DECODER.decode(path.read_bytes().removeprefix(codecs.BOM_UTF8))
    except (msgspec.DecodeError, RecursionError) as fault:
        raise DatasetError(f"{path}: not a JSON array ({fault}); one object per line is JSON Lines (.jsonl)") from fault
    yield from _read_entries(entries)


def _only_array(path: Path) -> list[msgspec.Raw] | None:
    """The entries of a file that is one JSON array of objects, and no line of JSON Lines that is a list."""
    with path.open("rb") as stream:
        if not _ARRAY.match(stream.read(_HEAD)) or path.stat().st_size > MAX_ARRAY:
            return None
        stream.seek(0)
        try:
            return _ARRAY_DECODER.decode(stream.read().removeprefix(codecs.BOM_UTF8))
        except (msgspec.DecodeError, RecursionError):
            return None


def _read_entries(entries: Iterable[msgspec.Raw]) -> Iterator[Row | BadRow]:
    for number, entry in enumerate(entries, start=1):
        content = bytes(entry)
        too_long = len(content) > MAX_RECORD
        yield _too_long(number, content, "entry") if too_long else _read_object(number, content, "entry")


def _too_long(number: int, content: bytes, what: str) -> BadRow:
    shown = clip(content[: 4 * MAX_CONTENT].decode("utf-8", "replace").strip())
    return BadRow(number, f"the {what} is longer than {MAX_RECORD:,} bytes", shown)


def _read_object(number: int, line: bytes, what: str = "line") -> Row | BadRow:
    try:
        value: Any = _decoded(line, number, what)
    except UnicodeDecodeError:
        reason = f"the {what} is not UTF-8"
    except msgspec.DecodeError as fault:
        reason = f"not valid JSON: {fault}"
    except RecursionError:
        reason = "the JSON is nested too deeply"
    else:
        if isinstance(value, dict) and not is_deep(value):
            return Row(number, tuple(value), tuple(value.values()), number if what == "line" else 0)
        reason = "the JSON is nested too deeply" if isinstance(value, dict) else f"the {what} is not a JSON object"
    return BadRow(number, reason, clip(line.decode("utf-8", "replace").strip()))


def _decoded(line: bytes, number: int, what: str) -> Any:
    try:
        return _DECODER.decode(line)
    except msgspec.DecodeError:
        half, no_number = _HALF.search(line), _NO_NUMBER.search(line)
        if not half and not no_number:
            raise
        value = decode_any(line)
        if half:
            logger.warning("%s %d: half of a character was replaced by U+FFFD", what, number)
        if no_number:
            logger.warning("%s %d: NaN or Infinity was read as null", what, number)
        return _without_nan(value)


def _without_nan(value: Any) -> Any:
    """A JSON value with null in place of what is no number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return {name: _without_nan(item) for name, item in value.items()} if isinstance(value, dict) else value


def inert_cell(value: Any) -> str:
    """Return the text of a cell; one that would start a formula gets a leading apostrophe.

    A formula starts with `=`, `+`, `-`, `@` or `|`, also behind white space and characters without width; a leading tab or line
    end is taken for one. Apostrophes before a formula get a further one, so that `bare_cell` gives the text back. A plain number
    such as `-1.5` stays a number. None is an empty cell.
    """
    text = "" if value is None else str(value)
    return f"'{text}" if starts_formula(text.lstrip("'")) else text


def bare_cell(cell: str) -> str:
    """The text that `inert_cell` has written."""
    return cell[1:] if cell.startswith("'") and starts_formula(cell.lstrip("'")) else cell


def starts_formula(text: str) -> bool:
    """Whether a spreadsheet may take a text for a formula; see `inert_cell`."""
    return not _NUMBER.fullmatch(text) and (text.startswith(_CONTROL) or _FORMULA.match(text) is not None)


CSV_ENCODING = "utf-8-sig"
"""With the mark by which spreadsheets know UTF-8."""


def table_writer(stream: IO[str], *, semicolons: bool = False) -> Callable[[Iterable[Any]], object]:
    """Return what writes a row of a CSV file whose cells spreadsheets never run; see `inert_cell`.

    Args:
        stream: opened with `newline=""`.
        semicolons: part cells by semicolons, as spreadsheets in French expect.
    """
    # the line end has both characters, so that a cell with either of them is quoted
    writer = csv.writer(stream, delimiter=";" if semicolons else ",", lineterminator="\r\n")
    return lambda row: writer.writerow([inert_cell(cell) for cell in row])
