"""The language of a text, French or English, by its function words: enough to see that an answer is in another one."""

from itertools import repeat

from areopage.text import english, french

_READ = 2_000  # characters: a language shows at the beginning
_CLEAR = 1.5  # how many times more words one language has than the other
_FRENCH = frozenset(french.FUNCTION_WORDS.split())
_ENGLISH = frozenset(english.FUNCTION_WORDS.split())
# Other Romance languages have these too: they count half.
_SHARED = frozenset(["de", "la", "un", "que", "en", "se", "si", "ma", "tu", "me", "ni"])
_ACCENTS = "éèêàçùûœ"
_ELISIONS = (" l'", " d'", " qu'", " n'", " s'", " j'", " c'")
_SIGNS_FOR_A_WORD = 4  # the accents or elisions that weigh one word; short questions often have little else
_LEAST_SHARES = ((25, 0.15), (12, 0.05))  # of function words, from a number of words on
_EDGES = '.,;:!?()[]"«»“”*-–—'
# What a word counts for French.
_FOR_FRENCH = {word: (word in _FRENCH) - (word in _SHARED) / 2 for word in _FRENCH | _SHARED}


def language_of(text: str) -> str:
    """ "fr" or "en", or "" for too little text; reads the first 2,000 characters."""
    begin = text[:_READ].lower().replace("’", "'")
    words = list(map(str.strip, begin.split(), repeat(_EDGES)))
    french = sum(map(_FOR_FRENCH.get, words, repeat(0.0)))
    english = sum(map(_ENGLISH.__contains__, words))
    signs = 0 if begin.isascii() else sum(map(begin.count, _ACCENTS))
    if "'" in begin:
        parted = " " + " ".join(words)
        signs += sum(map(parted.count, _ELISIONS))
    french += signs / _SIGNS_FOR_A_WORD
    if french >= 1 and french > _CLEAR * english:
        return "fr"
    if english >= 1 and english > _CLEAR * french:
        return "en"
    return ""


def is_in_language(text: str, language: str) -> bool:
    """Whether a text is in "fr" or "en", as far as its function words tell: too little text is.

    Texts in other languages are recognised from about a dozen words on.
    """
    detected = language_of(text)
    if detected not in ("", language):
        return False
    words = [word.strip(_EDGES) for word in text[:_READ].lower().replace("’", "'").replace("'", "' ").split()]
    recognised = sum(_FOR_FRENCH.get(word, 0) for word in words) if language == "fr" else sum(map(_ENGLISH.__contains__, words))
    least = next((share for count, share in _LEAST_SHARES if len(words) >= count), 0.0)
    return recognised >= least * len(words)
