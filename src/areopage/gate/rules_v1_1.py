"""The documented rule to the letter, faults included (docs/accuracy.md says what it finds and what it lets pass).

The best document must have the score `relevance`. Then: avg_score is the mean of the scores, confidence a fixed part of it;
cites_ok where an id stands in square brackets just as a document writes it, or the beginnings of enough documents stand in the
answer word for word; hallucination where a year or an amount of the answer is no part of the documents' text. An answer passes
without hallucination, with enough confidence, and with cites_ok or enough overlap; else it goes to people if confidence is very
low or there is a hallucination, and to the fallback otherwise.
"""

import re
from collections.abc import Callable, Sequence

from areopage.cases import Document
from areopage.gate.config import GateConfig
from areopage.gate.reading.citations import exact_ids
from areopage.gate.records import Decision, GateVerdict, Metrics, Place, Reason, ReasonCode, SentenceCheck
from areopage.gate.signals import Retrieval, Stopwatch, place_of, retrieval_of, snippet_share
from areopage.text import figures, language_of, sentences

MOST_REASONS = 50  # unsupported years and amounts that are told
TOP = 5  # documents that are read, unless the configuration says how many
_YEAR = re.compile(r"\b(19|20)\d{2}\b")
# \b\d{1,3}(?:,\d{3})*(?:\.\d+)?\s?(?:€|\$|usd|eur)\b read from its end: a long row of numbers costs no more than its length.
_AMOUNT_BACKWARDS = re.compile(r"\b(?:€|\$|dsu|rue)\s?(?:\d+\.)?(?:\d{3},)*\d{1,3}\b")
_CURRENCY = re.compile(r"€|\$|usd|eur")


def decide_v1_1(
    config: GateConfig, version: str, prompt: str, response: str, documents: Sequence[Document], clock: Callable[[], float] | None
) -> Decision:
    """Decide by the documented rule."""
    watch = Stopwatch(clock)
    bounds = config.thresholds
    used = documents[: config.top or TOP]
    retrieval = retrieval_of(used, config.confidence_factor)
    watch.note("retrieval", retrieval.avg_score)
    too_long = len(response) > config.max_characters
    text = "" if too_long else response
    cited = exact_ids(text, used)
    watch.note("citations", float(bool(cited.cited_ids)), [place_of(span) for span in cited.spans])
    overlap = snippet_share(text, used, config.snippet)
    watch.note("overlap", overlap)
    missing = _unsupported_mended(text, used) if config.mended_patterns else unsupported_documented(text, used)
    watch.note("figures", float(len(missing)), missing[:MOST_REASONS])
    spans = sentences(text, language_of(text) or "en")
    cites_ok = bool(cited.cited_ids) or overlap >= bounds.overlap
    confident = retrieval.confidence is None or retrieval.confidence >= bounds.confidence
    passes = not missing and confident and (cites_ok or overlap >= bounds.overlap) and not too_long
    very_low = retrieval.confidence is not None and retrieval.confidence < bounds.escalate_confidence
    escalate = not passes and (very_low or bool(missing) or too_long)
    irrelevant = not used or (retrieval.best is not None and retrieval.best < bounds.relevance)
    verdict: GateVerdict = "fallback" if irrelevant else "deliver" if passes else "human_review" if escalate else "fallback"
    checks = tuple(
        SentenceCheck(start=span.start, end=span.end, text=span.text, claim=True, p_unsupported=None) for span in spans
    )
    return Decision(
        verdict=verdict,
        needs_judge=False,
        p_unsupported=None,
        metrics=Metrics(
            avg_score=retrieval.avg_score,
            confidence=retrieval.confidence,
            cites_ok=cites_ok,
            overlap_ratio=overlap,
            hallucination=bool(missing),
            quality_pass=passes and not irrelevant,
            escalate=escalate and not irrelevant,
            num_sources=len(used),
        ),
        sentences=checks,
        signals=tuple(watch.signals),
        reasons=_reasons(config, used, retrieval, missing, checks, cites_ok=cites_ok, overlap=overlap, too_long=too_long),
        cited_ids=cited.cited_ids,
        response_lang=language_of(text),
        prompt_lang=language_of(prompt),
        profile=config.profile,
        version=version,
    )


