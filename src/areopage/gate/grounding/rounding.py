"""Rounded figures: rounding is no error where the answer says that it rounds: "environ", "plus de", "nearly"."""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal

from areopage.text import lower_case

_BEFORE = 28  # characters before a figure in which the answer says that it is rounded
_ABOUT = re.compile(
    r"(?:environ|autour de|pr[èe]s d['’e]|à peu près|quelque|presque|approximativement|de l['’]ordre d['’e]"
    r"|about|around|approximately|nearly|almost|roughly|some|circa|close to|~|≈)[^.;:\n0-9]{0,8}\Z"
)
_OVER = re.compile(r"(?:plus d['’e]|au-delà d['’e]|more than|over|above)[^.;:\n0-9]{0,6}\Z")
_UNDER = re.compile(r"(?:moins d['’e]|less than|under|below|fewer than)[^.;:\n0-9]{0,6}\Z")
_WIDEST = Decimal("0.05")  # by which a rounded number may differ from the one that it rounds


def rounded(response: str, start: int, value: Decimal, held: Callable[[], Iterable[Decimal]], *, always: bool = False) -> bool:
    """Whether a number is one of those that are held, rounded as the words before it say, or as its writing says (`always`)."""
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
