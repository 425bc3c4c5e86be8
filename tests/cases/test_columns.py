"""Columns are recognised by what people call them, and never by a guess."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.columns import ALIASES, ColumnPlan, fold_name, plan_columns
from areopage.errors import DatasetError

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "cases.md"


@pytest.mark.parametrize(
    ("names", "fields"),
    [
        (("PromptID", "Category", "Prompt"), {"id": 0, "category": 1, "prompt": 2}),
        (
            ("guid", "prompt", "category", "subcategory", "maturity", "source"),
            {"id": 0, "prompt": 1, "category": 2, "subcategory": 3, "maturity": 4, "source": 5},
        ),
        (
            ("Question", "Réponse", "Sous-catégorie", "Tranche d'âge", "Référence", "Contexte"),
            {"prompt": 0, "response": 1, "subcategory": 2, "maturity": 3, "reference": 4, "documents": 5},
        ),
        (("question", "answer", "context_chunks"), {"prompt": 0, "response": 1, "documents": 2}),
        (("USER INPUT", "Criteria-Selection", "TRANCHE D’AGE"), {"prompt": 0, "criteria_selection": 1, "maturity": 2}),
    ],
)
def test_usual_headers_are_recognised_in_english_and_french(names: tuple[str, ...], fields: dict[str, int]) -> None:
    assert dict(plan_columns(names).fields) == fields


def test_two_columns_for_one_field_are_an_error_that_names_both() -> None:
    with pytest.raises(DatasetError, match="columns 'Question' and 'prompt' both mean prompt"):
        plan_columns(("Question", "id", "prompt"))


def test_no_prompt_lists_what_was_found_and_what_would_do() -> None:
    with pytest.raises(DatasetError) as caught:
        plan_columns(("text", "label\n2"))
    message = str(caught.value)
    assert "found 'text', 'label\\n2'" in message
    assert "prompt, prompt_text, question" in message


def test_every_column_that_is_not_read_keeps_a_name_of_its_own() -> None:
    plan = plan_columns(("note", "prompt", "", "note", "note_2", "note"))
    assert plan == ColumnPlan({"prompt": 1}, ((0, "note"), (2, "column_3"), (3, "note_2"), (4, "note_2_2"), (5, "note_3")))


def test_no_spelling_belongs_to_two_fields() -> None:
    folded = [name for aliases in ALIASES.values() for name in {fold_name(alias) for alias in aliases}]
    assert len(folded) == len(set(folded))


def test_the_reference_lists_every_spelling() -> None:
    text = DOCS.read_text(encoding="utf-8")
    table = text.split("## Columns")[1].split("## Maturity")[0]
    rows = {line.split("|")[1].strip(): line for line in table.splitlines() if line.startswith("| ")}
    for field, aliases in ALIASES.items():
        assert [f"`{alias}`" in rows[field] for alias in aliases] == [True] * len(aliases), field


@given(names=st.lists(st.text(max_size=12), max_size=8))
def test_unread_names_are_distinct_for_any_header(names: list[str]) -> None:
    try:
        plan = plan_columns((*names, "prompt"))
    except DatasetError:
        return
    kept = [name for _, name in plan.unread]
    assert len(kept) == len(set(kept))
    assert sorted([*plan.fields.values(), *(place for place, _ in plan.unread)]) == list(range(len(names) + 1))
