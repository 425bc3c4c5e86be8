"""Evidence for and against an answer affirming a piece that only the question has: cues in the answer and in the question.

Each cue is a pattern of closed classes of words (negators, pronouns, auxiliaries, prepositions, verbs of saying) in one part of
the text around the piece. None decides alone: `stance` weighs them.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from areopage.gate.premises import circumstances as own
from areopage.gate.premises import denials
from areopage.gate.premises.clauses import Around

_NEGATOR = (
    r"(?:\b(?:not|no|never|none|nothing|nowhere|neither|nor|cannot|without|unlike|rather than|other than|instead of|pas"
    r"|aucune?s?|ni|non"
    r"|rien|jamais|nulle|sans|inutile|autre que|autres que)\b|n['’]t\b|\b(?:plutôt|autre) qu|\bau lieu d|\bcontrairement)"
)
_TURNING = (
    r"(?:\b(?:but|however|whereas|while|though|although|instead|actually|rather|only|mais|cependant|toutefois|pourtant"
    r"|alors que"
    r"|tandis que|en revanche|par contre|plutôt|seulement|uniquement|en réalité|en fait|in fact|itself|lui-même)\b)"
)
_PREPOSITION = (
    r"(?:with|between|entre|for|since|of|on|at|in|from|as|after|before|under|by|given|if|avec|pour"
    r"|depuis|sur|à|en|dans|de|du|des|dès"
    r"|après|avant|comme"
    r"|vu|si|chez|puisque|because|having|étant|ayant|being|aged|compte tenu|au bout|sous|d['’])"
)
_CUES: tuple[tuple[str, str, str], ...] = (
    # The answer: polarity.
    ("negator before", "before", _NEGATOR),
    ("negator in the sentence before", "opening but yes and no", _NEGATOR),
    ("negator behind", "after", _NEGATOR),
    ("negator in the sentence behind", "closing", _NEGATOR),
    ("negator next", "following", _NEGATOR),
    ("turn before", "opening", _TURNING),
    ("turn behind", "closing", _TURNING),
    ("turn next", "following", _TURNING),
    (
        "wrong",
        "sentence",
        r"\b(?:wrong|false|incorrect|mistak|outdated|error|faux|fausse|inexact|erron|erreur|tromp|confus"
        r"|mixed up|confond|misunder)",
    ),
    ("sorry", "near", r"\b(?:sorry|afraid|unfortunately|désolé|malheureusement|hélas|regret)"),
    # The answer: who says it, and who does not know.
    (
        "said to the user",
        "sentence",
        rf"\b(?:told|dit|tell|said)\b.{{0,12}}\b(?:you|vous|t['’])|\b(?:you|vous|t['’])\W.{{0,24}}?\b{denials.SAYING}",
    ),
    ("saying before", "opening", rf"\b{denials.SAYING}"),
    ("saying behind", "closing", rf"\b{denials.SAYING}"),
    ("hedge", "sentence", r"\b(?:may|might|could|perhaps|maybe|pu|peut-être|aurait|auraient|serait|seraient|sans doute)\b"),
    (
        "what",
        "closing",
        r"\A\W*(?:\w+\W+){0,2}?(?:is|are|was|may be|est|sont|c['’]est)\W+(?:\w+\W+)?(?:what|ce que"
        r"|ce qu['’]|celui que|celle que|ceux que)",
    ),
    ("topic", "opening", denials.TOPIC),
    # The answer: yes and no.
    ("yes", "opening", rf"\A\W*{denials.YES}\b"),
    ("indeed", "sentence", r"\b(?:indeed|bien|effectivement|en effet|toujours|still|exactly|correct|right|exact)\b"),
    ("no", "opening", r"\A\W*(?:no|non|nope|not)\b"),
    # The answer: to whom it speaks, and how the piece is bound into its clause.
    ("you before", "before", r"\b(?:vous|tu|t['’]|toi|you)\b"),
    ("you in the sentence before", "opening", r"\b(?:vous|tu|t['’]|toi|you|votre|vos|your|ton|ta|tes)\b"),
    ("your before", "before", r"\b(?:votre|vos|ton|ta|tes|your)\b"),
    ("your beside", "before", r"\b(?:votre|vos|ton|ta|tes|your|son|sa|ses|his|her|their|leurs?)\s+(?:[\w'’-]+\s+){0,2}\Z"),
    ("you behind", "after", r"\A\s*(?:[\w'’-]+\s+){0,3}(?:(?:that|which|que|qu['’])\s*)?(?:you|vous|tu)\b"),
    ("preposition opens", "before", rf"\A\W*(?:(?:and|et|but|mais|hi|hello|bonjour)\W+)?{_PREPOSITION}(?:\b|(?<=['’]))"),
    (
        "preposition beside",
        "before",
        rf"(?:\b|(?<=['’])){_PREPOSITION}\s*(?:(?:an?|une?|the|le|la|les|l['’]|about"
        rf"|environ)\s*)?\Z",
    ),
    ("preposition near", "before", rf"\b{_PREPOSITION}\s*(?:[\w'’-]+\s+){{0,4}}\Z"),
    ("definite beside", "before", r"\b(?:the|le|la|les|ces|cette|this|these|that|aux?|du|des)\s+(?:[\w'’-]+\s+)?\Z|\bl['’]\Z"),
    ("copula beside", "before", own.COPULA),
    ("norm before", "before", own.NORM),
    ("first", "before", r"\A\W*\Z"),
    ("colon", "opening", r"[:|]\s*(?:\w+\s+)?\Z"),
    ("last", "closing", r"\A\W*\Z"),
    ("listed", "closing", r"\A\s*[|]"),
    # The question.
    ("asked: I before", "asked before", own.SUBJECT_I),
    ("asked: my before", "asked before", own.MINE),
    ("asked: my beside", "asked before", r"\b(?:mon|ma|mes|notre|nos|my|our)\s+(?:[\w'’-]+\s+){0,2}\Z"),
    ("asked: I in the sentence", "asked opening", rf"{own.SUBJECT_I}|{own.MINE}"),
    ("asked: norm", "asked before", own.NORM),
    ("asked: heard", "asked opening", own.HEARD),
    ("asked: heard behind", "asked closing", own.HEARD),
    ("asked: tag", "asked rest", own.TAG),
    ("asked: definite", "asked before", r"\b(?:the|le|la|les|ces|cette|this|these|aux?|du|des)\s+(?:[\w'’-]+\s+)?\Z|\bl['’]\Z"),
    ("asked: copula", "asked before", own.COPULA),
    ("asked: third person", "asked before", own.RULED),
    ("asked: if", "asked before", own.IF),
    ("asked: with", "asked before", own.SUPPOSED),
    ("asked: done", "asked before", own.DONE),
    ("asked: have", "asked before", own.HAVE),
    ("asked: since", "asked before", own.SINCE),
    ("asked: deadline", "asked before", own.DEADLINE),
    (
        "asked: verbless",
        "asked before",
        r"\A\W*(?:(?!is\b|are\b|est\b|sont\b|the\b|le\b|la\b|les\b|your\b"
        r"|votre\b)[\w'’-]+\s+){0,4}\Z",
    ),
    (
        "asked: question word",
        "asked opening",
        r"\b(?:combien|quel|quelle|quels|quelles|quand|où|pourquoi|comment|what"
        r"|which|how|when|where|why|who|qui)\b",
    ),
    # The answer: how it takes something up.
    ("questioned", "closing", r"\A[^.!]{0,30}\?"),
    ("affirmed next", "following", rf"\A\W*{denials.YES}\b"),
    (
        "negated verb behind",
        "closing",
        r"\A[^.;:]{0,60}?(?:\b(?:not|never|no longer|cannot)\b|n['’]t\b|\b(?:ne|n['’])\s?\w+ (?:pas|plus|jamais|rien|que?)\b)",
    ),
    ("negator beside", "before", rf"{_NEGATOR}\s*(?:[\w'’.-]+\s+){{0,2}}[\w'’]*\Z"),
    (
        "taken up",
        "opening",
        r"\A\W*(?:[\w'’]+[!,.]\s+)?(?:as|since|because|if|comme|puisque|si|vu que|étant donné que) ?(?:you"
        r"|vous|your|votre|vos|tu|ton|ta)\b",
    ),
    (
        "for your",
        "before",
        r"\A\W*(?:for|on|with|at|under|after|from|à|avec|pour|sur|après|dans|depuis|de)\s+(?:your|votre"
        r"|vos|the|le|la|les|l['’])\b",
    ),
    ("with bare", "before", r"\A\W*(?:for|on|with|at|after|à|avec|pour|sur|après|depuis|since)\s+\Z"),
    ("bracketed", "opening", r"\([^)]{0,60}\Z"),
    (
        "come from",
        "closing",
        r"\A[^.;]{0,40}?\b(?:comes?|came|from|by|vien(?:t|nent)|par|figure|claim|chiffre|information|affirmation)\b",
    ),
    (
        "documents",
        "near",
        rf"\b(?:our|my|the|nos|mes|notre|les?|la|these|ces)\s+(?:own\s+)?{denials.DOCUMENT}\b|\bi have\b|\bdont je dispose\b",
    ),
    ("own side", "following", r"\b(?:our|ours|nos|notre|nous|we|us)\b"),
    ("if in the answer", "opening", r"\b(?:if|si)\b"),
    ("participle", "before", r"\b(?:étant|ayant|being|having|datant|dated|née?|born)\b"),
    (
        "you did",
        "before",
        r"\b(?:you|vous)(?:['’]ve| have| avez| êtes)? (?:\w+ed|paid|bought|moved|have|are|were|got|sent"
        r"|\w+é|payez|êtes|avez|étiez)\b",
    ),
    # The question: whose it is.
    (
        "asked: first subject",
        "asked before",
        rf"(?:{own.SUBJECT_I})(?!.*\b(?:you|they|it|he|she|vous|ils?|elles?|c['’]est|ça|which|that|qui)\b)",
    ),
    ("asked: other subject", "asked before", r"\b(?:you|they|it|it['’]s|you['’]re|vous|ils?|c['’]est|ça)\b"),
    (
        "asked: presupposed",
        "asked opening",
        r"\b(?:since|as|given|seeing|considering|because|now that|comme|puisqu\w*|vu qu\w*|sachant|étant donné|du moment)\b",
    ),
    ("asked: heard in the clause", "asked clause", own.HEARD),
    ("asked: heard before", "asked previous", own.HEARD),
    ("asked: I next", "asked following", own.SUBJECT_I),
    ("asked: I behind", "asked closing", own.SUBJECT_I),
    ("asked: question behind", "asked rest", r"\?"),
    ("asked: question", "asked closing", r"\?\s*\Z"),
    (
        "asked: question word behind",
        "asked closing",
        r"\b(?:combien|quel\w*|quand|où|comment|what|which|how|when|where|who|qui)\b",
    ),
    ("asked: inverted", "asked clause", own.ASKED),
    (
        "asked: number of mine",
        "asked before",
        r"\b(?:order|booking|policy|account|meter|case|file|claim|contract|ref\w*|dossier|contrat|compteur"
        r"|commande|client|réf\w*|n°|no\.?)\W+(?:\w+\W+){0,2}\Z",
    ),
    (
        "attested",
        "around",
        r"\b(?:is|are|was|est|sont|a|ont|['’]s|['’]re)\s(?:quite |absolutely |tout à fait |bien "
        r"|entirely )?(?:right|correct|raison|renseignée?|informée?|well informed)\b",
    ),
    (
        "imperative",
        "opening",
        r"(?:\A|[:;,]\s)\W*(?:(?:please|then|just|simply|merci de|veuillez|il suffit de"
        r"|il faut)\s+)?(?:[\w-]+ez\b|(?!(?:the|an?|your|you|it|its|this|that|these|there|they|we|i|he|she"
        r"|if|as|since|for|with|on|in|at|to|from|after|under|by|no|not|yes|le|la|les|un|une|votre|vos|vous"
        r"|il|elle|ce|cette|si|comme|pour|avec|sur|dans|à|de|du|selon|après)\b)[a-z]{2,12}\s(?:your|the"
        r"|an?|it|on|to|in|with|at|up|them|us)\b)",
    ),
    (
        "asked: official",
        "asked before",
        r"\b(?:form|formulaire|cerfa|sections?|articles?|clause|rule|paragraph|page|annex\w*|leaflet|fiche"
        r"|notice|law|loi|décret|circulaire|code|pin|password|mot de passe|version|norme|standard|iso"
        r"|promo|page)\s+(?:[\w.°-]+\s+)?\Z",
    ),
    ("asked: opens", "asked opening", r"\A\W*(?:[\w'’°.-]+\s+){0,3}\Z"),
    (
        "asked: past",
        "asked before",
        r"\b(?:was|were|had|did|\w+ed|bought|paid|sent|left|got|took|went|ai|a|avons|ont|est|sommes"
        r"|suis) (?:\w+ )?|\b\w+ée?s?\b",
    ),
    ("asked: listed", "asked opening", r"[0-9][^.?!]*[,(]"),
)
_KINDS = MappingProxyType(
    {
        "contact": "contact",
        "address": "address",
        "code": "code",
        "reference": "reference",
        **dict.fromkeys(("date", "weekday"), "date"),
        **dict.fromkeys(("quantity", "number"), "count"),
        "name": "name",
        "duration": "duration",
        "percentage": "share",
        "amount": "amount",
    }
)
_PATTERNS = tuple((name, part, re.compile(pattern)) for name, part, pattern in _CUES)
# Cues that mean more together.
_TOGETHER = (
    "circumstance & preposition opens",
    "your before & copula beside",
    "circumstance & your beside",
    "circumstance & you before",
    "circumstance & copula beside",
    "circumstance & preposition near",
    "circumstance & norm before",
    "circumstance & yes",
    "sure circumstance & copula beside",
    "asked: my before & your before",
    "asked: my beside & your beside",
    "asked: I before & you before",
    "unable in the sentence & said to the user",
    "unable near & said to the user",
    "unable in the sentence & topic",
    "turn behind & said to the user",
    "negator in the sentence behind & said to the user",
    "rival behind & turn behind",
    "rival behind & negator before",
    "rival before & negator before",
    "rival behind & said to the user",
    "rival next & said to the user",
    "rival behind & circumstance",
    "rival before & said to the user",
    "rival next & turn next",
    "answer: no & negator in the sentence before",
    "what & said to the user",
    "rival behind & negator in the sentence behind",
    "negator before & contact",
    "circumstance & contact",
    "circumstance & code",
    "circumstance & share",
    "circumstance & duration",
    "asked: my before & contact",
    "asked: my before & code",
    "asked: my before & name",
    "asked: last & circumstance",
    "placed & you in the sentence before",
    "placed & preposition opens",
    *(
        f"{one} & {other}"
        for one in (
            "foreign subject",
            "foreign behind",
            "owned",
            "source",
            "from the source",
            "subject of the question",
            "from the subject",
            "owned known",
            "reported by nobody",
            "asked: reported",
        )
        for other in (
            "asked: heard",
            "answer: yes",
            "yes",
            "contact",
            "code",
            "come from",
            "rival next",
            "rival behind",
            "circumstance",
            "preposition opens",
            "copula beside",
        )
    ),
    *(
        f"asked: told & {one}"
        for one in (
            "your before",
            "you before",
            "preposition opens",
            "preposition beside",
            "asked: I in the sentence",
            "taken up",
            "for your",
            "with bare",
            "norm before",
            "copula beside",
            "answer: yes",
            "asked: presupposed",
            "asked: heard in the clause",
            "asked: other subject",
            "asked: first subject",
            "asked: norm",
            "known beside",
            "owned",
            "source",
            "listed",
            "code",
            "contact",
            "amount",
            "duration",
            "date",
            "share",
            "count",
            "name",
        )
    ),
    *(
        f"asked: first subject & {one}"
        for one in (
            "code",
            "contact",
            "amount",
            "duration",
            "date",
            "share",
            "count",
            "name",
            "taken up",
            "for your",
            "with bare",
            "norm before",
            "copula beside",
            "asked: norm",
        )
    ),
    *(f"asked: presupposed & {one}" for one in ("asked: first subject", "asked: other subject", "asked: third person")),
    *(
        f"circumstance & {one}"
        for one in (
            "taken up",
            "for your",
            "with bare",
            "known beside",
            "owned",
            "source",
            "listed",
            "bracketed",
            "participle",
            "you did",
            "answer: yes",
            "rival missing",
            "rival in the answer",
        )
    ),
    *(
        f"{kind} & {one}"
        for kind in ("contact", "address", "code", "reference", "count", "name", "amount", "share", "duration", "date")
        for one in (
            "asked: told",
            "asked: first subject",
            "asked: my before",
            "asked: number of mine",
            "your before",
            "owned",
            "kept",
            "swapped",
            "nothing alike",
            "circumstance",
        )
    ),
    *(
        f"{one} & {other}"
        for one in ("swapped on the matter", "kept on the matter", "nothing alike", "swapped")
        for other in (
            "circumstance",
            "asked: told",
            "asked: first subject",
            "owned",
            "negator in the sentence before",
            "attributed",
            "answer: yes",
            "known beside",
            "preposition opens",
        )
    ),
    "asked: official & code",
    "asked: official & count",
    "questioned & negator next",
    "questioned & affirmed next",
    "negated verb behind & known beside",
    "asked: number of mine & code",
    "asked: number of mine & count",
    "asked: opens & code",
)
_PAIRS = tuple((one, other) for one, _, other in (pair.rpartition(" & ") for pair in dict.fromkeys(_TOGETHER)))


def evidence(said: Around, asked: Around, kind: str, flags: Mapping[str, float]) -> dict[str, float]:
    """The cues around a piece in an answer and in the question, by name; `flags` are those that others have found."""
    parts = {
        "before": said.before, "after": said.after, "opening": said.opening, "closing": said.closing, "following": said.following,
        "opening but yes and no": denials.OPENER.sub("", said.opening, count=1),
        "around": f"{said.previous}{said.opening}{said.closing}{said.following}",
        "sentence": f"{said.opening}\0{said.closing}", "near": f"{said.opening}{said.closing}{said.following}",
        "asked before": asked.before, "asked after": asked.after, "asked opening": asked.opening, "asked closing": asked.closing,
        "asked rest": asked.closing[len(asked.after) :], "asked clause": f"{asked.before}\0{asked.after}",
        "asked previous": asked.previous, "asked following": asked.following,
    }  # fmt: skip
    found = {name: 1.0 for name, part, pattern in _PATTERNS if pattern.search(parts[part])}
    found |= {name: value for name, value in flags.items() if value}
    if denials.unable(parts["sentence"]):
        found["unable in the sentence"] = 1.0
    if denials.unable(said.following) or denials.unable(said.previous):
        found["unable near"] = 1.0
    if asked.closing.rstrip().endswith("?") and len(asked.after) == len(asked.closing):
        found["asked: last"] = 1.0
    if not asked.closing.rstrip().endswith("?"):
        found["asked: told"] = 1.0
    found[_KINDS[kind]] = 1.0
    pairs = {f"{one} & {other}": 1.0 for one, other in _PAIRS if one in found and other in found}
    return {name: value for name, value in found.items() if not name.startswith("rival")} | pairs
