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
from areopage.gate.grounding.near_copies import LEAST_NEAR, changes_of
from areopage.gate.grounding.proper_names import OtherForms, is_proper, looks_like_name
from areopage.gate.premises.denials import unable
from areopage.gate.premises.premises import Premises
from areopage.gate.reading.citations import distinctive
from areopage.gate.reading.refusals import is_refusal
from areopage.gate.records import Place, SentenceCheck
from areopage.text import (
    ENGLISH_MONTHS,
    FRENCH_MONTHS,
    WORD,
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


class Source:
    """The stems of the answer that the documents hold: all, by document, and those that follow each other."""

    def __init__(self, documents: Sequence[Document], answer: Sequence[Sequence[str]]) -> None:
        self.documents = documents
        wanted = frozenset(root for roots in answer for root in roots)
        self.pairs: set[tuple[str, str]] = set()
        self._places: dict[str, list[int]] = {}  # the pairs of a stretch and the next one that have a word, by the first
        self._counts = Counter[str]()  # in how many stretches a stem stands
        self._stretches: list[tuple[int, int, int]] = []
        self.clean = [parted(document.text) for document in documents]
        self.held: list[Set[str]] = []
        for index, (document, clean) in enumerate(zip(documents, self.clean, strict=True)):
            self.held.append(self._read(index, clean, wanted) | wanted.intersection(stems(document.title)))
            self._stretches.append((index, -1, -1))  # no stretch goes over into the next document
        self.stems: Set[str] = frozenset[str]().union(*self.held)

    def _read(self, index: int, clean: str, wanted: frozenset[str]) -> Set[str]:
        """The wanted stems that a document has; notes in which stretches they stand, and which of them are neighbours."""
        roots: list[str] = []
        for start, end in _cuts(clean):
            stretch = len(self._stretches)
            self._stretches.append((index, start, end))
            within = list(filter(None, stems_of(clean[start:end].split())))
            roots += within
            for root in wanted.intersection(within):
                self._counts[root] += 1
                if self._counts[root] <= MOST_PLACES:
                    places = self._places.setdefault(root, [])
                    # A word in two neighbouring stretches counts once in the pair that they make.
                    places += [stretch] if places and places[-1] == stretch - 1 else [stretch - 1, stretch]
        self.pairs |= {pair for pair in itertools.pairwise(roots) if pair[0] in wanted and pair[1] in wanted}
        return wanted.intersection(roots)

    def best_stretch(self, words: Set[str]) -> tuple[int, int]:
        """The stretch that holds most of these words together with the next one, and how many; (-1, 0) where none is held."""
        votes = Counter(itertools.chain.from_iterable(filter(None, map(self._places.get, words))))
        if not votes:
            return -1, 0
        most = max(votes.values())
        best = max([stretch for stretch, count in votes.items() if count == most])
        return max(best, 0), most

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
        having = []
        end = self.start
        for written, root in zip(self.written, self.stems, strict=True):
            # Nothing that could be taken for a word stands before the next one.
            start = self.text.index(written, end)
            end = start + len(written)
            if root in wanted:
                having.append(Word(root, written, start, end))
        return having


def _words_of(clean: str, span: Span) -> Words:
    written = WORD.findall(clean, span.start, span.end)
    roots = list(stems_of(written))
    return Words(clean, span.start, written, roots, list(filter(None, roots)))


class SentenceGrounding(SentenceCheck, frozen=True, kw_only=True):
    """A sentence beside the documents: how many of its words mean something, and which of them nothing supports.

    `shares` are those of its words that each document has.
    """

    words: int = 0
    unsupported: tuple[Place, ...] = ()
    claims: tuple[Claim, ...] = ()
    supporting: Place | None = None
    shares: tuple[float, ...] = ()


def without_citations(response: str, documents: Sequence[Document]) -> str:
    """An answer, as long as it is, with spaces in place of its words about the documents."""
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


def _features(low: str, denied: bool, words: Words, unknown: Sequence[Word], edge: float, source: Source) -> dict[str, float]:
    roots, missing = words.roots, len(unknown)
    pairs = len(roots) - 1
    neighbours = sum(map(source.pairs.__contains__, itertools.pairwise(roots)))
    return {
        "unknown": log1p(missing),
        "unknown_count": float(missing),
        "unknown_light": log1p(len([word for word in unknown if is_light(word.written)])),
        "pairs_missing": 1 - neighbours / pairs if pairs else 0.0,
        "length": log1p(len(roots)),
        "coverage": sum(map(source.stems.__contains__, roots)) / len(roots),
        "edge": edge,
        "courtesy": float(low.endswith("?") or any(closing in low for closing in _CLOSINGS)),
    }


def examine(prompt: str, response: str, documents: Sequence[Document], language: str) -> list[SentenceGrounding]:
    """Compare every sentence of an answer with the documents: words, features and claims; all but the model's judgment."""
    spans = sentences(response, language)
    clean = without_citations(response, documents)
    words = [_words_of(clean, span) for span in spans]
    source = Source(documents, [sentence_words.roots for sentence_words in words])
    claims = check_claims(prompt, clean, documents)
    question = frozenset(stems(prompt))
    forms = OtherForms(source.clean, clean)
    premises = _AskedNames(prompt, clean, source.clean, question, forms)
    examined = []
    taken, last = 0, len(spans) - 1
    for index, (span, own_words) in enumerate(zip(spans, words, strict=True)):
        low = span.text.lower().replace("’", "'")
        denied = denies(low)
        first = taken
        while taken < len(claims) and claims[taken].place.start < span.end:
            taken += 1
        stated = tuple(claims[first:taken])
        distinct, features = frozenset(own_words.roots), dict[str, float]()
        unknown: list[Word] = []
        stretch, most = -1, 0
        if distinct:
            claimed = frozenset(
                root for claimed_figure in stated if claimed_figure.supported for root in stems(claimed_figure.place.text)
            )
            unknown = own_words.having(distinct - source.stems - question - claimed)
            edge = (last - 1) / (last + 1) if last and index in (0, last) else 0.0
            features = _features(low, denied, own_words, unknown, edge, source)
            stretch, most = source.best_stretch(distinct)
        supporting = source.place(stretch) if stretch >= 0 else None
        if supporting is not None:
            denied_there = denies(supporting.text.lower().replace("’", "'"))
            features |= {
                "negation_alone": float(denied and not denied_there),
                "negation_lost": float(denied_there and not denied),
            }
        courteous = bool(features.get("courtesy"))
        claim = bool(distinct) and _claims(span.text, low, own_words, stated, prompt, courteous=courteous, denied=denied)
        near = source.near(stretch) if claim and most >= LEAST_NEAR * len(distinct) else ""
        names = [*_names(clean, span, unknown, stated, forms), *premises.names(span, own_words, stated, source.stems)]
        names.sort(key=lambda name: name.place.start)
        examined.append(
            SentenceGrounding(
                start=span.start,
                end=span.end,
                text=span.text,
                claim=claim,
                p_unsupported=None,
                features=features,
                changes=changes_of(clean[span.start : span.end], distinct, near, language) if near else (),
                document=supporting.document if supporting else "",
                words=len(own_words.roots),
                unsupported=tuple([Place(start=word.start, end=word.end, text=word.written) for word in unknown]),
                claims=(*stated, *names),
                supporting=supporting,
                shares=tuple([len(distinct & stems) / len(distinct) for stems in source.held]) if distinct else (),
            )
        )
    return examined


def _claims(text: str, low: str, words: Words, stated: Sequence[Claim], prompt: str, *, courteous: bool, denied: bool) -> bool:
    """Whether a sentence states something: with a figure, or where it neither leaves open, nor is courteous, nor refuses."""
    if any(figure.kind in _STATING and figure.state != "repeated" for figure in stated):
        return True
    if courteous or (stated and all(figure.state == "repeated" for figure in stated) and unable(low)):
        return False
    if len(low) <= _LONGEST_COURTESY and _COURTEOUS.issuperset(map(str.lower, words.written)):
        return False
    refusing = (denied or any(cue in low for cue in _REFUSING)) and any(cue in low for cue in _ABOUT)
    return not (refusing and is_refusal(text, prompt))


def _names(clean: str, span: Span, unknown: Sequence[Word], claims: Sequence[Claim], forms: OtherForms) -> Iterator[Claim]:
    capital = [word for word in unknown if word.written[0].isupper()]
    named = [
        word
        for word in capital
        if (is_name(clean, word.start, word.written) or looks_like_name(clean, word.start, word.end, (span.start, span.end)))
        and not forms.has(word.written)
        and not _GREETING.fullmatch(clean, span.start, word.start)
        and not _ERA.search(clean, max(span.start, word.start - _BEFORE_ERA), word.end)
    ]
    covered = Covered(claims) if named else ()
    for word in named:
        if word.start not in covered:
            yield Claim(kind="name", place=Place(start=word.start, end=word.end, text=word.written), state="missing")


# "Avant Jésus-Christ" is the sense of a date, and no name.
_ERA = re.compile(r"(?<!\w)(?:av\.|avant|apr\.|après|before|after)[ \u00a0](?:J[ée]sus(?:[ \u00a0-]Christ)?|Christ)\Z")
_BEFORE_ERA = 14  # characters before a part of it in which it begins
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

    def names(self, span: Span, words: Words, claims: Sequence[Claim], documented: Set[str]) -> Iterator[Claim]:
        """Those of a sentence, each with whether the answer affirms it; `held` are the stems of the documents."""
        alone = (self._question & set(words.roots)) - documented
        halved = _HALVES if _HALF_OFF.search(self._prompt) and "50" not in documented else frozenset[str]()
        asked = words.having(alone | halved) if alone or halved else []
        named = [
            word
            for word in asked
            if (word.stem in halved and word.stem not in documented) or self._is_name(word, span.start, documented)
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

    def _is_name(self, word: Word, first: int, documented: Set[str]) -> bool:
        """Whether a word is a name or a month; a surname is one behind another name that the documents do not have either."""
        if word.written.lower() in _TITLES:
            return False
        if word.start > first and word.written[0].isupper() and is_name(self._response, word.start, word.written):
            return not self._forms.has(word.written)
        if word.written.lower() in _MONTHS:
            return _IN_MONTH.search(self._response, max(0, word.start - _BEFORE_MONTH), word.start) is not None
        inside = rf"[^\W_][,;]?[ \u00a0](?:[dlDL]['’])?{re.escape(word.written)}(?!\w)"
        if is_proper(word.written) and re.search(inside, self._prompt):
            return not self._forms.has(word.written)
        full = _FULL_NAME.search(self._response, max(0, word.start - _BEFORE_MONTH), word.end)
        return full is not None and full.group() in self._prompt and documented.isdisjoint(stems(full.group()))
