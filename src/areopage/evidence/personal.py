"""Take personal data out of a text, in English and French; linear in the text.

| tag | taken out |
|---|---|
| `[EMAIL]` | addresses, also with (at) |
| `[IBAN]` | of any country of the register, in any grouping; the checksum is verified |
| `[CARD]` | payment cards of 15 and 16 digits; the check digit is verified (Luhn) |
| `[SSN]` | French social-security numbers with their key, which is verified |
| `[PHONE]` | French numbers in any writing, international ones (+ or 00), British and North American ones |
| `[NAME]` | names behind a title (M., Mme, Maître, Dr, Mr ...), behind "je m'appelle", "my name is", "Nom :" ..., and a common first name followed by capitalised words (Jean Dupont), or behind one in capitals (DUPONT Jean) |

Numbers are recognised by their form and their checksum, so that articles, laws, dates and amounts stay. Names are recognised by
rules of thumb: a rare first name without a title stays, and now and then a capitalised word that is no name goes.
A text that was redacted stays as it is when it is redacted again.
"""  # noqa: E501 - a table's row is one line

import re

from areopage.evidence.first_names import FIRST_NAMES
from areopage.evidence.plain import plain

EMAIL, IBAN, CARD, SSN, PHONE, NAME = "[EMAIL]", "[IBAN]", "[CARD]", "[SSN]", "[PHONE]", "[NAME]"

# Every quantifier is bounded, or possessive and begun only where a token begins: a hostile text costs no more than its length.
_S = r"[ \t\u00a0\u202f\u2009]"
_GAP = r"[ .\-\u00a0\u202f\u2009\u2010\u2011]"

_EMAIL = re.compile(
    rf"(?<![\w.%+-])[\w.%+-]++(?:@|{_S}?[(\[](?:at|arobase)[)\]]{_S}?)(?:[^\W_](?:[\w-]{{0,61}}[^\W_])?\.){{1,8}}[^\W\d_]{{2,24}}",
    re.IGNORECASE,
)

_IBAN_START = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}")
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

_CARD = re.compile(
    rf"(?<![\w.,])(?:[2456][0-9]{{3}}(?P<gap>{_GAP}?)[0-9]{{4}}(?P=gap)[0-9]{{4}}(?P=gap)[0-9]{{4}}"
    rf"|3[47][0-9]{{2}}(?P<wide>{_GAP}?)[0-9]{{6}}(?P=wide)[0-9]{{5}})(?![\w])"
)
_SSN = re.compile(
    rf"(?<![\w.,])(?P<sex>[1278]){_GAP}?(?P<year>[0-9]{{2}}){_GAP}?(?P<month>[0-9]{{2}}){_GAP}?(?P<place>[0-9]{{2}}|2[ABab])"
    rf"{_GAP}?(?P<town>[0-9]{{3}}){_GAP}?(?P<birth>[0-9]{{3}}){_GAP}?(?P<key>[0-9]{{2}})(?!\w)"
)

# What makes a number a quantity: +12 000 000 € is no telephone.
_NO_QUANTITY = (
    rf"(?![\w])(?![.,/-][0-9])(?!{_S}{{0,2}}(?:[%€$£]|(?:euros?|eur|usd|gbp|chf|dollars?|pounds?|francs?|millions?|milliards?"
    r"|billions?|jours?|days?|mois|months?|ans?|years?|heures?|hours?|m²|km|kg)\b))"
)
_GROUPED = re.compile(rf"\+[0-9]{{1,3}}(?:{_S}[0-9]{{3}})+")
_PHONE = re.compile(
    rf"(?<![\w+])(?<![0-9][.,/-])(?:"
    # +33 (0)1 23 45 67 89, 0033 1..., +1 (202) 555-0143, +4420...
    rf"(?P<abroad>(?:\((?:\+|00)[1-9][0-9]{{0,2}}\)|(?:\+|00{_GAP}?)[1-9][0-9]{{0,2}})(?:{_GAP}?\([0-9]{{1,4}}\))?"
    rf"(?:{_GAP}?[0-9]{{1,12}}){{2,7}})"
    # 01 23 45 67 89 in any writing of pairs, and with other groups
    rf"|0[1-9](?:{_GAP}?[0-9]{{2}}){{4}}|0[1-9](?:/[0-9]{{2}}){{4}}|0[1-9][0-9]?(?:{_GAP}[0-9]{{3}}){{2}}{_GAP}[0-9]{{2}}"
    # 020 7946 0958, 0121 496 0123, 07700 900123, 07700 900 123
    rf"|\(?0[12][0-9]\)?{_GAP}[0-9]{{4}}{_GAP}?[0-9]{{4}}|\(?01[0-9]{{2}}\)?{_GAP}[0-9]{{3}}{_GAP}?[0-9]{{4}}"
    rf"|\(?0[1-9][0-9]{{3}}\)?{_GAP}[0-9]{{3}}{_GAP}?[0-9]{{3}}"
    # (202) 555-0143, 202-555-0143
    rf"|\([2-9][0-9]{{2}}\){_GAP}?[2-9][0-9]{{2}}{_GAP}[0-9]{{4}}|[2-9][0-9]{{2}}(?P<us>[.-])[2-9][0-9]{{2}}(?P=us)[0-9]{{4}}"
    rf"){_NO_QUANTITY}"
)

_UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĖĘĚĞĢĪİĶĹĻĽŁŃŅŇŌŐŒŔŘŚŞŠŢŤŪŮŰŸŹŻŽ"
_NO_NAME_WORDS = (
    r"(?:Articles?|Art|Section|Code|Loi|Law|Act|Regulations?|Rules?|Order|D[ée]cret|Directive|R[èe]glement|Ordonnance|Avenant"
    r"|Accord|Convention|CCN|Monsieur|Madame|Mademoiselle|Mesdames|Messieurs|Ma[îi]tre|Docteur|Professeur|Mme|Mlle|Mrs|Miss"
    r"|Janvier|F[ée]vrier|Mars|Avril|Juin|Juillet|Ao[ûu]t|Septembre|Octobre|Novembre|D[ée]cembre|January|February|March|April"
    r"|June|July|August|September|October|November|December|Lundi|Mardi|Mercredi|Jeudi|Vendredi|Samedi|Dimanche|Monday|Tuesday"
    r"|Wednesday|Thursday|Friday|Saturday|Sunday|IBAN|EMAIL|PHONE|CARD|SSN|NAME)"
)
_WORD = rf"(?!(?i:{_NO_NAME_WORDS})\b)(?<![^\W_])[{_UPPER}](?:[^\W\d_]{{0,30}}+(?:['’-][^\W\d_]{{1,30}}+){{0,3}}+|\.)(?![\w])"
_LINK = rf"(?:(?:(?:de|du|des|la|le|van|von|der|den|ten|el|al|ben|bin|di|da|dos){_S}){{1,2}}|d['’])"
_TITLED = re.compile(
    r"(?<![\w.])(?P<title>(?:Monsieur|Madame|Mademoiselle|Ma[îi]tre|Docteur|Professeur|Doctor|Professor|MONSIEUR|MADAME|MA[ÎI]TRE"
    rf"|(?:Mmes?|MMES?|Mlles?|MM|Me|ME|Mes|Drs?|DR|Pr|Prof|Mrs?|MRS?|Ms|Miss|Mx)\.?|M\.){_S}{{1,2}})"
    rf"(?P<name>{_LINK}?{_WORD}(?:{_S}{_LINK}?{_WORD}){{0,3}})"
)
_STOP = (
    r"(?:et|ou|and|or|but|mais|je|j|i|im|ai|suis|am|is|est|a|an|the|un|une|le|la|les|l|de|des|du|d|mon|ma|mes|my|in|at|from|with|to|for|pour"
    r"|avec|chez|sur|dans|depuis|que|qui|who|which|so|donc|car|not|pas|very|tr[èe]s|plus|here|ici|on|by|par|en|comment|what|how)"
)  # fmt: skip
_ANY_WORD = r"(?<![\w])[^\W\d_]{1,30}+(?:['’-][^\W\d_]{1,30}+){0,3}+(?!\w)"
_INTRODUCED = re.compile(
    rf"(?<!\w)(?P<lead>(?i:je{_S}m['’]appelle|il{_S}s['’]appelle|elle{_S}s['’]appelle|mon{_S}nom{_S}(?:complet{_S})?est"
    rf"|mon{_S}pr[ée]nom{_S}est|appelez-moi|my{_S}(?:full{_S}|first{_S}|last{_S})?name{_S}is|my{_S}name['’]s"
    rf"|(?:i{_S}am|i['’]m){_S}called|(?:he|she){_S}is{_S}called"
    rf"|(?:nom(?:{_S}de{_S}famille)?|pr[ée]noms?|nom{_S}et{_S}pr[ée]nom|(?:full{_S}|first{_S}|last{_S})?name|surname){_S}?:)"
    rf"{_S}{{1,2}})(?P<name>(?!(?i:{_STOP})\b){_ANY_WORD}(?:{_S}(?i:{_LINK})?(?!(?i:{_STOP})\b){_ANY_WORD}){{0,2}})"
)
_CAPITALISED = re.compile(rf"{_WORD}(?:{_S}{_LINK}?{_WORD})++")
_ONE_WORD = re.compile(_WORD)
_LONGEST_NAME = 4


