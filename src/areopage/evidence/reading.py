"""Slow expressions made quick: they read lower case, and are tried only where something that is found faster stands."""

import re
from collections.abc import Iterable, Iterator


def lower_case(text: str) -> str:
    """The text in lower case, as long as it was; what `re.IGNORECASE` takes for an i or an s is one (İ, ı, ſ)."""
    return text.replace("İ", "i").lower().replace("ſ", "s").replace("ı", "i")


def matches_at(pattern: re.Pattern[str], text: str, starts: Iterable[int]) -> Iterator[re.Match[str]]:
    """As `pattern.finditer(text)`, for one whose matches all begin at one of `starts`, which ascend."""
    end = 0
    for start in starts:
        match = pattern.match(text, start) if start >= end else None
        if match:
            end = match.end()
            yield match
