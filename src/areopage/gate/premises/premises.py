"""What an answer makes of something that only the question has: does it affirm it?

An answer does not affirm what it denies ("the dose is not 500 mg"), attributes to the user beside something else ("you mention
500 euros; the documents say 250"), asks back, or repeats of the user's own circumstances ("with 3 children, you receive ...").
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice

from areopage.gate.premises.circumstances import APPOSED, HEARD, OWNED, Nature, circumstance, noted, repeated
from areopage.gate.premises.clauses import Around, around_piece
from areopage.gate.premises.denials import SAYING, affirms_all, attributed, compares, denied
from areopage.gate.premises.evidence import evidence, stance
from areopage.gate.records import Place
from areopage.text import lower_case, stem

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
_WORD = re.compile(r"[^\W\d_]{4,}")
_NUMBER = re.compile(r"[0-9]+(?:[.,:h/-][0-9]+)*")
_MOST = 60  # words and numbers of a sentence that are looked at
_SHORTEST, _ENDING = 4, 2  # letters that two forms of a word share, and letters of an ending
_LISTED = 3  # figures of the user beside a piece, up to which they count
_OWNER = re.compile(r"\b(?:your|votre|vos|ton|ta|tes|his|her|their|son|sa|ses|leurs?)\s+(?:[\w-]+\s+)?\Z")
_FROM = re.compile(
    r"\b(?:from|by|of|according to|per|de|du|des|par|selon|d['’]après|d['’]|chez|sur"
    r"|on)\s*(?:[\w'’-]+\s+){0,2}\Z"
)
_SAYS = re.compile(rf"\b(?:\w{{1,2}}['’])?(?:{SAYING}|{HEARD})")
_PARTED = re.compile(r"[.;:!?\n\0]")
_WORDS_TO_VERB = 7  # between the one who says something and the verb
_READ_IN = re.compile(
    r"\b(?:from|on|in|by|according to|sur|dans|par|selon|d['’]après)\s+(?:an?|the|my|our|une?|la|le"
    r"|les|mon|ma|mes|des?)\s+(?:[\w-]+\s+){0,2}\Z"
)
_OPENS = re.compile(
    r"(?:\A|[.!?…]\s|\n)\W*(?:[\w'’]+[,!.]\s+)?(?:my|our|the|an?|mon|ma|mes|notre|nos|le|la|l['’]|les"
    r"|une?|one of my)\s*(?:[\w-]+\s+)?\Z"
)
_REPORTED = re.compile(
    rf"\b(?:{SAYING}|(?:reckon|prétend|soutien|assur|invoqu|claim|insist|swear|jur|pretend|cite|quot|put\b)\w*)|{HEARD}"
)
# What measures or names like a piece, by what the piece looks like; the first that fits counts.
_ALIKE = tuple(
    re.compile(pattern)
    for pattern in (
        r"[\w.+-]+@[\w.-]+\w",
        r"(?:https?://|www\.)[\w./-]+\w|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|gov|fr|uk|eu|be|ch|example)\b[\w/-]*",
        r"\+?[0-9]{2,5}(?:[ .-][0-9]{2,4}){2,5}",
        r"[0-9]+(?:[.,][0-9]+)?\s?(?:%|per ?cent|pour cent|percent)",
        r"[€$£]\s?[0-9][0-9 ,.]*[0-9]?|[0-9][0-9 ,.]*\s?(?:[€$£]|euros?|pounds?|dollars?)",
        r"[0-9]{1,2}\s?(?:h|heures)\s?[0-9]{0,2}\b|[0-9]{1,2}(?:[.:][0-9]{2})?\s?[ap]\.?m\b"
        r"|\b[0-9]{1,2}[.:][0-9]{2}\b|\b(?:midi|noon|midnight|minuit)\b",
        r"(?:[0-9]+|\b(?:an?|une?|two|three|four|five|six|seven|eight|nine|ten|twelve|fourteen|thirty|deux"
        r"|trois|quatre|cinq|sept|huit|neuf|dix|douze|quinze|trente))[\s-]*"
        r"(?:\w+ )?(?:minutes?|hours?|days?|weeks?|months?|years?|mn|heures?|jours?|semaines?|mois|ans?|années?)\b",
        r"\b[0-9]{1,2}(?:st|nd|rd|th|er)?\s(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|févr|avril"
        r"|mai|juin|juil|août|déc)\w*|\b(?:jan|feb|mar|apr|may"
        r"|jun|jul|aug|sep|oct|nov|dec)\w*\s[0-9]{1,2}\b|\b[0-9]{1,2}/[0-9]{1,2}\b",
        r"\b(?:art(?:icles?|\.)|sections?|s\.|clauses?|chapters?|chapitres?|titres?|parts?|forms?"
        r"|formulaires?|cerfa|annexes?|pages?)\s[\w.-]*[\w]",
        r"\b[a-z]{1,6}[-/ ]?[0-9][\w/-]*|\b[0-9]+[a-z/-][\w/-]*",
        r"\b[0-9]+(?:[.,][0-9]+)?\b",
    )
)
_MOST_ALIKE = 40  # of a document


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
        noted = kind not in ("contact", "reference") and _noted(asked, kind)
        sure = 0 if named and not noted else circumstance(asked, nature, age=age, date=dated)
        sure = max(sure, 1) if noted and kind == "name" else sure
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


class Bindings:
    """The words of the documents, for the words that a question and an answer share."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    @cached_property
    def _low(self) -> list[str]:
        return [lower_case(text) for text in self._texts]

    def cues(self, said: Around, asked: Around, piece: str, response: str) -> dict[str, float]:
        """The cues around a piece, by name; `response` is the whole answer, in lower case."""
        sentence = f"{asked.previous}{asked.opening}\0{asked.closing}"
        names: set[str] = set()
        verbs = [match.start() for match in islice(_SAYS.finditer(sentence), _MOST)]
        for word in dict.fromkeys(_beginning(match.group()) for match in islice(_words(sentence), _MOST)):
            if _position_of(word, said.opening) >= 0 or _position_of(word, said.closing) >= 0:
                names.update(self._shared(word, sentence, said, verbs))
        if _REPORTED.search(f"{asked.previous}{asked.opening}"):
            names.add("asked: reported")
            if names.isdisjoint(("source", "source known")):
                names.add("reported by nobody")
        names.update(self._rivals(piece, said, response))
        cues = dict.fromkeys(names, 1.0)
        question = f"{asked.previous} {asked.opening} {asked.closing} {asked.following}"
        numbers = {match.group() for match in islice(_NUMBER.finditer(question), _MOST)}
        beside = {match.group() for part in (said.opening, said.closing) for match in islice(_NUMBER.finditer(part), _MOST)}
        unsupported = [number for number in numbers & beside if not self._in_documents(number)]
        if unsupported:
            cues["listed"] = min(len(unsupported), _LISTED) / _LISTED
        return cues

    def _in_documents(self, written: str) -> bool:
        return any(written in text for text in self._low)

    def _shared(self, word: str, sentence: str, said: Around, verbs: Sequence[int]) -> Iterator[str]:
        """What a word that question and answer share says of its piece: is it the user's, or the source that he names?"""
        answer = f"{said.opening}\0{said.closing}"
        position, at = _position_of(word, sentence), _position_of(word, answer)
        documented = self._in_documents(word)
        yield "known in the sentence" if documented else "foreign in the sentence"
        if documented and (_position_of(word, said.before) >= 0 or _position_of(word, said.after) >= 0):
            yield "known beside"
        between = [sentence[position:verb] for verb in verbs if verb > position]  # a verb that follows the word within its clause
        source = any(text.count(" ") <= _WORDS_TO_VERB and not _PARTED.search(text) for text in between)
        source = source or _READ_IN.search(sentence[:position]) is not None
        taken_up = _OWNER.search(answer[:at]) is not None or _FROM.search(answer[:at]) is not None
        if source:
            yield "source known" if documented else "source"
            if taken_up:
                yield "from the source"
        if not documented and _OPENS.search(sentence[:position]):
            yield "subject of the question"
            if taken_up:
                yield "from the subject"

    def _rivals(self, piece: str, said: Around, response: str) -> set[str]:
        """Whether the documents have something like a piece, and the answer has that too: in its sentences on the same matter."""
        alike = next((pattern for pattern in _ALIKE if pattern.fullmatch(piece)), None)
        if alike is None:
            return set()
        about = {_beginning(match.group()) for match in islice(_words(f"{said.opening} {said.closing}"), _MOST)}
        names: set[str] = set()
        for text in self._low:
            for match in islice(alike.finditer(text), _MOST_ALIKE):
                first = max(text.rfind(". ", 0, match.start()), text.rfind("\n", 0, match.start())) + 1
                last = text.find(". ", match.end())
                around = text[first : last if last >= 0 else len(text)]
                same = sum(word in around for word in about)
                state = "kept" if match.group().strip() in response else "swapped"
                names.update([state, f"{state} on the matter"][: max(1, same)])
        return names or {"nothing alike"}


def _words(text: str) -> Iterator[re.Match[str]]:
    return (match for match in _WORD.finditer(text) if stem(match.group()))


def _beginning(word: str) -> str:
    return word[: max(_SHORTEST, len(word) - _ENDING)]


def _position_of(beginning: str, text: str) -> int:
    at = text.find(beginning)
    while at > 0 and text[at - 1].isalnum():
        at = text.find(beginning, at + 1)
    return at
