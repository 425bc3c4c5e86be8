"""What an answer makes of something that only the question has: does it affirm it?

An answer does not affirm what it denies ("the dose is not 500 mg"), attributes to the user beside something else ("you mention
500 euros; the documents say 250"), asks back, or repeats of the user's own circumstances ("with 3 children, you receive ...").
"""

import re
from collections.abc import Sequence

from areopage.gate.premises.bindings import Bindings
from areopage.gate.premises.circumstances import APPOSED, OWNED, Nature, circumstance, noted, repeated
from areopage.gate.premises.clauses import Around, around_piece
from areopage.gate.premises.denials import affirms_all, attributed, compares, denied
from areopage.gate.premises.evidence import evidence, stance
from areopage.gate.records import Place
from areopage.text import lower_case

_NEAR = 300  # characters before a piece in which a rival of its kind may stand
_MOST_WEIGHED = 40  # pieces of one answer: later ones count as affirmed
_COUNT = re.compile(r"[0-9]{1,4} [^\W\d_]{3,}")
_AGE = re.compile(r"[0-9]{1,3}(?:(?:,| et| and| ou| or| à| to) [0-9]{1,3})?(?:[\s-]*(?:ans|years?(?:[\s-]old)?))?")
_AGED = re.compile(
    r"(?:\b(?:âge de|age of|ai|a|as|ont|aura|aurai|à|is|am|are|be|turns?|turned|turning|aged|at)|âgée?s? de|['’](?:m|s|re|ai)"
    r"|\b(?:fils|filles?|enfants?|homme|femme|mère|père|bébé|ado|garçons?|jumeaux|petits?-\w+|boys?|girls?|sons?"
    r"|daughters?|kids?|children|man|woman|child) (?:\w+ )?(?:de|of)"
    r"|[(,:]|\b(?:et|and))\s*\Z|\A\W*\Z|\b(?:mon|ma|my)\s+[\w-]+\s+\Z"
)
_NOUN = re.compile(r"\s?[^\W\d_]{3,}")
_DONE = re.compile(
    r"\b(?:i|we)(?:['’]ve| have)? (?:already |just )?(?:\w+ed|bought|took|got|chose)\b[^,;:.!?]{0,30}\Z|\b(?:j['’]ai"
    r"|nous avons|on a) \w+(?:é|i|is|it|u)\b[^,;:.!?]{0,30}\Z|\bmine is an? \Z"
)
_BARE = re.compile(r"[0-9]{3,}|[0-9]+(?:[-/][0-9]+)+")
_CLOCK = re.compile(r"[0-9]{1,2}\s?h(?:eures?)?(?:\s?[0-5][0-9])?")
_AT_TIME = re.compile(r"\b(?:à|vers|jusqu['’]à|dès|avant|après|de)\s+\Z")
_SEARCH = re.compile(r"[^.?!\n]{1,60}")
"""A question of a few words as search engines have them: it names a topic and asserts nothing."""
_OF_A_TOPIC = re.compile(r"\b(?:on|in|of|for|from|with|pour|sur|avec|dans|de|d['’])\s*(?:an?|une?)\s+(?:[\w'’-]+\s+)?\Z")
_THE = re.compile(r"\b(?:les|des|ces|ses|leurs|the|these|those|of|its|their)\s+(?:[\w-]+\s+)?\Z")
_WHICH = re.compile(r"\W*(?:[àdp]\w* )?(?:combien|quel|quelle|quels|quelles|quand|où|what|which|how|when|where)\b")
# A question about a level names it: "the salary of a technician T2".
_LEVEL = re.compile(r"[a-z]{1,2}[0-9]{1,2}")
_OF_A_LEVEL = re.compile(r"(?:\b(?:une?|an?)|d['’]une?)\s+(?:[\w'’-]+\s+){1,3}\Z")
_NAMED = ("contact", "code", "reference", "name", "address")
_DENIALS = ("denied before", "denied behind", "unconfirmed", "attributed")
_MINE_CALLED = re.compile(
    r"\b(?:ma|mon|mes|notre|nos|my|our|his|her|their|son|sa|ses)\s+(?:[\w-]+\s+){0,2}\Z|\b(?:called|named|s['’]appellent?"
    r"|nommée?)\s+\Z|\b(?:je m['’]appelle|je suis|my name is|i am|i['’]m|cordialement|regards|sincerely"
    r"|faithfully|thanks|merci|salutations)\W+(?:(?!(?:going|to|at|the|in|on|à|au|aux|chez|le|la|les|dans|sur)\b)[\w.]+\s+){0,6}\Z"
)
_PLACED = re.compile(r"\b(?:à|en|in|at|from|near|de|d['’])\s*\Z")
_WE = re.compile(r"\b(?:je|nous|i|we|mon|ma|mes|notre|nos|my|our)\b|\bj['’]")
_MY = re.compile(rf"\b(?:mon|ma|mes|notre|nos|my|our){OWNED}")
_MY_NUMBER = re.compile(
    r"\b(?:mon|ma|mes|notre|nos|my|our)\s+[\w'’-]+\s+(?:(?:number|numéro|n°|no\.?)\s*)?(?:(?:is|est)\s+(?:le\s+)?)?\Z"
)


