"""What a tuned configuration says of itself: from which labels, by whom, how, and what is promised."""

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from areopage.gate.tuning.labelled import Labelled
from areopage.gate.tuning.thresholds import Outcome, Tuning
from areopage.scoring.shares import wilson

METHODS = {
    "delivered": "learn then test (exact binomial, fixed sequence): share of ungrounded among the delivered",
    "all": "learn then test (exact binomial, fixed sequence): share of ungrounded and delivered among all",
    "average": "conformal risk control: share of ungrounded and delivered among all, on average over draws of labels",
}
DECIMALS = 4


def fingerprint_of(rows: Sequence[Labelled]) -> str:
    """A SHA-256 of texts and labels, independent of row order, ids and file."""
    contents = sorted(
        hashlib.sha256(
            msgspec.json.encode(
                [row.prompt, row.response, [document.text for document in row.documents], row.grounded, row.group]
            )
        ).digest()
        for row in rows
    )
    return hashlib.sha256(b"".join(contents)).hexdigest()


def statement_of(
    tuning: Tuning, *, by: str, at: str, program: str, labels: dict[str, Any], deliver: float, refit: dict[str, Any] | None
) -> dict[str, Any]:
    """The statement, as plain values.

    Args:
        by, at: who chose, and when; "" leaves it out.
        program: its version.
        labels: which labels: source, rows, sha256.
        deliver: the threshold that is written.
        refit: on what the grounding model was fitted, None for the one that was given.
    """
    ask, chosen = tuning.ask, tuning.chosen
    said: dict[str, Any] = {"by": by, "at": at, "areopage": program}
    said = {key: value for key, value in said.items() if value}
    said["labels"] = labels | {"counted": tuning.answers, "ungrounded": tuning.ungrounded}
    said["asked"] = {"risk": ask.risk, "of": ask.control, "confidence": ask.confidence, "seed": ask.seed}
    said["method"] = METHODS[ask.control]
    said["certified"] = tuning.certified
    said["deliver"] = deliver
    if tuning.certified:
        said["result"] = _counts(chosen)
    if ask.grey_band and tuning.holding is not None:
        holding = tuning.holding
        said["hold"] = {"precision": holding.precision, "certified": holding.threshold is not None}
        if holding.threshold is not None:
            said["hold"] |= {"from": holding.threshold, "held": holding.held, "ungrounded": holding.ungrounded}
    if refit is not None:
        said["refit"] = refit
    return said


def _counts(chosen: Outcome) -> dict[str, Any]:
    """What the threshold does to the labelled answers, and its price."""
    alarms = wilson(chosen.false_alarms, chosen.grounded) or (0.0, 1.0)
    return {
        "delivered": chosen.delivered,
        "ungrounded_delivered": chosen.wrong,
        "held_back_share": round(1.0 - chosen.delivered / chosen.answers, DECIMALS),
        "false_alarms": chosen.false_alarms,
        "grounded": chosen.grounded,
        "false_alarm_interval": [round(end, DECIMALS) for end in alarms],
    }
