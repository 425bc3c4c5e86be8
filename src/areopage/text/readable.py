"""A text as it is read for its numbers: digits for number words, phrases and digits of any script, no invisible characters.

What is found in it is told by its span in the text itself.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from decimal import Decimal

from areopage.text.folding import lower_case
from areopage.text.lexicon import FRENCH_MONTHS
from areopage.text.number_phrases import PHRASE_WORDS, Edit, phrases
from areopage.text.number_words import NUMBER_WORDS, spelled_numbers

INVISIBLE = "\u00ad\u200b-\u200d\u2060\ufeff"
"""Soft hyphens and characters without width, as PDF files have them: the inside of a character class."""
# Where the ten digits of the scripts in use begin.
_ZEROS = (
    0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6, 0xE50, 0xED0, 0xF20, 0x1040,
    0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0,
    0xA9F0, 0xAA50, 0xABF0, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6,
)  # fmt: skip
_OTHER_DIGITS = "".join(f"{chr(zero)}-{chr(zero + 9)}" for zero in _ZEROS)
_FRACTION_SIGNS = "\u00bc-\u00be\u2150-\u215e"
_RAISED = "\u2070\u00b9\u00b2\u00b3\u2074-\u2079"
# Also: Roman numerals, numbers in circles and brackets, full-width characters.
_ALONE = f"{INVISIBLE}{_OTHER_DIGITS}\u2160-\u217f\u2460-\u249b\u24ea-\u24ff\uff01-\uff5e"
# Raised digits are a number where they stand alone, and else a note or an exponent.
_ODD = re.compile(f"[{_ALONE}]|(?<![^\\s(])[{_RAISED}]{{2,}}|(?:(?<=[0-9])[ \u00a0\u202f]?)?[{_FRACTION_SIGNS}]")
_ODD_CUE = re.compile(f"[{_ALONE}{_RAISED}{_FRACTION_SIGNS}]")  # a single set is found several times as fast
# A fraction that belongs to a whole number or a time, "2 1/2", "1/2 hour"; "2/3 hours" may be two to three.
_MIXED = re.compile(
    r"(?<![\w.,/:-])(?:(?P<whole>[0-9]{1,3})[ \u00a0](?P<part>1/[2-4]|2/3|3/4)(?![\w/-]|[.,][0-9])"
    r"|(?P<alone>1/[24]|3/4)(?=(?:[ \u00a0](?:heure|hour|jour|journée|day|an|year)|[ \u00a0]?h)(?!\w)))"
)
_NO_LETTERS = bytes(sign if chr(sign).islower() and sign < 128 else 32 for sign in range(256))
# The first of a month; "premier" alone is no number.
_FIRST = re.compile(rf"(?<!\w)[Pp]remier(?=[ \u00a0](?:{'|'.join(FRENCH_MONTHS)})(?!\w))")
_HIDDEN = re.compile(f"[{INVISIBLE}]")

_CUES = NUMBER_WORDS | PHRASE_WORDS


class Edited:
    """A text with some spans replaced, that knows what each of its own spans was."""

    def __init__(self, text: str, edits: Sequence[Edit]) -> None:
        pieces: list[str] = []
        self._starts: list[int] = []  # of the replacements, in the new text
        self._spans: list[tuple[int, int, int]] = []  # their end there, and their start and end in the text
        end = length = 0
        for start, stop, written in edits:
            pieces += (text[end:start], written)
            length += start - end
            self._starts.append(length)
            length += len(written)
            self._spans.append((length, start, stop))
            end = stop
        self.text = "".join([*pieces, text[end:]])

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span in the text that a span here stands for."""
        return self._before(start, last=False), self._before(end, last=True)

    def replaced(self, start: int, end: int) -> bool:
        """Whether a span here has a part of a replacement."""
        at = bisect_left(self._starts, end) - 1
        return at >= 0 and self._spans[at][0] > start

    def _before(self, position: int, *, last: bool) -> int:
        # A start at the end of a replacement lies behind it; an end at its beginning lies before it.
        at = bisect_right(self._starts, position - 1 if last else position) - 1
        if at < 0:
            return position
        stop, original, original_stop = self._spans[at]
        if position > stop or (position == stop and not last):
            return original_stop + position - stop
        return original_stop if last else original


