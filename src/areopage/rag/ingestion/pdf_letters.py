"""The letters of a PDF's text: accents that are set apart are put back, and a text that its fonts do not spell is told."""

import re
import unicodedata

_COMBINING = {"´": "\u0301", "`": "\u0300", "ˆ": "\u0302", "¨": "\u0308", "˜": "\u0303", "¸": "\u0327"}
_APART = re.compile(r"([´`ˆ¨˜])\n?([A-Za-zı])|¸\n?([cC])|([cC])¸")
_SURELY_APART = re.compile("[´ˆ¨˜¸]\n?[A-Za-zı]|[cC]¸")
_UNSPELT = re.compile("[\x00-\x08\x0e-\x1f\ufffd\ue000-\uf8ff]")
_VOWELS = frozenset("aeiouyAEIOUY")
_LEAST_LETTERS, _LEAST_VOWELS = 200, 0.25  # French and English have two vowels in five letters
_MOST_UNSPELT = 0.1  # of the characters


def with_accents(text: str) -> str:
    """The text with each accent on the letter beside which it is set: "pr´elev´e" is "prélevé"."""
    return _APART.sub(_accented, text) if _SURELY_APART.search(text) else text


def _accented(match: re.Match[str]) -> str:
    if match[1] is None:
        return "Ç" if (match[3] or match[4]) == "C" else "ç"
    letter = unicodedata.normalize("NFC", match[2].replace("ı", "i") + _COMBINING[match[1]])
    return letter if len(letter) == 1 else match[0]


def is_spelt(text: str) -> bool:
    """Whether a text is made of letters that its fonts name; without their names it is signs, or other letters."""
    signs = "".join(text.split())
    if len(_UNSPELT.findall(signs)) > _MOST_UNSPELT * len(signs):
        return False
    letters = [unicodedata.normalize("NFD", sign)[0] for sign in signs if sign.isalpha()]
    latin = [letter for letter in letters if letter.isascii()]
    if len(latin) < _LEAST_LETTERS or len(latin) < len(letters) / 2:
        return True
    return sum(letter in _VOWELS for letter in latin) >= _LEAST_VOWELS * len(latin)
