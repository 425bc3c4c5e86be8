"""Measure a workbook before it is opened, in bounded memory.

The parser holds a whole sheet as a dense table in which every cell has a text of its own. A few bytes can ask for more memory
than there is: one cell at each end of a sheet, or many cells that refer to one long text.
"""

import copy
import re
import zipfile
import zlib
from array import array
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from xml.parsers import expat

from areopage.cases.rows import MAX_RECORD
from areopage.errors import DatasetError

MAX_FILE = 64 * 1024 * 1024
MAX_UNPACKED = 1024 * 1024 * 1024
MAX_CELLS = 10_000_000
MAX_HELD = 256 * 1024 * 1024
"""Bytes that the parser may hold of all sheets together."""

_BLOCK = 256 * 1024
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
# names of parts; the folder that they are in is usually xl/
_WORKBOOK, _SHARED, _SHEETS = "workbook.xml", "sharedstrings.xml", "workbook.xml.rels"
# What the parser holds, in bytes, measured with python-calamine 0.9: a place of the table, a cell, a text beside its characters.
_PLACE, _CELL, _TEXT, _ELEMENT = 32, 40, 40, 8
_UNFILLED = 200  # of a formula without a result: two numbers, their pair and its place in a set


NO_RESULT = "a formula without its result: save the workbook in a spreadsheet program"
ERROR = "an error such as #N/A: correct its formula"


class _WorkbookTooLarge(Exception):
    """A workbook is over a limit; the text says which one and what to do."""


def refuse_large(path: Path) -> dict[tuple[int, int], str]:
    """Measure the file, the archive and every part in it.

    Returns:
        What is wrong with the cells that hold a formula without its result, or an error such as #N/A: by row and column from 1,
        of all sheets together.

    Raises:
        DatasetError: it is larger than the limits of this module, damaged, or no workbook.
    """
    if (size := path.stat().st_size) > MAX_FILE:
        raise DatasetError(f"{path}: {size / 2**20:,.0f} MB is too large for a workbook (at most 64 MB): export it as CSV")
    try:
        with zipfile.ZipFile(path) as archive:
            parts = {member.filename.replace("\\", "/").lower(): member for member in archive.infolist()}
            names = [name.rpartition("/")[2] for name in parts]
            if _WORKBOOK not in names:
                raise DatasetError(f"{path}: the file is an archive but not an XLSX workbook")
            if sum(member.file_size for member in archive.infolist()) > MAX_UNPACKED:
                raise _WorkbookTooLarge("the workbook unpacks to more than 1 GB: export it as CSV")
            if len(parts) < len(archive.infolist()) or names.count(_SHARED) > 1:
                raise ValueError("two parts have one name")
            total = _Total()
            # the texts that cells refer to come first
            for name, place in sorted(zip(names, parts, strict=True), key=lambda part: part[0] != _SHARED):
                if name.endswith((".xml", ".rels")):
                    part = _WorkbookPart(total, name)
                    part.read(_blocks(archive, parts[place]))
                    total.shared = part.texts if name == _SHARED else total.shared
            if total.sheets & total.unread:
                raise ValueError("a sheet is no XML")
            return total.unfilled
    except _WorkbookTooLarge as fault:
        raise DatasetError(f"{path}: {fault}") from None
    except zipfile.BadZipFile as fault:
        raise DatasetError(f"{path}: the file is not an XLSX workbook, or is protected by a password") from fault
    except (expat.ExpatError, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError) as fault:
        raise DatasetError(f"{path}: the workbook is damaged: {str(fault).partition(chr(10))[0]}") from fault


