"""Phrases that say a number, written as the readers of figures know it; linear.

| kind | found | read as |
|---|---|---|
| shares | un tiers des frais, les deux tiers, la moitié, half of, two-thirds, trois huitièmes | 1⁄3, 2⁄3, 1⁄2, 3⁄8 |
| parts of an hour | une demi-heure, half an hour, trois quarts d'heure | 30 minutes, 45 minutes |
| times | deux heures et quart, dix heures moins le quart, half past nine | 2 h 15, 9 h 45, 9:30 |
| times | à midi, until midnight | 12h00, 0h00 |
| groups | une vingtaine de personnes, a dozen eggs, sous huitaine | ≃ 20 personnes, ≃ 12 eggs, ≃ 8 jours |
| times | trois heures de l'après-midi, huit heures du soir | 15h00, 20h00 |
| decimals | two point five, un virgule quatre, two and a half months | 2.5, 1.4, 2.5 months |
| decades | les années 70 | les années 1970 |
| periods | un semestre, tous les trimestres, a fortnight, two decades | 6 mois, tous les 3 mois, 14 days, 20 years |
| rates | 24h/24, 7 jours sur 7, 24/7 | 24 h par jour, 7 jours par semaine |
| multiples | twice, three-fold | 2 times, 3 times |
| payments | en 3x, 2x/4x sans frais | en 3 fois, 2 fois/4 fois sans frais |
| thousands | 45 milliers d'abonnés | 45000 abonnés |
| nothing | zéro euro, zero % | 0 euro, 0 % |

"Un tiers" is also a third party, "le quart" a watch, "a quarter" three months: only what says of what it is a part is a share.
The text has digits for its number words.
"""

import re
from collections.abc import Callable, Sequence, Set
from decimal import Decimal

from areopage.text.folding import lower_case

Edit = tuple[int, int, str]
"""Start, end, and what stands there instead."""

