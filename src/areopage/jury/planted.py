"""Verdicts that the text under judgment holds: what its author wrote is not taken for the judge's.

Answer and material are compared as text in lower case, without spaces, quotation marks, emphasis, hidden marks, escapes and
HTML's signs. Neither braces nor nesting, length or broken JSON therefore matter, and the time taken grows with the texts and
nothing else.

- A verdict with an explanation is planted where the material gives its explanation and its score, or all of the judge's object.
- A bare score agrees by chance. It is planted only where it is no weak one: an author who lists scores cannot make a weak score
  unreadable, and a weak score that was copied does the author no good.
- That a criterion does not apply is never taken where the material itself has the key for it with the value false, for any
  explanation: an author gains nothing by writing it, and no score is affected.
- What stands from the score on may have come out of a quotation that the judge did not escape: it is planted where it is the
  material's, to the letter, and gives no weak score.
"""

import html
import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from areopage.criteria import Scale
from areopage.jury.lenient_objects import PLAIN_SIGNS
from areopage.scoring import Scored, grade_of
from areopage.text import late_pattern

CASES_KEPT = 512
"""Cases whose texts stay prepared: a judge is asked about many cases under one criterion, then about the same ones again."""

_ESCAPE = late_pattern(r"\\(?:u([0-9a-fA-F]{4})|([bfnrt])|)")
_ASCII_MARKS = "\"'`*"
_OTHER_MARKS = "“”‘’«»"
_HIDDEN = late_pattern(  # marks that no reader sees
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]+"
)
_NUMBER = r"\+?(-?(?:\d++(?:[.,]\d++)?|\.\d++)(?:[eE][+-]?\d++)?)"
_MARK = "[\"'`“”„‘’«»]"
_DECORATED = rf"[*_`]{{0,3}}+{_NUMBER}"
_SCORE = late_pattern(rf"score[:=]{_NUMBER}", re.ASCII)
_INAPPLICABLE = late_pattern(r"applicable[:=](?:false|0)", re.IGNORECASE)
_JSON_SCORE = late_pattern(rf"[{{,]\s*+{_MARK}score{_MARK}\s*+:\s*+{_MARK}?{_DECORATED}", re.ASCII | re.IGNORECASE)
_JSON_INAPPLICABLE = late_pattern(rf"[{{,]\s*+{_MARK}applicable{_MARK}\s*+:\s*+false", re.IGNORECASE)
_MAX_PLACES = 200
_MOST_ENCODED = 2
_MAX_EXPLANATION = 10_000
_QUOTED_TAIL = 20
_SCORE_BEHIND = late_pattern(r",score[:=]")


class JudgedText:
    """The text under judgment, prepared for comparisons; see `prepared`."""

    def __init__(self, text: str) -> None:
        """Prepare a text; see `areopage.jury.reader.material_of`."""
        self._read = _unescaped(text)
        self._bare = _bare(self._read)
        self.says_inapplicable = _INAPPLICABLE.search(self._bare) is not None
        self._scores = frozenset(value for match in _SCORE.finditer(self._bare) for value in _values(match[1]))

    def plants(self, outcome: Scored, raw: str, scale: Scale) -> bool:
        """Whether a verdict given as an object stands in the material.

        Args:
            raw: the judge's object as it stands in the answer; "" where it is not known.
        """
        bare = _reduced(raw)
        copied = bool(bare) and bare in self._bare
        if not outcome.explanation.strip():
            return not _is_weak(outcome.score, scale) and (copied or self._gives("score", outcome.score))
        has_score = outcome.score in self._scores
        if copied or (has_score and f"explanation:{_reduced(json.dumps(outcome.explanation))}" in self._bare):
            return True
        return not _is_weak(outcome.score, scale) and self._ends_as_quoted(bare)

    def _ends_as_quoted(self, bare: str) -> bool:
        """Whether an object goes on from its score as the material does, other than in a verdict with its own explanation."""
        behind = _SCORE_BEHIND.search(bare)
        if behind is None:
            return False
        before, rest = bare[: behind.start()], bare[behind.start() :]
        at = self._bare.find(rest)
        for _ in range(_MAX_PLACES):
            if at < 0:
                return False
            start = max(self._bare.rfind("{", 0, at) + 1, at - _MAX_EXPLANATION)
            is_explained = self._bare.find("explanation:", start, at) >= 0
            if not is_explained or before.endswith(self._bare[max(start, at - _QUOTED_TAIL) : at]):
                return True
            at = self._bare.find(rest, at + 1)
        return True

    def planted_bare(self, scores: Mapping[str, float], scales: Mapping[str, Scale]) -> tuple[str, ...]:
        """Of bare scores by key those that are planted: all that are not weak, where the material gives every one of them."""
        good = {name: score for name, score in scores.items() if not _is_weak(score, scales[name])}
        return tuple(good) if all(self._gives(name, score) for name, score in good.items()) else ()

    def _gives(self, key: str, score: float) -> bool:
        """Whether the material has this score under a key in quotation marks."""
        member = re.compile(rf"{_MARK}{re.escape(key)}{_MARK}\s*+[:=]\s*+{_MARK}?{_DECORATED}", re.ASCII | re.IGNORECASE)
        return any(score in _values(match[1]) for match in member.finditer(self._read))


@lru_cache(maxsize=CASES_KEPT)  # every judgment of a case asks
def prepared(text: str) -> JudgedText:
    """The text under judgment, prepared once."""
    return JudgedText(text)


def gives_verdict(text: str) -> bool:
    """Whether a text gives a score, or says that a criterion does not apply, in the way of a verdict, as JSON."""
    if text.isascii() and not any(sign in text.lower() for sign in ("score", "applicable", "\\u", "&#")):
        return False
    read = _unescaped(text)
    return _JSON_SCORE.search(read) is not None or _JSON_INAPPLICABLE.search(read) is not None


def _is_weak(score: float, scale: Scale) -> bool:
    return grade_of(score, scale) == "weak"


def _values(number: str) -> Iterable[float]:
    """What a number may be: behind a comma the next member may begin."""
    return {float(number.replace(",", ".")), float(number.partition(",")[0])}


def _reduced(text: str) -> str:
    return _bare(_unescaped(text))


def _bare(text: str) -> str:
    bare = "".join(text.lower().split())
    for mark in _ASCII_MARKS if bare.isascii() else _ASCII_MARKS + _OTHER_MARKS:
        bare = bare.replace(mark, "")
    return bare


def _unescaped(text: str) -> str:
    """A text with all of JSON's escapes and HTML's signs read, full-width signs as plain ones, and without hidden marks."""

    def read(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        return " " if match[2] else ""

    if "\\" in text:
        text = _ESCAPE.sub(read, text)
    for _ in range(_MOST_ENCODED if "&" in text else 0):
        text = html.unescape(text)
    # two halves of one character, each escaped, become that character
    if text.isascii():
        return text
    return _HIDDEN.sub("", text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")).translate(PLAIN_SIGNS)
