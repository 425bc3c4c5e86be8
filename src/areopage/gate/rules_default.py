"""The gate's own rules.

1. Without documents, with none that is relevant, or without an answer: fallback. Nothing else is decisive then.
2. An answer that only says that it does not know leaves. One that says neither that nor anything else (an id alone, the question
   again, a question back, thanks) is no answer: fallback, and nothing else is decisive.
3. To people: a lone yes or no, which cannot be checked; what no document holds though it must (figures and references of the
   kinds in `hard`), ids that do not exist (and, where citations are required, a sentence credited to a document that another one
   holds), an answer that the grounding model holds back, confidence under `escalate_confidence`, an answer too long to be read.
4. To the fallback: too little confidence, no citation where one is required, another language where that counts.
5. Between the thresholds `deliver` and `hold`, where nothing else holds it back: a judge if there is one, else `unsettled`.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from areopage.cases import Document
from areopage.gate.config import GateConfig
from areopage.gate.grounding.claims import NAMING, ClaimState
from areopage.gate.grounding.model import Grounding, GroundingModel, ground
from areopage.gate.reading.citations import Citations, citations_of
from areopage.gate.reading.refusals import admissions, instructions, refusal_of
from areopage.gate.records import Decision, GateVerdict, Metrics, Place, Reason, ReasonCode, SentenceCheck
from areopage.gate.signals import (
    Overlap,
    Retrieval,
    Stopwatch,
    as_written,
    note_grounding,
    overlap_of,
    place_of,
    read_documents,
    retrieval_of,
    unsupported_claims,
)
from areopage.text import DIGITS, Readable, Span, as_read, language_of, plain

MOST_REASONS = 50  # of one kind
MOST_NUMBERS = 1_500  # of an answer: one that has more is held back unread
CREDITED_LESS = 0.4  # share of a sentence's words by which the documents that it cites have less than another one
MOST_SCORES = 5  # of documents, the best ones, that confidence rests on where the answer uses none
DECIMALS = 12  # of figures: what lies beyond is noise of the sums
MISSING_DOUBT = 0.9  # probability that what must be in a document and is not found there is unsupported
MOST_ROOM = 100  # characters beyond twice the question within which an answer may be the question again
# Thai, Lao, Myanmar, Khmer, kana, Chinese characters: scripts that put no spaces between words.
_UNSEGMENTED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_MOST_UNSEGMENTED = 0.2  # share of an answer's characters in such scripts up to which its words are compared
_BARE = re.compile(r"[\W_]*(?:oui|non|si|yes|no)\b[\W_]*(?:\[[^\[\]\n]{1,40}\][\W_]*)*", re.IGNORECASE)
_VISIBLE = re.compile(r"[^\W_]")

TO_FALLBACK = frozenset(["no_documents", "not_relevant", "empty_response", "no_claim", "no_citation", "other_language"])
HALLUCINATIONS = frozenset(
    [
        "unsupported_figure",
        "misplaced_figure",
        "altered_figure",
        "unsupported_reference",
        "unsupported_name",
        "asserted_by_question",
        "unsupported_sentence",
        "judge_unsupported",
    ]
)


_CODES: Mapping[ClaimState, ReasonCode] = {
    "asserted": "asserted_by_question",
    "elsewhere": "misplaced_figure",
    "altered": "altered_figure",
}


class Findings(Struct, frozen=True, kw_only=True):
    """What was found out about an answer, before any rule is applied. Without grounding the answer was not read."""

    retrieval: Retrieval
    best: float | None
    documents: int
    ids: tuple[str, ...] = ()
    citations: Citations = Citations()
    overlap: Overlap = Overlap(snippets=0.0, windows=None)
    response_lang: str = ""
    prompt_lang: str = ""
    unsegmented: bool = False
    refusal: bool = False
    echo: bool = False
    admissions: tuple[Span, ...] = ()
    instructions: tuple[tuple[str, Span], ...] = ()
    unread: int = 0
    bare: bool = False
    grounding: Grounding = Grounding(p_unsupported=None, sentences=(), features={})
    empty: bool = False
    too_long: bool = False
    crowded: bool = False


def decide_default(
    config: GateConfig,
    model: GroundingModel,
    version: str,
    prompt: str,
    response: str,
    documents: Sequence[Document],
    clock: Callable[[], float] | None,
) -> Decision:
    """Decide by the gate's own rules."""
    watch = Stopwatch(clock)
    read = [
        replace(document, text=text) if (text := as_read(document.text)) is not document.text else document
        for document in documents
    ]
    answer = response if len(response) > config.max_characters else as_read(response)
    findings = _findings(config, model, prompt, answer, read, watch)
    checks = tuple(map(_check_of, findings.grounding.sentences))
    bounds, doubt = config.thresholds, findings.grounding.p_unsupported
    reasons = _reasons(config, findings, checks)
    leaves = _verdict(config, reasons) == "deliver"
    near_copies = () if findings.refusal else tuple(index for index, check in enumerate(checks) if check.changes)
    grey: tuple[int, ...] = ()
    if leaves and not findings.refusal and doubt is not None and bounds.deliver < doubt < bounds.hold:
        grey, holds = _worst_first(checks, bounds.deliver), config.unsettled == "hold"
        reasons += _about_sentences("unsupported_sentence", checks, grey, decisive=holds, value=doubt, threshold=bounds.deliver)
    holds = leaves and config.near_copies == "hold"
    reasons += _about_sentences("meaning_not_checked", checks, near_copies, decisive=holds)
    reasons.sort(key=lambda reason: not reason.decisive)
    verdict = _verdict(config, reasons)
    doubtful = tuple(dict.fromkeys([*near_copies, *grey])) if leaves and config.grey_band else ()
    missing = [index for index, _, claim in unsupported_claims(findings.grounding) if claim.kind in config.hard]
    stated = None if doubt is None else _raised(doubt, len(missing))
    if stated is not None and stated <= bounds.deliver and (verdict != "deliver" or near_copies):
        stated = None  # it would contradict the verdict
    decision = Decision(
        verdict=verdict,
        needs_judge=bool(doubtful),
        p_unsupported=None if findings.refusal or findings.unsegmented else stated,
        metrics=_metrics(config, findings, reasons, verdict),
        sentences=_stated_checks(config, findings, checks, Counter(missing)),
        signals=tuple(watch.signals),
        reasons=tuple(reasons),
        doubtful=doubtful,
        meaning_not_checked=near_copies,
        cited_ids=findings.citations.cited_ids,
        unknown_ids=tuple(label for label, _ in findings.citations.unknown),
        response_lang=findings.response_lang,
        prompt_lang=findings.prompt_lang,
        refusal=findings.refusal,
        profile=config.profile,
        version=version,
    )
    changed = {
        document.id: document.text
        for document, read_document in zip(documents, read, strict=True)
        if document.text is not read_document.text
    }
    return as_written(decision, response, changed) if changed or answer is not response else decision


