"""What a text names exactly beside its figures: contacts, codes, bare numbers and days of the week; linear.

| kind | found | value |
|---|---|---|
| contact | e-mail addresses, links and domains, telephone numbers, IBANs | without scheme, spaces and country code |
| code | AX-3041, B21, 3.4.1 | letters and digits in upper case |
| code | an amount that is no number (3S0 euros): `unit` is `amount` | the same |
| number | 15 kg, 65 l/min, 4:1, page 41, 2100000 people | its digits, or both sides of a ratio |
| number | 12 rue des Lilas, 4 bis rue Foch: `unit` is `address` | the number of the house |
| number | 19e siècle, Louis XIV, 21st floor: `unit` is `ordinal` | its value and what is numbered |
| weekday | samedi, Monday | 0 for Monday to 6 |

The text is one that is `Readable`.
"""

import html
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Literal

from msgspec import Struct

from areopage.gate.reading.ordinals import ordinals
from areopage.text import DIGITS, MONEY, MONEY_SIGNS, decimal_of, matches_at

IdentifierKind = Literal["contact", "code", "number", "weekday"]

# Every quantifier is bounded, or possessive and begun only where a token begins: a hostile text costs no more than its length.
_GAP = r"[ .\u00a0\u202f\u2009\u2010\u2011()-]"
_TOPS = (
    "fr|com|org|net|eu|be|ch|ca|lu|uk|de|es|it|io|gov|edu|int|info|us|nl|pt|pl|dk|ie|au|nz|jp|br|mx|tv|ai|biz|dev|app|xyz"
    "|online|site|shop|store|cloud|bank|tech|blog|example"
)
_MAIL = re.compile(r"(?<![\w.%+-])[\w.%+-]{1,64}+@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_LINK = re.compile(
    rf"(?<![\w@.-])(?:(?:https?://|www\.)[^\s<>()\[\]\"'«»]{{1,500}}"
    rf"|(?:[a-z0-9-]{{1,63}}\.){{1,6}}(?:{_TOPS})(?![\w-])(?:/[^\s<>()\[\]\"'«»]{{0,300}})?)",
    re.IGNORECASE,
)
# Where the target of a link stands in Markdown and HTML; a pair of brackets may belong to it.
_TARGET = re.compile(
    r"(?:\(|<|\b(?:href|src)\s{0,3}=\s{0,3}[\"']?|(?:\]"
    r"|^[ \t]{0,80}):[ \t]{1,3})<?[ \t]{0,3}(?P<target>[^\s<>()\"']{2,500}(?:\([^()\s]{0,200}\)?)?)",
    re.IGNORECASE | re.MULTILINE,
)
_LEADS = re.compile(r"[\\/]{2}|https?:|ftp:|javascript:|vbscript:|data:[a-z]+/|file:[\\/]|blob:|intent:")
_TOP = re.compile(rf"\.(?:{_TOPS})(?!\w)")
_MANY_DIGITS = re.compile(rf"[0-9](?:{_GAP}{{0,3}}[0-9]){{6}}")
_FEW_DIGITS = re.compile(rf"[0-9](?:{_GAP}{{0,3}}[0-9]){{4}}")
_IBAN = re.compile(r"(?<![\w])[A-Z]{2}[0-9]{2}(?:[ \u00a0]?[A-Z0-9]{4}){2,7}(?:[ \u00a0]?[A-Z0-9]{1,3})?(?!\w)")
_PHONE = re.compile(rf"(?<![\w.,/-])(?:\+[0-9]{{1,3}}|\(?0[0-9]?)(?:{_GAP}{{0,3}}[0-9]){{8,12}}(?![\w]|[.,][0-9])")
# Digits in groups after a word such as "call": a number that may have lost its beginning or its end.
_GROUPED = re.compile(r"(?<![\w.,/-])\+?\(?[0-9]{1,4}\)?(?:[ \u00a0\u202f.-][0-9]{2,4}){2,8}(?![\w]|[.,/-][0-9])")
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:[^0-9][0-9]{3})+")
_DATE_LIKE = re.compile(r"[0-9]{1,2}[.-][0-9]{1,2}[.-][0-9]{2,4}|[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CALLED = re.compile(
    r"t[ée]l|phone|appel|call|fax|num[ée]ro|number|compte|account|carte|card|iban|n°|r[ée]f|siret|siren|mobile|portable|contact|joign",
    re.IGNORECASE,
)
_LOCAL = re.compile(r"(?<![\w.,/-])[0-9]{3}[-.][0-9]{4}(?![\w]|[.,/-][0-9])")
_BEFORE_CALLED = 40  # characters before a number in which such a word may stand
_CODE = re.compile(
    r"(?<![\w.,/°-])(?:[A-Z]{1,8}[-_/.]?[0-9][A-Z0-9]{0,12}(?:[-_/.][A-Z0-9]{1,12}){0,4}"
    r"|[vV]?[0-9]{1,6}(?:\.[0-9]{1,6}){2,4})(?![\w])"
)
# What stands for an amount and is no number that is read: 3S0 euros, 0x15e euros, digits without end, Chinese numerals.
_UNREAD_AMOUNT = re.compile(
    r"(?<![\w.,])(?:[0-9]{1,12}(?:[a-gi-wyzA-GI-WYZ][0-9]{1,8}){1,4}[a-zA-Z]{0,2}|0[xX][0-9a-fA-F]{1,16}|[0-9]{1,12}[OoSl]"
    r"|[0-9]{16,}+|[〇零一二三四五六七八九十百千万億亿兩两]{1,20}+)"
    rf"(?=[ \u00a0\u202f]{{0,2}}(?:[{MONEY_SIGNS}]|(?i:{'|'.join(MONEY.values())})(?!\w)))"
)
_RATIO = re.compile(r"(?<![\w.,:/-])(?P<first>[0-9]{1,4})[ \u00a0]?:[ \u00a0]?(?P<second>[0-9]{1,4})(?![\w:/]|[.,][0-9])")
_DIGITS = (
    r"(?:[0-9]{1,3}(?:[ \u00a0\u202f\u2009'’][0-9]{3}(?![0-9])){1,5}(?:[.,][0-9]{1,12})?"
    r"|[0-9]{1,15}(?:[.,][0-9]{1,12}){0,5})"
    r"(?![0-9]|[.,/][0-9])"
)
_NUMBER = re.compile(rf"(?<![\w.,/:^°])(?<![\w.,/:^°)]-){_DIGITS}")
_RANGE_END = re.compile(r"(?<![\w.,/:-])[0-9]{1,5}[-–](?P<last>[0-9]{1,5})(?![\w/:-]|[.,][0-9]|[ \u00a0][0-9]{3}(?![0-9]))")
FRACTION = re.compile(
    r"(?<![\w.,/-])(?P<part>[0-9]{1,5})[ \u00a0]?(?:[/\u2044][ \u00a0]?(?P<whole>10{1,5}|[2-9])(?:e|è|ème|ième|th)?s?"
    r"|\u2044(?P<parts>[0-9]{2,4}))(?![\w/])"
)
"""A number of parts and how many parts there are: 2/3, 9/10."""
# "Step 1/3", "page 1/2" and "(1/2)" at the end of a line number something.
_NUMBERED = re.compile(r"(?:[ée]tapes?|steps?|part(?:ie)?s?|pages?|phases?|slides?|n°|no\.|volets?)[ \u00a0]\Z", re.IGNORECASE)
_NUMBERED_LINE = re.compile(r"\)[ \t*:]*(?:\n|\Z)")
_LIST_MARKS = " \t*#>|-"
_MOST_LIST_MARKS = 8
_BEFORE_UNIT = " \u00a0\u202f\u2009-"
_ENDS_LISTED = re.compile(r"[.):°-](?:\s|\Z)|[ \t]{0,3}(?:\n|\Z)|[ \t]?[-–:|]")
# What a small number says exactly, other than how many things there are.
_LOCATING = re.compile(
    r"(?:\b(?:pages?|lines?|forms?|lignes?|formulaires?|cases?|box|versions?|rooms?|salles?|bureaux?|floors?"
    r"|[ée]tages?|chapters?"
    r"|chapitres?|annexes?|appendix|lots?|quais?|gates?|niveaux?|levels?|class(?:e|es)?|cat[ée]gories?|num[ée]ro"
    r"|number|clauses?|zones?|no\.|n°)"
    r"[ \u00a0]{0,2})\Z",
    re.IGNORECASE,
)
SMALL = 12
"""Up to which a number without a unit may count what the answer lists."""
_SPELLINGS = {
    "<metre>": ("mètre", "mètres", "metre", "metres", "meter", "meters"),
    "<litre>": ("litre", "litres", "liters"),
    "<mile>": ("mile", "miles"),
    "<sign>": ("°", "º", "˚"),
    "<degree>": ("degrés", "degrees", "degré", "degree"),
    "<per_minute>": ("_par_minute", "_per_minute", "/minute"),
    "<per_hour>": ("_par_heure", "_per_hour", "-heure", "/heure", "_à_l'heure", "_à_l’heure"),
}
# By kind and size, the writings of a unit: "_" is a space, a word in brackets stands for its spellings.
_UNITS: Mapping[str, Mapping[int | Decimal, str]] = {
    "mass": {
        10**6: "t tonne tonnes tons metric_tons",
        1000: "kg kilo kilos kilogramme kilogrammes kilogram kilograms",
        1: "g gramme grammes gram grams",
        Decimal("0.001"): "mg milligramme milligrammes milligram milligrams",
        Decimal("0.000001"): "µg μg mcg microgrammes micrograms",
    },
    "length": {
        10**6: "km kilo<metre>",
        1000: "m <metre>",
        10: "cm centi<metre>",
        1: "mm milli<metre>",
        1609344: "<mile>",
        Decimal("304.8"): "foot feet",
        Decimal("25.4"): "inch inches",
    },
    "speed": {
        1: "km/h kmh kilo<metre><per_hour>",
        Decimal("1.609344"): "mph <mile><per_hour>",
        Decimal("3.6"): "m/s <metre>_par_seconde <metre>_per_second",
    },
    "tension": {1000: "kv kilovolts", 1: "v volt volts", Decimal("0.001"): "mv"},
    "current": {1000: "a ampère ampères amps", 1: "ma"},
    "power": {10**6: "mw mégawatts megawatts", 1000: "kw kilowatts", 1: "w watt watts", Decimal("0.001"): "mW milliwatts"},
    "energy": {
        10**6: "mwh",
        1000: "kwh kilowattheure kilowattheures kilowatt-heures kilowatt_hours kilowatt-hours",
        1: "wh",
    },
    "volume": {
        10**6: "m³ m3 <metre>_cube <metre>_cubes cubic_<metre>",
        1000: "l <litre>",
        10: "cl centilitres centiliters",
        1: "ml millilitres milliliters",
    },
    "flow": {1: "l/min <litre><per_minute>", Decimal(1) / 60: "l/h <litre><per_hour>", 60: "l/s"},
    # Each scale is a kind of its own: no factor converts one to another.
    "degree": {1: "° <degree> deg"},
    "celsius": {1: "<sign>c <sign>_c ℃ c <degree>_celsius <degree>_centigrade <degree>_c deg_c"},
    "fahrenheit": {1: "<sign>f <sign>_f ℉ f <degree>_fahrenheit <degree>_f deg_f"},
    "kelvin": {1: "_k <sign>k kelvin kelvins"},
    "area": {
        10**4: "ha hectare hectares",
        1: "m² m2 sq_m sqm <metre>_carré <metre>_carrés square_<metre>",
        10**6: "km² km2 kilo<metre>_carré kilo<metre>_carrés square_kilo<metre>",
    },
    "data": {10**6: "to tb téraoctets terabytes", 1000: "go gb gigaoctets gigabytes", 1: "mo mb mégaoctets megabytes"},
    "pressure": {1: "bar bars"},
    "frequency": {10**6: "ghz", 1000: "mhz", 1: "khz", Decimal("0.001"): "hz"},
    "sound": {1: "db"},
    "turning": {1: "tr/min rpm"},
    "time": {1: "s sec seconde secondes second seconds", Decimal("0.001"): "ms millisecondes milliseconds"},
}


