"""Read the first sheet of an XLSX workbook that has a header."""

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import python_calamine

from areopage.cases.columns import field_named, names_prompt
from areopage.cases.rows import BadRow, Row, clip
from areopage.cases.workbook_size import refuse_large
from areopage.errors import DatasetError


def read_xlsx(path: Path) -> Iterator[Row | BadRow]:
    """Yield the rows below the header, as text; a row's number is the one that the spreadsheet shows.

    The sheet taken is the first whose first filled row names a prompt column, else the first that is not empty; hidden sheets
    come last. A cell that is merged over several rows stands in each of them. Whole numbers lose their ".0", dates become ISO
    text. A row is bad if a column that cases are made of holds an error such as #N/A, or a formula without its result, as
    programs write it that do not compute.
    """
    unfilled = refuse_large(path)
    try:
        workbook = python_calamine.CalamineWorkbook.from_path(path)
        with workbook:
            start, names, sheet = _find_sheet(workbook, path)
            first = sheet.start[1] + 1 if sheet.start else 1  # columns before it are not in the rows
            merged = _Merged(sheet, first)
            for number, values in enumerate(sheet.iter_rows(), start=1):
                cells = tuple(_cell_text(value) for value in values)
                if number <= start:
                    continue
                cells = merged.filled(number, cells)
                columns = enumerate(zip(names, cells, strict=False), start=first) if unfilled else ()
                # of the columns that cases are made of, the first that has no value
                faults = (
                    f"the column {name!r} holds {unfilled[number, column]}"
                    for column, (name, cell) in columns
                    if not cell and (number, column) in unfilled and field_named(name)
                )
                if reason := next(faults, ""):
                    yield BadRow(number, reason, clip(" ".join(cells).strip()))
                elif any(cell.strip() for cell in cells):
                    yield Row(number, names, cells)
    except python_calamine.PasswordError as fault:
        raise DatasetError(f"{path}: the workbook is protected by a password: save it without one") from fault
    except (python_calamine.CalamineError, python_calamine.XmlError, python_calamine.ZipError) as fault:
        raise DatasetError(f"{path}: the workbook is damaged: {str(fault).partition(chr(10))[0]}") from fault


def _find_sheet(
    workbook: python_calamine.CalamineWorkbook, path: Path
) -> tuple[int, tuple[str, ...], python_calamine.CalamineSheet]:
    filled: list[tuple[int, tuple[str, ...], python_calamine.CalamineSheet]] = []
    hidden = {sheet.name for sheet in workbook.sheets_metadata if sheet.visible != python_calamine.SheetVisibleEnum.Visible}
    for name in sorted(workbook.sheet_names, key=lambda name: name in hidden):
        sheet = workbook.get_sheet_by_name(name)
        for number, values in enumerate(sheet.iter_rows(), start=1):
            names = tuple(_cell_text(value).strip() for value in values)
            if any(names):
                if names_prompt(names):
                    return number, names, sheet
                filled = filled or [(number, names, sheet)]
                break
    if not filled:
        raise DatasetError(f"{path}: every sheet of the workbook is empty")
    return filled[0]


class _Merged:
    """The cells of a sheet that are merged over several rows: a spreadsheet shows their text once, for all of them."""

    def __init__(self, sheet: python_calamine.CalamineSheet, first: int) -> None:
        ranges = sheet.merged_cell_ranges or []
        self._rows: dict[int, list[tuple[int, int]]] = {}
        self._texts: dict[tuple[int, int], str] = {}
        for (top, left), (bottom, _) in ranges:
            for row in range(top, bottom + 1 if bottom > top else top):
                self._rows.setdefault(row + 1, []).append((top + 1, left + 1 - first))

    def filled(self, number: int, cells: tuple[str, ...]) -> tuple[str, ...]:
        """A row, by its number from 1, with the texts that it shares with rows above; rows are asked for in order."""
        parts = self._rows.get(number)
        if not parts:
            return cells
        row = list(cells)
        for top, column in parts:
            if not 0 <= column < len(row):
                continue
            if number == top:
                self._texts[top, column] = row[column]
            elif not row[column].strip():
                row[column] = self._texts.get((top, column), "")
        return tuple(row)


def _cell_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        # the digits that were typed: an identifier of 18 digits is neither rounded nor written with an exponent
        return f"{Decimal(repr(value)):f}".removesuffix(".0") if value.is_integer() and abs(value) < 1e21 else repr(value)
    return value.isoformat() if isinstance(value, dt.date | dt.time) else str(value)