def _check_of(sentence: SentenceCheck) -> SentenceCheck:
    return SentenceCheck(**{name: getattr(sentence, name) for name in SentenceCheck.__struct_fields__})


def _metrics(config: GateConfig, findings: Findings, reasons: Sequence[Reason], verdict: GateVerdict) -> Metrics:
    retrieval, overlap = findings.retrieval, max(findings.overlap.snippets, findings.overlap.windows or 0.0)
    return Metrics(
        avg_score=None if retrieval.avg_score is None else round(retrieval.avg_score, DECIMALS),
        confidence=None if retrieval.confidence is None else round(retrieval.confidence, DECIMALS),
        cites_ok=bool(findings.citations.cited_ids) or overlap >= config.thresholds.overlap,
        overlap_ratio=findings.overlap.snippets,
        hallucination=any(reason.decisive and reason.code in HALLUCINATIONS for reason in reasons),
        quality_pass=verdict == "deliver",
        escalate=verdict == "human_review",
        num_sources=findings.documents,
    )


def _findings(
    config: GateConfig, model: GroundingModel, prompt: str, response: str, documents: Sequence[Document], watch: Stopwatch
) -> Findings:
    used = read_documents(response, documents, config.top)
    retrieval = retrieval_of(used, config.confidence_factor, MOST_SCORES)
    best = retrieval.best
    too_long = len(response) > config.max_characters
    numbers = DIGITS.finditer(Readable(response).text) if not too_long and len(response) > MOST_NUMBERS else ()
    crowded = sum(1 for _ in numbers) > MOST_NUMBERS
    empty = not too_long and _VISIBLE.search(response) is None
    if empty or too_long or crowded or not used:
        watch.note("retrieval", retrieval.avg_score)
        return Findings(retrieval=retrieval, best=best, documents=len(used), empty=empty, too_long=too_long, crowded=crowded)
    response_lang, prompt_lang = language_of(response), language_of(prompt)
    same = float(response_lang == prompt_lang) if response_lang and prompt_lang else None
    watch.note("language", same)
    citations = citations_of(response, documents)
    watch.note("citations", citations.known_share, [place_of(span) for _, span in (*citations.existing, *citations.unknown)])
    overlap = overlap_of(response, used, config.snippet)
    watch.note("overlap", overlap.windows, overlap.places)
    grounding = ground(model, prompt, response, used, response_lang or prompt_lang or "en")
    note_grounding(watch, grounding)
    retrieval = retrieval_of(_rested_on(citations, grounding, used), config.confidence_factor, MOST_SCORES)
    watch.note("retrieval", retrieval.avg_score)
    refusing = refusal_of([(sentence.text, sentence.claim) for sentence in grounding.sentences], prompt)
    places = [
        Place(start=sentence.start, end=sentence.end, text=sentence.text)
        for sentence in map(grounding.sentences.__getitem__, refusing)
    ]
    watch.note("refusal", float(bool(refusing)), places)
    commands = instructions(response)
    texts = [(document.id, plain(document.text)) for document in used] if commands else []
    repeated = ((next((id for id, text in texts if plain(span.text) in text), None), span) for span in commands)
    return Findings(
        retrieval=retrieval,
        best=best,
        documents=len(used),
        unread=len(documents) - len(used),
        bare="?" in prompt and _BARE.fullmatch(response) is not None,
        ids=tuple(document.id for document in used),
        citations=citations,
        overlap=overlap,
        response_lang=response_lang,
        prompt_lang=prompt_lang,
        unsegmented=not response.isascii() and len(_UNSEGMENTED.findall(response)) > len(response) * _MOST_UNSEGMENTED,
        refusal=bool(refusing),
        echo=_echoes(prompt, response, citations),
        admissions=tuple(admissions(response)),
        instructions=tuple((id, span) for id, span in repeated if id is not None),
        grounding=grounding,
    )


