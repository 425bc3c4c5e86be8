"""New suites and new criteria: what is written can be loaded, and nothing is left half done."""

from collections.abc import Callable
from pathlib import Path

import pytest

from areopage.errors import ConfigError, CriteriaError
from areopage.suites.loader import bundled_names, load_suite
from areopage.suites.scaffold import add_criterion, copy_suite
from areopage.suites.validation import unselected_criteria
from servers.small_suite import folder_faults

Spoil = Callable[[str, str, str], None]
REGISTRY = "assets/criteria_registry.yml"
NEW = "safety.harm.threats__v1_2"


@pytest.mark.parametrize("name", bundled_names())
def test_a_copy_of_a_bundled_suite_has_no_fault_either(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "deep" / "mine"
    copy_suite(name, folder)
    assert folder_faults(str(folder)) == []
    assert load_suite(str(folder)).name == "mine"
    assert [path.name for path in folder.parent.iterdir()] == ["mine"]


def test_nothing_is_written_over(tmp_path: Path, own_suite: Path) -> None:
    for taken in (tmp_path, own_suite, own_suite / "config.yml"):
        with pytest.raises(ConfigError, match="already exists"):
            copy_suite("child_safety", taken)
    with pytest.raises(ConfigError, match="no such suite"):
        copy_suite("nothing", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_suite_is_not_copied_into_itself(own_suite: Path) -> None:
    before = sorted(own_suite.rglob("*"))
    with pytest.raises(ConfigError, match="is inside the suite"):
        copy_suite(str(own_suite), own_suite / "data" / "copy")
    assert sorted(own_suite.rglob("*")) == before


def test_a_new_criterion_has_a_prompt_in_each_language_and_keeps_the_registrys_comments(own_suite: Path) -> None:
    registry = own_suite / REGISTRY
    registry.chmod(0o664)
    before = registry.read_text(encoding="utf-8")
    written = add_criterion(load_suite(str(own_suite)), NEW)
    folder = own_suite / "assets" / "criteria" / "safety" / "harm"
    assert written == [folder / "threats__v1_2.prompt", folder / "threats__v1_2.fr.prompt", registry]
    suite = load_suite(str(own_suite))
    assert list(suite.registry.entries)[-1] == NEW
    assert len(suite.registry.entries) == 3
    assert suite.registry.entries[NEW].version == "1.2"
    assert suite.registry.label(NEW, "fr") == "Threats"
    # what is left to do is to write its texts and to weigh it
    faults = folder_faults(str(own_suite))
    assert [fault.partition("config.yml:")[2] for fault in faults if "config.yml" in fault] == [
        "11: weights.criteria.safety.harm: no weight for 'threats'"
    ]
    unwritten = [fault for fault in faults if "`...`" in fault]
    assert len(unwritten) == len(faults) - 1 == 1 + 2 * len(("role", "task", "scoring_guide", "examples"))
    kept = registry.read_text(encoding="utf-8").splitlines()
    assert [line for line in before.splitlines() if line not in kept] == []
    assert registry.stat().st_mode & 0o777 == 0o664
    assert sorted(path.name for path in registry.parent.iterdir()) == ["criteria", "criteria_registry.yml"]


@pytest.mark.parametrize("name", bundled_names())
def test_a_criterion_can_be_added_to_a_copy_of_a_bundled_suite(tmp_path: Path, name: str) -> None:
    copy_suite(name, tmp_path / "mine")
    suite = load_suite(str(tmp_path / "mine"))
    add_criterion(suite, "tone.voice.warmth__v1_0")
    changed = load_suite(str(tmp_path / "mine"))
    assert list(changed.registry.entries) == [*suite.registry.entries, "tone.voice.warmth__v1_0"]
    held = suite.registry.presets["full_evaluation"].criteria
    assert changed.registry.presets["full_evaluation"].criteria == (*held, "tone.voice.warmth__v1_0")
    assert unselected_criteria(changed) == unselected_criteria(suite)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("criteria:\n", "criteria:   # all of them\n"),
        ("criteria:\n", "criteria:\n\n\n"),
        (REGISTRY, REGISTRY),
    ],
)
def test_an_entry_finds_its_place_in_registries_written_otherwise(own_suite: Path, spoil: Spoil, old: str, new: str) -> None:
    path = own_suite / REGISTRY
    if old == REGISTRY:
        text = path.read_text(encoding="utf-8").replace("  safety", "      safety").replace("    file", "        file")
        path.write_text("\ufeff" + text, encoding="utf-8")
    else:
        spoil(REGISTRY, old, new)
    add_criterion(load_suite(str(own_suite)), NEW)
    suite = load_suite(str(own_suite))
    assert (len(suite.registry.entries), suite.registry.faults) == (3, ())


