"""A French page has the structure of the English one: its sections, commands, code and tables. Only words and comments differ."""

import re
from itertools import groupby

import pytest

from servers.examples import ROOT

DOCS = ROOT / "docs"
SAME_CODE = ("ci", "deploy", "formats", "install", "security")
TWINS = (*SAME_CODE, "providers", "explanations/gate", "explanations/score")
FENCE = re.compile(r"^```(?P<head>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"\s*(?:^|\s)# .*")


def text_of(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def code_of(text: str) -> list[tuple[str, list[str]]]:
    """Each block: its language and file, and its lines without comments."""
    return [(block["head"], [COMMENT.sub("", line) for line in block["body"].splitlines()]) for block in FENCE.finditer(text)]


def headings_of(text: str) -> list[int]:
    return [len(marks) for marks in re.findall(r"^(#+) ", FENCE.sub("", text), re.MULTILINE)]


def tables_of(text: str) -> list[list[int]]:
    """Each table: the number of cells of each row."""
    lines = FENCE.sub("", text).splitlines()
    grouped = groupby(lines, lambda line: line.startswith("|"))
    return [[len(re.split(r"(?<!\\)\|", row)) for row in rows] for is_table, rows in grouped if is_table]


def inline_of(text: str) -> list[str]:
    """The options and paths in a text, sorted: words between backquotes that a reader types."""
    return sorted(set(re.findall(r"`(--[\w-]+|areopage [a-z]+[^`]*|[\w./-]+\.(?:yml|json|db|xml))`", FENCE.sub("", text))))


@pytest.mark.parametrize("name", SAME_CODE)
def test_a_french_page_has_the_code_of_the_english_one(name: str) -> None:
    french, english = text_of(f"{name}.fr.md"), text_of(f"{name}.md")
    assert code_of(french) == code_of(english)
    assert inline_of(french) == inline_of(english)


@pytest.mark.parametrize("name", TWINS)
def test_a_french_page_has_the_sections_and_tables_of_the_english_one(name: str) -> None:
    french, english = text_of(f"{name}.fr.md"), text_of(f"{name}.md")
    assert headings_of(french) == headings_of(english)
    assert tables_of(french) == tables_of(english)


def test_every_page_with_a_twin_is_compared() -> None:
    own = {"index", "glossary"}  # shorter in French, or sorted by French words
    tutorials = {f"tutorials/{page.name.removesuffix('.fr.md')}" for page in (DOCS / "tutorials").glob("*.fr.md")}
    found = {page.relative_to(DOCS).as_posix().removesuffix(".fr.md") for page in DOCS.rglob("*.fr.md")}
    assert found == {*TWINS, *own, *tutorials}