def _rested_on(citations: Citations, grounding: Grounding, used: Sequence[Document]) -> Sequence[Document]:
    """The documents that an answer uses: those that it cites, else those that its sentences come nearest to, else all."""
    nearest = {sentence.document for sentence in grounding.sentences if sentence.claim}
    for ids in (frozenset(citations.cited_ids), nearest):
        rested = [document for document in used if document.id in ids]
        if any(document.score is not None for document in rested):
            return rested
    return used


def _echoes(prompt: str, response: str, citations: Citations) -> bool:
    rest = response
    for start, end in sorted({(span.start, span.end) for span in citations.spans}, reverse=True):
        rest = f"{rest[:start]} {rest[end:]}"
    return len(rest) <= 2 * len(prompt) + MOST_ROOM and plain(rest) == plain(prompt)


def _reasons(config: GateConfig, findings: Findings, checks: Sequence[SentenceCheck]) -> list[Reason]:
    bounds = config.thresholds
    if not findings.documents:
        return [Reason(code="no_documents", decisive=True)]
    irrelevant = findings.best is not None and findings.best < bounds.relevance
    reasons = [Reason(code="not_relevant", decisive=True, value=findings.best, threshold=bounds.relevance)] if irrelevant else []
    open_question = not irrelevant
    if findings.empty:
        return reasons or [Reason(code="empty_response", decisive=True)]
    if findings.too_long:
        return [*reasons, Reason(code="too_long", decisive=open_question, threshold=float(config.max_characters))]
    if findings.crowded:
        return [*reasons, Reason(code="too_many_numbers", decisive=open_question, threshold=float(MOST_NUMBERS))]
    reasons += _reading_reasons(config, findings, decisive=open_question)
    if findings.refusal:
        return reasons
    if findings.bare:
        return [Reason(code="bare_answer", decisive=open_question), *reasons]
    if findings.echo or not any(sentence.claim for sentence in findings.grounding.sentences):
        return [Reason(code="no_claim", decisive=open_question), *reasons]
    return reasons + _content_reasons(config, findings, checks, decisive=open_question)


