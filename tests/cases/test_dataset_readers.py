"""Every format: paths that are no dataset, JSON Lines, Parquet, XLSX."""

import datetime as dt
import json
import re
import sys
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.cases import workbook_size
from areopage.cases.readers import read_rows
from areopage.cases.rows import BadRow, Row
from areopage.errors import DatasetError, MissingExtra


def rows_of(path: Path) -> list[tuple[int, dict[str, object]]]:
    rows = []
    for row in read_rows(path):
        assert isinstance(row, Row), row
        rows.append((row.number, dict(zip(row.names, row.cells, strict=True))))
    return rows


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.csv", "no such file"),
        ("folder.csv", "not a regular file"),
        ("data.docx", "unknown extension: use one of .csv, .tsv, .xlsx"),
        ("noextension", "unknown extension: use one of"),
        ("empty.jsonl", "the file is empty"),
        ("blank.jsonl", "the file contains no rows"),
        ("junk.xlsx", "not an XLSX workbook"),
        ("junk.parquet", "not readable as Parquet"),
        ("junk.jsonl", "not a text file"),
    ],
)
def test_a_path_that_is_no_dataset_is_refused_in_one_line(tmp_path: Path, name: str, reason: str) -> None:
    path = tmp_path / name
    if name == "folder.csv":
        path.mkdir()
    elif name != "missing.csv":
        path.write_bytes({"empty.jsonl": b"", "blank.jsonl": b"\n \n"}.get(name, b"\x00\x01junk\xff" * 50))
    with pytest.raises(DatasetError, match=reason) as caught:
        list(read_rows(path))
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_file_that_may_not_be_read_is_a_dataset_error(tmp_path: Path) -> None:
    path = tmp_path / ("long" * 100 + ".csv")
    with pytest.raises(DatasetError, match=r"cannot be read|no such file"):
        list(read_rows(path))


def test_the_extension_may_be_in_capitals(tmp_path: Path) -> None:
    path = tmp_path / "DATA.CSV"
    path.write_text("prompt\nx\n")
    assert rows_of(path) == [(2, {"prompt": "x"})]


def test_json_lines_rejects_bad_lines_and_keeps_the_others(tmp_path: Path) -> None:
    lines = [
        b'\xef\xbb\xbf{"prompt": "\xc3\xa9"}',
        b"",
        b'{"prompt": ',
        b'["a list"]',
        b'{"prompt": "\xe9"}',
        b'{"prompt": NaN}',
        b'{"prompt": "\\ud800"}',
        b'{"a":' * 5000,
        b'{"prompt": ' + b"[" * 300 + b"]" * 300 + b"}",
        b'{"prompt": 12, "n": {"m": [1]}}',
    ]
    path = tmp_path / "data.jsonl"
    path.write_bytes(b"\n".join(lines))
    rows = list(read_rows(path))
    assert [row.number for row in rows if isinstance(row, Row)] == [1, 6, 7, 10]
    assert [row.cells for row in rows if row.number == 7 and isinstance(row, Row)] == [("\ufffd",)]
    bad = {row.number: row.reason for row in rows if isinstance(row, BadRow)}
    assert set(bad) == {3, 4, 5, 8, 9}
    assert bad[4] == "the line is not a JSON object"
    assert bad[5] == "the line is not UTF-8"
    assert bad[8] == bad[9] == "the JSON is nested too deeply"


def test_a_json_line_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.ndjson"
    path.write_bytes(b'{"prompt": "x"}\n{"prompt": "' + b"a" * 5_000_000)
    with pytest.raises(DatasetError, match="line 2 is longer than"):
        list(read_rows(path))


