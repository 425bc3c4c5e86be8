"""Records of the trace files: figures, responses and snapshots.

They have the documented fields under the documented names, and ours behind them. The export writes them, the import of logs reads
them.
"""

import re
from typing import Any, Self

from msgspec import Struct

from areopage.cases import Document
from areopage.gate import Decision, GateVerdict, JudgeTrust
from areopage.ledger import Mode, Trace

METRICS = "logs/metrics.jsonl"
RESPONSES = "logs/llm_responses.jsonl"
SNAPSHOTS = "snapshots/for_review"
TRUNCATED = 1000
SAFE_ID = re.compile(r"[0-9a-f]{32}")

Figure = float | bool | int | None


class MetricsLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of `logs/metrics.jsonl`. A figure that is not known is null; of another system's line our fields are None."""

    timestamp: str
    question: str
    avg_score: float | None
    confidence: float | None
    cites_ok: bool | None
    overlap_ratio: float | None
    hallucination: bool | None
    quality_pass: bool | None
    escalate: bool | None
    num_sources: int | None
    id: str | None
    verdict: GateVerdict | None
    mode: Mode | None
    p_unsupported: float | None
    response_lang: str | None
    collection: str | None
    sources_filter: tuple[str, ...]
    profile: str | None
    version: str | None
    meaning_not_checked: int | None = None
    judge_standing: JudgeTrust | None = None

    @classmethod
    def of(cls, trace: Trace) -> Self:
        """The line of a trace."""
        figures: dict[str, Any] = {name: trace.metrics.get(name) for name in FIGURES}
        return cls(
            timestamp=trace.at.isoformat(),
            question=trace.prompt,
            **figures,
            id=trace.id,
            verdict=trace.verdict,
            mode=trace.mode,
            p_unsupported=trace.p_unsupported,
            response_lang=trace.language,
            collection=trace.collection,
            sources_filter=trace.sources_filter,
            profile=trace.profile,
            version=trace.version,
            meaning_not_checked=trace.meaning_not_checked,
            judge_standing=trace.judge_standing,
        )

    @property
    def metrics(self) -> dict[str, Figure]:
        """The figures by their documented names."""
        return {name: getattr(self, name) for name in FIGURES}


FIGURES = MetricsLine.__struct_fields__[2:10]


class ResponseLine(Struct, frozen=True, kw_only=True):
    """A line of `logs/llm_responses.jsonl`."""

    timestamp: str
    question: str
    response_lang: str
    detected_ids: tuple[str, ...]
    generation_trunc: str
    num_sources: int
    id: str
    model: str
    unknown_ids: tuple[str, ...]

    @classmethod
    def of(cls, trace: Trace) -> Self:
        """The line of a trace."""
        sources = trace.metrics.get("num_sources")
        return cls(
            timestamp=trace.at.isoformat(),
            question=trace.prompt,
            response_lang=trace.language,
            detected_ids=trace.decision.cited_ids if trace.decision else (),
            generation_trunc=trace.response[:TRUNCATED],
            num_sources=len(trace.documents) if sources is None else int(sources),
            id=trace.id,
            model=trace.answer.model,
            unknown_ids=trace.decision.unknown_ids if trace.decision else (),
        )


class Snapshot(Struct, frozen=True, kw_only=True):
    """A file of `snapshots/for_review`. `documents` are texts; `sources` says of each where it comes from."""

    id: str
    timestamp: str
    question: str
    documents: tuple[str, ...]
    sources: tuple[dict[str, Any], ...]
    generation: str
    metrics: MetricsLine
    decision: Decision | None

    @classmethod
    def of(cls, trace: Trace) -> Self:
        """The snapshot of a trace."""
        return cls(
            id=trace.id,
            timestamp=trace.at.isoformat(),
            question=trace.prompt,
            documents=tuple(document.text for document in trace.documents),
            sources=tuple(_source_of(document) for document in trace.documents),
            generation=trace.response,
            metrics=MetricsLine.of(trace),
            decision=trace.decision,
        )


def has_metrics(trace: Trace) -> bool:
    """Whether a trace has figures; cached answers have none."""
    return trace.mode != "cached"


def has_response(trace: Trace) -> bool:
    """Whether a trace has a response line; an erased trace still names its model."""
    return trace.mode != "cached" and bool(trace.answer.model or trace.response)


def has_snapshot(trace: Trace) -> bool:
    """Whether a trace has a snapshot, which rejected responses have."""
    return trace.mode != "cached" and trace.verdict != "deliver" and bool(trace.response)


def _source_of(document: Document) -> dict[str, Any]:
    """A document without its text; its metadata stand beside its own fields, which go first."""
    fields = {"id": document.id, "score": document.score, "source": document.source, "title": document.title}
    return fields | {name: value for name, value in document.metadata.items() if name not in fields}
