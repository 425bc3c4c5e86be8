"""YAML files: every mistake is one line with its place, and no small file costs much."""

from pathlib import Path
from unittest import mock

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from areopage.errors import ConfigError
from areopage.yaml_document import MAX_BYTES, YamlDocument, parse_foreign_yaml, parse_yaml, read_yaml

PATH = Path("config.yml")


def fault_of(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        parse_yaml(text, PATH)
    assert "\n" not in str(caught.value)
    return caught.value


def test_every_key_remembers_its_line_and_list_positions_count_as_keys() -> None:
    document = parse_yaml("a: 1\nb:\n  c:\n    - x\n    - d: 2\n      e: 3\n", PATH)
    assert document.data == {"a": 1, "b": {"c": ["x", {"d": 2, "e": 3}]}}
    assert [document.line(*keys) for keys in (("a",), ("b",), ("b", "c"), ("b", "c", 1), ("b", "c", 1, "e"))] == [1, 2, 3, 5, 6]


def test_a_key_that_is_not_there_has_the_line_of_the_nearest_one_above() -> None:
    document = parse_yaml("a:\n  b: 1\n", PATH)
    assert document.line("a", "gone", "deeper") == 1
    assert document.line("gone") is None
    assert str(document.error("is missing", "a", "gone")) == "config.yml:1: a.gone: is missing"
    assert str(document.error("is empty")) == "config.yml: is empty"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\nb: [1, 2\nc: 3\n", 3, "not valid YAML"),
        ("a: 1\n\tb: 2\n", 2, "not valid YAML"),
        ("a: 1\nb: \x07\n", 2, "control character"),
        ("a: 1\nb: *nothing\n", 2, "undefined alias"),
        ("a: 1\nb: 2\na: 3\n", 3, "duplicate key"),
        ("a:\n  b: 1\n  'b': 2\n", 3, "duplicate key"),
        ("a:\n  - {x: 1, x: 1}\n", 2, "duplicate key"),
        ("- a\n", 1, "must be a mapping"),
        ("", 1, "must be a mapping"),
        ("word", 1, "must be a mapping"),
        ("a: !!python/object:os.system x\n", 1, "could not determine a constructor"),
        ("a: !!int ''\n", None, "does not fit its tag"),
        ("a: !!timestamp soon\n", None, "does not fit its tag"),
        ("a: !!bool perhaps\n", None, "does not fit its tag"),
        ("a: 2020-13-45\n", None, "month must be in"),
        ("a: 1\n? [b, c]\n: 2\n", 2, "a key must be a plain word"),
        ("a: &a\n  b: *a\n", 1, "an alias contains itself"),
        ("a: &a [1, *a]\n", 1, "an alias contains itself"),
        ("a: 1" + "0" * 5000, None, "not valid YAML"),
        ("a: " + "[" * 3000, None, "recursion"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, line: int | None, message: str) -> None:
    fault = fault_of(text)
    assert (fault.line, fault.path) == (line, PATH)
    assert message in str(fault)


@pytest.mark.parametrize("start", ["[x]", "{k: 1}"])
def test_aliases_of_aliases_are_refused_before_they_cost_anything(start: str) -> None:
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30))
    assert "aliases repeat more than" in str(fault_of(f"a0: &a0 {start}\n{levels}"))


def test_merges_of_merges_are_refused_before_they_cost_anything() -> None:
    levels = "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}], k{n}: 1}}\n" for n in range(1, 30))
    assert "aliases repeat more than" in str(fault_of(f"a0: &a0 {{k: 1}}\n{levels}"))


def test_honest_aliases_and_merges_are_read() -> None:
    document = parse_yaml("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: [*a, *a]\n", PATH)
    assert document.data["b"] == {"x": 1, "y": 3}
    assert document.data["c"] == [{"x": 1, "y": 2}] * 2


def test_a_file_is_read_with_or_without_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "x.yml"
    path.write_bytes("\ufeffé: 1\n".encode())
    assert read_yaml(path).data == {"é": 1}


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    latin, large = tmp_path / "latin.yml", tmp_path / "large.yml"
    latin.write_bytes("a: é\n".encode("latin-1"))
    large.write_bytes(b"#" * (MAX_BYTES + 1))
    for path, message in (
        (tmp_path / "none.yml", "no such file"),
        (latin, "not UTF-8 text"),
        (large, "this is not a configuration file"),
        (tmp_path, "cannot be read"),
        (latin / "below", "cannot be read"),
    ):
        with pytest.raises(ConfigError, match=message) as caught:
            read_yaml(path)
        assert str(caught.value).startswith(f"{path}: ")


@given(st.text() | st.text(alphabet=st.sampled_from("a: [{]},&*<!|>-?'\"#\n\t%@`é\x00")))
def test_any_text_is_a_mapping_or_a_config_error(text: str) -> None:
    try:
        document = parse_yaml(text, PATH)
    except ConfigError as fault:
        assert str(fault).startswith("config.yml")
    else:
        assert isinstance(document, YamlDocument)
        assert isinstance(document.data, dict)


def reading_of(text: str) -> object:
    try:
        document = parse_yaml(text, PATH)
    except ConfigError as fault:
        return str(fault)
    return repr(document.data), document.lines


@given(st.text(alphabet=st.sampled_from("ab: [{]},&*<!|>-?'\"#\n\t%@~1.")))
@example("a: &x {b: [1, *x]}")
@example("a: >\n  b\n c: 1\n")
@example("a: [b: 1]\nb: {c}\n")
@example("a: '\u2028'\n")
@example("a: \ud800")
def test_libyaml_s_parser_reads_what_pyyaml_s_own_reads(text: str) -> None:
    found = reading_of(text)
    with mock.patch("areopage.yaml_document._QuickLoader", yaml.SafeLoader):
        assert reading_of(text) == found


def test_files_of_programs_that_read_yaml_1_2_are_read_so() -> None:
    text = "a: NO\nb: 18:30\nc: 0123\nd: [yes, Off, on]\ne: 1e3\nf: 1_000\ng: true\nh: ~\n"
    text += "i: 2024-01-01\nj: .5\nk: 0x1F\nl: 1.0\nm: '7'\n"
    data = parse_foreign_yaml(text, Path("x.yaml")).data
    assert data == {
        **{"a": "NO", "b": "18:30", "c": 123, "d": ["yes", "Off", "on"], "e": 1000, "f": "1_000", "g": True, "h": None},
        **{"i": "2024-01-01", "j": 0.5, "k": 31, "l": 1, "m": "7"},
    }
    with pytest.raises(ConfigError, match="not valid YAML"):
        parse_foreign_yaml("a: [", Path("x.yaml"))
    with pytest.raises(ConfigError, match="duplicate key"):
        parse_foreign_yaml("a: 1\na: 2", Path("x.yaml"))
