"""An answer's sentences with everything that is told of them but the model's judgment."""

from collections.abc import Sequence

from msgspec import Struct

from areopage.cases.records import Document
from areopage.evidence.sentences import Span, sentences
from areopage.gate.claims import Claim
from areopage.gate.figure_check import check_claims
from areopage.gate.refusals import is_refusal
from areopage.gate.sentence_features import Answered, SentenceFacts, denies, sentence_facts
from areopage.gate.source import Source
from areopage.gate.tokens import WORD, stem, stems

REFUSING = ("ignore", "impossible", "incapable", "incapacité", "insufficient", "insuffisan", "unclear", "silent", "not ", "pas")


class ExaminedSentence(Struct, frozen=True):
    """A sentence: `claim` is false for a greeting, a question, a refusal, a closing."""

    span: Span
    facts: SentenceFacts
    claims: tuple[Claim, ...]
    claim: bool


class Examined(Struct, frozen=True):
    """An answer's sentences, and the documents that they were compared with."""

    sentences: Sequence[ExaminedSentence]
    source: Source

    @property
    def new(self) -> list[float]:
        """How many words each claim brings that nothing before it has."""
        return [one.facts.features["new"] for one in self.sentences if one.claim]


def examine(prompt: str, response: str, documents: Sequence[Document], language: str) -> Examined:
    """Look at every sentence of an answer."""
    spans = sentences(response, language)
    source = Source(documents, frozenset(map(stem, WORD.findall(response))))
    answered = Answered(source, frozenset(stems(prompt)), len(spans), set())
    claims = check_claims(prompt, response, documents)
    examined = []
    taken = 0
    for index, span in enumerate(spans):
        facts = sentence_facts(span.text, span.start, index, answered)
        first = taken
        while taken < len(claims) and claims[taken].place.start < span.end:
            taken += 1
        own = tuple(claims[first:taken])
        examined.append(ExaminedSentence(span, facts, own, _claims_something(span.text, facts, own, prompt)))
    return Examined(examined, source)


def _claims_something(sentence: str, facts: SentenceFacts, claims: Sequence[Claim], prompt: str) -> bool:
    """Whether a sentence states anything that documents could hold."""
    if not facts.words:
        return False
    if claims:
        return True
    return not facts.features["courtesy"] and not (_may_refuse(sentence) and is_refusal(sentence, prompt))


def _may_refuse(sentence: str) -> bool:
    """A quick look that spares most sentences the slow one."""
    low = sentence.lower().replace("’", "'")
    return denies(low) or any([cue in low for cue in REFUSING])
