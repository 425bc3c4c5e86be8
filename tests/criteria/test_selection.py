"""Selections of criteria: what each form names, in which order, and what a wrong one says."""

from pathlib import Path

import pytest

from areopage.criteria.registry import Registry, load_registry
from areopage.errors import CriteriaError

IDS = (
    "safety.harm.danger__v1_0",
    "safety.harm.danger__v1_2",
    "safety.harm.danger__v1_10",
    "safety.hate.insults__v1_0",
    "tone.voice.warmth__v2_0",
)


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    entries = "\n".join(f"  {one}: {{file: {one}.prompt}}" for one in IDS)
    path = tmp_path / "registry.yml"
    path.write_text(
        f"""criteria:
{entries}
presets:
  quick: {{criteria: [tone.voice.warmth__v2_0, safety.harm.danger__v1_0]}}
  hollow: {{criteria: []}}
""",
        encoding="utf-8",
    )
    return load_registry(path)


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        ("safety", ("safety.harm.danger__v1_10", "safety.hate.insults__v1_0")),
        ("safety.harm", ("safety.harm.danger__v1_10",)),
        ("safety.harm.danger", ("safety.harm.danger__v1_10",)),
        ("safety.harm.danger__v1_2", ("safety.harm.danger__v1_2",)),
        ("quick", ("tone.voice.warmth__v2_0", "safety.harm.danger__v1_0")),
        ("tone, safety.hate", ("tone.voice.warmth__v2_0", "safety.hate.insults__v1_0")),
        (" tone ,, tone.voice , ", ("tone.voice.warmth__v2_0",)),
        (
            "safety.hate.insults__v1_0,safety,quick",
            ("safety.hate.insults__v1_0", "safety.harm.danger__v1_10", "tone.voice.warmth__v2_0", "safety.harm.danger__v1_0"),
        ),
    ],
)
def test_a_selection_names_these_criteria_in_this_order(registry: Registry, selection: str, expected: tuple[str, ...]) -> None:
    assert registry.select(selection) == expected


def test_versions_are_compared_as_numbers_not_as_text(registry: Registry) -> None:
    assert registry.select("safety.harm.danger") == ("safety.harm.danger__v1_10",)


@pytest.mark.parametrize(
    ("selection", "hint"),
    [
        ("safty", "did you mean safety"),
        ("tone.voice.warmt", "did you mean tone.voice.warmth"),
        ("safety.harm.danger__v9_9", "safety.harm.danger__v1_"),
        ("insults", "safety.hate.insults"),
        ("zzzzzz", "presets are quick, hollow"),
        ("Safety", "did you mean safety"),
        ("safet", "did you mean safety"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_ones(registry: Registry, selection: str, hint: str) -> None:
    with pytest.raises(CriteriaError) as caught:
        registry.select(f"quick,{selection}")
    assert hint in str(caught.value)
    assert repr(selection) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("selection", ["", " ", ",", " , ,"])
def test_an_empty_selection_is_refused(registry: Registry, selection: str) -> None:
    with pytest.raises(CriteriaError, match="is empty"):
        registry.select(selection)


def test_a_preset_without_criteria_is_refused_rather_than_selecting_nothing(registry: Registry) -> None:
    with pytest.raises(CriteriaError, match="'hollow' contains no criterion"):
        registry.select("hollow")


def test_a_beginning_of_a_name_is_no_selection(registry: Registry) -> None:
    with pytest.raises(CriteriaError):
        registry.select("safety.har")
