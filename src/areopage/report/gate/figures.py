"""Data of the gate's report, with exportable texts only."""

import heapq
import math
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

import msgspec
from msgspec import Struct

from areopage.gate import GATE_VERDICTS, GateVerdict
from areopage.ledger import Grounded, Label, Ledger, Trace, TraceFilter, agreed
from areopage.records import record_from
from areopage.report.gate.decisions import explain
from areopage.scoring import Share
from areopage.text import Policy, stored_text
from areopage.version import __version__

SCHEMA = "areopage/gate-report/1"
BINS = 10
WORST = 10
MOST_NAMES = 1000
"""Different collections, sources or languages that are counted apart; further ones are counted together."""

OTHERS = "…"
FEW_ROWS, FEW_LABELS = 30, 20
PER_DECADE = 100
_QUANTILES = (0.5, 0.9, 0.99)
MOST_REASONS = 8  # of one answer
CUT = "…"
DOUBT = 0.5  # from this probability of unsupported content on a sentence is doubtful
SPEC_CONFIDENCE = SPEC_OVERLAP = 0.35  # from which the specification lets an answer leave


class Slice(Struct, frozen=True, kw_only=True):
    """The answers of one collection, source or language ("" where none is named): the share of each verdict."""

    name: str
    answers: int
    verdicts: dict[str, Share]


class Latency(Struct, frozen=True, kw_only=True):
    """What decisions took, in seconds, to about 2 %: the median, and what 90 % and 99 % stayed under."""

    decisions: int
    p50: float | None
    p90: float | None
    p99: float | None


class LabelFigures(Struct, frozen=True, kw_only=True):
    """The gate measured on people's labels; a held answer counts as detected.

    Args:
        labelled, ungrounded, delivered: answers with a label; those not wholly grounded; those that the gate delivered.
        precision: of the held answers, those that are ungrounded.
        recall: of the ungrounded ones, those that were held.
        escapes: of the delivered ones, those that are ungrounded.
    """

    labelled: int
    ungrounded: int
    delivered: int
    precision: Share
    recall: Share
    escapes: Share


class GateFigures(Struct, frozen=True, kw_only=True):
    """The figures of a report.

    Args:
        verdicts, reasons, origins, modes, profiles, versions: counts by name; reasons are decisive ones.
        confidences, p_unsupported: histograms of ten equal steps over [0, 1].
        without_confidence, without_p: answers that such a figure is not known of; imported ones have no p_unsupported.
        passed_spec: of the answers whose figures are known, those whose figures meet the specification's thresholds under
            any rules; `confident_spec`: those whose confidence is 0.35 or more.
        judged: answers that a judge settled.
    """

    answers: int
    verdicts: dict[str, int]
    shares: dict[str, Share]
    reasons: dict[str, int]
    origins: dict[str, int]
    modes: dict[str, int]
    profiles: dict[str, int]
    versions: dict[str, int]
    confidences: tuple[int, ...]
    p_unsupported: tuple[int, ...]
    without_confidence: int
    without_p: int
    passed_spec: Share
    confident_spec: Share
    collections: tuple[Slice, ...]
    sources: tuple[Slice, ...]
    languages: tuple[Slice, ...]
    latency: Latency
    labels: LabelFigures
    judged: int
    erased: int


