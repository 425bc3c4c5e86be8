"""Take personal data out of a text, in English and French; linear in the text.

| tag | taken out |
|---|---|
| `[EMAIL]` | addresses, also with (at) |
| `[IBAN]` | of any country of the register, in any grouping; the checksum is verified |
| `[CARD]` | payment cards of 15 and 16 digits; the check digit is verified (Luhn) |
| `[SSN]` | French social-security numbers with their key, which is verified |
| `[PHONE]` | French numbers in any writing, international ones (+ or 00), British and North American ones |
| `[NAME]` | names of people: behind a title (M., Mme, Maître, Dr, Mr ...), or introduced (je m'appelle, my name is, Nom : ...); |
| | a common first name with the capitalised words behind it (Jean Dupont), or with one in capitals before it (DUPONT Jean) |

Numbers are recognised by their form and their checksum, so that articles, laws, dates and amounts stay. Names are recognised by
rules of thumb: a rare first name without a title stays, and now and then a capitalised word that is no name goes.
A text that was redacted stays as it is when it is redacted again.
"""

import re
from collections.abc import Iterator, Sequence

from areopage.text.folding import plain
from areopage.text.lexicon import ENGLISH_MONTHS, FIRST_NAMES, FRENCH_MONTHS, UNIT_PATTERN
from areopage.text.own_patterns import unhidden, without_matches

_EMAIL_TAG, _IBAN_TAG, _CARD_TAG, _SSN_TAG, _PHONE_TAG, _NAME_TAG = "[EMAIL]", "[IBAN]", "[CARD]", "[SSN]", "[PHONE]", "[NAME]"

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
    rf"(?!\w)(?![.,/-][0-9])(?!{_S}{{0,2}}(?:[%€$£]|{UNIT_PATTERN}|(?:euros?|eur|usd|gbp|chf|dollars?|pounds?|francs?|millions?"
    r"|milliards?|billions?|m²|km|kg)\b))"
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
_BEHIND = 16  # characters behind a stretch that show a quantity


# The look-behind follows the first letter of a word: the search for that letter is faster.
_UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĖĘĚĞĢĪİĶĹĻĽŁŃŅŇŌŐŒŔŘŚŞŠŢŤŪŮŰŸŹŻŽ"
_WORD = rf"[{_UPPER}](?<![\w\[].)(?:\.|[^\W\d_]{{0,30}}+(?:['’-][^\W\d_]{{1,30}}+){{0,3}}+)(?!\w)"
_LINK = rf"(?:(?:de{_S}l[ae]|de|du|des|van{_S}de[rn]|van|von|der|ten|el|al|ben|bin|di|da|dos){_S}|(?:de{_S}l|d)['’])"
_RUN = rf"{_WORD}(?:{_S}{_LINK}?{_WORD})"
_CAPITALISED = re.compile(rf"{_RUN}++")
_ONE_WORD = re.compile(_WORD)

_TITLED = re.compile(
    r"(?P<title>[DMP](?<![\w.\[].)(?:(?<=M)(?:(?:onsieur|ONSIEUR|adame|ADAME|ademoiselle|a[îi]tre|A[ÎI]TRE"
    r"|mes?|MES?|lles?|M|e|E|rs?|RS?|s|iss|x)\.?|\.)|(?<=D)(?:octeur|octor|rs?|R)\.?|(?<=P)(?:rofesseur|rofessor|rof|r)\.?))"
    rf"{_S}{{1,2}}(?P<name>{_LINK}?{_WORD}(?:{_S}{_LINK}?{_WORD}){{0,3}})"
)

_STOP = (
    "et|ou|and|or|but|mais|je|j|i|im|ai|suis|am|is|est|a|an|the|un|une|le|la|les|l|de|des|du|d|mon|ma|mes|my|in|at|from|with|to"
    "|for|pour|avec|chez|sur|dans|depuis|que|qui|who|which|so|donc|car|not|pas|very|tr[èe]s|plus|here|ici|on|by|par|en|comment"
    "|what|how"
)
_ANY_WORD = rf"(?<!\w)(?!(?i:{_STOP})\b)[^\W\d_]{{1,30}}+(?:['’-][^\W\d_]{{1,30}}+){{0,3}}+(?!\w)"
_INTRODUCED = re.compile(
    rf"(?<!\w)(?P<lead>(?i:(?:je{_S}m|il{_S}s|elle{_S}s)['’]appelle|mon{_S}(?:nom|pr[ée]nom){_S}(?:complet{_S})?est|appelez-moi"
    rf"|my{_S}(?:(?:full|first|last){_S})?name(?:{_S}is|['’]s)|(?:i{_S}am|i['’]m|he{_S}is|she{_S}is){_S}called"
    rf"|(?:noms?(?:{_S}de{_S}famille|{_S}et{_S}pr[ée]noms?)?|pr[ée]noms?|(?:(?:full|first|last){_S})?name|surname){_S}?:)"
    rf"{_S}{{1,2}})(?P<name>{_ANY_WORD}(?:{_S}{_LINK}?{_ANY_WORD}){{0,2}})"
)
_INTRODUCTIONS = ("appel", "nom", "name", "called")

