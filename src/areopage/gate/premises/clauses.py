"""The clause, the sentence and the next sentence around a piece of a text, in French and English."""

import re

from msgspec import Struct

_MOST = 300  # characters on each side of a piece that are looked at
# A full stop behind a title or an abbreviation ends no sentence.
_ABBREVIATED = "".join(
    rf"(?<!\b{word})" for word in ("m", "mr", "dr", "mrs", "ms", "me", "art", "l", "r", "no", "st", "av", "bd", "rd", "ex", "e.g")
)
_END = re.compile(rf"{_ABBREVIATED}[.!?…](?=\s)|\n")
_CLAUSE = re.compile(
    r"[,;:()–—](?=\s)|\s[-–—]\s"
    r"|\s(?:mais|but|whereas|alors qu(?:e|['’])|tandis qu(?:e|['’])|while|because|since|puisqu(?:e|['’])|donc|so)(?=\s|\b)"
    r"|\scar(?=\s(?:ils?|elles?|l[ea]s?|l['’]|c['’]|ce|cette|vous|nous|on|je|j['’]|une?|son|sa|votre|aucun)\b)"
    r"|(?<!plutôt )\b(?:that|qu(?:e|['’]))(?=\s|\b)"
    r"|\s(?:et|and)(?=\s+(?:je|j['’]|mon|ma|mes|on|il|elle|la?|les?|i|my|the|they|he|she|it|we|you|vous|this|that|is|do"
    r"|does|can"
    r"|est|puis|dois)\b)"
)


class Around(Struct, frozen=True):
    """A piece of a text in lower case, with what stands beside it in its clause and in its sentence, and the sentences beside."""

    before: str
    after: str
    opening: str
    closing: str
    previous: str
    following: str

    @property
    def rest(self) -> str:
        """What stands behind the piece, in its sentence and the next one."""
        return self.closing + self.following


def around_piece(low: str, start: int, end: int) -> Around:
    """What stands around a piece of a text that is in lower case."""
    first, last = max(0, start - _MOST), min(len(low), end + _MOST)
    previous = first
    for match in _END.finditer(low, first, start):
        previous, first = first, match.end()
    stop = _END.search(low, end, last)
    closes = stop.end() if stop else last
    further = _END.search(low, closes, min(len(low), closes + _MOST))
    opening, closing = low[first:start], low[end:closes]
    begin = max((match.end() for match in _CLAUSE.finditer(opening)), default=0)
    parted = _CLAUSE.search(closing)
    following = low[closes : further.end() if further else closes + _MOST]
    return Around(
        opening[begin:], closing[: parted.start()] if parted else closing, opening, closing, low[previous:first], following
    )