class Premises:
    """A question, and what an answer makes of its figures and names; `denied`: the pieces that it does not affirm."""

    def __init__(self, prompt: str, response: str, texts: Sequence[str]) -> None:
        self._bindings = Bindings(texts)
        self._prompt, self._response = lower_case(prompt), lower_case(response)
        self.denied: set[str] = set()
        self._left = _MOST_WEIGHED

    def affirms(self, start: int, end: int, asked: tuple[int, int], beside: Sequence[Place], *, kind: str = "name") -> bool:
        """Whether the answer affirms a piece that the question has too; `beside` is what of its kind the documents support."""
        self._left -= 1
        if self._left < 0:
            return True
        said, question = around_piece(self._response, start, end), around_piece(self._prompt, *asked)
        if compares(said):
            return False
        if _SEARCH.fullmatch(self._prompt.strip()) and _OF_A_TOPIC.search(said.before):
            return False
        piece = self._response[start:end]
        if _LEVEL.fullmatch(piece) and _OF_A_LEVEL.search(question.before) and _WHICH.match(question.opening):
            return False
        flags = self._flags(said, question, piece, kind, (start, end), beside)
        affirmed = stance(evidence(said, question, kind, flags)) > 0
        if not affirmed and any(flags[name] for name in _DENIALS):
            self.denied.add(piece)
        return affirmed

    def _flags(
        self, said: Around, asked: Around, piece: str, kind: str, span: tuple[int, int], beside: Sequence[Place]
    ) -> dict[str, float]:
        behind = any(span[1] <= place.start <= span[1] + len(said.closing) for place in beside)
        next_ = any(0 < place.start - span[1] - len(said.closing) <= len(said.following) for place in beside)
        before = any(0 < span[1] - place.end <= len(said.opening) for place in beside)
        yes = affirms_all(self._response)
        nature = _nature(kind, piece, asked)
        age = _AGE.fullmatch(piece) is not None and _AGED.search(asked.before) is not None
        dated = kind in ("date", "weekday")
        bare = kind == "number" and _BARE.fullmatch(piece) is not None and _NOUN.match(asked.after) is None
        named = kind in _NAMED or bare
        told = kind not in ("contact", "reference") and _noted(asked, kind)
        sure = 0 if named and not told else circumstance(asked, nature, age=age, date=dated)
        sure = max(sure, 1) if told and kind == "name" else sure
        counted = nature == "other" and _COUNT.fullmatch(piece) is not None
        flags = {
            **denied(said, rival=behind),
            "attributed": attributed(said, rival=behind or before or next_, yes=yes),
            "answer: yes": yes,
            "circumstance": sure > 0,
            "repeated circumstance": sure > 0 and repeated(asked, said, sure, counted=counted),
            "called": kind == "name" and _MINE_CALLED.search(asked.opening) is not None,
            "placed": kind == "name" and _PLACED.search(asked.before) is not None and _WE.search(asked.before) is not None,
        }
        return {name: float(value) for name, value in flags.items()} | self._bindings.cues(said, asked, piece, self._response)

    def confirms(self, start: int, end: int) -> bool:
        """Whether a sentence, or the answer, begins with a yes."""
        return affirms_all(around_piece(self._response, start, end).opening) or affirms_all(self._response)

    def enumerated(self, start: int, end: int) -> bool:
        """Whether the question asks which things those are that it counts."""
        return _THE.search(around_piece(self._prompt, start, end).before) is not None


def _noted(asked: Around, kind: str) -> bool:
    """Whether a question brings up a number or a code as the user's own: "my order no. is 58213", "dans un T2", "Flat 9C."."""
    if noted(asked) or _MY_NUMBER.search(asked.before):
        return True
    if kind == "name":
        return _DONE.search(asked.opening) is not None
    return kind != "code" and bool(
        _MY.search(asked.before) or APPOSED.search(asked.opening) or _MINE_CALLED.search(asked.opening)
    )


def _nature(kind: str, piece: str, asked: Around) -> Nature:
    """What a piece measures. A rate is like a share; a time of the day is no duration."""
    if kind == "percentage" or "%" in piece:
        return "share"
    if kind == "duration":
        return "other" if _CLOCK.fullmatch(piece) and _AT_TIME.search(asked.before) else "duration"
    return "other"
