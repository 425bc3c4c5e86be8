"""A text without its markup: HTML, LaTeX, and line ends inside of words and numbers; as long as it was, and linear.

What is replaced by less is filled up with characters without width, which part no word and which `Readable` leaves out. So every
position in the result is the same position in the text.

| found | read as |
|---|---|
| `<b>250&nbsp;&euro;</b>` | 250 € |
| `<tr><td>Clerk</td><td>250</td></tr>` | a line with a bar before each cell |
| `$12{,}5\\,\\%$` | 12,5 % |
| "rembour-" at the end of a line and "sement" | remboursement |
| "1" at the end of a line and "250 euros" | 1 250 euros |
| figure, punctuation and other spaces or apostrophes between groups of digits | a no-break space, a straight apostrophe |
| "pour mille", "per mille", "per thousand" | ‰ |
"""

import re
from collections.abc import Set
from html import unescape

from areopage.text.number_words import NUMBER_WORDS

FILLER = "\u200b"
"""A character without width."""

_INLINE = "a|abbr|b|big|cite|code|data|del|em|font|i|ins|kbd|label|mark|q|s|small|span|strong|sub|time|u|var"
_BLOCKS = (
    "address|article|aside|blockquote|body|br|caption|dd|div|dl|dt|figcaption|figure|footer|h[1-6]|head|header|hr|html|li|main"
    "|meta|nav|ol|p|pre|section|table|title|ul"
)
_SPACES = "\u2002-\u200a\u205f\u3000"
_LETTER = r"[^\W\d_]"
_UNITS = (
    "€|%|euros?|dollars?|francs?|pour cent|per ?cent|jours?|mois|ans?|ann[ée]es?|semaines?|heures?|minutes?|days?|months?|years?"
    "|weeks?|hours?|millions?|milliards?|billions?|kg|km"
)
_MARKUP = re.compile(
    r"<!--|<(?P<silent>script|style)\b"
    rf"|</?(?:(?P<cell>td|th)|(?P<row>tr|tbody|thead|tfoot)|(?P<raised>sup)|(?P<inline>{_INLINE})|(?P<block>{_BLOCKS}))(?=[\s/>])[^<>]{{0,1000}}>"
    r"|(?P<entity>&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,30});)",
    re.IGNORECASE,
)
_SCRIPT_END, _COMMENT_END = re.compile(r"</(?:script|style)[\s>]{1,9}", re.IGNORECASE), re.compile("-->")
_LATEX = re.compile(
    r"(?P<comma>\{,\})|(?P<space>\\[,;:! ])|\\(?P<sign>[%$&#_])|\\(?P<euro>euro|EUR)(?:\{\})?(?![A-Za-z])"
    r"|\\(?:text|mathrm|mbox|mathbf|textbf)\{(?P<text>[^{}\n]{0,60})\}|\\[dt]?frac\{(?P<over>[^{}\n]{1,30})\}\{(?P<under>[^{}\n]{1,30})\}"
    r"|(?P<delimiter>\\[()\[\]])"
)
_FORMULA = re.compile(r"\$(?=(?P<inside>[^$\n]{1,200})\$(?![0-9]))")
_FORMULA_SIGNS = re.compile(r"\\[A-Za-z%,;:!]|\{,\}|\A[0-9.,]{1,20}\Z")
# What looks back stands behind the sign that it belongs to, so that a search goes from sign to sign.
_SEPARATING = f"{_SPACES}’‘ʼ′`´٬"
_SEPARATOR = re.compile(rf"[{_SEPARATING}](?<=[0-9].)(?=[0-9]{{3}}(?![0-9]))")
_SEPARATED = re.compile(rf"[0-9][{_SEPARATING}][0-9]")
_PER_MILLE = re.compile(r"(?<!\w)(?:pour|per|p\.)[ \u00a0](?:mille|thousand)(?!\w)", re.IGNORECASE)
_HYPHEN_BREAK = re.compile(r"[-\u2010\u00ad][ \t]{0,3}\r?\n")
_WORD_BREAK = re.compile(
    rf"(?P<hyphen>[-\u2010\u00ad])(?<={_LETTER}{_LETTER}.)[ \t]{{0,3}}\r?\n[ \t]{{0,40}}(?=(?P<rest>[a-zà-öø-ÿœ]{{2,30}}))"
)
_NO_REST = frozenset(
    [
        "ce",
        "ci",
        "la",
        "là",
        "vous",
        "il",
        "elle",
        "ils",
        "elles",
        "on",
        "nous",
        "je",
        "tu",
        "moi",
        "toi",
        "lui",
        "leur",
        "même",
        "mêmes",
        "up",
        "in",
        "to",
        "free",
        "based",
    ]
)
_STARTS = NUMBER_WORDS.union(
    [
        "non",
        "sous",
        "vice",
        "ex",
        "anti",
        "self",
        "well",
        "semi",
        "quasi",
        "mi",
        "co",
        "pré",
        "post",
        "inter",
        "ultra",
        "auto",
        "contre",
    ]
)
_WORD_BEFORE = re.compile(rf"{_LETTER}{{1,30}}\Z")
_COMPOUND = re.compile(rf"(?<!{_LETTER}){_LETTER}{{2,30}}-[a-zà-öø-ÿœ]{{2,30}}(?!{_LETTER})")
_JOINED_DIGITS = re.compile(r"(?P<hyphen>[-\u2010])(?<=[0-9].)[ \t]{0,3}\r?\n[ \t]{0,40}(?=[0-9])")
_DIGIT_BREAK = re.compile(r"[0-9][ \t]{0,3}\r?\n")
_NUMBER_BREAK = re.compile(
    r"(?<![\w.,])(?<=(?P<before>[^\W\d_.,;|\t])[ \u00a0])[0-9]{1,3}(?:[ \u00a0\u202f.,'][0-9]{3}){0,4}"
    r"(?P<gap>[ \t]{0,3}\r?\n[ \t]{0,40})(?=[0-9]{3}(?![0-9])(?:[ \u00a0\u202f.,'][0-9]{3}(?![0-9])){0,3}(?:,[0-9]{1,2})?"
    rf"[ \u00a0\u202f]?(?:{_UNITS}|[a-zà-ÿ]{{3,30}})(?!\w))"
)
_NUMBERING = re.compile(
    r"(?:chapitre|chapter|article|art\.|page|p\.|annexe|appendix|n°|num[ée]ro|number|no\.|titre|title|partie|part|section|lot|niveau"
    r"|level|[ée]tape|step|ligne|line|case|box|point|question|tableau|table|figure|phase|zone|groupe"
    r"|group|type|cat[ée]gorie)s?[ \u00a0]\Z",
    re.IGNORECASE,
)
_BEFORE_NUMBER = 16  # characters before a number in which the word stands that it numbers
_UNIT_BREAK = re.compile(rf"(?<=[0-9])(?P<gap>[ \t]{{0,3}}\r?\n[ \t]{{0,40}})(?=(?:{_UNITS})(?!\w))")
_SEPARATORS = {"٬": ","} | dict.fromkeys("’‘ʼ′`´", "'")


