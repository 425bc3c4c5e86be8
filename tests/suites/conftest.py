"""A small suite of one's own, as files that each test may spoil."""

from collections.abc import Callable
from pathlib import Path

import pytest

CONFIG = """project: {name: own, version: "1"}
languages: [en, fr]
judge_system:
  judges:
    one: {model: "m:1"}
criteria: {default_selection: all}
weights:
  categories: {safety: 1.0}
  subcategories: {safety: {harm: 1.0}}
  criteria:
    safety.harm: {danger: 0.5, insults: 0.5}
paths: {datasets: {en: [cases.csv], fr: [cases.csv]}}
"""
REGISTRY = """# the criteria of this suite
criteria:
  # a comment that stays
  safety.harm.danger__v1_0:
    file: danger.prompt
  safety.harm.insults__v1_0:
    file: insults.prompt
presets:
  all:
    criteria: [safety.harm.danger__v1_0, safety.harm.insults__v1_0]
"""
PROMPT = """role: You judge.
task: Is it good?
scoring_guide: "0 bad, 5 good"
output_format: '{{"score": 0-5}}'
"""

Spoil = Callable[[str, str, str], None]


@pytest.fixture
def own_suite(tmp_path: Path) -> Path:
    """The folder of a suite without any fault."""
    folder = tmp_path / "own"
    criteria = folder / "assets" / "criteria"
    criteria.mkdir(parents=True)
    (folder / "data").mkdir()
    (folder / "config.yml").write_text(CONFIG, encoding="utf-8")
    (folder / "assets" / "criteria_registry.yml").write_text(REGISTRY, encoding="utf-8")
    (folder / "data" / "cases.csv").write_text("id,prompt\n1,hello\n", encoding="utf-8")
    for name in ("danger", "insults"):
        for suffix in ("", ".fr"):
            (criteria / f"{name}{suffix}.prompt").write_text(PROMPT, encoding="utf-8")
    return folder


@pytest.fixture
def spoil(own_suite: Path) -> Spoil:
    """Replace a text in a file of the suite; the text must be there."""

    def replace(file: str, old: str, new: str) -> None:
        path = own_suite / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return replace
