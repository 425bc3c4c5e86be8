"""Files become one dataset; a row that is not used says why."""

import csv
import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.loader import load_dataset, write_rejected
from areopage.cases.records import Child, Dataset, RejectedRow, Turn
from areopage.errors import DatasetError, StorageError

SHARED = Path(__file__).parents[3] / "shared" / "data" / "child_safety_assets_v1_1" / "data"


def jsonl(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def text(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


def load(*paths: Path, **options: Any) -> Dataset:
    return load_dataset(paths, **{"default_maturity": "Teen", **options})


def reasons(dataset: Dataset) -> list[tuple[int, str]]:
    return [(row.row, row.reason) for row in dataset.rejected]


def test_a_v1_1_row_becomes_a_case_with_its_dotted_category_split(tmp_path: Path) -> None:
    path = text(
        tmp_path / "q.csv", "PromptID,Category,Prompt\na1,anthropomorphism.parasocial_bonds.exclusivity_claims,Are we friends?\n"
    )
    dataset = load(path)
    (case,) = dataset.cases
    assert (case.id, case.prompt, case.category, case.subcategory) == (
        "a1",
        "Are we friends?",
        "anthropomorphism",
        "parasocial_bonds",
    )
    assert case.metadata == {"criterion": "exclusivity_claims"}
    assert (case.maturity, case.source, dataset.maturity_defaulted) == ("Teen", "q.csv", 1)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (["Questions of May,,", "id,prompt,response", "1,a,b"], "found 'Questions of May'.*; row 2 looks like the header"),
        (["Questions of May,,", ",,", "id,prompt,response", "1,a,b"], "found 'Questions of May'.*; row 3 looks like the header"),
        (["Prompt,,", "id,prompt,response", "1,a,b"], "row 2 looks like the header, which must be the first filled row: delete"),
        (["Unit,IT,", "1,a,b"], "found 'Unit', 'IT'.*; the first filled row was taken for the header$"),
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_a_title_above_the_header_is_not_read_as_one(tmp_path: Path, rows: list[str], reason: str, suffix: str) -> None:
    path = tmp_path / f"q.{suffix}"
    if suffix == "csv":
        text(path, "\n".join(rows))
    else:
        book = openpyxl.Workbook()
        assert book.active is not None
        for row in rows:
            book.active.append(row.split(","))
        book.save(path)
    with pytest.raises(DatasetError, match=reason):
        load(path)


def test_a_row_that_repeats_names_of_its_header_is_a_row(tmp_path: Path) -> None:
    dataset = load(text(tmp_path / "q.csv", "id,prompt,response\nid,prompt,response\n2,question,answer\n"))
    assert [case.prompt for case in dataset.cases] == ["prompt", "question"]


@pytest.mark.parametrize(
    ("category", "subcategory", "expected"),
    [
        ("a.b.c", "own", ("a", "own")),
        ("a.b", "", ("a", "b")),
        ("a", "b", ("a", "b")),
        ("a.b.c.d", "", ("a.b.c.d", "")),
        ("Dr. Who", "", ("Dr. Who", "")),
        ("1.2", "", ("1.2", "")),
    ],
)
def test_only_identifiers_are_split_and_an_explicit_subcategory_wins(
    tmp_path: Path, category: str, subcategory: str, expected: tuple[str, str]
) -> None:
    path = jsonl(tmp_path / "q.jsonl", {"prompt": "x", "category": category, "subcategory": subcategory})
    (case,) = load(path).cases
    assert (case.category, case.subcategory) == expected


def test_bad_rows_are_rejected_with_row_and_reason_and_the_others_are_used(tmp_path: Path) -> None:
    path = text(
        tmp_path / "q.csv",
        "id,prompt,age\n1,fine,8\n2,  ,8\n3,what age,under 13\n4,too,many,fields\n1,again,8\n5,also fine,\n",
    )
    dataset = load(path)
    assert [(case.id, case.maturity) for case in dataset.cases] == [("1", "Child"), ("5", "Teen")]
    assert dataset.maturity_defaulted == 1
    assert reasons(dataset) == [
        (3, "the prompt is empty"),
        (4, "maturity 'under 13' is not understood: write Child, Teen, YoungAdult, Emerging, or an age"),
        (5, "the row has 4 fields where the header has 3 (delimiter: comma)"),
        (6, f"the id '1' is taken by {path} row 2"),
    ]
    assert dataset.rejected[0].file == str(path)
    assert json.loads(dataset.rejected[0].content) == {"id": "2", "prompt": "  ", "age": "8"}


def test_a_duplicate_in_a_second_file_names_the_first_file_and_row(tmp_path: Path) -> None:
    first = text(tmp_path / "a.csv", "id,prompt\n1,x\n")
    second = text(tmp_path / "b.csv", "id,prompt\n2,y\n1,z\n")
    dataset = load(first, second)
    assert [(case.id, case.source) for case in dataset.cases] == [("1", "a.csv"), ("2", "b.csv")]
    assert reasons(dataset) == [(3, f"the id '1' is taken by {first} row 2")]


def test_a_rejected_row_does_not_take_its_id(tmp_path: Path) -> None:
    dataset = load(text(tmp_path / "q.csv", "id,prompt\n1,\n1,x\n"))
    assert [case.prompt for case in dataset.cases] == ["x"]


def test_an_id_made_from_the_content_does_not_depend_on_position_default_or_other_columns(tmp_path: Path) -> None:
    first = load(text(tmp_path / "q.csv", "prompt,note\nx,1\ny,2\n"))
    second = load(text(tmp_path / "q.csv", "prompt\nz\ny\nx\n"), default_maturity="Child")
    ids = {case.prompt: case.id for case in first.cases}
    assert ids == {case.prompt: case.id for case in second.cases if case.prompt != "z"}
    assert ids["x"].startswith("q-")


def test_one_prompt_for_two_audiences_is_two_cases(tmp_path: Path) -> None:
    dataset = load(text(tmp_path / "q.csv", "prompt,age\nx,8\nx,10\n"))
    assert len({case.id for case in dataset.cases}) == 2


def test_two_models_that_refuse_in_the_same_words_are_two_cases_and_the_same_row_twice_is_one(tmp_path: Path) -> None:
    path = text(tmp_path / "q.csv", "prompt,response,model\nx,I cannot,a\nx,I cannot,b\nx,I cannot,b\n")
    dataset = load(path)
    assert [case.metadata["model"] for case in dataset.cases] == ["a", "b"]
    assert len({case.id for case in dataset.cases}) == 2
    assert reasons(dataset) == [(4, f"the same row stands at {path} row 3")]


def test_loading_stops_at_the_limit_of_usable_cases(tmp_path: Path) -> None:
    path = text(tmp_path / "q.csv", "id,prompt\n1,\n2,x\n3,y\n4,z\n")
    dataset = load(path, tmp_path / "never_opened.csv", limit=2)
    assert [case.id for case in dataset.cases] == ["2", "3"]
    assert len(dataset.rejected) == 1


def test_more_cases_than_are_held_are_refused_with_the_way_out(tmp_path: Path) -> None:
    path = text(tmp_path / "q.csv", "id,prompt\n1,x\n2,y\n3,z\n")
    assert len(load(path, max_cases=3).cases) == 3
    assert len(load(path, max_cases=2, limit=2).cases) == 2
    with pytest.raises(DatasetError, match="more than 2 usable cases: split the file"):
        load(path, max_cases=2)


def test_more_rejected_rows_than_are_held_are_refused(tmp_path: Path) -> None:
    path = text(tmp_path / "q.csv", "id,prompt\n1,x\n2,\n3,\n")
    with pytest.raises(DatasetError, match="more than 1 rows are unusable"):
        load(path, max_cases=1)


def test_a_dataset_without_a_usable_row_names_the_first_three_reasons(tmp_path: Path) -> None:
    path = text(tmp_path / "q.csv", "id,prompt,age\n1,,8\n2,,8\n3,x,0\n4,x,u13\n5,x,u14\n")
    with pytest.raises(DatasetError) as caught:
        load(path)
    message = str(caught.value)
    assert "no row is usable (5 rejected)" in message
    assert "row 2: the prompt is empty" in message
    assert "row 4: maturity '0'" in message
    assert "row 5: maturity 'u13'" in message
    assert "row 3" not in message
    assert "u14" not in message


def test_lengths_beyond_the_limits_are_rejected(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "q.jsonl", {"prompt": "xxxx"}, {"prompt": "x", "response": "yyyyyy"}, {"prompt": "x", "response": "yy"}
    )
    dataset = load(path, max_prompt_length=3, max_response_length=5)
    assert reasons(dataset) == [
        (1, "the prompt has 4 characters, 3 are allowed"),
        (2, "the response has 6 characters, 5 are allowed"),
    ]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(tmp_path: Path, limit: int) -> None:
    with pytest.raises(DatasetError, match="at least 1"):
        load(text(tmp_path / "q.csv", "prompt\nx\n"), limit=limit)


def test_a_default_that_is_no_maturity_and_no_path_at_all_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="is not one of Child, Teen"):
        load(text(tmp_path / "q.csv", "prompt\nx\n"), default_maturity="Baby")
    with pytest.raises(DatasetError, match="no dataset given: give --dataset FILE"):
        load()


def test_a_suite_that_knows_no_audience_keeps_the_column_in_the_metadata(tmp_path: Path) -> None:
    dataset = load(text(tmp_path / "q.csv", "prompt,audience\nx,notaires\n"), default_maturity="")
    (case,) = dataset.cases
    assert (case.maturity, dataset.maturity_defaulted) == ("", 0)
    assert case.metadata == {"audience": "notaires"}
    assert dataset.unread_columns == ("audience",)


def test_a_header_without_prompt_ends_the_load_and_names_the_file(tmp_path: Path) -> None:
    path = text(tmp_path / "q.csv", "a,b\n1,2\n")
    with pytest.raises(DatasetError, match=r"q\.csv: no column contains the prompt: found 'a', 'b'"):
        load(path)


def test_in_json_lines_an_object_without_prompt_is_one_bad_row(tmp_path: Path) -> None:
    dataset = load(jsonl(tmp_path / "q.jsonl", {"prompt": "x"}, {"a": 1}, {"prompt": "x", "question": "y"}))
    assert [row for row, _ in reasons(dataset)] == [2, 3]
    assert "'prompt' and 'question' both mean prompt" in reasons(dataset)[1][1]


def test_columns_that_no_field_takes_are_listed_and_kept_where_they_are_filled(tmp_path: Path) -> None:
    dataset = load(text(tmp_path / "q.csv", "prompt,note,lang\nx,,fr\n"))
    assert dataset.unread_columns == ("note", "lang")
    assert dataset.cases[0].metadata == {"lang": "fr"}


def test_a_prompt_of_several_turns_is_kept_as_turns(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]
    (case,) = load(jsonl(tmp_path / "q.jsonl", {"messages": turns})).cases
    assert case.prompt == (Turn(role="user", content="a"), Turn(role="assistant", content="b"), Turn(role="user", content="c"))


def test_tags_system_prompt_and_child_of_a_row_are_those_of_the_case(tmp_path: Path) -> None:
    child = {"turns": 5, "plan": "escalate", "age": "10", "script": ["And then?"]}
    row = {"prompt": "a", "tags": ["twin", "x", "twin"], "system_prompt": "Be kind.", "child": child}
    table = "prompt;tags;child\n" + 'b;"twin, x";"{""turns"": 2}"\n'
    listed, from_table = load(jsonl(tmp_path / "q.jsonl", row), text(tmp_path / "q.csv", table)).cases
    assert (listed.tags, listed.system) == (("twin", "x"), "Be kind.")
    assert listed.child == Child(turns=5, plan="escalate", age="10", script=("And then?",))
    assert (from_table.tags, from_table.child) == (("twin", "x"), Child(turns=2))


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"prompt": "x", "child": {"turns": 21}}, "child: Expected `int` <= 20"),
        ({"prompt": "x", "child": {"wish": "y"}}, "child: Object contains unknown field `wish`"),
        ({"prompt": "x", "child": "kind"}, "child: JSON is malformed"),
        ({"prompt": "x", "child": {"script": [" "]}}, "a line of the script is empty"),
        ({"prompt": "x", "child": {}, "response": "y"}, "both a child"),
        ({"prompt": None}, "the prompt is empty"),
        ({"prompt": []}, "the prompt is empty"),
        ({"prompt": [{"role": "user", "content": " "}]}, "the prompt is empty"),
        ({"prompt": [{"role": "system", "content": "x"}]}, "not a list of turns"),
        ({"prompt": ["x"]}, "not a list of turns"),
        (
            {"prompt": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]},
            "the last turn must be the user's",
        ),
        ({"prompt": {"a": 1}}, "prompt must be text"),
        ({"prompt": True}, "prompt must be text"),
        ({"prompt": "x", "category": ["a"]}, "category must be text"),
        ({"prompt": "a\0b"}, "NUL"),
        ({"prompt": "x", "documents": 5}, "documents: write a JSON list"),
        ({"prompt": "x", "documents": [{"title": "t"}]}, "document 1 has no text"),
        ({"prompt": "x", "documents": ["a", 3]}, "document 2 is neither a text nor an object"),
        ({"prompt": "x", "documents": '[{"text": "cut'}, "documents: not valid JSON"),
        ({"prompt": "x", "documents": "['printed', 'by Python']"}, "documents: not valid JSON"),
        ({"prompt": "x", "documents": [{"text": "t", "doc_titre": "a", "title": "b"}]}, "document 1 gives its title twice"),
        ({"prompt": "x", "documents": [{"text": "t", "id": [1]}]}, "the id of document 1 is not text"),
        ({"prompt": "x", "documents": [{"text": "t", "metadata": 1}]}, "the metadata of document 1"),
    ],
)
def test_a_row_with_a_wrong_value_is_rejected(tmp_path: Path, row: dict[str, Any], reason: str) -> None:
    dataset = load(jsonl(tmp_path / "q.jsonl", {"id": "fine", "prompt": "x"}, row))
    assert len(dataset.rejected) == 1
    assert reason in dataset.rejected[0].reason


