"""Tables as files: CSV, XLSX, Parquet and JSON Lines from the same rows, with bounded memory.

Spreadsheets never run a cell: a CSV cell that would start a formula has a leading apostrophe, an XLSX cell is stored as text with
the mark that a spreadsheet shows as one. A cell of XLSX holds at most `MAX_CELL` characters: a longer text is cut, ends in "…",
and is counted. The other formats keep every character.
"""

import math
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import msgspec

from areopage.cases import CSV_ENCODING, starts_formula, table_writer
from areopage.errors import MissingExtra, StorageError

TableForm = Literal["csv", "csv;", "jsonl", "parquet", "xlsx"]
"""`csv;` has semicolons between its cells."""

CellKind = Literal["text", "number", "whole", "flag", "moment", "texts", "json"]
"""What a column holds: `texts` is a list of texts, `json` any value that JSON can hold (a text stays as it is)."""

FORMS_BY_SUFFIX: Mapping[str, TableForm] = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "xlsx",
}
PORTION = 1000  # rows that Parquet keeps in memory
MAX_CELL = 32_767
MAX_ROWS = 1_048_576


class TableColumn(NamedTuple):
    """A column of a table: a row has None, or a value of this kind there."""

    name: str
    kind: CellKind = "text"


class Written(NamedTuple):
    """What was written: rows below the header, and cells whose text a spreadsheet does not hold whole."""

    rows: int
    cut: int = 0


TableCells = Sequence[Any]


def write_rows(path: Path, form: TableForm, columns: Sequence[TableColumn], rows: Iterable[TableCells]) -> Written:
    """Write a table, replacing the file whole or not at all.

    Args:
        rows: each with a value per column.

    Raises:
        StorageError: the file cannot be written, or a worksheet does not hold the rows.
        MissingExtra: Parquet without pyarrow, or XLSX without XlsxWriter; the file is left as it was.
    """
    library = _library(form) if form in ("parquet", "xlsx") else None  # before the first row is read
    with replacing(path) as place:
        if library is not None:
            return (_write_parquet if form == "parquet" else _write_xlsx)(library, place, columns, rows)
        encoding, errors = ("utf-8", "replace") if form == "jsonl" else (CSV_ENCODING, "backslashreplace")
        with place.open("w", encoding=encoding, errors=errors, newline="") as file:
            return print_rows(file, form, columns, rows)


def print_rows(file: IO[str], form: TableForm, columns: Sequence[TableColumn], rows: Iterable[TableCells]) -> Written:
    """Write a table to an open text file; of `form` one that is text."""
    return _write_jsonl(file, columns, rows) if form == "jsonl" else _write_csv(file, columns, rows, semicolons=form == "csv;")


def write_table(path: Path, header: Sequence[str], rows: Iterable[TableCells]) -> None:
    """Write a CSV file that spreadsheets read as UTF-8 and never run; cells are texts and numbers.

    Raises:
        StorageError: the file cannot be written.
    """
    write_rows(path, "csv", [TableColumn(name) for name in header], rows)


