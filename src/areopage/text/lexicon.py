"""The words of French and English together: months, units of time, currencies, and lists of single words."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from areopage.text import english, french
from areopage.text.folding import unaccented

LANGUAGES = MappingProxyType({"fr": french, "en": english})

EMPTY_WORDS = frozenset(f"{french.EMPTY_WORDS} {english.EMPTY_WORDS}".split())
LIGHT_WORDS = frozenset(f"{french.LIGHT_WORDS} {english.LIGHT_WORDS}".split())
FIRST_NAMES = frozenset(f"{french.FIRST_NAMES} {english.FIRST_NAMES}".split())
NEGATIONS = frozenset(f"{french.NEGATIONS} {english.NEGATIONS}".split())
CURRENCIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"EUR": ("€", "eur"), "USD": ("$", "dollar", "usd"), "GBP": ("£", "pound", "livre", "gbp"), "CHF": ("franc", "chf")}
)
"""By ISO code: what an amount in a currency has in its writing, in lower case."""
MONEY: Mapping[str, str] = MappingProxyType(
    {
        "CAD": r"dollars? canadiens?|canadian dollars?|(?:c|ca|can)\$|\$[ \u00a0]?(?:ca|can|cad)\b|cad",
        "AUD": r"dollars? australiens?|australian dollars?|(?:a|au)\$|aud",
        "NZD": r"new zealand dollars?|nz\$|nzd",
        "HKD": r"hong kong dollars?|hk\$|hkd",
        "SGD": r"singapore dollars?|s\$|sgd",
        "BRL": r"reais|r\$|brl",
        "MXN": r"mexican pesos?|pesos? mexicains?|mx\$|mxn",
        "JPY": r"¥|yens?|jpy",
        "CNY": r"yuans?|renminbi|rmb|cny",
        "INR": r"₹|rs\.?|roupies?|rupees?|inr",
        "RUB": r"₽|roubles?|rubles?|rub",
        "TRY": r"₺|livres? turques?|turkish liras?|try",
        "KRW": r"₩|wons?|krw",
        "ILS": r"₪|shekels?|ils",
        "UAH": r"₴|hryvnias?|uah",
        "VND": r"₫|dongs?|vnd",
        "NGN": r"₦|nairas?|ngn",
        "PLN": r"zł|zlotys?|złotych|pln",
        "CZK": r"kč|couronnes? tchèques?|czk",
        "HUF": r"forints?|huf",
        "RON": r"lei|ron",
        "SEK": r"couronnes? suédoises?|swedish (?:krona|kronor)|kronor|krona|sek",
        "NOK": r"couronnes? norvégiennes?|norwegian (?:krone|kroner)|nok",
        "DKK": r"couronnes? danoises?|danish (?:krone|kroner)|dkk",
        "XKR": r"kr\.?|krone|kroner|couronnes?",
        "XOF": r"francs? cfa|f ?cfa|xof|xaf",
        "XPF": r"francs? (?:cfp|pacifiques?)|xpf",
        "MAD": r"dirhams? marocains?|mad",
        "AED": r"aed",
        "XDH": r"dirhams?|dhs?",
        "TND": r"dinars? tunisiens?|tnd",
        "DZD": r"dinars? algériens?|dzd",
        "XDN": r"dinars?",
        "ZAR": r"zar|rands?",
        "SAR": r"riyals?|sar",
        "EUR": r"€|euros?|eur",
        "USD": r"us ?\$|\$ ?us|\$|us dollars?|dollars?(?: américains?)?|usd",
        "GBP": r"£|pounds?(?: sterling)?|livres?(?: sterling)?|gbp|quid",
        "CHF": r"francs? suisses?|swiss francs?|chf|frs?\.|sfr\.?|francs?",
    }
)
"""By ISO code: what is written beside an amount in a currency, the first that fits; XKR, XDH, XDN: any crown, dirham, dinar."""
MONEY_GROUPS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("SEK", "NOK", "DKK", "CZK"), "XKR")
    | dict.fromkeys(("MAD", "AED"), "XDH")
    | dict.fromkeys(("TND", "DZD"), "XDN")
)
"""By ISO code of a currency: the code of its name without a country."""

TIME_UNITS: Mapping[str, tuple[str, int]] = MappingProxyType(
    {"day": ("day", 1), "week": ("day", 7), "month": ("month", 1), "quarter": ("month", 3), "year": ("month", 12)}
    | {"minute": ("minute", 1), "hour": ("minute", 60)}
)
"""By name: the unit that durations are converted to, and the factor."""


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of some words, with or without their accents, in their order; what follows must end the word."""
    return "|".join(dict.fromkeys(form for word in words for form in _forms(word)))


def _forms(word: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys([word, unaccented(word)]))


_FRENCH = [month.split("/") for month in french.MONTHS.split()]
_ENGLISH = [month.split("/") for month in english.MONTHS.split()]
MONTHS: Mapping[str, int] = MappingProxyType(
    {
        form: number
        for months in (_FRENCH, _ENGLISH)
        for number, names in enumerate(months, 1)
        for name in names
        for form in _forms(name)
    }
)
"""Names and abbreviations of months, with and without accents, in lower case."""
FRENCH_MONTHS = tuple(names[0] for names in _FRENCH)
ENGLISH_MONTHS = tuple(names[0] for names in _ENGLISH)
ENGLISH_MONTHS_CUT = tuple(name for names in _ENGLISH for name in names[1:])

UNIT_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {name: tuple(dict.fromkeys(f"{french.UNITS[name]} {english.UNITS[name]}".split())) for name in TIME_UNITS}
)
"""By name: the words for a unit of time, in the singular."""
_UNIT_NAMES = {unaccented(word): name for name, words in UNIT_WORDS.items() for word in words}
_SIGNS = frozenset(["h", "j", "sem"])
_SPELLED = [word for words in UNIT_WORDS.values() for word in words if word not in _SIGNS]
_INFLECTED = any_of(word if word in ("mois", "min") else f"{word}s?" for word in _SPELLED)
UNIT_PATTERN = rf"(?:(?:{_INFLECTED})\b|(?:j|sem)\b|h(?:\b|(?=[0-5][0-9](?![0-9]))))"
"""A unit of time in lower case; 17h30 has one, and so has "3 sem."."""


def _cues(name: str) -> tuple[str, ...]:
    words = [word for word in UNIT_WORDS[name] if word not in _SIGNS]
    return tuple(form for word in words for form in (_forms(word) if len(word) > 2 else (f" {word}s",)))


UNIT_CUES: Mapping[str, Mapping[int, tuple[str, ...]]] = MappingProxyType(
    {
        unit: {factor: _cues(name) for name, (base, factor) in TIME_UNITS.items() if base == unit}
        for unit in ("day", "month", "minute")
    }
)
"""By the unit of durations, and by factor: what a text has that speaks of such a unit, in lower case."""
PERIODS: Mapping[int, tuple[str, ...]] = MappingProxyType(
    {months: tuple(f"{french.PERIODS[months]} {english.PERIODS.get(months, '')}".split()) for months in french.PERIODS}
)
"""By a number of months: the adjectives for it."""


def unit_of(written: str) -> str:
    """The name of a unit of time, as `UNIT_PATTERN` finds it; "" for "".

    Raises:
        KeyError: it is no unit.
    """
    word = unaccented(written).removesuffix(".")
    return (_UNIT_NAMES.get(word) or _UNIT_NAMES[word.removesuffix("s")]) if word else ""
