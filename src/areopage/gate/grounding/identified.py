"""Where texts have the contacts, codes, numbers and days of the week that an answer names; and the names that no text has."""

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import islice, pairwise

from areopage.gate.grounding.figure_context import Spot
from areopage.gate.reading.identifiers import (
    ADDRESS,
    ORDINAL,
    Identifier,
    IdentifierKind,
    fractions,
    in_decimals,
    same_measure,
    street_of,
    unit_after,
    units_like,
    weekdays,
)
from areopage.gate.reading.ordinals import Ordinal, cardinals, ordinals, roman
from areopage.text import DIGITS, FIRST_NAMES, WORDED, decimal_of, lower_case, starts_of, unaccented

_MOST_NUMBERED = 100  # up to which a number may stand in Roman numerals
_MOST_SPOTS = 12  # of one identifier
_LONGEST_UNPARTED = 5  # digits of a number that Indian groups part as others do
_MOST_TRIES = 20  # for the same characters in a text
_MOST_SOUGHT = 200  # identifiers of one answer: later ones count as missing
_GOES_ON = re.compile(r"[ .\u00a0\u202f-]?[0-9]{2,4}(?![0-9])")  # a number in groups, behind some of them
_CODE_GOES_ON = re.compile(r"[-_/.][A-Z]{0,4}[0-9]|[ \u00a0](?=[A-Z0-9]{0,3}[0-9])[A-Z0-9]{2,4}(?!\w)")
_COUNTRY = re.compile(r"(?:(?:\+|00)[0-9 .()\u00a0-]{1,9}|(?<![0-9])\(?0\)?[ .\u00a0-]?)\Z")
_BEFORE_COUNTRY = 12  # characters before a telephone number in which its country code stands
_IN_YEAR = re.compile(r"(?:(?<!\w)(?:in|en|since|depuis)[ \u00a0]['’]?|(?<!\w)['’])\Z")
_BEFORE_YEAR = 10  # characters
# T2 2024, Q2, H1: also names of other things, but then no text has them as periods.
_CODED_PERIODS = {"T": "quarter", "Q": "quarter", "S": "half-year", "H": "half-year"}
_PERIODS = frozenset([*_CODED_PERIODS.values(), "fortnight"])
_CODED = re.compile(r"(?<!\w)(?:[TQ][1-4]|[SH][12]|[1-4][TQ])(?!\w)")
_PERIOD_CODE = re.compile("[TQ][1-4]|[SH][12]")
_IN_THOUSANDS = re.compile(r"[0-9]{1,3}[.,][0-9]{3}")
_NUMBER = re.compile(
    r"[0-9]{1,3}(?:[ \u00a0\u202f\u2009'’,.][0-9]{3}(?![0-9])){1,5}(?:[.,][0-9]{1,9})?|[0-9]{1,15}(?:[.,][0-9]{1,9})?"
)
_IN_K = re.compile(r"(?<![\w.,])(?P<thousands>[0-9]{1,15})[ \u00a0]?[kK](?!\w)")
_ONLINE = re.compile("[@.]")
_TO = re.compile(r"[ \u00a0]?(?:à|au|to|through|thru|until|jusqu'au|-|–)[ \u00a0]?(?:le[ \u00a0])?")
_MOST_PARTS, _SAME_SHARE = 20, Fraction(1, 5_000)  # of a fraction; by which its four decimals may differ from it
_PART_NAMES = {
    2: "half|halves|moitié|demi|demie", 3: "thirds?|tiers", 4: "quarters?|quarts?", 5: "fifths?|cinquièmes?",
    6: "sixths?|sixièmes?", 7: "sevenths?|septièmes?", 8: "eighths?|huitièmes?", 9: "ninths?|neuvièmes?", 10: "tenths?|dixièmes?",
}  # fmt: skip
_OF = r"(?:[ \u00a0]?[-–][ \u00a0]?|[ \u00a0](?:[^\W\d]{1,20}[ \u00a0]){0,2}?(?:sur|out of|of|in|à|to|ou|or)[ \u00a0])"
_COUNTS = re.compile(r"([0-9]{1,5})[ \u00a0]?[/\u2044][ \u00a0]?([0-9]{1,6})")
_PERCENT = re.compile(r"(?<![\w.,])(?P<percent>[0-9]{1,3}(?:[.,][0-9]{1,4})?)[ \u00a0\u202f]?(?:%|per ?cent|pour cent)")
_ROUNDED_PERCENT = Fraction(7, 10)  # 66 % and 67 % are two thirds
_GROUPING = (" ", "\u00a0", "\u202f", "\u2009", ",", ".", "'", "’")
_JOINED_BEFORE, _JOINED_AFTER = re.compile("[0-9][.,]"), re.compile("[.,]?[0-9]")
# 12 am is midnight, and so are the 24 h that end a day; 24 h alone are its length.
_MORNING = r"(?:[.:h][0-5][0-9])?[ \u00a0]?a\.?m(?!\w)"
_NIGHT = rf"0|(?:(?<=[à–-][ \u00a0])|(?<=[–-]))24|12(?={_MORNING})"
_ONE = re.compile(r"(?<!\w)(?:une?|an?|one)(?=[ \u00a0]?[a-zµ])")
_EVERY_DAY = re.compile(
    r"tous les jours|every ?day|daily|7[ \u00a0]?j(?:ours)?[ \u00a0]?/[ \u00a0]?7|seven days a week|7 days a week|24/7"
)
_WEEKEND = re.compile(r"week-?[ ]?ends?\b|fin de semaine")
_SHORT_DAYS = (
    ("lun", "mon"), ("mar", "tue"), ("mer", "wed"), ("jeu", "thu"), ("ven", "fri"), ("sam", "sat"), ("dim", "sun"),
)  # fmt: skip
_TITLES = (
    r"(?:mm?\.|mmes?|mlles?|monsieur|madame|mademoiselle|ma[iî]tre|me|dr|docteur|pr|professeure?|mr|mrs|ms|miss|sir|prof)\.?"
)
_WORD = r"[^\W\d_][^\W_]{0,24}(?:[-'’][^\W_]{1,24}){0,2}"
# What a person's or a place's name has before it.
_NAMED = re.compile(rf"(?<!\w)(?:{_TITLES}[ \u00a0](?:{_WORD}[ \u00a0]){{0,2}}|(?:à|in|near|at|from)[ \u00a0])\Z", re.IGNORECASE)
_LAST_WORD = re.compile(rf"(?P<word>{_WORD})[ \u00a0]\Z")
# What the title or preposition before a name ends with, in lower case: most words have none of these before them.
_CUES = (
    "mm", "mme", "mmes", "mlle", "mlles", "monsieur", "madame", "mademoiselle", "maitre", "maître", "me", "dr", "docteur",
    "pr", "professeur", "professeure", "mr", "mrs", "ms", "miss", "sir", "prof", "à", "in", "near", "at", "from", ".", "m",
)  # fmt: skip
_BEFORE_NAME = 60  # characters before a word in which its title may stand


