"""Take personal data out of a text, in English and French; linear in the text.

| tag | taken out |
|---|---|
| `[EMAIL]` | addresses, also with (at) |
| `[IBAN]` | of any country of the register, in any grouping; the checksum is verified |
| `[CARD]` | payment cards of 15 and 16 digits; the check digit is verified (Luhn) |
| `[SSN]` | French social-security numbers with their key, which is verified |
| `[PHONE]` | French numbers in any writing, international ones (+ or 00), British and North American ones |
| `[NAME]` | names of people, see `personal_names` |

Numbers are recognised by their form and their checksum, so that articles, laws, dates and amounts stay. Names are recognised by
rules of thumb: a rare first name without a title stays, and now and then a capitalised word that is no name goes.
A text that was redacted stays as it is when it is redacted again.
"""

import re
from collections.abc import Iterator

from areopage.text.personal_names import without_names

EMAIL, IBAN, CARD, SSN, PHONE = "[EMAIL]", "[IBAN]", "[CARD]", "[SSN]", "[PHONE]"

# Every quantifier is bounded, or possessive and begun only where a token begins: a hostile text costs no more than its length.
_S = r"[ \t\u00a0\u202f\u2009]"
_GAP_SIGNS = r" .\-\u00a0\u202f\u2009\u2010\u2011"
_GAP = f"[{_GAP_SIGNS}]"

_AT = re.compile(r"@|[(\[](?:at|arobase)[)\]]", re.IGNORECASE)
_EMAIL = re.compile(
    rf"(?<![\w.%+-])[\w.%+-]++(?:@|{_S}?[(\[](?:at|arobase)[)\]]{_S}?)(?:[^\W_](?:[\w-]{{0,61}}[^\W_])?\.){{1,8}}[^\W\d_]{{2,24}}",
    re.IGNORECASE,
)

_IBAN_START = re.compile(r"[A-Za-z]{2}(?<![A-Za-z0-9]..)[0-9]{2}")
_IBAN_SIGN = re.compile(rf"{_GAP}?([A-Za-z0-9])")
# The length of each country's IBAN (register of ISO 13616).
_IBAN_LENGTHS = {
    code: length
    for length, codes in {
        15: "NO", 16: "BE", 18: "DK FI FO GL NL SD", 19: "MK SI", 20: "AT BA EE KZ LT LU MN XK", 21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ OM SO TL", 24: "AD CZ ES MD PK RO SA SE SK TN VG", 25: "LY PT ST",
        26: "IS TR", 27: "BI DJ FR GR IT MC MR SM", 28: "AL AZ BY CY DO GT HU LB NI PL SV", 29: "BR EG PS QA UA",
        30: "JO KW MU", 31: "MT SC", 32: "LC", 33: "RU",
    }.items()
    for code in codes.split()
}  # fmt: skip

# Where digits are few there is no number of a person: the finer patterns are tried in such stretches only.
_STRETCH = re.compile(rf"[0-9+(][0-9+()/ABab{_GAP_SIGNS}]{{6,}}+")
_CARD = (
    rf"(?P<card>(?<![\w.,])(?:[2456][0-9]{{3}}(?P<gap>{_GAP}?)[0-9]{{4}}(?P=gap)[0-9]{{4}}(?P=gap)[0-9]{{4}}"
    rf"|3[47][0-9]{{2}}(?P<wide>{_GAP}?)[0-9]{{6}}(?P=wide)[0-9]{{5}})(?!\w))"
)
_SSN = (
    rf"(?P<ssn>(?<![\w.,])(?P<born>[1278](?:{_GAP}?[0-9]{{2}}){{2}}){_GAP}?(?P<place>[0-9]{{2}}|2[ABab])"
    rf"(?P<rank>(?:{_GAP}?[0-9]{{3}}){{2}}){_GAP}?(?P<key>[0-9]{{2}})(?!\w))"
)
# What makes a number a quantity: +12 000 000 € is no telephone.
_NO_QUANTITY = (
    rf"(?!\w)(?![.,/-][0-9])(?!{_S}{{0,2}}(?:[%€$£]|(?:euros?|eur|usd|gbp|chf|dollars?|pounds?|francs?|millions?|milliards?"
    r"|billions?|jours?|days?|mois|months?|ans?|years?|heures?|hours?|m²|km|kg)\b))"
)
_GROUPED = re.compile(rf"\+[0-9]{{1,3}}(?:{_S}[0-9]{{3}})+")
_PHONE = (
    rf"(?P<phone>(?<![\w+])(?<![0-9][.,/-])(?:"
    # +33 (0)1 23 45 67 89, 0033 1..., +1 (202) 555-0143, +4420...
    rf"(?P<abroad>(?:\((?:\+|00)[1-9][0-9]{{0,2}}\)|(?:\+|(?<![0-9]{_GAP})00{_GAP}?)[1-9][0-9]{{0,2}})(?:{_GAP}?\([0-9]{{1,4}}\))?"
    rf"(?:{_GAP}?[0-9]{{1,12}}){{2,7}})"
    # 01 23 45 67 89 in any writing of pairs, and with other groups
    rf"|0[1-9](?:{_GAP}?[0-9]{{2}}){{4}}|0[1-9](?:/[0-9]{{2}}){{4}}|0[1-9][0-9]?(?:{_GAP}[0-9]{{3}}){{2}}{_GAP}[0-9]{{2}}"
    # 020 7946 0958, 0121 496 0123, 07700 900123, 07700 900 123
    rf"|\(?0[12][0-9]\)?{_GAP}[0-9]{{4}}{_GAP}?[0-9]{{4}}|\(?01[0-9]{{2}}\)?{_GAP}[0-9]{{3}}{_GAP}?[0-9]{{4}}"
    rf"|\(?0[1-9][0-9]{{3}}\)?{_GAP}[0-9]{{3}}{_GAP}?[0-9]{{3}}"
    # (202) 555-0143, 202-555-0143
    rf"|\([2-9][0-9]{{2}}\){_GAP}?[2-9][0-9]{{2}}{_GAP}[0-9]{{4}}|[2-9][0-9]{{2}}(?P<us>[.-])[2-9][0-9]{{2}}(?P=us)[0-9]{{4}}"
    rf"){_NO_QUANTITY})"
)
_NUMBER = re.compile(rf"{_CARD}|{_SSN}|{_PHONE}")
_BEHIND = 16  # characters behind a stretch that tell a quantity