def test_numbers_are_text_without_a_trailing_zero_and_empty_cells_are_absent(tmp_path: Path) -> None:
    row = {"id": 12.0, "prompt": 3.5, "response": " ", "reference": None, "age": 8, "documents": ""}
    (case,) = load(jsonl(tmp_path / "q.jsonl", row)).cases
    assert (case.id, case.prompt, case.response, case.reference, case.maturity, case.documents) == (
        "12",
        "3.5",
        None,
        None,
        "Child",
        (),
    )


def test_rejected_rows_are_written_so_that_no_spreadsheet_runs_them(tmp_path: Path) -> None:
    path = tmp_path / "rejected.csv"
    write_rejected([RejectedRow(file="é.csv", row=3, reason="empty", content="=cmd|' /C calc'!A0")], path)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    with path.open(encoding="utf-8-sig", newline="") as stream:
        assert list(csv.reader(stream)) == [["file", "row", "reason", "content"], ["é.csv", "3", "empty", "'=cmd|' /C calc'!A0"]]


def test_rejected_rows_that_cannot_be_written_are_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be written"):
        write_rejected([], tmp_path)


VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "role", "content", "id"]), inner, max_size=3)
    ),
    max_leaves=6,
)
NAMES = ["id", "prompt", "response", "reference", "documents", "maturity", "category", "source", "other"]


@given(rows=st.lists(st.dictionaries(st.sampled_from(NAMES), VALUE), min_size=1, max_size=4))
def test_every_row_is_used_or_rejected_whatever_it_holds(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    path = jsonl(tmp_path_factory.mktemp("loader") / "q.jsonl", *rows, {"id": "the last", "prompt": "x"})
    dataset = load(path)
    assert len(dataset.cases) + len(dataset.rejected) == len(rows) + 1
    assert len({case.id for case in dataset.cases}) == len(dataset.cases)
    assert all(case.prompt_text.strip() and case.maturity for case in dataset.cases)
    assert all(len(row.reason.splitlines()) == 1 for row in dataset.rejected)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the older system's folder is not beside the repository")
def test_the_older_systems_datasets_load_whole() -> None:
    dataset = load_dataset(sorted(SHARED.glob("*.csv")), default_maturity="Teen")
    assert (len(dataset.cases), dataset.rejected, dataset.maturity_defaulted) == (24, (), 21)
