"""Every command that a page shows exists, with the options that the page gives it."""

import re
import shlex
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import click
import pytest

from servers.examples import ROOT, command_of

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^( *)```(?:console|sh|bash)?(?: [\w.]+)?\n(?P<body>.*?)^\1```$", re.MULTILINE | re.DOTALL)
VARIABLE = re.compile(r"[A-Z_]+=")
PAST = {"CHANGELOG.md"}  # it names commands that were
OPERATORS = set("();<>|&")


def lines_for_a_shell(text: str) -> Iterator[str]:
    """The lines of blocks for a shell, without prompts; a line that goes on is one."""
    for block in BLOCK.finditer(text):
        for line in re.sub(r"\\\n\s*", " ", block["body"]).splitlines():
            yield line.strip().removeprefix("$ ")


def commands_of(line: str, program: str) -> Iterator[list[str]]:
    """The arguments of each call of a program on a line, without what stands for more: `...`, `[DIR]`."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        return  # an output line with a single quotation mark
    for operator, part in groupby(words, lambda word: set(word) <= OPERATORS):
        call = [word for word in part if not VARIABLE.match(word)]
        if not operator and call[:1] == [program]:
            yield [word for word in call[1:] if word not in ("...", "…") and not word.startswith("[")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_are_understood(page: Path) -> None:
    if page.name in PAST:
        return
    for line in lines_for_a_shell(page.read_text(encoding="utf-8")):
        for words in commands_of(line, "areopage"):
            command_of(words)


@pytest.mark.parametrize("name", ["README.md", "docs/index.md", "docs/tutorials/bench.md", "docs/deploy.md"])
def test_commands_are_found_on_the_pages_that_have_many(name: str) -> None:
    lines = lines_for_a_shell((ROOT / name).read_text(encoding="utf-8"))
    assert any(True for line in lines for _ in commands_of(line, "areopage"))


def test_a_command_that_does_not_exist_is_noticed() -> None:
    for line in ("X=1 areopage bench walk", "true && areopage bench run --sweet child_safety"):
        (words,) = commands_of(line, "areopage")
        with pytest.raises((AssertionError, click.NoSuchOption), match=r"walk|sweet"):
            command_of(words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_targets_of_make_on_a_page_exist(page: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for line in lines_for_a_shell(page.read_text(encoding="utf-8")):
        for words in commands_of(line, "make") if line.startswith("make ") else ():
            assert set(words) <= targets, line