def as_read(text: str) -> str:
    """The text as the module's docstring says; the same object where nothing changes."""
    if "<" in text or "&" in text:
        text = _without_tags(text)
    if "\\" in text or "{,}" in text or text.count("$") > 1:
        if text.count("$") > 1:  # a lone dollar sign is money
            text = _FORMULA.sub(lambda match: FILLER if _FORMULA_SIGNS.search(match["inside"]) else "$", text)
            text = re.sub(rf"(?<={FILLER})([^$\n{FILLER}]{{1,200}})\$", lambda match: match[1] + FILLER, text)
        text = _LATEX.sub(_latex_sign, text) if "\\" in text or "{,}" in text else text
    if "\n" in text:
        text = unbroken(text, FILLER)
    if not text.isascii() and _SEPARATED.search(text):
        text = _SEPARATOR.sub(lambda match: _SEPARATORS.get(match.group(), "\u00a0"), text)
    low = text.lower()
    return _PER_MILLE.sub(lambda match: _filled("‰", match), text) if "mille" in low or "thousand" in low else text


def unbroken(text: str, filler: str = "") -> str:
    """The text with its words and numbers joined that a line end parts.

    Args:
        filler: what stands for each character that is left out.
    """
    if _HYPHEN_BREAK.search(text):
        compounds = frozenset(_COMPOUND.findall(text))
        text = _WORD_BREAK.sub(lambda match: _joined_word(match, compounds, filler), text)
        text = _JOINED_DIGITS.sub(lambda match: _filled("-", match, filler), text)
    if _DIGIT_BREAK.search(text):
        text = _NUMBER_BREAK.sub(lambda match: _joined_number(match, filler), text)
        text = _UNIT_BREAK.sub(lambda match: _filled(" ", match, filler), text)
    return text


def _filled(written: str, match: re.Match[str], filler: str = FILLER) -> str:
    """What a match is replaced by, as long as it where there is a filler."""
    return written + filler * (len(match.group()) - len(written))


def _joined_word(match: re.Match[str], compounds: Set[str], filler: str) -> str:
    before = _WORD_BEFORE.search(match.string[max(0, match.start() - 30) : match.start()])
    start, rest = before.group() if before else "", match["rest"]
    compound = rest in _NO_REST or start.lower() in _STARTS or f"{start}-{rest}" in compounds
    return _filled("-" if compound else "", match, filler)


def _joined_number(match: re.Match[str], filler: str) -> str:
    start, end = match.start(), match.start("gap")
    if _NUMBERING.search(match.string[max(0, start - _BEFORE_NUMBER) : start]):
        return match.group()
    gap = match["gap"]
    return match.string[start:end] + " " + filler * (len(gap) - 1)


def _without_tags(text: str) -> str:
    pieces: list[str] = []
    at = 0
    while match := _MARKUP.search(text, at):
        pieces.append(text[at : match.start()])
        at = match.end()
        if match["entity"]:
            sign = unescape(match["entity"])
            pieces.append(_filled(sign, match) if len(sign) <= len(match.group()) else match.group())
        elif match["block"]:
            pieces.append(_filled("\n", match))
        elif match["cell"] or match["row"]:
            if pieces[-1].isspace():  # between two cells, or two rows
                pieces[-1] = FILLER * len(pieces[-1])
            opened = " | " if match["cell"] else "\n"
            pieces.append(_filled(opened if match.group()[1] != "/" else "", match))
        elif match["raised"]:
            beside = text[match.start() - 1 : match.start()].isdigit() and text[at : at + 1].isdigit()
            pieces.append(_filled(" " if beside else "", match))
        elif match["inline"]:
            pieces.append(_filled("", match))
        else:
            ending = (_SCRIPT_END if match["silent"] else _COMMENT_END).search(text, at)
            stop = ending.end() if ending else len(text)
            pieces.append(FILLER * (stop - match.start()))
            at = stop
    return "".join([*pieces, text[at:]]) if pieces else text


def _latex_sign(match: re.Match[str]) -> str:
    fraction = f"{match['over']}/{match['under']}" if match["over"] else ""
    plain = (match["comma"] and ",") or (match["space"] and " ") or match["sign"] or (match["euro"] and "€")
    return _filled(plain or fraction or match["text"] or "", match)