# Capitalised words that end a name, in their plain form; then those that are part of one (Le Goff), and never its end.
_NO_NAMES = """
article articles art section code loi law act regulation regulations rules order decret directive reglement ordonnance avenant
accord convention ccn monsieur madame mademoiselle mesdames messieurs maitre docteur professeur mme mlle mrs miss lundi mardi
mercredi jeudi vendredi samedi dimanche monday tuesday wednesday thursday friday saturday sunday il elle je nous vous ils elles un
une et ou mais si dans pour avec selon the he she we you they it and or but in for from if about analyse principe regle sources
source
"""
_MONTHS = frozenset(map(plain, [*FRENCH_MONTHS, *ENGLISH_MONTHS])) - {"mai", "may"}  # May is a first name
_NAME_ENDS = frozenset(_NO_NAMES.split()) | _MONTHS
_NO_LAST_NAMES = frozenset(["le", "la", "les", "i", "a"])
_BEFORE_ME = "tell give let show help call contact send ask to for with from about and of"
_ENGLISH_BEFORE_ME = frozenset(_BEFORE_ME.split())
_LONGEST_NAME = 4
_WORD_BEFORE = re.compile(r"([^\W\d_]{1,20})\W?$")


def redact(text: str, patterns: Sequence[re.Pattern[str]] = ()) -> str:
    """The text with a tag for each item of personal data (see the module's table) and each match of a user's patterns."""
    text = without_matches(unhidden(text), patterns)
    if _AT.search(text):
        text = _EMAIL.sub(_EMAIL_TAG, text)
    text = _replaced(text, _ibans(text))
    text = _TITLED.sub(_titled, _replaced(text, _numbers(text)))
    folded = text.casefold()
    if any(word in folded for word in _INTRODUCTIONS):
        text = _INTRODUCED.sub(lambda match: match["lead"] + _NAME_TAG, text)
    return _CAPITALISED.sub(_with_first_name, text)


def _replaced(text: str, spans: Iterator[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, tag in spans:
        parts += [text[done:start], tag]
        done = end
    return "".join([*parts, text[done:]])


def _ibans(text: str) -> Iterator[tuple[int, int, str]]:
    done = 0
    for match in _IBAN_START.finditer(text):
        start = match.start()
        length = _IBAN_LENGTHS.get(text[start : start + 2].upper(), 0) if start >= done else 0
        signs, end = text[start : start + 4].upper(), start + 4
        while len(signs) < length and (sign := _IBAN_SIGN.match(text, end)):
            signs, end = signs + sign[1].upper(), sign.end()
        if not length or len(signs) < length or text[end : end + 1].isalnum():
            continue
        if int("".join(str(int(sign, 36)) for sign in signs[4:] + signs[:4])) % 97 == 1:
            yield start, end, _IBAN_TAG
            done = end


def _numbers(text: str) -> Iterator[tuple[int, int, str]]:
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
        digits = [int(sign) for sign in reversed(match["card"]) if sign.isdigit()]
        doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
        return _CARD_TAG if (sum(digits[::2]) + sum(doubled)) % 10 == 0 else ""
    if match["ssn"]:
        place = {"2A": "19", "2B": "18"}.get(match["place"].upper(), match["place"])
        number = int("".join(sign for sign in match["born"] + place + match["rank"] if sign.isdigit()))
        return _SSN_TAG if int(match["key"]) == 97 - number % 97 else ""
    count = sum(sign.isdigit() for sign in match["phone"])
    fitting = not match["abroad"] or (8 <= count <= 17 and not _GROUPED.fullmatch(match["abroad"]))
    return _PHONE_TAG if fitting else ""


def _titled(match: re.Match[str]) -> str:
    name = match["name"]
    words = list(_ONE_WORD.finditer(name))
    length = _name_length(words)
    before = _WORD_BEFORE.search(match.string, max(0, match.start() - 20), match.start())
    if not length or (match["title"] == "Me" and before and before[1].lower() in _ENGLISH_BEFORE_ME):
        return match.group()
    return match.group()[: match.start("name") - match.start()] + _NAME_TAG + name[words[length - 1].end() :]


def _with_first_name(match: re.Match[str]) -> str:
    text, words = match.group(), list(_ONE_WORD.finditer(match.group()))
    parts: list[str] = []
    done = index = 0
    while index < len(words) - 1:
        length = _full_name_length(words[index : index + _LONGEST_NAME])
        if length < 2:
            index += 1
            continue
        parts += [text[done : words[index].start()], _NAME_TAG]
        done, index = words[index + length - 1].end(), index + length
    return "".join([*parts, text[done:]])


def _full_name_length(words: Sequence[re.Match[str]]) -> int:
    first, second = words[0].group(), words[1].group() if len(words) > 1 else ""
    capitals = first.isupper() and len(first) > 2
    if plain(first).split(" ", 1)[0] in FIRST_NAMES:
        return _name_length(words[:2] if capitals else words)  # in a text all in capitals the end of a name is not visible
    reversed_order = capitals and not second.isupper() and plain(second).split(" ", 1)[0] in FIRST_NAMES
    return 2 if reversed_order and plain(first) not in _NAME_ENDS else 0


def _name_length(words: Sequence[re.Match[str]]) -> int:
    names = [plain(word.group()) for word in words]
    length = next((index for index, name in enumerate(names) if name in _NAME_ENDS), len(names))
    while length and names[length - 1] in _NO_LAST_NAMES:
        length -= 1
    return length
