"""A grounding model from labelled answers, fitted on half of their groups: the other half certifies its threshold."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from areopage.gate.grounding.fitting import Row, fit
from areopage.gate.grounding.model import GroundingModel
from areopage.gate.tuning.labelled import Labelled
from areopage.gate.tuning.statement import fingerprint_of
from areopage.gate.tuning.thresholds import split
from areopage.text.language import language_of
from areopage.text.sentences import sentences

FITTED = "fitted answers"
"""Where a model's provenance lists the answers that it was fitted on, as `Labelled.content` has them."""


class Refitted(Struct, frozen=True, kw_only=True):
    """The model, the rows that it was fitted on, and those that it has not seen."""

    model: GroundingModel
    fitted: Sequence[Labelled]
    unseen: Sequence[Labelled]


def refit(
    rows: Sequence[Labelled], top: int, seed: int, provenance: dict[str, Any], *, base: GroundingModel | None = None
) -> Refitted:
    """Fit a model on half of the groups.

    Args:
        top: so many documents count, as in the gate.
        base: the model until now, whose weights for answers that rest on other documents altogether are kept: labels of real
            answers seldom show one.
        provenance: what the weights' file says of the labels; how they were used is added.

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
    """The rows that share no group with an answer that `refit` fitted a model on, by the model's own record."""
    known = provenance.get(FITTED)
    contents = frozenset(known if isinstance(known, list) else ())
    units = {row.unit for row in rows if row.content in contents} if contents else set()
    return [row for row in rows if row.unit not in units]


def row_of(row: Labelled, top: int) -> Row:
    """A labelled answer as the fitting takes it; sentences that were labelled by their index become places."""
    language = language_of(row.response) or language_of(row.prompt) or "en"
    spans = list(row.unsupported)
    if row.sentences:
        found = sentences(row.response, language)
        spans += [(found[index].start, found[index].end) for index in row.sentences if 0 <= index < len(found)]
    return Row(
        prompt=row.prompt,
        response=row.response,
        documents=row.documents[:top],
        language=language,
        ungrounded=row.ungrounded,
        unsupported=tuple(spans) if spans or not row.ungrounded else None,
        group=row.unit,
    )
