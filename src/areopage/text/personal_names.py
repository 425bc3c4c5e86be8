"""Names of people in a text, by rules of thumb, in English and French; linear in the text.

A name is what stands behind a title (M., Mme, Maître, Dr, Mr ...), what is introduced (je m'appelle, my name is, Nom : ...), and
a common first name with the capitalised words behind it (Jean Dupont), or with one in capitals before it (DUPONT Jean).
"""

import re
from collections.abc import Sequence

from areopage.text.folding import plain
from areopage.text.lexicon import FIRST_NAMES

NAME = "[NAME]"

# Every quantifier is bounded, or possessive and begun only where a word begins: a hostile text costs no more than its length.
# What a word may not stand behind is asked after its first letter, so that the search for that letter is the machine's own.
_S = r"[ \t\u00a0\u202f\u2009]"
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
accord convention ccn monsieur madame mademoiselle mesdames messieurs maitre docteur professeur mme mlle mrs miss janvier fevrier
mars avril juin juillet aout septembre octobre novembre decembre january february march april june july august september october
november december lundi mardi mercredi jeudi vendredi samedi dimanche monday tuesday wednesday thursday friday saturday sunday il
elle je nous vous ils elles un une et ou mais si dans pour avec selon the he she we you they it and or but in for from if about
analyse principe regle sources source
"""
_NAME_ENDS = frozenset(_NO_NAMES.split())
_NO_LAST_NAMES = frozenset(["le", "la", "les", "i", "a"])
_BEFORE_ME = "tell give let show help call contact send ask to for with from about and of"
_ENGLISH_BEFORE_ME = frozenset(_BEFORE_ME.split())
_LONGEST_NAME = 4
_WORD_BEFORE = re.compile(r"([^\W\d_]{1,20})\W?$")


def without_names(text: str) -> str:
    """The text with `[NAME]` in place of each name that is found; titles and introductions stay."""
    text = _TITLED.sub(_titled, text)
    folded = text.casefold()
    if any(word in folded for word in _INTRODUCTIONS):
        text = _INTRODUCED.sub(lambda match: match["lead"] + NAME, text)
    return _CAPITALISED.sub(_with_first_name, text)


def _titled(match: re.Match[str]) -> str:
    """A title with the tag behind it; the match as it stands where no name follows (Monsieur, Madame; Tell Me About)."""
    name = match["name"]
    words = list(_ONE_WORD.finditer(name))
    length = _name_length(words)
    if not length or (match["title"] == "Me" and _before(match) in _ENGLISH_BEFORE_ME):
        return match.group()
    return match.group()[: match.start("name") - match.start()] + NAME + name[words[length - 1].end() :]


def _before(match: re.Match[str]) -> str:
    """The word before a match, in lower case."""
    found = _WORD_BEFORE.search(match.string, max(0, match.start() - 20), match.start())
    return found[1].lower() if found else ""


def _with_first_name(match: re.Match[str]) -> str:
    """A run of capitalised words with the tag in place of each first name and what belongs to it."""
    text, words = match.group(), list(_ONE_WORD.finditer(match.group()))
    parts: list[str] = []
    done = index = 0
    while index < len(words) - 1:
        length = _full_name_length(words[index : index + _LONGEST_NAME])
        if length < 2:
            index += 1
            continue
        parts += [text[done : words[index].start()], NAME]
        done, index = words[index + length - 1].end(), index + length
    return "".join([*parts, text[done:]])


def _full_name_length(words: Sequence[re.Match[str]]) -> int:
    """How many of these words are a first name and what belongs to it; under 2 where they begin with none."""
    first = words[0].group()
    if _is_first_name(first):
        # in a text all in capitals nothing tells where a name ends
        return _name_length(words[:2] if first.isupper() and len(first) > 2 else words)
    second = words[1].group() if len(words) > 1 else ""
    reversed_order = first.isupper() and len(first) > 2 and not second.isupper() and _is_first_name(second)
    return 2 if reversed_order and plain(first) not in _NAME_ENDS else 0


def _name_length(words: Sequence[re.Match[str]]) -> int:
    """How many of these words a name may consist of: up to one that belongs to no name."""
    names = [plain(word.group()) for word in words]
    length = next((place for place, name in enumerate(names) if name in _NAME_ENDS), len(names))
    while length and names[length - 1] in _NO_LAST_NAMES:
        length -= 1
    return length


def _is_first_name(word: str) -> bool:
    """Whether a word, or the first part of Jean-Pierre, is a common first name."""
    return plain(word).split(" ", 1)[0] in FIRST_NAMES
