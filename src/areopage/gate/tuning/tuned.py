"""From labelled answers to tuned rules: refit the model, decide on every answer, choose thresholds, state the result."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct, structs

from areopage.gate.config import GateConfig
from areopage.gate.grounding.fitting import FittingRow, fit
from areopage.gate.grounding.model import GroundingModel
from areopage.gate.signals import read_documents
from areopage.gate.tuning.labelled import Labelled, response_digest
from areopage.gate.tuning.thresholds import Ask, ScoredAnswer, Tuning, interval, open_gate, scored, split, tuned_config
from areopage.gate.tuning.thresholds import tune as choose
from areopage.text import language_of, sentences

METHODS = {
    "delivered": "learn then test (binomial, or bets on groups' means; fixed sequence): share of ungrounded among the delivered",
    "all": "learn then test (binomial, or bets on groups' means; fixed sequence): share of ungrounded and delivered among all",
    "average": "conformal risk control: share of ungrounded and delivered among all, on average over draws of labels",
}
DECIMALS = 4
FITTED = "fitted answers"
"""Where a model's provenance lists the answers that it was fitted on, as `Labelled.content` has them."""
FITTED_RESPONSES = "fitted responses"
"""The same as `response_digest` has them: of the shipped model, whose documents users may hold in another form."""


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
    """The statement, as plain values."""
    ask, chosen = tuning.ask, tuning.chosen
    said: dict[str, Any] = {"by": by, "at": at, "areopage": program}
    said = {key: value for key, value in said.items() if value}
    said["labels"] = labels | {"groups": tuning.groups, "ungrounded": tuning.ungrounded}
    said["asked"] = {"risk": ask.risk, "of": ask.control, "confidence": ask.confidence, "seed": ask.seed}
    said["method"] = METHODS[ask.control]
    said["certified"] = tuning.certified
    said["deliver"] = deliver
    if tuning.certified:
        alarms = interval(chosen.false_alarms, chosen.grounded, tuning.groups) or (0.0, 1.0)
        said["result"] = {
            "delivered": chosen.delivered,
            "ungrounded_delivered": chosen.wrong,
            "held_back_share": round(1.0 - chosen.delivered / chosen.answers, DECIMALS),
            "false_alarms": chosen.false_alarms,
            "grounded": chosen.grounded,
            "false_alarm_interval": [round(end, DECIMALS) for end in alarms],
        }
    if ask.grey_band and tuning.holding is not None:
        holding = tuning.holding
        said["hold"] = {"precision": holding.precision, "certified": holding.threshold is not None}
        if holding.threshold is not None:
            said["hold"] |= {"from": holding.threshold, "held": holding.held, "ungrounded": holding.ungrounded}
    if refit is not None:
        said["refit"] = refit
    return said


class Refitted(Struct, frozen=True, kw_only=True):
    """The model, the rows that it was fitted on, and those that it has not seen."""

    model: GroundingModel
    fitted: Sequence[Labelled]
    unseen: Sequence[Labelled]


def refit_half(
    rows: Sequence[Labelled], top: int, seed: int, provenance: dict[str, Any], *, base: GroundingModel | None = None
) -> Refitted:
    """Fit a model on half of the groups; the base's weights for answers that rest on other documents altogether are kept.

    Raises:
        ValueError: there are too few groups, or all labels of the half that is fitted are the same.
    """
    fitted, unseen = split(rows, seed)
    units = len({row.unit for row in fitted})
    said = provenance | {"rows": len(fitted), "groups": units, "sha256": fingerprint_of(fitted), "seed": seed}
    said[FITTED] = sorted({row.content for row in fitted})
    return Refitted(
        model=fit([row_of(row, top) for row in fitted], name="refitted", provenance=said, base=base, seed=seed),
        fitted=fitted,
        unseen=unseen,
    )


def unseen_by(provenance: Mapping[str, Any], rows: Sequence[Labelled]) -> list[Labelled]:
    """The rows that share no group with an answer that a model was fitted on, by the model's own record."""
    contents, responses = _recorded(provenance, FITTED), _recorded(provenance, FITTED_RESPONSES)
    seen = [row for row in rows if row.content in contents or (responses and response_digest(row.response) in responses)]
    units = {row.unit for row in seen}
    return [row for row in rows if row.unit not in units]


