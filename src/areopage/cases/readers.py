"""Open a dataset file by its extension and stream its rows."""

from collections.abc import Callable, Generator, Iterator
from pathlib import Path

from areopage.cases.rows import BadRow, Row
from areopage.errors import DatasetError, name_list

Reader = Callable[[Path], Iterator[Row | BadRow]]

KEYED_SUFFIXES = (".jsonl", ".ndjson")
"""Formats without a header: each row brings its own names."""

SUFFIXES = (".csv", ".tsv", ".xlsx", *KEYED_SUFFIXES, ".parquet")


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
    """Check that the path can be a dataset, and import the one reader that it needs."""
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
            from areopage.cases.csv_reader import read_csv as read
        case ".jsonl" | ".ndjson":
            from areopage.cases.jsonl_reader import read_jsonl as read
        case ".xlsx":
            from areopage.cases.xlsx_reader import read_xlsx as read
        case ".parquet":
            from areopage.cases.parquet_reader import read_parquet as read
        case _:
            raise DatasetError(f"{path}: unknown extension: use one of {name_list(SUFFIXES)}")
    return read