def _spelled(unit: str) -> list[str]:
    for name, words in _SPELLINGS.items():
        if name in unit:
            return [spelled for word in words for spelled in _spelled(unit.replace(name, word))]
    return [unit.replace("_", " ")]


_KINDS = {
    spelled: (kind, Decimal(size))
    for kind, units in _UNITS.items()
    for size, written in units.items()
    for unit in written.split()
    for spelled in _spelled(unit)
}
_MEASURED = re.compile(
    r"[ \u00a0\u202f\u2009-]{0,2}(?P<unit>"
    + "|".join(map(re.escape, sorted(_KINDS, key=len, reverse=True))).replace(r"\ ", "[ \u00a0\u202f\u2009]")
    + r")(?![\w/²³'’])",
    re.IGNORECASE,
)
_SPACE = re.compile("[\u00a0\u202f\u2009]")
# What the first letters of units are; most words behind numbers begin with none of them.
_UNIT_BEGINS = frozenset(unit.lstrip()[0].lower() for unit in _KINDS)
_RANGED = re.compile(rf"[ \u00a0]?(?:à|et|ou|to|and|or|-|–)[ \u00a0]?-?{_DIGITS}")
_STREET = (
    r"rue|avenue|av\.?|boulevard|bd|place|quai|chemin|ch\.|allées?|impasse|imp\.|cours|route|square|passage"
    "|esplanade|faubourg|ruelle|sentier"
)
_STREETS = (
    "Road|Rd|Street|St|Avenue|Ave|Lane|Ln|Square|Sq|Drive|Dr|Parade|Close|Court|Ct|Place|Terrace|Way|Crescent|Gardens|Hill|Row|Walk"
    "|Quay|Boulevard|Blvd|Mews|Grove|Park|Wharf|Yard|Gate|Green"
)
_PROPER = r"[A-ZÀ-Þ](?:\w{0,3}\.|[\w'’-]{0,30})"
# The number of a house with its street: the last word of the street's name identifies it.
_ADDRESS = re.compile(
    r"(?<![\w.,/-])(?P<number>[0-9]{1,4})(?:[ \u00a0]?(?P<more>bis|ter|quater|[A-D])(?!\w))?,?[ \u00a0]"
    rf"(?!av\.?[ \u00a0]?J\.?-?C)(?:(?i:{_STREET})[ \u00a0](?:(?:de|du|des|la|le|les)[ \u00a0]|[ld]['’]){{0,3}}"
    rf"(?:{_PROPER}[ \u00a0]){{0,3}}(?P<street>{_PROPER})"
    rf"|(?:{_PROPER}[ \u00a0]){{0,3}}(?P<street2>{_PROPER})[ \u00a0](?:{_STREETS})(?!\w))"
)
ADDRESS, AMOUNT = "address", "amount"
_HOUR = re.compile(r"(?<![\w.,:/-])(?P<hour>[0-9]{1,2})(?:[.:h](?P<minute>[0-5][0-9]))?[ \u00a0]?(?P<half>[ap])\.?m\b")
ORDINAL = "ordinal"
# Short ones are units only as they are written: "5 A", not "5 a day".
_SHORT = "V A W mA mV kV kW MW L l m g t To Go Mo TB GB MB ha cm mm km kg mg cl ml dB Hz Wh mW C F K ºC ºF ºK s ms"
_AS_WRITTEN = frozenset(_SHORT.split())

