"""Every file of messages speaks both languages, says each thing once, and nothing that is never said."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import areopage
from areopage.locales import MESSAGES_FILE, NARROW, WIDE, Locale
from areopage.report.elements import MESSAGE_FILES

SOURCE = Path(areopage.__file__).parent
FILES = sorted(
    path
    for path in SOURCE.rglob("*.yml")
    if path.name.endswith(("words.yml", "messages.yml")) or path.parent.name in ("messages", "figures")
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
    paths = [path for path in SOURCE.rglob("*") if path.suffix in (".py", ".j2")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    families = tuple(re.findall(r"[\"']([a-z]+_(?:[a-z]+_)?)\{", text))
    keys = [key for path in (MESSAGES_FILE, *MESSAGE_FILES) for key in yaml.safe_load(path.read_text(encoding="utf-8"))]
    quoted = set(re.findall(r"(?<=[\"'])[\w.]+(?=[\"'])", text))
    assert [key for key in keys if key not in quoted and not key.startswith(families)] == []


_ADJECTIVE = r"(?:more |further |other |earlier |planned |independent |weak )*"
PLURALS = {
    "en": re.compile(r"(?<![\w.,/–-])1 " + _ADJECTIVE + r"(?P<noun>[a-z]{3,}s)\b"),
    "fr": re.compile(r"(?<![\w.,/–-])[01] (?P<noun>[a-zà-ÿ]{3,}s)\b"),
}
NO_PLURALS = {
    "en": (
        *("is", "was", "has", "does", "less", "this", "years", "harmless"),
        *("fails", "scores", "repeats", "names", "passes", "adds", "waits", "asks", "changes", "refers", "lacks", "tests"),
    ),
    "fr": ("des", "dans", "sans", "cas", "les", "fois", "plus", "moins", "depuis", "hors", "près"),
}
VERBS = {
    "en": re.compile(r"(?<![\w.,/–-])(?<!of )1 of (?:the )?\d+ (?:[a-z]+ ){0,3}(?:are|have|were|fail|come|wait|break)\b"),
    "fr": re.compile(
        r"(?<![\w.,/–-])(?<!sur )(?<!de )[01] (?:cas|réponses?|jugements?)?(?: ?sur \d+)? (?:sont|ont|n’ont|échouent|manquent)\b"
    ),
}


def told(locale: Locale, place: str, form: Any, values: dict[str, object]) -> str:
    """A phrase with its values, as a page shows it."""
    whole = Locale(code=locale.code, messages={"key": form})
    if not isinstance(form, dict):
        return whole.say("key", **values)
    number = int(str(values.pop("n")))
    return whole.count("key", number, **values)


def forms(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """Every phrase of one language, singular and plural of one together."""
    if isinstance(value, dict) and set(value) == {"one", "many"}:
        yield where, value
    elif isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from forms(inner, f"{where}.{key}")
    else:
        yield where, str(value)


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_count_in_a_message_agrees_with_its_noun(path: Path, language: str) -> None:
    locale, faults = Locale(code=language, messages={}), []
    for key, spoken in yaml.safe_load(path.read_text(encoding="utf-8")).items():
        for place, form in forms(spoken[language] if key != "qualifications" else {}):
            names = {one.lstrip("${") for one in PLACE.findall(str(form))} | ({"n"} if isinstance(form, dict) else set())
            for name in names:
                for number in (0, 1, 2):
                    text = told(locale, place, form, {**dict.fromkeys(names, "2"), name: str(number)})
                    assert not re.search(r"\{[^{}]*\|", text), (key, text)
                    plain = text.replace(NARROW, " ").replace(WIDE, " ")
                    nouns = [found["noun"] for found in PLURALS[language].finditer(plain)]
                    faults += [(key + place, plain) for noun in nouns if noun not in NO_PLURALS[language]]
                    faults += [(key + place, plain) for _ in VERBS[language].finditer(plain)]
    assert not faults, faults
