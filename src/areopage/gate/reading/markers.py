"""Small words that decide what a sentence means: negators, quantifiers, conditions, exceptions, bounds; French and English.

Each has one of a few values, so that "at least", "no less than" and "au minimum" are the same. Linear in the text.
"""

import re
from collections.abc import Mapping, Sequence, Set
from itertools import islice
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from areopage.text import NUMBER_WORDS, lower_case, stem

MarkerKind = Literal["negation", "quantifier", "condition", "exception", "bound", "other"]
"""`other` is what only looks like one of them: "not only", "even if"."""

_TOKEN = re.compile(r"n't|[^\W\d_]+?(?=n't)|[^\W_]+")
_WORD = re.compile(r"[^\W_]+")  # the same in a text without "n't"
_MOST_TOKENS = 400  # of a piece: later ones are not read
_NE = frozenset(("ne", "n"))
_NE_QUE, _NE_PLUS = 4, 3  # words from "ne" within which "que" restricts and "plus" denies
_BE = frozenset(("is", "are", "was", "were", "be", "been", "not"))  # "is subject to tax" is no condition
_NUMBERS = NUMBER_WORDS | {"moitié", "half", "a", "an"}
# By kind and value: sequences of words, those that are read first before those that they contain. A "#" stands for a number.
_WRITTEN: tuple[tuple[MarkerKind, str, str], ...] = (
    (
        "other",
        "",
        "non seulement/not only/not just/not simply/pas seulement/pas uniquement/sans doute/no doubt/non plus/"
        "même si/comme si/even if/as if/what if/si bien que/s il vous plaît/si nécessaire/si besoin/si possible/"
        "si vous le souhaitez/si vous souhaitez/si vous voulez/si vous désirez/le cas échéant/if you wish/"
        "if you want/if you would like/if you like/if you need/if you re/if necessary/if needed/if possible/"
        "if desired/if applicable/if so/if you have any/check if/see if/know if/sure if/ask if/wonder if/"
        "determine if/vérifier si/savoir si/demander si/demande si/voir si/y compris/including/même/even/oui/yes/"
        "not applicable/only child/tout à fait/tout en/tout au long/tout de suite/pas à pas/plus ou moins/"
        "more or less/any other questions/above all/at all/after all/first of all/all in all/so that/que si/"
        "ainsi que/as well as/no matter/whether or not/if any/tout comme",
    ),
    (
        "bound",
        "least",
        "pas moins de/no less than/not less than/no fewer than/not fewer than/no earlier than/not before/au moins/"
        "au minimum/at least/at minimum/at a minimum/a minimum of/un minimum de/minimum of/minimum/minimal/minimale/"
        "minimales/minimaux/ou plus/et plus/or more/or over/or above/or older/and over/and above/and older/and up/"
        "au dessus de #/au delà de #/plus de #/plus d #/supérieur à #/supérieure à #/supérieurs à #/supérieures à #/"
        "supérieur ou égal à #/à partir de #/more than #/over #/above #/exceed #/exceeds #/exceeding #/"
        "greater than #/dépasse #/dépassent #/dépassant #/excède #/excédant #/starting at #/starting from #/"
        "upwards of",
    ),
    (
        "bound",
        "most",
        "pas plus de/pas plus d/no more than/not more than/no later than/not later than/au plus tard/au plus/"
        "au maximum/at most/at the most/at maximum/a maximum of/un maximum de/maximum of/maximum/maximal/maximale/"
        "maximales/maximaux/up to/jusqu à/jusqu au/jusqu aux/jusqu en/ou moins/or less/or fewer/or under/or younger/"
        "and under/and younger/plafonné à/plafonnée à/plafonnés à/plafonnées à/capped at/limité à/limitée à/"
        "limités à/limitées à/limited to/moins de #/moins d #/inférieur à #/inférieure à #/inférieurs à #/"
        "inférieures à #/inférieur ou égal à #/au dessous de #/less than #/fewer than #/under #/below #/not exceed/"
        "not exceeding/n't exceed/never exceed/without exceeding/sans dépasser/sans excéder/pas dépasser/pas excéder/"
        "peut dépasser/peut excéder/dépasse pas/dépassent pas/excède pas/smaller than #",
    ),
    (
        "condition",
        "unless",
        "unless/à moins que/à moins qu/à moins de/à moins d/sauf si/except if/except when/except where/sauf lorsque/sauf quand",
    ),
    (
        "condition",
        "if",
        "only if/only when/seulement si/seulement lorsque/seulement quand/uniquement si/uniquement lorsque/que si/"
        "à la condition/à condition/sous condition/sous réserve/sous les réserves/pourvu que/pourvu qu/provided that/"
        "providing that/as long as/so long as/subject to/en cas de/en cas d/in case of/in the event/in the case of/"
        "in case/on condition/dès lors que/dès lors qu/tant que/tant qu/si/s il/s ils/if",
    ),
    (
        "condition",
        "when",
        "lorsque/lorsqu/quand/when/where/whenever/once/dès que/dès qu/une fois/dans le cas/dans les cas/selon que/"
        "depending/dans la mesure où",
    ),
    (
        "exception",
        "except",
        "sauf/hormis/excepté/exceptés/exceptée/exceptées/à l exception/à l exclusion/hors/en dehors/à part/except/"
        "excepting/excluding/apart from/aside from/other than/with the exception/save for/but for",
    ),
    (
        "quantifier",
        "only",
        "seulement/uniquement/exclusivement/seul/seule/seuls/seules/only/solely/exclusively",
    ),
    (
        "negation",
        "not",
        "pas/jamais/aucun/aucune/ni/non/not/never/nor/neither/cannot/no longer/no/none/n't/nul/nulle/nullement/sans/"
        "without/nobody/nothing/rien",
    ),
    (
        "quantifier",
        "all",
        "tous/toutes/toute/tout/chaque/chacun/chacune/l ensemble/l intégralité/la totalité/all/every/each/everyone/"
        "everything/entire/entirely/toujours/always/quel que soit/quelle que soit/quels que soient/intégralement/"
        "entièrement",
    ),
    (
        "quantifier",
        "most",
        "la plupart/la majorité/the majority/majority/most of/most/principalement/mainly/mostly/largely",
    ),
    (
        "quantifier",
        "some",
        "certains/certaines/quelque/quelques/quelques uns/quelques unes/plusieurs/some/several/a few/few/parfois/"
        "sometimes/occasionally/une partie/part of/certain/certaine",
    ),
    (
        "bound",
        "before",
        "avant #/avant le #/before #/prior to #",
    ),
    (
        "bound",
        "after",
        "après #/après le #/after #",
    ),
)

