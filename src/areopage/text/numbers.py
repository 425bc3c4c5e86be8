"""Numbers in digits: their value, and where texts have them. English and French."""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

MOST_SPANS = 50
"""Of the same digits in some texts: later ones are not kept."""
_FARTHEST = 24  # characters that a number may have gone on before a window

DIGITS = re.compile("[0-9]+")
# Up to seven groups: bounded, so that a text of digits alone costs no more than its length.
_CLUSTER = re.compile(r"[0-9]{1,15}(?:[ .,'’\u00a0\u202f\u2009][0-9]{1,15}){0,6}")
_JOINED = "0123456789.,'’ \u00a0\u202f\u2009"


def decimal_of(written: str) -> Decimal:
    """The value of a number in English or French writing.

    The last `.` or `,` is its decimal mark unless exactly three digits follow it: 1.000 and 1,000 are a thousand, 0.125 is not.
    """
    if written.isdigit():
        return Decimal(written)
    digits = re.sub(r"[^0-9.,]", "", written)
    last = max(digits.rfind("."), digits.rfind(","))
    if last < 0:
        return Decimal(digits)
    whole, mark, rest = digits[:last], digits[last], digits[last + 1 :]
    grouped = len(rest) == 3 and whole not in ("", "0") and (mark in whole or not re.search("[.,]", whole)) and " " not in written
    whole = re.sub("[.,]", "", whole)
    return Decimal(whole + rest) if grouped else Decimal(f"{whole or '0'}.{rest}")


def key_of(digits: str) -> str:
    """What a number is found by: its digits without the zeros at both ends; "0" for zero."""
    return "".join(DIGITS.findall(digits)).strip("0") or "0"


def around(text: str, start: int) -> int:
    """The nearest position at or before `start` at which no number and no word is cut."""
    start = max(0, start)
    lowest = max(0, start - _FARTHEST)
    while start > lowest and (text[start - 1] in _JOINED or text[start - 1].isalnum()):
        start -= 1
    return start


class DigitIndex:
    """The numbers of some texts by their digits, with any separators: "1 000,50" is found by 10005, "3 000 000" by 3.

    Each run of digits is found alone, and joined to those that follow closely.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._spans: dict[str, list[tuple[int, int, int]]] = {}
        for number, text in enumerate(texts):
            for cluster in _CLUSTER.finditer(text):
                written = cluster.group()
                if written.isdigit():
                    self._note(written, (number, cluster.start(), cluster.end()))
                else:
                    self._add(number, written, cluster.start())

    def _add(self, number: int, cluster: str, offset: int) -> None:
        groups = [(match.group(), match.start(), match.end()) for match in DIGITS.finditer(cluster)]
        for first, (_, start, _) in enumerate(groups):
            joined = ""
            for digits, _, end in groups[first:]:
                joined += digits
                self._note(joined, (number, offset + start, offset + end))

    def _note(self, digits: str, span: tuple[int, int, int]) -> None:
        spans = self._spans.setdefault(digits.strip("0") or "0", [])
        if len(spans) < MOST_SPANS:
            spans.append(span)

    def spans(self, key: str) -> Sequence[tuple[int, int, int]]:
        """The spans of these digits: number of the text, start, end."""
        return self._spans.get(key, ())
