"""Objects with signs that JSON does not know: other spaces, full-width punctuation, curly quotation marks, LaTeX's backslashes.

Outside of texts such a sign, and an escaped space, stands for one sign of JSON only. In a text, a backslash that begins no escape
stands for itself.
"""

import re

from areopage.text import late_pattern

HIDDEN = "\u200b-\u200f\u2060\ufeff"
"""Characters without width, as a set of an expression."""
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_SPACES = (0xA0, 0x1680, *range(0x2000, 0x2010), 0x2028, 0x2029, 0x202F, 0x205F, 0x2060, 0x3000, 0xFEFF)
PLAIN_SIGNS = _FULL_WIDTH | dict.fromkeys(_SPACES, " ")
"""Full-width signs and other spaces, and what they stand for outside of texts."""
_SOME_PLAIN = dict.fromkeys(map(ord, "{["), 1) | dict.fromkeys(map(ord, "}]"), -1)
_TOKEN = late_pattern(
    r'"(?P<straight>(?:[^"\\]|\\.)*+)"|“(?P<curly>[^“”]*+)”|＂(?P<wide>[^＂]*+)＂|(?P<lone>["“”＂])|[{}\[\]｛｝［］]|[^"“”＂{}\[\]｛｝［］]++',
    re.DOTALL,
)
_ESCAPE = late_pattern(r'\\(?:["\\/bfnrt\']|u[0-9a-fA-F]{4})|[\\"]')
_ESCAPED_SPACE = late_pattern(r"\\[nrt]")


def plain_object(text: str, start: int) -> tuple[str, int] | None:
    """An object that begins at a place, with JSON's signs in place of others, and where it ends; None where it does not end."""
    pieces: list[str] = []
    depth = 0
    for token in _TOKEN.finditer(text, start):
        if token["lone"]:
            return None
        body = next((part for part in token.group("straight", "curly", "wide") if part is not None), None)
        if body is not None:
            pieces.append(f'"{_ESCAPE.sub(_escaped, body)}"')
            continue
        signs = _ESCAPED_SPACE.sub(" ", token[0].translate(PLAIN_SIGNS))
        pieces.append(signs)
        depth += _SOME_PLAIN.get(ord(signs[0]), 0)
        if depth == 0:
            return "".join(pieces), token.end()
    return None


def _escaped(match: re.Match[str]) -> str:
    if match[0] == "\\'":
        return "'"
    return match[0] if len(match[0]) > 1 else f"\\{match[0]}"
