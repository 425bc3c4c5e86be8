"""What stands beside a figure of an answer and changes it: "environ", "au moins", "par mois".

Rounding is no error where the answer says that it rounds. A bound or a rate is one that the documents must have as well.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal

from msgspec import Struct

from areopage.gate.grounding.figure_context import Spot
from areopage.text.folding import lower_case
from areopage.text.lexicon import UNIT_PATTERN, unit_of

_BEFORE = 28  # characters before a figure in which it is qualified
_AROUND = 160  # characters on each side of a figure of a document in which it is qualified
_ABOUT = re.compile(
    r"(?:environ|autour de|pr[èe]s d['’e]|à peu près|quelque|presque|approximativement|de l['’]ordre d['’e]"
    r"|about|around|approximately|nearly|almost|roughly|some|circa|close to|~|≈)[^.;:\n0-9]{0,8}\Z"
)
_OVER = re.compile(r"(?:plus d['’e]|au-delà d['’e]|more than|over|above)[^.;:\n0-9]{0,6}\Z")
_UNDER = re.compile(r"(?:moins d['’e]|less than|under|below|fewer than)[^.;:\n0-9]{0,6}\Z")
_BOUND = re.compile(
    r"(?:au moins|au minimum|au plus|au maximum|jusqu['’]à|minimum|maximum"
    r"|at least|at most|up to|no more than|no less than|not more than)"
    r"[^.;:\n0-9]{0,8}\Z"
)
_BOUNDING = re.compile(
    r"moins|plus|minim|maxim|inférieur|supérieur|à partir|dès|dépass|excéd|excess|plafon|plancher|limit|jusqu"
    r"|least|most|less|more|over|under|up to|exceed|above|below|from|entre|between|compris|within|dans l[ea]s?|sous"
    r"|[≥≤<>]|ne p(?:eut|euvent|ourra)"
)
_BOUND_AFTER = re.compile(r"[ \u00a0](?:au (?:moins|minimum|plus|maximum)|at (?:least|most)|or (?:more|less)|maximum|minimum)\b")
_RATE = re.compile(
    rf"[^.;:\n0-9(]{{0,14}}?(?:[ \u00a0](?:par|per|each|chaque)[ \u00a0]|[ \u00a0]?/[ \u00a0]?)(?P<per>{UNIT_PATTERN})"
)
_RATES = {
    "day": "jour|quotidien|journali|day|daily", "week": "semaine|hebdo|week", "month": "mois|mensu|month",
    "quarter": "trimest|quarter", "year": r"\ban\b|année|annuel|year|annu", "hour": "heure|horaire|hour|/h", "minute": "min",
}  # fmt: skip
_WIDEST = Decimal("0.05")  # by which a rounded number may differ from the one that it rounds


def rounded(response: str, start: int, value: Decimal, held: Callable[[], Iterable[Decimal]], *, always: bool = False) -> bool:
    """Whether a number is one of those that are held, rounded as the words before it say.

    Args:
        start: where the number stands in the answer.
        held: gives the numbers that are held; they are not asked for where no word says that it is rounded.
        always: whether its writing alone says that it is rounded: "2,1 millions".
    """
    before = lower_case(response[max(0, start - _BEFORE) : start])
    about, over, under = always or _ABOUT.search(before), _OVER.search(before), _UNDER.search(before)
    if not (about or over or under) or not value:
        return False
    step = Decimal(1).scaleb(value.normalize().as_tuple().exponent)  # type: ignore[arg-type]
    for one in held():
        apart = one - value
        if about and abs(apart) <= min(step / 2, abs(value) * _WIDEST):
            return True
        if (over and 0 < apart < step) or (under and 0 < -apart < step):
            return True
    return False


class Qualifiers(Struct, frozen=True):
    """What stands beside a figure: whether a bound, and the unit of time of a rate, "" for none."""

    bounded: bool
    per: str


def qualifiers(response: str, start: int, end: int) -> Qualifiers | None:
    """The bound and the rate of a figure of an answer; None where it has neither."""
    bounded = _BOUND.search(lower_case(response[max(0, start - _BEFORE) : start])) or _BOUND_AFTER.match(response, end)
    rate = _RATE.match(lower_case(response[end : end + 2 * _BEFORE]))
    return Qualifiers(bounded is not None, unit_of(rate["per"]) if rate else "") if bounded or rate else None


def unqualified(own: Qualifiers, prompt: str, texts: Sequence[str], spots: Sequence[Spot]) -> bool:
    """Whether none of a figure's spots has its bound or its rate, nor the question."""
    near = [lower_case(texts[number][max(0, first - _AROUND) : last + _AROUND]) for number, first, last in spots]
    near.append(lower_case(prompt))
    if own.bounded and not any(_BOUNDING.search(text) for text in near):
        return True
    return own.per != "" and not any(re.search(_RATES[own.per], text) for text in near)
