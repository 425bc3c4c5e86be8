"""What ties a piece of an answer to the user's words and to the documents: shared words, and figures that both have.

A word that question and answer share and no document has belongs to the user's world: "your sister-in-law's figure". Beside
such a word stands what the user tells of himself or has from somebody else.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice

from areopage.gate.premises.circumstances import HEARD
from areopage.gate.premises.clauses import Around
from areopage.gate.premises.denials import SAYING
from areopage.text import lower_case, stem

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
        own = [number for number in numbers & beside if not self._in_documents(number)]
        if own:
            cues["listed"] = min(len(own), _LISTED) / _LISTED
        return cues

    def _in_documents(self, written: str) -> bool:
        return any(written in text for text in self._low)

    def _shared(self, word: str, sentence: str, said: Around, verbs: Sequence[int]) -> Iterator[str]:
        """What a word that question and answer share says of its piece: is it the user's, or the source that he names?"""
        answer = f"{said.opening}\0{said.closing}"
        there, at = _position_of(word, sentence), _position_of(word, answer)
        known = self._in_documents(word)
        yield "known in the sentence" if known else "foreign in the sentence"
        if known and (_position_of(word, said.before) >= 0 or _position_of(word, said.after) >= 0):
            yield "known beside"
        source = (
            any(_near(sentence[there:verb]) for verb in verbs if verb > there) or _READ_IN.search(sentence[:there]) is not None
        )
        taken_up = _OWNER.search(answer[:at]) is not None or _FROM.search(answer[:at]) is not None
        if source:
            yield "source known" if known else "source"
            if taken_up:
                yield "from the source"
        if not known and _OPENS.search(sentence[:there]):
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
    """The beginning that the forms of a word share."""
    return word[: max(_SHORTEST, len(word) - _ENDING)]


def _near(between: str) -> bool:
    return between.count(" ") <= _WORDS_TO_VERB and _PARTED.search(between) is None


def _position_of(beginning: str, text: str) -> int:
    at = text.find(beginning)
    while at > 0 and text[at - 1].isalnum():
        at = text.find(beginning, at + 1)
    return at
