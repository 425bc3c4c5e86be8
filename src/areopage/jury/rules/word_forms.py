"""Words, their syllables and how many of them are hard, in English and French.

The counts are heuristics on spelling, good for shares over a text and not for the metre of a single word.
"""

import re
import unicodedata
from collections.abc import Sequence

from msgspec import Struct

NO_WORDS = {"en": "nothing to measure: the response has no words", "fr": "rien à mesurer\u00a0: la réponse n’a aucun mot"}
"""Why a rule refuses a response without words, by language."""

# A letter may be written with its accents apart (NFD); an apostrophe inside a word belongs to it (don't, aujourd'hui).
_LETTER = r"(?:[^\W\d_][\u0300-\u036f]*+)"
_WORD = re.compile(rf"{_LETTER}++(?:['’]{_LETTER}++)*+")
_ELISION = re.compile(r"(?:(?:jus|lors|puis|quoi|pres)?qu|entr|[ldjmtsnc])['’](?=\w)", re.IGNORECASE)


class Vocabulary(Struct, frozen=True, forbid_unknown_fields=True):
    """Which words count as hard.

    Args:
        complex_syllables: the fewest syllables of a hard word.
        familiar: words in lower case that are long and yet known to the youngest readers; their plural in -s is too.
    """

    complex_syllables: int
    familiar: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Raise ValueError for a number of syllables that no word is under."""
        if self.complex_syllables < 2:
            raise ValueError(f"complex_syllables is {self.complex_syllables}: it must be at least 2")


def words(text: str) -> tuple[str, ...]:
    """The words of a text as they are written there: letters with their accents and inner apostrophes.

    Numbers are no words; a hyphen parts words; a French elision is a word of its own (l'école: l, école).
    """
    separate: list[str] = []
    for match in _WORD.finditer(text):
        start = match.start()
        while elision := _ELISION.match(text, start, match.end()):
            separate.append(text[start : elision.end() - 1])
            start = elision.end()
        separate.append(text[start : match.end()])
    return tuple(separate)


def syllables(word: str, language: str) -> int:
    """How many syllables a word has, at least 1.

    English counts groups of vowels, less the silent -e, -es and -ed, plus vowels that part (di-et, sci-ence, vi-de-o).
    French counts groups of vowels as in careful speech, less the final -e, -es and the -ent of verbs; `qu` and `gu` are
    consonants, é parts from its neighbours (thé-â-tre) except after i (so-cié-té), ï and ë begin a syllable.

    Args:
        word: one word, as `words` gives it.
        language: "en" or "fr" (a region may follow); others are counted as English.
    """
    plain = unicodedata.normalize("NFC", word).lower()
    if language.lower().startswith("fr"):
        return _french(plain)
    plain = plain.replace("’", "'")
    second = _EN_SECOND_PARTS.search(plain)
    if second and plain not in _EN_KNOWN:
        return _english_part(plain[: second.start()]) + _english_part(second.group())
    return _english_part(plain)


def is_complex(word: str, language: str, vocabulary: Vocabulary) -> bool:
    """Whether a word is hard by the vocabulary's measure."""
    plain = unicodedata.normalize("NFC", word).lower().replace("’", "'")
    if plain in vocabulary.familiar or plain.removesuffix("s") in vocabulary.familiar:
        return False
    return syllables(plain, language) >= vocabulary.complex_syllables


def complex_word_share(text_words: Sequence[str], language: str, vocabulary: Vocabulary) -> float:
    """The share of hard words, 0 to 1; 0 where there are no words."""
    if not text_words:
        return 0.0
    return sum(is_complex(word, language, vocabulary) for word in text_words) / len(text_words)


_EN_GROUPS = re.compile(r"[aeiouyàâäéèêëîïôöùûü]++")
# Neighbouring vowels that are two syllables: vi-de-o, pi-a-no, so-ci-e-ty, ex-pe-ri-ence, u-su-al, do-ing, sta-di-um, po-et.
_EN_PARTED = re.compile(
    r"(?<![tcsghln])i[ao](?!ge)|iet|(?<![tc])ien[ct]|eo(?!ple|us|n)|creat(?!ure)|real(?!l)|(?<![qg])ua[lt]|uou|[eouy]ing|iu|oe[mt]"
    r"|[aeou]y(?:er|ing|on|al)|[a-z][st]hm\b|sm\b|[ds]n't\b"
)
_EN_SILENT = re.compile(r"(?:[^aeiouy]e|(?<![sxzcg])(?<!ch)(?<!sh)(?<=[^aeiouy])es|(?<=[^aeiouytd])ed)\Z")
_EN_SOUNDED = re.compile(r"[^aeiouylr]l(?:e|es|ed)\Z")
# What may follow a silent e inside a word: care-ful, home-work.
_EN_SECOND_PARTS = re.compile(
    r"(?<=[a-z]{2}e)(ly|ful|fully|less|ness|ments?|things?|times?|where|bod(?:y|ies)|one|works?|balls?|made|fighters?)\Z"
)
_EN_COUNTS = {
    2: "business create creates every giant hundred lion lions maybe ninety safety science sciences",
    3: "area areas created everyone everything idea ideas recipe scientist scientists",
    4: "everybody",
}
_EN_KNOWN = {word: count for count, words in _EN_COUNTS.items() for word in words.split()}


def _english_part(word: str) -> int:
    if word in _EN_KNOWN:
        return _EN_KNOWN[word]
    count = len(_EN_GROUPS.findall(word)) + len(_EN_PARTED.findall(word))
    if _EN_SILENT.search(word) and not _EN_SOUNDED.search(word):
        count -= 1
    return max(1, count)


_FR_VOWELS = "aeiouyàâäéèêëîïôöùûüÿœæ"
_FR_GROUPS = re.compile(rf"[{_FR_VOWELS}]++")
# Where one syllable ends between two vowels: no|ël, thé|âtre, po|ète, jou|é, cha|os, cri|er, conti|nu|er.
_FR_HIATUS = re.compile(
    rf"(?<=[{_FR_VOWELS}])(?=[ëïöü])|(?<=é)(?=[{_FR_VOWELS}])|(?<=[aouy])(?=é)|(?<=o)(?=[aè])|(?<=a)(?=o)"
    r"|(?<=[bcdfgptv][lr][iu])(?=[aeoèéêô])|(?<=u)(?=e[rz]\Z)"
)
_FR_CONSONANT_U = re.compile(r"(?<=q)u|(?<=g)u(?=[eéèêiy])")
_FR_CONSONANT_Y = re.compile(rf"(?<=[{_FR_VOWELS}])y(?=[{_FR_VOWELS}])")
_FR_SILENT = re.compile(rf"(?<=[{_FR_VOWELS}])([^{_FR_VOWELS}]*)es?\Z")
# -ment is sounded in nouns and adverbs, and silent in these verbs; -ent is silent but in these words.
_FR_MENT = """
    aiment arment assument calment charment consument dorment enferment entament expriment ferment filment forment fument
    impriment informent nomment réclament résument suppriment transforment
"""
_FR_VERBS_IN_MENT = frozenset(_FR_MENT.split())
_FR_ENT = """
    absent accent accident adolescent agent apparent argent cent client compétent content couvent dent différent équivalent
    évident excellent fréquent incident indifférent ingrédient innocent intelligent lent orient parent patient permanent
    précédent présent président prudent récent régent serpent souvent talent torrent transparent urgent vent violent
"""
_FR_SOUNDED_ENT = frozenset(_FR_ENT.split())
_FR_KNOWN = {"abbaye": 3, "août": 1, "faon": 1, "moelle": 1, "paon": 1, "pays": 2, "paysage": 3, "paysages": 3, "poêle": 1}


def _french(word: str) -> int:
    if word in _FR_KNOWN:
        return _FR_KNOWN[word]
    stem = word
    if word.endswith("ent") and word not in _FR_SOUNDED_ENT and (not word.endswith("ment") or word in _FR_VERBS_IN_MENT):
        stem = word[:-2]
    # Whether u and y sound is settled before an ending falls: longue is long, not longu.
    stem = _FR_CONSONANT_Y.sub("j", _FR_CONSONANT_U.sub("", stem))
    stem = _FR_SILENT.sub(r"\1", stem)
    return max(1, len(_FR_GROUPS.findall(_FR_HIATUS.sub("|", stem))))
