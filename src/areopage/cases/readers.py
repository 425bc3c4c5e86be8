"""Open a dataset file by its extension and stream its rows; read Parquet."""

from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from areopage.cases.columns import field_named
from areopage.cases.rows import KEYED_SUFFIXES, MAX_RECORD, SUFFIXES, BadRow, Row, clip
from areopage.errors import DatasetError, MissingExtra, name_list
from areopage.extensions import required

MAX_RATIO = 250
"""How many times its own size a Parquet file unpacks to at most, unless that is under `FREE_UNPACKED`."""

FREE_UNPACKED = 64 * 1024 * 1024
_BATCH = 8
_BUFFER = 1024 * 1024


Reader = Callable[[Path], Iterator[Row | BadRow]]


def read_rows(path: Path) -> Generator[Row | BadRow, None, None]:
    """Yield the rows of a dataset in the file's order. Close the iterator to stop early.

    Memory does not grow with the file (a workbook is held whole, within the limits of its reader).

    Raises:
        DatasetError: the file is missing, not a regular file, unreadable, of an unknown kind, empty, or holds no row.
        MissingExtra: the format needs a part that is not installed.
    """
    read = _reader_for(path)
    empty = True
    try:
        for row in read(path):
            empty = False
            yield row
    except OSError as fault:
        raise DatasetError(f"{path}: the file cannot be read: {fault.strerror or fault}") from fault
    if empty:
        raise DatasetError(f"{path}: the file contains no rows")


def has_header(path: Path) -> bool:
    """Say whether one header holds for every row of the file."""
    return path.suffix.lower() not in KEYED_SUFFIXES


def _reader_for(path: Path) -> Reader:
    try:
        if not path.exists():
            raise DatasetError(f"{path}: no such file")
        if not path.is_file():
            raise DatasetError(f"{path}: not a regular file: name a dataset ({name_list(SUFFIXES)})")
        if path.stat().st_size == 0:
            raise DatasetError(f"{path}: the file is empty")
    except OSError as fault:
        raise DatasetError(f"{path}: the file cannot be read: {fault.strerror or fault}") from fault
    match path.suffix.lower():
        case ".csv" | ".tsv":
            from areopage.cases.text_files import read_csv as read
        case ".jsonl" | ".ndjson":
            from areopage.cases.text_files import read_jsonl as read
        case ".json":
            from areopage.cases.text_files import read_json as read
        case ".eval":
            read = required("datasets", ".eval", "reading a log of Inspect")
        case ".xlsx":
            from areopage.cases.xlsx_reader import read_xlsx as read
        case ".parquet":
            read = read_parquet
        case _:
            raise DatasetError(f"{path}: unknown extension: use one of {name_list(SUFFIXES)}")
    return read


def read_parquet(path: Path) -> Iterator[Row | BadRow]:
    """Yield the rows of a Parquet file, numbered from 1. Dates become ISO text, decimals become text."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as fault:
        raise MissingExtra("reading Parquet files", "parquet") from fault
    number = 0
    try:
        # Buffered and without read-ahead: pages are read as they are needed, not whole column chunks.
        with pyarrow.parquet.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False) as file:
            groups = (file.metadata.row_group(group) for group in range(file.metadata.num_row_groups))
            unpacked = sum(group.column(at).total_uncompressed_size for group in groups for at in range(group.num_columns))
            if unpacked > max(
                FREE_UNPACKED, MAX_RATIO * path.stat().st_size
            ):  # a small file may stand for texts that fill the memory
                raise DatasetError(f"{path}: the file unpacks to more than {MAX_RATIO} times its size")
            names = tuple(str(name) for name in file.schema_arrow.names)
            for batch in file.iter_batches(batch_size=_BATCH, use_threads=False):
                for cells in zip(*(_values(column) for column in batch.columns), strict=True):
                    number += 1
                    if sum(len(cell) for cell in cells if isinstance(cell, str | bytes)) > MAX_RECORD:
                        yield BadRow(number, f"the row is longer than {MAX_RECORD:,} characters", clip(str(cells[0])))
                        continue
                    try:
                        plain = tuple(_plain(name, cell) for name, cell in zip(names, cells, strict=True))
                    except UnicodeDecodeError:
                        yield BadRow(number, "a column of the case holds bytes that are not text", clip(repr(cells)))
                    else:
                        yield Row(number, names, plain)
    except pyarrow.ArrowException as fault:
        reason = str(fault).partition("\n")[0]
        raise DatasetError(f"{path}: the file is not readable as Parquet: {reason}") from fault


def _values(column: Any) -> list[Any]:
    """The values of a column; times of nanoseconds are taken to the microsecond."""
    import pyarrow

    kind = column.type
    if pyarrow.types.is_timestamp(kind) and kind.unit == "ns":
        column = column.cast(pyarrow.timestamp("us", kind.tz), safe=False)
    elif pyarrow.types.is_time64(kind) and kind.unit == "ns":
        column = column.cast(pyarrow.time64("us"), safe=False)
    elif pyarrow.types.is_duration(kind) and kind.unit == "ns":
        column = column.cast(pyarrow.duration("us"), safe=False)
    try:
        values: list[Any] = column.to_pylist()
    except (pyarrow.ArrowException, OverflowError, ValueError):
        return [_value(cell) for cell in column]
    return values


def _plain(name: str, cell: Any) -> Any:
    """Turn a value of Arrow into what JSON could hold; bytes are taken for UTF-8 text.

    Other bytes, such as those of a picture, are named by their number in a column that no case is made of.
    """
    if not isinstance(cell, bytes):
        return msgspec.to_builtins(cell, enc_hook=str)
    try:
        return cell.decode("utf-8")
    except UnicodeDecodeError:
        if field_named(name):
            raise
        return f"[{len(cell)} bytes]"


def _value(cell: Any) -> Any:
    """The value of a cell, or where Python has none, as for the year 20000 or an unknown time zone, its text."""
    import pyarrow

    with suppress(pyarrow.ArrowException, OverflowError, ValueError):
        return cell.as_py()
    kind = cell.type
    if pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind):
        return cell.cast(pyarrow.large_binary()).as_py()  # bytes that are no text
    if pyarrow.types.is_timestamp(kind):
        zone = "Z" if kind.tz else ""
        return f"{cell.cast(pyarrow.timestamp(kind.unit)).cast(pyarrow.large_string()).as_py()}{zone}"
    if pyarrow.types.is_duration(kind):
        return f"{cell.value} {kind.unit}"
    with suppress(pyarrow.ArrowException, OverflowError, ValueError):
        return cell.cast(pyarrow.large_string()).as_py()
    return b"\xff"  # lists and structures that hold such values