def redact(text: str) -> str:
    """The text with a tag in place of each piece of personal data that is found; see the module's table."""
    if "@" in text or "at" in text or "arobase" in text:
        text = _EMAIL.sub(EMAIL, text)
    text = _without_ibans(text)
    text = _CARD.sub(lambda match: CARD if _luhn(match.group()) else match.group(), text)
    text = _SSN.sub(lambda match: SSN if _keyed(match) else match.group(), text)
    text = _PHONE.sub(_phone, text)
    text = _TITLED.sub(lambda match: match["title"] + NAME, text)
    text = _INTRODUCED.sub(lambda match: match["lead"] + NAME, text)
    return _CAPITALISED.sub(_with_first_name, text)


def _without_ibans(text: str) -> str:
    """The text without the IBANs whose checksum is right."""
    parts: list[str] = []
    done = 0
    for start in _IBAN_START.finditer(text):
        end = _iban_end(text, start.start()) if start.start() >= done else None
        if end is not None:
            parts += [text[done : start.start()], IBAN]
            done = end
    return "".join([*parts, text[done:]])


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


def _luhn(written: str) -> bool:
    """Whether the check digit of a card's number is right."""
    digits = [int(sign) for sign in reversed(written) if sign.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _keyed(match: re.Match[str]) -> bool:
    """Whether the key of a social-security number is right; Corsica's departments count as 19 and 18."""
    place = {"2A": "19", "2B": "18"}.get(match["place"].upper(), match["place"])
    number = int(match["sex"] + match["year"] + match["month"] + place + match["town"] + match["birth"])
    return int(match["key"]) == 97 - number % 97


def _phone(match: re.Match[str]) -> str:
    """The tag, or the number as it stands where its digits are too few or too many, or grouped as a quantity's are."""
    written = match.group()
    digits = sum(sign.isdigit() for sign in written)
    if match["abroad"] and (not 8 <= digits <= 17 or _GROUPED.fullmatch(written)):
        return written
    return PHONE


def _with_first_name(match: re.Match[str]) -> str:
    """A run of capitalised words with the tag in place of each first name and what belongs to it."""
    text, words = match.group(), list(_ONE_WORD.finditer(match.group()))
    parts: list[str] = []
    done = index = 0
    while index < len(words) - 1:
        first, last = _name_at(words, index)
        if last is None:
            index += 1
            continue
        parts += [text[done : words[first].start()], NAME]
        done, index = words[last].end(), last + 1
    return "".join([*parts, text[done:]])


def _name_at(words: list[re.Match[str]], index: int) -> tuple[int, int | None]:
    """The first and last word of the name that begins at a word; the last is None where none does."""
    word = words[index].group()
    if _is_first_name(word):
        # in a text all in capitals nothing tells where a name ends
        reach = 1 if word.isupper() else _LONGEST_NAME - 1
        return index, min(index + reach, len(words) - 1)
    if word.isupper() and len(word) > 2 and _is_first_name(words[index + 1].group()):
        return index, index + 1
    return index, None


def _is_first_name(word: str) -> bool:
    """Whether a word, or the first part of Jean-Pierre, is a common first name."""
    return plain(word).split(" ", 1)[0] in FIRST_NAMES
