"""Labelled answers for choosing thresholds: from datasets, or from the labels of recorded answers."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from areopage.cases.loader import load_dataset
from areopage.cases.records import RejectedRow
from areopage.errors import DatasetError, UserError
from areopage.gate.tuning.labelled import Labelled, labelled_of
from areopage.gate.tuning.replay import Recorded, judged_of
from areopage.ledger.answers import prompt_key
from areopage.ledger.labels import agreed
from areopage.ledger.queries import TraceFilter
from areopage.ledger.records import Label, Trace
from areopage.ledger.store import Ledger
from areopage.ledger.traces import Traces
from areopage.scoring.shares import at_least, at_most

UNLIKELY = 0.01
"""How unlikely the labelled answers' share of deliveries must be, were they drawn from all answers, to be called no sample."""


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


def labels_of_files(paths: Sequence[Path]) -> LabelSet:
    """The labelled answers of datasets.

    Raises:
        DatasetError: a file cannot be read, or no row is usable.
    """
    dataset = load_dataset(paths, default_maturity="")
    rows: list[Labelled] = []
    rejected = list(dataset.rejected)
    for case in dataset.cases:
        file, line = dataset.places[case.id]
        try:
            rows.append(labelled_of(case, f"{file} row {line}"))
        except ValueError as fault:
            rejected.append(RejectedRow(file=file, row=line, reason=str(fault), content=""))
    if not rows:
        first = rejected[0]
        raise DatasetError(f"{first.file} row {first.row}: {first.reason}; no row is usable")
    left_out = {"unusable": len(rejected)} if rejected else {}
    # an export of bad cases: what it says of verdicts gives it away
    verdicts = {case.metadata["verdict"] for case in dataset.cases if isinstance(case.metadata.get("verdict"), str)}
    skewed = "none of them had been delivered" if verdicts and "deliver" not in verdicts else ""
    source = ", ".join(path.name for path in paths)
    return LabelSet(rows=rows, source=source, left_out=left_out, skewed=skewed, rejected=rejected)


def labels_of_ledger(ledger: Ledger, scope: TraceFilter) -> LabelSet:
    """The recorded answers that people have labelled.

    Raises:
        UserError: there are none.
        StorageError: the ledger cannot be read.
    """
    rows: list[Labelled] = []
    left_out: dict[str, int] = {}
    all_answers = all_delivered = delivered = 0
    for trace, said in Traces(ledger).each_labelled(scope):
        all_answers += 1
        all_delivered += trace.verdict == "deliver"
        if not said:
            continue
        obstacle = _obstacle(trace)
        if obstacle:
            left_out[obstacle] = left_out.get(obstacle, 0) + 1
            continue
        rows.append(_labelled(trace, said))
        delivered += trace.verdict == "deliver"
    if not rows:
        unusable = f" ({', '.join(f'{count} {why}' for why, count in left_out.items())})" if left_out else ""
        raise UserError(f"no recorded answer has a usable label{unusable}: label answers, or give --labels FILE")
    skewed = _skewed(delivered, len(rows), all_delivered, all_answers)
    return LabelSet(rows=rows, source="ledger", left_out=left_out, skewed=skewed)


def _obstacle(trace: Trace) -> str:
    """Why a trace cannot be used; "" if it can."""
    if trace.erased:
        return "erased"
    if not trace.response.strip():
        return "without a response"
    return "without documents" if not trace.documents else ""


def _labelled(trace: Trace, labels: Sequence[Label]) -> Labelled:
    """A trace with what its raters say together."""
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
    return (_recorded_of(trace, labels) for trace, labels in traces.each_labelled(scope))


def _recorded_of(trace: Trace, labels: Sequence[Label]) -> Recorded:
    """A trace as a replay needs it."""
    decision = trace.decision
    decisive = [reason.code for reason in decision.reasons if reason.decisive] if decision is not None else []
    return Recorded(
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
        num_sources=int(trace.metrics.get("num_sources") or 0),
        erased=trace.erased,
        imported=trace.channel == "import",
        label=agreed(labels)[0] if labels else None,
    )
