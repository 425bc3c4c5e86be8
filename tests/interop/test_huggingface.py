"""A run as a dataset's folder: the card says what the files hold, and our own reader reads it again."""

from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
import yaml

from areopage.cases.loader import load_dataset
from areopage.cases.records import Document
from areopage.errors import UserError
from areopage.interop.huggingface import write_huggingface
from areopage.jury.judges import PlannedCall
from areopage.ledger.tables.records import Judgment
from areopage.scoring.outcome import Scored, Unparsed
from report.report_runs import RESPONSE, case, judgment, view_of

ARROW = {"string": "string", "float64": "double", "int64": "int64", "bool": "bool"}


def say(call: PlannedCall) -> Judgment | None:
    if call.case.id == "case-2":
        return judgment(call, Unparsed(reason="no JSON"))
    return judgment(call, Scored(score=1.0, explanation="é"))


def metadata_of(folder: Path) -> dict[str, Any]:
    _, front, _ = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    found: dict[str, Any] = yaml.safe_load(front)
    return found


def test_the_card_describes_every_file_and_column(tmp_path: Path) -> None:
    documents = (Document(id="d", text="Facts."),)
    view = view_of(tmp_path, cases=[case(1, documents=documents, tags=("x",)), case(2)], say=say)
    folder = tmp_path / "dataset"
    assert write_huggingface(view, folder, "cc-by-4.0").rows == 2
    card = metadata_of(folder)
    assert (card["license"], card["language"], card["size_categories"]) == ("cc-by-4.0", ["en"], ["n<1K"])
    assert [one["config_name"] for one in card["configs"]] == ["cases", "judgments"]
    for config, info in zip(card["configs"], card["dataset_info"], strict=True):
        [file] = config["data_files"]
        table = pyarrow.parquet.read_table(folder / file["path"])
        # the library ignores features and splits where one of these three keys is missing
        [split] = info["splits"]
        assert (split["name"], split["num_examples"]) == (file["split"], table.num_rows)
        assert split["num_bytes"] == info["dataset_size"] > 0
        assert [feature["name"] for feature in info["features"]] == table.column_names
        for feature, field in zip(info["features"], table.schema, strict=True):
            dtype = feature.get("dtype", "")
            assert str(field.type) == ARROW.get(dtype, dtype or "list<element: string>")
    first, second = pyarrow.parquet.read_table(folder / "data" / "cases.parquet").to_pylist()
    assert (first["response"], first["score"], first["tags"]) == (RESPONSE, 1.0, ["x"])
    assert first["failed_criteria"] == ["safety.harm.danger__v1_0", "safety.harm.insults__v1_0"]
    assert (second["score"], second["score:safety.harm.danger__v1_0"]) == (None, None)


def test_what_is_exported_is_a_dataset_again(tmp_path: Path) -> None:
    view = view_of(tmp_path, cases=[case(1, documents=(Document(id="d", text="Facts."),)), case(2)])
    write_huggingface(view, tmp_path / "dataset", "other")
    cases = load_dataset([tmp_path / "dataset"], default_maturity="Child").cases
    assert [(one.id, one.prompt, one.response) for one in cases] == [
        ("case-1", "Question 1?", RESPONSE),
        ("case-2", "Question 2?", RESPONSE),
    ]
    assert cases[0].documents[0].text == "Facts."


def test_a_french_run_has_a_french_card_and_names_of_others_stay_text(tmp_path: Path) -> None:
    view = view_of(tmp_path, language="fr", suite="x` <script>\n# y")
    write_huggingface(view, tmp_path / "dataset", "mit")
    text = (tmp_path / "dataset" / "README.md").read_text(encoding="utf-8")
    assert "ce n’est jamais un zéro" in text
    assert metadata_of(tmp_path / "dataset")["language"] == ["fr"]
    assert "# `x' <script> # y run-1`\n" in text


@pytest.mark.parametrize("licence", ["", "a b", "x\ny: z", "MIT!"])
def test_a_licence_must_be_stated_and_nothing_is_written_before(tmp_path: Path, licence: str) -> None:
    with pytest.raises(UserError, match="--licence"):
        write_huggingface(view_of(tmp_path), tmp_path / "dataset", licence)
    assert not (tmp_path / "dataset").exists()


def test_a_folder_that_is_there_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "dataset").mkdir()
    with pytest.raises(UserError, match="already"):
        write_huggingface(view_of(tmp_path), tmp_path / "dataset", "mit")
