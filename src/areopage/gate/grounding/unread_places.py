"""Where texts hold what an answer states in a writing that the extractors of figures do not read.

An amount in a table, whose unit stands in the head; an act by its date alone, where the text has its number too, or
by a title's number; a period that is an adjective.
"""

import re
from collections.abc import Iterator, Sequence, Set
from decimal import Decimal

from areopage.gate.grounding.figure_context import Spot
from areopage.gate.reading.identifiers import Identifier
from areopage.gate.reading.stated import Stated
from areopage.text import (
    BEFORE_AMOUNT,
    DIGITS,
    MONEY_SIGNS,
    PERIODS,
    UNIT_CUES,
    Reference,
    TextFigure,
    decimal_of,
    lower_case,
)

_SMALLEST = 1_000  # of a whole amount that may stand without its unit: smaller numbers stand everywhere
_IN_ROW = 3  # numbers that make a line a row of a table
_BEFORE_ACT = 12  # characters between the name of an act and its number: "avenant salarial n° 51"
_PIECE = re.compile(r"[0-9]{1,3}(?:[ .,'’\u00a0\u202f\u2009][0-9]{3})+(?:[.,][0-9]{1,2})?|[0-9]+(?:[.,][0-9]{1,2})?")
_LABEL = re.compile(r"[^\W_]+(?:\.[0-9]+)?")
_JOINED_BEFORE, _JOINED_AFTER = re.compile(r"[0-9][.,/-]$"), re.compile(r"[.,/-][0-9]")
_GROUP_BEFORE = re.compile(r"(?:^|[^0-9A-Za-z])[0-9]{1,3}[ \u00a0\u202f\u2009]$")
_GROUP_AFTER = re.compile(r"[ \u00a0\u202f\u2009][0-9]{3}(?![0-9])")
_UNITS = frozenset(MONEY_SIGNS) | {"%", "‰", "°"}
Row = tuple[int, int, frozenset[str]]  # start, end, what it is named by
_ISO_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
# An amendment is an agreement, and is called either.
_ALIKE = {"accord": "accord|avenant", "avenant": "accord|avenant"}


def amounts_without_unit(texts: Sequence[str], stated: TextFigure) -> Iterator[Spot]:
    """Where the number of an amount stands alone, as in a table."""
    value = stated.value
    if not isinstance(value, Decimal) or (value == int(value) and value < _SMALLEST):
        return
    for number, text in enumerate(texts):
        for match in _PIECE.finditer(text):
            if decimal_of(match.group()) == value and _stands_alone(text, *match.span()):
                yield number, *match.span()


def row_says(rows: Sequence[Row], start: int, said: Set[str]) -> bool:
    """Whether the row of a table in which a number stands is one that is spoken of; true where it is no row, or none is named."""
    own = next((labels for first, last, labels in rows if first <= start < last), None)
    if own is None or own & said:
        return True
    return not any(labels & said for _, _, labels in rows)


def labels_said(prompt: str, response: str, stated: Sequence[Stated]) -> frozenset[str]:
    """What rows may be named by: the words and codes of an answer and its question; not the figures that it states."""
    left = list(response)
    for one in (one for one in stated if not isinstance(one, Identifier)):
        left[one.start : one.end] = " " * (one.end - one.start)
    return frozenset(_label(match.group()) for text in (prompt, "".join(left)) for match in _LABEL.finditer(text)) - {""}


def periods(low: Sequence[str], stated: TextFigure) -> Iterator[Spot]:
    """Where a duration is an adjective, or one of its unit: "quadriennal", "un an"; `low` are the texts in lower case."""
    if stated.kind != "duration" or not isinstance(stated.value, Decimal):
        return
    sought = list(PERIODS.get(int(stated.value), ())) if stated.unit == "month" else []
    for unit in UNIT_CUES.get(stated.unit, {}).get(int(stated.value), ()):
        sought += [f"{one} {unit.strip()}" for one in ("un", "une", "one")]
    for written in sought:
        yield from _whole_words(low, written)


def _whole_words(low: Sequence[str], written: str) -> Iterator[Spot]:
    """Where some words stand, the first place of each text at which no word goes on before them."""
    for number, text in enumerate(low):
        start = text.find(written)
        while start > 0 and text[start - 1].isalnum():
            start = text.find(written, start + 1)
        if start >= 0:
            yield number, start, start + len(written)


def date_of(stated: Reference) -> TextFigure | None:
    """The date by which a reference names an act; None where it has a number."""
    iso = stated.normalised.rpartition(" ")[2]
    if stated.kind != "law" or not _ISO_DATE.fullmatch(iso):
        return None
    return TextFigure(kind="date", value=iso, text=stated.text, start=stated.start, end=stated.end)


def holds_act(text: str, stated: Reference) -> bool:
    """Whether a text has an act of the reference's kind."""
    return re.search(_act(stated.normalised.partition(" ")[0]), text, re.IGNORECASE) is not None


def acts_by_number(texts: Sequence[str], stated: Reference) -> Iterator[Spot]:
    """Where the name of an act and its number stand together, however they are joined: Avenant_n51, AVENANT 51."""
    act, _, written = stated.normalised.rpartition(" ")
    if stated.kind != "law" or not act or not written.isdigit() or not any(written in text for text in texts):
        return
    sought = re.compile(rf"(?<![^\W_])(?:{_act(act)})[^0-9\n]{{1,{_BEFORE_ACT}}}0?{written}(?![0-9]|[-/.][0-9])", re.IGNORECASE)
    for number, text in enumerate(texts):
        found = sought.search(text)
        if found:
            yield number, found.start(), found.end()


def _act(act: str) -> str:
    """A pattern for the name of an act, whose accents are lost in the normalised form."""
    return _ALIKE.get(act, re.sub("e", "[eéèê]", re.escape(act)))


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no word, unit, or further group of the same number touches it; another number may stand one space away."""
    before, after = text[max(0, start - 6) : start], text[end : end + 5]
    following = after.lstrip(" \u00a0\u202f\u2009")[:1]
    if (
        before[-1:].isalnum()
        or following.isalpha()
        or after[:1].isdigit()
        or following in _UNITS
        or BEFORE_AMOUNT.search(lower_case(before))
    ):
        return False
    if _JOINED_BEFORE.search(before) or _JOINED_AFTER.match(after):
        return False
    groups = DIGITS.findall(text[start:end])
    return not (_GROUP_AFTER.match(after) or (len(groups[0]) == 3 and _GROUP_BEFORE.search(before)))


def rows_of(text: str) -> list[Row]:
    """The rows of tables in a text."""
    rows, start = [], 0
    for line in text.splitlines(keepends=True):
        if len(_PIECE.findall(line)) >= _IN_ROW:
            rows.append((start, start + len(line), frozenset(_label(match.group()) for match in _LABEL.finditer(line)) - {""}))
        start += len(line)
    return rows


def _label(word: str) -> str:
    """A word or code made comparable, "C.1" as "c1"; "" for one that is too short to name a row."""
    low = word.lower().replace(".", "")
    return low if len(low) > 1 else ""
