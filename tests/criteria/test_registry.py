"""The registry of criteria: faulty entries are named with file and line, all at once, and the rest is read."""

from pathlib import Path

import pytest

from areopage.criteria.registry import LocalText, Registry, load_registry
from areopage.errors import ConfigError

GOOD = """metadata: {version: 1}
labels:
  categories:
    safety: {en: Safety, fr: Sécurité}
  subcategories:
    safety.harm: {en: Harm, fr: Dangers}
criteria:
  safety.harm.danger__v1_2:
    label: {en: Danger, fr: Danger !}
    description: {en: No danger, fr: Aucun danger}
    file: safety/danger.prompt
    tags: [one, 2]
    may_not_apply: true
  safety.harm.insults__v1_0:
    version: 1.0
    category: safety
    subcategory: harm
    name: insults
    description: No insults
    file: safety/insults.prompt
presets:
  all:
    description: Everything
    criteria: [safety.harm.danger__v1_2, safety.harm.insults__v1_0, safety.harm.danger__v1_2]
"""


def read(tmp_path: Path, text: str) -> Registry:
    path = tmp_path / "registry.yml"
    path.write_text(text, encoding="utf-8")
    return load_registry(path)


def test_entries_presets_and_labels_are_read(tmp_path: Path) -> None:
    registry = read(tmp_path, GOOD)
    assert registry.faults == ()
    assert list(registry.entries) == ["safety.harm.danger__v1_2", "safety.harm.insults__v1_0"]
    danger = registry.entries["safety.harm.danger__v1_2"]
    assert (danger.category, danger.subcategory, danger.name, danger.version) == ("safety", "harm", "danger", "1.2")
    assert (danger.version_number, danger.path, danger.tags) == ((1, 2), "safety.harm.danger", ("one", "2"))
    assert danger.may_not_apply
    assert registry.presets["all"].criteria == ("safety.harm.danger__v1_2", "safety.harm.insults__v1_0")


def test_names_for_people_fall_back_from_language_to_english_to_the_id(tmp_path: Path) -> None:
    registry = read(tmp_path, GOOD)
    assert registry.label("safety", "fr") == "Sécurité"
    assert registry.label("safety", "de") == "Safety"
    assert registry.label("safety.harm", "fr") == "Dangers"
    assert registry.label("safety.harm.insults__v1_0", "fr") == "insults"
    assert registry.label("no_such.part_of_it", "fr") == "part of it"
    assert LocalText({"it": "pericolo"}).get("fr") == "pericolo"
    assert LocalText({"": "plain", "en": "english"}).get("fr") == "plain"
    assert LocalText().get("fr") == ""


def test_all_faults_of_a_registry_are_named_at_once_with_their_lines(tmp_path: Path) -> None:
    registry = read(
        tmp_path,
        """criteria:
  safety.harm.good__v1_0: {file: good.prompt}
  Safety.harm.upper__v1_0: {file: x.prompt}
  safety.harm.noversion: {file: x.prompt}
  safety.harm.list__v1_0: [x.prompt]
  safety.harm.other__v1_0:
    category: tone
    subcategory: voice
    name: another
    file: x.prompt
  safety.harm.nofile__v1_0: {}
  safety.harm.outside__v1_0:
    file: ../../etc/passwd
  safety.harm.absolute__v1_0: {file: /etc/passwd}
  safety.harm.tags__v1_0: {file: x.prompt, tags: 5}
  safety.harm.applies__v1_0: {file: x.prompt, may_not_apply: sometimes}
presets:
  empty: {}
  unknown:
    criteria:
      - safety.harm.good__v1_0
      - safety.harm.gone__v1_0
""",
    )
    assert list(registry.entries) == ["safety.harm.good__v1_0"]
    assert registry.presets["unknown"].criteria == ("safety.harm.good__v1_0",)
    lines = [fault.line for fault in registry.faults]
    assert lines == [3, 4, 5, 7, 8, 9, 11, 13, 14, 15, 16, 18, 22]
    assert all(str(fault).startswith(f"{tmp_path / 'registry.yml'}:{fault.line}: ") for fault in registry.faults)
    text = "\n".join(str(fault) for fault in registry.faults)
    for part in (
        "in a-z, 0-9 and _",
        "must be a mapping with category",
        "is 'tone' but the id implies 'safety'",
        "must name the prompt file",
        "must be inside the folder of prompt files",
        "must be a list",
        "must be true or false",
        "must list its criteria under `criteria`",
        "'safety.harm.gone__v1_0' is not in the registry",
    ):
        assert part in text


WRONG_SECTIONS = ("presets: [a]", "presets: 5", "labels: [a]", "labels: {categories: [a]}", "labels: {subcategories: x}")


@pytest.mark.parametrize("section", WRONG_SECTIONS)
def test_a_section_of_the_wrong_kind_is_a_fault_and_no_crash(tmp_path: Path, section: str) -> None:
    registry = read(tmp_path, f"criteria:\n  a.b.c__v1_0: {{file: x.prompt}}\n{section}\n")
    assert len(registry.faults) == 1
    assert registry.faults[0].line == 3
    assert "must be a mapping" in str(registry.faults[0])
    assert list(registry.entries) == ["a.b.c__v1_0"]


@pytest.mark.parametrize("text", ["presets: {}\n", "criteria:\n", "criteria: {}\n", "criteria: [a]\n", "criteria: none\n"])
def test_a_registry_without_criteria_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="must list at least one criterion"):
        read(tmp_path, text)


def test_a_missing_registry_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yml: no such file"):
        load_registry(tmp_path / "none.yml")