class GateCounts:
    """Aggregates traces with their labels.

    `worst` are answers to look at, the worst first: those that went out though people say they are not grounded (True), and those
    with a high p_unsupported.
    """

    def __init__(self) -> None:
        self._answers = self._judged = self._erased = 0
        self._counts: dict[str, Counter[str]] = {
            name: Counter() for name in ("verdicts", "reasons", "origins", "modes", "profiles", "versions")
        }
        self._slices: dict[str, dict[str, Counter[str]]] = {"collections": {}, "sources": {}, "languages": {}}
        self._histograms = {"confidence": [0] * BINS, "p_unsupported": [0] * BINS}
        self._without: Counter[str] = Counter()
        self._spec: Counter[str] = Counter()
        self._seconds: Counter[int] = Counter()
        self._labels: Counter[tuple[bool, bool]] = Counter()
        self._worst: list[tuple[tuple[bool, float, int], Trace, Grounded | None]] = []

    @property
    def worst(self) -> list[tuple[Trace, Grounded | None, bool]]:
        """The worst answers with their labels, and whether they escaped."""
        return [(trace, label, escaped) for (escaped, _, _), trace, label in sorted(self._worst, key=itemgetter(0), reverse=True)]

    def take(self, trace: Trace, labels: Sequence[Label] = ()) -> None:
        """Add an answer."""
        self._answers += 1
        self._erased += trace.erased
        decision = trace.decision
        reasons = {reason.code for reason in decision.reasons if reason.decisive} if decision is not None else set()
        self._judged += decision is not None and decision.judged
        counts = self._counts
        counts["verdicts"][trace.verdict] += 1
        counts["reasons"].update(reasons)
        counts["origins"][trace.channel] += 1
        counts["modes"][trace.mode] += 1
        counts["profiles"][trace.profile] += 1
        counts["versions"][_bounded(trace.version, counts["versions"])] += 1
        for kind, names in (
            ("collections", {trace.collection}),
            ("sources", {document.source for document in trace.documents if document.source}),
            ("languages", {trace.language}),
        ):
            slices = self._slices[kind]
            for name in {_bounded(name, slices) for name in names}:
                slices.setdefault(name, Counter())[trace.verdict] += 1
        confidence = trace.metrics.get("confidence")
        for figure, value in (("confidence", confidence), ("p_unsupported", trace.p_unsupported)):
            if value is None:
                self._without[figure] += 1
            else:
                self._histograms[figure][min(max(int(value * BINS), 0), BINS - 1)] += 1
        hallucination, cited, overlap = map(trace.metrics.get, ("hallucination", "cites_ok", "overlap_ratio"))
        if confidence is not None and hallucination is not None and (cited is not None or overlap is not None):
            self._spec["told"] += 1
            is_grounded = bool(cited) or (overlap or 0.0) >= SPEC_OVERLAP
            self._spec["passed"] += not hallucination and confidence >= SPEC_CONFIDENCE and is_grounded
        self._spec["confident"] += confidence is not None and confidence >= SPEC_CONFIDENCE
        if trace.gate_seconds is not None:
            self._seconds[math.floor(math.log10(max(trace.gate_seconds, 1e-9)) * PER_DECADE)] += 1
        label = agreed(labels)[0] if labels else None
        if label is not None:
            self._labels[trace.verdict != "deliver", label != "yes"] += 1
        escaped = trace.verdict == "deliver" and label in ("no", "partly")
        if trace.erased or not trace.response or not (escaped or trace.p_unsupported is not None):
            return
        rank = (escaped, trace.p_unsupported or 0.0, self._answers)
        entry = rank, trace, label
        if len(self._worst) < WORST:
            heapq.heappush(self._worst, entry)
        elif rank > self._worst[0][0]:
            heapq.heapreplace(self._worst, entry)

    def figures(self) -> GateFigures:
        """Return the figures so far."""
        counts = {name: dict(counter.most_common()) for name, counter in self._counts.items()}
        verdicts: dict[str, int] = {verdict: counts["verdicts"].get(verdict, 0) for verdict in GATE_VERDICTS}
        caught, missed = self._labels[True, True], self._labels[False, True]
        kept_back, delivered = caught + self._labels[True, False], missed + self._labels[False, False]
        return GateFigures(
            answers=self._answers,
            verdicts=verdicts,
            shares={verdict: Share.counted(hits, self._answers) for verdict, hits in verdicts.items()},
            reasons=dict(sorted(counts["reasons"].items(), key=lambda entry: (-entry[1], entry[0]))),
            origins=counts["origins"],
            modes=counts["modes"],
            profiles=counts["profiles"],
            versions=counts["versions"],
            confidences=tuple(self._histograms["confidence"]),
            p_unsupported=tuple(self._histograms["p_unsupported"]),
            without_confidence=self._without["confidence"],
            without_p=self._without["p_unsupported"],
            passed_spec=Share.counted(self._spec["passed"], self._spec["told"]),
            confident_spec=Share.counted(self._spec["confident"], self._answers - self._without["confidence"]),
            collections=_slices(self._slices["collections"]),
            sources=_slices(self._slices["sources"]),
            languages=_slices(self._slices["languages"]),
            latency=_latency(self._seconds),
            labels=LabelFigures(
                labelled=kept_back + delivered,
                ungrounded=caught + missed,
                delivered=delivered,
                precision=Share.counted(caught, kept_back),
                recall=Share.counted(caught, caught + missed),
                escapes=Share.counted(missed, delivered),
            ),
            judged=self._judged,
            erased=self._erased,
        )


