"""The headings of an answer and the sections they open, in English and French, in time linear in the text.

| style | looks like |
|---|---|
| `markdown` | `## Analyse`, `### 1. Analyse` |
| `bold` | `**Analyse**` alone on its line, `**Analyse** : ...`, `**Analyse :** ...`, `__Analyse__`; italics too |
| `label` | `Analyse : ...`, `1. Analyse :` or `Analyse — ...` at the start of a line, at most five words before the mark |
| `line` | `Analyse`, `1. Analyse` or `ANALYSE` alone on its line, at most five words without a full stop |
| `inline` | `Analyse :` after the end of a sentence inside a line, at most three words |

List markers, quote marks, symbols and numbers before a heading belong to none of this.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from areopage.text import plain

HeadingStyle = Literal["markdown", "bold", "label", "line", "inline"]


class HeadingLine(Struct, frozen=True, kw_only=True):
    """A heading: `text` is exactly `source[start:end]`, without marks; `name` is its plain form; the section begins at `body`."""

    style: HeadingStyle
    name: str
    text: str
    start: int
    end: int
    body: int


class AnswerSection(Struct, frozen=True, kw_only=True):
    """An expected section that was found; its content is `source[heading.body:end]`, and `empty` says that it has no word."""

    name: str
    heading: HeadingLine
    end: int
    empty: bool


# Only the first characters of a line are looked at, and every quantifier is bounded or possessive.
_LONGEST = 160
_LINE = re.compile(r"[^\n\r\v\f\x85\u2028\u2029]++")
_HASHES = re.compile(r"[ \t>]{0,12}(#{1,6})[ \t]{0,4}")
_LEAD = re.compile(r"[^\w*\[\"'«“(]{0,12}(?:\*[ \t]{1,4})?[^\w*\[\"'«“(]{0,12}")
_NUMBER = re.compile(
    r"(?:[0-9]{1,2}(?:\.[0-9]{1,2}){0,2}[ \t]?[\ufe0f\u20e3]{0,2}[.):°–-]{0,2}[ \t]{1,3}"
    r"|(?:[ivxIVX]{1,4}|[A-Za-z])[ \t]?[.)–-][ \t]{1,3})"
)
_BOLD = re.compile(
    r"(?P<mark>\*{1,3}|_{1,2})(?P<name>[^*_\n]{1,100}?)(?P=mark)[ \t\u00a0\u202f]{0,3}(?P<colon>[:：—–-]|(?=[ \t]{0,20}\Z))"
)
_BOLD_COLON = re.compile(r"(?P<mark>\*{1,3}|_{1,2})(?P<name>[^*_\n:：]{1,100}?)[ \t\u00a0\u202f]{0,3}[:：][ \t]{0,3}(?P=mark)")
_LABEL = re.compile(
    r"(?P<name>[^\n:：.!?;,|*_\[\]—–]{1,60}?)(?:[ \t\u00a0\u202f]{0,3}[:：](?=\s|\Z|\*)|[ \u00a0\u202f]{1,3}[—–-][ \u00a0\u202f])"
)
_INLINE = re.compile(
    r"(?<=[.!?;…»)])[ \t\u00a0\u202f]{1,3}(?:\*{1,3}|__)?(?P<name>[^\W\d_][\w'’-]{1,25}(?:[ \u00a0][\w'’-]{1,25}){0,2})"
    r"(?:(?:\*{1,3}|__)?[ \t\u00a0\u202f]{0,2}[:：]|[ \u00a0\u202f]?[:：](?:\*{1,3}|__))(?=\s)"
)
# "La règle est la suivante :" opens no section.
_VERBS = frozenset(["est", "sont", "reste", "is", "are", "was"])
_ARTICLES = ("la ", "le ", "les ", "l ", "the ")


def headings(text: str) -> tuple[HeadingLine, ...]:
    """All headings of a text in order, without overlap."""
    heading_lines: list[HeadingLine] = []
    for line in _LINE.finditer(text):
        first = _at_line_start(text, line.start(), line.end())
        if first is not None:
            heading_lines.append(first)
        after = first.body if first is not None else line.start()
        for match in _INLINE.finditer(text, after, line.end()):  # after the end of a sentence
            heading = _heading(text, "inline", match.start("name"), match.end("name"), match.end())
            if heading is not None and match["name"][0].isupper():
                heading_lines.append(heading)
    return tuple(heading_lines)


def sections(text: str, expected: Mapping[str, Sequence[str]]) -> tuple[AnswerSection, ...]:
    """The expected sections that a text has, in the order of the text; where one is opened twice, the first one counts.

    A heading opens a section if it is one of its aliases, or begins with one ("Règle applicable"), an article before it left
    out; a `line` must be the alias alone. A section lasts until the next expected one: its own sub-headings belong to it.

    Args:
        text: the answer.
        expected: name -> aliases, in any writing.
    """
    aliases = {name: [plain(alias) for alias in written] for name, written in expected.items()}
    opened = [(name, heading) for heading in headings(text) if (name := _opens(heading, aliases))]
    by_name: dict[str, AnswerSection] = {}
    for index, (name, heading) in enumerate(opened):
        end = opened[index + 1][1].start if index + 1 < len(opened) else len(text)
        empty = not any(map(str.isalnum, text[heading.body : end]))
        if name not in by_name or (by_name[name].empty and not empty):
            by_name[name] = AnswerSection(name=name, heading=heading, end=end, empty=empty)
    return tuple(sorted(by_name.values(), key=lambda section: section.heading.start))


def _opens(heading: HeadingLine, aliases: Mapping[str, Sequence[str]]) -> str:
    """Which of the sections a heading opens; "" for none."""
    name = next((heading.name.removeprefix(word) for word in _ARTICLES if heading.name.startswith(word)), heading.name)
    for section, names in aliases.items():
        for alias in filter(None, names):
            rest = name.removeprefix(f"{alias} ").partition(" ")[0] if name.startswith(f"{alias} ") else ""
            if name == alias or (rest and rest not in _VERBS and heading.style in ("markdown", "bold", "label")):
                return section
    return ""


def _at_line_start(text: str, start: int, end: int) -> HeadingLine | None:
    limit = min(end, start + _LONGEST)
    hashes = _HASHES.match(text, start, limit)
    style: HeadingStyle = "markdown" if hashes else "line"
    begin = _after_number(text, _after_lead(text, hashes.end() if hashes else start, limit), limit)
    bold = _BOLD_COLON.match(text, begin, limit) or _BOLD.match(text, begin, limit)
    if bold is not None:
        name_start = _after_number(text, _after_lead(text, bold.start("name"), bold.end("name")), bold.end("name"))
        rest = text[bold.end() : min(end, bold.end() + 4)]
        body_start = bold.end() + len(rest) - len(rest.lstrip(" \u00a0\u202f:："))
        return _heading(text, "markdown" if hashes else "bold", name_start, bold.end("name"), body_start)
    label = _LABEL.match(text, begin, limit)
    if label is not None and len(label["name"].split()) <= 5:
        return _heading(text, "markdown" if hashes else "label", begin, label.end("name"), label.end())
    if end > limit:
        return None
    body = text[begin:end].rstrip().rstrip("#").rstrip()
    if not hashes and (len(body.split()) > 5 or "*" in body or body.endswith((".", "!", "?", ",", ";", "…", "|"))):
        return None
    return _heading(text, style, begin, begin + len(body), end)


def _after_lead(text: str, start: int, end: int) -> int:
    """Where the list markers, quote marks and symbols before a heading end."""
    lead = _LEAD.match(text, start, end)
    return lead.end() if lead else start


def _after_number(text: str, start: int, end: int) -> int:
    number = _NUMBER.match(text, start, end)
    return _after_lead(text, number.end(), end) if number else start


def _heading(text: str, style: HeadingStyle, start: int, end: int, body: int) -> HeadingLine | None:
    """The heading over a range, less the white space and colons at its ends; None for a range without a word."""
    written = text[start:end].rstrip(" \t\u00a0\u202f:：*_")
    bare = written.lstrip()
    name = plain(bare)
    if not name or not any(map(str.isalpha, name)):
        return None
    begin = start + len(written) - len(bare)
    return HeadingLine(style=style, name=name, text=bare, start=begin, end=begin + len(bare), body=body)