class Readable:
    """A text as it is read for its numbers."""

    def __init__(self, text: str) -> None:
        """Make it readable; linear in the text."""
        self._whole = text
        odd = not text.isascii() and _ODD_CUE.search(text)
        edits = [(*match.span(), _odd(match)) for match in _ODD.finditer(text)] if odd else []
        edits += [(*match.span(), _mixed(match)) for match in _MIXED.finditer(text)] if "/" in text else []
        self._signs = Edited(text, sorted(edits)) if edits else None
        signs = self._signs.text if self._signs else text
        low = lower_case(signs)
        replaced: list[Edit] = [(*match.span(), "1er") for match in _FIRST.finditer(signs)] if "remier" in signs else []
        words = low.encode("ascii", "replace").translate(_NO_LETTERS).decode().split()
        cues = _CUES.intersection(words)
        for number in spelled_numbers(low, cues & NUMBER_WORDS):
            replaced.append((number.start, number.end, f"{number.value.normalize():f}"))
            if number.counted > number.end:  # a word that parts it from what it counts leaves a space
                replaced.append((number.end, number.counted, " "))
        self._words = Edited(signs, sorted(replaced)) if replaced else None
        self.text = self._words.text if self._words else signs
        said = phrases(self.text, cues & PHRASE_WORDS)
        self._phrases = Edited(self.text, said) if said else None
        self.text = self._phrases.text if self._phrases else self.text
        self.changed = bool(edits or replaced or said)

    def is_phrase(self, start: int, end: int) -> bool:
        """Whether a span of `text` has a phrase that says a number: "la moitié", "une vingtaine"."""
        return self._phrases is not None and self._phrases.replaced(start, end)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span in the text itself of a span of `text`."""
        if self._phrases:
            start, end = self._phrases.span(start, end)
        if self._words:
            start, end = self._words.span(start, end)
        return self._signs.span(start, end) if self._signs else (start, end)

    def original(self, start: int, end: int) -> str:
        """What the text itself has in a span of `text`."""
        first, last = self.span(start, end)
        return self._whole[first:last]


def _odd(match: re.Match[str]) -> str:
    """What is read for a match of odd signs; a fraction goes on behind the digits before it: 2½ is 2.5."""
    value = unicodedata.numeric(match.group()[-1], 0)
    if not 0 < value < 1:
        return _shown(match.group())
    return _decimals(Decimal(value), behind=match.string[max(0, match.start() - 1) : match.start()].isdigit())


def _mixed(match: re.Match[str]) -> str:
    part, parts = map(int, (match["part"] or match["alone"]).split("/"))
    return (match["whole"] or "") + _decimals(Decimal(part) / parts, behind=match["whole"] is not None)


def _decimals(share: Decimal, *, behind: bool) -> str:
    """A share of one in four decimals, without zeros at its end but where three digits would be thousands."""
    written = f"{share:.4f}".rstrip("0")
    return (written if len(written) != len("0.125") else f"{written}0").removeprefix("0" if behind else "")


def _shown(sign: str) -> str:
    """A digit of any script, a numeral or a full-width character in ASCII; "" for what is invisible."""
    if len(sign) > 1:
        return "".join(map(_shown, sign))
    if _HIDDEN.match(sign):
        return ""
    if 0xFF01 <= ord(sign) <= 0xFF5E:
        return chr(ord(sign) - 0xFEE0)
    value = unicodedata.numeric(sign, -1)
    return str(int(value)) if value >= 0 and value == int(value) else sign
