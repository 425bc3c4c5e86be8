"""Labelled answers for the tuner: from files, or from what people said of recorded answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from msgspec import Struct

if TYPE_CHECKING:
    from areopage.gate.tuning.labelled import Labelled
    from areopage.ledger.queries import TraceFilter
    from areopage.ledger.records import Label, Trace
    from areopage.ledger.store import Ledger

SHOWN = 5
UNLIKELY = 0.01
"""How unlikely the labelled answers' share of deliveries must be, were they drawn from all answers, to be called no sample."""


class LabelSet(Struct, frozen=True, kw_only=True):
    """Labelled answers.

    Args:
        source: where they come from, for the statement.
        left_out: why others could not be used, with counts.
        skewed: "", or what shows that they are no sample of the traffic, so that nothing about the traffic follows from them.
    """

    rows: "Sequence[Labelled]"
    source: str
    left_out: dict[str, int]
    skewed: str = ""


def labels_of_files(paths: Sequence[Path]) -> LabelSet:
    """The labelled answers of datasets; rows that cannot be used are named on stderr.

    Raises:
        DatasetError: a file cannot be read, or no row is usable.
    """
    from areopage.cases.loader import load_dataset
    from areopage.errors import DatasetError
    from areopage.gate.tuning.labelled import labelled_of

    dataset = load_dataset(paths, default_maturity="")
    rows: list[Labelled] = []
    reasons = [(row.file, row.row, row.reason) for row in dataset.rejected]
    for case in dataset.cases:
        file, line = dataset.places[case.id]
        try:
            rows.append(labelled_of(case, f"{file} row {line}"))
        except ValueError as fault:
            reasons.append((file, line, str(fault)))
    for file, line, reason in reasons[:SHOWN]:
        typer.echo(f"areopage: {file} row {line}: left out: {reason}", err=True)
    if len(reasons) > SHOWN:
        typer.echo(f"areopage: {len(reasons) - SHOWN:,} more rows are left out", err=True)
    if not rows:
        file, line, reason = reasons[0]
        raise DatasetError(f"{file} row {line}: {reason}; no row is usable")
    left_out = {"unusable": len(reasons)} if reasons else {}
    # an export of bad cases: what it says of verdicts gives it away
    verdicts = {case.metadata["verdict"] for case in dataset.cases if isinstance(case.metadata.get("verdict"), str)}
    skewed = "none of them had been delivered" if verdicts and "deliver" not in verdicts else ""
    return LabelSet(rows=rows, source=", ".join(path.name for path in paths), left_out=left_out, skewed=skewed)


def labels_of_ledger(ledger: "Ledger", scope: "TraceFilter") -> LabelSet:
    """The recorded answers that people have labelled.

    Raises:
        UserError: there are none.
        StorageError: the ledger cannot be read.
    """
    from areopage.errors import UserError
    from areopage.ledger.traces import Traces

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
        raise UserError(f"no recorded answer has a label that can be used{unusable}: label some, or give --labels FILE")
    skewed = _skewed(delivered, len(rows), all_delivered, all_answers)
    return LabelSet(rows=rows, source="ledger", left_out=left_out, skewed=skewed)


def _obstacle(trace: "Trace") -> str:
    """Why a trace cannot be used; "" if it can."""
    if trace.erased:
        return "erased"
    if not trace.response.strip():
        return "without a response"
    return "without documents" if not trace.documents else ""


def _labelled(trace: "Trace", labels: "Sequence[Label]") -> "Labelled":
    """A trace with what its raters say together."""
    from areopage.gate.tuning.labelled import Labelled
    from areopage.ledger.answers import prompt_key
    from areopage.ledger.labels import agreed

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
    from areopage.scoring.shares import at_least, at_most

    share = all_delivered / all_answers
    tail = min(at_most(delivered, labelled, share), at_least(delivered, labelled, share))
    if 2 * tail >= UNLIKELY:
        return ""
    return f"{delivered / labelled:.0%} of the labelled answers had been delivered, and {share:.0%} of all answers"