ABOUT = "≃"
"""What stands before the number of a group: about so many."""
WORDED = "⁄"
"""The slash of a share that stands in words: 1/3 may be a day."""
_S = r"[ \u00a0\u202f]"
_FRENCH_PARTS = {
    "tiers": 3, "quart": 4, "cinquième": 5, "sixième": 6, "septième": 7, "huitième": 8, "neuvième": 9, "dixième": 10,
    "douzième": 12, "quinzième": 15, "seizième": 16, "vingtième": 20, "centième": 100, "millième": 1000,
}  # fmt: skip
_ENGLISH_PARTS = {
    "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
    "twelfth": 12, "twentieth": 20, "hundredth": 100,
}  # fmt: skip
_PARTS = _FRENCH_PARTS | _ENGLISH_PARTS
# A word that may belong to an ordinal has no digits: trois huitièmes.
_COUNTED = {word: str(at) for at, word in enumerate(("deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf"), 2)}
_COUNT = rf"(?P<count>[2-9]|1[0-9]|{'|'.join(_COUNTED)})"
_FRENCH, _ENGLISH = "|".join(_FRENCH_PARTS), "|".join(_ENGLISH_PARTS)
_OF_WHAT = (
    rf"(?={_S}(?:d(?:u|es)(?!\w)|(?:de{_S}|d['’])"
    r"(?:la|l|cette|cet|ces?|ses?|sa|son|leurs?|votre|vos|notre|nos|tou[ts]e?s?|entre)(?!\w)))"
)
_CHANGED = r"(?:réduit|diminu|augment|baiss|major|minor|recul|progress|inférieur|supérieur|hauteur|concurrence)[^\W\d_]{0,7}"
_SHARES = re.compile(
    rf"(?<![\w-])(?:(?P<half>la{_S}moitié|(?<=\w{_S}de{_S})moitié)(?![\w-])"
    rf"|(?:(?:une?|le|au|du){_S}(?P<one>tiers|quart)|un{_S}(?P<rare>{_FRENCH})){_OF_WHAT}"
    rf"|(?<=d['’])un{_S}(?P<by>tiers|quart)(?![\w-])"
    rf"|{_COUNT}{_S}(?P<many>tiers|(?:{_FRENCH})s)(?![\w-]|{_S}de{_S}finale))"
)
_ENGLISH_SHARES = re.compile(
    rf"(?<![\w.,-])(?:(?P<whole>[0-9]{{1,3}}|one){_S}and{_S}(?:a|one)[ \u00a0-]half(?=[ \u00a0-][a-z]))"
    rf"|(?<![\w-])(?:(?P<half>(?:(?:one|a)[ \u00a0-])?half)(?={_S}(?:of|the|its|their|his|her|all|your|our)(?!\w))"
    rf"|(?:an?|one)[ \u00a0-](?P<one>{_ENGLISH})(?={_S}of{_S}(?!an?{_S}))"
    rf"|one[ \u00a0-](?P<single>{_ENGLISH})(?![\w-])"
    rf"|(?P<count>[2-9]|1[0-9])(?:-(?P<joined>(?:{_ENGLISH})s)"
    rf"|{_S}(?P<many>(?:{_ENGLISH})s)(?<!quarters)|{_S}quarters(?={_S}of{_S}(?:the|its|their|all|our)(?!\w)))(?![\w-]))"
)
# "The first half of the year" is a period, "an hour and a half" no share, "d'un tiers" a third party but behind a change.
_NO_SHARE = re.compile(
    r"(?:first|1st|second|2nd|third|fourth|last|latter|former|other|better|top|bottom|upper|lower|early|late|and|final|next|each)"
    r"[ \u00a0-](?:a[ \u00a0])?\Z"
)
_BY = re.compile(rf"(?<!\w){_CHANGED}{_S}d['’]\Z")
_BEFORE_SHARE = 30  # characters in which these stand
_HOURS = re.compile(
    rf"(?<![\w-])(?:(?P<half>(?:une{_S})?demi[ -]heure|(?:a[ \u00a0])?half[ -]an?[ -]hour|(?:a[ \u00a0])?half[ -]hour)s?"
    rf"|(?:(?P<more>3|trois)[ \u00a0-])?(?:(?:un|a|1){_S})?"
    rf"(?:quarts?{_S}d['’]heure|quarters?(?:{_S}of{_S}an)?[ \u00a0-]hours?))(?!\w)"
)
_CLOCK = re.compile(
    rf"(?<![\w.,:])(?P<hour>[0-9]{{1,2}}){_S}?(?:h|heures?){_S}(?:(?P<quarter>et{_S}quart)"
    rf"|moins{_S}(?:le{_S}(?P<to>quart)|(?P<less>5|10|20|25)(?!{_S}?(?:min|%|[0-9]))))(?!\w)"
    rf"|(?<![\w-])(?:(?P<part>(?:a[ \u00a0])?quarter|half|(?:5|10|20|25)(?:{_S}minutes)?){_S}past"
    rf"|(?P<before>(?:a[ \u00a0])?quarter|(?:5|10|20|25){_S}minutes){_S}to){_S}(?P<of>1[0-2]|[1-9]|one)(?![\w%:]|[.,][0-9])"
)
_NOON = re.compile(
    rf"(?<![\w-])(?P<lead>(?:à|de|dès|jusqu['’]à|avant|après|vers|entre|et|at|by|until|till|before|after|from|and|to|12){_S})"
    rf"(?P<name>midi|minuit|(?:12{_S})?noon|midnight)(?:{_S}(?:et{_S}(?:(?P<half>demie?)|(?P<quarter>quart))"
    rf"|moins{_S}(?:(?P<to>le{_S}quart)|(?P<less>5|10|20|25))|(?P<past>[1-5][05])(?![0-9%€])))?(?![\w-])(?!{_S}moins)"
)
_GROUPS = {
    "huitaine": 8, "dizaine": 10, "douzaine": 12, "quinzaine": 15, "vingtaine": 20, "trentaine": 30, "quarantaine": 40,
    "cinquantaine": 50, "soixantaine": 60, "centaine": 100, "millier": 1000, "dozen": 12,
}  # fmt: skip
_AINES = "|".join(list(_GROUPS)[:-1])
_GROUPED = re.compile(
    rf"(?<![\w-])(?:(?:(?P<half>une{_S}demi-)|une?{_S}|(?P<count>[2-9]|1[0-9]){_S})(?P<group>{_AINES})s?(?:{_S}d(?:e{_S}|['’])(?=[^\W\d])(?P<of>)"
    rf"|(?<!quarantaine)(?<!soixantaine)(?<!cinquantaine)(?![\w-]|{_S}d(?:e{_S}|['’])))"
    rf"|sous{_S}(?P<within>huitaine|quinzaine)(?!\w)"
    rf"|(?:(?P<halved>half[ \u00a0-]a[ \u00a0-])|(?:an?|one)[ \u00a0]|(?P<dozens>[2-9]|1[0-9]){_S})"
    rf"(?P<english>dozen)(?![\w-])(?:{_S}of(?={_S}))?)"
)
_DAYS_OF = frozenset(["huitaine", "quinzaine"])
_PERIODS = re.compile(
    rf"(?<![\w-])(?:(?P<lead>chaque|par|tous{_S}les|une?|(?P<count>[2-9]|1[0-9])){_S}(?P<period>semestre|trimestre)s?(?![\w-])"
    rf"|(?P<one>an?|one|(?P<many>[2-9])){_S}(?P<fortnight>fortnight)s?(?!\w)"
    rf"|(?P<tens>[2-9]){_S}(?P<decade>décennies|decades)(?!\w))"
)
_RATES = re.compile(
    rf"(?<![\w.,/-])(?:(?P<hours>[0-9]{{1,2}}){_S}?h(?:eures?)?{_S}?(?:/|sur){_S}?24|(?P<days>[1-7]){_S}?j(?:ours?)?{_S}?(?:/|sur){_S}?7"
    r"|24/(?P<week>[5-7]))(?![\w/]|[.,][0-9])"
)
_DECADES = re.compile(
    rf"(?<!\w)années{_S}(?P<decade>[3-9]0)(?:(?P<join>{_S}(?:et|ou|à){_S})(?P<other>[3-9]0))?(?![\w%]|[.,][0-9]|{_S}[0-9])"
)
_HALF_DAY = re.compile(
    rf"(?<![\w.,:])(?P<hour>[1-9]|1[01]){_S}?(?:h|heures?)(?:{_S}?(?P<minute>[0-5][0-9]))?{_S}(?:de{_S}l['’]après-midi|du{_S}soir)(?!\w)"
)
_DECIMALS = re.compile(
    rf"(?<![\w.,-])(?P<whole>une?|one|[0-9]{{1,6}}){_S}(?:point|virgule){_S}(?P<rest>[0-9]{{1,4}})(?![\w]|[.,][0-9])"
)
# A lone "3x" may be anything.
_PAID = re.compile(
    rf"(?<![\w.,/-])(?P<lead>en{_S})?(?:[2-9]|1[0-2]){_S}?x(?!\w)(?:{_S}?(?:[/,]|et|ou|à){_S}?(?:[2-9]|1[0-2]){_S}?x(?!\w)){{0,4}}"
    rf"(?![-/]|{_S}[0-9])(?P<free>(?={_S}sans{_S}frais))?"
)
_TIMES_SIGN, _OR = re.compile(rf"{_S}?x"), re.compile(rf"{_S}?[/,]{_S}?")
_THOUSANDS = re.compile(
    rf"(?<![\w.,-])(?P<thousands>[0-9]{{1,3}}(?:[.,][0-9]{{1,3}})?){_S}milliers{_S}d(?:e{_S}|['’])(?=[^\W\d])"
)
_ZERO = re.compile(
    rf"(?<![\w-])(?:z[ée]ros?)(?={_S}(?:€|%|\$|£|euros?|centimes?|francs?|dollars?|pounds?|pour{_S}cent|per{_S}?cent)(?![^\W_]))"
)
_MULTIPLES = {"doubl": 2, "tripl": 3, "quadrupl": 4, "quintupl": 5, "décupl": 10, "centupl": 100, "twice": 2, "thrice": 3}
_MULTIPLIED = re.compile(
    rf"(?<![\w-])(?:(?P<word>twice|thrice)|multipl(?:i[^\W\d_]{{1,6}}|y|ying){_S}(?:par|by){_S}(?P<times>[2-9]|1[0-9]|100)(?![\w%]|[.,][0-9])"
    rf"|(?:le|du|au){_S}(?P<noun>doubl|tripl|quadrupl|quintupl|décupl|centupl)e(?={_S}d(?:[ue]s?{_S}|['’]))"
    r"|(?P<verb>doubl|tripl|quadrupl|quintupl|décupl|centupl)(?:ée?s?|er|era|eront|ed)(?![\w-])"
    rf"|(?P<english>doubl|tripl|quadrupl)e{_S}(?=(?:the|its|their|that)(?!\w)))"
)