def _blocks(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """The bytes of a part, all that its stream unpacks to, even if the archive states another size."""
    whole = copy.copy(member)
    whole.file_size = MAX_UNPACKED + 1
    read = 0
    with archive.open(whole) as stream:
        while block := stream.read(_BLOCK):
            read += len(block)
            if read > MAX_UNPACKED:
                raise _WorkbookTooLarge("the workbook unpacks to more than 1 GB: export it as CSV")
            yield block


class _Total:
    """What the parser would hold of all parts so far.

    `shared` are the lengths of the texts that cells refer to, `unfilled` the cells without a value, with why, `sheets` the ids of
    sheets, `unread` those of the workbook's parts that are no XML.
    """

    def __init__(self) -> None:
        self.held, self.shared = 0, array("I")
        self.unfilled: dict[tuple[int, int], str] = {}
        self.sheets, self.unread = set[str](), set[str]()

    def add(self, count: int) -> None:
        self.held += count
        if self.held > MAX_HELD:
            memory = f"more than {MAX_HELD // 2**20} MB of memory"
            raise _WorkbookTooLarge(f"the cells of the workbook take {memory}: split it, or export it as CSV")


class _WorkbookPart:
    """One part of a workbook, measured while its XML goes by: the rectangle that the cells take, and their texts."""

    def __init__(self, total: _Total, name: str) -> None:
        self._total, self._name = total, name
        self.texts = array("I")
        self._row = self._column = 0
        self._top = self._left = 2**31
        self._bottom = self._right = 0
        self._run = self._long = self._area = 0
        self._is_reference, self._index = False, ""
        self._is_formula = self._is_text = self._has_result = False

    def read(self, blocks: Iterator[bytes]) -> None:
        parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = self._characters, self._doctype
        size = 0
        for block in blocks:
            parser.Parse(block, False)
            size += len(block)
            if size - parser.CurrentByteIndex > 2 * MAX_RECORD:
                raise ValueError("a tag or a comment is too long")
        parser.Parse(b"", True)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        """Follow `<row r="5">` and `<c r="B5">`; where the reference is left out, the next position is meant."""
        self._total.add(_ELEMENT)
        self._run = 0
        local = name.rpartition(":")[2]
        if local == "row":
            reference = attributes.get("r", "")
            self._row = int(reference) if reference.isascii() and reference.isdigit() else self._row + 1
            self._column = 0
        elif local == "c":
            self._is_reference, self._index = attributes.get("t") == "s", ""
            self._is_formula, self._is_text, self._has_result = False, attributes.get("t") == "str", False
            self._cell(attributes.get("r", ""))
            if attributes.get("t") == "e":
                self._total.add(_UNFILLED)
                self._total.unfilled[self._row, self._column] = ERROR
        elif local == "f":
            self._is_formula = True
        elif local == "si":
            self._long = 0
        elif local == "Relationship" and self._name == _SHEETS and not attributes.get("Target", "").lower().endswith(".xml"):
            self._total.unread.add(attributes.get("Id", ""))
        elif local == "sheet" and self._name == _WORKBOOK:
            self._total.sheets.update(value for name, value in attributes.items() if name.rpartition(":")[2] == "id")

    def _cell(self, reference: str) -> None:
        if match := _REFERENCE.fullmatch(reference):
            self._column, self._row = reduce(lambda number, letter: number * 26 + ord(letter) - 64, match[1], 0), int(match[2])
        else:
            self._column += 1
        self._top, self._bottom = min(self._top, self._row), max(self._bottom, self._row)
        self._left, self._right = min(self._left, self._column), max(self._right, self._column)
        area = (self._bottom - self._top + 1) * (self._right - self._left + 1)
        if area > MAX_CELLS:
            raise _WorkbookTooLarge(
                f"a sheet spans more than {MAX_CELLS:,} cells: delete the stray cells far from its table, or export it as CSV"
            )
        self._total.add(_CELL + (area - self._area) * _PLACE)
        self._area = area

    def _characters(self, text: str) -> None:
        size = len(text.encode("utf-8", "surrogatepass"))
        self._run += size
        self._long += size
        if self._run > MAX_RECORD:
            raise _WorkbookTooLarge(f"a cell has more than {MAX_RECORD:,} bytes of text: shorten it")
        if self._is_reference and len(self._index) < 16:
            self._index += text.strip()

    def _end(self, name: str) -> None:
        local = name.rpartition(":")[2]
        self._has_result = self._has_result or (local == "v" and (self._is_text or self._run > 0))
        if local == "c" and self._is_formula and not self._has_result:
            self._total.add(_UNFILLED)
            self._total.unfilled[self._row, self._column] = NO_RESULT
        if local == "si":
            if self._long > MAX_RECORD:
                raise _WorkbookTooLarge(f"a cell has more than {MAX_RECORD:,} bytes of text: shorten it")
            self.texts.append(self._long)
            self._total.add(self._long + _TEXT)
        elif local == "t" and self._name != _SHARED:
            self._total.add(self._run + _TEXT)
        elif local == "v" and self._is_reference:
            at = int(self._index) if self._index.isascii() and self._index.isdigit() else len(self._total.shared)
            self._total.add(_TEXT + self._total.shared[at] if at < len(self._total.shared) else 0)
        elif local == "v":
            self._total.add(self._run)
        self._is_reference = self._is_reference and local != "c"
        self._run = 0

    def _doctype(self, *_: object) -> None:
        raise ValueError("it declares a document type")
