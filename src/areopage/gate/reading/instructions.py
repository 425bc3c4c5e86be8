"""Sentences that tell a model what to do, as they are planted in documents: "ignore the previous instructions".

They are found in English and French, in time linear in the text.
"""

import re
from collections.abc import Iterator

from areopage.text import Span, lower_case

_CUES = (
    "instruction",
    "consigne",
    "directive",
    "prompt",
    "invite système",
    "règles précédentes",
    "assistant",
    "language model",
    "modèle de langage",
)
_GIVEN = (
    r"(?:(?:all|any|the|these|those|your|my|of|toutes?|les|ces|vos|tes|mes|des)\s+){0,3}(?:(?:previous|prior"
    r"|above|earlier|preceding"
    r"|foregoing|former|other|system|initial|original|safety)\s+){0,2}(?:instructions?|prompts?|guidelines"
    r"|directives?|consignes?)"
)
_INSTRUCTION = re.compile(
    rf"\b(?:ignore|disregard|forget|override|bypass|ignore[zrs]?|oublie[zrs]?|outrepasse[zrs]?|contourne[zrs]?"
    rf"|ne\s+(?:tiens|tenez)\s+(?:pas|plus)\s+compte\s+(?:de|des))\s+{_GIVEN}"
    r"|\b(?:ne\s+(?:suis|suivez|respecte[zs]?)\s+(?:pas|plus)|(?:do\s+not|don['’]t|never)\s+(?:follow|obey))\s+"
    rf"{_GIVEN}"
    r"|\b(?:reveal|print|repeat|show|révèle[zrs]?|affiche[zrs]?|répète[zrs]?)\s+(?:the|your|le|la|ton|ta|votre|vos)\s+"
    r"(?:system\s+prompt|prompt|instructions|consignes|invite\s+système)"
    r"|\b(?:note|message|instructions?|consignes?)\s+(?:to|for|pour|à)\s+(?:the\s+|l['’])?(?:assistant|ai|llm"
    r"|language\s+model|modèle|ia)\b"
)


def instructions(text: str) -> Iterator[Span]:
    """Where a text tells a model what to do."""
    low = lower_case(text)
    if any(cue in low for cue in _CUES):
        for match in _INSTRUCTION.finditer(low):
            yield Span(text[match.start() : match.end()], match.start(), match.end())