def test_a_json_line_beyond_the_limit_is_rejected_alone_where_lines_follow_it(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_bytes(b'{"prompt": "x"}\n{"prompt": "' + b"a" * 9_000_000 + b'"}\n{"prompt": "y"}\n')
    first, long, last = read_rows(path)
    assert isinstance(long, BadRow)
    assert (long.number, long.reason) == (2, "the line is longer than 4,194,304 bytes")
    assert [row.cells for row in (first, last) if isinstance(row, Row)] == [("x",), ("y",)]


def test_a_json_array_has_a_row_for_each_of_its_objects(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(
        b'\xef\xbb\xbf[\n  {"prompt": "\xc3\xa9", "n": {"m": [1]}},\n  3, {"prompt": "'
        + b"a" * 5_000_000
        + b'"}, {"prompt": "y"}]'
    )
    first, number, long, last = read_rows(path)
    assert [row.cells for row in (first, last) if isinstance(row, Row)] == [("é", {"m": [1]}), ("y",)]
    assert isinstance(number, BadRow) and isinstance(long, BadRow)
    assert (number.number, number.reason) == (2, "the entry is not a JSON object")
    assert (long.number, long.reason) == (3, "the entry is longer than 4,194,304 bytes")


@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_array_in_a_file_of_json_lines_is_read_as_one(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text("\ufeff\n" + json.dumps([{"prompt": "x"}, 3, {"prompt": "y"}], indent=indent) + "\n", encoding="utf-8")
    first, number, last = read_rows(path)
    assert [row.cells for row in (first, last) if isinstance(row, Row)] == [("x",), ("y",)]
    assert isinstance(number, BadRow)
    assert (number.number, number.reason) == (2, "the entry is not a JSON object")


@pytest.mark.parametrize(
    "content", ['["prompt", 1]\n["x", 2]\n', '[{"prompt": "x"}]\n[{"prompt": "y"}]\n', '["x"]\n', '[{"prompt": "x"']
)
def test_lists_that_are_lines_are_bad_rows(tmp_path: Path, content: str) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(content)
    rows = list(read_rows(path))
    assert len(rows) == content.count("]\n") or 1
    assert all(isinstance(row, BadRow) for row in rows)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"prompt": "x"}', "not a JSON array"),
        (b'{"prompt": "x"}\n{"prompt": "y"}\n', r"one object per line is JSON Lines \(\.jsonl\)"),
        (b'[{"prompt": "x"}', "not a JSON array"),
        (b"[]", "the file contains no rows"),
        (b"[" * 100_000, "not a JSON array"),
        (b"[" + b"0," * 5_000_000 + b"0]", r"larger than 8 MB: write one object per line \(\.jsonl\)"),
    ],
)
def test_a_json_file_that_is_no_small_array_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=reason) as caught:
        list(read_rows(path))
    assert "\n" not in str(caught.value)


