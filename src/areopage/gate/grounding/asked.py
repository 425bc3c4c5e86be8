"""Where a question has what an answer states; and what both have that no extractor reads."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import islice

from areopage.gate.grounding.figure_context import FigureReader
from areopage.gate.grounding.identified import Identified
from areopage.gate.grounding.places import ClaimPlaces
from areopage.gate.reading.identifiers import SMALL, Identifier, IdentifierKind
from areopage.gate.reading.stated import CountedThings, Stated
from areopage.text import DIGITS, ENGLISH_MONTHS, ENGLISH_MONTHS_CUT, FRENCH_MONTHS, TextFigure, decimal_of, stem

Token = tuple[str, str, int]
_MOST = 50  # tokens and numbers of one answer
_MONTHS = 12
# What is made of digits, or of letters and digits, and is a small number only with its noun; names of accounts, options of
# commands, and annexes, doors and gates with their letter or number.
_TOKEN = re.compile(
    r"(?<![\w.,/:-])(?P<token>(?=[\w/-]*[0-9]|[A-Z]{4,24}(?!\w)|[A-Z]{1,8}-[A-Z])[\w/-]{1,24}(?<!/)"
    r"|@\w[\w.]{2,30}(?<!\.)|--[a-z][a-z0-9-]{2,30}|/[a-z]{2,20}:\w{1,20}"
    r"|(?:[Aa]nnexe?|[Aa]ppendix|[Pp]orte|[Gg]ate) (?:[A-Z]|[0-9]{1,3}))"
    r"(?![\w]|[.,:-][0-9])(?:[ \u00a0](?P<noun>[^\W\d_]{3,30}))?"
)
_NUMBER = re.compile(
    r"(?<![\w.,:/-])[0-9]{1,3}(?:[ \u00a0\u202f\u2009'’,.]?[0-9]{3}(?![0-9]))*(?:[.,][0-9]{1,2})?(?![\w:/]|[.,][0-9])"
)
_AGED = re.compile(r"(?:\s|-)?(?:years?|ans)", re.IGNORECASE)
_MONTHS_CUT = "|".join((*ENGLISH_MONTHS, *ENGLISH_MONTHS_CUT, "sept"))
# A month as people type it: "20 june".
_MONTH = re.compile(rf"(?<=[0-9] )(?:{_MONTHS_CUT})\b|\b(?:{_MONTHS_CUT})(?= [0-9])")
_HALF = re.compile(r" and a half\b| (?:heures?|h|ans?|mois) et demie?\b")
# A sentence that says yes and nothing more: "Yes, still good.", "Tout à fait, c'est la bonne adresse."
_AGREEMENT = re.compile(
    r"\W*(?:yes|yeah|oui|tout à fait|exactement|exactly|absolutely|absolument|correct|right|indeed|en effet|bien sûr|of course"
    r"|vous avez (?:bon|raison)|(?:that|it)['’]s (?:right|correct)|c['’]est (?:bien )?(?:ça|cela|exact|juste|correct|vrai))\b"
    r"(?:[\s,:]*(?:c['’]est|it['’]s|that['’]s|it|that|is|the|la|le|les|bien|bonne?|good|right|correct|exact|raison|valid|valable"
    r"|still|toujours|one|you|are|have|vous|avez|adresse|numéro|code|number|address|does|do|for sure|ça|cela)\b){0,8}"
    r"\s*[.!](?=\s|\Z)",
    re.IGNORECASE,
)
_LONGEST_AGREEMENT = 80  # characters
_SENTENCE = re.compile(r"(?:[^?!.\n]|[.](?=\S))+[?!.]?")
_SPECIFIC = re.compile(r"(?=[\w@./+-]*[0-9@])[\w+][\w@./+-]*\w|(?<!\w)[0-9](?!\w)")
_PLAIN = re.compile(r"[\W_]")
_INSIDE = re.compile(r"[\w/-]")
_SHORTEST = 3  # characters of what is looked for as it is written
_LIST_MARK = re.compile(r"(?:\A|\n)[ \t]*[0-9]{1,2}[.)]\s")


def loose_tokens(question: str, response: str, stated: Sequence[Stated]) -> list[Token]:
    """What may be codes and numbers of an answer, outside of what it states; with the noun behind each, and where it stands.

    Where the question has none, the answer has none of it.
    """
    if not _TOKEN.search(question):
        return []
    taken = bytearray(len(response))
    for statement in stated:
        taken[statement.start : statement.end] = b"\1" * (statement.end - statement.start)
    marks = [match.span() for match in islice(_LIST_MARK.finditer(response), _MOST)]
    return [
        (match["token"], match["noun"] or "", match.start())
        for match in islice(_TOKEN.finditer(response), _MOST)
        if not any(taken[slice(*match.span("token"))]) and not any(first <= match.start() < last for first, last in marks)
    ]


def agreed(question: str, response: str, texts: Sequence[str]) -> tuple[int, int] | None:
    """Where an answer only says yes to a question with a number, a code or a contact that no text has; None where it does not."""
    agreement = _AGREEMENT.match(response)
    if agreement is None or agreement.end() > _LONGEST_AGREEMENT:
        return None
    asked = next((sentence for sentence in _SENTENCE.findall(question) if sentence.endswith("?")), "")
    plain = [_PLAIN.sub("", text).lower() for text in texts]
    for match in islice(_SPECIFIC.finditer(asked), _MOST):
        piece = match.group()
        small = piece.isdigit() and int(piece) <= SMALL
        if not small and piece not in response and not any(_PLAIN.sub("", piece).lower() in text for text in plain):
            return agreement.span()
    return None


class QuestionText:
    """A question, in which what an answer states is looked for; both are `Readable`."""

    def __init__(self, question: str, response: str, read: FigureReader) -> None:
        self.question, self._response = question, response
        self.dated = _MONTH.sub(lambda match: match.group().capitalize(), question)
        self._places = ClaimPlaces([self.dated], read)
        self._identified = Identified([question], response)

    def spot(self, stated: Stated) -> tuple[int, int] | None:
        """Where it stands in the question; None where it does not."""
        if isinstance(stated, Identifier):
            spot = next(iter(self._identified.spots(stated)), None)
        elif isinstance(stated, CountedThings):
            spots, beside = self._places.counted(stated)
            spot = spots[0] if spots and (beside or stated.value > SMALL) else None
        else:
            spots = self._places.written(stated) or self._places.valued(stated)
            spot = spots[0] if spots else None
            if spot is None and isinstance(stated, TextFigure):
                spot = self._places.unread(stated, frozenset)[0]
                return spot[1:] if spot else self._bare_age(stated) or self._short_date(stated) or self._bare_amount(stated)
        return spot[1:] if spot else self._as_written(stated)

    def _as_written(self, stated: Stated) -> tuple[int, int] | None:
        start, end = stated.start, stated.end
        while start > 0 and _INSIDE.match(self._response, start - 1):
            start -= 1
        while end < len(self._response) and _INSIDE.match(self._response, end):
            end += 1
        written = self._response[start:end].rstrip("-/.")
        if len(written) <= _SHORTEST or not any(map(str.isdigit, written)):
            return None
        if not all(digits in self.question for digits in DIGITS.findall(written)):
            return None
        match = re.search(rf"(?<!\w){re.escape(written)}(?!\w)", self.question, re.IGNORECASE)
        return match.span() if match else None

    def _bare_age(self, stated: TextFigure) -> tuple[int, int] | None:
        """Where the question has an age without its unit: "two kids, 4 and 9"."""
        if stated.kind != "duration" or stated.unit != "month" or not isinstance(stated.value, Decimal) or stated.value % _MONTHS:
            return None
        bare = rf"(?<![\w.,/:£$€-]){int(stated.value / _MONTHS)}(?=\s*(?:[,;.!?)]|\Z|(?:and|et|ans?)\b))"
        match = re.search(bare, self.question) if _AGED.search(stated.text) else None
        return match.span() if match else None

    def _short_date(self, stated: TextFigure) -> tuple[int, int] | None:
        """Where the question has a date with its month cut short: "5 sept"."""
        if stated.kind != "date" or not isinstance(stated.value, str) or stated.value.count("-") < 2:
            return None
        month, day = map(int, stated.value.split("-")[-2:])
        if str(day) not in self.question:
            return None
        names = f"{ENGLISH_MONTHS[month - 1][:3]}|{FRENCH_MONTHS[month - 1][:3]}"
        match = re.search(
            rf"(?<![\w.,/]){day}(?:st|nd|rd|th|er)?[ ./-](?:(?:{names})|0?{month}\b)"
            rf"|\b(?:{names})[a-z.]*[ ]{day}\b",
            self.question,
            re.IGNORECASE,
        )
        return match.span() if match else None

    def _bare_amount(self, stated: TextFigure) -> tuple[int, int] | None:
        """Where the question has an amount without its currency: "90 pounds plus 20 a day"."""
        if stated.kind != "amount" or not isinstance(stated.value, Decimal):
            return None
        if stated.value <= SMALL and stated.value == int(stated.value):
            return None
        matches = islice(_NUMBER.finditer(self.question), _MOST)
        return next((match.span() for match in matches if decimal_of(match.group()) == stated.value), None)

    def tokens(self, loose: Sequence[Token], texts: Sequence[str]) -> Iterator[tuple[Identifier, tuple[int, int]]]:
        """Those of some tokens of the answer that only the question has; and where it has them."""
        for written, noun, start in loose:
            spot = self._whole(written, noun) if written in self.question else None
            alone = rf"(?<![^\W_]){re.escape(written)}(?![^\W_])"
            if spot and not any(written in text and re.search(alone, text) for text in texts):
                kind: IdentifierKind = "code" if any(map(str.isupper, written)) or written[0] in "@-/" else "number"
                yield Identifier(kind=kind, value=written, text=written, start=start, end=start + len(written)), spot

    def _whole(self, written: str, noun: str) -> tuple[int, int] | None:
        """Where the question has a piece as a whole; a small number must have the same noun behind it."""
        small = written.isdigit() and int(written) <= SMALL and not written.startswith("0")
        for match in islice(_TOKEN.finditer(self.question), _MOST):
            like = not small or (noun and match["noun"] and stem(noun) == stem(match["noun"]))
            if match["token"] == written and like:
                return match.span("token")
        return None

    def numbers(self) -> list[Decimal]:
        """The numbers of the question that the answer has too."""
        answer = {_value(match) for match in islice(_NUMBER.finditer(self._response), _MOST)}
        asked = dict.fromkeys(_value(match) for match in islice(_NUMBER.finditer(self.question), _MOST))
        return [number for number in asked if number in answer]


def _value(match: re.Match[str]) -> Decimal:
    return decimal_of(match.group()) + (Decimal("0.5") if _HALF.match(match.string, match.end()) else 0)
