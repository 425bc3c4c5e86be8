"""Scores that judges write as texts: "4", "4,5", "4/5", "**4**", "4 - Good".

A denominator must be the scale's end. Behind the number a label may stand, in words; never a second number, a share or a doubt.
"""

import re

from areopage.criteria import Scale
from areopage.jury.lenient_objects import HIDDEN, PLAIN_SIGNS
from areopage.text import NUMBER_WORDS, late_pattern

_LETTER = r"[^\W\d_]"
LABEL = rf"(?:[-–—:：]|[(（])[^\S\n]*+{_LETTER}[^\d%/\n,}}\"“”]{{0,80}}+"
"""A label behind a score, as an expression: a dash, a colon or a bracket, and words."""
_SCORE = late_pattern(
    r"\s*\+?(?P<number>-?(?:[0-9]{1,6}(?:[.,][0-9]{0,30})?|\.[0-9]{1,30}))\s*"
    r"(?:(?:/|out\s+of|sur)\s*(?P<end>[0-9]{1,6}(?:\.[0-9]{1,30})?)\s*)?"
    rf"(?:points?|分)?\s*(?P<label>(?:[-–—:]|\()\s*{_LETTER}[^\d%/]{{0,80}}\s*)?",
    re.IGNORECASE,
)
_EMPHASIS = late_pattern(r"(\*{1,3}|_{1,3}|`)([^*_`]++)\1")
_HIDDEN = late_pattern(f"[{HIDDEN}]+")
_WORD = late_pattern(rf"{_LETTER}+")
_NUMERALS = late_pattern("[〇零一二两兩三四五六七八九十百]")
_DOUBTING = (
    "one or out percent not maybe perhaps rather almost ish ou pas presque plutôt oder nicht fast o no quasi casi não non "
    "null eins zwei drei vier fünf sechs sieben acht neun zehn hundert prozent cero uno dos tres cuatro cinco siete ocho nueve "
    "half demi halb medio media mezzo mezza meia minus moins weniger menos meno less plus more más più mais über under over most "
    "least approx approximately about around environ circa ungefähr unless if si wenn se quoted said says percentile quarter n "
    "diez cien tre quattro cinque sei sette otto nove dieci cento um dois três quatro sete oito dez cem"
)
_DOUBTS = NUMBER_WORDS | frozenset(_DOUBTING.split())
"""Words of a label behind which the number may be no score of the scale."""


def score_in(text: str, scale: Scale) -> float | None:
    """The score that a text is; None where it is none beyond doubt."""
    plain = _EMPHASIS.sub(r"\2", text if text.isascii() else _HIDDEN.sub("", text).translate(PLAIN_SIGNS))
    match = _SCORE.fullmatch(plain)
    if match is None or (match["end"] is not None and float(match["end"]) != scale.max):
        return None
    if is_in_doubt(match["label"] or "") or may_group(match["number"], scale):
        return None
    return float(match["number"].replace(",", "."))


def is_in_doubt(label: str) -> bool:
    """Whether the words behind a number say another number, or that it is none."""
    return _NUMERALS.search(label) is not None or not _DOUBTS.isdisjoint(word.lower() for word in _WORD.findall(label))


def may_group(number: str, scale: Scale) -> bool:
    """Whether the mark in a number may part thousands: 1,000 and 1.000 on a scale that goes as far."""
    return scale.max >= 1_000 and len(re.split("[.,]", number)[-1]) == 3 and ("." in number or "," in number)
