"""Where in a judge's answer the scores stand that are read from it.

Only a place beyond doubt counts: the answer holds one object with verdicts, complete, no key of it stands twice, and the score is
a whole number as JSON writes it. These are the rules of `jury.reader`, but for repaired answers: a repaired score has no place.
"""

import json
import re
from collections.abc import Sequence

from areopage.criteria import Criterion, short_names
from areopage.jury.parsing import VERDICT_KEYS, Unopened, open_answer

Place = tuple[int, int]
"""Beginning and end of a number in a text."""

_SPACE = re.compile(r"[ \t\r\n]*+")
_WHOLE = re.compile(r"0|[1-9][0-9]{0,3}", re.ASCII)
_DECODER = json.JSONDecoder(strict=False)


def score_places(text: str, finish_reason: str, criteria: Sequence[Criterion]) -> dict[str, Place]:
    """Where the scores of an answer stand, by the criterion's id."""
    names = short_names(criteria)
    keys = VERDICT_KEYS if len(criteria) == 1 else frozenset(names)
    opened = open_answer(text, finish_reason, VERDICT_KEYS | keys)
    if isinstance(opened, Unopened) or opened.broken or not text.endswith(opened.bare):
        return {}
    starts = [start for start, answer in zip(opened.starts, opened.objects, strict=True) if keys & answer.keys()]
    if len(starts) != 1:
        return {}
    try:
        members = _members(text, len(text) - len(opened.bare) + starts[0])
        if len(criteria) == 1:
            members = {names[0]: members["score"]} if "score" in members else {}
        places = {
            criterion.id: _score_place(text, members[name])
            for name, criterion in zip(names, criteria, strict=True)
            if name in members
        }
    except (ValueError, LookupError, RecursionError):
        return {}
    return {id: place for id, place in places.items() if place is not None}


def _score_place(text: str, place: Place) -> Place | None:
    """The place of the score that a value is, or that it holds."""
    if text.startswith("{", place[0]):
        inner = _members(text, place[0]).get("score")
        if inner is None:
            return None
        place = inner
    return place if _WHOLE.fullmatch(text, *place) else None


def _members(text: str, start: int) -> dict[str, Place]:
    """The places of an object's values by key; nothing of an object with a key that stands twice."""
    places: dict[str, Place] = {}
    at = _after_space(text, start + 1)
    while text[at] != "}":
        key, end = _DECODER.raw_decode(text, at)
        colon = _after_space(text, end)
        if not isinstance(key, str) or text[colon] != ":":
            raise ValueError("no member of an object")
        begin = _after_space(text, colon + 1)
        _, end = _DECODER.raw_decode(text, begin)
        if key in places:
            return {}
        places[key] = (begin, end)
        at = _after_space(text, end)
        at = _after_space(text, at + 1) if text[at] == "," else at
    return places


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
