"""Evidence for and against an answer affirming a piece that only the question has: cues in the answer and in the question.

Each cue is a pattern of closed classes of words (negators, pronouns, auxiliaries, prepositions, verbs of saying) in one part of
the text around the piece. None decides alone: their weights are added.

The weights are those of a logistic regression on the pairs of `tests/gate/premises` (`benchmarks/gate_premises_fit.py`), whose
prior is what the rules of `denials` and `circumstances` say. They are moved as little as possible from there, so that every piece
of those pairs is decided as by a first regression on 319 cues.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from areopage.gate.premises import circumstances, denials
from areopage.gate.premises.clauses import Around

_NEGATOR = (
    r"(?:\b(?:not|no|never|none|nothing|nowhere|neither|nor|cannot|without|unlike|rather than|other than|instead of|pas"
    r"|aucune?s?|ni|non"
    r"|rien|jamais|nulle|sans|inutile|autre que|autres que)\b|n['’]t\b|\b(?:plutôt|autre) qu|\bau lieu d|\bcontrairement)"
)
_TURNING = (
    r"\b(?:but|however|whereas|while|though|although|instead|actually|rather|only|mais|cependant|toutefois|pourtant"
    r"|alors que"
    r"|tandis que|en revanche|par contre|plutôt|seulement|uniquement|en réalité|en fait|in fact|itself|lui-même)\b"
)
_PREPOSITION = (
    r"(?:with|between|entre|for|since|of|on|at|in|from|as|after|before|under|by|given|if|avec|pour"
    r"|depuis|sur|à|en|dans|de|du|des|dès"
    r"|après|avant|comme"
    r"|vu|si|chez|puisque|because|having|étant|ayant|being|aged|compte tenu|au bout|sous|d['’])"
)
_BIAS = 1.9
# The name of a cue, its weight alone (0 for one that counts only with others), and its pattern in a part of a text.
_CUES: tuple[tuple[str, float, str, str], ...] = (
    # The answer: polarity.
    ("negator before", -0.76, "before", _NEGATOR),
    ("negator in the sentence before", -0.85, "opening but yes and no", _NEGATOR),
    ("negator in the sentence behind", -0.64, "closing", _NEGATOR),
    (
        "negated verb behind",
        -0.6,
        "closing",
        r"\A[^.;:]{0,60}?(?:\b(?:not|never|no longer|cannot)\b|n['’]t\b|\b(?:ne|n['’])\s?\w+ (?:pas|plus|jamais|rien|que?)\b)",
    ),
    ("turn next", -0.37, "following", _TURNING),
    # The answer: who says it, and who does not know.
    (
        "said to the user",
        -0.33,
        "sentence",
        rf"\b(?:told|dit|tell|said)\b.{{0,12}}\b(?:you|vous|t['’])|\b(?:you|vous|t['’])\W.{{0,24}}?\b{denials.SAYING}",
    ),
    ("saying before", -0.45, "opening", rf"\b{denials.SAYING}"),
    (
        "come from",
        -0.32,
        "closing",
        r"\A[^.;]{0,40}?\b(?:comes?|came|from|by|vien(?:t|nent)|par|figure|claim|chiffre|information|affirmation)\b",
    ),
    (
        "documents",
        -1.03,
        "near",
        rf"\b(?:our|my|the|nos|mes|notre|les?|la|these|ces)\s+(?:own\s+)?{denials.DOCUMENT}\b|\bi have\b|\bdont je dispose\b",
    ),
    # The answer: yes, and questions.
    ("yes", 0.76, "opening", rf"\A\W*{denials.YES}\b"),
    ("indeed", 0.42, "sentence", r"\b(?:indeed|bien|effectivement|en effet|toujours|still|exactly|correct|right|exact)\b"),
    ("questioned", -2.03, "closing", r"\A[^.!]{0,30}\?"),
    # The answer: to whom it speaks, and how the piece is bound into its clause.
    ("you before", 0.0, "before", r"\b(?:vous|tu|t['’]|toi|you)\b"),
    ("you in the sentence before", -0.25, "opening", r"\b(?:vous|tu|t['’]|toi|you|votre|vos|your|ton|ta|tes)\b"),
    ("your before", 0.0, "before", r"\b(?:votre|vos|ton|ta|tes|your)\b"),
    ("preposition opens", 0.0, "before", rf"\A\W*(?:(?:and|et|but|mais|hi|hello|bonjour)\W+)?{_PREPOSITION}(?:\b|(?<=['’]))"),
    (
        "preposition beside",
        0.14,
        "before",
        rf"(?:\b|(?<=['’])){_PREPOSITION}\s*(?:(?:an?|une?|the|le|la|les|l['’]|about"
        rf"|environ)\s*)?\Z",
    ),
    ("with bare", -0.52, "before", r"\A\W*(?:for|on|with|at|after|à|avec|pour|sur|après|depuis|since)\s+\Z"),
    (
        "definite beside",
        0.4,
        "before",
        r"\b(?:the|le|la|les|ces|cette|this|these|that|aux?|du|des)\s+(?:[\w'’-]+\s+)?\Z|\bl['’]\Z",
    ),
    ("first", -0.57, "before", r"\A\W*\Z"),
    ("colon", 0.44, "opening", r"[:|]\s*(?:\w+\s+)?\Z"),
    # The question.
    ("asked: I before", 0.0, "asked before", circumstances.SUBJECT_I),
    ("asked: I next", -0.51, "asked following", circumstances.SUBJECT_I),
    ("asked: my before", 0.31, "asked before", circumstances.MINE),
    ("asked: heard", 0.35, "asked opening", circumstances.HEARD),
    (
        "asked: first subject",
        0.0,
        "asked before",
        rf"(?:{circumstances.SUBJECT_I})(?!.*\b(?:you|they|it|he|she|vous|ils?|elles?|c['’]est|ça|which|that|qui)\b)",
    ),
    ("asked: opens", -0.31, "asked opening", r"\A\W*(?:[\w'’°.-]+\s+){0,3}\Z"),
    (
        "asked: past",
        -0.41,
        "asked before",
        r"\b(?:was|were|had|did|\w+ed|bought|paid|sent|left|got|took|went|ai|a|avons|ont|est|sommes"
        r"|suis) (?:\w+ )?|\b\w+ée?s?\b",
    ),
    ("asked: listed", -0.71, "asked opening", r"[0-9][^.?!]*[,(]"),
)
# What is found by more than a pattern, and what the piece is.
_FLAGS = {
    "denied before": -3.77,
    "denied behind": -3.26,
    "attributed": -2.58,
    "unable in the sentence": -2.28,
    "unable near": -0.42,
    "answer: yes": 0.75,
    "circumstance": -1.42,
    "repeated circumstance": -1.99,
    "called": -1.89,
    "placed": -0.62,
    "listed": -0.46,
    "asked: told": -0.77,
    "asked: reported": 0.47,
    "source": -0.26,
    "from the source": -0.73,
    "subject of the question": -0.41,
    "from the subject": -0.85,
    "foreign in the sentence": -0.44,
    "known in the sentence": 0.12,
    "known beside": 0.51,
    "kept": -0.22,
    "kept on the matter": -0.5,
    "swapped": 0.84,
    "address": -0.39,
    "amount": 0.32,
    "contact": 0.34,
    "count": 0.32,
    "name": 0.49,
    "share": 0.29,
}
# What two cues mean together, beside what each means alone.
_TOGETHER = {
    ("asked: told", "preposition opens"): -0.78,
    ("asked: told", "your before"): -0.76,
    ("asked: told", "source"): -0.75,
    ("asked: told", "date"): -0.69,
    ("asked: told", "listed"): -0.58,
    ("asked: told", "asked: first subject"): -0.29,
    ("asked: told", "preposition beside"): -0.28,
    ("asked: told", "swapped"): 0.33,
    ("asked: told", "reference"): 0.44,
    ("asked: told", "answer: yes"): 0.51,
    ("asked: reported", "come from"): -0.31,
    ("asked: reported", "contact"): 0.2,
    ("asked: reported", "yes"): 0.24,
    ("asked: heard", "subject of the question"): -0.32,
    ("asked: heard", "reported by nobody"): 0.98,
    ("asked: my before", "date"): -0.46,
    ("asked: my before", "duration"): -0.37,
    ("asked: I before", "you before"): 0.26,
    ("asked: opens", "code"): -0.09,
    ("circumstance", "nothing alike"): -0.78,
    ("circumstance", "listed"): -0.18,
    ("circumstance", "count"): 0.18,
    ("circumstance", "known beside"): 0.26,
    ("nothing alike", "preposition opens"): -0.33,
    ("nothing alike", "asked: first subject"): -0.1,
    ("swapped", "preposition opens"): -0.4,
    ("swapped", "asked: first subject"): -0.28,
    ("swapped", "negator in the sentence before"): -0.23,
    ("swapped", "code"): -0.15,
    ("swapped", "date"): 0.27,
    ("swapped", "reference"): 0.46,
    ("kept", "count"): -0.16,
    ("known beside", "negated verb behind"): -0.12,
}
_KINDS = MappingProxyType({"weekday": "date", "quantity": "count", "number": "count", "percentage": "share"})
"""What a kind of claim counts as; the others count as themselves."""
_PATTERNS = tuple((name, part, re.compile(pattern)) for name, _, part, pattern in _CUES)
_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {name: weight for name, weight, _, _ in _CUES}
    | _FLAGS
    | {f"{first} & {second}": weight for (first, second), weight in _TOGETHER.items()}
)


def evidence(said: Around, asked: Around, kind: str, flags: Mapping[str, float]) -> dict[str, float]:
    """The cues around a piece in an answer and in the question, by name; `flags` are those found by more than a pattern."""
    parts = {
        "before": said.before,
        "opening": said.opening,
        "closing": said.closing,
        "following": said.following,
        "opening but yes and no": denials.OPENER.sub("", said.opening, count=1),
        "sentence": f"{said.opening}\0{said.closing}",
        "near": f"{said.opening}{said.closing}{said.following}",
        "asked before": asked.before,
        "asked opening": asked.opening,
        "asked following": asked.following,
    }
    cues = {name: 1.0 for name, part, pattern in _PATTERNS if pattern.search(parts[part])}
    cues |= {name: value for name, value in flags.items() if value}
    if denials.unable(parts["sentence"]):
        cues["unable in the sentence"] = 1.0
    if denials.unable(said.following) or denials.unable(said.previous):
        cues["unable near"] = 1.0
    if not asked.closing.rstrip().endswith("?"):
        cues["asked: told"] = 1.0
    cues[_KINDS.get(kind, kind)] = 1.0
    return cues | {f"{first} & {second}": 1.0 for first, second in _TOGETHER if first in cues and second in cues}


def stance(cues: Mapping[str, float]) -> float:
    """Above 0 where an answer affirms a piece that only the question has."""
    return _BIAS + sum([_WEIGHTS.get(name, 0.0) * value for name, value in cues.items()])