def plain_cell(value: Any, kind: CellKind) -> Any:
    """A value as one cell of a spreadsheet: a moment in ISO form, a list of texts in lines, other nested values as JSON."""
    if isinstance(value, datetime):
        return value.isoformat()
    if kind == "texts" and value is not None:
        return "\n".join(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if value is None or isinstance(value, str | int | float) else _json(value)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _write_csv(file: IO[str], columns: Sequence[TableColumn], rows: Iterable[TableCells], *, semicolons: bool = False) -> Written:
    write, count = table_writer(file, semicolons=semicolons), 0
    write(column.name for column in columns)
    for count, row in enumerate(rows, start=1):  # noqa: B007
        write(plain_cell(value, column.kind) for value, column in zip(row, columns, strict=True))
    return Written(count)


def _write_jsonl(file: IO[str], columns: Sequence[TableColumn], rows: Iterable[TableCells]) -> Written:
    names, count = [column.name for column in columns], 0
    for count, row in enumerate(rows, start=1):  # noqa: B007
        file.write(_json(dict(zip(names, row, strict=True))) + "\n")
    return Written(count)


def _write_parquet(pyarrow: Any, path: Path, columns: Sequence[TableColumn], rows: Iterable[TableCells]) -> Written:
    schema = pyarrow.schema([(column.name, _arrow_type(pyarrow, column.kind)) for column in columns])
    remaining, count = iter(rows), 0
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        while portion := list(islice(remaining, PORTION)):
            count += len(portion)
            cells = zip(*portion, strict=True)
            arrays = [
                pyarrow.array([_arrow_cell(value, column.kind) for value in values], type=field.type)
                for values, column, field in zip(cells, columns, schema, strict=True)
            ]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
    return Written(count)


def _arrow_cell(value: Any, kind: CellKind) -> Any:
    if value is None or kind in ("number", "whole", "flag", "moment"):
        return value
    if kind == "texts":
        return [_unicode(text) for text in value]
    return _unicode(str(plain_cell(value, kind)))


def _arrow_type(pyarrow: Any, kind: CellKind) -> Any:
    return {
        "number": pyarrow.float64(),
        "whole": pyarrow.int64(),
        "flag": pyarrow.bool_(),
        "moment": pyarrow.timestamp("us", tz="UTC"),
        "texts": pyarrow.list_(pyarrow.string()),
    }.get(kind, pyarrow.string())


def _write_xlsx(library: Any, path: Path, columns: Sequence[TableColumn], rows: Iterable[TableCells]) -> Written:
    """Write one worksheet; each row leaves memory as the next one begins."""
    count, cut = 0, 0
    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "tmpdir": str(path.parent)}
    workbook = library.Workbook(str(path), options)
    try:
        sheet, quoted = workbook.add_worksheet(), workbook.add_format({"quote_prefix": True})
        for number, row in enumerate(chain([tuple(column.name for column in columns)], rows)):
            if number >= MAX_ROWS:
                raise StorageError(f"a worksheet holds at most {MAX_ROWS - 1:,} rows: use CSV, JSON Lines or Parquet")
            for place, (value, column) in enumerate(zip(row, columns, strict=True)):
                cell = plain_cell(value, column.kind)
                if isinstance(cell, int | float) and _is_finite(cell):
                    sheet.write_number(number, place, cell)
                elif not (cell is None or (isinstance(cell, float) and math.isnan(cell))):
                    text = _unicode(str(cell))
                    cut += len(text) > MAX_CELL
                    shown = text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "…"
                    sheet.write_string(number, place, shown, quoted if starts_formula(shown) else None)
            count = number
    finally:
        try:
            workbook.close()
        except library.exceptions.FileCreateError as fault:
            raise OSError(0, str(fault)) from fault
    return Written(count, cut)


def _is_finite(value: float) -> bool:
    """Whether a worksheet has such a number: finite, and exact as a floating-point number."""
    return abs(value) <= 2**53 if isinstance(value, int) else math.isfinite(value)


def _unicode(text: str) -> str:
    """The text with each half of a surrogate pair replaced: no file of Unicode text can hold one."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _library(form: TableForm) -> Any:
    """The library that writes files of a form which is no text."""
    name, module, called = ("pyarrow", "parquet", "Parquet") if form == "parquet" else ("xlsxwriter", "exceptions", "XLSX")
    try:
        import_module(f"{name}.{module}")
        return import_module(name)
    except ImportError as fault:
        raise MissingExtra(f"writing {called} files", form) from fault


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` if the block succeeds.

    A new file is for its owner alone; one that is there keeps its permissions.
    What is there and is no ordinary file (a pipe, a device) cannot be replaced: it is written to as it is.

    Raises:
        StorageError: the file cannot be written; what stood at `path` still stands there.
    """
    temporary: Path | None = None
    try:
        if path.exists() and not path.is_file():
            yield path
            return
        final = path.resolve()
        temporary = final.with_name(f".{secrets.token_hex(6)}.tmp")
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        if final.exists():
            temporary.chmod(stat.S_IMODE(final.stat().st_mode))
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())  # some disks are full only now
        temporary.replace(final)
    except OSError as fault:
        raise StorageError(f"{path} cannot be written: {fault.strerror or fault}") from fault
    finally:
        if temporary is not None:
            with suppress(OSError):  # what led here has been said
                temporary.unlink(missing_ok=True)
