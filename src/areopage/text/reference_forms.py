"""References to law and to documents in a text, comparable across writings, in English and French; linear in the text.

| kind | found | normalised |
|---|---|---|
| article | art. L. 123-4, Article L123-4, articles 3 et 4, R.*123-4, article 1er | `article l123-4` |
| section | section 12(3), § 12, s. 12 | `section 12(3)` |
| law | loi n° 2018-771, loi du 10 juillet 1965, décret n° ..., Regulation (EU) 2016/679, Companies Act 2006 | `loi 2018-771` |
| ruling | pourvoi n° 09-12.345, C-131/12 | `ruling 09-12.345` |
| code | Code civil, Labour Code | `code civil` |
| agreement | CCN du Notariat, convention collective nationale ..., collective agreement | `agreement notariat` |
| marker | [1], [doc1], Document 2 | `1`, `doc1`, `document 2` |
| link | https://... | as written, in lower case |
| source | (source: ...), (Source : ...) | its words |
| mention | selon la loi, according to the regulations | its words |

The first four, markers and links are precise: they say where to look. The others name a work, or only that there is one.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from msgspec import Struct

from areopage.text.figure_forms import figures
from areopage.text.folding import plain
from areopage.text.lexicon import UNIT_PATTERN

ReferenceKind = Literal["article", "section", "law", "ruling", "code", "agreement", "marker", "link", "source", "mention"]
_PRECISE: frozenset[ReferenceKind] = frozenset(["article", "section", "law", "ruling", "marker", "link"])


class Reference(Struct, frozen=True, kw_only=True):
    """A reference: `text` is exactly `source[start:end]`; `normalised` is equal where two writings mean the same."""

    kind: ReferenceKind
    normalised: str
    text: str
    start: int
    end: int

    @property
    def precise(self) -> bool:
        """Whether it says where to look, and not only in which work."""
        return self.kind in _PRECISE


_Finder = Callable[[str], Iterator[Reference]]

# Every quantifier is bounded or possessive: a hostile text costs no more than its length.
_S = r"[ \t\u00a0\u202f]"
_NO = rf"(?:n{_S}?[°ºo]s?\.?|no\.?|num[ée]ro|number){_S}?"
LATIN = "bis|ter|quater|quinquies|sexies|septies|octies|nonies|decies"
"""What parts articles of one number: 5 bis, 5 ter."""
# L. 123-4, R.*123-4, P 784, 45, 45-2, 45.2, 1er, 12(3)(b), 12 bis
_NUMERAL = (
    rf"(?:(?<![^\W_])[A-Z]\.?{_S}?\*?{_S}?)?[0-9]{{1,5}}(?:[.\u2010\u2011-][0-9]{{1,5}}){{0,4}}(?![0-9])"
    rf"(?:er\b|{_S}?(?:{LATIN})\b(?:{_S}(?-i:[A-Z])\b(?!['’.]))?)?(?:\([0-9a-z]{{1,4}}\)){{0,4}}"
)
_AND = rf"(?:{_S}?[,;]{_S}?(?:et{_S}|and{_S})?|{_S}(?:et|ou|à|and|or|to|&){_S}|{_S}?[–-]{_S}?)"
# The 30 of "articles 3 et 4, 30 jours" is no article.
_NO_UNIT = rf"(?!{_S}?(?:[%€$£]|{UNIT_PATTERN}|euros?\b))"
_LIST = rf"{_NUMERAL}(?:{_AND}{_NUMERAL}{_NO_UNIT}){{0,20}}"
_ARTICLE = re.compile(
    rf"\b(?:(?:articles|arts\.?){_S}{{0,2}}(?P<list>{_LIST})|(?:article|art\.?){_S}{{0,2}}(?:[«“]{_S}?)?(?:{_NO})?(?P<one>{_NUMERAL})"
    rf"|article{_S}(?P<first>premier|one)\b)"
    rf"|(?<![\w.])(?P<bare>[LRD]\.?{_S}?\*?{_S}?[0-9]{{1,5}}(?:[\u2010\u2011-][0-9]{{1,5}}){{1,4}}(?![0-9]))",
    re.IGNORECASE,
)
_SECTION = re.compile(
    rf"(?:\bsections|\bss\.|§§){_S}{{0,2}}(?P<list>{_LIST})|(?:\b(?:section|sec\.|s\.)|§){_S}{{0,2}}(?P<one>{_NUMERAL})",
    re.IGNORECASE,
)
_NUMERAL_ALONE = re.compile(_NUMERAL, re.IGNORECASE)
_ACT_WORDS = {"law": "loi", "decree": "décret", "ordinance": "ordonnance", "règlement": "regulation"}
_NUMBERED_LAW = re.compile(
    rf"\b(?P<act>loi|law|d[ée]cret(?:-loi)?|decree|ordonnance|ordinance|arr[êe]t[ée]|avenant|amendment|accord|circulaire)"
    rf"(?:{_S}[a-zà-ÿ]{{1,15}}){{0,2}}?{_S}{{1,2}}{_NO}(?P<number>[0-9]{{1,5}}(?:[-/.][0-9]{{1,5}}){{0,3}})"
    rf"(?:{_S}(?:du|of){_S}[0-9]{{1,2}}(?:er)?{_S}\w{{3,10}}{_S}(?:19|20)[0-9]{{2}}\b)?",
    re.IGNORECASE,
)
_DATED_LAW = re.compile(
    rf"\b(?P<act>loi|law|d[ée]cret|decree|ordonnance|arr[êe]t[ée]|accord|avenant){_S}(?:du|of){_S}"
    r"(?P<date>[0-9]{1,2}(?:er|st|nd|rd|th)?[ \u00a0]\w{3,10}[ \u00a0](?:19|20)[0-9]{2}\b)",
    re.IGNORECASE,
)
_EUROPEAN = re.compile(
    rf"\b(?P<act>r[èe]glement|regulation|directive){_S}(?:\((?:UE|CE|EU|EC)\){_S})?(?:{_NO})?"
    r"(?P<number>[0-9]{1,4}/[0-9]{1,4})(?:/(?:CEE?|UE|EC|EU)\b)?",
    re.IGNORECASE,
)
_ACT_OF = re.compile(
    rf"\b(?P<name>[A-Z][a-z]{{2,20}}(?:{_S}(?:and{_S}|of{_S}|for{_S})?[A-Z][a-z]{{2,20}}){{0,5}}){_S}(?P<year>(?:19|20)[0-9]{{2}})\b"
)
_RULING = re.compile(r"(?<![\w.-])(?P<number>[0-9]{2}-[0-9]{2}\.[0-9]{3}|C-[0-9]{1,4}/[0-9]{2})(?![\w-])")
_CODES = {
    "civil code": "code civil",
    "labour code": "code du travail",
    "labor code": "code du travail",
    "commercial code": "code de commerce",
    "penal code": "code penal",
    "criminal code": "code penal",
    "general tax code": "code general des impots",
    "consumer code": "code de la consommation",
    "social security code": "code de la securite sociale",
}
_CODE = re.compile(
    r"\b(?:code (?:civil|pénal|penal|électoral|rural|forestier|monétaire et financier|de procédure (?:civile|pénale)"
    r"|général des (?:impôts|collectivités territoriales)|du (?:travail|sport|tourisme|patrimoine|commerce)"
    r"|de (?:commerce|déontologie|l['’](?:urbanisme|environnement|éducation|énergie|action sociale et des familles)"
    r"|la (?:consommation|route|santé publique|sécurité sociale|sécurité intérieure|propriété intellectuelle"
    r"|construction et de l['’]habitation|commande publique|mutualité)|justice administrative)"
    r"|des (?:assurances|transports|douanes))"
    r"|(?:civil|labou?r|commercial|penal|criminal|general tax|internal revenue|consumer|social security) code)\b",
    re.IGNORECASE,
)
_AGREEMENT = re.compile(
    rf"(?:\bCCN\b|(?i:\bconventions? collectives?(?: nationales?)?\b|\b(?:national )?collective (?:bargaining )?agreement\b))"
    rf"(?:{_S}(?P<link>du{_S}|des{_S}|de{_S}la{_S}|de{_S}l['’]|for{_S}(?:the{_S})?|of{_S}(?:the{_S})?)?"
    r"(?!(?i:art|idcc|sect))(?P<name>(?:(?<=[A-Za-z][ \u00a0])|(?<=['’]))[^\W\d_]{3,30}))?"
)
_MARKER = re.compile(
    rf"\[(?P<inside>(?=[^\]\s]{{0,60}}[0-9])[\w.:/#°-]{{1,60}}|(?:documents?|doc\.?|sources?|ref\.?){_S}?(?:{_NO})?[0-9]{{1,4}})\](?!\()"
    rf"|\b(?P<word>documents?|doc\.?|source){_S}?(?:{_NO})?(?P<number>[0-9]{{1,4}})\b(?!\])",
    re.IGNORECASE,
)
_LINK = re.compile(r"\bhttps?://[^\s<>()\[\]\"'«»]{1,500}", re.IGNORECASE)
_SOURCE = re.compile(rf"[(\[]{_S}{{0,2}}sources?{_S}{{0,2}}:{_S}{{0,2}}(?P<name>[^()\[\]\n]{{1,200}})[)\]]", re.IGNORECASE)
_MENTION = re.compile(
    rf"\b(?:selon|suivant|d['’]apr[èe]s|conform[ée]ment{_S}(?:à|aux?)|en{_S}vertu{_S}(?:de|du|des)|aux{_S}termes{_S}(?:de|du|des)"
    rf"|according{_S}to|under|pursuant{_S}to|as{_S}(?:stated|provided|set{_S}out){_S}(?:in|by)|based{_S}on|in{_S}accordance{_S}with)"
    rf"(?:{_S}(?:la|le|les|the|your|vos|votre|ces|these|this|current|applicable)|{_S}l['’]){{0,2}}{_S}?"
    r"(?:loi|l[ée]gislation|r[ée]glementation|r[èe]glement|convention|textes?|jurisprudence|droit|documents?|sources?|accord|code"
    r"|law|legislation|regulations?|rules|statutes?|agreement|case law|texts?)\b",
    re.IGNORECASE,
)


def references(text: str) -> tuple[Reference, ...]:
    """All references of a text, in order of their start; those of a list (articles 3 et 4) share its span."""
    return _found(text, _FINDERS)


def legal_references(text: str) -> tuple[Reference, ...]:
    """The articles, sections, laws and rulings of a text alone, in order of their start: what an answer may not invent."""
    return _found(text, _LEGAL_FINDERS)


def _found(text: str, finders: Iterable[_Finder]) -> tuple[Reference, ...]:
    references = [reference for finder in finders for reference in finder(text)]
    return tuple(sorted(references, key=lambda reference: (reference.start, reference.end)))


def _made(kind: ReferenceKind, normalised: str, match: re.Match[str]) -> Reference:
    return Reference(kind=kind, normalised=normalised, text=match.group(), start=match.start(), end=match.end())


def _articles(text: str) -> Iterator[Reference]:
    for match in _ARTICLE.finditer(text):
        numerals = ["1"] if match["first"] else _numerals(match["list"] or match["one"] or match["bare"])
        yield from (_made("article", f"article {numeral}", match) for numeral in numerals)


def _sections(text: str) -> Iterator[Reference]:
    for match in _SECTION.finditer(text):
        yield from (_made("section", f"section {numeral}", match) for numeral in _numerals(match["list"] or match["one"]))


def _numerals(written: str) -> list[str]:
    """The numbers of a list: "L. 123-4 et R.*5" gives l123-4 and r*5."""
    plain_hyphens = written.replace("\u2010", "-").replace("\u2011", "-")
    references = [
        re.sub(r"[\s\u00a0\u202f]|(?<=[a-z])\.", "", match.group().lower()) for match in _NUMERAL_ALONE.finditer(plain_hyphens)
    ]
    return [
        numeral.removesuffix("er") if numeral[0].isdigit() and not numeral.endswith("ter") else numeral for numeral in references
    ]


def _laws(text: str) -> Iterator[Reference]:
    for match in _NUMBERED_LAW.finditer(text):
        yield _made("law", f"{_act(match['act'])} {match['number']}", match)
    for match in _DATED_LAW.finditer(text):
        for date in figures(match["date"]):
            yield _made("law", f"{_act(match['act'])} {date.value}", match)
    for match in _EUROPEAN.finditer(text):
        yield _made("law", f"{_act(match['act'])} {match['number']}", match)
    for match in _ACT_OF.finditer(text):
        if match["name"].endswith((" Act", " Regulations", " Order", " Rules")):
            yield _made("law", plain(match.group()), match)


def _act(written: str) -> str:
    word = written.lower()
    return plain(_ACT_WORDS.get(word, word))


def _agreements(text: str) -> Iterator[Reference]:
    for match in _AGREEMENT.finditer(text):
        name = match["name"]
        # Without "du", only a capital distinguishes a name (CCN Notariat) from the words that follow.
        if name and (match["link"] or name[0].isupper()):
            yield _made("agreement", f"agreement {plain(name)}", match)
        else:
            end = match.start("link") if match["link"] else match.start("name") if name else match.end()
            body = text[match.start() : end].rstrip()
            start = match.start()
            yield Reference(kind="agreement", normalised="agreement", text=body, start=start, end=start + len(body))


def _links(text: str) -> Iterator[Reference]:
    for match in _LINK.finditer(text):
        link = match.group().rstrip(".,;:!?*_")
        yield Reference(kind="link", normalised=link.lower(), text=link, start=match.start(), end=match.start() + len(link))


def _each(kind: ReferenceKind, pattern: re.Pattern[str], name: Callable[[re.Match[str]], str]) -> _Finder:
    return lambda text: (_made(kind, name(match), match) for match in pattern.finditer(text))


_LEGAL_FINDERS = (_articles, _sections, _laws, _each("ruling", _RULING, lambda match: f"ruling {match['number'].lower()}"))
_FINDERS = (
    *_LEGAL_FINDERS,
    _each("code", _CODE, lambda match: _CODES.get(name := plain(match.group()), name)),
    _agreements,
    _each("marker", _MARKER, lambda match: plain(match["inside"] or f"{match['word']} {match['number']}")),
    _links,
    _each("source", _SOURCE, lambda match: plain(match["name"])),
    _each("mention", _MENTION, lambda match: plain(match.group())),
)
