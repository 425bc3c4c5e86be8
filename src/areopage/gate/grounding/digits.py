"""Where digits stand in texts, whatever parts them: "1 000,50" is found by 10005, "3 000 000" by 3."""

import re
from collections.abc import Iterable, Sequence

# Up to seven groups: bounded, so that a text of digits alone costs no more than its length.
_CLUSTER = re.compile(r"[0-9]{1,15}(?:[ .,'’\u00a0\u202f\u2009][0-9]{1,15}){0,6}")
_GROUP = re.compile(r"[0-9]+")
_JOINED = "0123456789.,'’ \u00a0\u202f\u2009"
_FARTHEST = 24  # characters that a number may have gone on before a window
MOST_PLACES = 50  # of the same digits


def key_of(digits: str) -> str:
    """What a number is found by: its digits without the zeros at both ends; "0" for zero."""
    return "".join(_GROUP.findall(digits)).strip("0") or "0"


def around(text: str, start: int) -> int:
    """The nearest place at or before `start` at which no number and no word is cut."""
    start = max(0, start)
    lowest = max(0, start - _FARTHEST)
    while start > lowest and (text[start - 1] in _JOINED or text[start - 1].isalnum()):
        start -= 1
    return start


class DigitIndex:
    """The numbers of some texts, by their digits: each run of digits alone, and joined to those that follow closely."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Linear in the texts."""
        self._places: dict[str, list[tuple[int, int, int]]] = {}
        for number, text in enumerate(texts):
            for cluster in _CLUSTER.finditer(text):
                written = cluster.group()
                if written.isdigit():
                    self._note(written, (number, cluster.start(), cluster.end()))
                else:
                    self._add(number, written, cluster.start())

    def _add(self, number: int, cluster: str, offset: int) -> None:
        """Note every run of neighbouring groups of a cluster."""
        groups = [(match.group(), match.start(), match.end()) for match in _GROUP.finditer(cluster)]
        for first, (_, start, _) in enumerate(groups):
            joined = ""
            for digits, _, end in groups[first:]:
                joined += digits
                self._note(joined, (number, offset + start, offset + end))

    def _note(self, digits: str, place: tuple[int, int, int]) -> None:
        """Note where digits stand."""
        places = self._places.setdefault(digits.strip("0") or "0", [])
        if len(places) < MOST_PLACES:
            places.append(place)

    def places(self, key: str) -> Sequence[tuple[int, int, int]]:
        """Where these digits stand: number of the text, start, end."""
        return self._places.get(key, ())
