"""CSV: what real exports look like, and what must never be loaded."""

import csv
import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.readers import read_rows
from areopage.cases.rows import BadRow, Row
from areopage.errors import DatasetError


def write(folder: Path, content: bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def good_rows(path: Path) -> list[dict[str, str]]:
    return [dict(zip(row.names, row.cells, strict=True)) for row in read_rows(path) if isinstance(row, Row)]


@pytest.mark.parametrize(
    "content",
    [
        "id,prompt\n1,é; où\n".encode(),
        "\ufeffid,prompt\n1,é; où\n".encode(),
        'id;prompt\n1;"é; où"\n'.encode(),
        "id\tprompt\n1\té; où\n".encode(),
        "id|prompt\n1|é; où\n".encode(),
        "id,prompt\r\n1,é; où\r\n".encode(),
        "id,prompt\r1,é; où\r".encode(),
        "id,prompt\n1,é; où\n".encode("cp1252"),
        'sep=;\nid;prompt\n1;"é; où"'.encode(),
        '\n"id, of row";prompt\n'.replace("id, of row", "id").encode() + '1;"é; où"\n'.encode(),
    ],
    ids=["utf-8", "mark", "semicolon", "tab", "bar", "crlf", "cr", "cp1252", "directive", "blank-line-first"],
)
def test_every_usual_export_gives_the_same_row(tmp_path: Path, content: bytes) -> None:
    assert good_rows(write(tmp_path, content)) == [{"id": "1", "prompt": "é; où"}]


def test_windows_1252_is_not_taken_in_silence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        good_rows(write(tmp_path, "prompt\ncœur\n".encode("cp1252")))
    assert "Windows-1252" in caplog.text


def test_a_delimiter_inside_a_quoted_header_does_not_count(tmp_path: Path) -> None:
    assert good_rows(write(tmp_path, b'"a,b,c,d";prompt\n1;x\n')) == [{"a,b,c,d": "1", "prompt": "x"}]


@pytest.mark.parametrize(
    ("content", "row"),
    [
        ("id;question, a, b, c;réponse\n1;x;y\n", {"id": "1", "question, a, b, c": "x", "réponse": "y"}),
        ("id;Is it a, b or c?;réponse\n1;x, z;y\n2;v;w\n", {"id": "1", "Is it a, b or c?": "x, z", "réponse": "y"}),
        ("id\tquestion; a, b, c\n1\tx, y, z, and more\n", {"id": "1", "question; a, b, c": "x, y, z, and more"}),
        ("id,prompt (a;b;c)\n1,x\n", {"id": "1", "prompt (a;b;c)": "x"}),
        ('id;question, a, b\n1;"x\ny, z"\n', {"id": "1", "question, a, b": "x\ny, z"}),
    ],
)
def test_the_delimiter_is_the_one_by_which_rows_fit_the_header(tmp_path: Path, content: str, row: dict[str, str]) -> None:
    assert good_rows(write(tmp_path, content.encode()))[0] == row


def test_a_header_without_rows_is_parted_by_what_it_has_most_of(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no rows"):
        list(read_rows(write(tmp_path, b"id;prompt, a;b\n")))


def test_quoted_newlines_stay_in_the_cell_and_row_numbers_are_the_spreadsheets(tmp_path: Path) -> None:
    path = write(tmp_path, b'prompt\n"one\ntwo"\n\nthree\n')
    rows = [row for row in read_rows(path) if isinstance(row, Row)]
    assert [(row.number, row.cells) for row in rows] == [(2, ("one\ntwo",)), (4, ("three",))]


def test_a_row_with_a_wrong_number_of_fields_is_bad_and_the_next_is_good(tmp_path: Path) -> None:
    path = write(tmp_path, b"id,prompt\n1\n2,b,c\n3,d\n,\n")
    rows = list(read_rows(path))
    assert [type(row) for row in rows] == [BadRow, BadRow, Row]
    assert [row.number for row in rows] == [2, 3, 4]
    assert isinstance(rows[1], BadRow)
    assert rows[1].reason == "the row has 3 fields where the header has 2 (delimiter: comma)"
    assert rows[1].content == "2,b,c\n"


def test_text_after_a_closing_quote_is_a_bad_row_and_not_a_changed_prompt(tmp_path: Path) -> None:
    rows = list(read_rows(write(tmp_path, b'prompt\n"say "hi" now"\nfine\n')))
    assert [type(row) for row in rows] == [BadRow, Row]


def test_an_unclosed_quote_does_not_swallow_the_rest_of_the_file_in_silence(tmp_path: Path) -> None:
    path = write(tmp_path, b'id,prompt\n1,ok\n2,"never closed\n3,lost\n4,lost\n')
    with pytest.raises(DatasetError, match="row 3: a quotation mark is not closed"):
        list(read_rows(path))


@pytest.mark.parametrize("open_quote", [b"", b'"'])
def test_a_record_beyond_the_limit_is_refused(tmp_path: Path, open_quote: bytes) -> None:
    line = b"a" * 1023 + (b"\n" if open_quote else b"a")
    path = write(tmp_path, b"prompt\nfine\n" + open_quote + line * 5000)
    with pytest.raises(DatasetError, match="row 3 is longer than"):
        list(read_rows(path))


@pytest.mark.parametrize("quote", [b"", b'"'])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_line_beyond_the_limit_is_rejected_alone_where_lines_follow_it(tmp_path: Path, quote: bytes, end: bytes) -> None:
    long = b"1," + quote + b"a" * 9_000_000 + quote
    rows = list(read_rows(write(tmp_path, end.join([b"id,prompt", b"0,fine", long, b'2,"fine,', b'too"', b""]))))
    bad = rows[1]
    assert isinstance(bad, BadRow)
    assert (bad.number, bad.reason) == (3, "the row is longer than 4,194,304 characters")
    assert bad.content.startswith("1,") and len(bad.content) == 1_000
    assert [(row.number, row.cells) for row in rows if isinstance(row, Row)] == [
        (2, ("0", "fine")),
        (4, ("2", "fine," + end.decode() + "too")),
    ]


def test_a_long_line_with_an_open_quote_refuses_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, b'id,prompt\n1,"' + b"a" * 5_000_000 + b"\n2,lost\n")
    with pytest.raises(DatasetError, match=r"row 2 is longer than .* a quotation mark is not closed"):
        list(read_rows(path))


def test_a_field_above_pythons_own_limit_is_read_and_that_limit_is_left_as_it_was(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    rows = read_rows(write(tmp_path, b"prompt\n" + b"a" * (before + 1) + b"\n"))
    row = next(rows)
    assert isinstance(row, Row)
    assert len(row.cells[0]) == before + 1
    assert csv.field_size_limit() == before
    rows.close()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b"\n \n", "the file is empty"),
        (b"id,prompt\n", "the file contains no rows"),
        (b"id,prompt\n\n,\n", "the file contains no rows"),
        (b"PK\x03\x04\x00\x00junk", "not a text file"),
        ("prompt\nx\n".encode("utf-16"), "the text is UTF-16"),
        ("prompt\nx\n".encode("utf-16-le"), "the text is UTF-16"),
        ("prompt\nx\n".encode("utf-16-be"), "the text is UTF-16"),
        (b"id,prompt\n1,a\0b\n", "line 2 holds a NUL character, which no text has: remove it, or export the file again"),
        (b"a\0,prompt\n", "line 1 holds a NUL character"),
        (b"prompt\nx\n" + b"\0" * 512, "line 3 holds a NUL character"),
        (b"prompt\n\xff\x81\n", "neither UTF-8 nor Windows-1252"),
        (b'"prompt" x\nfine\n', "the header cannot be read"),
    ],
)
def test_a_file_that_is_no_table_is_refused_in_one_line(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(DatasetError, match=reason) as caught:
        list(read_rows(write(tmp_path, content)))
    assert "\n" not in str(caught.value)


def test_a_title_above_the_header_is_told_by_the_row_that_looks_like_it(tmp_path: Path) -> None:
    bad, other = read_rows(write(tmp_path, b"Questions of May\nid,prompt,response\n1,a,b\n"))
    assert isinstance(bad, BadRow) and isinstance(other, BadRow)
    assert "it looks like the header, which must be the first filled row: delete what stands above it" in bad.reason
    assert "looks like" not in other.reason


def test_bytes_that_only_go_wrong_at_the_end_change_the_reading_of_the_whole_file(tmp_path: Path) -> None:
    path = write(tmp_path, b"prompt\n" + "é\n".encode() + (b"a" * 999 + b"\n") * 1_200 + b"\xe9\n")
    rows = good_rows(path)
    assert (rows[0]["prompt"], rows[-1]["prompt"]) == ("Ã©", "é")


# Characters that the format itself gives a meaning at the edges of a file are covered above.
CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\ufeff"), max_size=30).filter(lambda text: text.strip() != "")


@given(table=st.lists(st.tuples(CELL, CELL), min_size=1, max_size=6), delimiter=st.sampled_from(",;\t"))
def test_what_the_csv_module_writes_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, table: list[tuple[str, str]], delimiter: str
) -> None:
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, delimiter=delimiter).writerows([("prompt", "note"), *table])
    assert [tuple(row.values()) for row in good_rows(path)] == table


@given(content=st.binary(max_size=300))
def test_any_bytes_are_rows_or_a_dataset_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = write(tmp_path_factory.mktemp("csv"), content)
    try:
        rows = list(read_rows(path))
    except DatasetError:
        return
    assert rows
