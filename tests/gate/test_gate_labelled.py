"""Labelled answers as people write them down."""

import json
from pathlib import Path

import pytest

from areopage.cases.loader import load_dataset
from areopage.gate.tuning.labelled import Label, Labelled, labelled_of
from areopage.gate.tuning.tuned import row_of

ROW = {"prompt": "Quel délai ?", "response": "Le délai est de dix jours.", "documents": ["Dix jours."], "group": "a"}


def read(tmp_path: Path, **fields: object) -> Labelled:
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps({**ROW, **fields}) + "\n", encoding="utf-8")
    return labelled_of(load_dataset([path], default_maturity="").cases[0], "here")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"grounded": "yes"}, "yes"),
        ({"grounded": " Partly "}, "partly"),
        ({"grounded": "non"}, "no"),
        ({"grounded": True}, "yes"),
        ({"hallucinated": True}, "no"),
        ({"hallucinated": "false"}, "yes"),
        ({"hallucinated": 1}, "no"),
        ({"Hallucination": "oui"}, "no"),
    ],
)
def test_labels_are_read_however_they_are_called(tmp_path: Path, fields: dict[str, object], expected: Label) -> None:
    assert read(tmp_path, **fields).grounded == expected


def test_pieces_are_places_or_indexes_of_sentences(tmp_path: Path) -> None:
    found = read(tmp_path, grounded="no", unsupported=[{"start": 3, "end": 8}, [9, 12], 0])
    assert found.unsupported == ((3, 8), (9, 12))
    assert found.sentences == (0,)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "no label"),
        ({"grounded": "perhaps"}, "grounded: 'perhaps' is not a label"),
        ({"hallucinated": "perhaps"}, "hallucinated: 'perhaps' is not a label"),
        ({"grounded": "no", "unsupported": [{"start": 3, "end": 800}]}, "unsupported:"),
        ({"grounded": "no", "unsupported": ["délai"]}, "unsupported:"),
        ({"grounded": "no", "response": ""}, "no response"),
    ],
)
def test_a_row_that_says_nothing_is_refused_with_what_to_write(tmp_path: Path, fields: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read(tmp_path, **fields)


def test_the_group_is_found_under_the_names_of_public_sets(tmp_path: Path) -> None:
    fields = {key: value for key, value in ROW.items() if key != "group"}
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps({**fields, "source_id": 12, "grounded": "yes"}) + "\n", encoding="utf-8")
    found = labelled_of(load_dataset([path], default_maturity="").cases[0])
    assert found.unit == "group 12"


def test_without_groups_the_same_question_with_the_same_documents_is_one_witness(tmp_path: Path) -> None:
    found = read(tmp_path, grounded="yes", group="")
    assert read(tmp_path, grounded="no", group="", response="Dix jours,\nje crois.").unit == found.unit
    assert read(tmp_path, grounded="yes", group="", documents=["Douze jours."]).unit != found.unit
    assert read(tmp_path, grounded="yes", group="", prompt="Quel prix ?").unit != found.unit


def test_sentences_that_were_labelled_by_index_become_places_for_the_fitting() -> None:
    text = "Le délai est de dix jours. Le prix est de vingt euros."
    row = row_of(Labelled(id="1", prompt="Quel délai ?", response=text, documents=(), grounded="no", sentences=(1, 7)), 5)
    assert row.unsupported == ((text.index("Le prix"), len(text)),)


def test_an_ungrounded_answer_without_places_leaves_the_sentence_to_the_fitting() -> None:
    row = Labelled(id="1", prompt="Quel délai ?", response="Dix jours.", documents=(), grounded="no")
    assert row_of(row, 5).unsupported is None
