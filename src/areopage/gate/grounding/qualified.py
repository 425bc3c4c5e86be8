"""What stands beside a figure of an answer and changes it: "environ", "au moins", "par mois"; and the rows of tables.

Rounding is no error where the answer says that it rounds. A bound or a rate is one that the documents must have as well.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from decimal import Decimal

from msgspec import Struct

from areopage.gate.grounding.figure_context import Spot
from areopage.text.folding import lower_case
from areopage.text.lexicon import UNIT_PATTERN, unit_of
from areopage.text.stems import stems

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

_LISTING = re.compile(r"[ \t]*(?:[-*•–]|\|)|[^:\n|]{1,60}:[ \t]")
_RULER = re.compile(r"[\s|:+-]+")
_DIGIT = re.compile("[0-9]")
_CLAUSE_END = re.compile(r"\n|[.!?;][ \t]")
_FARTHEST = 300  # characters to the ends of a clause


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


class _Row(Struct, frozen=True):
    start: int
    end: int
    labels: frozenset[str]
    block: int


class Rows:
    """The lines of tables and lists in some texts, each named by the words that no other line of its block has."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Args:
        texts: of documents.
        """
        self._texts = texts
        self._rows: dict[int, Sequence[_Row]] = {}

    def any_in(self, spots: Sequence[Spot]) -> bool:
        """Whether any spot stands in a row."""
        return any(row.start <= start < row.end for number, start, _ in spots for row in self._rows_of(number))

    def other_row(self, spots: Sequence[Spot], said: Set[str]) -> Spot | None:
        """The row that an answer speaks of, where all spots of a figure stand in rows that it does not speak of."""
        rival: Spot | None = None
        for number, start, _ in spots:
            rows = self._rows_of(number)
            own = next((row for row in rows if row.start <= start < row.end), None)
            if own is None or own.labels & said:
                return None
            others = [row for row in rows if row.block == own.block and row.labels & said]
            if others and rival is None:
                rival = number, others[0].start, others[0].end
        return rival

    def _rows_of(self, number: int) -> Sequence[_Row]:
        found = self._rows.get(number)
        if found is None and "\n" not in self._texts[number]:
            found = self._rows[number] = ()
        if found is None:
            found = self._rows[number] = list(_rows(self._texts[number]))
        return found


def _rows(text: str) -> list[_Row]:
    rows: list[_Row] = []
    block: list[tuple[int, int, frozenset[str]]] = []
    start = 0
    for line in [*text.splitlines(keepends=True), "\n\n"]:
        if _LISTING.match(line) and _DIGIT.search(line):
            labels = frozenset(root for root in stems(line) if not root[0].isdigit())
            block.append((start, start + len(line.rstrip()), labels))
        elif not _RULER.fullmatch(line) or not line.strip():
            if len(block) > 1:
                shared = Counter(label for _, _, labels in block for label in labels)
                rows += [
                    _Row(first, last, frozenset(label for label in labels if shared[label] == 1), block[0][0])
                    for first, last, labels in block
                ]
            block = []
        start += len(line)
    return rows


def clause_words(response: str, start: int, end: int) -> frozenset[str]:
    """The stems of the line or sentence of an answer in which a figure stands."""
    first, last = max(0, start - _FARTHEST), min(len(response), end + _FARTHEST)
    for match in _CLAUSE_END.finditer(response, first, start):
        first = match.end()
    closing = _CLAUSE_END.search(response, end, last)
    return frozenset(stems(response[first : closing.start() if closing else last]))
