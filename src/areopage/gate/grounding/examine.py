"""The sentences of an answer compared with the documents: words, features and claims; all but the model's judgment."""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from math import log1p

from msgspec import Struct

from areopage.cases import Document
from areopage.gate.grounding.claims import Claim, Covered, check_claims
from areopage.gate.grounding.identified import is_name
from areopage.gate.grounding.near_copies import LEAST_NEAR, NearCopies
from areopage.gate.grounding.proper_names import OtherForms, is_proper, looks_like_name
from areopage.gate.premises.denials import unable
from areopage.gate.premises.premises import Premises
from areopage.gate.reading.citations import distinctive
from areopage.gate.reading.refusals import is_refusal
from areopage.gate.records import Change, Place
from areopage.text import (
    ENGLISH_MONTHS,
    FRENCH_MONTHS,
    NUMBER_WORDS,
    WORD,
    WRITTEN_NUMBERS,
    Span,
    denies,
    is_light,
    lower_case,
    parted,
    sentences,
    stems,
    stems_of,
)

_STRETCH = 160  # characters; a sentence is sought in a stretch together with the next one
_LONGEST_CUT = 80  # characters: a stretch ends at a space, unless none comes
_BEYOND = 300  # characters beyond a stretch in which a sentence that it touches begins and ends
_SENTENCE_END = re.compile(r"[.!?…]\s|\n\s*\n")
MOST_PLACES = 200  # a word's places beyond these are not looked at, so that an answer's cost is bounded
# Words about the documents and no words of theirs: "[doc1]", "(passage 2)", "according to documents 1, 2 and 3".
_BRACKETED = re.compile(r"\[[^\[\]\n]{1,40}\]")
_NUMBERED = re.compile(
    r"\b(?:passages?|documents?|sources?|extraits?|docs?)\s?(?:n[°o]\s?)?#?(?:\d{1,3}\b(?:\s?,)?\s?(?:(?:and|et|&|or|ou|-"
    r"|to|à)\s)?){1,6}",
    re.IGNORECASE,
)
_SHORTEST_NAME = 4  # characters of an id or a source that is a citation wherever it stands
_LEADING = r"(?:\b(?:voir|cf\.?|see|sources?|r[ée]f[ée]rences?)[ \u00a0]?:?[ \u00a0]?)?"
_HEADING = re.compile(r"^[ \t*_#]{0,6}sources?[ \t*_:\u00a0]{0,6}$", re.IGNORECASE | re.MULTILINE)
_NUMBERED_WORDS = ("passage", "doc", "source", "extrait")
_CLOSINGS = (
    "let me know", "feel free", "i hope", "happy to help", "further clarification", "further assistance", "further questions",
    "n'hésitez pas", "j'espère", "bien à vous", "cordialement",
)  # fmt: skip
# A short sentence of these alone greets, thanks, or says yes or no.
_COURTEOUS = frozenset((
    "merci", "bonjour", "bonsoir", "salut", "bienvenue", "désolé", "désolée", "beaucoup", "bien", "très", "avec", "plaisir",
    "de", "rien", "je", "vous", "t", "te", "en", "prie", "à", "votre", "ton", "service", "bonne", "bon", "journée",
    "soirée", "courage", "au", "revoir", "hello", "hi", "hey", "thanks", "thank", "you", "very", "much", "so", "many",
    "welcome", "re", "are", "you're", "sorry", "good", "morning", "afternoon", "evening", "day", "goodbye", "bye", "my",
    "pleasure", "no", "problem", "to", "and", "the", "a", "et", "la", "le", "pour", "tout", "toi", "nous", "oui", "non",
    "si", "yes",
))  # fmt: skip
_LONGEST_COURTESY = 60  # characters
_REFUSING = ("n't", "'ignore", "impossible", "incapable", "incapacité", "insufficient", "insuffisan", "unclear", "silent")
_ABOUT = (
    "know", "answer", "find", "found", "inform", "mention", "document", "passage", "source", "context", "text", "excerpt",
    "extract", "determin", "provid", "able", "possible", "sorry", "sai", "répon", "trouv", "dispos", "extrait", "sav",
    "incapa", "ignore", "donn", "précis", "indiqu", "figur", "appara", "state", "given", "specif",
)  # fmt: skip


# Kinds of claims by which a sentence states something, even if it also has another function.
_STATING = frozenset(["amount", "percentage", "date", "duration", "reference"])
_NOTHING: frozenset[str] = frozenset()


