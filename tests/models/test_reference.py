"""How a model is named: as the user wrote it, and in a heading."""

import pytest

from areopage.models.reference import ModelReference


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("replay:/home/anne/demo/data/helper_2.jsonl", "replay:helper_2.jsonl"),
        (r"replay:C:\demo\helper_2.jsonl", "replay:helper_2.jsonl"),
        ("embedded:/models/tiny.gguf", "embedded:tiny.gguf"),
        ("openai@lab:org/model-7b", "openai@lab:org/model-7b"),
        ("ollama:qwen3:8b", "ollama:qwen3:8b"),
    ],
)
def test_a_heading_names_a_file_without_its_folders(text: str, title: str) -> None:
    reference = ModelReference.parse(text)
    assert reference.title == title
    assert str(reference) == text