def _bounded(name: str, names: "dict[str, Counter[str]] | Counter[str]") -> str:
    """The name, or that of all others where there are too many already."""
    return name if name in names or len(names) < MOST_NAMES else OTHERS


def _slices(slices: "dict[str, Counter[str]]") -> tuple[Slice, ...]:
    made = [
        Slice(
            name=name,
            answers=verdicts.total(),
            verdicts={verdict: Share.counted(verdicts[verdict], verdicts.total()) for verdict in GATE_VERDICTS},
        )
        for name, verdicts in slices.items()
    ]
    return tuple(sorted(made, key=lambda part: (-part.answers, part.name)))


def _latency(seconds: "Counter[int]") -> Latency:
    """Quantiles from a histogram of even steps of the logarithm; each is the middle of its step."""
    quantiles: list[float] = []
    total, seen = seconds.total(), 0
    wanted = [math.ceil(quantile * total) for quantile in _QUANTILES]
    for step in sorted(seconds):
        seen += seconds[step]
        while total and len(quantiles) < len(wanted) and seen >= wanted[len(quantiles)]:
            quantiles.append(10.0 ** ((step + 0.5) / PER_DECADE))
    p50, p90, p99 = quantiles if total else (None, None, None)
    return Latency(decisions=total, p50=p50, p90=p90, p99=p99)


class AnswerPart(Struct, frozen=True):
    """A part of an answer, and whether the gate doubts it."""

    text: str
    marked: bool


class ShownAnswer(Struct, frozen=True, kw_only=True):
    """A worst answer of the report. `reasons` are sentences in the report's language."""

    id: str
    at: datetime
    collection: str
    verdict: GateVerdict
    p_unsupported: float | None
    label: Grounded | None
    escaped: bool
    question: str
    answer: tuple[AnswerPart, ...]
    reasons: tuple[str, ...]


class GateOverview(Struct, frozen=True, kw_only=True):
    """The figures of a report and what they are about.

    Args:
        warned: what to bear in mind, as keys of messages with the number that each tells.
        text: the policy by which texts left the ledger.
        place: options of the command that say which ledger it was, without a password; none for the usual one.
        heads: of the ledger's hash chains.
    """

    figures: GateFigures
    scope: TraceFilter
    language: str
    worst: tuple[ShownAnswer, ...]
    warned: tuple[tuple[str, int], ...]
    text: Policy
    made_at: datetime
    place: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()


def gate_figures(
    ledger: Ledger,
    scope: TraceFilter,
    *,
    language: str,
    policy: Policy,
    max_chars: int,
    now: datetime,
    place: Sequence[str] = (),
    moved: Callable[[int], None] = lambda _: None,
) -> GateOverview:
    """Read a report's data, in portions.

    Args:
        language: "fr" or "en".
        place: see `GateOverview`.
        moved: told how many answers were read after each.

    Raises:
        StorageError: the ledger cannot be read.
    """
    counts = GateCounts()
    for read, (trace, labels) in enumerate(ledger.traces.each_labelled(scope), 1):
        counts.take(trace, labels)
        moved(read)
    figures = counts.figures()
    by_people, warnings = figures.labels, []
    if 0 < figures.answers < FEW_ROWS:
        warnings.append(("gate_warn_few", figures.answers))
    if figures.without_p:
        warnings.append(("gate_warn_no_p", figures.without_p))
    if figures.erased:
        warnings.append(("gate_warn_erased", figures.erased))
    versions = sum(1 for version in figures.versions if version)
    if versions > 1:
        warnings.append(("gate_warn_versions", versions))
    if 0 < by_people.labelled < FEW_LABELS:
        warnings.append(("gate_warn_few_labels", by_people.labelled))
    if by_people.labelled and not by_people.delivered:
        warnings.append(("gate_warn_held_only", by_people.labelled))
    return GateOverview(
        figures=figures,
        scope=scope,
        language=language,
        worst=tuple(_shown(*answer, language, policy, max_chars) for answer in counts.worst),
        warned=tuple(warnings),
        text=policy,
        made_at=now,
        place=tuple(place),
        heads=tuple(map(str, ledger.heads())),
    )


