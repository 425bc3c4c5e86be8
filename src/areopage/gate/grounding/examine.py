"""An answer's sentences with everything that is told of them but the model's judgment."""

from collections.abc import Sequence

from msgspec import Struct

from areopage.cases.records import Document
from areopage.evidence.sentences import Span, sentences
from areopage.gate.grounding.claims import Claim
from areopage.gate.grounding.figure_check import check_claims
from areopage.gate.grounding.sentence_features import Answered, SentenceFacts, sentence_facts, without_citations, words_of
from areopage.gate.grounding.source import Source
from areopage.gate.grounding.tokens import denies, stems
from areopage.gate.refusals import is_refusal

REFUSING = ("n't", "'ignore", "impossible", "incapable", "incapacité", "insufficient", "insuffisan", "unclear", "silent")
ABOUT = (
    "know", "answer", "find", "found", "inform", "mention", "document", "passage", "source", "context", "text", "excerpt",
    "extract", "determin", "provid", "able", "possible", "sorry", "sai", "répon", "trouv", "dispos", "extrait", "sav",
    "incapa", "ignore", "donn", "précis", "indiqu", "figur", "appara", "state", "given", "specif",
)  # fmt: skip


class ExaminedSentence(Struct, frozen=True):
    """A sentence: `claim` is false for a greeting, a question, a refusal, a closing."""

    span: Span
    facts: SentenceFacts
    claims: tuple[Claim, ...]
    claim: bool

    @property
    def counted(self) -> tuple[float, float, float]:
        """Its new words, its unknown ones, and all."""
        return self.facts.features["new"], float(len(self.facts.unknown)), float(self.facts.words)


class Examined(Struct, frozen=True):
    """An answer's sentences, and the documents that they were compared with."""

    sentences: Sequence[ExaminedSentence]
    source: Source

    @property
    def words(self) -> list[tuple[float, float, float]]:
        """Of each claim its new words, its unknown ones, and all, as `answer_features` takes them."""
        return [one.counted for one in self.sentences if one.claim]


def examine(prompt: str, response: str, documents: Sequence[Document], language: str) -> Examined:
    """Look at every sentence of an answer."""
    spans = sentences(response, language)
    clean = without_citations(response)
    words = [words_of(clean, span.start, span.end) for span in spans]
    source = Source(documents, [own.roots for own in words])
    claims = check_claims(prompt, clean, documents, source.clean)
    answered = Answered(source, frozenset(stems(prompt)), len(spans), set())
    examined = []
    taken = 0
    for index, (span, own_words) in enumerate(zip(spans, words, strict=True)):
        low = span.text.lower().replace("’", "'")
        denied = denies(low)
        facts = sentence_facts(low, denied, own_words, index, answered)
        first = taken
        while taken < len(claims) and claims[taken].place.start < span.end:
            taken += 1
        own = tuple(claims[first:taken])
        stated = any(one.kind != "quantity" for one in own)
        claim = bool(own_words.roots) and (stated or not (facts.features["courtesy"] or _refuses(span.text, low, denied, prompt)))
        examined.append(ExaminedSentence(span, facts, own, claim))
    return Examined(examined, source)


def _refuses(sentence: str, low: str, denied: bool, prompt: str) -> bool:
    """Whether a sentence only says that the answer is not known; a quick look spares most sentences the slow one."""
    return (denied or any(cue in low for cue in REFUSING)) and any(cue in low for cue in ABOUT) and is_refusal(sentence, prompt)
