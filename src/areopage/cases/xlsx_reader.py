"""Read the first sheet of an XLSX workbook that has a header.

The parser holds a whole sheet as a dense table, so that a few bytes can ask for more memory than there is
(one cell at each end of a sheet: 17 thousand million cells). The workbook is measured before it is opened.
"""

import datetime as dt
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.parsers import expat

import python_calamine

from areopage.cases.columns import names_prompt
from areopage.cases.readers import BadRow, Row
from areopage.errors import DatasetError

MAX_FILE = 64 * 1024 * 1024
MAX_UNPACKED = 1024 * 1024 * 1024
MAX_CELLS = 10_000_000
_BLOCK = 256 * 1024
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")


def read_xlsx(path: Path) -> Iterator[Row | BadRow]:
    """Yield the rows below the header, as text; a row's number is the one that the spreadsheet shows.

    The sheet taken is the first whose first filled row names a prompt column, else the first that is not empty.
    Whole numbers lose their ".0", dates become ISO text, an error such as #N/A is an empty cell.

    Raises:
        DatasetError: not a workbook, protected by a password, empty, or larger than the limits of this module.
    """
    _refuse_large(path)
    try:
        workbook = python_calamine.CalamineWorkbook.from_path(path)
        with workbook:
            start, names, sheet = _find_sheet(workbook, path)
            for number, values in enumerate(sheet.iter_rows(), start=1):
                cells = tuple(_cell_text(value) for value in values)
                if number > start and any(cell.strip() for cell in cells):
                    yield Row(number, names, cells)
    except python_calamine.PasswordError as fault:
        raise DatasetError(f"{path}: the workbook is protected by a password: save it without one") from fault
    except (python_calamine.CalamineError, python_calamine.XmlError, python_calamine.ZipError) as fault:
        raise DatasetError(f"{path}: the workbook is damaged: {_first_line(fault)}") from fault


def _find_sheet(
    workbook: python_calamine.CalamineWorkbook, path: Path
) -> tuple[int, tuple[str, ...], python_calamine.CalamineSheet]:
    found: list[tuple[int, tuple[str, ...], python_calamine.CalamineSheet]] = []
    for name in workbook.sheet_names:
        sheet = workbook.get_sheet_by_name(name)
        for number, values in enumerate(sheet.iter_rows(), start=1):
            names = tuple(_cell_text(value).strip() for value in values)
            if any(names):
                if names_prompt(names):
                    return number, names, sheet
                found = found or [(number, names, sheet)]
                break
    if not found:
        raise DatasetError(f"{path}: every sheet of the workbook is empty")
    return found[0]


def _cell_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return value.isoformat() if isinstance(value, dt.date | dt.time) else str(value)


def _refuse_large(path: Path) -> None:
    """Measure the file, the archive and every sheet in it, in bounded memory."""
    if (size := path.stat().st_size) > MAX_FILE:
        raise DatasetError(f"{path}: {size / 2**20:,.0f} MB is too large for a workbook (at most 64 MB): export it as CSV")
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > MAX_UNPACKED:
                raise DatasetError(f"{path}: the workbook unpacks to more than 1 GB: export it as CSV")
            if "xl/workbook.xml" not in archive.namelist():
                raise DatasetError(f"{path}: the file is an archive but not an XLSX workbook")
            for member in members:
                if member.filename.endswith(".xml") and _count_cells(archive, member) > MAX_CELLS:
                    raise DatasetError(
                        f"{path}: a sheet spans more than {MAX_CELLS:,} cells: "
                        "delete the stray cells far from its table, or export it as CSV"
                    )
    except zipfile.BadZipFile as fault:
        raise DatasetError(f"{path}: the file is not an XLSX workbook, or is protected by a password") from fault
    except (expat.ExpatError, zlib.error, EOFError, RuntimeError, NotImplementedError) as fault:
        raise DatasetError(f"{path}: the workbook is damaged: {_first_line(fault)}") from fault


def _count_cells(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> int:
    """Return the area, in cells, between the first and the last cell of a sheet; 0 for a part that is no sheet."""
    span = _Span()
    parser = expat.ParserCreate()
    parser.StartElementHandler = span.start
    with archive.open(member) as stream:
        while block := stream.read(_BLOCK):
            parser.Parse(block, False)
        parser.Parse(b"", True)
    return span.area


class _Span:
    """The rectangle that the cells of a sheet take, found while its XML goes by."""

    def __init__(self) -> None:
        self._row = self._column = 0
        self._top = self._left = 2**31
        self._bottom = self._right = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Follow `<row r="5">` and `<c r="B5">`; where the reference is left out, the next position is meant."""
        local = name.rpartition(":")[2]
        reference = attributes.get("r", "")
        if local == "row":
            self._row = int(reference) if reference.isascii() and reference.isdigit() else self._row + 1
            self._column = 0
        elif local == "c":
            if match := _REFERENCE.fullmatch(reference):
                self._column, self._row = _column_number(match[1]), int(match[2])
            else:
                self._column += 1
            self._top, self._bottom = min(self._top, self._row), max(self._bottom, self._row)
            self._left, self._right = min(self._left, self._column), max(self._right, self._column)

    @property
    def area(self) -> int:
        """How many cells the rectangle has."""
        return max(0, self._bottom - self._top + 1) * max(0, self._right - self._left + 1)


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _first_line(fault: Exception) -> str:
    return str(fault).partition("\n")[0]