def _share(match: re.Match[str]) -> str:
    groups = match.groupdict()
    if groups.get("whole"):
        return f"{groups['whole'].replace('one', '1')}.5"
    plural = groups["many"] or groups.get("joined")
    word = groups["one"] or groups.get("rare") or groups.get("by") or groups.get("single")
    parts = 2 if groups["half"] else _PARTS[word] if word else _parts_of(plural or "quarters")
    part = _COUNTED.get(groups["count"] or "1", groups["count"] or "1")
    before = match.string[max(0, match.start() - _BEFORE_SHARE) : match.start()]
    fits = _BY.search(before) is not None if groups.get("by") else _NO_SHARE.search(before) is None
    return f"{part}{WORDED}{parts}" if fits and int(part) < parts else ""


def _parts_of(plural: str) -> int:
    return _PARTS[plural] if plural in _PARTS else _PARTS[plural.removesuffix("s")]


def _part_of_hour(match: re.Match[str]) -> str:
    return "30 minutes" if match["half"] else "45 minutes" if match["more"] else "15 minutes"


def _time(match: re.Match[str]) -> str:
    if match["of"]:
        part, hour = match["part"] or match["before"], int(match["of"].replace("one", "1"))
        minutes = 30 if part == "half" else 15 if part.endswith("quarter") else int(part.split()[0])
        return f"{hour}:{minutes:02}" if match["part"] else f"{hour - 1 or 12}:{60 - minutes:02}"
    hour = int(match["hour"])
    if match["quarter"]:
        return f"{hour} h 15"
    minutes = 15 if match["to"] else int(match["less"])
    return f"{(hour or 24) - 1} h {60 - minutes}"