# What denies without a negator: a sentence with it may be put in other words with one.
_DENYING_WORDS = (
    "interdit interdite interdits interdites interdire interdiction défendu prohibé impossible impossibilité exclu "
    "exclue refus refuse refusé exempt exempté exonéré exonération dispensé dispense absence absent manque dépourvu "
    "illégal illicite invalide inéligible irrecevable échoue incapable inutile insuffisant indépendant inconnu "
    "forbidden prohibited prohibits unable refuses refused lack lacks lacking fails failed fail illegal unlawful "
    "invalid ineligible unnecessary insufficient unknown unlimited unavailable deny denies denied excluded free cease "
    "ceased stop stopped rarely hardly avoid avoids prevent prevents incorrect false fausse faux unlike incapacité "
    "empêche évite"
)
_DENYING = frozenset(map(stem, _DENYING_WORDS.split()))

# Words of which a sentence has one where another sentence has the other.
_OPPOSITES = (
    "augmente augmentation augmenter hausse/diminue diminution diminuer baisse réduit",
    "accepte acceptation/refuse refus rejette",
    "obligatoire obligation/facultatif facultative optionnel",
    "gratuit gratuite gratuitement/payant payante",
    "début commence/fin finit",
    "ouvert ouverte ouvre/fermé fermée ferme",
    "autorise autorisé permis permet/interdit interdite interdire",
    "premier première/dernier dernière",
    "minimum minimal/maximum maximal",
    "inclus incluse compris comprise/exclu exclue",
    "légal légale/illégal illégale",
    "possible/impossible",
    "temporaire/définitif définitive permanent permanente",
    "public publique/privé privée",
    "plus/moins",
    "avant/après",
    "nord/sud",
    "majeur majeurs/mineur mineurs",
    "débiteur/créancier",
    "acheteur acquéreur/vendeur",
    "bailleur propriétaire/locataire preneur",
    "employeur/salarié employé",
    "brut brute/net nette",
    "doit doivent/peut peuvent",
    "soumis soumise/exonéré exonérée exempt",
    "positif positive/négatif négative",
    "gain gagne/perte perd",
    "supérieur/inférieur",
    "increase increases increased rise rises rose/decrease decreases decreased fall falls fell",
    "accept accepts accepted/refuse refused reject rejected",
    "mandatory compulsory required/optional",
    "free/paid",
    "begin begins began start starts started/end ends ended",
    "open opens opened/close closes closed",
    "allow allows allowed permit permitted/forbid forbidden prohibit prohibited",
    "first/last",
    "include includes included including/exclude excludes excluded excluding",
    "legal/illegal",
    "temporary/permanent",
    "public/private",
    "more/less fewer",
    "before/after",
    "north northern/south southern",
    "east eastern/west western",
    "buyer/seller",
    "landlord/tenant",
    "employer/employee",
    "gross/net",
    "must shall/may can",
    "taxable/exempt",
    "positive/negative",
    "win won/lose lost",
    "higher/lower",
    "above/below",
    "hot/cold",
    "high/low",
    "large/small",
    "long/short",
    "early earlier/late later",
    "strong/weak",
    "safe/dangerous unsafe",
    "raise raised/lower lowered",
    "gain gained/loss",
    "grand grande/petit petite",
    "fort forte/faible",
    "chaud chaude/froid froide",
    "haut haute/bas basse",
    "matin/soir",
    "morning/evening",
    "import imports/export exports",
    "import/export",
    "succès/échec",
    "success/failure",
    "victoire/défaite",
    "victory/defeat",
)