_WEEKDAYS = {
    name: day
    for words in (
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "monday tuesday wednesday thursday friday saturday sunday",
    )
    for day, name in enumerate(words.split())
}
_WEEKDAY = re.compile(rf"(?<!\w)(?P<day>{'|'.join(_WEEKDAYS)})s?(?!\w)")


class Identifier(Struct, frozen=True, kw_only=True):
    """Something that is named exactly; the module's docstring describes `value`. `factor` is the size of a number's unit."""

    kind: IdentifierKind
    value: str
    text: str
    start: int
    end: int
    unit: str = ""
    factor: Decimal = Decimal(1)


def contacts(text: str) -> Iterator[Identifier]:
    """E-mail addresses, links, domains, telephone numbers and IBANs."""
    if "@" in text or "://" in text or "www." in text or _TOP.search(text):
        for match in _MAIL.finditer(text) if "@" in text else ():
            yield _made("contact", match, match.group().rstrip(".-").lower())
        for match in _LINK.finditer(text):
            yield _made("contact", match, link_value(match.group()))
    yield from _targets(text)
    if _MANY_DIGITS.search(text):
        for match in _IBAN.finditer(text):
            yield _made("contact", match, squashed(match.group()))
        for match in _PHONE.finditer(text):
            yield _made("contact", match, phone_value(match.group()))
    for match in _GROUPED.finditer(text) if _FEW_DIGITS.search(text) else ():
        written = match.group()
        if _THOUSANDS.fullmatch(written) or _DATE_LIKE.fullmatch(written):
            continue
        called = _CALLED.search(text, max(0, match.start() - _BEFORE_CALLED), match.start())
        if called or written[0] in "+(0":
            yield _made("contact", match, phone_value(written))
    for match in _LOCAL.finditer(text):  # 555-0123: no range of numbers ends in one that begins with a zero
        if match.group()[4] == "0":
            yield _made("contact", match, phone_value(match.group()))


