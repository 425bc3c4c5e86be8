"""Prompt files: what is missing or wrong is named, a localised file goes before the suite's own."""

from pathlib import Path

import pytest

from areopage.criteria.prompt_file import LoadedCriteria, is_unwritten, load_criteria, prompt_faults, prompt_file_faults
from areopage.criteria.records import Scale
from areopage.criteria.registry import load_registry
from areopage.yaml_document import parse_yaml

TEXTS = """role: You judge.
task: Is it good?
scoring_guide: "0 bad, 5 good"
output_format: '{{"score": 0-5}}'
"""
SUITE_SCALE = Scale(0, 5)


def load(tmp_path: Path, files: dict[str, str], language: str = "en") -> LoadedCriteria:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    path = tmp_path / "registry.yml"
    path.write_text(
        "criteria:\n  a.b.one__v1_0: {file: one.prompt, label: {en: One, fr: Un}}\n  a.b.two__v1_0: {file: two.prompt}\n",
        encoding="utf-8",
    )
    registry = load_registry(path)
    return load_criteria(registry, tuple(registry.entries), tmp_path, language, "en", SUITE_SCALE)


def test_a_prompt_file_becomes_a_criterion_with_the_suites_scale(tmp_path: Path) -> None:
    found = load(tmp_path, {"one.prompt": TEXTS, "two.prompt": TEXTS + "scale: {min: 1, max: 10, higher_is_better: false}\n"})
    assert (found.faults, found.untranslated) == ((), ())
    one, two = found.criteria
    assert (one.id, one.path, one.version, one.language) == ("a.b.one__v1_0", "a.b.one", "1.0", "en")
    assert (one.role, one.age_context, one.examples) == ("You judge.", "", "")
    assert (one.label, two.label) == ("One", "two")
    assert (one.scale, two.scale) == (SUITE_SCALE, Scale(1, 10, False))


def test_the_localised_file_is_used_where_it_exists_and_the_others_are_named(tmp_path: Path) -> None:
    french = TEXTS.replace("You judge.", "Vous jugez.")
    found = load(tmp_path, {"one.prompt": TEXTS, "one.fr.prompt": french, "two.prompt": TEXTS}, "fr")
    one, two = found.criteria
    assert (one.role, one.language, one.label) == ("Vous jugez.", "fr", "Un")
    assert (two.role, two.language) == ("You judge.", "en")
    assert found.untranslated == ("a.b.two__v1_0",)


def test_a_faulty_file_is_named_and_the_other_is_loaded(tmp_path: Path) -> None:
    found = load(tmp_path, {"one.prompt": "role: [a\n", "two.prompt": TEXTS})
    assert [one.id for one in found.criteria] == ["a.b.two__v1_0"]
    assert len(found.faults) == 1
    assert str(found.faults[0]).startswith(str(tmp_path / "one.prompt"))
    gone = load(tmp_path / "", {}, "fr")
    assert [one.id for one in gone.criteria] == ["a.b.two__v1_0"]
    (tmp_path / "one.prompt").unlink()
    assert "the prompt file of a.b.one__v1_0 is missing" in str(load(tmp_path, {}).faults[0])


def test_all_faults_of_a_prompt_file_are_named_once_each_with_key_and_line() -> None:
    document = parse_yaml(
        """role: ""
task: 5
scoring_guide: |
  0 - ...
  5 - fine
examples: |
  PROMPT: "..."
age_context: [a]
scale: {min: 5, max: 0}
""",
        Path("x.prompt"),
    )
    faults = [(fault.key, fault.line) for fault in prompt_faults(document)]
    assert sorted(faults, key=str) == sorted(
        [
            ("role", 1),
            ("output_format", None),
            ("task", 2),
            ("scoring_guide", 3),
            ("examples", 6),
            ("age_context", 8),
            ("scale", 9),
        ],
        key=str,
    )


@pytest.mark.parametrize(
    "scale",
    [
        "{min: 0, max: 0}",
        "{min: a, max: 5}",
        "{max: 5}",
        "{min: true, max: 5}",
        "{min: 0, max: 5, step: 1}",
        "{min: 0, max: 5, higher_is_better: yess}",
        "{min: 0, max: .inf}",
        "{min: -.inf, max: 5}",
        "{min: .nan, max: 5}",
        "{min: 0, max: .nan}",
        "{min: 0, max: 1" + "0" * 400 + "}",
        "[0, 5]",
        "5",
        "",
    ],
)
def test_what_is_no_scale_is_a_fault_and_no_crash(scale: str) -> None:
    document = parse_yaml(f"{TEXTS}scale: {scale}\n", Path("x.prompt"))
    (fault,) = prompt_faults(document)
    assert (fault.key, fault.line) == ("scale", 5)


def test_the_case_slots_of_v1_1_are_silent_and_other_unknown_keys_are_named(tmp_path: Path) -> None:
    file = tmp_path / "x.prompt"
    file.write_text(TEXTS + "CONTENT TO ANALYZE:\nPROMPT: {prompt}\nRESPONSE: {response}\nscoring_guid: x\n", encoding="utf-8")
    (idle,) = prompt_file_faults(tmp_path, file)
    assert (idle.key, idle.line) == ("scoring_guid", 8)


@pytest.mark.parametrize("text", ["Well ... it depends.", "etc. ...", "5 - fine ...", "RESPONSE: I do not know ...", "a...b"])
def test_an_ellipsis_within_a_text_is_no_unwritten_text(text: str) -> None:
    assert not is_unwritten(f"first line\n{text}\nlast line")


@pytest.mark.parametrize(
    "text", ["...", "…", "0 - ...", '  PROMPT: "..."', 'EVIDENCE_EXTRACTS: ["..."]', "RÉPONSE : « … »", "- ..."]
)
def test_an_ellipsis_in_place_of_a_text_is_an_unwritten_text(text: str) -> None:
    assert is_unwritten(f"first line\n{text}\nlast line")


def test_a_name_in_braces_that_is_almost_a_placeholder_is_noted_and_the_criterion_is_loaded(tmp_path: Path) -> None:
    text = TEXTS.replace("Is it good?", "'Is it good for {age_gruop}? {it}'")
    (tmp_path / "x.prompt").write_text(text, encoding="utf-8")
    (note,) = prompt_file_faults(tmp_path, tmp_path / "x.prompt")
    assert (note.key, note.line) == ("task", 2)
    assert "{age_gruop} (its line 1) is no placeholder: did you mean {age_group}?" in str(note)
    assert load(tmp_path, {"one.prompt": text, "two.prompt": TEXTS}).faults == ()
