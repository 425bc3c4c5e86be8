"""Which stored values of an evaluation are not the computed ones."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct, structs

from areopage.ledger.tables.records import Evaluation
from areopage.ledger.tables.rows import storable_value
from areopage.ledger.write.evaluation_rows import BLANK

COPIES = ("suite", "suite_version")
FIGURES = (
    *("score_global", "grade", "scored", "not_applicable", "planned", "spread"),
    *("prompt_tokens", "completion_tokens", "cost", "currency"),
)
TEXTS = ("reason", "feedback", "strengths", "weaknesses", "suggestions")
CACHED = (*COPIES, *FIGURES, *TEXTS, "seconds", "evaluated_at", "timestamp", "source")
"""The columns of `evaluations` that `rewrite` writes; its scores are rows of their own."""
OF_RUNS = ("seconds", "evaluated_at", "timestamp", "source")
"""What is computed of evaluations of the benchmark alone; the monitor's were measured."""


class Difference(Struct, frozen=True, kw_only=True):
    """A stored value that differs from its recomputation.

    Args:
        subject: the answer's id, or the key of a count.
        run_id: the panel's; "" for a count.
        field: what differs; "evaluation" where all of it is missing.
    """

    subject: str
    run_id: str = ""
    field: str
    stored: Any
    computed: Any


def same(stored: Any, computed: Any) -> bool:
    """Whether two values are equal, apart from rounding of sums."""
    if isinstance(stored, float) or isinstance(computed, float):
        return stored is not None and computed is not None and math.isclose(stored, computed, rel_tol=1e-9, abs_tol=1e-9)
    return bool(stored == computed)


def field_differences(stored: Any, computed: Any, fields: Sequence[str], table: str = "") -> Iterator[Difference]:
    """The fields of a record with an id that differ from its recomputation.

    Args:
        table: what the fields are named after; "": nothing.
    """
    for name in fields:
        before, after = getattr(stored, name), getattr(computed, name)
        if not same(before, after):
            run_id = getattr(stored, "run_id", "")
            yield Difference(subject=stored.id, run_id=run_id, field=f"{table}{name}", stored=before, computed=after)


def evaluation_differences(stored: Evaluation, computed: Evaluation) -> list[Difference]:
    """The values of an evaluation, and its scores, that differ from their recomputation."""
    measured = OF_RUNS if stored.origin == "bench" else ()
    found = list(field_differences(stored, computed, (*COPIES, *FIGURES, *TEXTS, *measured)))
    held, right = ({one.criterion: one for one in some.criteria} for some in (stored, computed))
    for criterion in dict.fromkeys((*right, *held)):
        before, after = held.get(criterion), right.get(criterion)
        if (
            before is None
            or after is None
            or before.grade != after.grade
            or not all(same(getattr(before, name), getattr(after, name)) for name in ("score", "agreement"))
        ):
            found.append(
                Difference(
                    subject=stored.id,
                    run_id=stored.run_id,
                    field=criterion,
                    stored=None if before is None else before.score,
                    computed=None if after is None else after.score,
                )
            )
    return found


def with_computed(stored: Evaluation, computed: Evaluation, *, has_texts: bool) -> Evaluation:
    """A stored evaluation with the values that its judgments come to.

    Texts are computed from the judges' own: of an erased answer there are none, and where storage reduced them those that were
    stored stay.

    Args:
        has_texts: the texts of its judgments are whole.
    """
    values = {name: storable_value(getattr(computed, name)) for name in (*COPIES, *FIGURES)} | {"criteria": computed.criteria}
    if stored.erased:
        values |= dict.fromkeys(BLANK, ()) | {"feedback": "", "reason": ""}
    elif has_texts:
        values |= {name: storable_value(getattr(computed, name)) for name in TEXTS}
        values |= {name: tuple(values[name]) for name in ("strengths", "weaknesses", "suggestions")}
    return structs.replace(stored, **values)