def _targets(text: str) -> Iterator[Identifier]:
    """Targets of links that lead elsewhere or run a script, in whatever writing a browser understands: //host, javascript:"""
    if not any(sign in text for sign in ("//", "\\\\", "\\/", "/\\", ":", "&")):
        return
    for match in _TARGET.finditer(text):
        written = match["target"]
        target = "".join(html.unescape(written).split()) if "&" in written else written
        if _LEADS.match(target.lower()):
            start, end = match.span("target")
            value = link_value(target.replace("\\", "/")).lstrip("/")
            yield Identifier(kind="contact", value=value, text=written, start=start, end=end)


def identifiers(text: str, low: str) -> list[Identifier]:
    """All of them, none inside another: contacts before codes, measures before bare numbers. Not in order."""
    free = bytearray(len(text))
    free_standing: list[Identifier] = []
    starts = [match.start() for match in DIGITS.finditer(text)]
    addresses = [
        _made("number", match, match["number"] + (match["more"] or "").lower(), ADDRESS)
        for match in matches_at(_ADDRESS, text, starts)
    ]
    numbered = [
        Identifier(
            kind="number",
            value=str(ordinal.value),
            text=text[ordinal.start : ordinal.end],
            start=ordinal.start,
            end=ordinal.end,
            unit=ORDINAL,
        )
        for ordinal in ordinals(text)
    ]
    for identifier in itertools.chain(
        contacts(text), addresses, codes(text) if starts or not text.isascii() else (), numbered, numbers(text, starts)
    ):
        if not any(free[identifier.start : identifier.end]):
            free[identifier.start : identifier.end] = b"\1" * (identifier.end - identifier.start)
            free_standing.append(identifier)
    return [*free_standing, *weekdays(text, low)]