class Identified:
    """Texts in which identifiers are looked for; they are `Readable`. The work is bounded."""

    def __init__(self, texts: Sequence[str], response: str) -> None:
        self._texts, self._response = texts, response
        self._left = _MOST_SOUGHT
        self._finders: dict[IdentifierKind, Callable[[Identifier], Iterator[Spot]]] = {
            "contact": self._contact, "code": self._code, "number": self._number, "weekday": self._weekday,
        }  # fmt: skip

    @cached_property
    def _low(self) -> list[str]:
        return [lower_case(text) for text in self._texts]

    @cached_property
    def _values(self) -> frozenset[Decimal]:
        return frozenset(decimal_of(match.group()) for text in self._texts for match in _NUMBER.finditer(text))

    def values(self) -> frozenset[Decimal]:
        """The numbers of the texts, read once."""
        return self._values

    @cached_property
    def _ordinals(self) -> list[tuple[int, Ordinal]]:
        return [(number, ordinal) for number, text in enumerate(self._texts) for ordinal in ordinals(text, loose=True)]

    def spots(self, identifier: Identifier) -> list[Spot]:
        """Where a text has it, in any writing, up to a number of places."""
        self._left -= 1
        return list(islice(self._finders[identifier.kind](identifier), _MOST_SPOTS)) if self._left >= 0 else []

    def _contact(self, identifier: Identifier) -> Iterator[Spot]:
        if not _ONLINE.search(identifier.value):
            yield from self._spaced(identifier.value, inside=identifier.value.isdigit())
            return
        for number, low in enumerate(self._low):
            for start in starts_of(identifier.value, low, _MOST_TRIES) if identifier.value in low else ():
                end = start + len(identifier.value)
                mail = "@" in identifier.value
                if not _goes_on(low[start - 1 : start], "%+-_." if mail else "-_") and not _goes_on(low[end : end + 1], "-_"):
                    yield number, start, end

    def _code(self, identifier: Identifier) -> Iterator[Spot]:
        if _PERIOD_CODE.fullmatch(identifier.text):
            noun = _CODED_PERIODS[identifier.text[0]]
            named = [(other, spot) for spot, other in self._ordinals if other.noun == noun]
            yield from ((at, other.start, other.end) for other, at in named if other.value == int(identifier.text[1]))
        written = identifier.text.lstrip("vV")
        if not written[0].isdigit():
            yield from self._spaced(identifier.value)
            return
        for number, text in enumerate(self._texts):
            for start in starts_of(written, text, _MOST_TRIES) if written in text else ():
                end = start + len(written)
                if not text[start - 1 : start].isdigit() and not re.match(r"[0-9]|\.[0-9]", text[end : end + 2]):
                    yield number, start, end

    def _spaced(self, value: str, *, inside: bool = False) -> Iterator[Spot]:
        """Where letters and digits stand with anything between them that is neither; `inside`: digits may stand before them."""
        pattern = r"[\W_]{0,3}".join(map(re.escape, value))
        before = "" if inside else r"(?<![^\W_])"
        sought = re.compile(rf"{before}{pattern}(?![^\W_])", re.IGNORECASE)
        goes_on = _GOES_ON if inside else _CODE_GOES_ON
        for number, text in enumerate(self._texts):
            for match in islice(sought.finditer(text), _MOST_TRIES):
                start, end = match.span()
                if goes_on.match(text, end) or (inside and not _begins(text, start)):
                    continue
                yield number, start, end
                break

    def _number(self, identifier: Identifier) -> Iterator[Spot]:
        if ":" in identifier.value:
            yield from self.times(*map(int, identifier.value.split(":")))
            return
        if identifier.unit == ADDRESS:
            yield from self._address(identifier)
            return
        value = Decimal(identifier.value)
        if identifier.unit == ORDINAL:
            yield from self._ordinal(identifier)
            return
        yield from self._measured(identifier, value)
        if not identifier.unit and value <= _MOST_NUMBERED:  # chapter 12 may be chapter XII
            written = roman(int(value))
            for number, text in enumerate(self._texts):
                numerals = cardinals(text) if written in text else ()
                yield from ((number, other.start, other.end) for other in numerals if other.value == value)
        if not identifier.unit and value and not value % 1000:  # 100,000 may be 100k
            for at, text in enumerate(self._texts):
                yield from ((at, *match.span()) for match in _IN_K.finditer(text) if match["thousands"] == f"{value // 1000:f}")
        if (
            not identifier.unit
            and 10 <= value <= 99
            and _IN_YEAR.search(self._response, max(0, identifier.start - _BEFORE_YEAR), identifier.start)
        ):
            sought = re.compile(rf"(?<![\w.,-])(?:1[89]|20){value:f}(?![\w%-]|[.,][0-9])")  # "back in 63"
            yield from ((at, *match.span()) for at, text in enumerate(self._texts) for match in sought.finditer(text))
        if identifier.unit and _IN_THOUSANDS.fullmatch(identifier.text):  # 12,750 kg are 12.75 kg in French
            yield from self._measured(identifier, value / 1000)

    def _measured(self, identifier: Identifier, value: Decimal) -> Iterator[Spot]:
        for factor in units_like(identifier.unit) if identifier.unit else (Decimal(1),):
            for number, start, end in self._digits(value * identifier.factor / factor):
                unit, size = unit_after(self._texts[number], end) if identifier.unit else ("", factor)
                # A unit that is not known, or in the head of a table, may be any.
                alike = same_measure(unit, identifier.unit) and size == factor
                if not identifier.unit or alike or (not unit and factor == identifier.factor):
                    yield number, start, end
        if identifier.unit and value == 1:
            for number, low in enumerate(self._low):
                for article in _ONE.finditer(low):
                    unit, size = unit_after(self._texts[number], article.end())
                    if size == identifier.factor and same_measure(unit, identifier.unit):
                        yield number, *article.span()

    def shares(self, value: Decimal, written: str) -> Iterator[Spot]:
        """Where a share of one stands in percent, in words or as a count: 50 %, half, 1 of 2; `written` may be 1/2."""
        share = exact(value)
        if abs(share - Fraction(value)) > _SAME_SHARE:
            return
        yield from (spot for part, spot in self.parts if exact(part) == share)
        counts = {share.as_integer_ratio()} | {(int(part), int(whole)) for part, whole in _COUNTS.findall(written)}
        counted = "|".join(
            rf"{'(?:1|an?|one|une?)' if part == 1 else part}{_OF}{whole}(?!\w|[.,][0-9])" for part, whole in sorted(counts)
        )
        named = _PART_NAMES.get(share.denominator)
        before = r"(?<!\w)(?<![0-9][ \u00a0-])" if share.numerator == 1 else rf"(?<!\w){share.numerator}[ \u00a0-]"
        sought = re.compile(rf"(?<![\w.,])(?:{counted})" + (rf"|{before}(?:{named})(?!\w)" if named else ""))
        rounds = share.denominator % 3 == 0 or share.denominator % 7 == 0
        for number, low in enumerate(self._low):
            yield from ((number, *match.span()) for match in islice(sought.finditer(low), _MOST_TRIES))
            for match in _PERCENT.finditer(low):
                apart = abs(Fraction(decimal_of(match["percent"])) - 100 * share)
                if not apart or (rounds and apart < _ROUNDED_PERCENT):
                    yield number, match.start(), match.end()

    def percent(self, value: Decimal) -> Iterator[Spot]:
        """Where a fraction stands that a percentage says, exactly or rounded: 1/2 for 50 %, 2/3 for 67 %."""
        step = min(Fraction(10) ** value.normalize().as_tuple().exponent, Fraction(1))  # type: ignore[operator]
        for share, spot in self.parts:
            apart = abs(100 * exact(share) - Fraction(value))
            if apart <= step / 2 or (exact(share).denominator % 3 == 0 and apart < step * _ROUNDED_PERCENT):
                yield spot

    @cached_property
    def has_periods(self) -> bool:
        """Whether a text numbers a quarter or a half of a year."""
        return any(other.noun in _PERIODS for _, other in self._ordinals) or any(map(_CODED.search, self._texts))

    @cached_property
    def periods(self) -> frozenset[int]:
        """Where the answer numbers a quarter or a half of a year in words."""
        numbered = (other for other in ordinals(self._response) if other.noun in _PERIODS)
        return frozenset(other.start for other in numbered if not self._response[other.start].isdigit())

    @cached_property
    def parts(self) -> list[tuple[Decimal, Spot]]:
        """The fractions of the texts, by their value."""
        return [
            (share, (number, match.start(), match.end()))
            for number, text in enumerate(self._texts)
            if "/" in text or "\u2044" in text
            for match, share in fractions(text, [digits.start() for digits in DIGITS.finditer(text)])
        ]

    def _parts_at(self, value: Decimal) -> Iterator[Spot]:
        """Where a fraction of this value stands; one in words is no decimal."""
        if 0 < value < 1:
            alike = (spot for share, spot in self.parts if share == in_decimals(value))
            yield from (spot for spot in alike if WORDED not in self._texts[spot[0]][spot[1] : spot[2]])

    def _digits(self, value: Decimal) -> Iterator[Spot]:
        ends = str(int(value))[-3:]  # which every writing has in one piece
        texts = [(number, text) for number, text in enumerate(self._texts) if ends in text]
        for written in _writings(value) if texts else ():
            for number, text in texts:
                for start in starts_of(written, text, _MOST_TRIES) if written in text else ():
                    end = start + len(written)
                    before, after = text[max(0, start - 2) : start], text[end : end + 2]
                    if not (before[-1:].isdigit() or _JOINED_BEFORE.fullmatch(before) or _JOINED_AFTER.match(after)):
                        yield number, start, end
        yield from self._parts_at(value)

    def _address(self, identifier: Identifier) -> Iterator[Spot]:
        digits = identifier.value.rstrip("abcdeqrtuis")
        more = identifier.value.removeprefix(digits)
        number = rf"{digits}[ \u00a0]?{more}" if more else rf"{digits}(?![ \u00a0]?(?:bis|ter|quater)(?!\w))"
        street = re.escape(lower_case(street_of(identifier.text)))
        sought = re.compile(
            rf"(?<![\w.,]){number}(?!\w)[^.;:\n]{{0,50}}?(?<!\w){street}(?!\w)"
            rf"|(?<!\w){street}(?!\w)[^.;:\n0-9]{{0,20}}(?<![\w.,]){number}(?!\w)"
        )
        for at, low in enumerate(self._low):
            for match in islice(sought.finditer(low), _MOST_TRIES):
                yield at, match.start(), match.end()

    def _ordinal(self, identifier: Identifier) -> Iterator[Spot]:
        """Where texts have an ordinal: of the same noun, if they have any of it; a century also where a year of it stands."""
        value = int(identifier.value)
        asked = next(
            (stated for stated in ordinals(self._response) if stated.start == identifier.start),
            Ordinal(value, "", identifier.start, identifier.end),
        )
        coded = "".join(sign for sign, noun in _CODED_PERIODS.items() if noun == asked.noun)
        if coded:
            sought = re.compile(rf"(?<!\w)(?:[{coded}]{value}|{value}[{coded}](?:[0-9]{{2,4}})?)(?!\w)")
            yield from ((at, *match.span()) for at, text in enumerate(self._texts) for match in sought.finditer(text))
        other_noun = asked.noun and any(other.noun == asked.noun for _, other in self._ordinals)
        for number, other in self._ordinals:
            if other.value == value and (other.noun in (asked.noun, "") or not (other_noun or coded)):
                yield number, other.start, other.end
        if asked.cardinal:
            yield from self._digits(Decimal(value))
        if asked.noun == "century":
            for number, text in enumerate(self._texts):
                for match in re.finditer(rf"(?<![0-9.,]){value - 1}[0-9]{{2}}(?![0-9])" if value > 10 else r"(?!)", text):
                    yield number, match.start(), match.end()

    def times(self, first: int, second: int) -> Iterator[Spot]:
        """Where both numbers of a ratio stand beside each other; a time may be one of the other half of the day."""
        hours = {first, first + 12, first - 12} if second < 60 and first < 24 and first % 12 else {first}
        firsts = "|".join(str(hour) for hour in sorted(hours) if hour >= 0)
        firsts = _NIGHT if firsts == "0" else f"12(?!{_MORNING})" if firsts == "12" else firsts
        sought = re.compile(
            rf"(?<![0-9])0?(?:{firsts})(?:[^\w\n]{{1,3}}|[ \u00a0]?(?:h|pour|to|sur|contre|heures?)[ \u00a0]?)0?{second}(?![0-9])"
        )
        whole = re.compile(
            rf"(?<![0-9])(?<![0-9][:.h])0?(?:{firsts})[ \u00a0]?(?:h|am|pm|a\.m|p\.m|heures?|o.clock)(?![ \u00a0\u202f]?[0-9])"
        )
        for number, low in enumerate(self._low):
            match = sought.search(low) or (whole.search(low) if not second else None)
            if match:
                yield number, match.start(), match.end()

    def _weekday(self, identifier: Identifier) -> Iterator[Spot]:
        day = int(identifier.value)
        short = re.compile(rf"(?<!\w)(?:{'|'.join(_SHORT_DAYS[day])})\.?(?!\w)")
        for number, low in enumerate(self._low):
            every = _EVERY_DAY.search(low) or (_WEEKEND.search(low) if day >= 5 else None)
            yield from ((number, *match.span()) for match in (every, short.search(low)) if match)
            days = list(weekdays(self._texts[number], low))
            yield from ((number, named.start, named.end) for named in days if int(named.value) == day)
            for first, last in pairwise(days):
                begins, ends = int(first.value), int(last.value)
                between = begins <= day <= ends or (begins > ends and not ends < day < begins)
                if between and _TO.fullmatch(low, first.end, last.start):
                    yield number, first.start, last.end