def _reasons(
    config: GateConfig,
    used: Sequence[Document],
    retrieval: Retrieval,
    missing: Sequence[Place],
    checks: Sequence[SentenceCheck],
    *,
    cites_ok: bool,
    overlap: float,
    too_long: bool,
) -> tuple[Reason, ...]:
    bounds = config.thresholds
    if not used:
        return (Reason(code="no_documents", decisive=True),)
    irrelevant = retrieval.best is not None and retrieval.best < bounds.relevance
    reasons: list[Reason] = []
    if irrelevant:
        reasons.append(Reason(code="not_relevant", decisive=True, value=retrieval.best, threshold=bounds.relevance))

    def tell(code: ReasonCode, value: float | None, threshold: float) -> None:
        reasons.append(Reason(code=code, decisive=not irrelevant, value=value, threshold=threshold))

    if too_long:
        tell("too_long", None, float(config.max_characters))
        return tuple(reasons)
    sentence = 0
    for place in missing[:MOST_REASONS]:
        while sentence < len(checks) and checks[sentence].end < place.end:
            sentence += 1
        index = sentence if sentence < len(checks) and checks[sentence].start <= place.start else None
        reasons.append(Reason(code="unsupported_year_or_amount", decisive=not irrelevant, place=place, sentence=index))
    if retrieval.confidence is not None and retrieval.confidence < bounds.confidence:
        tell("low_confidence", retrieval.confidence, bounds.confidence)
    if not cites_ok:
        tell("no_citation", overlap, bounds.overlap)
    return tuple(reasons)


def unsupported_documented(response: str, documents: Sequence[Document]) -> list[Place]:
    """The years and amounts that are no part of the documents, by the two documented expressions, one place for each.

    Of a year the first expression yields the century alone (its group captures), so "19" or "20" anywhere is support enough.
    """
    text = "\n".join(document.text for document in documents)
    unsupported: list[Place] = []
    for century in ("19", "20"):
        if century not in text:
            year = next((match for match in _YEAR.finditer(response) if match[1] == century), None)
            if year is not None:
                unsupported.append(Place(start=year.start(), end=year.end(), text=year.group()))
    amounts = documented_amounts(response)
    if amounts:
        # An amount is in the text if it is one of its parts that end with a currency.
        ends = [match.end() for match in _CURRENCY.finditer(text)]
        lengths = {len(place.text) for place in amounts}
        supported = {text[end - length : end] for length in lengths for end in ends if end >= length}
        unsupported += [place for place in amounts if place.text not in supported]
    return sorted(unsupported, key=lambda place: place.start)


def documented_amounts(text: str) -> list[Place]:
    """What the documented expression for amounts finds, the first place of each text."""
    first: dict[str, Place] = {}
    for match in _AMOUNT_BACKWARDS.finditer(text[::-1]):
        start, end = len(text) - match.end(), len(text) - match.start()
        first[text[start:end]] = Place(start=start, end=end, text=text[start:end])
    return sorted(first.values(), key=lambda place: place.start)


def _unsupported_mended(response: str, documents: Sequence[Document]) -> list[Place]:
    claimed = [figure for figure in figures(response) if figure.kind in ("amount", "date")]
    if not claimed:
        return []
    documented = [figure for document in documents for figure in figures(document.text)]
    amounts = {(figure.value, figure.unit) for figure in documented if figure.kind == "amount"}
    years = {str(figure.value)[:4] for figure in documented if figure.kind == "date"}
    return [
        Place(start=figure.start, end=figure.end, text=figure.text)
        for figure in claimed
        if not (str(figure.value)[:4] in years if figure.kind == "date" else (figure.value, figure.unit) in amounts)
    ]
