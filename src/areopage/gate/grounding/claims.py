"""The figures and references of an answer: do the documents hold them, and where?

A figure is sought as it is written, then by its value, then in writings that are not read as figures.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import accumulate, islice
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from areopage.cases import Document
from areopage.gate.grounding.asked import QuestionText, agreed, loose_tokens
from areopage.gate.grounding.computed import Sums, computed, dated, rounded
from areopage.gate.grounding.figure_context import Spot, Surroundings
from areopage.gate.grounding.figure_sense import altered, sense_of, signed
from areopage.gate.grounding.identified import Identified, exact
from areopage.gate.grounding.places import ClaimPlaces, labels_said
from areopage.gate.grounding.rhythms import said_otherwise, speaks
from areopage.gate.grounding.rows import Rows, Value, clause_at, other_column
from areopage.gate.premises.premises import Premises
from areopage.gate.reading.identifiers import ADDRESS, AMOUNT, FRACTION, ORDINAL, SMALL, Identifier
from areopage.gate.reading.stated import RATED, TIMES, CountedThings, Stated, stated_in
from areopage.gate.records import Place
from areopage.text import DIGITS, WORDED, FigureText, Readable, Reference, TextFigure, decimal_of, stems

_CLOCK = re.compile(r"(?P<hour>[0-9]{1,2})[ \u00a0\u202f]?(?:h|heures?)[ \u00a0\u202f]?(?P<minute>[0-5][0-9])?")
_TIME_OF_DAY = re.compile(r"(?<![\w.,])[0-9]{1,2}(?:[ \u00a0\u202f]?(?:h(?![a-z])|heures|[ap]\.?m\b)|:[0-5][0-9])")
_MIDNIGHT, _BEFORE_TIME = 24, 4
_AT = re.compile(r"(?:à|to|until|till|[-–])[ \u00a0]?\Z")
_LONGEST_TERM = 10  # digits of a number of which another one may be a share
_BROKEN_OFF = re.compile(r"-(?:\s|\Z)")
_MOST_UNREAD = 20  # claims of one answer that are sought in writings that are not read as figures
_MOST_BESIDE = 6  # figures on each side of one in its clause, among which it is bound to the row of a table
_MOST_FOLLOWED = 20  # figures of the user and of the documents from which others may follow
_PRICE = re.compile(
    r"[€$£][ \u00a0]?(?P<before>[0-9]{1,6}(?:[.,][0-9]{1,2})?)"
    r"|(?<![\w.,])(?P<after>[0-9]{1,6}(?:[.,][0-9]{1,2})?)[ \u00a0\u202f]?(?:[€$£](?! ?[0-9])|euros?|pounds?|dollars?)"
)
_MAY_NAME = re.compile(r"[0-9]|[A-Z]{4}|[A-Z]-[A-Z]")  # what may be a code or a number that is not read as one
_ONE = re.compile(
    r"\b(?:an?|une?)\b(?= (?:week|month|year|day|semaine|mois|an|jour)\b)"
    r"|\b(?:the|le|la)\b(?= (?:week|month|year|semaine|mois) (?:that|which|following|after|qui|suivant))",
    re.IGNORECASE,
)
_MOST_PRICED = 40  # amounts of the documents that may be multiplied
_YEARLY = re.compile(r"(?i)\b(?:ans?|années?|annuel\w*|years?|yearly|annual\w*|mois|mensuel\w*|months?|monthly)\b")
_PART = re.compile(r"0\.[0-9]{1,4}")  # what half an hour begins with
_PASSES = 3  # over the figures, since some follow from others that stand behind them
_UNSETTLED = ("missing", "asserted", "altered")
_YEARS = re.compile(r"(?i)\b(?:ans?|années?|years?)\b")
_NAMED_SHARES = {
    "half": Decimal("0.5"), "moitié": Decimal("0.5"), "third": 1 / Decimal(3), "tiers": 1 / Decimal(3),
    "quarter": Decimal("0.25"), "quart": Decimal("0.25"),
}  # fmt: skip
_COUNT_WORDS = (
    "two|deux", "three|trois", "four|quatre", "five|cinq", "six", "seven|sept", "eight|huit", "nine|neuf", "ten|dix"
)  # fmt: skip
_COUNTED = re.compile(r"(?<![\w.,/:-])(?:[2-9]|1[0-9]|20)(?![\w/:-]|[.,][0-9])")
_WORKING_WEEK = re.compile(r"(?i)\b(?:monday.to.friday|du lundi au vendredi)\b")
_MOST_JUDGED = 30  # claims of one answer whose surroundings are compared with those of other figures
ClaimKind = Literal[
    "amount", "percentage", "date", "duration", "quantity", "reference", "contact", "code", "number", "weekday", "name"
]
NAMING: tuple[ClaimKind, ...] = ("contact", "code", "weekday", "name")
"""Kinds that name something and are no figures."""
_NEVER_COMPUTED = (*NAMING, "reference")
ClaimState = Literal["supported", "computed", "repeated", "asserted", "altered", "elsewhere", "missing"]


class Claim(Struct, frozen=True, kw_only=True):
    """A figure or a reference of the answer.

    Its state is `supported` where a document holds it in any notation, `computed` where it follows from figures that they hold,
    `repeated` where only the question has it and the answer does not affirm it, `asserted` where it does, `elsewhere` where they
    hold it among other words (`instead` is what they have there), `altered` where with another bound, sign, basis or rate.
    """

    kind: ClaimKind
    place: Place
    state: ClaimState
    evidence: Place | None = None
    instead: Place | None = None

    @property
    def supported(self) -> bool:
        """Whether a document holds it where the answer's words stand, or it follows from one, or the answer only repeats it."""
        return self.state in ("supported", "computed", "repeated")


