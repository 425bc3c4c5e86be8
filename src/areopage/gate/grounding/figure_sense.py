"""What stands beside a figure and changes what it says: its sign, a bound, net or gross, with or without tax, per what, its era.

A figure of an answer is altered where the documents have it in another sense: "au plus 250 €" for "au moins 250 €", "1 200 € TTC"
for "1 200 € HT", "3,5 %" for "-3,5 %". What only one of the two says does not part them, but for a sign, for the bound of an
amount or a percentage, and for years before our era.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from areopage.gate.grounding.figure_context import Spot
from areopage.text import UNIT_PATTERN, lower_case, unit_of

_BEFORE, _AFTER = 120, 60  # characters before and after a figure in which its sense is said
_AROUND = 160  # characters on each side of a figure of a document in which the unit of a rate may stand
_NEAR_BEFORE = 60  # characters before a figure in which "net" and "gross" may stand
_PART_END = re.compile(r"[.!?;](?=\s)|\n\s*\n|\n[ \t]*[-*•|#]")
_DIGITS = re.compile("[0-9]")
_RANGE_BEFORE = re.compile(r"[0-9][^0-9.;:!?]{0,14}[ \u00a0](?:et|ou|and|or|à|to|-|–)[ \u00a0][^0-9]{0,6}\Z")

_NOT = re.compile(
    r"(?<![^\W_])(?:ne|n['’]|not|never|cannot|can['’]t|shall not|pas|sans|without|no|jamais|ni|nor)(?![^\W_])"
    r"(?! (?:extra |additional )?(?:cost|charge|fee|frais|supplément))[^0-9]{0,40}\Z"
)
_LEAST = r"au moins|au minimum|minimums?|minimales?|minimal|minima|at least|à partir d|à compter d|plancher|≥|>="
_MOST = (
    r"au plus|au maximum|maximums?|maximales?|maximal|maxima|jusqu|at most|up to|plafon\w{0,8}"
    r"|limit\w{0,8}|capped|cap of|ceiling"
    r"|≤|<="
)
# These stand directly before the figure: "exceeding its $160 million budget" bounds nothing.
_DIRECTLY = (
    r"(?=[ \u00a0]{0,2}(?:pas[ \u00a0])?(?:(?:à|de|des|than|d|or equal to|ou égale?s? à)[ \u00a0'’]{1,2})?"
    r"(?:[$€£][ \u00a0]?)?\Z)"
)
# "Just under 200" is about 200.
_ABOUT = r"(?<!just )(?<!slightly )(?<!a little )(?<!a bit )(?<!un peu )(?<!légèrement )(?<!à peine )"
_UP = (
    rf"{_ABOUT}(?:plus d['’eu]\w?|supérieure?s?|dépass\w{{0,6}}|excéd\w{{0,6}}|exceed\w{{0,4}}|more than"
    rf"|greater than|higher than|au-delà d['’e]"
    rf"|au-dessus d['’e]|upwards of|over|above|>){_DIRECTLY}"
)
_DOWN = (
    rf"{_ABOUT}(?:moins d['’eu]\w?|inférieure?s?|less than|fewer than|lower than|en dessous d['’e]"
    rf"|au-dessous d['’e]|under|below|within|sous|<)"
    rf"{_DIRECTLY}"
)
_BOUND = re.compile(rf"(?<![^\W_])(?:(?P<least>{_LEAST})|(?P<most>{_MOST})|(?P<up>{_UP})|(?P<down>{_DOWN}))")
_BOUND_AFTER = re.compile(
    r"[ \u00a0\u202f,(]{0,3}(?:(?P<least>au moins|au minimum|at least|minimum|or more|or above"
    r"|and (?:over|above|more)|(?:ou|et) plus|\+)"
    r"|(?P<most>au plus(?! tard)|au maximum|at most|maximum|max\b|or (?:less|fewer|under)|and under"
    r"|(?:ou|et) moins))(?![^\W_])(?! ?(?:de |of )?[$€£]?[0-9])"
)
_AFTER_NUMBER = re.compile(
    r"[^0-9,.;:()]{0,14}[ \u00a0\u202f](?:au (?:moins|minimum|plus|maximum)|at (?:least|most)|minimum"
    r"|maximum|or (?:more|less))\b"
)
_PARTING = re.compile(r" et | and | ou | or |[,(]")  # what stands between a bound and the figure of another part of the sentence
_DASHED_AFTER = frozenset(
    ["de", "est", "à", "is", "was", "of", "at", "to", "are", "sont"]
)  # words behind which a dash and a space make a minus
# Above or below a limit says where something lies, not what the limit is.
_OF_LIMIT = re.compile(r"[ \u00a0]?(?:an?|per|par|a)?[ \u00a0]?(?:limit|threshold|ceiling|cap\b|mark|cut-?off|bracket)")
_EXACT = re.compile(r"(?:exactement|exactly|précisément|precisely)[^0-9.;:]{0,12}\Z")
_LATEST = re.compile(
    r"(?:au plus tard|no later than|not later than|avant|jusqu['’]au|until|till|before|prior to)[^0-9.;]{0,14}\Z"
)
_EARLIEST = re.compile(
    r"(?:au plus tôt|no earlier than|après|à partir d\w{0,3}|à compter d\w{0,3}|depuis|dès|after|since|as of)[^0-9.;]{0,14}\Z"
)
_BASES = {
    "net": r"nett?e?s?|after tax|après impôts?|take-home",
    "gross": r"brute?s?|gross|before tax|avant impôts?",
    "without tax": r"ht|h\.t\.|hors taxes?|hors tva|ex(?:cl(?:uding|usive of|\.)?)? (?:the )?(?:vat|tax|taxes)"
    r"|before vat|plus vat|sans tva|(?:vat|tax) (?:excluded|not included)",
    "with tax": r"ttc|t\.t\.c\.?|toutes taxes comprises|tva (?:comprise|incluse)|incl(?:uding|usive of"
    r"|\.)? (?:the )?(?:vat|tax|taxes)|with vat|(?:vat|tax) included",
}
_BASIS = re.compile("|".join(rf"(?P<b{at}>(?<![^\W_])(?:{words})(?![^\W_]))" for at, words in enumerate(_BASES.values())))
_JOINED = re.compile(r" et | and | ou | or |, ")
_NEAR_AFTER = 25  # characters after a figure in which they may stand
_OPPOSITE = {"net": "gross", "gross": "net", "without tax": "with tax", "with tax": "without tax"}
_UNITS_OF_RATES = {
    "person": "personnes?|tête|occupants?|person|people|head|guests?|participants?",
    "child": "enfants?|child|children",
    "household": "foyers?|ménages?|familles?|household|family|couples?",
    "employee": "salariés?|employés?|employees?|workers?|agents?",
    "adult": "adultes?|adults?",
    "night": "nuits?|nuitées?|nights?",
    "unit": "unités?|pièces?|articles?|unit|item|piece",
    "room": "chambres?|rooms?",
    "square metre": "m²|m2|mètres? carrés?|square met(?:er|re)s?",
    "kilometre": "km|kilomètres?|kilomet(?:er|re)s?|miles?",
    "kilo": "kg|kilos?|kilogrammes?|kilograms?",
    "file": "dossiers?|contrats?|contract|file|acte",
    "vehicle": "véhicules?|voitures?|vehicle|car",
    "visit": "visites?|séances?|visit|session",
}
_UNIT_GROUPS = "|".join(rf"(?P<u{at}>(?:{words})(?![^\W_]))" for at, words in enumerate(_UNITS_OF_RATES.values()))
_PER = re.compile(
    r"[ \u00a0\u202f,(]{0,3}(?:(?:par|per|pour chaque|for each|each|chaque|a|an)[ \u00a0]|/[ \u00a0]?)"
    rf"(?:(?P<time>{UNIT_PATTERN})|{_UNIT_GROUPS})"
)
_RATE_WORDS = {
    "day": r"jours?|day", "week": r"semaines?|week", "month": r"mois|month", "quarter": r"trimestres?|quarter",
    "year": r"ans?|années?|year|annum", "hour": r"heures?|h\b|hour", "minute": r"minutes?|min\b",
}  # fmt: skip
_RATE_ADJECTIVES = {
    "day": "quotidien|journali|daily", "week": "hebdo|weekly", "month": "mensu|monthly", "quarter": "trimestriel|quarterly",
    "year": "annuel|annual|yearly", "hour": "horaire|hourly", "minute": r"(?!)",
}  # fmt: skip
_ERA = re.compile(
    r"[^0-9.;\n]{0,14}?[ \u00a0]?(?<![^\W_])(?:(?P<before>b\.?c\.?(?:e\.?)?(?![^\W_])|av\.?[ \u00a0]?j|avant (?:j|notre ère))"
    r"|(?P<after>a\.?d\.?(?![^\W_])|c\.?e\.?(?![^\W_])|apr?\.?[ \u00a0]?j|après j|de notre ère))"
)
_MINUS = "-−–‑"
_MINUSES = frozenset(_MINUS)
_LOSS = re.compile(
    r"pertes?|déficits?|déficitaire|baiss\w{0,6}|diminu\w{0,6}|recul\w{0,4}|chut\w{0,4}|négati\w{0,4}"
    r"|(?<!au )moins|en dessous|sous zéro|perd\w{0,3}"
    r"|loss(?:es)?|lost|deficits?|decreas\w{0,4}|declin\w{0,4}|fell|falls?|fallen|drop\w{0,4}|down"
    r"|negative|minus|below|shr[aiu]nk|réduc\w{0,5}"
    r"|reduc\w{0,5}|debit|débit\w{0,5}|inférieur\w{0,2}|lower"
)
_ACCOUNTED = re.compile(r"\((?:[$€£][ \u00a0]?)?\Z"), re.compile(r"[ \u00a0]?[$€£%]?\)")


class Sense(Struct, frozen=True):
    """`bound` is 1 for at least, -1 for at most, 0 for none; `sign` -1 for a negative number, 1 for a plus, 0 for none."""

    sign: int = 0
    bound: int = 0
    exact: bool = False
    basis: str = ""
    time: str = ""
    thing: str = ""
    era: int = 0
    loss: bool = False

    @property
    def plain(self) -> bool:
        """Whether nothing changes the figure."""
        return not (self.sign or self.bound or self.exact or self.basis or self.time or self.thing or self.era)


def sense_of(text: str, start: int, end: int, *, dated: bool = False) -> Sense:
    """The sense of a figure of a text that is `Readable`."""
    before = lower_case(text[max(0, start - _BEFORE) : start])
    ends = [match.end() for match in _PART_END.finditer(before)]
    before = before[ends[-1] :] if ends else before
    after = lower_case(text[end : end + _AFTER])
    closing = _PART_END.search(after)
    after = after[: closing.start() + 1] if closing else after
    if dated:
        return Sense(bound=-1 if _LATEST.search(before) else 1 if _EARLIEST.search(before) else 0)
    own_after = after[: number.start()] if (number := _DIGITS.search(after)) else after
    own_before = _since_number(before)
    per = _PER.match(after)
    era = _ERA.match(lower_case(text[end : end + _AFTER]))
    if _OF_LIMIT.match(after):
        own_before, after = "", ""
    basis = _BASIS.search(_JOINED.split(own_after[:_NEAR_AFTER], maxsplit=1)[0])
    basis = basis or next(reversed(list(_BASIS.finditer(own_before[-_NEAR_BEFORE:]))), None)
    return Sense(
        sign=_sign(text, start, end),
        bound=_bound(own_before, after),
        exact=_EXACT.search(own_before) is not None,
        basis=next((name for at, name in enumerate(_BASES) if basis[f"b{at}"]), "") if basis else "",
        time=unit_of(per["time"]) if per and per["time"] else "",
        thing=next((name for at, name in enumerate(_UNITS_OF_RATES) if per[f"u{at}"]), "") if per else "",
        era=0 if era is None else -1 if era["before"] else 1,
        loss=_LOSS.search(before) is not None or _LOSS.search(own_after) is not None,
    )


def _since_number(before: str) -> str:
    """What stands between the number before, if any, and a figure; what belongs to that number is left out."""
    last = max((match.end() for match in _DIGITS.finditer(before)), default=0)
    if not last or _RANGE_BEFORE.search(before):
        return before
    belonging = _AFTER_NUMBER.match(before, last)
    return before[belonging.end() if belonging else last :]


def _sign(text: str, start: int, end: int) -> int:
    """-1 for a minus or for brackets around nothing but the number, as in accounts; 1 for a plus."""
    before = text[max(0, start - 4) : start]
    bare = before.rstrip("$€£ \u00a0\u202f") if before[-1:] in "$€£ \u00a0\u202f" else before
    mark = bare[-1:]
    if mark and mark in _MINUS + "+":
        gap = len(before) - len(bare)
        left = text[max(0, start - gap - 3) : start - gap - 1]
        listed = gap and (not left.strip(" \t") or left.rstrip(" \t").endswith("\n"))
        words = text[max(0, start - gap - 8) : start - gap - 1].split() if gap else []
        dashed = bool(words) and words[-1][-1:].isalpha() and words[-1].lower() not in _DASHED_AFTER
        joined = dashed or left[-1:].isalnum() or left[-1:] == ")" or (gap and left.rstrip(" \u00a0")[-1:].isdigit())
        if not listed and not joined:
            return 1 if mark == "+" else -1
    opened = _ACCOUNTED[0].search(text, max(0, start - 3), start)
    if opened and _ACCOUNTED[1].match(text, end) and not text[start:end].isalpha():
        return -2
    return 0


def _bound(before: str, after: str) -> int:
    following = _BOUND_AFTER.match(after)
    if following:
        return 1 if following["least"] else -1
    bound = 0
    for match in _BOUND.finditer(before):
        if match["least"] or match["most"]:
            if _PARTING.search(before, match.end()):
                continue
            bound = 1 if match["least"] else -1
        else:
            up = match["up"] is not None
            bound = 1 if up != (_NOT.search(before[: match.start()]) is not None) else -1
    return bound


def signed(texts: Sequence[str], spots: Sequence[Spot]) -> bool:
    """Whether any spot may have a minus."""
    return any(not _MINUSES.isdisjoint(texts[number][max(0, start - 3) : start]) for number, start, _ in spots)


def altered(stated: Sense, texts: Sequence[str], spots: Sequence[Spot], *, money: bool, dated: bool) -> bool:
    """Whether texts have a figure in another sense only; with `money` its bound must be in the texts as well."""
    senses = [sense_of(texts[number], start, end, dated=dated) for number, start, end in spots]
    if not senses:
        return False
    if stated.sign == -1:
        other_sign = not any(sense.sign < 0 or sense.loss for sense in senses)
    else:
        other_sign = all(sense.sign == -1 for sense in senses) and stated.sign != -2 and not (stated.loss and stated.sign == 0)
    bounds, eras = {sense.bound for sense in senses}, {sense.era for sense in senses}
    opposed = stated.bound != 0 and stated.bound not in bounds and (money or bounds == {-stated.bound})
    rates = zip(senses, spots, strict=True)
    return (
        other_sign
        or opposed
        or (stated.exact and 0 not in bounds)
        or (stated.basis != "" and all(sense.basis == _OPPOSITE[stated.basis] for sense in senses))
        or (stated.thing != "" and all((sense.thing or sense.time) not in ("", stated.thing) for sense in senses))
        or (stated.time != "" and not stated.thing and not any(_rated(stated, sense, texts, spot) for sense, spot in rates))
        or (-1 not in eras if stated.era == -1 else stated.era == 1 and eras == {-1})
    )


def _rated(stated: Sense, documented: Sense, texts: Sequence[str], spot: Spot) -> bool:
    if documented.time == stated.time:
        return True
    if documented.time or documented.thing:
        return False
    number, first, last = spot
    near = lower_case(texts[number][max(0, first - _AROUND) : last + _AROUND])
    words, adjectives = _RATE_WORDS[stated.time], _RATE_ADJECTIVES[stated.time]
    leads = r"par|per|/|chaque|each|every|l[ea]s?|d[eu]|pour une?|a|an|un|une|tous les|toutes les|of the|for the|in"
    said = rf"(?:(?:{leads})[ \u00a0']?(?:{words}))(?![^\W_])"
    return re.search(rf"(?<![^\W_]){said}|{adjectives}|l['’](?:{words})(?![^\W_])", near) is not None
