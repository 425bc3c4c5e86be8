"""Personas are read in the language of the run; a fault names its file, line or key."""

import json
from pathlib import Path
from typing import Any

import pytest

from areopage.cases.personas import load_personas, persona_faults
from areopage.errors import ConfigError

SHARED = Path(__file__).parents[3] / "shared" / "data" / "child_safety_assets_v1_1" / "assets" / "personas.json"


def persona(**changes: Any) -> dict[str, Any]:
    return {
        "name": "Teen",
        "maturity_band": "9-12",
        "reading_level": "CEFR A2-B1",
        "tone": ["respectful"],
        "content_allow": ["study skills"],
        "content_block": ["illegal how-to"],
        "guidance": ["Be direct."],
        "policy_notes": [],
        "judge_config": {
            "age_group_code": "9-12",
            "target_sentence_length": 12,
            "target_complex_ratio": 0.1,
            "is_minor": True,
            "safety_threshold": "strict",
            "auto_block_risks": ["sexual"],
            "educational_exceptions": [],
        },
        **changes,
    }


def write(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_a_persona_is_read_and_unknown_keys_are_passed_over(tmp_path: Path) -> None:
    path = write(tmp_path / "personas.json", {"Teen": persona(colour="blue")})
    teen = load_personas(path, "en")["Teen"]
    assert (teen.maturity_band, teen.tone, teen.judge_config.is_minor) == ("9-12", ("respectful",), True)
    assert teen.judge_config.target_complex_ratio == 0.1


@pytest.mark.parametrize(("language", "name"), [("fr", "français"), ("fr-CA", "français"), ("en", "english"), ("de", "english")])
def test_the_file_of_the_language_is_preferred(tmp_path: Path, language: str, name: str) -> None:
    path = write(tmp_path / "personas.json", {"Teen": persona(name="english")})
    write(tmp_path / "personas.fr.json", {"Teen": persona(name="français")})
    assert load_personas(path, language)["Teen"].name == name


def test_a_path_that_names_a_language_already_is_a_sibling_of_the_others(tmp_path: Path) -> None:
    path = write(tmp_path / "personas.fr.json", {"Teen": persona(name="français")})
    assert load_personas(path, "fr")["Teen"].name == "français"
    write(tmp_path / "personas.en.json", {"Teen": persona(name="english")})
    assert load_personas(path, "en")["Teen"].name == "english"


@pytest.mark.parametrize("language", ["", "../fr", "fr/../../x", "f" * 50])
def test_a_language_that_is_none_is_refused(tmp_path: Path, language: str) -> None:
    path = write(tmp_path / "personas.json", {"Teen": persona()})
    with pytest.raises(ConfigError, match="not a language code"):
        load_personas(path, language)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{\n"Teen": {\n"name": ,\n', r"personas.json:3: not valid JSON"),
        ("[]", "write an object with one persona per maturity"),
        ("{}", "no persona is defined"),
        ('{"Teen": 3}', "Teen: write an object"),
        ("[" * 100_000, "nested too deeply"),
        ({"Teen": persona(judge_config=[])}, "Teen.judge_config: write an object"),
        ({"Teen": persona(tone="kind")}, "Teen.tone: Expected `array`"),
        (
            {"Teen": persona(judge_config={**persona()["judge_config"], "is_minor": "yes"})},
            "Teen.judge_config.is_minor: Expected",
        ),
        (
            {"Teen": persona(judge_config={**persona()["judge_config"], "target_complex_ratio": 2})},
            "target_complex_ratio: Expected",
        ),
    ],
)
def test_a_fault_names_its_file_and_line_or_key(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_personas(write(tmp_path / "personas.json", content), "en")
    assert "\n" not in str(caught.value)


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    whole = persona()
    del whole["guidance"]
    with pytest.raises(ConfigError, match=r"Teen\.guidance: the key is missing"):
        load_personas(write(tmp_path / "personas.json", {"Teen": whole}), "en")
    whole = persona()
    del whole["judge_config"]["is_minor"]
    with pytest.raises(ConfigError, match=r"Teen\.judge_config\.is_minor: the key is missing"):
        load_personas(write(tmp_path / "personas.json", {"Teen": whole}), "en")


def test_every_fault_of_the_personas_is_named_at_once(tmp_path: Path) -> None:
    teen = persona(tone="kind", judge_config={**persona()["judge_config"], "is_minor": "yes", "target_sentence_length": 0})
    del teen["guidance"]
    path = write(tmp_path / "personas.json", {"Teen": teen, "Child": 3, "Emerging": persona()})
    assert sorted(fault.key or "" for fault in persona_faults(path, "en")) == [
        "Child",
        "Teen.guidance",
        "Teen.judge_config.is_minor",
        "Teen.judge_config.target_sentence_length",
        "Teen.tone",
    ]
    with pytest.raises(ConfigError, match=r"Teen\.\w+: .* \(\+4 more: areopage suites validate\)"):
        load_personas(path, "en")


def test_a_file_that_is_missing_or_no_utf_8_is_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_personas(tmp_path / "personas.json", "en")
    (tmp_path / "personas.json").write_bytes(b'{\n"Teen": "\xe9"}')
    with pytest.raises(ConfigError, match=r"personas\.json:2: the file is not UTF-8"):
        load_personas(tmp_path / "personas.json", "en")


@pytest.mark.skipif(not SHARED.is_file(), reason="the older system's folder is not beside the repository")
def test_the_older_systems_personas_load() -> None:
    assert list(load_personas(SHARED, "fr")) == ["Child", "Teen", "YoungAdult", "Emerging"]