def link_value(written: str) -> str:
    """A link without what two writings of it may differ in."""
    low = written.lower().rstrip(".,;:!?*_/")
    return low.partition("://")[2].removeprefix("www.") if "://" in low else low.removeprefix("www.")


def squashed(written: str) -> str:
    """The letters and digits of a text alone, in upper case."""
    return "".join([sign for sign in written if sign.isalnum()]).upper()


def phone_value(written: str) -> str:
    """The digits of a telephone number without a country code."""
    digits = squashed(re.sub(r"\(0\)", "", written))
    return digits[2:] if written.startswith("+") else digits.lstrip("0")


def codes(text: str) -> Iterator[Identifier]:
    """Names of things that are made of letters and digits, and versions."""
    for match in _CODE.finditer(text):
        if not _THOUSANDS.fullmatch(match.group()):
            yield _made("code", match, squashed(match.group()))
    for match in _UNREAD_AMOUNT.finditer(text):
        yield _made("code", match, squashed(match.group()), AMOUNT)


def numbers(text: str, starts: Sequence[int]) -> Iterator[Identifier]:
    """Ratios, and bare numbers but small ones that only count, the numbers of lists and ordinals; digits begin at `starts`."""
    for match in matches_at(_HOUR, text, starts):
        hour = int(match["hour"]) % 12 + (12 if match["half"] == "p" else 0)
        yield _made("number", match, f"{hour}:{int(match['minute'] or 0):02}")
    for match in matches_at(_RATIO, text, starts):
        yield _made("number", match, f"{int(match['first'])}:{int(match['second'])}")
    for match, share in fractions(text, starts):
        yield _made("number", match, f"{share:f}", *unit_after(text, match.end()))
    for match in matches_at(_NUMBER, text, starts):
        unit, factor = unit_after(text, match.end())
        if not unit and (text[match.end() : match.end() + 1].isalpha() or _lists(text, match)):
            continue
        value = decimal_of(match.group())
        if unit or value > SMALL or value != int(value) or _LOCATING.search(text, max(0, match.start() - 20), match.start()):
            yield _made("number", match, f"{value:f}", unit, factor)
    for match in matches_at(_RANGE_END, text, starts):  # pages 12-15, 15-20 pupils
        start, end = match.span("last")
        unit, factor = unit_after(text, end)
        last = int(match["last"])
        if unit or last > SMALL or _LOCATING.search(text, max(0, match.start() - 20), match.start()):
            yield Identifier(kind="number", value=str(last), text=match["last"], start=start, end=end, unit=unit, factor=factor)