def _shown(trace: Trace, label: Grounded | None, escaped: bool, language: str, policy: Policy, max_chars: int) -> ShownAnswer:
    reasons = list(dict.fromkeys(explain(trace.decision, language)))[:MOST_REASONS] if trace.decision is not None else []
    return record_from(
        ShownAnswer,
        trace,
        label=label,
        escaped=escaped,
        question=stored_text(trace.prompt, policy, max_chars),
        answer=outward(_pieces(trace), policy, max_chars),
        reasons=tuple(text for text in (stored_text(reason, policy, max_chars) for reason in reasons) if text),
    )


def _pieces(trace: Trace) -> tuple[AnswerPart, ...]:
    """The answer, with the places that the gate doubts marked: those of decisive reasons, else its doubtful sentences."""
    text, decision = trace.response, trace.decision
    if decision is None:
        return (AnswerPart(text, marked=False),)
    places = [reason.place for reason in decision.reasons if reason.decisive and reason.place is not None]
    spans = sorted({(place.start, place.end) for place in places if text[place.start : place.end] == place.text})
    if not spans:
        claims = (
            sentence for sentence in decision.sentences if sentence.claim and text[sentence.start : sentence.end] == sentence.text
        )
        spans = [(sentence.start, sentence.end) for sentence in claims if (sentence.p_unsupported or 0.0) >= DOUBT]
    return _cut(text, spans)


def _cut(text: str, spans: Sequence[tuple[int, int]]) -> tuple[AnswerPart, ...]:
    parts, done = [], 0
    for start, end in spans:
        if end <= done:
            continue
        begin = max(start, done)
        if begin > done:
            parts.append(AnswerPart(text[done:begin], marked=False))
        if parts and parts[-1].marked and begin == done:
            parts[-1] = AnswerPart(parts[-1].text + text[begin:end], marked=True)
        else:
            parts.append(AnswerPart(text[begin:end], marked=True))
        done = end
    if done < len(text):
        parts.append(AnswerPart(text[done:], marked=False))
    return tuple(parts)


def outward(parts: Sequence[AnswerPart], policy: Policy, max_chars: int) -> tuple[AnswerPart, ...]:
    """The pieces with what may leave the ledger; a cut text ends where the whole of it reaches its length."""
    if policy == "none":
        return ()
    if policy != "truncated":
        return tuple(AnswerPart(stored_text(part.text, policy, max_chars), part.marked) for part in parts)
    kept: list[AnswerPart] = []
    left = max_chars
    for part in parts:
        if len(part.text) > left:
            return (*kept, AnswerPart(part.text[: max(0, left - 1)] + CUT, part.marked))
        kept.append(part)
        left -= len(part.text)
    return tuple(kept)


def json_figures(overview: GateOverview) -> dict[str, Any]:
    """Build the JSON form: figures and scope."""
    scope = overview.scope
    return {
        "schema": SCHEMA,
        "areopage": __version__,
        "made_at": overview.made_at,
        "scope": {"since": scope.since, "until": scope.until, "collection": scope.collection},
        **msgspec.structs.asdict(overview.figures),
        "worst": overview.worst,
        "warnings": [key.removeprefix("gate_warn_") for key, _ in overview.warned],
        "text": overview.text,
        "ledger_heads": overview.heads,
    }