def test_a_registry_that_cannot_be_added_to_stays_as_it_is_and_no_prompt_is_written(own_suite: Path) -> None:
    path = own_suite / REGISTRY
    text = "criteria: {safety.harm.danger__v1_0: {file: danger.prompt}}\n"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"by hand: safety\.harm\.threats__v1_2: version: \"1\.2\""):
        add_criterion(load_suite(str(own_suite)), NEW)
    assert path.read_text(encoding="utf-8") == text
    assert not (own_suite / "assets/criteria/safety").exists()


def prompt_of(suite: Path, language: str = "") -> str:
    add_criterion(load_suite(str(suite)), NEW)
    return (suite / f"assets/criteria/safety/harm/threats__v1_2{language}.prompt").read_text(encoding="utf-8")


def test_a_new_criterion_has_the_scale_of_its_suite(own_suite: Path) -> None:
    with (own_suite / "config.yml").open("a", encoding="utf-8") as config:
        config.write("scoring: {scale: {min: 1, max: 10, higher_is_better: false}}\n")
    text = prompt_of(own_suite)
    assert "scale: {min: 1, max: 10, higher_is_better: false}" in text
    assert [line for line in text.splitlines() if line.endswith(" - ...")] == [f"  {score} - ..." for score in range(1, 11)]
    assert "SCORE: 1\n" in text and "one number from 1 to 10" in text


def test_a_wide_scale_has_a_guide_for_its_ends(own_suite: Path) -> None:
    with (own_suite / "config.yml").open("a", encoding="utf-8") as config:
        config.write("scoring: {scale: {min: -50, max: 50}}\n")
    assert "scoring_guide: |\n  -50 - ...\n  50 - ...\nexamples" in prompt_of(own_suite, ".fr")
    unwritten = [fault for fault in folder_faults(str(own_suite)) if "scoring_guide: still holds" in fault]
    assert len(unwritten) == 2


def test_a_new_criterion_asks_for_the_readers_age_only_where_the_suite_knows_readers(own_suite: Path, tmp_path: Path) -> None:
    assert "age_" not in prompt_of(own_suite)
    copy_suite("child_safety", tmp_path / "mine")
    assert "age_context: >-\n  Le lecteur a {age_group} ans.\nscale:" in prompt_of(tmp_path / "mine", ".fr")


MALFORMED = ("threats", "safety.harm.threats", "Safety.harm.threats__v1_0", "a.b.c.d__v1_0", "a.b.é__v1_0", "")


@pytest.mark.parametrize("criterion", MALFORMED)
def test_a_malformed_id_is_refused(own_suite: Path, criterion: str) -> None:
    with pytest.raises(CriteriaError, match=r"write category\.subcategory\.name__vX_Y"):
        add_criterion(load_suite(str(own_suite)), criterion)


def test_an_id_or_a_file_that_is_taken_is_refused(own_suite: Path) -> None:
    with pytest.raises(CriteriaError, match="increase its version"):
        add_criterion(load_suite(str(own_suite)), "safety.harm.danger__v1_0")
    taken = own_suite / "assets/criteria/safety/harm/threats__v1_2.fr.prompt"
    taken.parent.mkdir(parents=True)
    taken.write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError, match="already exists"):
        add_criterion(load_suite(str(own_suite)), NEW)
    assert taken.read_text(encoding="utf-8") == "mine"
    assert len(load_suite(str(own_suite)).registry.entries) == 2
