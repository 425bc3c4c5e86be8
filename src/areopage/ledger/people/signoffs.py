"""What people said of a run: the labels of its answers, their place in the review queue, and sign-offs."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct
from sqlalchemy import select

from areopage.ledger.people.labels import Labels, ReviewQueue
from areopage.ledger.tables.chain import append_sealed
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.records import Label, ReviewItem, SignOff
from areopage.ledger.tables.rows import json_text, row_of, storable
from areopage.ledger.tables.schema import signoffs


class People(Struct, frozen=True, kw_only=True):
    """What people said of a run's answers, and who signed it.

    Args:
        labels: the labels that count: the latest blind one of each answer, rater and criterion.
        unblind: how many labels do not count, as their raters had seen the judges' scores.
        items: the run's review items by answer id.
        signoffs: oldest first.
    """

    labels: tuple[Label, ...] = ()
    unblind: int = 0
    items: dict[str, ReviewItem] = {}
    signoffs: tuple[SignOff, ...] = ()


class SignOffs(Store):
    """The table `signoffs`; rows are never changed or removed."""

    def add(self, one: SignOff) -> SignOff:
        """Append a sign-off; returns it as stored, with its digest."""
        texts = {name: storable(getattr(one, name)) for name in ("run_id", "name", "role", "note")}
        stored = msgspec.structs.replace(one, **texts)
        stored = msgspec.structs.replace(stored, digest=stored.content_digest)
        row = row_of(stored) | {"signed": json_text(stored.signed)}
        with self._ledger.writing() as connection:
            append_sealed(connection, signoffs, [row])
        return stored

    def of(self, run_id: str | None = None) -> tuple[SignOff, ...]:
        """Return the sign-offs of a run, or of all, oldest first."""
        query = select(signoffs).order_by(signoffs.c.number)
        query = query if run_id is None else query.where(signoffs.c.run_id == storable(run_id))
        return tuple(self._ledger.records(SignOff, query))

    def people_of(self, run_id: str, answer_ids: Sequence[str]) -> People:
        """Read what people said of a run's answers."""
        labels = Labels(self._ledger)
        counted = labels.blind_of(answer_ids)
        return People(
            labels=tuple(counted),
            unblind=len(labels.current_of(answer_ids)) - len(counted),
            items=ReviewQueue(self._ledger).items(answer_ids, run_id),
            signoffs=self.of(run_id),
        )