def exact(share: Decimal) -> Fraction:
    """The fraction that a share in four decimals is."""
    return Fraction(share).limit_denominator(_MOST_PARTS)


def _writings(value: Decimal) -> Iterator[str]:
    whole, _, rest = f"{value:f}".partition(".")
    rest = rest.rstrip("0")
    grouped = f"{int(whole):,}"
    forms = [whole, *(grouped.replace(",", mark) for mark in _GROUPING)] if len(whole) > 3 else [whole]
    if len(whole) > _LONGEST_UNPARTED:
        head = whole[:-3]  # in Indian groups: 1,25,000
        pairs = [head[max(0, end - 2) : end] for end in range(len(head), 0, -2)]
        forms.append(",".join([*reversed(pairs), whole[-3:]]))
    endings = [rest, *(rest + "0" * more for more in (1, 2) if len(rest) + more <= 3)]
    for form in forms:
        if not rest:
            yield form
        for ending in filter(None, endings):
            for mark in ".,":
                yield f"{form}{mark}{ending}"


def _begins(text: str, start: int) -> bool:
    """Whether no other digits of the same number stand before a telephone number, but for a country code."""
    before = text[max(0, start - _BEFORE_COUNTRY) : start]
    return not re.search(r"[0-9][ .\u00a0()-]{0,3}\Z", before) or _COUNTRY.search(before) is not None


def _goes_on(sign: str, joining: str) -> bool:
    return sign != "" and (sign.isalnum() or sign in joining)


def is_name(text: str, start: int, written: str) -> bool:
    """Whether a capitalised word inside a sentence is a person's or a place's name by what stands before it."""
    if not written[:1].isupper() or written.isupper() or len(written) < 3:
        return False
    before = text[max(0, start - _BEFORE_NAME) : start]
    if before[-1:] not in (" ", "\u00a0"):
        return False
    last = _LAST_WORD.search(before, max(before.rfind(" ", 0, -1), before.rfind("\u00a0", 0, -1)) + 1)
    if last is not None and last["word"][0].isupper() and unaccented(last["word"]).lower() in FIRST_NAMES:
        return True
    return any(word.endswith(_CUES) for word in before.lower().split()[-3:]) and _NAMED.search(before) is not None