def redact(text: str) -> str:
    """The text with a tag in place of each piece of personal data that is found; see the module's table."""
    if _AT.search(text):
        text = _EMAIL.sub(EMAIL, text)
    text = _replaced(text, _ibans(text))
    text = _replaced(text, _numbers(text))
    return without_names(text)


def _replaced(text: str, found: Iterator[tuple[int, int, str]]) -> str:
    """The text with a tag in place of each span (start, end, tag); they are in order and apart."""
    parts: list[str] = []
    done = 0
    for start, end, tag in found:
        parts += [text[done:start], tag]
        done = end
    return "".join([*parts, text[done:]])


def _ibans(text: str) -> Iterator[tuple[int, int, str]]:
    """The IBANs whose checksum is right."""
    done = 0
    for match in _IBAN_START.finditer(text):
        end = _iban_end(text, match.start()) if match.start() >= done else None
        if end is not None:
            yield match.start(), end, IBAN
            done = end


def _iban_end(text: str, start: int) -> int | None:
    """Where an IBAN ends that begins here; None where none does."""
    length = _IBAN_LENGTHS.get(text[start : start + 2].upper())
    if length is None:
        return None
    signs, end = text[start : start + 4].upper(), start + 4
    while len(signs) < length:
        sign = _IBAN_SIGN.match(text, end)
        if sign is None:
            return None
        signs, end = signs + sign[1].upper(), sign.end()
    if text[end : end + 1].isalnum():
        return None
    number = int("".join(str(int(sign, 36)) for sign in signs[4:] + signs[:4]))
    return end if number % 97 == 1 else None


def _numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """Cards, social-security numbers and telephones."""
    for stretch in _STRETCH.finditer(text):
        position = stretch.start()
        while match := _NUMBER.search(text, position, stretch.end() + _BEHIND):
            if match.start() >= stretch.end():
                break
            tag = _tag(match)
            if tag:
                yield match.start(), match.end(), tag
            position = match.end() if tag else match.start() + 1


def _tag(match: re.Match[str]) -> str:
    """What a number is, "" where its checksum is wrong, or where its digits are those of a quantity."""
    if match["card"]:
        return CARD if _luhn(match["card"]) else ""
    if match["ssn"]:
        return SSN if _keyed(match) else ""
    digits = sum(sign.isdigit() for sign in match["phone"])
    fitting = not match["abroad"] or (8 <= digits <= 17 and not _GROUPED.fullmatch(match["abroad"]))
    return PHONE if fitting else ""


def _luhn(written: str) -> bool:
    """Whether the check digit of a card's number is right."""
    digits = [int(sign) for sign in reversed(written) if sign.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _keyed(match: re.Match[str]) -> bool:
    """Whether the key of a social-security number is right; Corsica's departments count as 19 and 18."""
    place = {"2A": "19", "2B": "18"}.get(match["place"].upper(), match["place"])
    number = int("".join(sign for sign in match["born"] + place + match["rank"] if sign.isdigit()))
    return int(match["key"]) == 97 - number % 97
