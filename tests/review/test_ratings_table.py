"""Recorded ratings without a ledger, wide and long."""

import json
from pathlib import Path

import pytest
import scipy

from areopage.errors import DatasetError, UserError
from areopage.review.ratings_table import table_agreement

JUDGE = (8, 6, 9, 2, 5, 6)
ANNE = (7, 6, 10, 3, 4, 8)
BRUNO = (9, 4, 8, 1, 4, 8)


def written(folder: Path, text: str, name: str = "ratings.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_wide_and_long_tables_give_the_same_figures(tmp_path: Path) -> None:
    rows = list(enumerate(zip(JUDGE, ANNE, BRUNO, strict=True)))
    wide = "item,judge,human1,human2\n" + "".join(f"{at},{j},{a},{b}\n" for at, (j, a, b) in rows)
    long = "item;rater;score\n" + "".join(
        f"{at};{rater};{score}\n" for at, scores in rows for rater, score in zip(("gpt", "human1", "human2"), scores, strict=True)
    )
    first = table_agreement(written(tmp_path, wide))
    second = table_agreement(written(tmp_path, long, "long.csv"), "gpt")
    assert first.agreement == second.agreement
    assert (first.judge, second.judge) == ("judge", "gpt")
    people = [(a + b) / 2 for a, b in zip(ANNE, BRUNO, strict=True)]
    assert first.agreement.criteria[0].pearson.value == pytest.approx(scipy.stats.pearsonr(JUDGE, people).statistic)


def test_criteria_are_measured_one_by_one(tmp_path: Path) -> None:
    lines = [
        json.dumps({"item": at, "criterion": name, "judge": j, "human_1": a, "human_2": None if at == 2 else b, "text": "…"})
        for name in ("clarity", "overall")
        for at, (j, a, b) in enumerate(zip(JUDGE, ANNE, BRUNO, strict=True))
    ]
    found = table_agreement(written(tmp_path, "\n".join(lines), "ratings.jsonl"))
    assert [one.criterion for one in found.agreement.criteria] == ["clarity", ""]
    assert found.agreement.criteria[0].labels == 11
    assert found.agreement.criteria[0].raters.items == 5


def test_a_row_with_a_cell_that_is_no_number_is_left_out_and_named(tmp_path: Path) -> None:
    text = "item,judge,human1\n1,5,6\n2,five,6\n3,0.123456789,0.123456789\n,5,6\n4,inf,6\n"
    found = table_agreement(written(tmp_path, text))
    assert found.rejected == (
        (3, "'five' of judge is not a number"),
        (5, "the row has no item"),
        (6, "'inf' of judge is not a number"),
    )
    assert found.agreement.criteria[0].items == 2
    assert found.agreement.criteria[0].error == 0.5


def test_another_column_can_be_the_judge(tmp_path: Path) -> None:
    found = table_agreement(written(tmp_path, "item,gpt,human1\n1,5,6\n2,7,7\n"), "gpt")
    assert found.agreement.criteria[0].items == 2


def test_a_long_table_asks_who_the_judge_is(tmp_path: Path) -> None:
    path = written(tmp_path, "item,rater,score\n1,Anne,6\n1,Bruno,7\n")
    with pytest.raises(UserError, match="name the rater that is the judge with --judge: Anne, Bruno"):
        table_agreement(path)


def test_a_table_of_neither_form_is_refused_with_both(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="the columns do not form a table of ratings"):
        table_agreement(written(tmp_path, "item,judge\n1,5\n"))


def test_an_item_that_a_rater_rates_again_is_named(tmp_path: Path) -> None:
    rows = "".join(f"{at},{j},{a},{b}\n" for at, (j, a, b) in enumerate(zip(JUDGE, ANNE, BRUNO, strict=True)))
    report = table_agreement(written(tmp_path, f"item,judge,human1,human2\n{rows}0,1,2,3\n"))
    assert [reason for _, reason in report.rejected] == [
        f"{rater} rated 0 before: the last rating counts" for rater in ("judge", "human1", "human2")
    ]
