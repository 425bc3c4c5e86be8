"""What the grounding says, signal by signal; nothing is read from the texts a second time."""

from collections.abc import Iterator, Sequence

from areopage.gate.grounding.claims import Claim
from areopage.gate.grounding.model import Grounding, SentenceGrounding
from areopage.gate.records import Place, SentenceCheck
from areopage.gate.stopwatch import Stopwatch

MOST_PLACES = 50  # of one signal


def note_grounding(watch: Stopwatch, grounding: Grounding) -> None:
    """Note the signals that the grounding carries. Figures, references and names: how many have no support, None without any;
    coverage: the claims' mean share of words that the documents hold; negation: how many claims deny what the place that comes
    nearest affirms, or the other way round."""
    claims = [sentence for sentence in grounding.sentences if sentence.claim]
    watch.note("grounding", grounding.p_unsupported, [_place(sentence) for sentence in claims[:MOST_PLACES]])
    stated = [claim for sentence in grounding.sentences for claim in sentence.claims]
    figures = [claim for claim in stated if claim.kind != "reference"]
    watch.note("figures", _missing(figures), _places(figures))
    references = [claim for claim in stated if claim.kind == "reference"]
    watch.note("references", _missing(references), _places(references))
    names = [place for sentence in claims for place in _names(sentence)]
    watch.note("names", float(len(names)) if claims else None, names[:MOST_PLACES])
    shares = [share for sentence in claims if (share := sentence.features.get("coverage")) is not None]
    missing_words = [place for sentence in claims for place in sentence.unsupported]
    watch.note("coverage", sum(shares) / len(shares) if shares else None, missing_words[:MOST_PLACES])
    turned = [sentence for sentence in claims if _denies(sentence)]
    watch.note("negation", float(len(turned)) if claims else None, _with_support(turned))


def sentence_checks(grounding: Grounding) -> tuple[SentenceCheck, ...]:
    """The sentences, as a decision tells them."""
    return tuple(
        SentenceCheck(
            start=sentence.start,
            end=sentence.end,
            text=sentence.text,
            claim=sentence.claim,
            p_unsupported=sentence.p_unsupported,
            document=sentence.document,
            features=sentence.features,
        )
        for sentence in grounding.sentences
    )


def unsupported_claims(grounding: Grounding) -> Iterator[tuple[int, SentenceGrounding, Claim]]:
    """The figures and references that no document holds, with their sentence and its index."""
    for index, sentence in enumerate(grounding.sentences):
        for claim in sentence.claims:
            if not claim.supported:
                yield index, sentence, claim


def _place(sentence: SentenceGrounding) -> Place:
    return Place(start=sentence.start, end=sentence.end, text=sentence.text)


def _missing(claims: Sequence[Claim]) -> float | None:
    """How many claims no document supports; None where there are none."""
    return float(sum(1 for claim in claims if not claim.supported)) if claims else None


def _places(claims: Sequence[Claim]) -> list[Place]:
    """Where claims stand; behind each, where a document has it."""
    return [place for claim in claims[:MOST_PLACES] for place in (claim.place, claim.evidence) if place is not None]


def _names(sentence: SentenceGrounding) -> list[Place]:
    """The unsupported words with a capital that does not begin the sentence, and that are no part of a figure or reference."""
    return [
        place
        for place in sentence.unsupported
        if place.start > sentence.start
        and place.text[:1].isupper()
        and not any(claim.place.start <= place.start < claim.place.end for claim in sentence.claims)
    ]


def _denies(sentence: SentenceGrounding) -> bool:
    features = sentence.features
    return bool(features.get("negation_alone") or features.get("negation_lost")) and sentence.supporting is not None


def _with_support(sentences: Sequence[SentenceGrounding]) -> list[Place]:
    return [
        place for sentence in sentences[:MOST_PLACES] for place in (_place(sentence), sentence.supporting) if place is not None
    ]