def _noon(match: re.Match[str]) -> str:
    hour = 0 if match["name"] in ("minuit", "midnight") else 12
    minutes = 30 if match["half"] else 15 if match["quarter"] else int(match["past"] or 0)
    if match["to"] or match["less"]:
        hour, minutes = (hour or 24) - 1, 60 - int(match["less"] or 15)
    lead = "" if match["lead"].startswith("12") else match["lead"]
    return f"{lead}{hour}h{minutes:02}"


def _group(match: re.Match[str]) -> str:
    if match["within"]:
        return f"sous {ABOUT} {_GROUPS[match['within']]} jours"
    if match["english"]:
        return f"{ABOUT} {12 * int(match['dozens'] or 1) // (2 if match['halved'] else 1)}"
    group = match["group"]
    number = _GROUPS[group] * int(match["count"] or 1) // (2 if match["half"] else 1)
    if match["of"] is not None:
        return f"{ABOUT} {number} "
    return f"{ABOUT} {number} jours" if group in _DAYS_OF else f"{ABOUT} {number}"


def _period(match: re.Match[str]) -> str:
    if match["period"]:
        months = (6 if match["period"] == "semestre" else 3) * int(match["count"] or 1)
        lead = "" if match["count"] or match["lead"].startswith("un") else f"{match['lead']} "
        return f"{lead}{months} mois"
    if match["fortnight"]:
        return f"{14 * int(match['many'] or 1)} days"
    return f"{match['tens']}0 {'ans' if match['decade'] == 'décennies' else 'years'}"


def _rate(match: re.Match[str]) -> str:
    if match["hours"]:
        return f"{match['hours']} h par jour"
    days = f"{match['days'] or match['week']} jours par semaine"
    return days if match["days"] else f"24 h par jour, {days}"


def _decade(match: re.Match[str]) -> str:
    lead, other = match.group()[: match.start("decade") - match.start()], match["other"]
    return f"{lead}19{match['decade']}" + (f"{match['join']}19{other}" if other else "")


def _half_day(match: re.Match[str]) -> str:
    return f"{int(match['hour']) + 12}h{match['minute'] or '00'}"


def _decimal(match: re.Match[str]) -> str:
    whole = match["whole"]
    return f"{whole if whole.isdigit() else 1}.{match['rest']}"


def _paid(match: re.Match[str]) -> str:
    if match["lead"] is None and match["free"] is None:
        return ""
    return _OR.sub(" ou ", _TIMES_SIGN.sub(" fois", match.group()))


