"""Answers that the gate has seen as a data set: what did not pass, with what people said of it, for tuning and for tests."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct

from areopage.gate.records import GATE_VERDICTS, GateVerdict
from areopage.ledger.answers import prompt_key
from areopage.ledger.labels import agreed
from areopage.ledger.queries import TraceFilter
from areopage.ledger.records import Label, Trace
from areopage.ledger.storage import Policy, reduced_trace, stored_text
from areopage.ledger.store import Ledger
from areopage.ledger.traces import Traces

Wanted = Literal["bad", "all"] | GateVerdict
WANTED: tuple[Wanted, ...] = ("bad", "all", *GATE_VERDICTS)


class Selection(Struct, frozen=True, kw_only=True):
    """Which traces go into the set.

    Args:
        filter: its `verdict` is not looked at.
        wanted: a verdict, `all`, or `bad`: what did not pass, and what went out though people say that it is not grounded.
        labelled_only: only those that people labelled.
    """

    filter: TraceFilter = TraceFilter()
    wanted: Wanted = "bad"
    labelled_only: bool = False


def dataset(ledger: Ledger, selection: Selection, policy: Policy, max_chars: int) -> Iterator[dict[str, Any]]:
    """The rows of a set, in the order that the traces came; erased ones are left out. Memory does not grow with their number.

    Args:
        policy, max_chars: what leaves the ledger of each text; see `stored_text`.
    """
    for trace, labels in Traces(ledger).each_labelled(selection.filter):
        if not trace.erased and _is_wanted(trace, labels, selection):
            yield _dataset_row(trace, labels, policy, max_chars)


def _is_wanted(trace: Trace, labels: Sequence[Label], selection: Selection) -> bool:
    """Whether a trace goes into the set."""
    if selection.labelled_only and not labels:
        return False
    if selection.wanted == "bad":
        return trace.verdict != "deliver" or (bool(labels) and agreed(labels)[0] != "yes")
    return selection.wanted in ("all", trace.verdict)


def _dataset_row(trace: Trace, labels: Sequence[Label], policy: Policy, max_chars: int) -> dict[str, Any]:
    """One row. `grounded` and `unsupported` are there where people labelled the answer: what they say together.

    `group` is the same for the same prompt: rows of one group must not be on both sides of a split.
    """
    group = hashlib.sha256(prompt_key(trace.prompt).encode()).hexdigest()[:16]
    kept = reduced_trace(trace, policy, max_chars)
    sentences = kept.decision.sentences if kept.decision else ()
    row: dict[str, Any] = {
        "id": kept.id,
        "at": kept.at.isoformat(),
        "prompt": kept.prompt,
        "response": kept.response,
        "documents": [
            {"id": one.id, "title": one.title, "text": one.text, "score": one.score, "source": one.source}
            for one in kept.documents
        ],
        "verdict": kept.verdict,
        "mode": kept.mode,
        "channel": kept.channel,
        "collection": kept.collection,
        "language": kept.language,
        "reasons": [
            {
                "code": reason.code,
                "decisive": reason.decisive,
                "sentence": reason.sentence,
                "text": reason.place.text if reason.place else "",
            }
            for reason in (kept.decision.reasons if kept.decision else ())
        ],
        "p_unsupported": kept.p_unsupported,
        "metrics": kept.metrics,
        "profile": kept.profile,
        "version": kept.version,
        "group": group,
        "labels": [
            {"grounded": label.grounded, "sentences": label.sentences, "note": stored_text(label.note, policy, max_chars)}
            for label in labels
        ],
    }
    if labels:
        grounded, marked = agreed(labels)
        row["grounded"] = grounded
        row["unsupported"] = [
            {"start": sentences[at].start, "end": sentences[at].end}
            for at in marked
            if at < len(sentences) and sentences[at].end > sentences[at].start
        ]
    return row