class Source:
    """The stems of the answer that the documents hold: all, by document, and those that follow each other."""

    def __init__(self, documents: Sequence[Document], answer: Sequence[Sequence[str]]) -> None:
        self.documents = documents
        wanted = frozenset(root for roots in answer for root in roots)
        self.pairs: set[tuple[str, str]] = set()
        self._places: dict[str, list[int]] = {}  # the pairs of a stretch and the next one that have a word, by the first
        # Shorter documents hold no word so often that it must be counted.
        long = sum([len(document.text) for document in documents]) > MOST_PLACES * _STRETCH
        self._counts: dict[str, int] | None = {} if long else None
        self._denying: dict[int, bool] = {}
        self._stretches: list[tuple[int, int, int]] = []
        self.clean = [parted(document.text) for document in documents]
        self.numbers: list[Set[str]] = []
        self.held: list[Set[str]] = []
        for index, (document, clean) in enumerate(zip(documents, self.clean, strict=True)):
            own = self._read(index, clean, wanted)
            self.held.append(own | wanted.intersection(stems(document.title)) if document.title else own)
            self._stretches.append((index, -1, -1))  # no stretch goes over into the next document
        self.stems: Set[str] = frozenset[str]().union(*self.held)

    def _read(self, index: int, clean: str, wanted: frozenset[str]) -> Set[str]:
        """The wanted stems that a document has; notes in which stretches they stand, and which of them are neighbours."""
        found: list[str] = []
        ends: list[int] = []
        first = len(self._stretches)
        numbers: set[str] = set()
        whole = True
        for start, end in _cuts(clean):
            words = clean[start:end].split()
            found += filter(None, stems_of(words))
            if not WRITTEN_NUMBERS.isdisjoint(words):
                numbers |= WRITTEN_NUMBERS.intersection(words)
            # A stretch without spaces may end within a word.
            whole = whole and end - start < _STRETCH + _LONGEST_CUT
            ends.append(len(found))
            self._stretches.append((index, start, end))
        self.numbers.append(numbers if whole else WRITTEN_NUMBERS.intersection(clean.split()))
        known, pairs, counts = self._places, self.pairs, self._counts
        number, before, last = 0, -2, ""
        for at, root in [(at, root) for at, root in enumerate(found) if root in wanted]:
            while at >= ends[number]:
                number += 1
            if before == at - 1:
                pairs.add((last, root))
            before, last = at, root
            places, stretch = known.get(root), first + number
            if places is None:
                known[root] = [stretch - 1, stretch]
            elif places[-1] != stretch and (counts is None or _counted(counts, root) <= MOST_PLACES):
                # A word in two neighbouring stretches counts once in the pair that they make.
                if places[-1] != stretch - 1:
                    places.append(stretch - 1)
                places.append(stretch)
        return wanted.intersection(found)

    def best_stretch(self, words: Set[str]) -> tuple[int, int]:
        """The stretch that holds most of these words together with the next one, and how many; (-1, 0) where none is held."""
        votes = Counter(itertools.chain.from_iterable(filter(None, map(self._places.get, words))))
        if not votes:
            return -1, 0
        most = max(votes.values())
        best = max([stretch for stretch, count in votes.items() if count == most])
        return max(best, 0), most

    def denies(self, stretch: int) -> bool:
        """Whether a stretch or the next one denies anything."""
        known = self._denying.get(stretch)
        if known is None:
            known = self._denying[stretch] = denies(self.place(stretch).text.lower().replace("’", "'"))
        return known

    def place(self, stretch: int) -> Place:
        """The piece of a document that a stretch and the next one cover."""
        index, start, end = self._stretches[stretch]
        if start < 0:  # before the first stretch of the next document
            index, start, end = self._stretches[stretch + 1]
        elif self._stretches[stretch + 1][1] >= 0:
            end = self._stretches[stretch + 1][2]
        document = self.documents[index]
        return Place(document=document.id, start=start, end=end, text=document.text[start:end])

    def near(self, stretch: int) -> str:
        """The sentences that a stretch and the next one touch."""
        place = self.place(stretch)
        index = self._stretches[stretch][0] if self._stretches[stretch][1] >= 0 else self._stretches[stretch + 1][0]
        text = self.documents[index].text
        before = [match.end() for match in _SENTENCE_END.finditer(text, max(0, place.start - _BEYOND), place.start)]
        after = _SENTENCE_END.search(text, place.end, min(len(text), place.end + _BEYOND))
        first = before[-1] if before else max(0, place.start - _BEYOND)
        return text[first : after.end() if after else place.end + _BEYOND]


