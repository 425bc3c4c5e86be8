"""Whole numbers in French and English words, as contracts and statutes write them: 10 000 is "dix mille"."""

MOST = 999_999_999
_FRENCH = (
    "zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze", "treize", "quatorze",
    "quinze", "seize", "dix-sept", "dix-huit", "dix-neuf",
)  # fmt: skip
_FRENCH_TENS = (
    "", "dix", "vingt", "trente", "quarante", "cinquante", "soixante", "soixante", "quatre-vingt", "quatre-vingt",
)  # fmt: skip
_ENGLISH = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_ENGLISH_TENS = ("", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

COUNT_WORDS = frozenset(" ".join((*_FRENCH, *_FRENCH_TENS, *_ENGLISH, *_ENGLISH_TENS)).replace("-", " ").split()) | {
    "une", "vingts", "cent", "cents", "mille", "million", "millions", "hundred", "thousand",
}  # fmt: skip
"""The words that numbers are made of, but for "et" and "and"."""


def in_words(number: int) -> tuple[str, ...]:
    """The number in French and in English, in lower case, with a space for every hyphen; nothing beyond `MOST`."""
    if not 0 <= number <= MOST:
        return ()
    return tuple(words.replace("-", " ") for words in (_french(number), _english(number)))


def _french(number: int) -> str:
    for size, name in ((1_000_000, "million"), (1_000, "mille"), (100, "cent")):
        if number >= size:
            return _french_groups(*divmod(number, size), name)
    if number < 20:
        return _FRENCH[number]
    ten, rest = divmod(number, 10)
    if ten in (7, 9):
        rest += 10
    if not rest:
        return "quatre-vingts" if number == 80 else _FRENCH_TENS[ten]
    joined = " et " if rest in (1, 11) and ten < 8 else " "
    return f"{_FRENCH_TENS[ten]}{joined}{_FRENCH[rest]}"


def _french_groups(many: int, rest: int, name: str) -> str:
    """So many hundreds, thousands or millions, and the rest: one says "mille" and "cent" but "un million", and counts
    "deux cents" but "deux cent un" and "deux cent mille"."""
    counted = _french(many)
    if name == "mille" and counted.endswith(("cents", "vingts")):
        counted = counted.removesuffix("s")
    words = name if many == 1 and name != "million" else f"{counted} {name}"
    if many > 1 and (name == "million" or (name == "cent" and not rest)):
        words += "s"
    return f"{words} {_french(rest)}" if rest else words


def _english(number: int) -> str:
    for size, name in ((1_000_000, "million"), (1_000, "thousand"), (100, "hundred")):
        if number >= size:
            many, rest = divmod(number, size)
            words = f"{_english(many)} {name}"
            return f"{words} {'and ' if size == 100 else ''}{_english(rest)}" if rest else words
    if number < 20:
        return _ENGLISH[number]
    ten, rest = divmod(number, 10)
    return f"{_ENGLISH_TENS[ten]} {_ENGLISH[rest]}" if rest else _ENGLISH_TENS[ten]
