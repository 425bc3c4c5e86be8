"""Capitalised words of an answer that are names by the way they are written: organisations, streets, people without a title.

A capital inside of a sentence makes a name in French and English, but for adjectives of places and languages, for general words
of institutions, for headings, and for what begins a quotation, a list or a line. At the beginning of a sentence only a word
before another name is one. An acronym whose letters begin words of the documents or of the answer is none.
"""

import re
from collections.abc import Sequence

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
    "sms euro euros bc bce ce ad "
)
_COMMON = frozenset(_COMMON_WORDS.split())
_LINE = 200  # characters on each side of a word in which its line is looked at
_MOST_ACRONYMS = 30  # of an answer
_TITLED = 0.5  # share of a line's long words with a capital from which the line is a heading


class Acronyms:
    """The words that acronyms of an answer may stand for. The work is bounded."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Args:
        texts: the documents and the answer.
        """
        self._texts = texts
        self._known: dict[str, bool] = {}

    def explained(self, acronym: str) -> bool:
        """Whether its letters begin words that follow each other; true for what is beyond the bound."""
        if acronym not in self._known:
            if len(self._known) >= _MOST_ACRONYMS:
                return True
            self._known[acronym] = any(_stands_for(acronym, text) for text in self._texts)
        return self._known[acronym]


def looks_like_name(text: str, start: int, end: int, sentence: tuple[int, int], acronyms: Acronyms) -> bool:
    """Whether a word that the documents do not have is a name."""
    word = text[start:end]
    low = word.lower()
    if len(word) < 3 or not word[0].isupper() or low in _COMMON or _ADJECTIVE.search(low) or any(map(str.isdigit, word)):
        return False
    if start <= sentence[0] + 1:
        return _CAPITAL_NEXT.match(text, end) is not None and not word.isupper() and len(word) > 3
    if not _BEFORE.search(text, max(0, start - _BEFORE_NAME), start) or _is_heading(text, start):
        return False
    return not (word.isupper() and acronyms.explained(word))


def _is_heading(text: str, start: int) -> bool:
    """Whether most words of a line have a capital."""
    low, high = max(0, start - _LINE), min(len(text), start + _LINE)
    first = max(low, text.rfind("\n", low, start) + 1)
    last = text.find("\n", start, high)
    line = text[first : last if last >= 0 else high].rstrip()
    if line.endswith((".", "!", "?")):
        return False
    words = [word for word in line.split() if len(word) > 3]
    return sum(word[0].isupper() for word in words) > len(words) * _TITLED


def _stands_for(acronym: str, text: str) -> bool:
    """Whether the letters of an acronym begin words that follow each other; short words may stand between them."""
    pattern = r"[\W_]{1,3}(?:[^\W_]{1,3}[\W_]{1,3}){0,2}".join(rf"{letter}[^\W_]{{0,24}}" for letter in acronym[:8])
    return re.search(rf"(?<![^\W_]){pattern}", text, re.IGNORECASE) is not None