def _counted(counts: dict[str, int], root: str) -> int:
    counts[root] = counts.get(root, 1) + 1
    return counts[root]


def _cuts(text: str) -> Iterator[tuple[int, int]]:
    start, length = 0, len(text)
    while length - start > _STRETCH:
        space = text.find(" ", start + _STRETCH, start + _STRETCH + _LONGEST_CUT)
        end = space if space >= 0 else min(start + _STRETCH + _LONGEST_CUT, length)
        yield start, end
        start = end
    if start < length:
        yield start, length


class Word(Struct, frozen=True):
    """A word that means something: what it is compared by, how it is written, and where it stands in the response."""

    stem: str
    written: str
    start: int
    end: int


class Words(Struct, frozen=True):
    """The words of a piece of a text, from `start` on; `stems` has "" for one that means nothing alone, `roots` the others."""

    text: str
    start: int
    written: Sequence[str]
    stems: Sequence[str]
    roots: Sequence[str]

    def having(self, wanted: Set[str]) -> list[Word]:
        """The words that have one of some stems."""
        found = []
        end = self.start
        for written, root in zip(self.written, self.stems, strict=True):
            # Nothing that could be taken for a word stands before the next one.
            start = self.text.index(written, end)
            end = start + len(written)
            if root in wanted:
                found.append(Word(root, written, start, end))
        return found


class SentenceFacts(Struct, frozen=True):
    """What was found: `stretch` of the documents comes nearest (-1: none), `nearness` is the share of the words that it has."""

    words: int
    unknown: Sequence[Word]
    features: dict[str, float]
    stretch: int
    shares: tuple[float, ...] = ()
    nearness: float = 0.0


class Answered(Struct, frozen=True):
    """What the sentences of an answer are looked at with: the documents, and the question's stems."""

    source: Source
    question: Set[str]
    sentences: int


def _without_citations(response: str, documents: Sequence[Document]) -> str:
    """The response with spaces for its citations: as long as it was."""
    for document in documents:
        for name in (document.source, document.id):
            if len(name) >= _SHORTEST_NAME and name in response and (name == document.source or distinctive(name)):
                response = re.sub(rf"{_LEADING}(?<![\w-]){re.escape(name)}(?![\w-])", _blank, response, flags=re.IGNORECASE)
    response = _HEADING.sub(_blank, response) if "ource" in response else response
    clean = _BRACKETED.sub(_blank, response) if "[" in response else response
    low = lower_case(clean)
    return _NUMBERED.sub(_blank, clean) if any(word in low for word in _NUMBERED_WORDS) else clean


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _words_of(clean: str, start: int, end: int) -> Words:
    written = WORD.findall(clean, start, end)
    found = list(stems_of(written))
    return Words(clean, start, written, found, list(filter(None, found)))


def _sentence_facts(low: str, denied: bool, words: Words, held: Set[str], index: int, answered: Answered) -> SentenceFacts:
    """Look at a sentence, the `index`-th of the answer; `held` are the stems of its figures that the documents hold."""
    roots = words.roots
    if not roots:
        return SentenceFacts(0, (), {}, -1)
    source, question = answered.source, answered.question
    total = len(roots)
    distinct = set(roots)
    strange = distinct - source.stems - question - held
    unknown = words.having(strange) if strange else []
    missing = len(unknown)
    coverage = sum(map(source.stems.__contains__, roots)) / total
    stretch, most = source.best_stretch(distinct)
    pairs = total - 1
    neighbours = sum(map(source.pairs.__contains__, itertools.pairwise(roots)))
    last = answered.sentences - 1
    features = {
        "unknown": log1p(missing),
        "unknown_count": float(missing),
        "unknown_light": log1p(len([word for word in unknown if is_light(word.written)])),
        "pairs_missing": 1 - neighbours / pairs if pairs else 0.0,
        "length": log1p(total),
        "coverage": coverage,
        "edge": (last - 1) / (last + 1) if last and index in (0, last) else 0.0,
        "courtesy": float(low.endswith("?") or any(closing in low for closing in _CLOSINGS)),
    }
    if stretch >= 0:
        there = source.denies(stretch)
        features["negation_alone"] = float(denied and not there)
        features["negation_lost"] = float(there and not denied)
    shares = tuple([len(distinct & held) / len(distinct) for held in source.held])
    return SentenceFacts(total, unknown, features, stretch, shares, most / len(distinct))


