"""Read Parquet in small batches; needs the extra `parquet`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from areopage.cases.rows import MAX_RECORD, BadRow, Row, clip
from areopage.errors import DatasetError, MissingExtra

_BATCH = 64
_BUFFER = 1024 * 1024


def read_parquet(path: Path) -> Iterator[Row | BadRow]:
    """Yield the rows of a Parquet file, numbered from 1. Dates become ISO text, decimals become text.

    Raises:
        DatasetError: the file is not Parquet, or is damaged.
        MissingExtra: pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as fault:
        raise MissingExtra("reading Parquet files", "parquet") from fault
    number = 0
    try:
        # Buffered and without read-ahead: pages are read as they are needed, not whole column chunks.
        with pyarrow.parquet.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False) as file:
            names = tuple(str(name) for name in file.schema_arrow.names)
            for batch in file.iter_batches(batch_size=_BATCH, use_threads=False):
                for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    number += 1
                    yield _read_record(number, names, cells)
    except pyarrow.ArrowException as fault:
        reason = str(fault).partition("\n")[0]
        raise DatasetError(f"{path}: the file is not readable as Parquet: {reason}") from fault


def _read_record(number: int, names: tuple[str, ...], cells: tuple[Any, ...]) -> Row | BadRow:
    if sum(len(cell) for cell in cells if isinstance(cell, str | bytes)) > MAX_RECORD:
        return BadRow(number, f"the row is longer than {MAX_RECORD:,} characters", clip(str(cells[0])))
    try:
        return Row(number, names, tuple(_plain(cell) for cell in cells))
    except UnicodeDecodeError:
        return BadRow(number, "a column holds bytes that are not text", clip(repr(cells)))


def _plain(cell: Any) -> Any:
    """Turn a value of Arrow into what JSON could hold; bytes are taken for UTF-8 text."""
    return cell.decode("utf-8") if isinstance(cell, bytes) else msgspec.to_builtins(cell)