def fractions(text: str, starts: Sequence[int]) -> Iterator[tuple[re.Match[str], Decimal]]:
    """The proper fractions of a text, "2/3", with their values in four decimals as the sign "⅔" is read."""
    for match in matches_at(FRACTION, text, starts) if "/" in text or "\u2044" in text else ():
        part, whole = int(match["part"]), int(match["whole"] or match["parts"])
        before = text[max(0, match.start() - 20) : match.start()]
        numbered = _NUMBERED.search(before) or (before.endswith("(") and _NUMBERED_LINE.match(text, match.end()))
        if 0 < part < whole and not numbered:
            yield match, in_decimals(Decimal(part) / whole)


def in_decimals(share: Decimal) -> Decimal:
    """A share of one in four decimals."""
    return share.quantize(Decimal("0.0001")).normalize()


def street_of(address: str) -> str:
    """The word that tells the street of an address from others."""
    match = _ADDRESS.search(address)
    return (match["street"] or match["street2"]).rstrip(".") if match else ""


def _lists(text: str, match: re.Match[str]) -> bool:
    start = match.start()
    if len(match.group()) > 2 or (start and text[start - 1] != "\n" and text[start - 1] not in _LIST_MARKS):
        return False
    line = text[max(0, start - _MOST_LIST_MARKS - 1) : start].rstrip(_LIST_MARKS)
    begins = line.endswith("\n") or (not line and start <= _MOST_LIST_MARKS)
    return begins and _ENDS_LISTED.match(text, match.end()) is not None


def unit_after(text: str, end: int) -> tuple[str, Decimal]:
    """The kind and the size of the unit behind a number, or behind the range that it begins; "" and 1 for none."""
    ranged = _RANGED.match(text, end)
    for at in (end, ranged.end()) if ranged else (end,):
        begins = text[at : at + 3].lstrip(_BEFORE_UNIT)[:1].lower() in _UNIT_BEGINS
        match = _MEASURED.match(text, at) if begins else None
        if match:
            written = _SPACE.sub(" ", match["unit"])
            short = written.strip()
            if text[match.start() - 1 : match.end()] == "0s":
                continue  # the 1980s
            if len(short) > 2 or short in _AS_WRITTEN or not short.isalpha():
                return _KINDS.get(written) or _KINDS[written.lower()]
    return "", Decimal(1)


def same_measure(kind: str, other: str) -> bool:
    """Whether two kinds of unit may measure the same; a degree without its scale may be of Celsius or Fahrenheit."""
    return kind == other or ("degree" in (kind, other) and not {kind, other}.isdisjoint(("celsius", "fahrenheit")))


def units_like(kind: str) -> Iterator[Decimal]:
    """The sizes of the units of a kind, each once."""
    yield from dict.fromkeys(Decimal(factor) for factor in _UNITS[kind])


def weekdays(text: str, low: str) -> Iterator[Identifier]:
    """Days of the week; `low` is the text in lower case."""
    for match in _WEEKDAY.finditer(low) if any(day in low for day in _WEEKDAYS) else ():
        start, end = match.span()
        yield Identifier(kind="weekday", value=str(_WEEKDAYS[match["day"]]), text=text[start:end], start=start, end=end)


def _made(kind: IdentifierKind, match: re.Match[str], value: str, unit: str = "", factor: Decimal = Decimal(1)) -> Identifier:
    return Identifier(kind=kind, value=value, text=match.group(), start=match.start(), end=match.end(), unit=unit, factor=factor)