class ExaminedSentence(Struct, frozen=True):
    """A sentence: `claim` is false for a greeting, a question, a refusal, a closing; `changes` as `SentenceCheck` has them."""

    span: Span
    facts: SentenceFacts
    claims: tuple[Claim, ...]
    claim: bool
    changes: tuple[Change, ...] = ()

    @property
    def counted(self) -> tuple[int, int]:
        """Its unknown words, and all."""
        return len(self.facts.unknown), self.facts.words


class Examined(Struct, frozen=True):
    """An answer's sentences, and the documents that they were compared with."""

    sentences: Sequence[ExaminedSentence]
    source: Source

    @property
    def words(self) -> list[tuple[int, int]]:
        """Of each claim its unknown words, and all, as `answer_features` takes them."""
        return [one.counted for one in self.sentences if one.claim]


def examine(prompt: str, response: str, documents: Sequence[Document], language: str) -> Examined:
    """Look at every sentence of an answer."""
    spans = sentences(response, language)
    clean = _without_citations(response, documents)
    words = [_words_of(clean, span.start, span.end) for span in spans]
    source = Source(documents, [own.roots for own in words])
    claims = check_claims(prompt, clean, documents, source.clean, [_numbers_in(words), *source.numbers])
    question = frozenset(stems(prompt))
    answered = Answered(source, question, len(spans))
    forms = OtherForms(source.clean, clean)
    premises = _AskedNames(prompt, clean, source.clean, question, forms)
    copies = NearCopies(language)
    examined = []
    taken = 0
    for index, (span, own_words) in enumerate(zip(spans, words, strict=True)):
        low = span.text.lower().replace("’", "'")
        denied = denies(low)
        first = taken
        while taken < len(claims) and claims[taken].place.start < span.end:
            taken += 1
        own = tuple(claims[first:taken])
        held = frozenset(root for one in own if one.supported for root in stems(one.place.text)) if own else _NOTHING
        facts = _sentence_facts(low, denied, own_words, held, index, answered)
        stated = any(one.kind in _STATING and one.state != "repeated" for one in own)
        claim = bool(own_words.roots) and (
            stated
            or not (
                _left_open(low, own)
                or facts.features["courtesy"]
                or _courteous(low, own_words)
                or _refuses(span.text, low, denied, prompt)
            )
        )
        near = source.near(facts.stretch) if claim and facts.nearness >= LEAST_NEAR else ""
        changed = copies.changes(clean[span.start : span.end], frozenset(own_words.roots), near) if near else ()
        names = [*_names(clean, span, facts.unknown, own, forms), *premises.names(span, own_words, own, source.stems)]
        names.sort(key=lambda name: name.place.start)
        examined.append(ExaminedSentence(span, facts, (*own, *names), claim, changed))
    return Examined(examined, source)


def _numbers_in(words: Sequence[Words]) -> Set[str] | None:
    """The words of numbers that an answer has; None where they may be within other words."""
    written = list(itertools.chain.from_iterable([own.written for own in words]))
    return NUMBER_WORDS.intersection(map(str.lower, written)) if "".join(written).isalnum() else None


def _names(clean: str, span: Span, unknown: Sequence[Word], claims: Sequence[Claim], forms: OtherForms) -> Iterator[Claim]:
    capital = [word for word in unknown if word.written[0].isupper()]
    named = [
        word
        for word in capital
        if (is_name(clean, word.start, word.written) or looks_like_name(clean, word.start, word.end, (span.start, span.end)))
        and not forms.has(word.written)
        and not _GREETING.fullmatch(clean, span.start, word.start)
    ]
    covered = Covered(claims) if named else ()
    for word in named:
        if word.start not in covered:
            yield Claim(kind="name", place=Place(start=word.start, end=word.end, text=word.written), state="missing")


