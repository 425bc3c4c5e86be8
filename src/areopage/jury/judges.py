"""Judges: who they are, how they are asked, and what they may judge."""

from typing import Any

from msgspec import Struct

from areopage.criteria.records import Criterion
from areopage.models.reference import ModelReference


class Price(Struct, frozen=True, kw_only=True):
    """What tokens cost, per million, in one currency."""

    input_per_million: float
    output_per_million: float
    currency: str

    def of(self, prompt_tokens: int | None, completion_tokens: int | None) -> float:
        """The price of one call; unknown counts cost nothing."""
        spent = (prompt_tokens or 0) * self.input_per_million + (completion_tokens or 0) * self.output_per_million
        return spent / 1_000_000


class Judge(Struct, frozen=True, kw_only=True):
    """One juror.

    Args:
        name: its name in the configuration; unique in a jury.
        reference: the model that judges.
        passes: the options of each pass, the judge's own laid under the pass's.
        criteria: ids, paths, sub-categories or categories that it may judge; empty: all.
        digest: what identifies the model's weights, where the server tells it.
        standing: why the model is known to be unfit; "" where nothing is known.
        price: what its tokens cost, if stated.
    """

    name: str
    reference: ModelReference
    passes: tuple[dict[str, Any], ...]
    criteria: tuple[str, ...] = ()
    digest: str = ""
    standing: str = ""
    price: Price | None = None

    @property
    def is_model(self) -> bool:
        """Whether a model is asked; rules and recordings spend no tokens, and what they decline they always will."""
        return self.reference.provider not in ("rules", "replay")

    def may_judge(self, criterion: Criterion) -> bool:
        """Whether a criterion is this judge's business."""
        names = (criterion.id, criterion.path, f"{criterion.category}.{criterion.subcategory}", criterion.category)
        return not self.criteria or any(name in self.criteria for name in names)