def _reading_reasons(config: GateConfig, findings: Findings, *, decisive: bool) -> list[Reason]:
    """The answer's language, and what was not read."""
    reasons = []
    if findings.response_lang and findings.prompt_lang and findings.response_lang != findings.prompt_lang:
        reasons.append(Reason(code="other_language", decisive=decisive and config.language == "fallback"))
    if findings.unread:
        reasons.append(Reason(code="unread_documents", decisive=False, value=float(findings.unread), threshold=float(config.top)))
    if findings.unsegmented:
        reasons.append(Reason(code="unread_language", decisive=decisive))
    return reasons


def _content_reasons(config: GateConfig, findings: Findings, checks: Sequence[SentenceCheck], *, decisive: bool) -> list[Reason]:
    """What an answer that claims something says, and what it rests on."""
    bounds, confidence, doubt = config.thresholds, findings.retrieval.confidence, findings.grounding.p_unsupported
    reasons = []
    if confidence is not None and confidence < bounds.confidence:
        reasons.append(Reason(code="low_confidence", decisive=decisive, value=confidence, threshold=bounds.confidence))
    reasons += _citation_reasons(config, findings, decisive=decisive)
    reasons += _claim_reasons(config, findings, decisive=decisive)
    reasons += [_about("admission", span, findings) for span in findings.admissions[:MOST_REASONS]]
    reasons += [_about("instruction", span, findings, document=id) for id, span in findings.instructions[:MOST_REASONS]]
    if doubt is not None and doubt >= bounds.hold:
        worst, value = _worst_first(checks, bounds.hold), bounds.hold
        reasons += _about_sentences("unsupported_sentence", checks, worst, decisive=decisive, value=doubt, threshold=value)
    return reasons


def _about(code: ReasonCode, span: Span, findings: Findings, *, document: str = "", decisive: bool = False) -> Reason:
    sentences = enumerate(findings.grounding.sentences)
    sentence = next((index for index, check in sentences if check.start <= span.start < check.end), None)
    return Reason(code=code, decisive=decisive, place=place_of(span), document=document, sentence=sentence)


def _about_sentences(
    code: ReasonCode,
    checks: Sequence[SentenceCheck],
    indexes: Sequence[int],
    *,
    decisive: bool,
    value: float | None = None,
    threshold: float | None = None,
) -> list[Reason]:
    return [
        Reason(
            code=code,
            decisive=decisive,
            place=place_of(checks[index]),
            document=checks[index].document,
            sentence=index,
            value=value,
            threshold=threshold,
        )
        for index in indexes[:MOST_REASONS]
    ]


