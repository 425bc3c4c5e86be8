"""Numbers written in words as people spell them: French before and after 1990, Belgian and Swiss, and English."""

_FRENCH_WORDS = (
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf"
)
_FRENCH = _FRENCH_WORDS.split()
_FRENCH_TENS = {2: "vingt", 3: "trente", 4: "quarante", 5: "cinquante", 6: "soixante", 8: "quatre-vingt"}
_ENGLISH_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"
    " nineteen"
)
_ENGLISH = _ENGLISH_WORDS.split()
_ENGLISH_TENS_WORDS = "- - twenty thirty forty fifty sixty seventy eighty ninety"
_ENGLISH_TENS = _ENGLISH_TENS_WORDS.split()


def in_french(number: int, *, hyphens: bool = False, belgian: bool = False, feminine: bool = False) -> str:
    """A number under a million; `hyphens` between all words, as since 1990."""
    if number >= 1_000:
        many, rest = divmod(number, 1_000)
        plural = many % 100 in (0, 80)  # "trois cents" and "quatre-vingts" lose it before "mille"
        counted = "" if many == 1 else (in_french(many).removesuffix("s") if plural else in_french(many)) + " "
        words = f"{counted}mille" + (f" {in_french(rest, belgian=belgian, feminine=feminine)}" if rest else "")
    elif number >= 100:
        many, rest = divmod(number, 100)
        counted = "cent" if many == 1 else f"{_FRENCH[many]} cent"
        words = f"{counted} {in_french(rest, belgian=belgian, feminine=feminine)}" if rest else counted + "s" * (many > 1)
    else:
        words = _below_a_hundred(number, belgian, "une" if feminine else "un")
    return words.replace(" ", "-") if hyphens else words


def _below_a_hundred(number: int, belgian: bool, one: str) -> str:
    if number < 20:
        return one if number == 1 else _FRENCH[number]
    ten, rest = divmod(number, 10)
    if belgian and ten in (7, 9):
        words = {7: "septante", 9: "nonante"}[ten]
    elif ten in (7, 9):
        words, rest = _FRENCH_TENS[ten - 1], rest + 10
    else:
        words = _FRENCH_TENS[ten]
    if not rest:
        return f"{words}s" if number == 80 else words
    joined = " et " if rest in (1, 11) and not words.startswith("quatre") else "-"
    return words + joined + (one if rest == 1 else _FRENCH[rest])


def in_english(number: int) -> str:
    """A number under a million, in British spelling."""
    if number >= 1_000:
        many, rest = divmod(number, 1_000)
        joined = " and " if rest < 100 else " "
        return f"{in_english(many)} thousand" + (joined + in_english(rest) if rest else "")
    if number >= 100:
        many, rest = divmod(number, 100)
        return f"{_ENGLISH[many]} hundred" + (f" and {in_english(rest)}" if rest else "")
    if number < 20:
        return _ENGLISH[number]
    ten, rest = divmod(number, 10)
    return _ENGLISH_TENS[ten] + (f"-{_ENGLISH[rest]}" if rest else "")