def test_a_formula_without_its_result_is_named_as_such(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for line in ("|id|prompt|note", "|1|Why?|=1+1", '|2|="Why "&"not?"|', "|3|Really?|"):
        sheet.append([cell or None for cell in line.split("|")])
    book.save(tmp_path / "data.xlsx")
    first, unfilled, last = read_rows(tmp_path / "data.xlsx")
    assert isinstance(unfilled, BadRow)
    assert (unfilled.number, unfilled.reason.partition(":")[0]) == (3, "the column 'prompt' holds a formula without its result")
    assert [row.cells[:2] for row in (first, last) if isinstance(row, Row)] == [("1", "Why?"), ("3", "Really?")]


@pytest.mark.parametrize(("cell", "kind"), [("<v></v>", 't="str"'), ("<v>Why?</v>", 't="str"'), ("<v>3</v>", "")])
def test_a_formula_with_its_result_is_read_as_that_result(tmp_path: Path, cell: str, kind: str) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for line in ("id|prompt|answer", "1|Why?|=A1"):
        sheet.append(line.split("|"))
    book.save(tmp_path / "plain.xlsx")
    with zipfile.ZipFile(tmp_path / "plain.xlsx") as plain, zipfile.ZipFile(tmp_path / "data.xlsx", "w") as filled:
        for name in plain.namelist():
            text = plain.read(name)
            if name.endswith("sheet1.xml"):
                text = re.sub(rb'(<c r="C2")[^>]*>(<f>A1</f>)<v ?/?>(</v>)?', rf"\1 {kind}>\2{cell}".encode(), text)
                assert f"<f>A1</f>{cell}".encode() in text
            filled.writestr(name, text)
    (row,) = read_rows(tmp_path / "data.xlsx")
    assert isinstance(row, Row)
    assert row.cells[2] == cell.removeprefix("<v>").removesuffix("</v>")


@given(lines=st.lists(st.binary(max_size=60), max_size=5))
def test_any_bytes_as_json_lines_are_rows_or_a_dataset_error(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("jsonl") / "data.jsonl"
    path.write_bytes(b"\n".join(lines))
    try:
        assert list(read_rows(path))
    except DatasetError:
        return


def test_parquet_gives_plain_values(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    table = pa.table(
        {
            "prompt": ["é", None],
            "age": pa.array([9, None], pa.int8()),
            "when": [dt.datetime(2024, 6, 8, 1, 2), None],
            "price": [Decimal("1.50"), None],
            "raw": [b"bytes", None],
            "turns": [[{"role": "user", "content": "x"}], []],
        }
    )
    pq.write_table(table, path)
    filled, empty = rows_of(path)
    assert filled == (
        1,
        {
            "prompt": "é",
            "age": 9,
            "when": "2024-06-08T01:02:00",
            "price": "1.50",
            "raw": "bytes",
            "turns": [{"role": "user", "content": "x"}],
        },
    )
    assert empty[1]["prompt"] is None


def test_a_parquet_row_that_is_no_text_or_too_long_is_bad(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"prompt": [b"\xff\xfe", b"a" * 5_000_000, b"fine"]}), path)
    assert [type(row) for row in read_rows(path)] == [BadRow, BadRow, Row]


def test_a_small_parquet_file_that_fills_the_memory_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"prompt": ["a" * 70_000_000]}), path, compression="zstd", use_dictionary=False)
    assert path.stat().st_size < 100_000
    with pytest.raises(DatasetError, match="unpacks to more than 250 times its size"):
        next(read_rows(path))


def test_parquet_without_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"areopage\[parquet\]"):
        list(read_rows(path))


def test_a_parquet_file_cut_short_is_a_dataset_error(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.parquet", tmp_path / "cut.parquet"
    pq.write_table(pa.table({"prompt": ["x" * 50] * 100}), whole)
    cut.write_bytes(whole.read_bytes()[:-20])
    with pytest.raises(DatasetError, match="not readable as Parquet"):
        list(read_rows(cut))


def workbook(path: Path, sheets: dict[str, list[list[object]]]) -> Path:
    book = openpyxl.Workbook()
    first = book.active
    assert first is not None
    book.remove(first)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_a_workbook_gives_text_with_whole_numbers_and_iso_dates(tmp_path: Path) -> None:
    values: list[object] = [12, "où?\nlà", 0.5, dt.date(2024, 6, 8), dt.datetime(2024, 6, 8, 1, 2, 3), True, None, 12.0]
    names: list[object] = ["id", "prompt", "ratio", "day", "time", "flag", "none", "whole"]
    path = workbook(tmp_path / "data.xlsx", {"Data": [[], names, [], values]})
    assert rows_of(path) == [
        (
            4,
            {
                "id": "12",
                "prompt": "où?\nlà",
                "ratio": "0.5",
                "day": "2024-06-08",
                "time": "2024-06-08T01:02:03",
                "flag": "true",
                "none": "",
                "whole": "12",
            },
        )
    ]


def test_the_sheet_that_names_a_prompt_is_taken_before_a_cover_sheet(tmp_path: Path) -> None:
    sheets: dict[str, list[list[object]]] = {"Empty": [], "Cover": [["About this file"]], "Data": [["Question"], ["x"]]}
    assert rows_of(workbook(tmp_path / "data.xlsx", sheets)) == [(2, {"Question": "x"})]


def test_without_a_prompt_column_the_first_filled_sheet_is_taken(tmp_path: Path) -> None:
    sheets: dict[str, list[list[object]]] = {"Empty": [], "First": [["a"], ["x"]], "Second": [["b"], ["y"]]}
    assert rows_of(workbook(tmp_path / "data.xlsx", sheets)) == [(2, {"a": "x"})]


@pytest.mark.parametrize(
    ("sheets", "reason"),
    [({"A": [], "B": []}, "every sheet of the workbook is empty"), ({"A": [["prompt"]]}, "contains no rows")],
)
def test_a_workbook_without_rows_is_refused(tmp_path: Path, sheets: dict[str, list[list[object]]], reason: str) -> None:
    with pytest.raises(DatasetError, match=reason):
        list(read_rows(workbook(tmp_path / "data.xlsx", sheets)))


def test_two_cells_at_the_ends_of_a_sheet_do_not_ask_for_all_the_memory_there_is(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet["A1"], sheet["XFD1048576"] = "prompt", "stray"
    path = tmp_path / "data.xlsx"
    book.save(path)
    with pytest.raises(DatasetError, match="spans more than"):
        list(read_rows(path))


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook_size, "MAX_UNPACKED", 1_000_000)
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b" " * 2_000_000)
    assert path.stat().st_size < 10_000
    with pytest.raises(DatasetError, match="unpacks to more than 1 GB"):
        list(read_rows(path))