def _citation_reasons(config: GateConfig, findings: Findings, *, decisive: bool) -> list[Reason]:
    """Ids that do not exist, the lack of any that does, and sentences whose words another document has than the cited ones."""
    citations, required = findings.citations, config.citations == "required"
    counts = decisive and config.citations != "ignored"
    reasons = [_about("unknown_citation", span, findings, decisive=counts) for _, span in citations.unknown[:MOST_REASONS]]
    if required and not citations.cited_ids:
        reasons.append(Reason(code="no_citation", decisive=decisive))
    misattributed = []
    for index, sentence in enumerate(findings.grounding.sentences if citations.existing else ()):
        cited = {id for id, span in citations.existing if sentence.start <= span.start < sentence.end}
        credited = [share for id, share in zip(findings.ids, sentence.shares, strict=False) if id in cited]
        if credited and max(sentence.shares) >= max(credited) + CREDITED_LESS:
            better = findings.ids[sentence.shares.index(max(sentence.shares))]
            place = place_of(next(span for id, span in citations.existing if id in cited and span.start >= sentence.start))
            misattributed.append(
                Reason(
                    code="misattributed_citation", decisive=decisive and required, place=place, document=better, sentence=index
                )
            )
    return reasons + misattributed[:MOST_REASONS]


def _claim_reasons(config: GateConfig, findings: Findings, *, decisive: bool) -> list[Reason]:
    """Figures and references that no document holds, or none in their place; kinds that need not be held are only told."""
    missing = sorted(unsupported_claims(findings.grounding), key=lambda unsupported: unsupported[2].kind not in config.hard)
    reasons = []
    for index, sentence, claim in missing[:MOST_REASONS]:
        code: ReasonCode = "unsupported_reference" if claim.kind == "reference" else "unsupported_figure"
        if claim.kind in NAMING:
            code = "unsupported_name"
        document = claim.instead.document if claim.instead else sentence.document
        counts = decisive and claim.kind in config.hard
        code = _CODES.get(claim.state, code)
        reasons.append(Reason(code=code, decisive=counts, place=claim.place, document=document, sentence=index))
    computed = [
        Reason(code="computed_figure", decisive=False, place=claim.place, sentence=index)
        for index, sentence in enumerate(findings.grounding.sentences)
        for claim in sentence.claims
        if claim.state == "computed"
    ]
    return reasons + computed[:MOST_REASONS]


def _worst_first(checks: Sequence[SentenceCheck], threshold: float) -> tuple[int, ...]:
    claims = [(check.p_unsupported or 0.0, index) for index, check in enumerate(checks) if check.claim]
    claims.sort(key=lambda pair: (-pair[0], pair[1]))
    over = tuple(index for p_unsupported, index in claims if p_unsupported > threshold)
    return over or tuple(index for _, index in claims[:1])


def _raised(doubt: float, missing: int) -> float:
    """A probability with what must be in a document and is not: each is as good as a further reason to doubt."""
    return 1.0 - (1.0 - doubt) * (1.0 - MISSING_DOUBT) ** missing if missing else doubt


def _stated_checks(
    config: GateConfig, findings: Findings, checks: tuple[SentenceCheck, ...], missing: Mapping[int, int]
) -> tuple[SentenceCheck, ...]:
    """The sentences, their probabilities raised by what is missing; a low one of a sentence that was not read is not stated."""
    stated = list(checks)
    for index, check in enumerate(checks):
        doubt = check.p_unsupported
        if doubt is not None and (missing[index] or check.changes or findings.unsegmented):
            doubt = _raised(doubt, missing[index])
            unknown = findings.unsegmented or (check.changes and doubt <= config.thresholds.deliver)
            stated[index] = replace(check, p_unsupported=None if unknown else doubt)
    return tuple(stated)


def _verdict(config: GateConfig, reasons: Sequence[Reason]) -> GateVerdict:
    decisive = [reason for reason in reasons if reason.decisive]
    least = config.thresholds.escalate_confidence
    if any(
        reason.code not in TO_FALLBACK and (reason.code != "low_confidence" or reason.value is None or reason.value < least)
        for reason in decisive
    ):
        return "human_review"
    return "fallback" if decisive else "deliver"