class Marker(Struct, frozen=True):
    """A marker: `first` to `last` (exclusive) are its words."""

    kind: MarkerKind
    value: str
    first: int
    last: int


def _table() -> Mapping[str, Sequence[tuple[tuple[str, ...], MarkerKind, str]]]:
    table: dict[str, list[tuple[tuple[str, ...], MarkerKind, str]]] = {}
    for kind, value, written in _WRITTEN:
        for phrase in written.split("/"):
            words = tuple(phrase.split())
            table.setdefault(words[0], []).append((words, kind, value))
    for phrases in table.values():
        phrases.sort(key=lambda phrase: -len(phrase[0]))
    return MappingProxyType(table)


def _opposites() -> Mapping[str, frozenset[str]]:
    opposites: dict[str, frozenset[str]] = {}
    for pair in _OPPOSITES:
        first, second = (frozenset(stem(word) or word for word in side.split()) for side in pair.split("/"))
        for words, others in ((first, second), (second, first)):
            for word in words:
                opposites[word] = opposites.get(word, frozenset()) | others
    return MappingProxyType(opposites)


_PHRASES = _table()
_OPENING = frozenset((*_PHRASES, "que", "qu", "plus"))
OPPOSITES = _opposites()
"""By the root of a word: the roots of words that say the opposite."""


def folded(text: str) -> str:
    """A text in lower case with straight apostrophes, as long as it was."""
    return lower_case(text).replace("’", "'")


def words_of(text: str) -> list[str]:
    """The words of a text that is `folded`, up to a number: "isn't" are two, "l'impôt" too."""
    return (_TOKEN if "n't" in text else _WORD).findall(text)[:_MOST_TOKENS]


def spans_of(text: str) -> list[tuple[int, int]]:
    """Where the words of a text that is `folded` stand."""
    return [match.span() for match in islice(_TOKEN.finditer(text), _MOST_TOKENS)]


def denying(stems: Set[str]) -> frozenset[str]:
    """The stems that deny without a negator: that of "forbidden"."""
    return _DENYING & stems


def markers_of(words: Sequence[str]) -> list[Marker]:
    """The markers among the words of a piece of text, none inside another."""
    markers: list[Marker] = []
    negated, free = -_MOST_TOKENS, 0  # where "ne" stood last, and from where on no marker has been found
    for at, word in enumerate(words):
        if word in _NE:
            negated = at
        if at < free or word not in _OPENING:
            continue
        restricts = word in ("que", "qu") and at - negated <= _NE_QUE
        if restricts and not (markers and markers[-1].kind == "negation" and markers[-1].first > negated):
            markers.append(Marker("quantifier", "only", at, at + 1))
        elif word == "plus" and at - negated <= _NE_PLUS and words[at + 1 : at + 2] != ["de"]:
            markers.append(Marker("negation", "not", at, at + 1))
        phrase = _phrase_at(words, at)
        if phrase is not None:
            length, kind, value = phrase
            free = at + length
            if at or word not in ("no", "non"):
                markers.append(Marker(kind, value, at, free))
    return markers


def _phrase_at(words: Sequence[str], at: int) -> tuple[int, MarkerKind, str] | None:
    for phrase, kind, value in _PHRASES.get(words[at], ()):
        length = len(phrase) - (phrase[-1] == "#")
        if tuple(words[at : at + length]) != phrase[:length] or (phrase == ("subject", "to") and words[at - 1] in _BE):
            continue
        if length == len(phrase) or any(word[0].isdigit() or word in _NUMBERS for word in words[at + length : at + length + 2]):
            return length, kind, value
    return None