def _thousands(match: re.Match[str]) -> str:
    return f"{Decimal(match['thousands'].replace(',', '.')) * 1000:f}".partition(".")[0] + " "


def _zero(_: re.Match[str]) -> str:
    return "0"


def _multiple(match: re.Match[str]) -> str:
    root = match["word"] or match["noun"] or match["verb"] or match["english"]
    number = match["times"] or _MULTIPLES[root]
    english = match["word"] or match["english"] or match.group().endswith("ed") or " by " in match.group()
    return f"{number} times" + (" " if match["english"] else "") if english else f"{number} fois"


_Writer = Callable[[re.Match[str]], str]
_MULTIPLE_WORDS = (
    "twice thrice double triple quadruple doubled tripled quadrupled cuple multiply quintuple centuple doubl tripl quadrupl"
    " quintupl cupl centupl doubler tripler quadrupler multipli multiplie multiplied multiplier multiplying"
)
_PART_WORDS = [word.partition("è")[0] for word in _FRENCH_PARTS]
# A text with such a phrase has one of the words, without their accents and what goes on behind these, and one of the pieces if
# there are any. Phrases that others are a part of go first.
_BY_WORDS: Sequence[tuple[Set[str], Sequence[str], re.Pattern[str], _Writer]] = (
    (frozenset(["quart", "quarts", "quarter", "quarters", "demi", "half"]), ("heure", "hour"), _HOURS, _part_of_hour),
    (
        frozenset(["quart", "moins", "past", "quarter", "minutes"]),
        ("et quart", "heures moins", "h moins", " past ", "quarter to", "minutes to"),
        _CLOCK,
        _time,
    ),
    (frozenset(["midi", "soir"]), ("après-midi", "du soir"), _HALF_DAY, _half_day),
    (frozenset(["ann"]), ("années",), _DECADES, _decade),
    (frozenset(["point", "virgule"]), (), _DECIMALS, _decimal),
    (frozenset(["x"]), (), _PAID, _paid),
    (frozenset(["milliers"]), (), _THOUSANDS, _thousands),
    (frozenset(["ro", "zero"]), (), _ZERO, _zero),
    (frozenset(["midi", "minuit", "noon", "midnight"]), (), _NOON, _noon),
    (frozenset([word for group in _GROUPS for word in (group, f"{group}s")]), (), _GROUPED, _group),
    (
        frozenset(["semestre", "semestres", "trimestre", "trimestres", "fortnight", "fortnights", "cennies", "decades"]),
        (),
        _PERIODS,
        _period,
    ),
    (frozenset(["moiti", "quarts", *_PART_WORDS]), (), _SHARES, _share),
    (frozenset(["half", *_ENGLISH_PARTS, *(f"{word}s" for word in _ENGLISH_PARTS)]), (), _ENGLISH_SHARES, _share),
    (frozenset(_MULTIPLE_WORDS.split()), (), _MULTIPLIED, _multiple),
    (frozenset(["sur"]), ("sur 24", "sur 7", "sur\u00a024", "sur\u00a07"), _RATES, _rate),
)
PHRASE_WORDS = frozenset[str]().union(*(words for words, *_ in _BY_WORDS))
"""The words, without the letters that have accents, of which a text with a phrase has at least one, unless it has a slash."""


def phrases(text: str, words: Set[str]) -> list[Edit]:
    """What is to be read instead of the phrases of a text; `words` are those of `PHRASE_WORDS` that it has."""
    said = [
        (pattern, write)
        for cues, pieces, pattern, write in (_BY_WORDS if words else ())
        if not cues.isdisjoint(words) and (not pieces or any(piece in text for piece in pieces))
    ]
    if "/" in text and any(cue in text for cue in ("/24", "/7", "24/")):
        said.append((_RATES, _rate))
    edits: list[Edit] = []
    low = lower_case(text) if said else ""
    taken = bytearray(len(low))
    for pattern, write in said:
        for match in pattern.finditer(low):
            written = write(match)
            start, end = match.span()
            if written.endswith(" ") and low[end - 1] in " \u00a0":
                written, end = written[:-1], end - 1
            lead = match.group()[: written.find(" ") + 1]  # "sous" of "sous huitaine" stays
            if lead and written.startswith(lead):
                written, start = written.removeprefix(lead), start + len(lead)
            if written and not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                edits.append((start, end, written))
    return sorted(edits)
