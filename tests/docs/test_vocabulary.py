"""French pages and messages have one word for each concept: a case asks a `question`, a model is sent a `consigne`."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from servers.examples import ROOT

PAGES = [*sorted((ROOT / "docs").rglob("*.fr.md")), ROOT / "README.fr.md"]
SOURCE = ROOT / "src" / "areopage"
MESSAGES = [
    path for path in sorted(SOURCE.rglob("*.yml")) if "suites" not in path.relative_to(SOURCE).parts and path.name != "config.yml"
]
OTHER_WORDS = re.compile(r"\b(?:prompts?|invites?)\b", re.IGNORECASE)
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`|\]\([^)]*\)", re.MULTILINE | re.DOTALL)
ENGLISH_COLUMN = re.compile(r"^(\| \*\*[^|]*\|)[^|]*", re.MULTILINE)


def french_in(value: Any, *, french: bool = False) -> Iterator[str]:
    """The French texts of a file of messages: what stands under a key `fr`."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from french_in(one, french=french or key == "fr")
    elif isinstance(value, list):
        for one in value:
            yield from french_in(one, french=french)
    elif french and isinstance(value, str):
        yield re.sub(r"\$\w+", "", value)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_french_page_has_no_second_word_for_question_and_consigne(page: Path) -> None:
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    if page.name == "glossary.fr.md":
        text = ENGLISH_COLUMN.sub(r"\1", text)
    assert OTHER_WORDS.findall(text) == []


def test_french_messages_have_no_second_word_for_question_and_consigne() -> None:
    texts = [text for path in MESSAGES for text in french_in(yaml.safe_load(path.read_text(encoding="utf-8")))]
    assert len(texts) > 500
    assert [text for text in texts if OTHER_WORDS.search(text)] == []
