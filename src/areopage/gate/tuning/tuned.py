"""From labelled answers to tuned rules: refit the model, decide on every answer, choose thresholds, state the result."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct, structs

from areopage.gate.config import GateConfig
from areopage.gate.tuning.labelled import Labelled
from areopage.gate.tuning.refit import refit as fit_half
from areopage.gate.tuning.refit import unseen_by
from areopage.gate.tuning.statement import fingerprint_of, statement_of
from areopage.gate.tuning.thresholds import Ask, Scored, Tuning, open_gate, scored, tuned_config
from areopage.gate.tuning.thresholds import tune as choose


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
        made = fit_half(rows, base.top, ask.seed, refit, base=base.grounding)
        config, rows, fitted = structs.replace(base, grounding=made.model), made.unseen, len(made.fitted)
        said = {"fitted_rows": fitted, "certified_rows": len(rows)}
    elif base.grounding is not None:
        unseen = unseen_by(base.grounding.provenance, rows)
        rows, seen = unseen, len(rows) - len(unseen)
    tuning = choose(_scored_rows(rows, config, moved), ask, config)
    return Tuned(tuning=tuning, config=config, refit=said, fitted=fitted, seen=seen)


def _scored_rows(rows: Sequence[Labelled], config: GateConfig, moved: Callable[[int], None]) -> list[Scored]:
    """Every row as the gate sees it, independent of thresholds.

    Raises:
        ValueError: the profile asks no grounding model.
    """
    gate = open_gate(config)
    found: list[Scored] = []
    for number, row in enumerate(rows, 1):
        found.append(scored(row, gate.decide(row.prompt, row.response, row.documents)))
        moved(number)
    return found


def tuned_rules(
    found: Tuned, rows: Sequence[Labelled], *, source: str, skewed: str, by: str, at: str, program: str, certain: bool
) -> GateConfig | None:
    """The rules with the chosen thresholds and their statement; None where not even an uncertain threshold was found.

    Args:
        rows, source, skewed: the labels that were given.
        by, at, program: who chose, when, and by which version.
        certain: whether the risk is certified for the traffic.
    """
    tuning = found.tuning
    deliver = tuning.chosen.threshold if tuning.certified else tuning.guess
    if deliver is None:
        return None
    labels: dict[str, Any] = {"source": source, "rows": len(rows), "sha256": fingerprint_of(rows)}
    if skewed:
        labels["skewed"] = skewed
    statement = statement_of(tuning, by=by, at=at, program=program, labels=labels, deliver=deliver, refit=found.refit)
    return tuned_config(found.config, tuning, statement | {"certified": certain}, deliver)
