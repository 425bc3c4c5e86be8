"""One table in every form: the same rows, no formula that runs, no text that is lost unseen."""

import csv
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.parquet
import pytest

from areopage.cases.readers import read_rows
from areopage.cases.rows import Row
from areopage.errors import MissingExtra, StorageError
from areopage.report import tables
from areopage.report.tables import MAX_CELL, TableColumn, TableForm, write_rows

COLUMNS = (
    *(TableColumn("prompt"), TableColumn("score", "number"), TableColumn("calls", "whole"), TableColumn("whole", "flag")),
    *(TableColumn("at", "moment"), TableColumn("strengths", "texts"), TableColumn("more", "json")),
)
AT = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)
ROWS = [
    ("Où ?", 2.5, 3, True, AT, ["kind", "short"], {"a": [1]}),
    ('=HYPERLINK("http://127.0.0.1/")', None, None, None, None, None, None),
]
FORMS: tuple[TableForm, ...] = ("csv", "jsonl", "parquet", "xlsx")


def written(tmp_path: Path, form: TableForm, rows: list[Any] | None = None, columns: Any = COLUMNS) -> Path:
    path = tmp_path / f"table.{form}"
    assert write_rows(path, form, columns, rows or ROWS).rows == len(rows or ROWS)
    return path


def test_a_spreadsheet_shows_each_value_and_takes_no_text_for_a_formula(tmp_path: Path) -> None:
    sheet = openpyxl.load_workbook(written(tmp_path, "xlsx")).active
    assert sheet is not None
    assert [cell.value for cell in sheet[2]] == ["Où ?", 2.5, 3, "true", AT.isoformat(), "kind\nshort", '{"a":[1]}']
    assert (sheet["A3"].value, sheet["A3"].data_type, sheet["A3"].quotePrefix) == (ROWS[1][0], "s", True)
    assert sheet["A2"].quotePrefix is False


def test_parquet_keeps_types_and_missing_values(tmp_path: Path) -> None:
    table = pyarrow.parquet.read_table(written(tmp_path, "parquet"))
    assert [str(field.type) for field in table.schema] == [
        *("string", "double", "int64", "bool", "timestamp[us, tz=UTC]", "list<element: string>", "string")
    ]
    assert table.to_pylist()[0]["at"] == AT
    assert list(table.to_pylist()[1].values()) == [ROWS[1][0], *[None] * 6]


def test_json_lines_keep_nested_values_and_csv_writes_them_into_one_cell(tmp_path: Path) -> None:
    first = json.loads(written(tmp_path, "jsonl").read_text().splitlines()[0])
    assert (first["strengths"], first["more"], first["whole"]) == (["kind", "short"], {"a": [1]}, True)
    with written(tmp_path, "csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[1] == ["Où ?", "2.5", "3", "true", AT.isoformat(), "kind\nshort", '{"a":[1]}']
    assert rows[2][0] == f"'{ROWS[1][0]}"


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read_again_by_the_reader_of_datasets(tmp_path: Path, form: TableForm) -> None:
    texts = ["plain", "line\nbreak", "tab\there", "é, ; \"'", "  spaces  ", "1e5", "ctrl\x01"]
    columns = (TableColumn("prompt"), TableColumn("score", "number"))
    path = written(tmp_path, form, [(text, 1.5) for text in texts], columns)
    rows = list(read_rows(path))
    assert [row.cells[0] for row in rows if isinstance(row, Row)] == texts
    assert {str(row.cells[1]) for row in rows if isinstance(row, Row)} == {"1.5"}


def test_a_text_that_no_cell_holds_is_cut_and_counted_and_other_forms_keep_it(tmp_path: Path) -> None:
    rows = [("x" * MAX_CELL,), ("y" * (MAX_CELL + 1),)]
    path = tmp_path / "table.xlsx"
    assert write_rows(path, "xlsx", (TableColumn("prompt"),), rows).cut == 1
    whole, cut = (row.cells[0] for row in read_rows(path) if isinstance(row, Row))
    assert (whole, cut) == ("x" * MAX_CELL, "y" * (MAX_CELL - 1) + "…")
    for form in ("csv", "jsonl", "parquet"):
        assert write_rows(tmp_path / "table", form, (TableColumn("prompt"),), rows).cut == 0
    assert pyarrow.parquet.read_table(tmp_path / "table").to_pylist()[1]["prompt"] == rows[1][0]


def test_numbers_that_a_worksheet_cannot_hold_become_texts_or_empty_cells(tmp_path: Path) -> None:
    columns = (TableColumn("a", "number"), TableColumn("b", "number"), TableColumn("c", "whole"))
    path = written(tmp_path, "xlsx", [(float("nan"), float("inf"), 2**60)], columns)
    sheet = openpyxl.load_workbook(path).active
    assert sheet is not None
    assert [cell.value for cell in sheet[2]] == [None, "inf", str(2**60)]


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx"])
def test_half_a_surrogate_pair_stops_no_table(tmp_path: Path, form: TableForm) -> None:
    path = written(tmp_path, form, [("a\ud800b",)], (TableColumn("prompt"),))
    assert path.stat().st_size > 0


def test_more_rows_than_a_worksheet_has_is_an_error_that_names_other_forms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MAX_ROWS", 3)
    with pytest.raises(StorageError, match="at most 2 rows: use CSV, JSON Lines or Parquet"):
        write_rows(tmp_path / "table.xlsx", "xlsx", (TableColumn("a"),), [("x",)] * 3)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("form", "module", "extra"), [("xlsx", "xlsxwriter", "xlsx"), ("parquet", "pyarrow", "parquet")])
def test_a_part_that_is_not_installed_is_named_before_the_first_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: TableForm, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(MissingExtra, match=rf"areopage\[{extra}\]"):
        write_rows(tmp_path / "table", form, (TableColumn("a"),), map(pytest.fail, ["a row was read"]))
    assert not list(tmp_path.iterdir())
