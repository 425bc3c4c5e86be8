"""Patterns of a user's own for what is taken out of texts, such as customer numbers; no pattern takes long on any text."""

import re
from collections.abc import Iterable, Sequence

TAG = "[REDACTED]"
LONGEST_PATTERN = 200
MOST_WAYS = 256
"""In how many ways the quantifiers of a pattern may match together: so many steps it may take at each place of a text."""
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?[a-zA-Z#:=!<>-]*|\{(\d+)(?:,(\d*))?\}|.", re.DOTALL)
_HIDDEN = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_INSIDE = re.compile(rf"(?<=[0-9A-Za-z@._+-])[{_HIDDEN}]+(?=[0-9A-Za-z@._+-])")
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
"""Full-width letters, digits and signs, and those that they stand for."""
_ANY_WIDE = re.compile("[\uff01-\uff5e]")


def compiled(patterns: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    """Compile patterns.

    Raises:
        ValueError: one of them is no regular expression, matches an empty text, or could take long on some text.
    """
    return tuple(map(_compiled, patterns))


def without_matches(text: str, patterns: Sequence[re.Pattern[str]]) -> str:
    """A text with a tag for each match."""
    for pattern in patterns:
        text = pattern.sub(TAG, text)
    return text


def unhidden(text: str) -> str:
    """A text with usual letters, digits and signs for full-width ones, and nothing invisible inside of a word or a number."""
    text = _INSIDE.sub("", text)
    return text.translate(_WIDE) if _ANY_WIDE.search(text) else text


def _compiled(pattern: str) -> re.Pattern[str]:
    if len(pattern) > LONGEST_PATTERN:
        raise ValueError(f"the pattern {pattern[:40]!r}… is longer than {LONGEST_PATTERN} characters")
    try:
        expression = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as fault:
        raise ValueError(f"the pattern {pattern!r} is no regular expression: {fault}") from None
    if expression.match("") is not None:
        raise ValueError(f"the pattern {pattern!r} matches an empty text")
    if (ways := _ways(pattern)) is None:
        raise ValueError(
            f"the pattern {pattern!r} may take long: give each quantifier an upper bound, as in {{1,20}}, and no group one"
        )
    if ways > MOST_WAYS:
        raise ValueError(f"the pattern {pattern!r} may take long: its quantifiers match in {ways:,} ways, more than {MOST_WAYS}")
    return expression


def _ways(pattern: str) -> int | None:
    """In how many ways the quantifiers and alternatives of a pattern match; None where one has no bound or repeats a group."""
    ways, before = 1, ""
    for token in _TOKEN.finditer(pattern):
        text = token.group()
        low, high = token.group(1), token.group(2)
        if text in ("*", "+") and not (text == "+" and before in ("?", "{")):  # `?+` and `{1,3}+` give nothing back
            return None
        if (text == "?" and before not in ("?", "{")) or text == "|":
            ways *= 2
        elif low is not None:
            if high == "" or before == ")":
                return None
            ways *= max(1, int(high or low) - int(low) + 1) if int(high or low) <= MOST_WAYS else MOST_WAYS + 1
        elif text.startswith("\\") and text[1:].isdigit() and text[1:] != "0":
            return None  # what a group matched, again
        before = "{" if low is not None else text
    return ways
