"""Assertions of promptfoo that a check of ours answers in the same way.

A regular expression is a check only where it is plain text: `Paris`, `Paris|Rome`, `^Paris`. Others would have to run here, and
an expression of a stranger can run for hours. An object or a list that a response has to equal is compared as JSON by promptfoo
and not here.
"""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from areopage.criteria import Check
from areopage.interop.foreign.promptfoo_tests import Assertion

_OF_ONE_TEXT = frozenset(["equals", "contains", "icontains", "starts-with", "regex"])
_LISTED = frozenset(["contains-any", "contains-all", "icontains-any", "icontains-all"])
_WITHOUT_VALUE = frozenset(["is-json", "is-refusal"])
_FIELD = re.compile(r'\s*(?:"((?:\\["\\]|""|[^"\\]|\\(?!["\\]))*)"\s*(?=,|$)|([^,]*))(?:,|$)')
_QUOTED = re.compile(r'\\(["\\])|""')
_SPECIAL = frozenset(".^$*+?()[]{}")


def exact_check(assertion: Assertion, filled: Callable[[str], str]) -> Check | None:
    """The check that an assertion is; None where none does the same."""
    kind, negated = assertion.type.removeprefix("not-"), assertion.type.startswith("not-")
    if assertion.is_code or kind not in _OF_ONE_TEXT | _LISTED | _WITHOUT_VALUE:
        return None
    if assertion.value in (None, "", []) and kind not in _WITHOUT_VALUE:
        raise ValueError(f"the assertion {assertion.type} has no value")
    if kind in _WITHOUT_VALUE:
        return Check(type=kind, negated=negated)  # type: ignore[arg-type]
    if kind in _LISTED:
        texts = (
            [filled(_text(value)) for value in assertion.value]
            if isinstance(assertion.value, list)
            else listed(filled(_text(assertion.value)))
        )
        return Check(type=kind, values=tuple(texts), negated=negated)  # type: ignore[arg-type]
    if isinstance(assertion.value, dict | list):
        return None
    text = filled(_text(assertion.value))
    if kind == "regex":
        return _plain_expression(text, negated=negated)
    return Check(type=kind, values=(text,), negated=negated)  # type: ignore[arg-type]


def listed(text: str) -> list[str]:
    """The texts between commas; one in quotation marks may hold commas, and two marks or a backslash stand for a mark."""
    texts: list[str] = []
    for field in _FIELD.finditer(text):
        value = field[2].strip() if field[1] is None else _QUOTED.sub(lambda mark: mark[1] or '"', field[1])
        if value:
            texts.append(value)
    return texts


def _plain_expression(pattern: str, *, negated: bool) -> Check | None:
    """The check of a regular expression that is plain text, with alternatives or bound to the beginning."""
    begins = pattern.startswith("^")
    texts = _alternatives(pattern.removeprefix("^"))
    if texts is None or (begins and len(texts) > 1):
        return None
    return Check(type="starts-with" if begins else "contains-any", values=tuple(texts), negated=negated)


def _alternatives(pattern: str) -> list[str] | None:
    """The plain texts between bars; None where anything else has a meaning."""
    texts, escaped = [""], False
    for character in pattern:
        if escaped and (character.isalnum() or character == "_"):
            return None
        if escaped or (character not in _SPECIAL and character not in "\\|"):
            texts[-1] += character
            escaped = False
        elif character == "|":
            texts.append("")
        elif character == "\\":
            escaped = True
        else:
            return None
    return texts if all(texts) and not escaped else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
