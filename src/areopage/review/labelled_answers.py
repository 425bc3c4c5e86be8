"""Answers that the gate has seen, with people's labels: exported as a data set, and read for choosing thresholds."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from areopage.cases import RejectedRow, load_dataset
from areopage.errors import DatasetError, UserError
from areopage.gate import GATE_VERDICTS, GateVerdict, Labelled, Recorded, judged_of, labelled_of, said_of
from areopage.ledger import Label, Ledger, Trace, TraceFilter, Traces, agreed, prompt_key, reduced_trace
from areopage.scoring import at_least, at_most
from areopage.text import Policy, stored_text

Wanted = Literal["bad", "all"] | GateVerdict
WANTED: tuple[Wanted, ...] = ("bad", "all", *GATE_VERDICTS)
NOT_BLIND = "labelled with the gate's decision in sight"
UNLIKELY = 0.01
"""How unlikely the labelled answers' share of deliveries must be, were they drawn from all answers, to be called no sample."""


def dataset(
    ledger: Ledger,
    filter: TraceFilter,
    policy: Policy,
    max_chars: int,
    *,
    wanted: Wanted = "bad",
    labelled_only: bool = False,
) -> Iterator[dict[str, Any]]:
    """The rows of a set, in the order that the traces came, with what a policy leaves of texts; erased ones are left out.

    `wanted` is a verdict, `all`, or `bad`: what did not pass, and what went out though people say that it is not grounded. Memory
    does not grow with the number of rows.
    """
    for trace, labels in ledger.traces.each_labelled(filter):
        is_bad = trace.verdict != "deliver" or (bool(labels) and agreed(labels)[0] != "yes")
        is_wanted = is_bad if wanted == "bad" else wanted in ("all", trace.verdict)
        if is_wanted and not trace.erased and (labels or not labelled_only):
            yield _dataset_row(trace, labels, policy, max_chars)


def _dataset_row(trace: Trace, labels: Sequence[Label], policy: Policy, max_chars: int) -> dict[str, Any]:
    """`group` is the same for the same prompt: rows of one group must not be on both sides of a split."""
    group = hashlib.sha256(prompt_key(trace.prompt).encode()).hexdigest()[:16]
    kept = reduced_trace(trace, policy, max_chars)
    sentences = kept.decision.sentences if kept.decision else ()
    row: dict[str, Any] = {
        "id": kept.id,
        "at": kept.at.isoformat(),
        "prompt": kept.prompt,
        "response": kept.response,
        "documents": [
            {name: getattr(document, name) for name in ("id", "title", "text", "score", "source")} for document in kept.documents
        ],
        **{name: getattr(kept, name) for name in ("verdict", "mode", "channel", "collection", "language")},
        "reasons": [
            {
                "code": reason.code,
                "decisive": reason.decisive,
                "sentence": reason.sentence,
                "text": reason.place.text if reason.place else "",
            }
            for reason in (kept.decision.reasons if kept.decision else ())
        ],
        **{name: getattr(kept, name) for name in ("p_unsupported", "metrics", "profile", "version")},
        "group": group,
        "labels": [
            {
                "grounded": label.grounded,
                "sentences": label.sentences,
                "note": stored_text(label.note, policy, max_chars),
                "correction": stored_text(label.correction, policy, max_chars),
                "blind": label.blind,
                "decides": label.decides,
            }
            for label in labels
        ],
    }
    if labels:
        blind = [label for label in labels if label.blind]
        grounded, marked = agreed(blind or labels)
        row["blind"] = bool(blind)
        row["grounded"] = grounded
        row["unsupported"] = [
            {"start": sentences[at].start, "end": sentences[at].end}
            for at in marked
            if at < len(sentences) and sentences[at].end > sentences[at].start
        ]
    return row


