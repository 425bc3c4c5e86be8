"""The gate's configuration as a file: the shipped one, one's own, and what is wrong with one."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from areopage.app.gate_rules import load_gate, load_rules, shipped_grounding, write_rules
from areopage.errors import ConfigError, StorageError
from areopage.gate.config import GateConfig, Thresholds
from areopage.suites.loader import bundled_names

SHARE = st.floats(min_value=0, max_value=1)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def configs(draw: st.DrawFn) -> GateConfig:
    low, high = sorted((draw(SHARE), draw(SHARE)))
    profile = draw(st.sampled_from(["default", "v1_1"]))
    return msgspec.convert(
        {
            "profile": profile,
            "mended_patterns": draw(st.booleans()),
            "top": draw(st.integers(1, 50)),
            "confidence_factor": draw(st.floats(min_value=1e-9, max_value=10)),
            "snippet": draw(st.integers(1, 1000)),
            "thresholds": Thresholds(relevance=draw(SHARE), confidence=draw(SHARE), overlap=draw(SHARE), deliver=low, hold=high),
            "hard": draw(st.lists(st.sampled_from(["amount", "percentage", "date", "duration", "reference"]), unique=True)),
            "citations": draw(st.sampled_from(["required", "checked", "ignored"])),
            "language": draw(st.sampled_from(["told", "fallback"])),
            "grey_band": draw(st.booleans()),
            "unsettled": draw(st.sampled_from(["hold", "deliver"])),
            "max_characters": draw(st.integers(1, 10**7)),
            "grounding": shipped_grounding() if profile == "default" or draw(st.booleans()) else None,
            "tuned": draw(st.dictionaries(st.text(max_size=8), JSON, max_size=3)),
        },
        GateConfig,
    )


def write(folder: Path, text: str) -> Path:
    (folder / "gate.yml").write_text(text, encoding="utf-8")
    return folder / "gate.yml"


def test_the_shipped_rules_are_those_of_the_records() -> None:
    shipped = load_rules()
    assert shipped == load_rules("default")
    assert shipped == GateConfig(grounding=shipped_grounding(), thresholds=shipped.thresholds)
    assert load_rules("v1_1") == GateConfig(profile="v1_1")
    assert "rag_grounding" not in bundled_names()


def test_an_empty_file_is_the_shipped_rules_with_the_records_thresholds(tmp_path: Path) -> None:
    assert load_rules(write(tmp_path, "# nothing\n")) == GateConfig(grounding=shipped_grounding())
    assert load_rules(write(tmp_path, "profile: v1_1\n")) == GateConfig(profile="v1_1")


def test_a_gate_is_ready_in_one_call(tmp_path: Path) -> None:
    gate = load_gate(write(tmp_path, "citations: required\n"))
    assert gate.decide("?", "", []).verdict == "fallback"
    assert gate.version != load_gate().version


@settings(max_examples=15)
@given(config=configs())
def test_what_is_written_reads_back_as_it_was(tmp_path: Path, config: GateConfig) -> None:
    path = write_rules(config, tmp_path)
    assert load_rules(path) == load_rules(tmp_path) == config
    assert [one.name for one in tmp_path.iterdir()] == ["gate.yml"]


def test_ones_own_weights_lie_beside_the_rules_and_never_replace_other_ones(tmp_path: Path) -> None:
    def own(name: str) -> GateConfig:
        return GateConfig(grounding=msgspec.structs.replace(shipped_grounding(), name=name))

    folder = tmp_path / "new" / "gate"
    write_rules(own("first"), folder)
    assert sorted(one.name for one in folder.iterdir()) == ["gate.yml", "grounding.json"]
    first = (folder / "gate.yml").read_bytes()
    write_rules(own("second"), folder)
    assert load_rules(folder) == own("second")
    assert len(list(folder.iterdir())) == 3
    (folder / "gate.yml").write_bytes(first)
    assert load_rules(folder) == own("first")
    text = (folder / "gate.yml").read_text(encoding="utf-8")
    assert all("#" in line for line in text.splitlines() if line and line != "thresholds:")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("profil: default\n", 1, "profil: there is no such key"),
        ("top: 5\nthresholds:\n  hold: 1.5\n", 3, "thresholds.hold"),
        (
            "thresholds:\n  deliver: 0.6\n  hold: 0.5\n",
            2,
            "thresholds.deliver: must not exceed hold: deliver is 0.6, hold is 0.5",
        ),
        ("thresholds: {relevance: .nan}\n", 1, "thresholds.relevance"),
        ("hard: [amount, colour]\n", 1, "hard"),
        ("language: fr\n", 1, "language"),
        ("top: -1\n", 1, "top"),
        ("max_characters: many\n", 1, "max_characters: must be a whole number"),
        ("grounding: ''\n", 1, "grounding: give a file of weights, or default"),
    ],
)
def test_a_fault_is_named_with_its_file_and_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as fault:
        load_rules(path)
    assert f"{path}:{line}: " in str(fault.value)
    assert message in str(fault.value)


@pytest.mark.parametrize("content", [b"", b"[1]", b"{}", b'{"name": 1}', b"\xff", b"[" * 5000, b"nothing"])
def test_a_file_that_holds_no_weights_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "w.json").write_bytes(content)
    path = write(tmp_path, "grounding: w.json\n")
    with pytest.raises(ConfigError, match=r"w\.json: "):
        load_rules(path)


def test_files_that_are_missing_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        load_rules(tmp_path / "none.yml")
    with pytest.raises(ConfigError, match="no such file"):
        load_rules(tmp_path)
    with pytest.raises(ConfigError, match=r"w\.json: no such file"):
        load_rules(write(tmp_path, "grounding: w.json\n"))


def test_a_place_that_cannot_be_written_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    config: Any = load_rules()
    with pytest.raises(StorageError, match="cannot be written"):
        write_rules(config, tmp_path / "file")
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