class Covered:
    """Whether a claim stands at a position; claims are in order."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        self._starts = [claim.place.start for claim in claims]
        self._ends = list(accumulate((claim.place.end for claim in claims), max))

    def __contains__(self, position: int) -> bool:
        before = bisect_right(self._starts, position)
        return before > 0 and position < self._ends[before - 1]


def check_claims(prompt: str, response: str, documents: Sequence[Document]) -> list[Claim]:
    """The figures and references of an answer, whose citations may be blanked, in order."""
    readable = Readable(response)
    stated = stated_in(readable.text)
    question = Readable(prompt).text
    agreement = agreed(question, readable.text, [document.text for document in documents])
    if agreement:
        start, end = readable.span(*agreement)
        return [Claim(kind="name", place=Place(start=start, end=end, text=readable.original(*agreement)), state="asserted")]
    worded = speaks(readable.text)
    if not stated and not worded and not _MAY_NAME.search(readable.text):
        return []
    check = _Check(prompt, question, readable, documents, stated)
    return check.claims() if not worded else sorted([*check.claims(), *check.rhythms()], key=lambda claim: claim.place.start)


class _Check:
    """The documents' texts come first, then titles: these hold figures, but show no place and no context."""

    def __init__(
        self, prompt: str, question: str, response: Readable, documents: Sequence[Document], stated: Sequence[Stated]
    ) -> None:
        self._asked, self._documents, self._readable = question, documents, response
        self._texts = [Readable(document.text) for document in documents]
        texts = [readable.text for readable in self._texts]
        read = cache(FigureText)
        named = [name for document in documents for name in (document.title, document.source) if name]
        self._places = ClaimPlaces([*texts, *named], read)
        self._identified = Identified(self._places.texts, response.text)
        self._read = read
        self._rows = Rows(texts)
        self._question = frozenset(stems(prompt))
        self._surroundings = Surroundings(texts, response.text, self._question, self._places.figures)
        self._unjudged = _MOST_JUDGED
        self._prompt, self._response, self._stated = prompt, response.text, stated
        self._figures = [statement for statement in stated if isinstance(statement, TextFigure)]
        self._unread_left = _MOST_UNREAD

    def claims(self) -> list[Claim]:
        """All claims in order."""
        checked = [(statement, self._checked(statement)) for statement in self._stated]
        checked = [(statement, claim) for statement, claim in checked if not self._is_unsaid(statement, claim)]
        self._stated, claims = [statement for statement, _ in checked], [claim for _, claim in checked]
        missing = [at for at, claim in enumerate(claims) if not claim.supported]
        loose = loose_tokens(self._asked, self._response, self._stated)
        if not missing and not loose:
            return claims
        asked = QuestionText(self._asked, self._response, self._read)
        premises = Premises(self._asked, self._response, self._places.texts)
        before = list(claims)
        for at in missing:
            spot = asked.spot(self._stated[at])
            if spot is not None:
                claims[at] = self._as_said(before, at, spot, premises)
        for at in missing:  # what an answer denies once it affirms nowhere
            if claims[at].state == "asserted" and self._stated[at].text.lower() in premises.denied:
                claims[at] = replace(claims[at], state="repeated")
        if missing:
            self._follow(claims, asked)
            for at in missing:
                if claims[at].state == "missing" and self._is_ratio(at):
                    claims[at] = replace(claims[at], state="computed")
        for identifier, spot in asked.tokens(loose, self._places.texts):
            affirmed = premises.affirms(identifier.start, identifier.end, spot, (), kind=identifier.kind)
            claims.append(self._claim_at(identifier, "asserted" if affirmed else "repeated", None))
        return sorted(claims, key=lambda claim: claim.place.start)

    def rhythms(self) -> Iterator[Claim]:
        """What the answer says in words of how often and how long, and the documents otherwise."""
        for start, end in said_otherwise(self._response, self._places.texts):
            if not any(stated.start < end and start < stated.end for stated in self._stated):
                first, last = self._readable.span(start, end)
                place = Place(start=first, end=last, text=self._readable.original(start, end))
                yield Claim(kind="duration", place=place, state="missing")

    def _is_ratio(self, at: int) -> bool:
        """Whether a share in words is that of two numbers of the answer: "3 jours sur 5, soit trois cinquièmes"."""
        stated, size = self._stated[at], self._size(at)
        if WORDED not in stated.text or size is None or not 0 < size < 1:
            return False
        digits = (match for match in DIGITS.finditer(self._response) if not stated.start <= match.start() < stated.end)
        numbers = {int(match.group()) for match in islice(digits, _MOST_FOLLOWED) if len(match.group()) < _LONGEST_TERM}
        return any(exact(size) == Fraction(part, whole) for part in numbers for whole in numbers if part < whole)

    def _is_unsaid(self, stated: Stated, claim: Claim) -> bool:
        """Whether a noon, a midnight or a quarter in words that no document has is no claim, since they have no other one."""
        if claim.state != "missing":
            return False
        if isinstance(stated, Identifier):
            in_words = stated.unit == ORDINAL and stated.start in self._identified.periods
            return in_words and not self._identified.has_periods
        if not isinstance(stated, TextFigure) or not _CLOCK.fullmatch(stated.text):
            return False
        worded = self._readable.is_phrase(stated.start, stated.end) and not DIGITS.search(claim.place.text)
        return worded and not any(_TIME_OF_DAY.search(text) for text in self._places.texts)

    def _follow(self, claims: list[Claim], asked: QuestionText) -> None:
        """Note what follows from the user's own figures and what the documents say: 5 % of his 2,000 euros."""
        unsettled = [at for at, claim in enumerate(claims) if claim.state in _UNSETTLED and claim.kind not in _NEVER_COMPUTED]
        if not unsettled:
            return
        sums = self._sums(claims, asked)
        dates = any(claim.kind == "date" and claim.state in ("missing", "asserted") for claim in claims)
        days = [str(figure.value) for figure in self._read(asked.dated).of("date")] if dates else []
        spans = self._spans(asked) if days else []
        yearly = any(claims[at].kind == "amount" for at in unsettled) and _YEARLY.search(self._response) is not None
        for _ in range(_PASSES):
            before = len(sums)
            for at in unsettled:
                claim = claims[at]
                if claim.state == "computed":
                    continue
                size = self._size(at, durations=claim.state != "asserted")
                follows = size is not None and self._size_follows(claim, size, sums, yearly=yearly)
                stated = self._stated[at]
                if claim.kind == "date" and isinstance(stated, TextFigure) and claim.state in ("missing", "asserted"):
                    follows = self._date_follows(stated, days, spans, sums)
                if follows:
                    claims[at] = replace(claim, state="computed")
                    if size is not None:
                        sums.add(size)
            if len(sums) == before:
                break

    def _sums(self, claims: Sequence[Claim], asked: QuestionText) -> Sums:
        """The figures that may be computed with: the user's own, those of the documents, and small counts."""
        false = self._sizes(claims, "asserted")
        numbers = [number for number in asked.numbers() if number not in false and number / 100 not in false]
        counts, texts = {number for number in numbers if number <= SMALL}, self._places.texts
        if counts:  # the small numbers of the answer may multiply as well: three lots
            low = self._response.lower()
            counts |= {Decimal(match.group()) for match in islice(_COUNTED.finditer(self._response), _MOST_BESIDE)}
            counts |= {Decimal(at) for at, words in enumerate(_COUNT_WORDS, 2) if re.search(rf"\b(?:{words})\b", low)}
            counts |= {Decimal(5)} if _WORKING_WEEK.search(low) else set()
        prices = (match for text in texts for match in _PRICE.finditer(text))
        priced = {decimal_of(match["before"] or match["after"]) for match in islice(prices, _MOST_PRICED)} if numbers else set()
        figures = self._places.figures("percentage") if numbers else ()
        percentages = [figure.value for figure, _ in figures if isinstance(figure.value, Decimal)]
        lows = map(str.lower, texts if numbers else ())
        named = [value for low in lows for word, value in _NAMED_SHARES.items() if word in low]
        parts = (exact(share) for share, _ in islice(self._identified.parts if numbers else (), _MOST_PRICED))
        shares = {*(percentage / 100 for percentage in percentages[:_MOST_PRICED]), *named}
        shares |= {Decimal(part.numerator) / part.denominator for part in parts}
        fractions = islice(FRACTION.finditer(self._prompt), _MOST_FOLLOWED)
        sums = Sums(
            {number for number in numbers if number > SMALL}
            | self._sizes(claims, "repeated")
            | {
                Decimal(match["part"]) / Decimal(match["whole"] or match["parts"])
                for match in fractions
                if match["part"] in self._response
            },
            counts,
            self._sizes(claims, "supported"),
            priced,
            shares,
            self._sizes(claims, "supported", durations=True),
        )
        for computed_before in self._sizes(claims, "computed"):
            sums.add(computed_before)
        return sums

    def _spans(self, asked: QuestionText) -> list[TextFigure]:
        """The durations that may lie between two days: those of the documents, and of the question where the answer has them."""
        answered = {duration.value for duration in self._read(self._response).of("duration")}
        spans = [duration for text in self._places.texts for duration in self._read(_ONE.sub("1", text)).of("duration")]
        return spans + [duration for duration in self._read(asked.question).of("duration") if duration.value in answered]

    def _size_follows(self, claim: Claim, size: Decimal, sums: Sums, *, yearly: bool) -> bool:
        """Whether a number is computed from others; a small one only where it is an amount or stands nowhere."""
        if size <= SMALL and claim.kind != "amount" and claim.state != "missing":
            return False
        computable = claim.kind != "duration" and claim.state in ("missing", "asserted")
        if computable and sums.follows(size, yearly=yearly and claim.kind == "amount"):
            return True
        return claim.state != "asserted" and sums.reached(size)

    def _date_follows(self, stated: TextFigure, days: Sequence[str], spans: Sequence[TextFigure], sums: Sums) -> bool:
        """Whether a day is one of the user's and a duration, or the documents have it and its year apart."""
        if dated(str(stated.value), days, spans, sums.held):
            return True
        year, _, day = str(stated.value).partition("-")
        elsewhere = bool(days and day) and year.isdigit() and any(year in text for text in self._places.texts)
        return elsewhere and any(figure.value == f"--{day}" for figure, _ in self._places.figures("date"))

    def _sizes(self, claims: Sequence[Claim], state: ClaimState, *, durations: bool = False) -> set[Decimal]:
        at = [at for at, claim in enumerate(claims) if claim.state == state][:_MOST_FOLLOWED]
        return set(filter(None, [self._size(index, durations=durations) for index in at]))

    def _size(self, at: int, *, durations: bool = False) -> Decimal | None:
        """The number of a figure or of counted things, a percentage as a share; None for anything else."""
        stated = self._stated[at]
        if isinstance(stated, CountedThings):
            return Decimal(stated.value)
        if isinstance(stated, Identifier):
            plain = stated.kind == "number" and ":" not in stated.value and stated.unit not in (ORDINAL, ADDRESS)
            return Decimal(stated.value) if plain else None
        if not isinstance(stated, TextFigure) or not isinstance(stated.value, Decimal):
            return None
        if durations and stated.kind == "duration":
            return stated.value / 12 if stated.unit == "month" and _YEARS.search(stated.text) else stated.value
        return stated.value / 100 if stated.kind == "percentage" else stated.value if stated.kind == "amount" else None

    def _as_said(self, claims: Sequence[Claim], at: int, asked: tuple[int, int], premises: Premises) -> Claim:
        """A claim that the question has, by whether the answer affirms it; `asked` is where the question has it."""
        claim, stated = claims[at], self._stated[at]
        beside = [
            Place(start=statement.start, end=statement.end, text=statement.text)
            for statement, other in zip(self._stated, claims, strict=True)
            if other.supported and other.kind == claim.kind
        ]
        address = isinstance(stated, Identifier) and stated.unit == ADDRESS
        if not premises.affirms(stated.start, stated.end, asked, beside, kind="address" if address else claim.kind):
            return replace(claim, state="repeated", evidence=None, instead=None)
        if isinstance(stated, CountedThings):
            rival = premises.confirms(stated.start, stated.end) or self._places.counted_otherwise(stated)
            # A small number of things may count what the answer lists: "the three steps".
            if not rival and (claim.state != "missing" or premises.enumerated(*asked)):
                return claim
            return replace(claim, state="asserted", kind="number", evidence=None, instead=None)
        return replace(claim, state="asserted") if claim.state == "missing" else claim

    def _checked(self, stated: Stated) -> Claim:
        if isinstance(stated, CountedThings):
            return self._counted(stated)
        if isinstance(stated, Identifier):
            return self._identifier(stated)
        claim = self._claim(stated)
        if claim.state != "supported" or isinstance(stated, Reference):
            return claim
        return self._in_its_row(stated, claim)

    def _identifier(self, stated: Identifier) -> Claim:
        spots = self._identified.spots(stated)
        if not spots and stated.kind == "number" and not stated.unit and ":" not in stated.value:
            spots = self._shares(stated, Decimal(stated.value))
        spot = spots[0] if spots else None
        if spot is None and stated.kind == "number" and ":" not in stated.value and stated.unit not in (ORDINAL, ADDRESS):
            shortened = any(map(str.isalpha, self._readable.original(stated.start, stated.end)))
            if rounded(self._response, stated.start, Decimal(stated.value), self._identified.values, always=shortened):
                return self._claim_at(stated, "supported", None)
        claim = self._claim_at(stated, "supported" if spot else "missing", spot)
        if stated.kind == "number" and spot and not self._beyond(spots) and self._rows.any_in(spots):
            rival = self._other_column(stated, clause_at(self._response, stated.start, stated.end), spots)
            claim = self._claim_at(stated, "elsewhere", spot, rival) if rival else claim
        return self._in_its_sense(stated, claim, spots) if stated.kind == "number" and ":" not in stated.value else claim

    def _shares(self, stated: TextFigure | Identifier, value: Decimal) -> list[Spot]:
        """Where a share of one that the answer writes as a fraction, ½ or 1/2, stands in percent, in words or as a count."""
        written = self._readable.original(stated.start, stated.end)
        if not 0 < value < 1 or "." in written or "," in written:
            return []
        return list(islice(self._identified.shares(value, written), _MOST_FOLLOWED))

    def _in_its_row(self, stated: TextFigure, claim: Claim) -> Claim:
        spots = self._places.written(stated) or self._places.valued(stated) or list(self._rows.cells(stated))
        if not spots or self._beyond(spots):
            return claim
        if not self._rows.any_in(spots):
            return self._in_its_sense(stated, claim, spots)
        spots = self._spots(stated)
        if self._beyond(spots):
            return claim
        first, last = clause_at(self._response, stated.start, stated.end)
        rival = self._rows.other_row(spots, frozenset(stems(self._response[first:last])))
        rival = rival or self._bound_elsewhere(stated, (first, last)) or self._other_column(stated, (first, last), spots)
        return self._claim_at(stated, "elsewhere", spots[0], rival) if rival else self._in_its_sense(stated, claim, spots)

    def _in_its_sense(self, stated: TextFigure | CountedThings | Identifier, claim: Claim, spots: Sequence[Spot]) -> Claim:
        if claim.state != "supported" or not spots or self._beyond(spots):
            return claim
        dated = isinstance(stated, TextFigure) and stated.kind == "date"
        sense = sense_of(self._response, stated.start, stated.end, dated=dated)
        if sense.plain and not signed(self._places.texts, spots):
            return claim
        money = isinstance(stated, TextFigure) and stated.kind in ("amount", "percentage")
        every = self._spots(stated) if isinstance(stated, TextFigure) else spots
        # A number that was found with its unit was also found alone.
        every = [
            (at, start, end)
            for at, start, end in every
            if not any(other != (at, start, end) and other[0] == at and other[1] <= start and end <= other[2] for other in every)
        ]
        loose = altered(sense, self._places.texts, every, money=money, dated=dated)
        return self._claim_at(stated, "altered", spots[0]) if loose and not self._beyond(every) else claim

    def _bound_elsewhere(self, stated: TextFigure, clause: tuple[int, int]) -> Spot | None:
        """The row that a figure is bound to among the others of its clause, where it stands in other rows."""
        at = bisect_left(self._figures, stated.start, key=lambda figure: figure.start)
        near = self._figures[max(0, at - _MOST_BESIDE) : at + _MOST_BESIDE + 1]
        within = [figure for figure in near if clause[0] <= figure.start < clause[1]]
        values = [Value(figure.start, figure.end, self._spots(figure)) for figure in within] if len(within) > 1 else []
        return self._rows.bound_elsewhere(self._response, clause, values, values[within.index(stated)]) if values else None

    def _other_column(self, stated: TextFigure | Identifier, clause: tuple[int, int], spots: Sequence[Spot]) -> Spot | None:
        values = [(statement.start, statement.end) for statement in self._stated if clause[0] <= statement.start < clause[1]]
        asked = (stated.start, stated.end)
        return other_column(self._places.texts, spots, self._response, clause, values, asked, self._question)

    def _spots(self, stated: TextFigure) -> list[Spot]:
        return list(dict.fromkeys([*self._places.written(stated), *self._places.valued(stated)])) or list(
            self._rows.cells(stated)
        )

    def _claim(self, stated: TextFigure | Reference) -> Claim:
        spots = self._places.written(stated)
        if not spots:
            spots = self._places.valued(stated)
        if not spots:
            return self._unread(stated)
        if isinstance(stated, Reference) or self._beyond(spots) or self._unjudged <= 0:
            return self._claim_at(stated, "supported", spots[0])
        self._unjudged -= 1
        judged = self._surroundings.judge(stated, spots)
        others = [spot for spot in self._places.valued(stated) if spot not in spots] if judged.misplaced else []
        if self._beyond(others):
            return self._claim_at(stated, "supported", spots[0])
        if others:
            judged = self._surroundings.judge(stated, [*spots, *others])
        return self._claim_at(stated, "elsewhere" if judged.misplaced else "supported", judged.best, judged.rival)

    def _unread(self, stated: TextFigure | Reference) -> Claim:
        """A claim that no text holds as a figure or a reference: one may have it in a writing that is not read as such."""
        self._unread_left -= 1
        if self._unread_left < 0:
            return self._claim_at(stated, "missing", None)
        if isinstance(stated, Reference):
            act = self._places.act(stated) or self._begun(stated)
            return self._claim_at(stated, "supported" if act else "missing", act)
        cells = self._rows.cells(stated)
        if cells:
            return self._claim_at(stated, "supported", cells[0])
        other = self._otherwise(stated)
        if other:
            return self._claim_at(stated, "supported", other)
        spot, spoken_of = self._places.unread(stated, lambda: labels_said(self._prompt, self._response, self._stated))
        if spot is None and computed(stated, self._response, self._places.texts, self._identified.values, self._read):
            return self._claim_at(stated, "computed", None)
        if (
            spot is None
            and isinstance(stated.value, Decimal)
            and rounded(self._response, stated.start, stated.value, lambda: self._places.values(stated))
        ):
            return self._claim_at(stated, "supported", None)
        return self._claim_at(stated, "missing" if spot is None else "supported" if spoken_of else "elsewhere", spot)

    def _otherwise(self, stated: TextFigure) -> Spot | None:
        """Where a percentage stands as a fraction, a time of the day as one, half an hour as half of anything, 0 € as free."""
        if stated.kind == "percentage":
            return next(self._identified.percent(Decimal(stated.value)), None)
        if stated.kind == "amount":
            first, last = clause_at(self._response, stated.start, stated.end)
            return None if stated.value else self._places.free(frozenset(stems(self._response[first:last])))
        clock = _CLOCK.fullmatch(stated.text) if stated.kind == "duration" else None
        hour = int(clock["hour"]) if clock else 0
        if hour == _MIDNIGHT and _AT.search(self._response, max(0, stated.start - _BEFORE_TIME), stated.start):
            hour = 0
        times = self._identified.times(hour, int(clock["minute"] or 0)) if clock else iter(())
        time = next(self._places.alone(stated, times), None)
        part = _PART.match(stated.text) if stated.kind == "duration" and not time else None
        return time or next(iter(self._shares(stated, decimal_of(part.group())) if part else ()), None)

    def _begun(self, stated: Reference) -> Spot | None:
        """Where a document goes on with the number of a reference that the answer breaks off at a hyphen."""
        if not _BROKEN_OFF.match(self._response, stated.end):
            return None
        begun = f"{stated.text.split()[-1]}-"
        spots = ((at, text.find(begun)) for at, text in enumerate(self._places.texts))
        return next(((at, start, start + len(begun)) for at, start in spots if start >= 0), None)

    def _beyond(self, spots: Sequence[Spot]) -> bool:
        return any(number >= len(self._documents) for number, _, _ in spots)

    def _counted(self, stated: CountedThings) -> Claim:
        if stated.noun in (TIMES, RATED):
            return self._times(stated)
        spots, beside = self._places.counted(stated)
        state: ClaimState = "supported" if beside else "elsewhere" if spots else "missing"
        if state == "missing" and rounded(self._response, stated.start, Decimal(stated.value), self._identified.values):
            state = "supported"
        claim = self._claim_at(stated, state, spots[0] if spots else None)
        # A number that the documents do not contain is one for any counted thing; a small one may count what the answer lists.
        claim = replace(claim, kind="number") if state == "missing" and stated.value > SMALL else claim
        sensed = self._in_its_sense(stated, claim, spots)
        return replace(sensed, kind="number") if sensed.state == "altered" else sensed

    def _times(self, stated: CountedThings) -> Claim:
        """A number of times, which is a figure where the documents have another one only."""
        spots, others = self._places.times(stated)
        claim = self._claim_at(stated, "supported" if spots else "missing", spots[0] if spots else None)
        return replace(claim, kind="number") if not spots and (others or stated.value > SMALL) else claim

    def _claim_at(self, stated: Stated, state: ClaimState, spot: Spot | None, rival: Spot | None = None) -> Claim:
        start, end = self._readable.span(stated.start, stated.end)
        kind: ClaimKind = "quantity" if isinstance(stated, CountedThings) else "reference"
        if isinstance(stated, TextFigure | Identifier):
            kind = "amount" if stated.unit == AMOUNT else stated.kind
        return Claim(
            kind=kind,
            place=Place(start=start, end=end, text=self._readable.original(stated.start, stated.end)),
            state=state,
            evidence=self._place(spot),
            instead=self._place(rival),
        )

    def _place(self, spot: Spot | None) -> Place | None:
        if spot is None or spot[0] >= len(self._documents):
            return None
        document = self._documents[spot[0]]
        start, end = self._texts[spot[0]].span(spot[1], spot[2])
        return Place(document=document.id, start=start, end=end, text=document.text[start:end])