class LabelSet(Struct, frozen=True, kw_only=True):
    """Labelled answers.

    Args:
        source: where they come from, for the statement.
        left_out: why others could not be used, with counts.
        skewed: "", or what shows that they are no sample of the traffic, so that nothing about the traffic follows from them.
        rejected: the rows of files that cannot be used.
    """

    rows: Sequence[Labelled]
    source: str
    left_out: dict[str, int]
    skewed: str = ""
    rejected: Sequence[RejectedRow] = ()

    @classmethod
    def of_files(cls, paths: Sequence[Path]) -> "LabelSet":
        """The labelled answers of datasets.

        Raises:
            DatasetError: a file cannot be read, or no row is usable.
        """
        dataset = load_dataset(paths, default_maturity="")
        rows: list[Labelled] = []
        rejected = list(dataset.rejected)
        cases = [case for case in dataset.cases if case.metadata.get("blind") is not False]
        for case in cases:
            file, line = dataset.places[case.id]
            try:
                rows.append(labelled_of(case, f"{file} row {line}"))
            except ValueError as fault:
                rejected.append(RejectedRow(file=file, row=line, reason=str(fault), content=""))
        if not rows and not rejected:
            raise DatasetError(f"{paths[0]}: every row was {NOT_BLIND}: label answers on the review page")
        if not rows:
            first = rejected[0]
            raise DatasetError(f"{first.file} row {first.row}: {first.reason}; no row is usable")
        counts = {"unusable": len(rejected), NOT_BLIND: len(dataset.cases) - len(cases)}
        left_out = {why: count for why, count in counts.items() if count}
        # an export of bad cases: what it says of verdicts gives it away
        verdicts = {case.metadata["verdict"] for case in dataset.cases if isinstance(case.metadata.get("verdict"), str)}
        skewed = "none of them had been delivered" if verdicts and "deliver" not in verdicts else ""
        source = ", ".join(path.name for path in paths)
        return cls(rows=rows, source=source, left_out=left_out, skewed=skewed, rejected=rejected)

    @classmethod
    def of_ledger(cls, ledger: Ledger, scope: TraceFilter) -> "LabelSet":
        """The recorded answers that people have labelled without having seen the gate's decision; a user error without any."""
        rows: list[Labelled] = []
        left_out: dict[str, int] = {}
        all_answers = all_delivered = delivered = 0
        for trace, labels in ledger.traces.each_labelled(scope):
            all_answers += 1
            all_delivered += trace.verdict == "deliver"
            if not labels:
                continue
            blind = [label for label in labels if label.blind]
            obstacle = _obstacle(trace) if blind else NOT_BLIND
            if obstacle:
                left_out[obstacle] = left_out.get(obstacle, 0) + 1
                continue
            rows.append(_labelled(trace, blind))
            delivered += trace.verdict == "deliver"
        if not rows:
            unusable = f" ({', '.join(f'{count} {why}' for why, count in left_out.items())})" if left_out else ""
            raise UserError(f"no recorded answer has a usable label{unusable}: label answers, or give --labels FILE")
        skewed = _skewed(delivered, len(rows), all_delivered, all_answers)
        return cls(rows=rows, source="ledger", left_out=left_out, skewed=skewed)


def _obstacle(trace: Trace) -> str:
    if trace.erased:
        return "erased"
    if not trace.response.strip():
        return "without a response"
    return "" if trace.documents else "without documents"


def _labelled(trace: Trace, labels: Sequence[Label]) -> Labelled:
    checks = trace.decision.sentences if trace.decision is not None else ()
    grounded, sentences = agreed(labels)
    text = trace.response
    spans = [(checks[index].start, checks[index].end) for index in sentences if 0 <= index < len(checks)]
    return Labelled(
        id=trace.id,
        prompt=trace.prompt,
        response=text,
        documents=trace.documents,
        grounded=grounded,
        group=prompt_key(trace.prompt),
        unsupported=tuple((start, end) for start, end in spans if end <= len(text)),
        place=f"answer {trace.id}",
    )


def _skewed(delivered: int, labelled: int, all_delivered: int, all_answers: int) -> str:
    """Whether the labelled answers were delivered as often as all answers were; "" if that can be."""
    share = all_delivered / all_answers
    tail = min(at_most(delivered, labelled, share), at_least(delivered, labelled, share))
    if 2 * tail >= UNLIKELY:
        return ""
    return f"{delivered / labelled:.0%} of the labelled answers had been delivered, and {share:.0%} of all answers"


def recorded(traces: Traces, scope: TraceFilter) -> Iterator[Recorded]:
    """The recorded answers with their labels, read in portions."""
    for trace, labels in traces.each_labelled(scope):
        decision = trace.decision
        decisive = [reason.code for reason in decision.reasons if reason.decisive] if decision is not None else []
        yield Recorded(
            id=trace.id,
            at=trace.at.isoformat(),
            prompt=trace.prompt,
            response=trace.response,
            documents=trace.documents,
            verdict=trace.verdict,
            reasons=tuple(dict.fromkeys(decisive)),
            p_unsupported=trace.p_unsupported,
            version=trace.version,
            judged=judged_of(decision) if decision is not None else {},
            said=said_of(decision) if decision is not None else None,
            num_sources=int(trace.metrics.get("num_sources") or 0),
            erased=trace.erased,
            imported=trace.channel == "import",
            label=agreed(labels)[0] if labels else None,
        )
