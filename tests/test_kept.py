"""What is read from the package's files is kept for the next process, and is what reading them again would give."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment

from areopage import kept as kept_module
from areopage.kept import kept, kept_file
from areopage.ledger.connection import tables_digest
from areopage.ledger.store import Ledger
from areopage.locales import LANGUAGES, MESSAGES_FILE, locale_for
from areopage.report import render
from areopage.report.compiled import CompiledTemplates
from areopage.report.elements import MESSAGE_FILES
from areopage.suites.loader import BUNDLED, bundled_names
from areopage.yaml_document import read_yaml


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where things are kept, in a process that may write there."""
    place = tmp_path / "kept"
    monkeypatch.setattr(kept_module, "KEPT", place)
    monkeypatch.setattr("areopage.report.compiled.KEPT", place)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return place


def read_once(value: Any) -> Callable[[], Any]:
    """Return a value, and fail where it is read again."""
    left = [value]
    return left.pop


def test_a_text_is_read_again_only_when_it_has_changed(folder: Path) -> None:
    first = read_once({"a": [1, "é"]})
    assert [kept("x.yml", b"1", dict[str, Any], first) for _ in range(3)] == [{"a": [1, "é"]}] * 3
    assert kept("x.yml", b"2", dict[str, Any], read_once({"b": 2})) == {"b": 2}
    assert kept("x.yml", b"2", dict[str, Any], first) == {"b": 2}


def test_a_kept_file_that_is_broken_is_made_again(folder: Path) -> None:
    kept("x", b"1", list[int], lambda: [1])
    (place,) = folder.iterdir()
    whole = place.read_bytes()
    for content in (b"", whole[:-1], whole[:16] + b"\xc1", whole[:16] + b"\xa1a"):
        place.write_bytes(content)
        assert kept("x", b"1", list[int], lambda: [1]) == [1]
        assert place.read_bytes() == whole
    assert [one.name for one in folder.iterdir()] == [place.name]


def test_a_value_that_would_come_back_as_another_one_is_not_kept(folder: Path) -> None:
    for value in ({"day": {1, 2}}, {1: "a"}, {"at": object()}):
        assert kept("x", b"1", dict[str, Any], read_once(value)) == value
    assert not folder.exists() or not list(folder.iterdir())


def test_nothing_is_kept_of_a_users_file_or_where_python_keeps_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept_file(tmp_path / "own.yml", b"1", list[int], lambda: [1])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    kept("x", b"1", list[int], lambda: [1])
    assert not folder.exists()
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    folder.write_text("a file in its place")
    assert [kept("x", b"1", list[int], lambda: [1]) for _ in range(2)] == [[1], [1]]


def test_what_is_kept_of_the_package_is_what_reading_gives(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suites = [BUNDLED / name / "config.yml" for name in bundled_names()]
    read = [read_yaml(path) for path in suites]
    assert [read_yaml(path) for path in suites] == read
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(kept_module, "KEPT", folder / "none")
    assert [read_yaml(path) for path in suites] == read
    names = {path.name.split(".cpython")[0].split(".pypy")[0] for path in folder.iterdir()}
    assert names == {f"suites.bundled.{name}.config.yml" for name in bundled_names()}


def test_messages_are_the_same_whether_they_are_kept_or_not(folder: Path) -> None:
    files = tuple(path for path in MESSAGE_FILES if path != MESSAGES_FILE)
    for code in LANGUAGES:
        # the order of files makes a locale of its own, read anew
        found = [dict(locale_for(code, *order).messages) for order in (files, files[::-1], files[1:] + files[:1])]
        assert found[0] == found[1] == found[2]
    assert len(list(folder.iterdir())) == len(files) + 1


def test_a_page_is_compiled_once_for_each_language(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def environment(code: str) -> Environment:
        made = render.environment(render.TEMPLATES, locale_for(code, *MESSAGE_FILES))
        made.bytecode_cache = CompiledTemplates(code)
        return made

    environment("en").get_template("blocks.html.j2")
    (place,) = folder.glob("*.jinja")
    broken = place.read_bytes()[:-100] + bytes(100)
    place.write_bytes(broken)
    environment("en").get_template("blocks.html.j2")
    assert place.read_bytes() != broken
    monkeypatch.setattr(Environment, "compile", lambda *given, **named: pytest.fail("compiled again"))
    assert environment("en").get_template("blocks.html.j2").module is not None
    with pytest.raises(pytest.fail.Exception, match="compiled again"):
        environment("fr").get_template("blocks.html.j2")


def test_a_ledger_made_by_kept_statements_has_the_same_tables(folder: Path, tmp_path: Path) -> None:
    def tables(name: str) -> list[tuple[Any, ...]]:
        with Ledger.open(tmp_path / name) as ledger, ledger.engine.connect() as connection:
            return [tuple(row) for row in connection.exec_driver_sql("SELECT type, name, sql FROM sqlite_master")]

    tables_digest.cache_clear()
    first, digest = tables("a.db"), tables_digest()
    tables_digest.cache_clear()
    assert (tables("b.db"), tables_digest()) == (first, digest)
    assert {path.name.split(".")[0] for path in folder.iterdir()} == {"tables", "tables of sqlite"}
