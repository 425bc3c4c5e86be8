"""Capitalised words of an answer that are names by the way they are written: organisations, streets, people without a title.

A capital inside of a sentence makes a name in French and English, but for adjectives of places and languages, for general words
of institutions, for headings, and for what begins a quotation, a list or a line. At the beginning of a sentence only a word
before another name is one. What the documents have in another form is none.
"""

import re
from collections.abc import Sequence
from functools import cached_property

from areopage.text import lower_case, starts_of

_BEFORE = re.compile(r"[^\W_][,;]?[ \u00a0](?:[dlnsDLNS]['’]|[Qq]u['’])?\Z|[^\W_][ \u00a0]&[ \u00a0]\Z")
_BEFORE_NAME = 8  # characters
_CAPITAL_NEXT = re.compile(r"[ \u00a0](?:&[ \u00a0])?[^\W\d_a-zà-öø-ÿ][^\W\d_]{2}")
_ADJECTIVE = re.compile(
    r"(?:ish|ese|ian|ians|ean|eans|ic|ical|ist|ists|ism|isme|istes?|iens?|iennes?|ais|aises?|ois|oises?|ains?|aines?)\Z"
)
_COMMON_WORDS = (
    "french dutch german greek swiss welsh english arab jew jewish muslim islam catholic protestant hindu buddhist "
    "internet web wi-fi wifi god bible earth sun moon state states north south east west northern southern eastern "
    "western nord sud est ouest dieu terre lune soleil église eglise état etat etats états monsieur madame article "
    "section chapter chapitre annexe document documents source sources passage passages table figure note step option "
    "part partie question answer réponse reponse yes no oui non mr mrs ms dr january february march april may june july "
    "august september october november december monday tuesday wednesday thursday friday saturday sunday united national "
    "nations bureau office commission association act court justice department ministry minister council committee agency "
    "institute university journal officiel conseil ministère ministere tribunal cour loi code président president king "
    "queen empire kingdom republic république union guidelines federal federation fédération organisation organization "
    "company group groupe fund fonds world monde statistics labor insurance trade bank banque tournament championship "
    "honorable wikipedia google diy although though while when where if after before since because however moreover but "
    "and or for with from into during under over through this that these those there here then thus hence also both each "
    "every some many most according based given additionally furthermore overall finally first second third next other "
    "another such its their his her our your dans pour selon lorsque quand comme mais donc car ainsi avec sans chez "
    "depuis pendant après avant entre cette ces ceux celle leur leurs son ses notre votre tout tous toute toutes autre "
    "autres enfin ensuite toutefois cependant covid covid-19 pdf html csv json api url faq tva vat usa usd eur iban bic "
    "sms euro euros celsius fahrenheit bc bce ce ad bonjour bonsoir salut coucou hello hi dear cher chère chers "
)
_COMMON = frozenset(_COMMON_WORDS.split())
_LINE = 200  # characters on each side of a word in which its line is looked at
_SHORTEST_PLACE = 4  # letters of a place of which another form is looked for
_MOST_NAMES = 30  # of an answer that are looked for in other forms
_CAPITALISED = re.compile(r"[A-ZÀ-Þ][^A-ZÀ-Þ]+")
# What makes an adjective or the name of an inhabitant of the name of a place.
_OF_PLACE = re.compile(r"(?:ais(?:e|es)?|ois(?:e|es)?|iens?|iennes?|i?ans?|eans?|ese|ish)(?![^\W_])")
_PLACE = re.compile(r"(?:[aeoy]|ia|ie)?(?![^\W_])")  # what a place ends with whose adjective has lost it
# "Neo-Babylonian" is an adjective.
_JOINED = frozenset(
    ["neo", "néo", "anglo", "franco", "afro", "euro", "indo", "sino", "austro", "greco", "gréco", "judeo", "judéo", "pan"]
)
_TITLED = 0.5  # share of a line's long words with a capital from which the line is a heading


class OtherForms:
    """The names of an answer that the documents have in another form. The work is bounded.

    | in the answer | in a document |
    |---|---|
    | OPCO | opérateur de compétences; the answer may say it, too |
    | European, York | Europe, new-yorkais |
    | Amanda, HunterGirl | "ItalieAmanda", Hunter Girl |
    """

    def __init__(self, documents: Sequence[str], answer: str) -> None:
        self._text, self._answer = "\n".join(["", *documents, ""]), answer
        self._known: dict[str, bool] = {}

    @cached_property
    def _low(self) -> str:
        return lower_case(self._text)

    def has(self, name: str) -> bool:
        """Whether they have a name; true for what is beyond the bound."""
        if name not in self._known:
            if len(self._known) >= _MOST_NAMES:
                return True
            self._known[name] = self._stands_for(name) if name.isupper() else self._written(name)
        return self._known[name]

    def _stands_for(self, acronym: str) -> bool:
        """Whether the parts of an acronym begin words that follow each other; short words may stand between them."""
        pairs = [acronym[at : at + 2] for at in range(0, len(acronym), 2)]
        for parts in [list(acronym), pairs] if len(acronym) in (4, 6) else [list(acronym)]:
            pattern = r"[\W_]{1,3}(?:[^\W_]{1,3}[\W_]{1,3}){0,2}".join(rf"{part}[^\W_]{{0,24}}" for part in parts[:8])
            if any(re.search(rf"(?<![^\W_]){pattern}", text, re.IGNORECASE) for text in (self._text, self._answer)):
                return True
        return False

    def _written(self, name: str) -> bool:
        parts = _CAPITALISED.findall(name)
        if len(parts) > 1 and " ".join(parts) in self._text:
            return True
        before = (self._text[max(0, start - _SHORTEST_PLACE) : start] for start in starts_of(name, self._text, _MOST_NAMES))
        if any(letters.isalpha() and letters.islower() for letters in before):  # a space is lost
            return True
        low = name.lower()
        base = _OF_PLACE.sub("", low)
        ends = _OF_PLACE if base == low else _PLACE
        return len(base) >= _SHORTEST_PLACE and any(
            not self._low[start - 1].isalnum() and ends.match(self._low, start + len(base))
            for start in starts_of(base, self._low, _MOST_NAMES)
        )


def is_proper(word: str) -> bool:
    """Whether a capitalised word may be a name: no general word of institutions, no adjective of places."""
    common = word.lower() in _COMMON or _ADJECTIVE.search(word) is not None
    return len(word) > 2 and word[0].isupper() and not word.isupper() and not common


def looks_like_name(text: str, start: int, end: int, sentence: tuple[int, int]) -> bool:
    """Whether a word that the documents do not have is a name."""
    word = text[start:end]
    low = word.lower()
    if len(word) < 3 or not word[0].isupper() or low in _COMMON or _ADJECTIVE.search(low) or any(map(str.isdigit, word)):
        return False
    if low in _JOINED and text[end : end + 1] == "-":
        return False
    if start <= sentence[0] + 1:
        return _CAPITAL_NEXT.match(text, end) is not None and not word.isupper() and len(word) > 3
    return _BEFORE.search(text, max(0, start - _BEFORE_NAME), start) is not None and not _is_heading(text, start)


def _is_heading(text: str, start: int) -> bool:
    low, high = max(0, start - _LINE), min(len(text), start + _LINE)
    first = max(low, text.rfind("\n", low, start) + 1)
    last = text.find("\n", start, high)
    line = text[first : last if last >= 0 else high].rstrip()
    if line.endswith((".", "!", "?")):
        return False
    words = [word for word in line.split() if len(word) > 3]
    return sum(word[0].isupper() for word in words) > len(words) * _TITLED