_GREETING = re.compile(r"\W*(?:dear|chère?s?|cher)\s", re.IGNORECASE)
_MONTHS = frozenset([*FRENCH_MONTHS, *ENGLISH_MONTHS])
_IN_MONTH = re.compile(
    r"(?<!\w)(?:en|fin|mi|début|de|d['’]|in|of|since|until|by|before|after|from|mois de|avant|depuis"
    r"|jusqu['’]en)[ \u00a0-]?(?:early |late )?\Z",
    re.IGNORECASE,
)
_HALVES = frozenset(stems("half moitié"))
_HALF_OFF = re.compile(
    r"(?<![\w.,])50[ \u00a0\u202f]?(?:%|per ?cent|pour cent)|(?<!and a )\bhalf\b(?! (?:an?|day|hour|board|past|year"
    r"|term)\b)|\bmoitié\b",
    re.IGNORECASE,
)
_TITLE_WORDS = "m mm mme mmes mlle mr mrs ms miss dr me pr prof sir madam monsieur madame maître docteur le la les"
_TITLES = frozenset(_TITLE_WORDS.split())
_MOST_ASKED = 100  # names of one answer that are looked at: later ones count as asserted
_BEFORE_MONTH = 30  # characters before a word in which what makes it a month or a surname stands
_PART = r"[A-ZÀ-Þ][^\W\d_A-Z]{1,20}(?:-[A-ZÀ-Þ][^\W\d_]{1,20})?"
# A first name and a surname; behind "of" or "à" stands rather a place or an organisation.
_FULL_NAME = re.compile(rf"(?<![\w'’&-])(?<!\bat )(?<!\bof )(?<!\bin )(?<!\bde )(?<!\bà )(?<!\bchez ){_PART} {_PART}\Z")


class _AskedNames:
    """The names of people and places that the question has and no document."""

    def __init__(self, prompt: str, response: str, texts: Sequence[str], question: Set[str], forms: OtherForms) -> None:
        self._prompt, self._response, self._question, self._forms = prompt, response, question, forms
        self._texts = texts
        self._premises: Premises | None = None
        self._left = _MOST_ASKED

    def names(self, span: Span, words: Words, claims: Sequence[Claim], held: Set[str]) -> Iterator[Claim]:
        """Those of a sentence, each with whether the answer affirms it; `held` are the stems of the documents."""
        alone = (self._question & set(words.roots)) - held
        halved = _HALVES if _HALF_OFF.search(self._prompt) and "50" not in held else _NOTHING
        asked = words.having(alone | halved) if alone or halved else []
        named = [
            word for word in asked if (word.stem in halved and word.stem not in held) or self._is_name(word, span.start, held)
        ]
        covered = Covered(claims) if named else ()
        for word in named:
            half = _HALF_OFF.search(self._prompt) if word.stem in halved else None
            at = half.start() if half else self._prompt.find(word.written)
            if word.start in covered or at < 0:
                continue
            premises = self._premises = self._premises or Premises(self._prompt, self._response, self._texts)
            self._left -= 1
            affirmed = self._left < 0 or premises.affirms(word.start, word.end, (at, at + len(word.written)), ())
            place = Place(start=word.start, end=word.end, text=word.written)
            yield Claim(kind="name", place=place, state="asserted" if affirmed else "repeated")

    def _is_name(self, word: Word, first: int, held: Set[str]) -> bool:
        """Whether a word is a name or a month; a surname is one behind another name that the documents do not have either."""
        if word.written.lower() in _TITLES:
            return False
        if word.start > first and word.written[0].isupper() and is_name(self._response, word.start, word.written):
            return not self._forms.has(word.written)
        if word.written.lower() in _MONTHS:
            return _IN_MONTH.search(self._response, max(0, word.start - _BEFORE_MONTH), word.start) is not None
        if is_proper(word.written) and self._inside(word.written):
            return not self._forms.has(word.written)
        full = _FULL_NAME.search(self._response, max(0, word.start - _BEFORE_MONTH), word.end)
        return full is not None and full.group() in self._prompt and held.isdisjoint(stems(full.group()))

    def _inside(self, written: str) -> bool:
        return re.search(rf"[^\W_][,;]?[ \u00a0](?:[dlDL]['’])?{re.escape(written)}(?!\w)", self._prompt) is not None


def _left_open(low: str, claims: Sequence[Claim]) -> bool:
    """Whether a sentence only says of what the user says that it is not known."""
    return bool(claims) and all(one.state == "repeated" for one in claims) and unable(low)


def _courteous(low: str, words: Words) -> bool:
    return len(low) <= _LONGEST_COURTESY and _COURTEOUS.issuperset(map(str.lower, words.written))


def _refuses(sentence: str, low: str, denied: bool, prompt: str) -> bool:
    """Whether a sentence only says that the answer is not known; a quick look spares most sentences the slow one."""
    return (denied or any(cue in low for cue in _REFUSING)) and any(cue in low for cue in _ABOUT) and is_refusal(sentence, prompt)