def _recorded(provenance: Mapping[str, Any], key: str) -> frozenset[str]:
    recorded = provenance.get(key)
    return frozenset(recorded if isinstance(recorded, list) else ())


def row_of(row: Labelled, top: int) -> FittingRow:
    """A labelled answer as the fitting takes it; sentences that were labelled by their index become places."""
    language = language_of(row.response) or language_of(row.prompt) or "en"
    spans = list(row.unsupported)
    if row.sentences:
        cut = sentences(row.response, language)
        spans += [(cut[index].start, cut[index].end) for index in row.sentences if 0 <= index < len(cut)]
    return FittingRow(
        prompt=row.prompt,
        response=row.response,
        documents=tuple(read_documents(row.response, row.documents, top)),
        language=language,
        ungrounded=row.ungrounded,
        unsupported=tuple(spans) if spans or not row.ungrounded else None,
        group=row.unit,
    )


class Tuned(Struct, frozen=True, kw_only=True):
    """Chosen thresholds.

    Args:
        config: the rules that they were measured with.
        refit: what the grounding model was refitted on; None where it was not.
        fitted, seen: how many rows the model was refitted on, and how many are left out because the given model has seen them.
    """

    tuning: Tuning
    config: GateConfig
    refit: dict[str, Any] | None = None
    fitted: int = 0
    seen: int = 0


def tuned(
    rows: Sequence[Labelled],
    ask: Ask,
    base: GateConfig,
    *,
    refit: dict[str, Any] | None = None,
    moved: Callable[[int], None] = lambda done: None,
) -> Tuned:
    """Choose thresholds on the rows that the grounding model has not seen.

    Args:
        refit: fit the model on half of the groups, with this provenance; None keeps the model.
        moved: is told how many rows are decided on.

    Raises:
        ValueError: the labels do not serve, or the profile has no threshold to choose.
    """
    config, said, fitted, seen = base, None, 0, 0
    if refit is not None:
        made = refit_half(rows, base.top, ask.seed, refit, base=base.grounding)
        config, rows, fitted = structs.replace(base, grounding=made.model), made.unseen, len(made.fitted)
        said = {"fitted_rows": fitted, "certified_rows": len(rows)}
    elif base.grounding is not None:
        unseen = unseen_by(base.grounding.provenance, rows)
        rows, seen = unseen, len(rows) - len(unseen)
        if seen and not rows:
            raise ValueError(
                f"the grounding model was fitted on these {seen:,} labelled answers or on their group: label other answers"
            )
    gate = open_gate(config)
    answers: list[ScoredAnswer] = []
    for number, row in enumerate(rows, 1):
        answers.append(scored(row, gate.decide(row.prompt, row.response, row.documents)))
        moved(number)
    tuning = choose(answers, ask, config)
    return Tuned(tuning=tuning, config=config, refit=said, fitted=fitted, seen=seen)


def tuned_rules(
    tuned: Tuned, rows: Sequence[Labelled], *, source: str, skewed: str, by: str, at: str, program: str, certain: bool
) -> GateConfig | None:
    """The rules with the chosen thresholds and their statement; None where not even an uncertain threshold was found.

    Args:
        rows, source, skewed: the labels that were given.
        by, at, program: who chose, when, and by which version.
        certain: whether the risk is certified for the traffic.
    """
    tuning = tuned.tuning
    deliver = tuning.chosen.threshold if tuning.certified else tuning.guess
    if deliver is None:
        return None
    labels: dict[str, Any] = {"source": source, "rows": len(rows), "sha256": fingerprint_of(rows)}
    if skewed:
        labels["skewed"] = skewed
    statement = statement_of(tuning, by=by, at=at, program=program, labels=labels, deliver=deliver, refit=tuned.refit)
    return tuned_config(tuned.config, tuning, statement | {"certified": certain}, deliver)
