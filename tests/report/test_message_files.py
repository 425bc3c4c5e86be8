"""Every file of messages speaks both languages, says each thing once, and nothing that is never said."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import areopage
from areopage.locales import MESSAGES_FILE
from areopage.report.elements import MESSAGE_FILES

SOURCE = Path(areopage.__file__).parent
FILES = sorted(
    path for path in SOURCE.rglob("*.yml") if path.name.endswith(("words.yml", "messages.yml")) or path.parent.name == "messages"
)
PLACE = re.compile(r"\$\{?[a-z_]+")


def phrases(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """Every phrase of one language, with its place."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from phrases(inner, f"{where}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from phrases(inner, f"{where}.{number}")
    else:
        yield where, value


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_key_is_given_twice(path: Path) -> None:
    node = yaml.compose(path.read_text(encoding="utf-8"))
    assert isinstance(node, yaml.MappingNode)
    keys = [key.value for key, _ in node.value]
    assert sorted(keys) == sorted(set(keys))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_both_languages_have_the_same_phrases_with_the_same_values_in_them(path: Path) -> None:
    for key, forms in yaml.safe_load(path.read_text(encoding="utf-8")).items():
        assert set(forms) == {"en", "fr"}, key
        english, french = (dict(phrases(forms[language])) for language in ("en", "fr"))
        if key == "qualifications":  # by the English text, which needs no translation itself
            continue
        assert set(english) == set(french), key
        for place, said in english.items():
            values = {one.lstrip("${") for one in PLACE.findall(str(said))}
            assert values == {one.lstrip("${") for one in PLACE.findall(str(french[place]))}, f"{key}{place}"


def test_there_are_words_to_check() -> None:
    assert len(FILES) >= 8


def test_no_two_files_of_the_reports_share_a_key() -> None:
    keys = [key for path in (MESSAGES_FILE, *MESSAGE_FILES) for key in yaml.safe_load(path.read_text(encoding="utf-8"))]
    assert sorted(keys) == sorted(set(keys))


def test_every_message_of_the_reports_is_used() -> None:
    parts = ("report", "server/pages/templates", "cli")
    paths = [path for part in parts for path in (SOURCE / part).rglob("*") if path.suffix in (".py", ".j2")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in (*paths, SOURCE / "locales.py"))
    families = tuple(re.findall(r"[\"']([a-z]+_(?:[a-z]+_)?)\{", text))
    keys = [key for path in (MESSAGES_FILE, *MESSAGE_FILES) for key in yaml.safe_load(path.read_text(encoding="utf-8"))]
    quoted = set(re.findall(r"(?<=[\"'])[\w.]+(?=[\"'])", text))
    assert [key for key in keys if key not in quoted and not key.startswith(families)] == []
