"""The list of the gate's decisions with rates and charts, and the data of a decision's page."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Literal, get_args

from fastapi import APIRouter
from markupsafe import Markup
from msgspec import Struct, structs
from starlette.requests import Request
from starlette.responses import Response

from areopage.cases import Document
from areopage.checking import MOST_PROMPT
from areopage.gate import (
    GATE_VERDICTS,
    Change,
    Decision,
    Gate,
    GateVerdict,
    Place,
    Reason,
    SentenceCheck,
    Signal,
    SignalName,
    ground,
    read_documents,
    shared_places,
)
from areopage.ledger import Channel, Trace, TraceFilter, midnight
from areopage.locales import Locale
from areopage.report import decision_locale, draw, histogram, reason_text
from areopage.scoring import Share
from areopage.server.access import Actor, Reader, note, note_scores_listed
from areopage.server.context import context_of
from areopage.server.pages.filters import OF_PERIODS, ChosenPeriod, Ignored, choice_of, ignore_unknown, number_of, period_of
from areopage.server.pages.rendering import language, render

PER_PAGE = 50
DEFAULT_PERIOD = "30"
CHANNELS: tuple[Channel, ...] = get_args(Channel)
MOST_NAME = 128
BARS = 10

GATE_WORDS = Path(__file__).with_name("gate_words.yml")
router = APIRouter(include_in_schema=False)

COUNTS: frozenset[SignalName] = frozenset(["figures", "references", "names", "negation"])
"""Signals whose value is a number of things."""

_UNSETTLED = frozenset(["judge_failed", "meaning_not_checked"])  # reasons that say that nothing is known of a sentence
Support = Literal["supported", "unchecked", "doubtful", "unsupported", "none"]
DOUBT = 0.5
"""From this probability on a sentence is doubtful, also where the whole answer may leave."""


class GateChosen(ChosenPeriod, frozen=True, kw_only=True):
    """What an address asks for."""

    verdict: GateVerdict | None = None
    channel: Channel | None = None
    collection: str | None = None
    prompt: str = ""
    unlabelled: bool = False

    @property
    def narrowed(self) -> bool:
        """Whether anything but the period is chosen."""
        return bool(self.verdict or self.channel or self.collection is not None or self.prompt or self.unlabelled)

    @property
    def filter(self) -> TraceFilter:
        """As the ledger takes it."""
        return TraceFilter(
            since=midnight(self.period.start) if self.period else None,
            until=midnight(self.period.end) if self.period else None,
            channels=(self.channel,) if self.channel else (),
            verdict=self.verdict,
            collection=self.collection,
            prompt=self.prompt or None,
            unlabelled=self.unlabelled,
        )

    def parts(self) -> dict[str, str | None]:
        """The filters other than the period."""
        parts = {"verdict": self.verdict, "channel": self.channel, "collection": self.collection, "q": self.prompt or None}
        return parts | {"unlabelled": "1" if self.unlabelled else None}


class Histogram(Struct, frozen=True, kw_only=True):
    """A chart in ten bars, and all of its bins as lines: where each begins, and how many."""

    chart: Markup
    lines: tuple[tuple[str, int], ...]


@router.get("/gate")
def show_gate(request: Request, reader: Reader) -> Response:
    """The figures of the period and one page of the list, the newest first; a scoped key sees its own collections alone."""
    context, spoken = context_of(request), language(request)
    asked = _gate_chosen(request.query_params, context.now().date(), reader)
    traces = context.ledger.traces
    # a verdict, a question or a wish narrows the list; the rates are about all answers of the period
    summary = traces.summary(structs.replace(asked.filter, verdict=None, prompt=None, unlabelled=False))
    listed = traces.list(asked.filter, limit=PER_PAGE + 1, before=asked.before)
    rows = listed[:PER_PAGE]
    note(context.ledger, reader, "read", "", f"a list of {len(rows)} traces")
    note_scores_listed(request, context.ledger, reader, [row.answer.id for row in rows])
    values: Mapping[str, Any] = {
        "asked": asked,
        "summary": summary,
        "rates": [(verdict, Share.counted(summary.verdicts.get(verdict, 0), summary.traces)) for verdict in GATE_VERDICTS],
        "rows": rows,
        "older": asked.query(before=str(rows[-1].answer.number)) if len(listed) > PER_PAGE else None,
        "thresholds": context.gate.config.thresholds,
        "confidences": _confidence_chart(summary.confidences, spoken, "gate_confidences"),
        "word_values": _confidence_chart(summary.p_unsupported, spoken, "gate_word_values"),
        "reasons": list(summary.reasons.items()),
        "verdicts": GATE_VERDICTS,
        "channels": CHANNELS,
        "scope": reader.collections,
        "host": request.url.netloc,
    }
    return render(request, "gate_list.html.j2", **values)


def _gate_chosen(query: Mapping[str, str], today: date, reader: Actor) -> GateChosen:
    ignored = list[Ignored]()
    ignore_unknown(query, (*OF_PERIODS, "verdict", "channel", "collection", "q", "unlabelled", "before"), ignored)
    name, period = period_of(query, today, DEFAULT_PERIOD, ignored, may_be_all=True)
    collection = query.get("collection", "").strip()[:MOST_NAME] or None
    if reader.collections and collection not in reader.collections:
        if collection is not None:
            ignored.append(Ignored(field="gate_collection", value=collection))
        collection = reader.collections[0]
    return GateChosen(
        name=name,
        period=period,
        verdict=choice_of(query, "verdict", GATE_VERDICTS, "gate_verdict", ignored),
        channel=choice_of(query, "channel", CHANNELS, "gate_channel", ignored),
        collection=collection,
        prompt=query.get("q", "").replace("\r\n", "\n").strip()[:MOST_PROMPT],
        unlabelled="unlabelled" in query,
        before=number_of(query, "before", "filter_before", ignored),
        ignored=tuple(ignored),
    )


def _confidence_chart(counts: Sequence[int], spoken: Locale, title: str) -> Histogram | None:
    if not any(counts):
        return None
    width = len(counts) // BARS
    bars = [sum(counts[at : at + width]) for at in range(0, len(counts), width)]
    lines = [(spoken.number(at / len(counts), 2), count) for at, count in enumerate(counts)]
    return Histogram(chart=draw(histogram(spoken.say(title), bars, spoken), spoken), lines=tuple(lines))


class ShownSentence(Struct, frozen=True, kw_only=True):
    """A sentence of the answer. `number` counts from 1; `reasons` are the numbers of the reasons that are about it.

    `p_unsupported` is None also where a rule decided against a sentence that is taken for supported: both side by side would read
    as a contradiction, and the reason tells what decided.
    """

    number: int
    text: str
    support: Support
    p_unsupported: float | None
    changes: tuple[Change, ...]
    document: str
    reasons: tuple[int, ...]


class ShownReason(Struct, frozen=True, kw_only=True):
    """Reasons that say the same, told once. `number` counts from 1; `sentences` are the numbers of those that it is about,
    `times` is how often it was found there, or in the answer as a whole."""

    number: int
    text: str
    sentences: tuple[int, ...]
    times: int


class AnswerPiece(Struct, frozen=True, kw_only=True):
    """A piece of a text; `sentence` is the number of the sentence that it is, 0 for what lies between sentences.

    `parts` are its texts in order, each with whether a decisive reason names it: a figure, a name, never the whole sentence.
    """

    text: str
    sentence: int = 0
    support: Support = "none"
    parts: tuple[tuple[str, bool], ...] = ()


class ShownSignal(Struct, frozen=True, kw_only=True):
    """A signal of the gate with the words of the answer that it found, each once; `times` counts the places.

    `counts`: whether the value is a count. `milliseconds` is None where the time was not measured.
    """

    name: SignalName
    value: float | None
    counts: bool
    places: tuple[str, ...]
    times: int
    milliseconds: float | None


class DecisionView(Struct, frozen=True, kw_only=True):
    """The data of a decision's page. `thresholds` is None if other rules made the decision.

    Each of `documents` comes with its text, what shares words with the answer marked in it.
    """

    pieces: tuple[AnswerPiece, ...]
    sentences: tuple[ShownSentence, ...]
    reasons: tuple[ShownReason, ...]
    documents: tuple[tuple[Document, Markup], ...]
    signals: tuple[ShownSignal, ...]
    thresholds: Mapping[str, float] | None

    @property
    def lit(self) -> bool:
        """Whether anything is marked in a document."""
        return any("<mark>" in marked for _, marked in self.documents)


def decision_view(trace: Trace, gate: Gate, language: str) -> DecisionView:
    """Gather what a page shows of a decision; an imported trace may have none."""
    decision = trace.decision
    if decision is None:
        plain = tuple((document, Markup.escape(document.text)) for document in trace.documents)
        pieces = (AnswerPiece(text=trace.response),) if trace.response else ()
        return DecisionView(pieces=pieces, sentences=(), reasons=(), documents=plain, signals=(), thresholds=None)
    reasons = _grouped(decision, language)
    sentences = []
    for index, sentence in enumerate(decision.sentences):
        standing, value = _sentence_support(sentence, index, decision), sentence.p_unsupported
        shown = ShownSentence(
            number=index + 1,
            text=sentence.text,
            support=standing,
            p_unsupported=None if standing == "unsupported" and value is not None and value < DOUBT else value,
            changes=sentence.changes if index in decision.meaning_not_checked else (),
            document=sentence.document,
            reasons=tuple(reason.number for reason in reasons if index + 1 in reason.sentences),
        )
        sentences.append(shown)
    shared = _shared_with(trace, gate)
    return DecisionView(
        pieces=_pieces_of(trace.response, decision, sentences),
        sentences=tuple(sentences),
        reasons=reasons,
        documents=tuple((document, _marked(document.text, shared.get(document.id, ()))) for document in trace.documents),
        signals=tuple(_signal_view(signal) for signal in decision.signals),
        thresholds=structs.asdict(gate.config.thresholds) if gate.version == decision.version else None,
    )


def _signal_view(signal: Signal) -> ShownSignal:
    seen = [place.text for place in signal.places if not place.document]
    return ShownSignal(
        name=signal.name,
        value=signal.value,
        counts=signal.name in COUNTS,
        places=tuple(dict.fromkeys(seen)),
        times=len(seen),
        milliseconds=None if signal.seconds is None else signal.seconds * 1e3,
    )


def _grouped(decision: Decision, language: str) -> tuple[ShownReason, ...]:
    """The reasons in order. Reasons with equal texts are one; a document that is the nearest in all of them is named."""
    words = decision_locale(language)
    groups: dict[str, list[Reason]] = {}
    for reason in decision.reasons:
        groups.setdefault(reason_text(decision, structs.replace(reason, sentence=None, document=""), words), []).append(reason)
    shown = []
    for number, (text, same) in enumerate(groups.items(), start=1):
        near = {reason.document for reason in same}
        shown_text = reason_text(decision, structs.replace(same[0], sentence=None), words) if len(near) == 1 else text
        places = sorted({reason.sentence + 1 for reason in same if reason.sentence is not None})
        shown.append(ShownReason(number=number, text=shown_text, sentences=tuple(places), times=len(same)))
    return tuple(shown)


def _sentence_support(sentence: SentenceCheck, index: int, decision: Decision) -> Support:
    """How a sentence stands.

    Unsupported: a decisive reason names it. Unchecked: it nearly copies a document. Doubtful: another reason names it, or it is
    more likely unsupported. Supported: the documents have its words.
    """
    about: list[Reason] = [reason for reason in decision.reasons if reason.sentence == index and reason.code not in _UNSETTLED]
    if any(reason.decisive for reason in about):
        return "unsupported"
    if index in decision.meaning_not_checked:
        return "unchecked"
    if about or index in decision.doubtful or (sentence.claim and (sentence.p_unsupported or 0.0) >= DOUBT):
        return "doubtful"
    return "supported" if sentence.claim else "none"


def _pieces_of(text: str, decision: Decision, views: Sequence[ShownSentence]) -> tuple[AnswerPiece, ...]:
    """The answer cut at its sentences. A sentence that is not at its stored position (the text was reduced) is not cut out."""
    pieces: list[AnswerPiece] = []
    at = 0
    for check, view in zip(decision.sentences, views, strict=True):
        if check.start < at or text[check.start : check.end] != check.text:
            continue
        if check.start > at:
            pieces.append(AnswerPiece(text=text[at : check.start]))
        parts = _parts_of(check, view.number - 1, decision.reasons)
        pieces.append(AnswerPiece(text=check.text, sentence=view.number, support=view.support, parts=parts))
        at = check.end
    if at < len(text):
        pieces.append(AnswerPiece(text=text[at:]))
    return tuple(pieces)


def _parts_of(sentence: SentenceCheck, index: int, reasons: Sequence[Reason]) -> tuple[tuple[str, bool], ...]:
    """A sentence cut at what decisive reasons name in it; empty where they name nothing but the whole."""
    places = [reason.place for reason in reasons if reason.decisive and reason.sentence == index and reason.place is not None]
    spans = {(place.start - sentence.start, place.end - sentence.start) for place in places if not place.document}
    parts: list[tuple[str, bool]] = []
    at = 0
    for start, end in sorted(spans):
        if at <= start < end <= len(sentence.text) and end - start < len(sentence.text):
            parts += [(sentence.text[at:start], False)] * (start > at) + [(sentence.text[start:end], True)]
            at = end
    return (*parts, (sentence.text[at:], False)) if parts else ()


def _shared_with(trace: Trace, gate: Gate) -> dict[str, list[tuple[int, Place]]]:
    """The places of documents that have words of a sentence, by document, with the sentence's number. They are not stored: the
    grounding model finds them again."""
    model, rules, decision = gate.config.grounding, gate.config, trace.decision
    by_document: dict[str, list[tuple[int, Place]]] = {}
    if model is None or decision is None or not decision.sentences or len(trace.response) > rules.max_characters:
        return by_document
    language = decision.response_lang or decision.prompt_lang or "en"
    documents = read_documents(trace.response, trace.documents, rules.top)
    grounding = ground(model, trace.prompt, trace.response, documents, language)
    for number, places in enumerate(shared_places(grounding.sentences, trace.response, documents), start=1):
        for place in places:
            by_document.setdefault(place.document, []).append((number, place))
    return by_document


def _marked(text: str, shared: Sequence[tuple[int, Place]]) -> Markup:
    """A document's text, escaped, with the places marked that share words with sentences; those that overlap are one."""
    merged: list[tuple[int, int, frozenset[int]]] = []
    for start, end, number in sorted((place.start, place.end, number) for number, place in shared):
        if merged and start < merged[-1][1]:
            first, last, numbers = merged.pop()
            merged.append((first, max(last, end), numbers | {number}))
        elif start < end <= len(text):
            merged.append((start, end, frozenset([number])))
    parts: list[Markup] = []
    at = 0
    for start, end, numbers in merged:
        marks = ", ".join(map(str, sorted(numbers)))
        parts += [Markup.escape(text[at:start]), Markup("<mark>{}</mark><sup>{}</sup>").format(text[start:end], marks)]
        at = end
    return Markup().join([*parts, Markup.escape(text[at:])])