def test_a_workbook_above_64_mb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.xlsx"
    with path.open("wb") as stream:
        stream.truncate(65 * 1024 * 1024)
    with pytest.raises(DatasetError, match="65 MB is too large"):
        list(read_rows(path))


def test_an_archive_that_is_no_workbook_and_a_damaged_one_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.xlsx"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("readme.txt", "x")
    with pytest.raises(DatasetError, match="not an XLSX workbook"):
        list(read_rows(other))
    damaged = tmp_path / "damaged.xlsx"
    with zipfile.ZipFile(damaged, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook>")
    with pytest.raises(DatasetError, match="the workbook is damaged"):
        list(read_rows(damaged))


def renamed(source: Path, target: Path, name: Callable[[str], str], change: Callable[[bytes], bytes] = bytes) -> Path:
    """A workbook whose parts have other names."""
    with zipfile.ZipFile(source) as parts, zipfile.ZipFile(target, "w") as archive:
        for part in parts.namelist():
            archive.writestr(name(part), change(parts.read(part)))
    return target


def test_a_workbook_whose_parts_are_named_by_backslashes_is_read(tmp_path: Path) -> None:
    plain = workbook(tmp_path / "plain.xlsx", {"Data": [["prompt"], ["Q1"]]})
    path = renamed(plain, tmp_path / "data.xlsx", lambda part: part.replace("/", "\\"))
    assert rows_of(path) == [(2, {"prompt": "Q1"})]


def test_a_workbook_without_the_usual_folder_is_read(tmp_path: Path) -> None:
    plain = workbook(tmp_path / "plain.xlsx", {"Data": [["prompt"], ["Q1"]]})
    path = renamed(
        plain,
        tmp_path / "data.xlsx",
        lambda part: part.removeprefix("xl/"),
        lambda text: text.replace(b"/xl/", b"/").replace(b'"xl/', b'"'),
    )
    assert rows_of(path) == [(2, {"prompt": "Q1"})]


def test_a_part_of_the_workbook_that_is_no_sheet_may_be_of_any_kind(tmp_path: Path) -> None:
    plain = workbook(tmp_path / "plain.xlsx", {"Data": [["prompt"], ["Q1"]]})
    entry = b'<Relationship Id="rId99" Type="http://example.org/workbookmetadata" Target="metadata"/></Relationships>'
    path = renamed(plain, tmp_path / "data.xlsx", str, lambda text: text.replace(b"</Relationships>", entry))
    assert rows_of(path) == [(2, {"prompt": "Q1"})]


@given(cut=st.floats(0, 1), flip=st.integers(0, 255))
def test_a_workbook_with_a_broken_byte_is_rows_or_a_dataset_error(
    tmp_path_factory: pytest.TempPathFactory, cut: float, flip: int
) -> None:
    folder = tmp_path_factory.mktemp("xlsx")
    content = bytearray(workbook(folder / "data.xlsx", {"Data": [["prompt"], ["x"]]}).read_bytes())
    content[min(int(cut * len(content)), len(content) - 1)] = flip
    path = folder / "broken.xlsx"
    path.write_bytes(content)
    try:
        assert list(read_rows(path))
    except DatasetError as fault:
        assert "\n" not in str(fault)


def test_a_round_trip_through_every_format_gives_one_text(tmp_path: Path) -> None:
    prompt = "Où est-ce que j'habite ? « ici »"
    (tmp_path / "a.csv").write_text(f'prompt\n"{prompt}"\n', encoding="utf-8")
    (tmp_path / "b.jsonl").write_text(json.dumps({"prompt": prompt}), encoding="utf-8")
    pq.write_table(pa.table({"prompt": [prompt]}), tmp_path / "c.parquet")
    workbook(tmp_path / "d.xlsx", {"Data": [["prompt"], [prompt]]})
    assert [rows_of(path)[0][1] for path in sorted(tmp_path.iterdir())] == [{"prompt": prompt}] * 4


def test_cells_merged_over_rows_stand_in_each_of_them(tmp_path: Path) -> None:
    path = workbook(tmp_path / "data.xlsx", {"Data": [["category", "prompt"], ["maths", "Q1"], [None, "Q2"], [None, "Q3"]]})
    assert [row["category"] for _, row in rows_of(path)] == ["maths", "", ""], "an empty cell alone is not filled"
    book = openpyxl.load_workbook(path)
    book["Data"].merge_cells("A2:A4")
    book.save(path)
    assert [row["category"] for _, row in rows_of(path)] == ["maths", "maths", "maths"]


def test_a_merged_cell_fills_its_own_column_alone(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "data.xlsx", {"Data": [["id", "category", "prompt"], ["1", "a", "Q1"], ["2", None, "Q2"], ["Part two"]]}
    )
    book = openpyxl.load_workbook(path)
    book["Data"].merge_cells("B2:B3")
    book["Data"].merge_cells("A4:C4")
    book.save(path)
    assert [row for _, row in rows_of(path)] == [
        {"id": "1", "category": "a", "prompt": "Q1"},
        {"id": "2", "category": "a", "prompt": "Q2"},
        {"id": "Part two", "category": "", "prompt": ""},
    ]


def test_a_hidden_sheet_is_read_only_where_no_visible_one_has_a_prompt(tmp_path: Path) -> None:
    path = workbook(tmp_path / "data.xlsx", {"Old": [["prompt"], ["old"]], "New": [["prompt"], ["new"]]})
    book = openpyxl.load_workbook(path)
    book["Old"].sheet_state = "hidden"
    book.active = 1
    book.save(path)
    assert rows_of(path) == [(2, {"prompt": "new"})]


def test_a_cell_with_an_error_in_a_column_of_the_case_is_named(tmp_path: Path) -> None:
    path = workbook(tmp_path / "data.xlsx", {"Data": [["prompt", "note"], ["Q1", "#N/A"], ["#REF!", "x"], ["Q3", "y"]]})
    first, error, last = read_rows(path)
    assert isinstance(error, BadRow) and error.reason.startswith("the column 'prompt' holds an error"), error
    assert [row.cells for row in (first, last) if isinstance(row, Row)] == [("Q1", ""), ("Q3", "y")]


def test_parquet_columns_of_pictures_and_nanoseconds_cost_no_row(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    table = pa.table(
        {
            "prompt": ["Q1", "Q2"],
            "picture": [b"\xff\x00\xfe", b"text"],
            "at": pa.array([1, 1_700_000_000_123_456_789], pa.timestamp("ns", "UTC")),
            "time": pa.array([1_500, 2_000_000], pa.time64("ns")),
            "took": pa.array([1_500, None], pa.duration("ns")),
            "kind": pa.array(["a", "b"]).dictionary_encode(),
            "pairs": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
        }
    )
    pq.write_table(table, path)
    rows = [row for _, row in rows_of(path)]
    assert [(row["prompt"], row["picture"], row["kind"]) for row in rows] == [("Q1", "[3 bytes]", "a"), ("Q2", "text", "b")]
    assert str(rows[1]["at"]).startswith("2023-11-14T22:13:20.123456")


def test_nan_and_infinity_of_other_programs_are_no_values(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "nan.jsonl"
    path.write_text('{"prompt": "NaN, Infinity", "score": NaN, "deep": [{"x": -Infinity}, 1.5]}\n', encoding="utf-8")
    assert rows_of(path) == [(1, {"prompt": "NaN, Infinity", "score": None, "deep": [{"x": None}, 1.5]})]
    assert "line 1: NaN or Infinity was read as null" in caplog.text


def test_files_with_a_mark_that_were_put_together_are_read(tmp_path: Path) -> None:
    lines, table = tmp_path / "both.jsonl", tmp_path / "both.csv"
    lines.write_bytes(b'\xef\xbb\xbf{"prompt": "a"}\n\xef\xbb\xbf{"prompt": "b"}\n')
    table.write_bytes(b"\xef\xbb\xbf\xef\xbb\xbfprompt,response\na,b\n")
    assert rows_of(lines) == [(1, {"prompt": "a"}), (2, {"prompt": "b"})]
    assert rows_of(table) == [(2, {"prompt": "a", "response": "b"})]


def test_long_numbers_of_a_workbook_keep_their_digits(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    numbers: list[float] = [42, 1234567890123456, 159001810629457000, -1e20, 1e300, 2.5, 1e-7]
    sheet.append(["prompt", "id"])
    for number in numbers:
        sheet.append(["p", number])
    book.save(tmp_path / "ids.xlsx")
    assert [row["id"] for _, row in rows_of(tmp_path / "ids.xlsx")] == [
        *("42", "1234567890123456", "159001810629457000", "-100000000000000000000", "1e+300", "2.5", "1e-07"),
    ]


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (pa.array([600_000_000_000_000, 0], pa.timestamp("ms")), "20983-03-30 10:40:00.000"),
        (pa.array([4_000_000, 0], pa.date32()), "12921-08-18"),
        (pa.array([0, 1], pa.timestamp("s", "Mars/Phobos")), "1970-01-01 00:00:00.000Z"),
        (pa.array([10**18, 0], pa.duration("s")), "1000000000000000000 s"),
        (pa.array([b"\xff\xe9", b"ab"]).view(pa.string()), "[2 bytes]"),
        (pa.array([[4_000_000], [0]], pa.list_(pa.date32())), "[1 bytes]"),
    ],
)
def test_a_value_of_parquet_that_python_has_not_is_its_text(tmp_path: Path, column: pa.Array, text: str) -> None:
    pq.write_table(pa.table({"prompt": ["a", "b"], "extra": column}), tmp_path / "t.parquet")
    first, second = rows_of(tmp_path / "t.parquet")
    assert (first[1]["extra"], second[1]["prompt"]) == (text, "b")


def test_a_text_of_a_case_that_is_not_utf_8_rejects_its_row_alone(tmp_path: Path) -> None:
    column = pa.array([b"\xff\xe9", b"ab"]).view(pa.string())
    pq.write_table(pa.table({"prompt": column}), tmp_path / "t.parquet")
    bad, good = read_rows(tmp_path / "t.parquet")
    assert isinstance(bad, BadRow)
    assert "bytes that are not text" in bad.reason
    assert isinstance(good, Row)
