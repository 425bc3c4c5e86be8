"""Labels from tables: what is taken, what is not and why, and that nothing is taken twice."""

from pathlib import Path

import openpyxl
import pytest

from areopage.errors import DatasetError
from areopage.ledger.people.access import Audit
from areopage.ledger.people.labels import Labels
from areopage.ledger.store import Ledger
from areopage.review.imported_ratings import import_ratings
from areopage.review.rubric import Rubric
from servers.judged_answers import NOW


def written(folder: Path, text: str, name: str = "ratings.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def current(ledger: Ledger) -> dict[tuple[str, str, str], float]:
    return {(one.answer_id, one.rater, one.criterion.rpartition(".")[2]): one.score for one in Labels(ledger).current()}


def test_french_columns_with_decimal_commas_are_taken(ledger: Ledger, rubric: Rubric, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "identifiant;Évaluateur;Exactitude;Complétude;Structure en quatre parties;note globale;commentaire;ville\n"
        "a01;Anne;7,5;6;;7;Bien;Lyon\n"
        "a02;Bruno;3;;;;;\n",
    )
    found = import_ratings(ledger, rubric, path, None, NOW)
    assert (found.labels, found.unchanged, found.answers, found.rejected) == (4, 0, 2, ())
    assert found.unread_columns == ("ville",)
    assert current(ledger) == {
        ("a01", "Anne", "exactitude"): 7.5,
        ("a01", "Anne", "completude"): 6,
        ("a01", "Anne", ""): 7,
        ("a02", "Bruno", "exactitude"): 3,
    }
    assert {one.note for one in Labels(ledger).of("a01")} == {"Bien"}
    assert {one.origin for one in Labels(ledger).of("a01")} == {"import"}


def test_corrected_answers_are_taken_beside_the_labels(ledger: Ledger, rubric: Rubric, tmp_path: Path) -> None:
    text = "id;rater;exactitude;réponse corrigée\na01;Anne;7;Dix jours.\na02;Anne;3;\n"
    found = import_ratings(ledger, rubric, written(tmp_path, text), None, NOW)
    assert (found.labels, found.unread_columns) == (2, ())
    assert [one.correction for one in Labels(ledger).current()] == ["Dix jours.", ""]
    assert import_ratings(ledger, rubric, written(tmp_path, "id,rater,exactitude\na01,Anne,7\n"), None, NOW).labels == 0
    mended = text.replace("Dix jours.", "Deux mois.")
    assert import_ratings(ledger, rubric, written(tmp_path, mended), None, NOW).labels == 1
    too_long = import_ratings(ledger, rubric, written(tmp_path, text.replace("Dix", "x" * 20_001)), None, NOW)
    assert "correction: give at most 20,000" in too_long.rejected[0].reason


def test_a_file_imported_again_adds_nothing_and_a_mended_one_only_what_changed(
    ledger: Ledger, rubric: Rubric, tmp_path: Path
) -> None:
    text = "id,rater,exactitude,global\na01,Anne,7,6\na02,Anne,5,5\n"
    path = written(tmp_path, text)
    assert import_ratings(ledger, rubric, path, None, NOW).labels == 4
    again = import_ratings(ledger, rubric, path, None, NOW)
    assert (again.labels, again.unchanged) == (0, 4)
    mended = import_ratings(ledger, rubric, written(tmp_path, text.replace("a02,Anne,5,5", "a02,Anne,4,5")), None, NOW)
    assert (mended.labels, mended.unchanged) == (1, 3)
    assert current(ledger)["a02", "Anne", "exactitude"] == 4
    assert len(Labels(ledger).of("a01")) == 2


def test_rows_that_cannot_be_used_are_named_and_taken_not_even_half(ledger: Ledger, rubric: Rubric, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "id,rater,exactitude,format,note\n"
        "a01,Anne,7,8,fine\n"  # taken
        "a02,Anne,7,11,\n"  # off the scale: the 7 is not taken either
        "a03,Anne,,,nothing\n"
        ",Anne,7,8,\n"
        "a04,,7,8,\n"
        "nobody,Anne,7,8,\n"
        "a01,Anne,6,,\n"  # the same answer, rater and criterion as the first
        "a05,Anne,7,8,6\n"  # a number where a note should be
        "a06,Anne,seven,8,\n",
    )
    found = import_ratings(ledger, rubric, path, None, NOW)
    assert found.labels == 2
    assert set(current(ledger)) == {("a01", "Anne", "exactitude"), ("a01", "Anne", "format")}
    reasons = {row.row: row.reason for row in found.rejected}
    assert list(reasons) == [3, 4, 5, 6, 7, 8, 9, 10]
    assert reasons[3] == "format: '11' is not a score: give a number from 0 to 10"
    assert reasons[4] == "the row has no score"
    assert reasons[5] == "the row has no answer id"
    assert "rater: give a name" in reasons[6]
    assert reasons[7].startswith("no answer 'nobody'")
    assert reasons[8] == "row 2 has a score of this answer by Anne"
    assert "contains a number: name the column global" in reasons[9]
    assert reasons[10] == "exactitude: 'seven' is not a score: give a number from 0 to 10"


def test_a_workbook_is_read_like_a_table(ledger: Ledger, rubric: Rubric, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (("id", "rater", "exactitude", "sources"), ("a01", "Anne", 7, 2.5), ("a02", "Anne", 9.0, None)):
        sheet.append(row)
    book.save(tmp_path / "ratings.xlsx")
    assert import_ratings(ledger, rubric, tmp_path / "ratings.xlsx", None, NOW).labels == 3
    assert current(ledger)["a01", "Anne", "sources"] == 2.5


def test_objects_a_line_are_taken_each_by_its_own_keys(ledger: Ledger, rubric: Rubric, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '{"id": "a01", "rater": "Anne", "exactitude": 7.25}\n{"id": "a02", "global": 4}\n{"rater": "Anne", "format": 4}\n',
        "ratings.jsonl",
    )
    found = import_ratings(ledger, rubric, path, "Bruno", NOW)
    assert current(ledger) == {("a01", "Anne", "exactitude"): 7.25, ("a02", "Bruno", ""): 4}
    assert [row.row for row in found.rejected] == [3]


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("rater,exactitude\nAnne,7\n", "no column for the answer id"),
        ("id,exactitude\na01,7\n", "no column for the rater"),
        ("id,rater,tone\na01,Anne,7\n", "no column is a criterion"),
        ("id,rater,exactitude,Accuracy\na01,Anne,7,7\n", "are the same criterion"),
    ],
)
def test_a_table_of_no_use_is_refused_whole(ledger: Ledger, rubric: Rubric, tmp_path: Path, header: str, said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        import_ratings(ledger, rubric, written(tmp_path, header), None, NOW)


def test_an_import_leaves_one_trace_per_rater(ledger: Ledger, rubric: Rubric, tmp_path: Path) -> None:
    path = written(tmp_path, "id,rater,exactitude,global\na01,Anne,7,6\na02,Anne,5,5\na01,Bruno,5,5\n")
    import_ratings(ledger, rubric, path, None, NOW)
    entries = {(entry.actor, entry.detail) for entry in Audit(ledger).list(subject="ratings.csv")}
    assert entries == {("Anne", "import: 4 labels of 2 answers"), ("Bruno", "import: 2 labels of 1 answers")}
