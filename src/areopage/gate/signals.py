"""The signals of the gate: retrieval scores, copied runs of words, and what the grounding found; each with the time it took."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from areopage.cases import Document
from areopage.gate.grounding.claims import NAMING, Claim, Covered
from areopage.gate.grounding.examine import SentenceGrounding
from areopage.gate.grounding.model import Grounding
from areopage.gate.reading.citations import citations_of
from areopage.gate.records import Decision, Place, SentenceCheck, Signal, SignalName
from areopage.text import Span

_LARGEST = 1e100  # beyond it a score is nothing that a retriever gives, and its sums are infinite
_WINDOW = 5  # words
_STEP = 6  # words from one window to the next: a copied run of ten words cannot slip through
_MOST_WINDOWS = 64  # of a long answer, windows further apart are taken
_MOST_RUNS = 8
_LONGEST_WINDOW = 400  # characters: what is longer are no five words
_BETWEEN = "\0"  # documents; no run that is looked for holds it
_MOST_PLACES = 50  # of one signal of the grounding
_ENTITY = 32  # characters of an entity such as &nbsp; of which a place may have the first alone
_ENTITY_BEGUN, _ENTITY_REST = re.compile(r"&[#\w]{0,30}\Z"), re.compile(r"[#\w]{1,31};")
_WORD = re.compile(r"\w++")


def place_of(span: Span | SentenceCheck) -> Place:
    """A span of the response as a decision has it."""
    return Place(start=span.start, end=span.end, text=span.text)


class Stopwatch:
    """Collects signals, each with the seconds since the one before it; None without a clock."""

    def __init__(self, clock: Callable[[], float] | None) -> None:
        self._clock = clock
        self._last = clock() if clock else 0.0
        self.signals: list[Signal] = []

    def note(self, name: SignalName, value: float | None, places: Sequence[Place] = ()) -> None:
        """Keep a signal, with the time since the last one."""
        seconds = None
        if self._clock:
            now = self._clock()
            seconds, self._last = now - self._last, now
        self.signals.append(Signal(name=name, value=value, places=tuple(places), seconds=seconds))


class Retrieval(Struct, frozen=True, kw_only=True):
    """The figures of documents; None where none of them has a score."""

    best: float | None = None
    avg_score: float | None = None
    confidence: float | None = None


def read_documents(response: str, documents: Sequence[Document], top: int) -> Sequence[Document]:
    """The documents that are read, in their order: those that the response cites, then the best by score, `top` in all.

    Args:
        top: 0 reads all of them. All that are cited are read, even if there are more.
    """
    if not top or len(documents) <= top:
        return documents
    cited = frozenset(citations_of(response, documents).cited_ids)
    ranked = sorted(range(len(documents)), key=lambda at: (documents[at].id not in cited, -(_score_of(documents[at]) or 0.0), at))
    most = max(top, sum(document.id in cited for document in documents))
    return [documents[at] for at in sorted(ranked[:most])]


def _score_of(document: Document) -> float | None:
    # What is no number compares as false.
    return document.score if document.score is not None and abs(document.score) <= _LARGEST else None


def retrieval_of(documents: Sequence[Document], factor: float, most: int | None = None) -> Retrieval:
    """The figures over the documents that have a score, the `most` best ones; confidence is the mean times `factor`."""
    scores = [score for document in documents if (score := _score_of(document)) is not None]
    if most is not None and len(scores) > most:
        scores = sorted(scores, reverse=True)[:most]
    if not scores:
        return Retrieval()
    mean = sum(scores) / len(scores)
    return Retrieval(best=max(scores), avg_score=mean, confidence=mean * factor)


class Overlap(Struct, frozen=True, kw_only=True):
    """The shares of documents whose first characters are copied, and of runs of five words; the first runs with their places."""

    snippets: float
    windows: float | None
    places: tuple[Place, ...] = ()


def overlap_of(response: str, documents: Sequence[Document], snippet: int) -> Overlap:
    """Measure both overlaps; white space of any kind is the same."""
    shown = snippet_share(response, documents, snippet)
    flat = _flat(response)
    windows = _windows(flat)
    if not windows:
        return Overlap(snippets=shown, windows=None)
    joined = _flat(_BETWEEN.join([document.text for document in documents]))
    copied = 0
    places: list[Place] = []
    for start, end in windows:
        at = joined.find(flat[start:end])
        if at >= 0:
            copied += 1
            if len(places) < _MOST_RUNS:
                places.append(Place(start=start, end=end, text=response[start:end]))
                places.append(_in_document(documents, at, end - start))
    return Overlap(snippets=shown, windows=copied / len(windows), places=tuple(places))


def _in_document(documents: Sequence[Document], at: int, length: int) -> Place:
    for document in documents:
        if at < len(document.text):
            return Place(document=document.id, start=at, end=at + length, text=document.text[at : at + length])
        at -= len(document.text) + len(_BETWEEN)
    raise IndexError(at)


def snippet_share(response: str, documents: Sequence[Document], snippet: int) -> float:
    """The share of documents whose first characters stand in the answer, to the letter; 0 without documents."""
    beginnings = [document.text[:snippet] for document in documents]
    return sum(1 for beginning in beginnings if beginning and beginning in response) / len(documents) if documents else 0.0


def _flat(text: str) -> str:
    return text.replace("\n", " ").replace("\u00a0", " ").replace("\u202f", " ")


def _windows(text: str) -> list[tuple[int, int]]:
    words = list(_WORD.finditer(text))
    count = len(words) - _WINDOW + 1
    if count < 1:
        return []
    step = max(_STEP, -(-count // _MOST_WINDOWS))
    spans = ((words[first].start(), words[first + _WINDOW - 1].end()) for first in range(0, count, step))
    return [(start, end) for start, end in spans if end - start <= _LONGEST_WINDOW and _BETWEEN not in text[start:end]]


def note_grounding(watch: Stopwatch, grounding: Grounding) -> None:
    """Note the signals that the grounding carries. Figures, references and names: how many have no support, None without any;
    coverage: the claims' mean share of words that the documents hold; negation: how many claims deny what the place that comes
    nearest affirms, or the other way round."""
    claims = [sentence for sentence in grounding.sentences if sentence.claim]
    watch.note("grounding", grounding.p_unsupported, [place_of(sentence) for sentence in claims[:_MOST_PLACES]])
    stated = [claim for sentence in grounding.sentences for claim in sentence.claims]
    figures = [claim for claim in stated if claim.kind not in ("reference", *NAMING)]
    watch.note("figures", _missing(figures), _places(figures))
    references = [claim for claim in stated if claim.kind == "reference"]
    watch.note("references", _missing(references), _places(references))
    names = [place for sentence in claims for place in _names(sentence)]
    watch.note("names", float(len(names)) if claims else None, names[:_MOST_PLACES])
    shares = [sentence.features["coverage"] for sentence in claims if "coverage" in sentence.features]
    missing_words = [place for sentence in claims for place in sentence.unsupported]
    watch.note("coverage", sum(shares) / len(shares) if shares else None, missing_words[:_MOST_PLACES])
    turned = [
        sentence
        for sentence in claims
        if sentence.supporting and (sentence.features["negation_alone"] or sentence.features["negation_lost"])
    ]
    pairs = [(place_of(sentence), sentence.supporting) for sentence in turned[:_MOST_PLACES]]
    watch.note("negation", float(len(turned)) if claims else None, [place for pair in pairs for place in pair if place])


def as_written(decision: Decision, response: str, texts: Mapping[str, str]) -> Decision:
    """The decision with its quotations as the answer and the documents (by id, those read in another form) write them."""

    def place(quoted: Place) -> Place:
        text = response if not quoted.document else texts.get(quoted.document)
        if text is None:
            return quoted
        rest = (
            _ENTITY_REST.match(text, quoted.end) if _ENTITY_BEGUN.search(text, max(0, quoted.end - _ENTITY), quoted.end) else None
        )
        end = rest.end() if rest else quoted.end
        return replace(quoted, end=end, text=text[quoted.start : end])

    return replace(
        decision,
        reasons=tuple(replace(reason, place=place(reason.place)) if reason.place else reason for reason in decision.reasons),
        sentences=tuple(replace(sentence, text=response[sentence.start : sentence.end]) for sentence in decision.sentences),
        signals=tuple(replace(signal, places=tuple(map(place, signal.places))) for signal in decision.signals),
    )


def unsupported_claims(grounding: Grounding) -> Iterator[tuple[int, SentenceGrounding, Claim]]:
    """The figures and references that no document holds, with their sentence and its index."""
    for index, sentence in enumerate(grounding.sentences):
        for claim in sentence.claims:
            if not claim.supported:
                yield index, sentence, claim


def _missing(claims: Sequence[Claim]) -> float | None:
    return float(sum(1 for claim in claims if not claim.supported)) if claims else None


def _places(claims: Sequence[Claim]) -> list[Place]:
    return [place for claim in claims[:_MOST_PLACES] for place in (claim.place, claim.evidence) if place is not None]


def _names(sentence: SentenceGrounding) -> list[Place]:
    """The unsupported words with a capital that does not begin the sentence, and that are no part of a figure or reference."""
    capital = [place for place in sentence.unsupported if place.start > sentence.start and place.text[:1].isupper()]
    if not capital:
        return []
    covered = Covered([claim for claim in sentence.claims if claim.kind != "name"])
    return [place for place in capital if place.start not in covered]
